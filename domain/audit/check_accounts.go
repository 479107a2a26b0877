package audit

import (
	"slices"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/slots"
	"reckon/domain/token"
)

// accountCheck proves that what is done for an account is done for one that exists and is open, on a plan that was in force.
type accountCheck struct {
	p        *pass
	streams  *legalCheck
	accounts map[string]*accountState
	tokens   map[string]*power   // by id
	grants   map[string]*power   // by id
	apps     map[string][]*power // the grants of an account to a client, by both
}

// longestRequest is how long after it was authenticated a command may be given: an upload of 16 MiB at 4 KiB/s, the slowest that is
// waited for, takes 68 minutes.
const longestRequest = 90 * time.Minute

// power is a right to act for an account: a token or a grant.
type power struct {
	account string
	ends    time.Time // when it was revoked, or expires; zero: never
}

// allows tells whether a command may have been given by it: for its account or, as numbers of runs are reserved, for none; and
// authenticated before it ended.
func (w *power) allows(it *Item) bool {
	return (it.Metadata.Account == "" || w.account == it.Metadata.Account) && (w.ends.IsZero() || !it.Metadata.At.After(w.ends.Add(longestRequest)))
}

func (w *power) String() string {
	if w.ends.IsZero() {
		return "of account " + shown(w.account)
	}
	return "of account " + shown(w.account) + ", until " + event.Timestamp(w.ends)
}

func (w *power) end(at time.Time) {
	if w != nil && (w.ends.IsZero() || at.Before(w.ends)) {
		w.ends = at
	}
}

type accountState struct {
	plans   map[string]bool // ever in force; none: it was never registered
	closed  time.Time       // time of the request; zero: open
	closing place
}

func newAccountCheck(p *pass, streams *legalCheck) *accountCheck {
	return &accountCheck{p: p, streams: streams, accounts: map[string]*accountState{}, tokens: map[string]*power{}, grants: map[string]*power{}, apps: map[string][]*power{}}
}

// takePowers follows who may act, and looks at who acts.
func (c *accountCheck) takePowers(it *Item) {
	by, requester := it.Metadata.Actor, it.Metadata.Requester
	if id, isToken := strings.CutPrefix(requester, "token:"); isToken && c.tokens[id] == nil {
		c.p.found(checkAccounts, KindActor, it.Recorded, "a requester whose token was minted before", shown(requester))
	}
	if id, isToken := strings.CutPrefix(by, "token:"); isToken {
		switch w := c.tokens[id]; {
		case w == nil:
			c.p.found(checkAccounts, KindActor, it.Recorded, "an actor whose token was minted before", shown(by))
		case !w.allows(it):
			c.p.found(checkAccounts, KindActor, it.Recorded, "an actor whose token is the account's, and valid", shown(by)+" "+w.String())
		}
	}
	if client, isApp := strings.CutPrefix(by, "oauth:"); isApp && it.Metadata.Account != "" && !slices.ContainsFunc(c.apps[it.Metadata.Account+client], func(w *power) bool { return w.allows(it) }) {
		c.p.found(checkAccounts, KindActor, it.Recorded, "an app that the account has approved, and not disconnected since", shown(by)+" for account "+shown(it.Metadata.Account))
	}
	switch e := it.Event.(type) {
	case token.Minted:
		w := &power{account: e.Account}
		if expires, err := time.Parse(time.RFC3339Nano, e.ExpiresAt); err == nil {
			w.ends = expires
		}
		c.tokens[e.TokenID] = w
	case token.Revoked:
		c.tokens[e.TokenID].end(it.Metadata.At)
	case grant.Approved:
		w := &power{account: e.Account}
		c.grants[e.GrantID] = w
		c.apps[e.Account+e.ClientID] = append(c.apps[e.Account+e.ClientID], w)
	case grant.Revoked:
		c.grants[e.GrantID].end(it.Metadata.At)
	}
}

func (c *accountCheck) take(it *Item) {
	c.takePowers(it)
	switch e := it.Event.(type) {
	case nil:
		return
	case account.Registered:
		kept(c.accounts, e.Account).inForce(e.Plan)
		return
	case account.PlanChanged:
		c.known(it, e.Account).inForce(e.Plan)
		return
	case account.Closed:
		s := c.known(it, e.Account)
		s.closed, s.closing = it.Metadata.At, placeOf(it)
		return
	}
	if !it.facts.Begins(it.Event) {
		return
	}
	s := c.known(it, it.address.Account)
	if !s.closed.IsZero() && it.Metadata.At.After(s.closed.Add(clockSkew)) {
		c.p.found(checkAccounts, KindClosed, it.Recorded, "nothing begun for an account that was closed at "+event.Timestamp(s.closed), it.Name+" asked for at "+event.Timestamp(it.Metadata.At))
	}
	if spent, ok := it.Event.(slots.Spent); ok && len(s.plans) > 0 && !s.plans[spent.Submission.Plan] {
		c.p.found(checkAccounts, KindPlan, it.Recorded, "a plan that was in force for the account", shown(spent.Submission.Plan))
	}
}

func (s *accountState) inForce(plan string) {
	if s.plans == nil {
		s.plans = map[string]bool{}
	}
	s.plans[plan] = true
}

// known is the state of an account; one that was never registered is reported, once.
func (c *accountCheck) known(it *Item, id string) *accountState {
	if c.accounts[id] == nil {
		c.p.found(checkAccounts, KindNoAccount, it.Recorded, "an account that was registered before", shown(id))
	}
	return kept(c.accounts, id)
}

// end: nothing that goes on until it is ended is left of a closed account.
func (c *accountCheck) end() {
	for stream, h := range c.streams.streams.named { // a run does not go on
		if s := c.accounts[h.account]; s != nil && !s.closed.IsZero() && h.past != nil && h.past.Live() {
			c.p.unfinished(checkAccounts, KindLeftOver, s.closing, "nothing of the closed account "+h.account+" that goes on", stream+" has not ended")
		}
	}
}

package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/domain/upload"
)

// accountCheck proves that what is done for an account is done for one that exists and is open, on a plan that was in force.
type accountCheck struct {
	p        *pass
	jobs     *legalCheck
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
	registered bool
	plan       string          // in force
	plans      map[string]bool // ever in force
	follows    int64           // the last start or end of a subscription that the plan has followed
	closed     time.Time       // time of the request; zero: open
	closing    place
	live       map[string]bool // what a closed account must not keep: names of streams
}

func newAccountCheck(p *pass, jobs *legalCheck) *accountCheck {
	return &accountCheck{p: p, jobs: jobs, accounts: map[string]*accountState{}, tokens: map[string]*power{}, grants: map[string]*power{}, apps: map[string][]*power{}}
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
	case account.Registered:
		c.register(it, e)
		return
	case account.PlanChanged:
		c.changePlan(it, e)
		return
	case account.Closed:
		s := c.known(it, e.Account)
		if !s.closed.IsZero() {
			c.p.found(checkAccounts, KindIllegal, it.Recorded, "an account that is closed once", "a second account.closed")
		}
		s.closed, s.closing = it.Metadata.At, placeOf(it)
		return
	}
	c.takeLife(it)
	for _, begun := range begunFor(it.Event) {
		s := c.known(it, begun)
		if !s.closed.IsZero() && it.Metadata.At.After(s.closed.Add(clockSkew)) {
			c.p.found(checkAccounts, KindClosed, it.Recorded, "nothing begun for an account that was closed at "+event.Timestamp(s.closed), it.Name+" asked for at "+event.Timestamp(it.Metadata.At))
		}
	}
	if spent, ok := it.Event.(slots.Spent); ok {
		if s := c.known(it, spent.Submission.Account); s.registered && !s.plans[spent.Submission.Plan] {
			c.p.found(checkAccounts, KindPlan, it.Recorded, "a plan that was in force for the account", shown(spent.Submission.Plan))
		}
	}
}

func (c *accountCheck) register(it *Item, e account.Registered) {
	s := kept(c.accounts, e.Account)
	if s.registered {
		c.p.found(checkAccounts, KindIllegal, it.Recorded, "an account that is registered once", "a second account.registered")
		return
	}
	c.p.counts.Accounts++
	s.registered, s.plan, s.plans, s.live = true, e.Plan, map[string]bool{e.Plan: true}, map[string]bool{}
}

func (c *accountCheck) changePlan(it *Item, e account.PlanChanged) {
	s := c.known(it, e.Account)
	switch {
	case !s.closed.IsZero():
		c.p.found(checkAccounts, KindIllegal, it.Recorded, "no change of the plan of a closed account", "account.plan_changed")
	case e.Follows == 0 && e.Plan == s.plan:
		c.p.found(checkAccounts, KindIllegal, it.Recorded, "another plan than the one in force", shown(e.Plan))
	case e.Follows != 0 && e.Follows <= s.follows:
		c.p.found(checkAccounts, KindIllegal, it.Recorded, fmt.Sprintf("a start or end of a subscription after number %d, each followed once", s.follows), fmt.Sprintf("number %d", e.Follows))
	}
	s.plan, s.follows = e.Plan, max(s.follows, e.Follows)
	if s.plans != nil {
		s.plans[e.Plan] = true
	}
}

// known is the state of an account; one that was never registered is reported, once.
func (c *accountCheck) known(it *Item, id string) *accountState {
	s, known := c.accounts[id]
	if !known {
		c.p.found(checkAccounts, KindNoAccount, it.Recorded, "an account that was registered before", shown(id))
		s = &accountState{plans: map[string]bool{}, live: map[string]bool{}}
		c.accounts[id] = s
	}
	return s
}

// begunFor is the account for which an event begins something: what a reaction or a runner ends later is none of it.
func begunFor(e event.Event) []string {
	switch e := e.(type) {
	case token.Minted:
		return []string{e.Account}
	case grant.Approved:
		return []string{e.Account}
	case upload.Stored:
		return []string{e.Account}
	case session.Opened:
		return []string{e.Account}
	case slots.Spent:
		return []string{e.Submission.Account}
	case billing.Started:
		return []string{e.Account}
	case run.Evaluated:
		return begunRun(e.Subject)
	case run.TimedOut:
		return begunRun(e.Subject)
	case run.Failed:
		return begunRun(e.Subject)
	}
	return nil
}

// begunRun: a job's run was begun with its slot.
func begunRun(s run.Subject) []string {
	if s.JobID != "" {
		return nil
	}
	return []string{s.Account}
}

// takeLife follows what lives until it is ended.
func (c *accountCheck) takeLife(it *Item) {
	begin := func(accountID string) {
		if s, known := c.accounts[accountID]; known {
			s.live[it.Stream] = true
		}
	}
	end := func(accountID string) {
		if s, known := c.accounts[accountID]; known {
			delete(s.live, it.Stream)
		}
	}
	switch e := it.Event.(type) {
	case token.Minted:
		begin(e.Account)
	case token.Revoked:
		end(e.Account)
	case grant.Approved:
		begin(e.Account)
	case grant.Revoked:
		end(e.Account)
	case session.Opened:
		begin(e.Account)
	case session.Cleared:
		end(e.Account)
	case session.Expired:
		end(e.Account)
	case billing.Started:
		begin(e.Account)
	case billing.Settled:
		if e.RenewsAt != "" {
			begin(e.Account)
		}
	case billing.Ended:
		end(e.Account)
	case job.WasQueued:
		begin(e.Account)
	case job.HasSucceeded, job.HasFailed, job.HasTimedOut, job.WasCancelled, job.WasLost:
		if s, known := c.jobs.jobs[strings.TrimPrefix(it.Stream, "job-")]; known {
			end(s.state.Queued.Account)
		}
	}
}

func (c *accountCheck) end() {
	for id, s := range c.accounts {
		if s.closed.IsZero() || len(s.live) == 0 {
			continue
		}
		for stream := range s.live {
			c.p.unfinished(checkAccounts, KindLeftOver, s.closing, "nothing of the closed account "+id+" that goes on", stream+" has not ended")
		}
	}
}

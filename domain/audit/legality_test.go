package audit_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/billing"
	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/domain/transparency"
	"reckon/domain/upload"
)

// kindOf is the kind of a stream, the part of its name before the first hyphen.
func kindOf(stream string) string {
	kind, _, _ := strings.Cut(stream, "-")
	return kind
}

// asOf is an event of one type about what another event is about, given now.
func asOf(t *testing.T, e, about event.Event, now string) event.Event {
	t.Helper()
	from, into := decoded(t, about).(map[string]any), decoded(t, e).(map[string]any)
	for name, value := range from {
		if _, both := into[name]; both && (strings.HasSuffix(name, "_id") || slices.Contains([]string{"account", "nonce", "epoch", "kid"}, name)) {
			into[name] = value
		}
	}
	for _, name := range []string{"at", "started_at", "finished_at", "ended_at", "settled_at", "issued_at", "paid_at", "voided_at"} {
		if _, has := into[name]; has {
			into[name] = now
		}
	}
	return encoded(t, into, e)
}

// lastOf is the last event of each stream of a log.
func lastOf(l *audittest.Log) map[string]*audittest.Logged {
	last := map[string]*audittest.Logged{}
	for _, e := range l.Events {
		if _, known := l.Catalogue[e.Name]; known {
			last[e.Stream] = e
		}
	}
	return last
}

// isFound appends an event to a stream and tells whether the audit has an error there.
func isFound(t *testing.T, l *audittest.Log, stream, about string, e event.Event) bool {
	t.Helper()
	added := l.Add(stream, about, e)
	return foundAt(audittest.Audit(t, l, nil), l.Index(added))
}

// foundAt tells whether there is an error at the event of a place.
func foundAt(findings []audit.Finding, place int) bool {
	return slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Severity == audit.Error && f.Position == uint64(place+1) })
}

// TestNoEventFollowsAnEnd: given the true log, when an event of any type is appended to any stream, of its own kind or another, then the
// audit finds it there, but for those that the stream's decider allows after its last event.
func TestNoEventFollowsAnEnd(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"account.closed after account.plan_changed", "account.closed after account.registered", "run.verified after receipt.sealed", "runids.reserved after runids.reserved",
		"runner.beat after runner.beat", "subscription.cancelled after subscription.settled",
	}
	p := prepare(t)
	l := p.log
	end := len(l.Events)
	last, example := lastOf(l), map[string]*audittest.Logged{}
	for _, e := range l.Events {
		if _, known := l.Catalogue[e.Name]; known && example[e.Name] == nil {
			example[e.Name] = e
		}
	}
	tried, passed, strayed := 0, map[string]bool{}, map[string]bool{}
	l.Now = l.Now.Add(time.Minute)
	for _, stream := range slices.Sorted(maps.Keys(last)) {
		for _, name := range slices.Sorted(maps.Keys(example)) {
			before := last[stream]
			if kindOf(example[name].Stream) != kindOf(stream) {
				if strayed[name] { // into one stream of another kind is enough
					continue
				}
				strayed[name] = true
			}
			l.Add(stream, before.Metadata.Account, asOf(t, example[name].Event, before.Event, l.At()))
			tried++
			found := p.withStored(t, end, l.Stored(t)[end])
			l.Events = l.Events[:end]
			if !foundAt(found, end) {
				passed[name+" after "+before.Name] = true
			}
		}
	}
	for _, pair := range allowed {
		if !passed[pair] {
			t.Errorf("%s is found, and is allowed", pair)
		}
		delete(passed, pair)
	}
	for pair := range passed {
		t.Errorf("%s is not found", pair)
	}
	t.Logf("%d events appended", tried)
}

// renamed is an event type that domain/token does not have.
type renamed struct {
	TokenID string `json:"token_id"`
	Account string `json:"account"`
	Name    string `json:"name"`
}

func (renamed) EventName() string { return "token.renamed" }

// rename is the command that leads to it.
type rename struct {
	token.Command
	renamed
}

var errEnded = errors.New("the token has ended")

// withRenamed is the service's catalogue with tokens that can be renamed while they are valid.
func withRenamed() event.Catalogue {
	m := token.Model()
	decide := m.Decide
	m.Decide = func(c token.Command, s token.State) ([]event.Event, error) {
		r, is := c.(rename)
		switch {
		case !is:
			return decide(c, s)
		case !s.Exists || s.Revoked:
			return nil, errEnded
		}
		return []event.Event{r.renamed}, nil
	}
	m.Types = append(m.Types, decider.On(renamed{},
		func(e renamed) event.Address {
			return event.Address{Stream: token.Stream(e.TokenID), Account: e.Account}
		},
		func(e renamed, _ token.State, _ event.Metadata) token.Command { return rename{renamed: e} }))
	return extended(m.Events())
}

// extended is the service's catalogue with the types of one kind of stream in the place of its own.
func extended(types []event.Type) event.Catalogue {
	c := domain.Catalogue()
	for _, t := range types {
		c[t.Name] = t
	}
	return c
}

// TestANewEventTypeIsJudged: given an event type of which the audit knows nothing but its declaration, when it is appended where its decider
// would have decided it, then nothing is found, and otherwise it is: after the end, in another stream, of another account.
func TestANewEventTypeIsJudged(t *testing.T) {
	t.Parallel()
	revoked := audittest.True().Find("token.revoked", 1)
	is := renamed{TokenID: revoked.Event.(token.Revoked).TokenID, Account: audittest.Alice, Name: "desktop"}
	log := func() *audittest.Log {
		l := audittest.True()
		l.Catalogue = withRenamed()
		return l
	}
	for name, c := range map[string]struct {
		stream string
		e      renamed
	}{
		"after its end":      {token.Stream(is.TokenID), is},
		"of no token":        {token.Stream(audittest.Sum([]byte("other"))), renamed{audittest.Sum([]byte("other")), audittest.Alice, "x"}},
		"in another stream":  {"account-" + audittest.Alice, is},
		"of another account": {token.Stream(is.TokenID), renamed{is.TokenID, audittest.Bob, "x"}},
	} {
		if !isFound(t, log(), c.stream, audittest.Alice, c.e) {
			t.Errorf("%s: not found", name)
		}
	}
	l := log()
	l.Remove(l.Find("token.revoked", 1))
	if isFound(t, l, revoked.Stream, audittest.Alice, is) {
		t.Errorf("found where the token is valid: %v", audittest.Audit(t, l, nil))
	}
}

// impossible is an event to which no command of any decider leads.
type impossible struct{}

func (impossible) EventName() string { return "test.impossible" }

// withImpossible is the service's catalogue with one more event type in a kind of stream.
func withImpossible[C, S any](m decider.Model[C, S]) event.Catalogue {
	m.Types = append(m.Types, decider.On(impossible{}, func(impossible) event.Address { return event.Address{} },
		func(impossible, S, event.Metadata) (none C) { return none }))
	return extended(m.Events())
}

// TestEveryKindOfStreamIsJudged: given one more event type in any kind of stream that has a decider, when such an event stands anywhere in
// such a stream, then it is found there.
func TestEveryKindOfStreamIsJudged(t *testing.T) {
	t.Parallel()
	kinds := map[string]event.Catalogue{
		"account": withImpossible(account.Model()), "billing": withImpossible(billing.Model()), "checkpoints": withImpossible(transparency.Model()), "grant": withImpossible(grant.Model()),
		"job": withImpossible(job.Model()), "keys": withImpossible(keys.Model()), "run": withImpossible(run.Model()), "session": withImpossible(session.Model()),
		"slots": withImpossible(slots.Model()), "token": withImpossible(token.Model()), "upload": withImpossible(upload.Model()),
	}
	undecided := []string{"certificate", "runids", "runner"} // no command is given on these
	tried := map[string]int{}
	for stream := range lastOf(audittest.True()) {
		catalogue, judged := kinds[kindOf(stream)]
		if !judged {
			if !slices.Contains(undecided, kindOf(stream)) {
				t.Errorf("streams %s-… are of no decider that this test has", kindOf(stream))
			}
			continue
		}
		l := audittest.True()
		l.Catalogue = catalogue
		if tried[kindOf(stream)]++; !isFoundAs(t, l, audit.KindIllegal, stream, impossible{}) {
			t.Errorf("%s: not found", stream)
		}
	}
	for kind := range kinds {
		if tried[kind] == 0 {
			t.Errorf("the true log has no stream of %s", kind)
		}
	}
}

// isFoundAs appends an event to a stream and tells whether the audit finds it there as of a kind.
func isFoundAs(t *testing.T, l *audittest.Log, kind audit.Kind, stream string, e event.Event) bool {
	t.Helper()
	added := l.Add(stream, "", e)
	return has(audittest.Audit(t, l, nil), kind, uint64(l.Index(added)+1))
}

package audit

import (
	"bytes"
	"fmt"
	"reflect"

	"reckon/domain/certificate"
	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/scope"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/domain/upload"
)

// legalCheck proves that the decider of a stream could have written each of its events. It asks the service's own deciders
// (domain/…): whether one of them could have decided this is the question, so that another derivation would only be a second
// decider to keep equal. Each event is turned into the command that leads to it, and deciding that on the state before must
// give the event. What accounts, slots, keys and invoices may say is derived apart from their deciders, by their own checks.
type legalCheck struct {
	p        *pass
	reserved event.Revision // of the next block of run ids
	jobs     map[string]*jobState
	runs     map[int64]*runState
	uploads  map[string]*uploadState
	issued   map[string]place // certificates
	sessions map[string]*decided[session.State]
	tokens   map[string]*decided[token.State]
	grants   map[string]*decided[grant.State]
}

// decided is the state of a stream with the place of its last event.
type decided[S any] struct {
	state S
	place
}

type jobState struct {
	state  job.State // without texts
	queued place
	ended  place
}

type runState struct {
	state run.State // without texts
	begun place
}

type uploadState struct {
	state  upload.State
	stored place
}

func newLegalCheck(p *pass) *legalCheck {
	return &legalCheck{p: p, jobs: map[string]*jobState{}, runs: map[int64]*runState{}, uploads: map[string]*uploadState{}, issued: map[string]place{},
		sessions: map[string]*decided[session.State]{}, tokens: map[string]*decided[token.State]{}, grants: map[string]*decided[grant.State]{}}
}

func (c *legalCheck) take(it *Item) {
	switch e := it.Event.(type) {
	case nil:
	case run.Reserved:
		c.reserved = max(c.reserved, it.Revision+1)
	case run.Evaluated, run.Sealed, run.TimedOut, run.Failed, run.Verified:
		c.takeRun(it)
	case job.WasQueued, job.WasClaimed, job.WasReleased, job.WasExcused, job.HasSucceeded, job.HasFailed, job.HasTimedOut, job.WasCancelled, job.WasLost:
		c.takeJob(it)
	case upload.Stored, upload.Claimed, upload.Refused, upload.Released:
		c.takeUpload(it)
	case certificate.Issued:
		if _, twice := c.issued[e.CertificateID]; twice {
			c.p.found(checkLegal, KindIllegal, it.Recorded, "one certificate.issued in a certificate's stream", "another one")
			return
		}
		c.p.counts.Certificates++
		c.issued[e.CertificateID] = placeOf(it)
	case session.Opened, session.Cleared, session.Expired:
		s := kept(c.sessions, it.Stream)
		s.place = placeOf(it)
		judge(c, it, session.Decider, &s.state, sessionCommand(s.state, it.Event))
	case token.Minted, token.Revoked:
		s := kept(c.tokens, it.Stream)
		s.place = placeOf(it)
		judge(c, it, token.Decider, &s.state, tokenCommand(it.Event))
	case grant.Approved, grant.Revoked:
		s := kept(c.grants, it.Stream)
		s.place = placeOf(it)
		judge(c, it, grant.Decider, &s.state, grantCommand(it.Event))
	}
}

func kept[K comparable, V any](all map[K]*V, key K) *V {
	v, known := all[key]
	if !known {
		v = new(V)
		all[key] = v
	}
	return v
}

// judge asks the decider whether a command decides on this event, and folds the event.
func judge[C, S any](c *legalCheck, it *Item, d decider.Decider[C, S], state *S, command C) {
	events, err := d.Decide(command, *state)
	switch {
	case err != nil:
		c.p.found(checkLegal, KindIllegal, it.Recorded, "an event that the stream's decider could decide", fmt.Sprintf("%s, which it refuses: %v", it.Name, err))
	case len(events) == 0:
		c.p.found(checkLegal, KindIllegal, it.Recorded, "an event that the stream's decider could decide", it.Name+", where it decides that nothing happens")
	case !same(events[len(events)-1], it.Event):
		c.p.found(checkLegal, KindIllegal, it.Recorded, fmt.Sprintf("%s %s", events[len(events)-1].EventName(), described(events[len(events)-1])), fmt.Sprintf("%s %s", it.Name, described(it.Event)))
	}
	*state = d.Evolve(*state, it.Event)
}

// same compares events as they are stored: an empty list and none are one there.
func same(a, b event.Event) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	one, err := event.Marshal(a)
	other, failed := event.Marshal(b)
	return err == nil && failed == nil && a.EventName() == b.EventName() && bytes.Equal(one, other)
}

func described(e event.Event) string {
	text, err := event.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return shown(string(text))
}

func (c *legalCheck) takeJob(it *Item) {
	id := it.Stream[min(len("job-"), len(it.Stream)):]
	s := kept(c.jobs, id)
	var command job.Command
	switch e := it.Event.(type) {
	case job.WasQueued:
		command, s.queued = job.Queue{Queued: e}, placeOf(it)
		c.p.counts.Jobs++
	case job.WasClaimed:
		command = job.Claim{Runner: e.Runner, Nonce: e.Nonce, Now: e.StartedAt}
	case job.WasReleased:
		command = releaseCommand(s.state, e)
	case job.WasExcused:
		command = job.Excuse{Nonce: e.Nonce}
	case job.HasSucceeded:
		command = job.Finish{Status: job.Succeeded, Outcome: e.Outcome}
	case job.HasFailed:
		command = job.Finish{Status: job.Failed, Outcome: e.Outcome}
	case job.HasTimedOut:
		command = job.Finish{Status: job.TimedOut, Outcome: e.Outcome}
	case job.WasCancelled:
		command = job.Cancel{Account: s.state.Queued.Account, Now: e.FinishedAt}
	case job.WasLost:
		command = lossCommand(e)
		if it.Metadata.Version == 1 {
			it = asDecided(it, command, s.state)
		}
	}
	judge(c, it, job.Decider, &s.state, command)
	s.state.Queued.Payload, s.state.Outcome = event.Text{}, job.Outcome{}
	if s.state.Terminal() && s.ended.stream == "" {
		s.ended = placeOf(it)
	}
}

// releaseCommand is the command that puts a job back into the queue so.
func releaseCommand(s job.State, e job.WasReleased) job.Command {
	switch e.Reason {
	case job.Untried:
		return job.Return{Nonce: e.Nonce, Lacked: e.Lacked, Now: moment(e.NotBefore).Add(-job.PauseAfter(s.Untried + 1))}
	case job.Interrupted:
		return job.Abandon{Nonce: e.Nonce}
	case job.Abandoned:
		return job.Abandon{Nonce: e.Nonce, Spent: true}
	}
	return job.Release{Nonce: e.Nonce}
}

// lossCommand is the command that loses a job so.
func lossCommand(e job.WasLost) job.Command {
	if e.Why == job.NeverTried {
		return job.Return{Nonce: e.Nonce, Lacked: e.Lacked, Now: moment(e.FinishedAt)}
	}
	return job.Abandon{Nonce: e.Nonce, Now: e.FinishedAt, Spent: true}
}

// asDecided is a job.lost of version 1, which did not say why, as it is decided today; its slot was not given back.
func asDecided(it *Item, command job.Command, s job.State) *Item {
	events, err := job.Decider.Decide(command, s)
	if err != nil || len(events) == 0 {
		return it
	}
	lost, is := events[0].(job.WasLost)
	stored, _ := it.Event.(job.WasLost)
	if lost.Why, lost.Lacked, lost.Refunded = stored.Why, stored.Lacked, stored.Refunded; !is || lost != stored {
		return it
	}
	now := *it
	now.Event = events[0]
	return &now
}

func (c *legalCheck) takeRun(it *Item) {
	if it.Revision == 0 {
		c.p.counts.Runs++
	}
	var id int64
	s, command := (*runState)(nil), run.Command(nil)
	known := func(runID int64) *runState { id = runID; return kept(c.runs, runID) }
	switch e := it.Event.(type) {
	case run.Evaluated:
		s = known(e.RunID)
		if s.state.Exists() {
			c.p.found(checkLegal, KindIllegal, it.Recorded, "a run that is evaluated once", "a run that has ended before")
		}
	case run.Sealed:
		s = known(e.RunID)
		if s.state.Evaluated == nil || s.state.Sealed != nil || it.Revision != 1 {
			c.p.found(checkLegal, KindIllegal, it.Recorded, "a receipt directly after the answer that it was appended with, once", "a receipt elsewhere")
		}
	case run.TimedOut:
		s = known(e.RunID)
		command = run.RecordTimeout{TimedOut: e}
	case run.Failed:
		s = known(e.RunID)
		command = run.RecordFailure{Failed: e}
	case run.Verified:
		s = known(e.RunID)
		command = run.RecordCheck{Verified: e}
		if s.state.Evaluated != nil && s.state.Sealed == nil {
			c.p.found(checkLegal, KindIllegal, it.Recorded, "a check after the run's receipt", "a check before it")
		}
	}
	if block := event.Revision((id - 1) / run.BlockSize); id < 1 || block >= c.reserved {
		if it.Revision == 0 {
			c.p.found(checkLegal, KindRunID, it.Recorded, fmt.Sprintf("a run id of one of the %d blocks that were reserved", c.reserved), fmt.Sprint(id))
		}
	}
	if command != nil {
		judge(c, it, run.Decider, &s.state, command)
	} else {
		s.state = run.Decider.Evolve(s.state, it.Event)
	}
	if s.begun.stream == "" {
		s.begun = placeOf(it)
	}
	s.state = withoutTexts(s.state)
}

// withoutTexts keeps of a run what decisions need.
func withoutTexts(s run.State) run.State {
	slim := func(b run.Subject) run.Subject {
		return run.Subject{RunID: b.RunID, Account: b.Account, JobID: b.JobID}
	}
	switch {
	case s.Evaluated != nil && s.Evaluated.Expression != (event.Text{}):
		s.Evaluated = &run.Evaluated{Subject: slim(s.Evaluated.Subject)}
	case s.TimedOut != nil:
		s.TimedOut = &run.TimedOut{Subject: slim(s.TimedOut.Subject)}
	case s.Failed != nil:
		s.Failed = &run.Failed{Subject: slim(s.Failed.Subject)}
	}
	if s.Sealed != nil {
		s.Sealed = sealed
	}
	if s.Check != nil {
		s.Check = &run.Check{Verdict: s.Check.Verdict, Method: s.Check.Method, Reason: s.Check.Reason}
	}
	return s
}

// sealed stands for every receipt in states that only ask whether there is one.
var sealed = &run.Sealed{}

func (c *legalCheck) takeUpload(it *Item) {
	var command upload.Command
	var s *uploadState
	switch e := it.Event.(type) {
	case upload.Stored:
		s = kept(c.uploads, e.UploadID)
		s.stored = placeOf(it)
		command = upload.Store{Stored: e}
		c.p.counts.Uploads++
	case upload.Claimed:
		s = kept(c.uploads, e.UploadID)
		command = upload.Claim{Account: owner(s), JobID: e.JobID}
	case upload.Refused:
		s = kept(c.uploads, e.UploadID)
		command = upload.Claim{Account: owner(s), JobID: e.JobID, SlotID: e.SlotID}
	case upload.Released:
		s = kept(c.uploads, e.UploadID)
		command = upload.Release{JobID: e.JobID}
	}
	judge(c, it, upload.Decider, &s.state, command)
}

func owner(s *uploadState) string {
	if s.state.Stored == nil {
		return ""
	}
	return s.state.Stored.Account
}

func sessionCommand(s session.State, e event.Event) session.Command {
	switch e := e.(type) {
	case session.Opened:
		return session.Open{Account: e.Account, SessionID: e.SessionID, Owner: e.Owner, Address: e.Address}
	case session.Cleared:
		return session.Clear{Account: e.Account, SessionID: e.SessionID}
	case session.Expired:
		return session.Expire(e)
	}
	return nil
}

func tokenCommand(e event.Event) token.Command {
	switch e := e.(type) {
	case token.Minted:
		expires, _ := event.ParseTimestamp(e.ExpiresAt) // none, or schema has reported it
		return token.Mint{TokenID: e.TokenID, Account: e.Account, Name: e.Name, Last4: e.Last4, Scopes: scope.Known(e.Scopes), ExpiresAt: expires}
	case token.Revoked:
		return token.Revoke(e)
	}
	return nil
}

func grantCommand(e event.Event) grant.Command {
	switch e := e.(type) {
	case grant.Approved:
		return grant.Approve{GrantID: e.GrantID, Account: e.Account, ClientID: e.ClientID, ClientName: e.ClientName, Resource: e.Resource, Scopes: scope.Known(e.Scopes)}
	case grant.Revoked:
		return grant.Revoke(e)
	}
	return nil
}

func (c *legalCheck) end() {}

package audit

import (
	"fmt"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/certificate"
	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/upload"
)

// legalCheck proves that the decider of a stream could have written each of its events. It asks the service's own deciders
// (domain/…): whether one of them could have decided this is the question, so that another derivation would only be a second
// decider to keep equal. Each event type says which command leads to its events, and deciding on that in the state before must
// give the event. What slots, keys, checkpoints and invoices may say is also derived apart from their deciders, by their own checks.
type legalCheck struct {
	p        *pass
	reserved event.Revision // of the next block of run ids
	streams  *streams
}

func newLegalCheck(p *pass, s *streams) *legalCheck { return &legalCheck{p: p, streams: s} }

func (c *legalCheck) take(it *Item) {
	if it.Event == nil {
		return
	}
	c.count(it)
	past := c.streams.past(it.Stream)
	if past == nil {
		past = it.facts.NewPast()
	}
	illegal := past.Take(it.Event, it.Metadata)
	c.streams.keep(it.Stream, past.Slim(), it.address.Account)
	if illegal != nil {
		expected, found := "an event that the stream's decider could decide", it.Name+", where it decides that nothing happens"
		switch {
		case illegal.Refused != nil:
			found = fmt.Sprintf("%s, which it refuses: %v", it.Name, illegal.Refused)
		case illegal.Instead != nil:
			expected, found = illegal.Instead.EventName()+" "+described(illegal.Instead), it.Name+" "+described(it.Event)
		}
		c.p.found(checkLegal, KindIllegal, it.Recorded, expected, found)
	}
}

// count counts what begins, and looks at the numbers of runs.
func (c *legalCheck) count(it *Item) {
	switch e := it.Event.(type) {
	case account.Registered:
		c.p.counts.Accounts++
	case run.Reserved:
		c.reserved = max(c.reserved, it.Revision+1)
	case job.WasQueued:
		c.p.counts.Jobs++
	case upload.Stored:
		c.p.counts.Uploads++
	case certificate.Issued:
		c.p.counts.Certificates++
	case billing.Issued:
		c.p.counts.Invoices++
	default:
		if s, ends := run.SubjectOf(e); ends && it.Revision == 0 {
			c.p.counts.Runs++
			if block := event.Revision((s.RunID - 1) / run.BlockSize); s.RunID < 1 || block >= c.reserved {
				c.p.found(checkLegal, KindRunID, it.Recorded, fmt.Sprintf("a run id of one of the %d blocks that were reserved", c.reserved), fmt.Sprint(s.RunID))
			}
		}
	}
}

// stateOf is the state of a stream of a decider with commands C; nil where there is none.
func stateOf[C, S any](c *legalCheck, stream string) *S {
	return decider.StateOf[C, S](c.streams.past(stream))
}

// job is the state of a job, without texts; nil where there is none.
func (c *legalCheck) job(id string) *job.State {
	return stateOf[job.Command, job.State](c, job.Stream(id))
}

// upload is the state of an upload; nil where there is none.
func (c *legalCheck) upload(id string) *upload.State {
	return stateOf[upload.Command, upload.State](c, upload.Stream(id))
}

// account is the state of an account; nil where there is none.
func (c *legalCheck) account(id string) *account.State {
	return stateOf[account.Command, account.State](c, account.Stream(id))
}

func described(e event.Event) string {
	text, err := event.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return shown(string(text))
}

func kept[K comparable, V any](all map[K]*V, key K) *V {
	v, known := all[key]
	if !known {
		v = new(V)
		all[key] = v
	}
	return v
}

func (c *legalCheck) end() {}

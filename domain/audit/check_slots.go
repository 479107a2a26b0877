package audit

import (
	"crypto/sha256"
	"fmt"
	"unique"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

// slotCheck proves the balance of every account's day by counting it: it keeps what was spent and given back by itself, and
// asks of each refund which of the rules of docs/jobs.md it follows.
type slotCheck struct {
	p        *pass
	jobs     *legalCheck
	spent    map[string]*slot            // by slot id
	held     map[string]map[string]*slot // stream of a day → job id → the slot that it holds
	due      map[string]*dueRefund       // by job
	refusals map[string]bool             // slots whose upload was refused
}

type slot struct {
	id, jobID, account string
	submission         [sha256.Size]byte // of what is stored in slots.spent
	uploadID           string
	day                string
	refunded           slots.RefundReason // empty: it is held
	queued             bool               // its job is in the queue, or was
	place              place              // in the day's stream
}

// dueRefund is a slot to be given back, because its job was cancelled before it was tried or was lost by the service.
type dueRefund struct {
	slot   *slot
	reason slots.RefundReason
	since  place
}

func newSlotCheck(p *pass, jobs *legalCheck) *slotCheck {
	return &slotCheck{p: p, jobs: jobs, spent: map[string]*slot{}, held: map[string]map[string]*slot{}, due: map[string]*dueRefund{}, refusals: map[string]bool{}}
}

func (c *slotCheck) take(it *Item) {
	switch e := it.Event.(type) {
	case slots.Spent:
		c.spend(it, e)
	case slots.Refunded:
		c.refund(it, e)
	case job.WasQueued:
		c.queue(it, e)
	case job.WasCancelled:
		if s := c.spent[e.SlotID]; e.Early && s != nil {
			c.due[e.JobID] = &dueRefund{s, slots.CancelledEarly, placeOf(it)}
		}
	case job.WasLost:
		if state := c.jobs.job(e.JobID); e.Refunded && state != nil && c.spent[state.Queued.SlotID] != nil {
			c.due[e.JobID] = &dueRefund{c.spent[state.Queued.SlotID], slots.ServiceFailed, placeOf(it)}
		}
	case upload.Refused:
		c.refusals[e.SlotID] = true
	}
}

func (c *slotCheck) spend(it *Item, e slots.Spent) {
	c.p.counts.Slots++
	s := e.Submission
	now := &slot{id: e.SlotID, jobID: s.JobID, account: oneText(s.Account), submission: digestOf(s), uploadID: s.UploadID, day: oneText(e.Day), place: placeOf(it)}
	now.place.stream = oneText(it.Stream)
	wrong := func(expected, found string) { c.p.found(checkSlots, KindSlot, it.Recorded, expected, found) }
	if before := c.spent[e.SlotID]; before != nil {
		wrong("a slot that is spent once", "slot "+e.SlotID+" again, spent at position "+fmt.Sprint(before.place.position))
		return
	}
	if e.SlotID != it.ID {
		wrong("the id of the event that spends it as the slot's id: "+it.ID, e.SlotID)
	}
	if day := s.SubmittedAt[:min(len("2006-01-02"), len(s.SubmittedAt))]; day != e.Day {
		wrong("the day of submitted_at, "+day, e.Day)
	}
	if submitted := event.Timestamp(it.Metadata.At); s.SubmittedAt != submitted {
		wrong("submitted_at when the command was given, "+submitted, s.SubmittedAt)
	}
	if inside := ofItself(s); inside != (contradiction{}) {
		wrong(inside.expected, inside.found)
	}
	day := c.held[now.place.stream]
	if day == nil {
		day = map[string]*slot{}
		c.held[now.place.stream] = day
	}
	if other := day[s.JobID]; other != nil {
		c.p.found(checkSlots, KindSlotBalance, it.Recorded, "one slot of the day for job "+s.JobID, "another one, beside slot "+other.id)
	}
	c.spent[e.SlotID], day[s.JobID] = now, now
}

// oneText is the same text, kept once for all that have it.
func oneText(text string) string { return unique.Make(text).Value() }

// digestOf is what tells two submissions apart.
func digestOf(s job.Submission) (digest [sha256.Size]byte) {
	text, err := event.Marshal(s)
	if err != nil {
		return digest
	}
	return sha256.Sum256(text)
}

func (c *slotCheck) queue(it *Item, e job.WasQueued) {
	s := c.spent[e.SlotID]
	wrong := func(expected, found string) { c.p.found(checkSlots, KindNoSlot, it.Recorded, expected, found) }
	switch {
	case s == nil:
		wrong("a slot that was spent before", "slot "+shown(e.SlotID))
		return
	case s.jobID != e.JobID || s.account != e.Account || s.day != e.Day:
		wrong(fmt.Sprintf("job %s of account %s and day %s, for which the slot was spent", s.jobID, s.account, s.day), fmt.Sprintf("job %s of account %s and day %s", e.JobID, e.Account, e.Day))
	case s.submission != digestOf(e.Submission):
		wrong("the submission of the slot", "another one")
	case s.refunded != "":
		wrong("a slot that was not given back", "slot "+s.id+", refunded as "+string(s.refunded))
	}
	s.queued = true
}

func (c *slotCheck) refund(it *Item, e slots.Refunded) {
	c.p.counts.Refunds++
	s := c.spent[e.SlotID]
	wrong := func(expected, found string) { c.p.found(checkSlots, KindRefund, it.Recorded, expected, found) }
	switch {
	case s == nil:
		wrong("a slot that was spent before", "slot "+shown(e.SlotID))
		return
	case s.place.stream != it.Stream:
		wrong("the refund in "+s.place.stream+", where the slot was spent", it.Stream)
	case s.jobID != e.JobID:
		wrong("job "+s.jobID+", for which the slot was spent", e.JobID)
	case s.refunded != "":
		wrong("one refund of slot "+s.id, "another one")
	}
	if due := c.missing(s, e.Reason); due != "" {
		wrong("a refund by a rule: "+due, string(e.Reason))
	}
	s.refunded = e.Reason
	if day := c.held[s.place.stream]; day[s.jobID] == s {
		delete(day, s.jobID)
	}
}

// missing returns what would have to be so for a refund, where it is not.
func (c *slotCheck) missing(s *slot, reason slots.RefundReason) string {
	state := c.jobs.job(s.jobID)
	switch reason {
	case slots.CancelledEarly:
		if due := c.due[s.jobID]; due == nil || due.slot != s || due.reason != reason {
			return "the job was cancelled before it was tried, and held this slot"
		}
	case slots.ServiceFailed:
		if due := c.due[s.jobID]; due == nil || due.slot != s || due.reason != reason {
			return "the service lost the job, which held this slot"
		}
	case slots.Duplicate:
		if state == nil || state.Queued.SlotID == s.id {
			return "the job is in the queue on another slot"
		}
	case slots.UploadUsed:
		stored := c.jobs.upload(s.uploadID)
		unknown := stored == nil || stored.Account() != s.account
		if s.uploadID == "" || !c.refusals[s.id] && !unknown {
			return "the upload was refused to this slot, or the account has no such upload"
		}
	}
	return ""
}

func (c *slotCheck) end() {
	for _, s := range c.spent {
		if !s.queued && s.refunded == "" {
			c.p.unfinished(checkSlots, KindUnsettled, s.place, "job.queued or a refund for slot "+s.id, "neither")
		}
	}
	because := map[slots.RefundReason]string{slots.CancelledEarly: "was cancelled before it was tried", slots.ServiceFailed: "was lost by the service"}
	for jobID, due := range c.due {
		if due.slot.refunded == "" {
			c.p.unfinished(checkSlots, KindNoRefund, due.since, "a refund of slot "+due.slot.id+", because job "+jobID+" "+because[due.reason], "none")
		}
	}
}

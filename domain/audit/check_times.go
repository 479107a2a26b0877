package audit

import (
	"cmp"
	"fmt"
	"time"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

// longestCommand is how long after the time at which a command was given its events may be appended: an upload, the longest evaluation.
const longestCommand = time.Hour

// timeCheck compares times. Those that one command has written are one reading of one clock, and equal: another value is an error. Those
// of different commands, and the stamps of records, are of clocks that can be set, also back: that they contradict each other is a note,
// once for each such step.
type timeCheck struct {
	p      *pass
	newest time.Time   // of all commands before
	at     uint64      // its position
	back   bool        // the event before was given longer than longestCommand before newest
	stamp  time.Time   // of the record before
	ahead  bool        // the event before was given after its stamp
	late   bool        // the event before was stamped longer than longestCommand after it was given
	alone  *Item       // the event before, when it was late and the one before it was not
	before *legalCheck // of the events before
}

// newTimeCheck makes a check that takes each event before legalCheck does.
func newTimeCheck(p *pass, before *legalCheck) *timeCheck { return &timeCheck{p: p, before: before} }

func (c *timeCheck) take(it *Item) {
	if !it.Created.IsZero() {
		if it.Created.Before(c.stamp) {
			c.note(it, "a stamp not before "+event.Timestamp(c.stamp)+", that of the record before", event.Timestamp(it.Created))
		}
		c.stamp = it.Created
	}
	if it.Event == nil {
		return
	}
	given := it.facts.Given(it.Event)
	if now := event.Timestamp(it.Metadata.At); given.Field != "" && given.Value != now {
		c.p.found(checkTimes, KindTime, it.Recorded, given.Field+" "+now+", when the command was given", shown(given.Value))
	}
	c.takeGiven(it)
	c.takeStamp(it)
	c.takeComputed(it, given)
}

func (c *timeCheck) note(it *Item, expected, found string) {
	c.p.found(checkTimes, KindTimeOrder, it.Recorded, expected, found)
}

// takeGiven: commands are given in the log's order, but for those that take long.
func (c *timeCheck) takeGiven(it *Item) {
	given := it.Metadata.At
	back := given.Before(c.newest.Add(-longestCommand))
	if back && !c.back {
		c.note(it, fmt.Sprintf("a command given after %s, or little before: that of position %d was", event.Timestamp(c.newest), c.at), "at "+event.Timestamp(given))
	}
	if c.back = back; given.After(c.newest) {
		c.newest, c.at = given, it.Position.Commit
	}
}

// takeStamp: an event is stamped after its command was given. All of a migrated log were stamped long after.
func (c *timeCheck) takeStamp(it *Item) {
	if it.Created.IsZero() {
		return
	}
	given := it.Metadata.At
	ahead, late := given.After(it.Created.Add(longestCommand)), it.Created.After(given.Add(longestCommand))
	if ahead && !c.ahead {
		c.note(it, "a command given before its record was stamped, at "+event.Timestamp(it.Created), "at "+event.Timestamp(given))
	}
	if !late {
		c.takeAlone()
	}
	if c.alone = nil; late && !c.late {
		c.alone = it
	}
	c.ahead, c.late = ahead, late
}

// takeAlone notes an event that was stamped late where those around it were not.
func (c *timeCheck) takeAlone() {
	if it := c.alone; it != nil {
		c.note(it, fmt.Sprintf("a command given within %s before its record was stamped, at %s, as those around it", longestCommand, event.Timestamp(it.Created)), "at "+event.Timestamp(it.Metadata.At))
	}
}

// takeComputed: a job is submitted, started, computed and finished in this order; an answer comes after its request, or before it is published.
func (c *timeCheck) takeComputed(it *Item, given event.Reading) {
	switch e := it.Event.(type) {
	case job.WasQueued:
		c.ordered(it, "submitted_at", moment(e.SubmittedAt), "at", it.Metadata.At)
	case run.Evaluated:
		if evaluated := moment(e.EvaluatedAt); e.JobID == "" {
			c.ordered(it, "at", it.Metadata.At, "evaluated_at", evaluated)
			c.ordered(it, "evaluated_at", evaluated, "an hour after at", it.Metadata.At.Add(longestCommand))
		} else {
			c.ordered(it, "evaluated_at", evaluated, "at", it.Metadata.At)
		}
	case certificate.Issued:
		c.ordered(it, "created_at", moment(e.CreatedAt), "at", it.Metadata.At)
	default:
		if given.Field == "" {
			return
		}
		if s := stateOf[job.Command, job.State](c.before, it.Stream); s != nil {
			c.ordered(it, "the submission or the attempt before", moment(cmp.Or(s.StartedAt, s.Queued.SubmittedAt)), given.Field, moment(given.Value))
		}
	}
}

// ordered notes that one time comes after another that follows it, by more than clocks of an installation differ.
func (c *timeCheck) ordered(it *Item, first string, from time.Time, then string, to time.Time) {
	if from.After(to.Add(clockSkew)) {
		c.note(it, fmt.Sprintf("%s not before %s, %s", then, first, event.Timestamp(from)), event.Timestamp(to))
	}
}

func (c *timeCheck) end() { c.takeAlone() }

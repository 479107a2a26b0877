package migration

import (
	"fmt"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/eventstore/export"
	"reckon/eventstore/node/eventlog"
)

// comparison compares what a target has with what it must have, one event after the other. Events other than metadata must come in the
// same order, and so must metadata; a server that writes metadata itself, when a deleted stream is written again, may do so before or
// after the event that revives it.
type comparison struct {
	has     *copied
	missing func(*wanted) error // called for what the target does not have any more

	later   []*wanted             // metadata that the target may have behind its next other event
	earlier []*esdb.RecordedEvent // metadata that the target has before where it is wanted
}

func (c *comparison) take(w *wanted) error {
	if w.isMetadata() {
		return c.takeMetadata(w)
	}
	for {
		has, err := c.has.peek()
		if err != nil {
			return err
		}
		if has == nil {
			if err := c.giveUp(); err != nil {
				return err
			}
			return c.missing(w)
		}
		c.has.pop()
		if !eventlog.IsMetaStream(has.StreamID) {
			return compare(has, w)
		}
		if len(c.later) > 0 {
			if err := compare(has, c.later[0]); err != nil {
				return err
			}
			c.later = c.later[1:]
			continue
		}
		if c.earlier = append(c.earlier, has); len(c.earlier) > maxEarly {
			return extra(c.earlier[0])
		}
	}
}

// maxEarly bounds the metadata that a target may have before where it is wanted, and behind: each is of a stream that was revived.
const maxEarly = 1024

func (c *comparison) takeMetadata(w *wanted) error {
	if len(c.earlier) > 0 {
		has := c.earlier[0]
		c.earlier = c.earlier[1:]
		return compare(has, w)
	}
	has, err := c.has.peek()
	switch {
	case err != nil:
		return err
	case has == nil:
		if err := c.giveUp(); err != nil {
			return err
		}
		return c.missing(w)
	case eventlog.IsMetaStream(has.StreamID) && len(c.later) == 0:
		c.has.pop()
		return compare(has, w)
	case len(c.later) == maxEarly:
		return different(c.later[0], "the target has not this metadata")
	}
	c.later = append(c.later, w)
	return nil
}

// giveUp passes on the metadata that the target has not, at its end.
func (c *comparison) giveUp() error {
	later := c.later
	c.later = nil
	for _, w := range later {
		if err := c.missing(w); err != nil {
			return err
		}
	}
	return nil
}

// end is called when the source has no more: neither may the target.
func (c *comparison) end() error {
	for {
		has, err := c.has.peek()
		switch {
		case err != nil:
			return err
		case has == nil && len(c.earlier) > 0:
			return extra(c.earlier[0])
		case has == nil:
			return c.giveUp()
		case !eventlog.IsMetaStream(has.StreamID) || len(c.later) == 0:
			return extra(has)
		}
		c.has.pop()
		if err := compare(has, c.later[0]); err != nil {
			return err
		}
		c.later = c.later[1:]
	}
}

func compare(has *esdb.RecordedEvent, w *wanted) error {
	if w.isTombstone() {
		if has.StreamID == w.stream && has.EventType == eventlog.TombstoneType {
			return nil
		}
		return different(w, "the target has no tombstone there")
	}
	if reason := export.Difference(has, w.stream, w.event); reason != "" {
		return different(w, "in the target, "+reason)
	}
	if has.EventNumber != w.revision {
		return different(w, fmt.Sprintf("the target has it at revision %d", has.EventNumber))
	}
	return nil
}

func different(w *wanted, reason string) error {
	return &DifferenceError{Stream: w.stream, Revision: w.revision, Position: w.position, Reason: reason}
}

func extra(has *esdb.RecordedEvent) error {
	return &DifferenceError{Stream: has.StreamID, Revision: has.EventNumber, Reason: "the target alone has it"}
}

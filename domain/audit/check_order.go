package audit

import (
	"fmt"
	"strings"

	"reckon/domain/event"
)

// orderCheck proves that the log is one order: it keeps 32 bytes of each event, and the next revision of each stream.
type orderCheck struct {
	p            *pass
	last         event.Position
	next         map[string]event.Revision
	correlations map[eventID]eventID // of every event, by its id
}

func newOrderCheck(p *pass) *orderCheck {
	return &orderCheck{p: p, next: map[string]event.Revision{}, correlations: map[eventID]eventID{}}
}

func (c *orderCheck) take(it *Item) {
	if !c.last.Less(it.Position) {
		c.p.found(checkOrder, KindPosition, it.Recorded, fmt.Sprintf("a position after %d", c.last.Commit), fmt.Sprint(it.Position.Commit))
	}
	c.last = it.Position
	c.takeRevision(it)
	correlation, _ := parseID(it.Metadata.Correlation)
	if _, twice := c.correlations[it.id]; twice && it.id != (eventID{}) {
		c.p.found(checkOrder, KindDuplicateID, it.Recorded, "an id of its own", "the id of an earlier event: "+it.ID)
	} else {
		c.correlations[it.id] = correlation
	}
	if it.Event == nil {
		return
	}
	c.takeCause(it, correlation)
	c.takeAddress(it)
}

// takeRevision: a stream of beats keeps its newest event only, and the store's own streams may be cut.
func (c *orderCheck) takeRevision(it *Item) {
	next, known := c.next[it.Stream]
	if !known {
		c.p.counts.Streams++
	}
	mayBeCut := strings.HasPrefix(it.Stream, "$") || strings.HasPrefix(it.Stream, "runner-")
	if it.Revision != next && !(mayBeCut && it.Revision > next) {
		c.p.found(checkOrder, KindRevision, it.Recorded, fmt.Sprintf("revision %d of stream %s", next, it.Stream), fmt.Sprint(it.Revision))
	}
	c.next[it.Stream] = it.Revision + 1
}

func (c *orderCheck) takeCause(it *Item, correlation eventID) {
	m := it.Metadata
	if _, isUUID := parseID(m.Correlation); !isUUID {
		c.p.found(checkOrder, KindCause, it.Recorded, "the id of the command that it all began with ($correlationId), a UUID", shown(m.Correlation))
	}
	if m.Causation == "" {
		if strings.HasPrefix(m.Actor, "reaction:") && m.Actor != "reaction:renew_subscriptions" {
			c.p.found(checkOrder, KindCause, it.Recorded, "the event that the reaction follows ($causationId)", "none")
		}
		return
	}
	id, isUUID := parseID(m.Causation)
	of, known := c.correlations[id]
	switch {
	case !isUUID || !known || id == it.id:
		c.p.found(checkOrder, KindCause, it.Recorded, "the id of an earlier event as $causationId", m.Causation)
	case of != correlation:
		c.p.found(checkOrder, KindCause, it.Recorded, "the $correlationId of the event that caused it", m.Correlation)
	}
}

func (c *orderCheck) takeAddress(it *Item) {
	switch stream := it.address.Stream; {
	case stream == "" && !strings.HasPrefix(it.Stream, "slots-"): // a refund, whose day is the slot's: slots checks it
		c.p.found(checkOrder, KindStream, it.Recorded, "a stream slots-…", shown(it.Stream))
	case stream != "" && stream != it.Stream:
		c.p.found(checkOrder, KindStream, it.Recorded, "stream "+stream, shown(it.Stream))
	}
	if m := it.Metadata.Account; m != "" && it.address.Account != "" && m != it.address.Account {
		c.p.found(checkOrder, KindAccount, it.Recorded, "account "+it.address.Account+" in the metadata", shown(m))
	}
}

func (c *orderCheck) end() {}

package audit

import (
	"fmt"
	"strings"

	"reckon/domain/event"
)

// orderCheck proves that the log is one order: it keeps the id and the correlation of each event, and the next revision of each stream.
type orderCheck struct {
	p            *pass
	last         event.Position
	streams      *streams
	events       *table[eventID, correlationPlace] // all before
	correlations correlations
}

func newOrderCheck(p *pass, s *streams) *orderCheck {
	return &orderCheck{p: p, streams: s, events: newTable[eventID, correlationPlace]()}
}

// correlations are those of all events. Those of one command's follow each other, and share one.
type correlations struct {
	pages [][]eventID // each but the last has tablePage
	last  correlationPlace
}

// correlationPlace is the place of a correlation, of which there may be more than 2^32.
type correlationPlace [5]byte

func (p correlationPlace) index() int {
	return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 | int(p[3])<<24 | int(p[4])<<32
}

func (c *correlations) at(place correlationPlace) eventID {
	n := place.index()
	return c.pages[n/tablePage][n%tablePage]
}

// add notes the correlation of the next event.
func (c *correlations) add(correlation eventID) correlationPlace {
	if len(c.pages) > 0 && c.at(c.last) == correlation {
		return c.last
	}
	n := 0
	if len(c.pages) > 0 {
		n = c.last.index() + 1
	}
	if n%tablePage == 0 {
		c.pages = append(c.pages, make([]eventID, 0, tablePage))
	}
	page := &c.pages[len(c.pages)-1]
	*page = append(*page, correlation)
	c.last = correlationPlace{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), byte(n >> 32)}
	return c.last
}

func (c *orderCheck) take(it *Item) {
	if !c.last.Less(it.Position) {
		c.p.found(checkOrder, KindPosition, it.Recorded, fmt.Sprintf("a position after %d", c.last.Commit), fmt.Sprint(it.Position.Commit))
	}
	c.last = it.Position
	c.takeRevision(it)
	correlation, _ := parseID(it.Metadata.Correlation)
	switch {
	case it.id == (eventID{}): // it has none
	case c.events.at(it.id) != nil:
		c.p.found(checkOrder, KindDuplicateID, it.Recorded, "an id of its own", "the id of an earlier event: "+it.ID)
	default:
		c.events.add(it.id, c.correlations.add(correlation))
	}
	if it.Event == nil {
		return
	}
	c.takeCause(it, correlation)
	c.takeAddress(it)
}

// takeRevision: a stream of beats keeps its newest event only, and the store's own streams may be cut.
func (c *orderCheck) takeRevision(it *Item) {
	next, known := c.streams.next(it.Stream)
	if !known {
		c.p.counts.Streams++
	}
	mayBeCut := strings.HasPrefix(it.Stream, "$") || strings.HasPrefix(it.Stream, "runner-")
	if it.Revision != next && !(mayBeCut && it.Revision > next) {
		c.p.found(checkOrder, KindRevision, it.Recorded, fmt.Sprintf("revision %d of stream %s", next, it.Stream), fmt.Sprint(it.Revision))
	}
	c.streams.setNext(it.Stream, it.Revision+1)
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
	of := c.events.at(id)
	switch {
	case !isUUID || of == nil || id == it.id:
		c.p.found(checkOrder, KindCause, it.Recorded, "the id of an earlier event as $causationId", m.Causation)
	case c.correlations.at(*of) != correlation:
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

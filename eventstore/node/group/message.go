package group

import (
	"cmp"
	"time"

	"github.com/google/uuid"
)

// Source is where an event was read.
type Source uint8

const (
	Log    Source = iota // the stream or $all that the group consumes
	Parked               // the stream of parked events, which are replayed
)

// Event is what a Group knows of an event.
type Event struct {
	ID      uuid.UUID // of the record that was read: of the link, where links are resolved
	Number  int64     // of that record in its source: revision or position
	Before  int64     // Number of the record before it, delivered or not; unused for Parked
	Skipped int       // records between the event before it and this one that count towards a checkpoint and are not delivered
	Order   int64     // for Parked: Number in Log of the event that was parked, -1 when unknown
	Pin     uint32    // for Pinned: a hash of what keeps events together
}

// order is the place of the event among those that wait.
func (e *Event) order(from Source) int64 {
	if from == Parked {
		return e.Order
	}
	return e.Number
}

type state uint8

const (
	waiting state = iota // for a consumer
	given                // to a consumer
	parking              // until it is durable in the stream of parked events
	settled
)

// message is an event that is not settled.
type message struct {
	Event
	source   Source
	state    state
	sent     bool // a consumer has taken it, now or before
	taken    bool // the consumer it is given to has taken it
	retries  int
	consumer *Consumer
	due      time.Time
	reason   string // why it is parked
	before   int64  // Group.fed before it

	older, newer *message // in the line of its source
	sameID       *message // next in the index of sent messages
}

// compare orders waiting messages: by place in the log, a parked event before the same in the log.
func compare(a, b *message) int {
	return cmp.Or(cmp.Compare(a.order(a.source), b.order(b.source)), -cmp.Compare(a.source, b.source), cmp.Compare(a.Number, b.Number))
}

// line holds the messages of one source that are not settled, oldest first.
type line struct {
	oldest, newest *message
	length         int
}

func (l *line) add(m *message) {
	m.older = l.newest
	if l.newest == nil {
		l.oldest = m
	} else {
		l.newest.newer = m
	}
	l.newest = m
	l.length++
}

func (l *line) remove(m *message) {
	if m.older == nil {
		l.oldest = m.newer
	} else {
		m.older.newer = m.newer
	}
	if m.newer == nil {
		l.newest = m.older
	} else {
		m.newer.older = m.older
	}
	m.older, m.newer = nil, nil
	l.length--
}

// index finds sent messages by id. Several events may have the same id; they are kept in
// the order in which they were first sent.
type index map[uuid.UUID]*message

func (x index) add(m *message) {
	at := x[m.ID]
	if at == nil {
		x[m.ID] = m
		return
	}
	for at.sameID != nil {
		at = at.sameID
	}
	at.sameID = m
}

func (x index) remove(m *message) {
	switch at := x[m.ID]; {
	case at == m && m.sameID == nil:
		delete(x, m.ID)
	case at == m:
		x[m.ID] = m.sameID
	default:
		for ; at != nil; at = at.sameID {
			if at.sameID == m {
				at.sameID = m.sameID
				break
			}
		}
	}
	m.sameID = nil
}

package group

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// None is the number before the first event of a source.
const None int64 = -1

// Group is the state of one group. Its methods must not be called concurrently.
type Group struct {
	settings  Settings
	consumers []*Consumer
	turn      int                // of RoundRobin and DispatchToSingle: who is asked first
	buckets   [buckets]*Consumer // of Pinned
	free      int                // events that can be given to all consumers together

	lines   [2]line    // by source
	waiting []*message // in order
	parking []*message // to be made durable
	byID    index

	total      int64 // deliveries taken
	considered int64 // newest number fed, or passed by, from Log
	atEnd      bool  // of the log, when it was last fed

	replayNext, replayUntil int64 // revisions of the parked stream still to be fed
	truncated               int64 // durable $tb of that stream

	checkpoint   int64 // durable
	checkpointAt time.Time
	fed          int64 // events fed and records skipped
	done         int64 // of these, the ones settled or skipped
	covered      int64 // of these, the ones up to checkpoint
}

// New returns a group that has settled everything up to the number after, None for nothing.
// The parked events begin at revision firstParked.
func New(now time.Time, s Settings, after, firstParked int64) *Group {
	s.normalize()
	return &Group{
		settings: s, byID: index{},
		considered: after, checkpoint: after, checkpointAt: now,
		replayNext: firstParked, replayUntil: firstParked, truncated: firstParked,
	}
}

// Page is a part of the log that follows the one before it.
type Page struct {
	Events  []Event // those to deliver, in order
	Last    int64   // number of the last record looked at
	Skipped int     // records behind the last event that count towards a checkpoint and are not delivered
	AtEnd   bool    // nothing follows it yet
}

// Want returns the number above which the log is to be read, and how many events Feed may
// bring; none while enough wait. room is what the caller's memory allows.
func (g *Group) Want(room int) (after int64, events int) {
	if len(g.parking) >= maxParking {
		return g.considered, 0
	}
	limit := g.settings.HistoryBuffer
	if g.atEnd {
		limit = g.settings.LiveBuffer
	}
	batch, space := min(g.settings.ReadBatch, limit), limit-len(g.waiting)
	if space < batch {
		return g.considered, 0
	}
	return g.considered, min(batch, max(room, 0))
}

// Feed takes the next page of the log. A page that looked at no record only says AtEnd.
func (g *Group) Feed(now time.Time, p Page) {
	g.atEnd = p.AtEnd
	for _, e := range p.Events {
		g.add(e, Log)
	}
	g.considered = max(g.considered, p.Last)
	g.skip(p.Skipped)
	g.dispatch(now)
}

// Replay delivers the parked events below the revision until again.
func (g *Group) Replay(until int64) { g.replayUntil = max(g.replayUntil, until) }

// Discard gives up the parked events below the revision until that are not being replayed.
func (g *Group) Discard(until int64) {
	g.replayNext = max(g.replayNext, until)
	g.replayUntil = max(g.replayUntil, g.replayNext)
}

// WantParked returns the revisions from ≤ r < until of the parked stream that are to be read,
// and how many events FeedParked may bring.
func (g *Group) WantParked(room int) (from, until int64, events int) {
	if g.replayNext >= g.replayUntil || len(g.waiting) >= g.settings.HistoryBuffer || len(g.parking) >= maxParking {
		return g.replayNext, g.replayUntil, 0
	}
	return g.replayNext, g.replayUntil, min(g.settings.ReadBatch, max(room, 0))
}

// Replaying reports whether parked events are still to be read.
func (g *Group) Replaying() bool { return g.replayNext < g.replayUntil }

// FeedParked takes the next parked events; next is the revision that follows them.
func (g *Group) FeedParked(now time.Time, events []Event, next int64) {
	for _, e := range events {
		g.add(e, Parked)
	}
	g.replayNext = max(g.replayNext, next)
	g.dispatch(now)
}

// skip counts records that are not delivered.
func (g *Group) skip(records int) {
	g.fed += int64(records)
	g.done += int64(records)
}

func (g *Group) add(e Event, from Source) {
	g.skip(e.Skipped)
	m := &message{Event: e, source: from, before: g.fed}
	if from == Log {
		g.fed++
	}
	g.lines[from].add(m)
	g.wait(m)
}

// Delivery is an event for a consumer to be sent.
type Delivery struct {
	Event
	Source  Source
	Retries int
	message *message
}

// Take returns the next event given to the consumer; false when there is none.
func (g *Group) Take(c *Consumer) (Delivery, bool) {
	if len(c.outbox) == 0 {
		return Delivery{}, false
	}
	m := c.outbox[0]
	c.outbox = slices.Delete(c.outbox, 0, 1)
	m.taken = true
	c.total++
	g.total++
	if !m.sent {
		m.sent = true
		g.byID.add(m)
	}
	return Delivery{Event: m.Event, Source: m.source, Retries: m.retries, message: m}, true
}

// Gone settles a delivery whose event no longer exists.
func (g *Group) Gone(now time.Time, d Delivery) {
	if d.message.state == given || d.message.state == waiting {
		g.settle(d.message)
		g.dispatch(now)
	}
}

// Ack settles the events of these ids that a consumer has taken. Ids of no such event are
// passed by. An event that was taken back for its timeout, and has not been settled since, is
// settled too: it was consumed.
func (g *Group) Ack(now time.Time, c *Consumer, ids []uuid.UUID) {
	for _, id := range ids {
		if m := g.sentTo(c, id); m != nil {
			if g.settings.Measured && m.consumer == c {
				c.measure(now.Sub(m.due) + g.settings.MessageTimeout) // due is that long after it was given
			}
			g.settle(m)
		}
	}
	g.dispatch(now)
}

// sentTo returns the event of an id that the consumer has now, or else one that it may have had.
func (g *Group) sentTo(c *Consumer, id uuid.UUID) *message {
	var other *message
	for m := g.byID[id]; m != nil; m = m.sameID {
		if m.consumer == c && m.taken {
			return m
		}
		if other == nil {
			other = m
		}
	}
	return other
}

// Action is what becomes of an event that was not consumed.
type Action uint8

const (
	Retry Action = iota + 1 // deliver it again, or park it when it was repeated MaxRetries times
	Park
	Skip // settle it
)

// Nack tells what becomes of events that the consumer has taken and did not consume. Ids of
// no such event are passed by.
func (g *Group) Nack(now time.Time, c *Consumer, ids []uuid.UUID, action Action, reason string) {
	for _, id := range ids {
		m := g.sentTo(c, id)
		if m == nil || m.consumer != c || !m.taken {
			continue
		}
		switch action {
		case Retry:
			g.retry(m, reason)
		case Park:
			g.park(m, reason)
		default:
			g.settle(m)
		}
	}
	g.dispatch(now)
}

// Tick takes back what consumers have had for too long. It is to be called every second or so.
func (g *Group) Tick(now time.Time) {
	for _, l := range g.lines {
		for m := l.oldest; m != nil; m = m.newer {
			if m.state == given && m.taken && !m.due.After(now) {
				g.retry(m, "the consumer did not acknowledge it in time")
			}
		}
	}
	for _, c := range g.consumers {
		// what it has not seen goes to whoever takes it, all of it for the sake of order, and is no repetition
		if slices.ContainsFunc(c.outbox, func(m *message) bool { return !m.due.After(now) }) {
			g.empty(c)
		}
	}
	g.dispatch(now)
}

func (g *Group) retry(m *message, reason string) {
	if m.retries >= g.settings.MaxRetries {
		g.park(m, reason)
		return
	}
	g.takeBack(m)
	m.retries++
	g.wait(m)
}

func (g *Group) park(m *message, reason string) {
	g.takeBack(m)
	g.byID.remove(m)
	m.state, m.reason = parking, reason
	g.parking = append(g.parking, m)
}

// settle ends a message that is waiting, given or parking.
func (g *Group) settle(m *message) {
	switch m.state {
	case given:
		g.takeBack(m)
	case waiting:
		at, _ := slices.BinarySearchFunc(g.waiting, m, compare)
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	if m.sent && m.state != parking {
		g.byID.remove(m)
	}
	m.state = settled
	g.lines[m.source].remove(m)
	if m.source == Log {
		g.done++
	}
}

// ToPark is an event to be appended to the parked stream.
type ToPark struct {
	Event
	Source Source
	Reason string
}

// Parking returns the first events to be made durable in the parked stream.
func (g *Group) Parking(limit int) []ToPark {
	n := min(limit, len(g.parking))
	out := make([]ToPark, n)
	for i, m := range g.parking[:n] {
		out[i] = ToPark{Event: m.Event, Source: m.source, Reason: m.reason}
	}
	return out
}

// Parked settles the first n events that Parking returned: they are durable there, or gone.
func (g *Group) Parked(n int) {
	for _, m := range g.parking[:n] {
		g.settle(m)
	}
	g.parking = slices.Delete(g.parking, 0, n)
}

// Progress returns the number up to which every event is settled.
func (g *Group) Progress() int64 {
	if m := g.lines[Log].oldest; m != nil {
		return m.Before
	}
	return g.considered
}

// Mark is a checkpoint to be made durable.
type Mark struct {
	Number  int64
	covered int64
}

// Checkpoint returns the checkpoint to be made durable; false when none is due. final is for
// the last one of a group that is put away.
func (g *Group) Checkpoint(now time.Time, final bool) (Mark, bool) {
	progress, since := g.Progress(), g.done-g.covered
	if progress <= g.checkpoint {
		return Mark{}, false
	}
	byTime := g.settings.CheckpointAfter > 0 && since >= int64(max(g.settings.CheckpointMin, 1)) && now.Sub(g.checkpointAt) >= g.settings.CheckpointAfter
	if !byTime && since < int64(g.settings.CheckpointMax) && !(final && since > 0) {
		return Mark{}, false
	}
	if m := g.lines[Log].oldest; m != nil {
		return Mark{progress, m.before}, true
	}
	return Mark{progress, g.fed}, true
}

// Checkpointed says that a checkpoint is durable.
func (g *Group) Checkpointed(now time.Time, m Mark) {
	g.checkpoint, g.checkpointAt, g.covered = m.Number, now, m.covered
}

// Truncation returns the revision below which every parked event was replayed and settled;
// false when the parked stream is truncated there already.
func (g *Group) Truncation() (int64, bool) {
	before := g.replayNext
	if m := g.lines[Parked].oldest; m != nil {
		before = m.Number
	}
	return before, before > g.truncated
}

// Truncated says that the truncation is durable.
func (g *Group) Truncated(before int64) { g.truncated = before }

// ReplayedBefore is the revision of the parked stream below which everything was read again.
func (g *Group) ReplayedBefore() int64 { return g.replayNext }

// Total returns how many deliveries consumers have taken, repetitions included.
func (g *Group) Total() int64 { return g.total }

// Unsettled returns how many events the group holds.
func (g *Group) Unsettled() int { return g.lines[Log].length + g.lines[Parked].length }

// Counts describe a group to its operators.
type Counts struct {
	Live       bool
	Replaying  bool
	Waiting    int // for the first time
	Retrying   int // waiting to be delivered again
	Given      int // to consumers, and not settled
	Parking    int
	Checkpoint int64 // durable; that at the start when none was written
}

// Counts counts the events that are not settled.
func (g *Group) Counts() Counts {
	c := Counts{Live: g.atEnd, Replaying: g.Replaying(), Parking: len(g.parking), Checkpoint: g.checkpoint}
	c.Given = g.Unsettled() - len(g.waiting) - len(g.parking)
	for _, m := range g.waiting {
		if m.retries > 0 || m.source == Parked {
			c.Retrying++
		}
	}
	c.Waiting = len(g.waiting) - c.Retrying
	return c
}

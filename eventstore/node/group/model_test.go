package group

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// world is everything outside a Group: the log, what is durable, and consumers that behave
// in any way. It notes what was promised.
type world struct {
	t        *rapid.T
	settings Settings
	group    *Group
	now      time.Time

	log    []Event
	shown  []bool  // whether a filter lets the event pass
	parked []int64 // numbers of events in the log, by revision of the parked stream
	// durable state of the group
	checkpoint int64
	truncated  int64

	delivered map[int64]bool // taken by a consumer
	done      map[int64]bool // acknowledged, skipped or parked
	consumers []*member
	changes   int               // of the membership
	pinnedTo  map[uint32][2]int // member and the membership's count of changes
	newest    map[[2]int]int64  // by member and pin, since the consumers changed
	again     map[int64]bool    // delivered since the group started
	replayed  map[int64]bool    // revisions of the parked stream that were settled after a replay
	takenBack bool              // events not seen yet were taken back from a consumer since the consumers changed
}

type member struct {
	id     int
	buffer int
	is     *Consumer
	has    []Delivery
}

func (w *world) check(ok bool, format string, args ...any) {
	if !ok {
		w.t.Fatalf(format, args...)
	}
}

func (w *world) restart() {
	w.group = New(w.now, w.settings, w.checkpoint, w.truncated)
	w.consumers, w.pinnedTo, w.again = nil, map[uint32][2]int{}, map[int64]bool{}
	w.change()
}

// change notes that the consumers are others than before.
func (w *world) change() {
	w.changes++
	w.newest = map[[2]int]int64{}
	// what was taken back may still be behind newer events that a consumer was given
	w.takenBack = w.takenBack && slices.ContainsFunc(w.consumers, func(m *member) bool { return m.is.Waiting() })
}

func (w *world) append(n int) {
	for range n {
		number := int64(1)
		before := None
		if len(w.log) > 0 {
			before = w.log[len(w.log)-1].Number
			number = before + rapid.Int64Range(1, 3).Draw(w.t, "gap")
		}
		id := uuid.UUID{1, byte(number >> 8), byte(number)}
		if rapid.IntRange(0, 9).Draw(w.t, "same id") == 0 {
			id = uuid.UUID{9}
		}
		w.log = append(w.log, Event{ID: id, Number: number, Before: before, Pin: rapid.Uint32Range(0, 5).Draw(w.t, "pin")})
		w.shown = append(w.shown, rapid.IntRange(0, 4).Draw(w.t, "filter") > 0)
	}
}

// feed reads one page as the node does.
func (w *world) feed(room int) {
	after, want := w.group.Want(room)
	if want == 0 {
		return
	}
	limit := w.settings.HistoryBuffer
	if w.group.atEnd {
		limit = w.settings.LiveBuffer
	}
	w.check(len(w.group.waiting)+want <= limit, "%d wait and %d are wanted, of at most %d", len(w.group.waiting), want, limit)
	page := Page{Last: after, AtEnd: true}
	for i, e := range w.log {
		if e.Number <= after {
			continue
		}
		if len(page.Events) == want {
			page.AtEnd = false
			break
		}
		page.Last = e.Number
		if !w.shown[i] {
			page.Skipped++
			continue
		}
		e.Skipped, page.Skipped = page.Skipped, 0
		page.Events = append(page.Events, e)
	}
	w.group.Feed(w.now, page)
}

func (w *world) feedParked() {
	from, until, want := w.group.WantParked(100)
	if want == 0 {
		return
	}
	var events []Event
	for ; from < until && len(events) < want; from++ {
		events = append(events, Event{ID: uuid.UUID{2, byte(from >> 8), byte(from)}, Number: from, Order: w.parked[from]})
	}
	w.group.FeedParked(w.now, events, from)
}

func (w *world) event(number int64) Event {
	return w.log[slices.IndexFunc(w.log, func(e Event) bool { return e.Number == number })]
}

// original is the number in the log of what was delivered.
func original(d Delivery) int64 { return d.order(d.Source) }

func (w *world) take(m *member) {
	d, ok := w.group.Take(m.is)
	if !ok {
		return
	}
	m.has = append(m.has, d)
	n := original(d)
	w.delivered[n] = true
	if d.Source == Parked || d.Retries > 0 {
		return
	}
	// a first delivery. One consumer, and one that is pinned, receives in order while the
	// consumers stay the same; others until something that a consumer has not seen is taken back
	key := [2]int{m.id, 0}
	switch {
	case w.settings.Strategy == Pinned:
		pin := w.event(n).Pin
		if to, ok := w.pinnedTo[pin]; ok && to[1] == w.changes {
			w.check(to[0] == m.id, "pin %d moved from consumer %d to %d", pin, to[0], m.id)
		}
		w.pinnedTo[pin] = [2]int{m.id, w.changes}
		key[1] = int(pin)
	case w.takenBack:
		return
	}
	if last, ok := w.newest[key]; ok && !w.again[n] {
		w.check(n > last, "consumer %d received %d after %d", m.id, n, last)
	}
	w.newest[key] = n
	w.again[n] = true
}

// pass lets time pass, after which what consumers have not seen may go to others.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, m := range w.consumers {
		w.takenBack = w.takenBack || m.is.Waiting()
	}
	w.settledBy(func() { w.group.Tick(w.now) }, func(*message) bool { return false })
}

// ids draws some of what the consumer has, and forgets these.
func (w *world) ids(m *member) []Delivery {
	if len(m.has) == 0 {
		return nil
	}
	n := rapid.IntRange(1, min(3, len(m.has))).Draw(w.t, "how many")
	at := rapid.IntRange(0, len(m.has)-n).Draw(w.t, "from")
	out := slices.Clone(m.has[at : at+n])
	m.has = slices.Delete(m.has, at, at+n)
	return out
}

// nack refuses events of a consumer, and checks what becomes of each that it really has.
func (w *world) nack(m *member, of []Delivery, action Action) {
	ids := idsOf(of)
	held, before := map[*message]bool{}, map[*message]int{}
	for _, o := range w.unsettled() {
		if o.state == given && o.taken && o.consumer == m.is {
			held[o] = true
			if slices.Contains(ids, o.ID) && w.group.byID[o.ID].sameID == nil {
				before[o] = o.retries
			}
		}
	}
	w.settledBy(func() { w.group.Nack(w.now, m.is, ids, action, "no") }, func(o *message) bool { return action == Skip && held[o] && slices.Contains(ids, o.ID) })
	for o, retries := range before {
		switch {
		case action == Skip:
			w.check(o.state == settled, "event %d was skipped and is not settled", o.Number)
		case action == Park || retries >= w.settings.MaxRetries:
			w.check(o.state == parking, "event %d is not parked after %d repetitions", o.Number, retries)
		default:
			w.check((o.state == waiting || o.state == given) && o.retries == retries+1, "event %d is not repeated", o.Number)
		}
	}
}

// settledBy compares what the group calls settled before and after an act with who could have settled it.
func (w *world) settledBy(act func(), allowed func(*message) bool) {
	before := w.unsettled()
	act()
	after := map[*message]bool{}
	for _, m := range w.unsettled() {
		after[m] = true
	}
	for _, m := range before {
		if after[m] {
			continue
		}
		w.check(allowed(m), "event %d was settled by nobody", m.order(m.source))
		w.done[m.order(m.source)] = true
		if m.source == Parked {
			w.replayed[m.Number] = true
		}
	}
}

func (w *world) unsettled() []*message {
	var all []*message
	for _, l := range w.group.lines {
		for m := l.oldest; m != nil; m = m.newer {
			all = append(all, m)
		}
	}
	return all
}

func (w *world) invariants() {
	held := 0
	for _, m := range w.consumers {
		w.check(m.is.Held() <= m.buffer, "consumer %d holds %d of %d", m.id, m.is.Held(), m.buffer)
		w.check(m.is.Held() >= len(m.is.outbox), "outbox beyond what it holds")
		held += m.is.Held()
	}
	free, counted, toPark := 0, 0, 0
	for _, c := range w.group.consumers {
		free += c.Free()
	}
	w.check(free == w.group.free, "free %d, counted %d", w.group.free, free)
	known := map[int64]bool{}
	for _, m := range w.unsettled() {
		switch m.state {
		case given:
			counted++
		case parking:
			toPark++
		case settled:
			w.t.Fatalf("a settled event is in the line")
		}
		if m.source == Log {
			known[m.Number] = true
		}
		w.check(m.retries == 0 || m.sent, "repeated, never sent")
	}
	w.check(counted == held, "given %d, held %d", counted, held)
	w.check(toPark == len(w.group.parking), "parking %d of %d", toPark, len(w.group.parking))
	w.check(slices.IsSortedFunc(w.group.waiting, func(a, b *message) int { return int(a.order(a.source) - b.order(b.source)) }), "waiting out of order")
	if w.settings.Strategy != Pinned && len(w.group.waiting) > 0 {
		w.check(free == 0, "%d wait while %d can be taken", len(w.group.waiting), free)
	}
	// whatever the group has passed is settled, parked, or in its hands
	progress := w.group.Progress()
	for i, e := range w.log {
		if !w.shown[i] || e.Number > w.group.considered {
			continue
		}
		w.check(w.done[e.Number] || known[e.Number] || e.Number <= w.checkpoint, "event %d is lost", e.Number)
		if e.Number <= progress {
			w.check(!known[e.Number] && w.done[e.Number], "progress %d passes event %d", progress, e.Number)
		}
	}
	for _, number := range w.parked[w.truncated:] {
		w.check(w.done[number] || known[number], "parked event %d was never settled", number)
	}
	indexed := 0
	for _, m := range w.group.byID {
		for ; m != nil; m = m.sameID {
			indexed++
			w.check(m.sent && (m.state == given || m.state == waiting), "the index has an event in state %d", m.state)
		}
	}
	sent := 0
	for _, m := range w.unsettled() {
		if m.sent && m.state != parking {
			sent++
		}
	}
	w.check(indexed == sent, "index has %d of %d", indexed, sent)
}

// makeDurable does what the group asks for. Between the question and the answer that it is
// durable, others may act.
func (w *world) makeDurable(final bool, meanwhile func()) {
	park := w.group.Parking(2)
	mark, due := w.group.Checkpoint(w.now, final)
	before, truncate := w.group.Truncation()
	was := w.group
	meanwhile()
	if w.group != was {
		return
	}
	if len(park) > 0 {
		for _, p := range park {
			w.parked = append(w.parked, p.order(p.Source))
		}
		w.settledBy(func() { w.group.Parked(len(park)) }, func(m *message) bool { return m.state == settled })
	}
	if due {
		for i, e := range w.log {
			if w.shown[i] && e.Number <= mark.Number {
				w.check(w.done[e.Number], "checkpoint %d passes event %d", mark.Number, e.Number)
			}
		}
		w.check(mark.Number > w.checkpoint, "the checkpoint goes back")
		w.checkpoint = mark.Number
		w.group.Checkpointed(w.now, mark)
	}
	if truncate {
		for r := w.truncated; r < before; r++ {
			w.check(w.replayed[r], "a replayed event is cut off unsettled")
		}
		w.truncated = before
		w.group.Truncated(before)
	}
	// what is settled above the checkpoint, and nothing else, counts towards the next
	above := int64(0)
	held := map[int64]bool{}
	for _, m := range w.unsettled() {
		held[m.Number] = held[m.Number] || m.source == Log
	}
	for _, e := range w.log {
		if e.Number > w.checkpoint && e.Number <= w.group.considered && !held[e.Number] {
			above++
		}
	}
	w.check(w.group.done-w.group.covered == above, "%d count, %d are settled above %d", w.group.done-w.group.covered, above, w.checkpoint)
}

func TestGroupAgainstTheWorld(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			t: t, now: time.Unix(1_000_000, 0), checkpoint: None, delivered: map[int64]bool{}, done: map[int64]bool{}, replayed: map[int64]bool{},
			settings: Settings{
				Strategy:        rapid.SampledFrom([]Strategy{RoundRobin, DispatchToSingle, Pinned}).Draw(t, "strategy"),
				MessageTimeout:  time.Duration(rapid.IntRange(0, 5).Draw(t, "timeout")) * time.Second,
				MaxRetries:      rapid.IntRange(0, 3).Draw(t, "retries"),
				HistoryBuffer:   rapid.IntRange(1, 20).Draw(t, "history"),
				LiveBuffer:      rapid.IntRange(1, 10).Draw(t, "live"),
				ReadBatch:       rapid.IntRange(1, 10).Draw(t, "batch"),
				CheckpointAfter: time.Duration(rapid.IntRange(0, 3).Draw(t, "after")) * time.Second,
				CheckpointMin:   rapid.IntRange(0, 3).Draw(t, "min"),
				CheckpointMax:   rapid.IntRange(0, 8).Draw(t, "max"),
			},
		}
		w.restart()
		ids := 0
		one := func(t *rapid.T) *member {
			if len(w.consumers) == 0 {
				t.Skip("nobody")
			}
			return rapid.SampledFrom(w.consumers).Draw(t, "consumer")
		}
		actions := map[string]func(*rapid.T){
			"append": func(t *rapid.T) { w.append(rapid.IntRange(1, 8).Draw(t, "events")) },
			"feed":   func(t *rapid.T) { w.feed(rapid.IntRange(0, 10).Draw(t, "room")) },
			"join": func(t *rapid.T) {
				if len(w.consumers) == 4 {
					t.Skip("enough")
				}
				ids++
				m := &member{id: ids, buffer: rapid.IntRange(1, 4).Draw(t, "buffer")}
				m.is = w.group.Join(w.now, m.buffer)
				w.consumers = append(w.consumers, m)
				w.change()
			},
			"leave": func(t *rapid.T) {
				m := one(t)
				w.group.Leave(w.now, m.is)
				w.consumers = slices.DeleteFunc(w.consumers, func(o *member) bool { return o == m })
				w.change()
				w.takenBack = true // what it had goes to others
			},
			"take": func(t *rapid.T) { w.take(one(t)) },
			"take all": func(t *rapid.T) {
				m := one(t)
				for m.is.Waiting() {
					w.take(m)
				}
			},
			"ack": func(t *rapid.T) {
				m := one(t)
				of := w.ids(m)
				ids := idsOf(of)
				w.settledBy(func() { w.group.Ack(w.now, m.is, ids) }, func(o *message) bool { return o.sent && slices.Contains(ids, o.ID) })
			},
			"nack": func(t *rapid.T) {
				m := one(t)
				of, action := w.ids(m), rapid.SampledFrom([]Action{Retry, Park, Skip}).Draw(t, "action")
				w.nack(m, of, action)
			},
			"nack what others have": func(t *rapid.T) {
				m, other := one(t), one(t)
				if m != other {
					w.nack(m, slices.Clone(other.has), Skip)
				}
			},
			"ack a stranger's": func(t *rapid.T) {
				m := one(t)
				w.settledBy(func() { w.group.Ack(w.now, m.is, []uuid.UUID{{7}}) }, func(*message) bool { return false })
			},
			"time": func(t *rapid.T) {
				w.pass(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
			},
			"make durable": func(*rapid.T) { w.makeDurable(false, func() {}) },
			"make durable while a consumer acts": func(t *rapid.T) {
				m := one(t)
				act := rapid.SampledFrom([]string{"take all", "ack", "nack", "feed", "time"}).Draw(t, "act")
				w.makeDurable(rapid.Bool().Draw(t, "final"), func() {
					switch act {
					case "take all":
						for m.is.Waiting() {
							w.take(m)
						}
					case "ack":
						ids := idsOf(w.ids(m))
						w.settledBy(func() { w.group.Ack(w.now, m.is, ids) }, func(o *message) bool { return o.sent && slices.Contains(ids, o.ID) })
					case "nack":
						ids := idsOf(w.ids(m))
						w.settledBy(func() { w.group.Nack(w.now, m.is, ids, Park, "no") }, func(*message) bool { return false })
					case "feed":
						w.feed(5)
					case "time":
						w.pass(time.Second)
					}
				})
			},
			"replay": func(t *rapid.T) {
				w.group.Replay(rapid.Int64Range(0, int64(len(w.parked))).Draw(t, "stop at"))
				w.feedParked()
			},
			"restart": func(t *rapid.T) {
				if rapid.Bool().Draw(t, "in order") {
					w.makeDurable(true, func() {})
				}
				w.restart()
			},
			"": func(*rapid.T) { w.invariants() },
		}
		t.Repeat(actions)
		w.drain()
	})
}

func idsOf(ds []Delivery) []uuid.UUID {
	ids := make([]uuid.UUID, len(ds))
	for i, d := range ds {
		ids[i] = d.ID
	}
	return ids
}

// drain restarts the group and consumes everything: nothing may be missing.
func (w *world) drain() {
	w.restart()
	m := &member{id: -1, buffer: 5}
	m.is = w.group.Join(w.now, m.buffer)
	w.consumers = []*member{m}
	w.group.Replay(int64(len(w.parked)))
	for range 10*len(w.log) + 10*len(w.parked) + 10 {
		w.feed(10)
		w.feedParked()
		for m.is.Waiting() {
			w.take(m)
		}
		of := idsOf(m.has)
		m.has = nil
		w.settledBy(func() { w.group.Ack(w.now, m.is, of) }, func(o *message) bool { return o.sent })
		w.now = w.now.Add(time.Minute)
		w.makeDurable(true, func() {})
		w.invariants()
	}
	for i, e := range w.log {
		w.check(!w.shown[i] || w.delivered[e.Number] && w.done[e.Number], "event %d was never delivered", e.Number)
	}
	w.check(w.group.Unsettled() == 0, "%d events remain", w.group.Unsettled())
	last := slices.IndexFunc(w.log, func(e Event) bool { return e.Number > w.checkpoint })
	w.check(last < 0, "the last checkpoint is %d: %s", w.checkpoint, fmt.Sprint(w.log))
	w.check(w.truncated == int64(len(w.parked)), "the parked stream is not cut off")
}

// Package storetest is the contract of a log: what commands, projections and
// reactions rely on, run alike on the store in memory, on the embedded node and
// on a real server.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/test/need"
)

// Store is everything a log offers.
type Store interface {
	commands.Store
	commands.Reserver
	KeepNewest(ctx context.Context, stream string, count int) error
	ReadAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
	SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
	Head(ctx context.Context) (event.Position, error)
	LogID(ctx context.Context) (string, error)
}

// Noted is the contract's own event.
type Noted struct {
	Text string `json:"text"`
}

// Dropped is an event that only some binaries know.
type Dropped struct{}

func (Noted) EventName() string   { return "storetest.noted" }
func (Dropped) EventName() string { return "storetest.dropped" }

// Catalogue is what the store under test must know.
func Catalogue() event.Catalogue {
	return must(event.NewCatalogue([]event.Type{event.Of(Noted{Text: "a"})}))
}

// WiderCatalogue is that of a newer binary: one event more, and another shape of Noted.
func WiderCatalogue() event.Catalogue {
	unchanged := func(b json.RawMessage) (json.RawMessage, error) { return b, nil }
	return must(event.NewCatalogue([]event.Type{
		event.Of(Noted{Text: "a"}, unchanged),
		event.Of(Dropped{}),
	}))
}

// Opened is one log seen by stores of two binaries.
type Opened struct {
	Store Store // knows Catalogue
	Newer Store // knows WiderCatalogue; nil where a log can be opened once only
}

// Run checks the contract. open gives a log that may hold anything already.
func Run(t *testing.T, open func(t *testing.T) Opened) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Opened)
	}{
		{"an empty stream", emptyStream},
		{"append and read", appendAndRead},
		{"a stream is read from a revision on", readFrom},
		{"metadata comes back", metadata},
		{"the expected revision decides", expectedRevision},
		{"a replay is one append", replay},
		{"an append is all or nothing", allOrNothing},
		{"one of many writers wins", manyWriters},
		{"reservations do not overlap", reservations},
		{"all is in one order", allInOrder},
		{"a subscription goes on", subscription},
		{"a subscription starts after its position", subscriptionFrom},
		{"unknown events are passed by", unknownEvents},
		{"what is too large is refused", tooLarge},
		{"a call ends with its context", contextEnds},
		{"writers queue", writersQueue},
		{"the log has one identity", identity},
		{"any text survives", anyText},
		{"a stream keeps its newest", keepsNewest},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func emptyStream(t *testing.T, o Opened) {
	history, err := o.Store.Read(ctx(t), stream())
	check(t, err)
	equal(t, "revision", history.Revision, event.NoStream)
	equal(t, "events", len(history.Events), 0)
	equal(t, "last position", history.Last(), event.Position{})
}

func appendAndRead(t *testing.T, o Opened) {
	s := stream()
	first, err := o.Store.Append(ctx(t), s, event.NoStream, notes("a", "b"))
	check(t, err)
	equal(t, "revision", first.Revision, event.Revision(1))
	second, err := o.Store.Append(ctx(t), s, 1, notes("c"))
	check(t, err)
	equal(t, "revision", second.Revision, event.Revision(2))
	if !first.Position.Less(second.Position) {
		t.Errorf("positions %v, %v do not grow", first.Position, second.Position)
	}
	history, err := o.Store.Read(ctx(t), s)
	check(t, err)
	equal(t, "texts", texts(history.Events), "a b c")
	equal(t, "revision", history.Revision, event.Revision(2))
	equal(t, "last position", history.Last(), second.Position)
	for i, r := range history.Events {
		equal(t, "revision of an event", r.Revision, event.Revision(i))
		equal(t, "stream of an event", r.Stream, s)
	}
	one, err := o.Store.Event(ctx(t), s, 1)
	check(t, err)
	equal(t, "event 1", one.Event, event.Event(Noted{"b"}))
	if _, err := o.Store.Event(ctx(t), s, 3); err == nil {
		t.Error("an event that does not exist was found")
	}
}

func readFrom(t *testing.T, o Opened) {
	s := stream()
	from := func(revision event.Revision, want string, last event.Revision) {
		t.Helper()
		history, err := o.Store.ReadFrom(ctx(t), s, revision, 100)
		check(t, err)
		equal(t, "texts", texts(history.Events), want)
		equal(t, "revision", history.Revision, last)
		for i, r := range history.Events {
			equal(t, "revision of an event", r.Revision, last-event.Revision(len(history.Events)-1-i))
		}
	}
	from(0, "", event.NoStream)
	from(7, "", event.NoStream)
	_, err := o.Store.Append(ctx(t), s, event.NoStream, notes("a", "b", "c"))
	check(t, err)
	from(0, "a b c", 2)
	from(1, "b c", 2)
	from(2, "c", 2)
	from(3, "", event.NoStream)
	from(1000, "", event.NoStream)
	for count, want := range map[int]string{1: "b", 2: "b c", 3: "b c"} {
		history, err := o.Store.ReadFrom(ctx(t), s, 1, count)
		check(t, err)
		equal(t, "texts", texts(history.Events), want)
		equal(t, "revision", history.Revision, event.Revision(len(history.Events)))
	}
	if _, err := o.Store.ReadFrom(ctx(t), s, event.NoStream, 1); err == nil {
		t.Error("a read from before the first event was accepted")
	}
	if _, err := o.Store.ReadFrom(ctx(t), s, 0, 0); err == nil {
		t.Error("a read of no events was accepted")
	}
	check(t, o.Store.KeepNewest(ctx(t), s, 2))
	from(0, "b c", 2)
	from(2, "c", 2)
	_, err = o.Store.Append(ctx(t), s, 2, notes("d", "e"))
	check(t, err)
	from(1, "d e", 4)
}

func metadata(t *testing.T, o Opened) {
	s := stream()
	proposed := notes("a")
	proposed[0].Metadata = event.Metadata{
		Correlation: uuid.NewString(), Causation: uuid.NewString(), At: time.Date(2026, 8, 1, 12, 0, 0, 5e6, time.UTC),
		Account: "a", Actor: "reaction:r", Requester: "token:t", Source: "web", Agent: "ägent", Traceparent: "00-01-02-00", Build: "b",
	}
	_, err := o.Store.Append(ctx(t), s, event.NoStream, proposed)
	check(t, err)
	history, err := o.Store.Read(ctx(t), s)
	check(t, err)
	want := proposed[0].Metadata
	want.Version = 1
	equal(t, "metadata", history.Events[0].Metadata, want)
	equal(t, "id", history.Events[0].ID, proposed[0].ID)
}

func keepsNewest(t *testing.T, o Opened) {
	s := stream()
	_, err := o.Store.Append(ctx(t), s, event.NoStream, notes("a", "b"))
	check(t, err)
	check(t, o.Store.KeepNewest(ctx(t), s, 1))
	check(t, o.Store.KeepNewest(ctx(t), s, 1))
	_, err = o.Store.Append(ctx(t), s, 1, notes("c"))
	check(t, err)
	history, err := o.Store.Read(ctx(t), s)
	check(t, err)
	equal(t, "texts", texts(history.Events), "c")
	equal(t, "revision", history.Revision, event.Revision(2))
}

func expectedRevision(t *testing.T, o Opened) {
	s := stream()
	conflicts := func(at event.Revision) {
		t.Helper()
		if _, err := o.Store.Append(ctx(t), s, at, notes("x")); !errors.Is(err, commands.ErrConflict) {
			t.Errorf("append at %d: %v, want a conflict", at, err)
		}
	}
	conflicts(0)
	_, err := o.Store.Append(ctx(t), s, event.NoStream, notes("a", "b"))
	check(t, err)
	conflicts(event.NoStream)
	conflicts(0)
	conflicts(2)
	if _, err := o.Store.Append(ctx(t), s, -2, notes("x")); err == nil {
		t.Error("a revision below NoStream was accepted")
	}
	if _, err := o.Store.Append(ctx(t), s, 1, nil); err == nil {
		t.Error("an append of nothing was accepted")
	}
	history, err := o.Store.Read(ctx(t), s)
	check(t, err)
	equal(t, "texts", texts(history.Events), "a b")
}

func replay(t *testing.T, o Opened) {
	s := stream()
	first, second := notes("a", "b"), notes("c")
	before, err := o.Store.Append(ctx(t), s, event.NoStream, first)
	check(t, err)
	_, err = o.Store.Append(ctx(t), s, 1, second)
	check(t, err)
	again, err := o.Store.Append(ctx(t), s, event.NoStream, first)
	check(t, err)
	equal(t, "answer of a replay", again, before)
	if _, err := o.Store.Append(ctx(t), s, event.NoStream, append(first[:1:1], notes("other")...)); !errors.Is(err, commands.ErrConflict) {
		t.Errorf("half a replay: %v, want a conflict", err)
	}
	if _, err := o.Store.Append(ctx(t), s, 1, append(second[:1:1], notes("more")...)); !errors.Is(err, commands.ErrConflict) {
		t.Errorf("a replay with more behind it: %v, want a conflict", err)
	}
	history, err := o.Store.Read(ctx(t), s)
	check(t, err)
	equal(t, "texts", texts(history.Events), "a b c")
}

func allOrNothing(t *testing.T, o Opened) {
	s := stream()
	bad := append(notes("a"), event.Proposed{ID: uuid.NewString(), Event: Dropped{}})
	if _, err := o.Store.Append(ctx(t), s, event.NoStream, bad); !errors.Is(err, event.ErrUnknown) {
		t.Errorf("an undeclared event: %v", err)
	}
	history, err := o.Store.Read(ctx(t), s)
	check(t, err)
	equal(t, "events", len(history.Events), 0)
}

func manyWriters(t *testing.T, o Opened) {
	const writers, rounds = 8, 5
	s := stream()
	var wins [rounds]int
	for round := range rounds {
		var mu sync.Mutex
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				_, err := o.Store.Append(ctx(t), s, event.Revision(round)-1, notes(fmt.Sprint(w)))
				switch {
				case err == nil:
					mu.Lock()
					wins[round]++
					mu.Unlock()
				case !errors.Is(err, commands.ErrConflict):
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
	equal(t, "winners", wins, [rounds]int{1, 1, 1, 1, 1})
}

func reservations(t *testing.T, o Opened) {
	const writers, each = 4, 5
	s := stream()
	taken := make(chan event.Revision, writers*each)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				r, err := o.Store.Reserve(ctx(t), s, notes("r")[0])
				if err != nil {
					t.Error(err)
					return
				}
				taken <- r
			}
		})
	}
	group.Wait()
	close(taken)
	seen := map[event.Revision]bool{}
	for r := range taken {
		if seen[r] || r < 0 {
			t.Errorf("revision %d was given twice or is none", r)
		}
		seen[r] = true
	}
	equal(t, "reservations", len(seen), writers*each)
}

func allInOrder(t *testing.T, o Opened) {
	from, err := o.Store.Head(ctx(t))
	check(t, err)
	a, b := stream(), stream()
	_, err = o.Store.Append(ctx(t), a, event.NoStream, notes("1", "2"))
	check(t, err)
	_, err = o.Store.Append(ctx(t), b, event.NoStream, notes("3"))
	check(t, err)
	last, err := o.Store.Append(ctx(t), a, 1, notes("4"))
	check(t, err)
	head, err := o.Store.Head(ctx(t))
	check(t, err)
	equal(t, "head", head, last.Position)
	var got []event.Recorded
	before := from
	for r, err := range o.Store.ReadAll(ctx(t), from) {
		check(t, err)
		if !before.Less(r.Position) {
			t.Errorf("position %v after %v", r.Position, before)
		}
		before = r.Position
		if r.Stream == a || r.Stream == b {
			got = append(got, r)
		}
	}
	equal(t, "all", texts(got), "1 2 3 4")
	var tail []event.Recorded
	for r, err := range o.Store.ReadAll(ctx(t), got[1].Position) {
		check(t, err)
		tail = append(tail, r)
	}
	equal(t, "all after a position", texts(tail), "3 4")
	for r, err := range o.Store.ReadAll(ctx(t), head) {
		t.Errorf("there is something after the head: %v, %v", r, err)
	}
	passed := 0
	for r, err := range o.Store.ReadAll(ctx(t), got[1].Position, "storetest.another") {
		check(t, err)
		if passed++; r.Event != nil {
			t.Errorf("%s was read and not asked for", r.Event.EventName())
		}
	}
	equal(t, "events passed by", passed, 2)
}

func subscription(t *testing.T, o Opened) {
	from, err := o.Store.Head(ctx(t))
	check(t, err)
	s := stream()
	_, err = o.Store.Append(ctx(t), s, event.NoStream, notes("0"))
	check(t, err)
	const live = 200
	done := make(chan error, 1)
	var got []event.Recorded
	for r, err := range o.Store.SubscribeAll(ctx(t), from) {
		check(t, err)
		if r.Stream != s {
			continue
		}
		if len(got) == 0 { // the first is there: the rest comes while we listen
			go func() {
				for i := range live {
					if _, err := o.Store.Append(ctx(t), s, event.Revision(i), notes(fmt.Sprint(i+1))); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		got = append(got, r)
		if len(got) == live+1 {
			break
		}
	}
	check(t, <-done)
	for i, r := range got {
		equal(t, "event", r.Event, event.Event(Noted{fmt.Sprint(i)}))
	}
}

func subscriptionFrom(t *testing.T, o Opened) {
	s := stream()
	first, err := o.Store.Append(ctx(t), s, event.NoStream, notes("a"))
	check(t, err)
	_, err = o.Store.Append(ctx(t), s, 0, notes("b"))
	check(t, err)
	for r, err := range o.Store.SubscribeAll(ctx(t), first.Position) {
		check(t, err)
		equal(t, "first event", r.Event, event.Event(Noted{"b"}))
		break
	}
	ending, cancel := context.WithCancel(ctx(t))
	var last error
	head, err := o.Store.Head(ctx(t))
	check(t, err)
	cancel()
	for _, err := range o.Store.SubscribeAll(ending, head) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a subscription ended with %v, want its context's end", last)
	}
}

func unknownEvents(t *testing.T, o Opened) {
	if o.Newer == nil {
		need.Skip(t, "a log that two programs can open, which this one is not", "make test, whose other stores run it")
	}
	from, err := o.Store.Head(ctx(t))
	check(t, err)
	s := stream()
	_, err = o.Newer.Append(ctx(t), s, event.NoStream, []event.Proposed{
		{ID: uuid.NewString(), Event: Dropped{}}, {ID: uuid.NewString(), Event: Noted{"newer"}},
	})
	check(t, err)
	last, err := o.Store.Append(ctx(t), s, 1, notes("ours"))
	check(t, err)
	var seen []string
	for r, err := range o.Store.ReadAll(ctx(t), from) {
		var unreadable *eventstore.DecodeError
		var version *event.VersionError
		switch {
		case r.Stream != s:
		case errors.As(err, &unreadable) && errors.As(err, &version):
			seen = append(seen, "unreadable "+unreadable.EventName())
			equal(t, "revision of the unreadable", r.Revision, event.Revision(1))
		case err != nil:
			t.Fatal(err)
		case r.Event == nil:
			seen = append(seen, "passed by")
		default:
			seen = append(seen, r.Event.(Noted).Text)
		}
		if r.Position == last.Position {
			break
		}
	}
	equal(t, "seen", seen, []string{"passed by", "unreadable storetest.noted", "ours"})
	if _, err := o.Store.Read(ctx(t), s); err == nil {
		t.Error("a stream with an unknown event was folded as if it were not there")
	}
}

func tooLarge(t *testing.T, o Opened) {
	s := stream()
	if _, err := o.Store.Append(ctx(t), s, event.NoStream, notes(strings.Repeat("x", eventstore.MaxAppendBytes))); !errors.Is(err, eventstore.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	_, err := o.Store.Append(ctx(t), s, event.NoStream, notes(strings.Repeat("x", eventstore.MaxAppendBytes-1024)))
	check(t, err)
}

func contextEnds(t *testing.T, o Opened) {
	cancelled, cancel := context.WithCancel(ctx(t))
	cancel()
	late, end := context.WithDeadline(ctx(t), time.Now().Add(-time.Second))
	defer end()
	for name, c := range map[string]struct {
		ctx       context.Context
		want, not error
	}{
		"cancelled": {cancelled, commands.ErrCancelled, commands.ErrUnavailable}, "late": {late, commands.ErrUnavailable, commands.ErrCancelled},
	} {
		_, appending := o.Store.Append(c.ctx, stream(), event.NoStream, notes("a"))
		_, reading := o.Store.Read(c.ctx, stream())
		_, readingFrom := o.Store.ReadFrom(c.ctx, stream(), 3, 1)
		for what, err := range map[string]error{"append": appending, "read": reading, "read from a revision": readingFrom} {
			if !errors.Is(err, c.want) || errors.Is(err, c.not) {
				t.Errorf("%s, %s: %v, want %v", name, what, err, c.want)
			}
		}
	}
}

func writersQueue(t *testing.T, o Opened) {
	s := stream()
	leave, err := o.Store.Enter(ctx(t), s)
	check(t, err)
	other, err := o.Store.Enter(ctx(t), stream())
	check(t, err)
	other()
	waiting, cancel := context.WithCancel(ctx(t))
	cancel()
	if _, err := o.Store.Enter(waiting, s); !errors.Is(err, context.Canceled) {
		t.Errorf("a second writer entered: %v", err)
	}
	entered := make(chan func())
	go func() {
		leave, err := o.Store.Enter(ctx(t), s)
		if err != nil {
			t.Error(err)
		}
		entered <- leave
	}()
	select {
	case <-entered:
		t.Error("two writers are in")
	default:
	}
	leave()
	leave() // a second time changes nothing
	(<-entered)()
}

func identity(t *testing.T, o Opened) {
	first, err := o.Store.LogID(ctx(t))
	check(t, err)
	_, err = o.Store.Append(ctx(t), stream(), event.NoStream, notes("a"))
	check(t, err)
	second, err := o.Store.LogID(ctx(t))
	check(t, err)
	if first == "" || first != second {
		t.Errorf("log is %q, then %q", first, second)
	}
	if o.Newer != nil {
		third, err := o.Newer.LogID(ctx(t))
		check(t, err)
		equal(t, "identity seen by another", third, first)
	}
}

func anyText(t *testing.T, o Opened) {
	s := stream()
	for i, text := range []string{"", "<a href=\"x\">&</a>", "\x00\x01\u2028\u2029", "𝒳 ∫ ∞ \U0010FFFF", strings.Repeat("[", 10_000)} {
		_, err := o.Store.Append(ctx(t), s, event.Revision(i)-1, notes(text))
		check(t, err)
		got, err := o.Store.Event(ctx(t), s, event.Revision(i))
		check(t, err)
		equal(t, "text", got.Event, event.Event(Noted{text}))
	}
}

func notes(texts ...string) []event.Proposed {
	proposed := make([]event.Proposed, len(texts))
	for i, text := range texts {
		proposed[i] = event.Proposed{ID: uuid.NewString(), Event: Noted{text}}
	}
	return proposed
}

func texts(events []event.Recorded) string {
	words := make([]string, len(events))
	for i, r := range events {
		words[i] = r.Event.(Noted).Text
	}
	return strings.Join(words, " ")
}

func stream() string { return "storetest-" + uuid.NewString() }

// ctx ends well before the test's own time-out, so that what hangs says where.
func ctx(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func must(c event.Catalogue, err error) event.Catalogue {
	if err != nil {
		panic(err)
	}
	return c
}

package reactions_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/eventstore"
	"reckon/eventstore/memory"
	"reckon/eventstore/storetest"
	"reckon/projections"
	"reckon/projections/projectiontest"
	"reckon/test/wait"
)

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// parking is the real parking behind the reactions' port.
type parking struct{ *projections.ReactionState }

func (p parking) Park(ctx context.Context, e reactions.Parked) error {
	return p.ReactionState.Park(ctx, projections.ParkedReaction{
		Reaction: e.Reaction, EventID: e.EventID, Stream: e.Stream, Revision: int64(e.Revision),
		EventName: e.EventName, Reason: projections.Text(e.Reason), ParkedAt: e.ParkedAt,
	})
}

// bench is a log with its reactions' tables.
type bench struct {
	t     *testing.T
	log   *memory.Store
	state *projections.ReactionState
}

func newBench(t *testing.T, catalogue event.Catalogue) *bench {
	t.Helper()
	state, err := projections.NewReactionState(t.Context(), projectiontest.Open(t, projections.Open, projectiontest.SQLite(t)))
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, log: memory.New(catalogue), state: state}
}

// start runs reactions until stop or the test's end.
func (b *bench) start(list ...reactions.Reaction) (stop func()) {
	b.t.Helper()
	id, err := b.log.LogID(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	var running sync.WaitGroup
	for _, r := range list {
		subscriber := &eventstore.Subscriber{
			Log: b.log, Topics: r.Topics(), Checkpoints: b.state.CheckpointsOf(id), Logger: slog.New(slog.DiscardHandler),
		}
		running.Go(func() {
			err := reactions.Run(ctx, reactions.Deps{
				Reaction: r, Messages: subscriber, Parking: parking{b.state}, Clock: systemClock{}, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				b.t.Error(err)
			}
		})
	}
	stop = func() { cancel(); running.Wait() }
	b.t.Cleanup(stop)
	return stop
}

func (b *bench) note(stream string, texts ...string) {
	b.t.Helper()
	history, err := b.log.Read(b.t.Context(), stream)
	if err != nil {
		b.t.Fatal(err)
	}
	var proposed []event.Proposed
	for _, text := range texts {
		proposed = append(proposed, event.Proposed{ID: uuid.NewString(), Event: storetest.Noted{Text: text}})
	}
	if _, err := b.log.Append(b.t.Context(), stream, history.Revision, proposed); err != nil {
		b.t.Fatal(err)
	}
}

// witness is a reaction that remembers what it handled.
type witness struct {
	mu      sync.Mutex
	handled map[string][]string // stream → texts
	fail    func(text string, attempt int) error
	tries   map[string]int
}

func newWitness(fail func(text string, attempt int) error) *witness {
	return &witness{handled: map[string][]string{}, tries: map[string]int{}, fail: fail}
}

func (w *witness) reaction() reactions.Reaction {
	return reactions.Reaction{Name: "witness", On: []string{storetest.Noted{}.EventName()}, Handle: func(_ context.Context, r event.Recorded) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		text := r.Event.(storetest.Noted).Text
		w.tries[r.Stream+text]++
		if err := w.fail(text, w.tries[r.Stream+text]); err != nil {
			return err
		}
		w.handled[r.Stream] = append(w.handled[r.Stream], text)
		return nil
	}}
}

func (w *witness) of(stream string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.handled[stream])
}

func TestOrderOfAStreamUnderRetries(t *testing.T) {
	t.Parallel()
	const streams, each = 8, 25
	b := newBench(t, storetest.Catalogue())
	w := newWitness(func(text string, attempt int) error {
		if len(text)%3 == 0 && attempt == 1 {
			return errors.New("not yet")
		}
		return nil
	})
	want := make([]string, each)
	for i := range want {
		want[i] = fmt.Sprint(i * i)
		for s := range streams {
			b.note(fmt.Sprint("s", s), want[i])
		}
	}
	b.start(w.reaction())
	for s := range streams {
		stream := fmt.Sprint("s", s)
		wait.Until(b.t, "all handled", func() bool { return len(w.of(stream)) == each })
		if got := w.of(stream); !slices.Equal(got, want) {
			t.Errorf("%s: %v", stream, got)
		}
	}
}

func TestParkAndGoOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.Catalogue())
	w := newWitness(func(text string, _ int) error {
		switch text {
		case "bad":
			return errors.New("cannot be helped")
		case "panic":
			panic("handler")
		}
		return nil
	})
	b.note("s", "1", "bad", "2", "panic", "3")
	stop := b.start(w.reaction())
	wait.Until(b.t, "the good are handled", func() bool { return slices.Equal(w.of("s"), []string{"1", "2", "3"}) })
	parked, err := b.state.Parked(t.Context())
	if err != nil || len(parked) != 2 || parked[0].Revision != 1 || parked[1].Revision != 3 || parked[0].Stream != "s" || parked[0].EventName != "storetest.noted" {
		t.Fatalf("parked %+v, %v", parked, err)
	}
	stop()
	again, err := b.log.Event(t.Context(), "s", 1)
	if err != nil {
		t.Fatal(err)
	}
	list := []reactions.Reaction{w.reaction()}
	if err := reactions.Retry(t.Context(), list, "witness", again); err == nil {
		t.Error("what is bad was handled")
	}
	if err := reactions.Retry(t.Context(), list, "nobody", again); err == nil {
		t.Error("a reaction that does not exist handled it")
	}
	if err := b.state.Unpark(t.Context(), "witness", again.ID); err != nil {
		t.Fatal(err)
	}
	if parked, err = b.state.Parked(t.Context()); err != nil || len(parked) != 1 {
		t.Errorf("parked %+v, %v", parked, err)
	}
}

// TestUnavailableIsNotParked: while the log does not answer an event waits, however long.
func TestUnavailableIsNotParked(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.Catalogue())
	w := newWitness(func(_ string, attempt int) error {
		if attempt < 4 {
			return fmt.Errorf("append: %w", commands.ErrUnavailable)
		}
		return nil
	})
	b.note("s", "1", "2")
	b.start(w.reaction())
	wait.Until(b.t, "both handled", func() bool { return slices.Equal(w.of("s"), []string{"1", "2"}) })
	if parked, err := b.state.Parked(t.Context()); err != nil || len(parked) != 0 {
		t.Errorf("parked %+v, %v", parked, err)
	}
}

// TestRestart: a process that stops goes on where everything before was
// acknowledged: nothing is skipped, and what was handled well is not handled again.
func TestRestart(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.Catalogue())
	var tried, allowed atomic.Bool
	w := newWitness(func(text string, _ int) error {
		if text == "slow" && !allowed.Load() {
			tried.Store(true)
			return commands.ErrUnavailable
		}
		return nil
	})
	b.note("before", "1", "2")
	stop := b.start(w.reaction())
	wait.Until(b.t, "the first handled", func() bool { return len(w.of("before")) == 2 })
	stop()
	b.note("a", "slow")
	b.note("b", "after")
	stop = b.start(w.reaction())
	wait.Until(b.t, "the slow one tried, and the event after it handled", func() bool { return tried.Load() && len(w.of("b")) > 0 })
	stop()
	allowed.Store(true)
	stop = b.start(w.reaction())
	wait.Until(b.t, "the slow one handled", func() bool { return len(w.of("a")) > 0 })
	stop()
	if got := w.of("before"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("handled again after a clean stop: %v", got)
	}
	if got := w.of("a"); !slices.Equal(got, []string{"slow"}) {
		t.Errorf("a: %v", got)
	}
}

// TestWhatEndsWhileItStopsIsNotHandledAgain: an event that was being handled when the process was told to end, and was
// handled well.
func TestWhatEndsWhileItStopsIsNotHandledAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.Catalogue())
	var handled []string
	begun := make(chan struct{})
	r := reactions.Reaction{Name: "witness", On: []string{storetest.Noted{}.EventName()}, Handle: func(ctx context.Context, r event.Recorded) error {
		close(begun)
		<-ctx.Done()
		handled = append(handled, r.Event.(storetest.Noted).Text)
		return nil
	}}
	b.note("s", "1")
	stop := b.start(r)
	<-begun
	stop()
	b.note("s", "2")
	w := newWitness(func(string, int) error { return nil })
	stop = b.start(w.reaction())
	wait.Until(b.t, "the second handled", func() bool { return slices.Contains(w.of("s"), "2") })
	stop()
	if got := slices.Concat(handled, w.of("s")); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("handled %v", got)
	}
}

// interrupted is the checkpoints of a reaction that is told to end while they are read.
type interrupted struct {
	eventstore.Checkpoints
	end context.CancelFunc
}

func (i interrupted) Load(ctx context.Context, _ string) (event.Position, error) {
	i.end()
	return event.Position{}, ctx.Err()
}

// TestToldToEndBeforeItSubscribed: that is no failure.
func TestToldToEndBeforeItSubscribed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBench(t, storetest.Catalogue())
	r := newWitness(func(string, int) error { return nil }).reaction()
	err := reactions.Run(ctx, reactions.Deps{
		Reaction: r, Parking: parking{b.state}, Clock: systemClock{}, Logger: slog.New(slog.DiscardHandler),
		Messages: &eventstore.Subscriber{
			Log: b.log, Topics: r.Topics(), Checkpoints: interrupted{end: cancel}, Logger: slog.New(slog.DiscardHandler),
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUnreadableIsParked(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.WiderCatalogue())
	b.note("s", "newer")
	old := *b
	old.log = b.log.WithCatalogue(storetest.Catalogue())
	w := newWitness(func(string, int) error { return nil })
	old.start(w.reaction())
	wait.Until(b.t, "parked", func() bool {
		parked, err := b.state.Parked(t.Context())
		return err == nil && len(parked) == 1 && parked[0].EventName == "storetest.noted"
	})
}

// TestReactions finish what a process left when it died after each append.
func TestReactions(t *testing.T) {
	t.Parallel()
	b := newBench(t, domain.Catalogue())
	jobs := &commands.Jobs{Store: b.log, Runs: commands.NewRunIDs(b.log, "p")}
	list := reactions.All(jobs, &commands.Closing{Jobs: jobs}, account.DefaultPlans(), reactions.Actor{Clock: systemClock{}, Build: "test"})
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
		for _, on := range r.On {
			if !slices.Contains(slices.Collect(maps.Keys(domain.Catalogue())), on) {
				t.Errorf("reaction %s waits for %s, which nothing declares", r.Name, on)
			}
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(list) {
		t.Error("two reactions have one name")
	}
	put := func(stream string, events ...event.Event) {
		t.Helper()
		history, err := b.log.Read(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		in := commands.Intent{ID: uuid.New(), At: time.Now(), Account: "a", Actor: "token:t"}
		if _, err := b.log.Append(t.Context(), stream, history.Revision, in.Propose(stream, events)); err != nil {
			t.Fatal(err)
		}
	}
	recorded := func(stream string) []event.Recorded {
		history, err := b.log.Read(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		return history.Events
	}
	read := func(stream string) []event.Event { return event.Events(recorded(stream)) }
	submission := func(id string) job.Submission {
		return job.Submission{JobID: id, Account: "a", Kind: "evaluate", RunID: 7, TimeoutMS: 1000, Source: event.SourceJob}
	}
	waiting, cancelled, lost, ended := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	day := slots.Stream("a", "2026-08-01")
	spent := func(id string) (slotID string) {
		slotID = uuid.NewString()
		put(day, slots.Spent{SlotID: slotID, Day: "2026-08-01", Submission: submission(id)})
		return slotID
	}
	spent(waiting)
	slot := spent(cancelled)
	put(job.Stream(cancelled), job.WasQueued{Submission: submission(cancelled), SlotID: slot, Day: "2026-08-01"},
		job.WasCancelled{JobID: cancelled, Early: true, SlotID: slot, Day: "2026-08-01"})
	slot = spent(lost)
	put(job.Stream(lost), job.WasQueued{Submission: submission(lost), SlotID: slot, Day: "2026-08-01"},
		job.WasClaimed{JobID: lost, Runner: "r", Nonce: "n", Attempt: 1},
		job.WasLost{JobID: lost, Nonce: "n", Attempts: 1, Why: job.NeverTried, Refunded: true})
	slot = spent(ended)
	published, err := domain.Catalogue().Embed(run.TimedOut{Subject: run.Subject{RunID: 7, Account: "a", JobID: ended}})
	if err != nil {
		t.Fatal(err)
	}
	put(job.Stream(ended), job.WasQueued{Submission: submission(ended), SlotID: slot, Day: "2026-08-01"},
		job.WasClaimed{JobID: ended, Runner: "r", Nonce: "n", Attempt: 1},
		job.HasTimedOut{Outcome: job.Outcome{JobID: ended, Nonce: "n", Publish: published, PublishTo: run.Stream(7)}})

	put(account.Stream("a"), account.Registered{Account: "a", Plan: "free"})
	put(billing.Stream("a"), billing.Started{Account: "a", Plan: "pro", Period: account.Monthly, AmountMinor: 1200, Currency: "USD"})

	for range 2 { // and again: nothing more comes of it
		stop := b.start(list...)
		wait.Until(b.t, "the plan is the subscription's", func() bool { return len(read(account.Stream("a"))) == 2 })
		wait.Until(b.t, "the spent slot has its job", func() bool { return len(read(job.Stream(waiting))) == 1 })
		wait.Until(b.t, "the slots of the cancelled and of the lost job are refunded", func() bool { return len(read(day)) == 6 })
		wait.Until(b.t, "the outcome is published", func() bool { return len(read(run.Stream(7))) == 1 })
		id, err := b.log.LogID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			wait.Until(b.t, name+" has handled its events", func() bool {
				p, err := b.state.CheckpointsOf(id).Load(t.Context(), name)
				return err == nil && p != event.Position{}
			})
		}
		stop()
		b.state = newBench(t, domain.Catalogue()).state // as if the checkpoints were lost
	}
	if got := []int{len(read(day)), len(read(job.Stream(waiting))), len(read(run.Stream(7))), len(read(account.Stream("a")))}; !slices.Equal(got, []int{6, 1, 1, 2}) {
		t.Errorf("handling all again appended something: %v", got)
	}
	queued := read(job.Stream(waiting))[0].(job.WasQueued)
	if queued.RunID != 7 {
		t.Errorf("queued %+v", queued)
	}
	if m := recorded(job.Stream(waiting))[0].Metadata; m.Actor != "reaction:complete_submission" || m.Requester != "token:t" {
		t.Errorf("queued by %q for %q", m.Actor, m.Requester)
	}
	refunded := map[slots.RefundReason]string{}
	for _, e := range read(day)[4:] {
		refunded[e.(slots.Refunded).Reason] = e.(slots.Refunded).JobID
	}
	if refunded[slots.CancelledEarly] != cancelled || refunded[slots.ServiceFailed] != lost {
		t.Errorf("refunded %+v", refunded)
	}
}

// refusing is a log that refuses its first subscription, or whose first ends after an event.
type refusing struct {
	*memory.Store
	after int // events before the end
	calls int
}

var errRefused = errors.New("the log refuses")

func (r *refusing) SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	if r.calls++; r.calls > 1 {
		return r.Store.SubscribeAll(ctx, after, only...)
	}
	return func(yield func(event.Recorded, error) bool) {
		n := 0
		for recorded, err := range r.Store.SubscribeAll(ctx, after, only...) {
			if n++; n > r.after {
				break
			}
			if !yield(recorded, err) {
				return
			}
		}
		yield(event.Recorded{}, errRefused)
	}
}

// TestASubscriptionThatFailsIsReported: Run returns why, and when it is called again the
// reaction goes on where it stood.
func TestASubscriptionThatFailsIsReported(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 2} {
		b := newBench(t, storetest.Catalogue())
		b.note("s", "1", "2", "3", "4")
		id, err := b.log.LogID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w := newWitness(func(string, int) error { return nil })
		log := &refusing{Store: b.log, after: after}
		run := func(ctx context.Context) error {
			subscriber := &eventstore.Subscriber{Log: log, Topics: w.reaction().Topics(), Checkpoints: b.state.CheckpointsOf(id), Logger: slog.New(slog.DiscardHandler)}
			return reactions.Run(ctx, reactions.Deps{
				Reaction: w.reaction(), Messages: subscriber, Parking: parking{b.state}, Clock: systemClock{}, Logger: slog.New(slog.DiscardHandler),
			})
		}
		if err := run(t.Context()); !errors.Is(err, errRefused) {
			t.Errorf("after %d events: %v", after, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx) }()
		wait.Until(b.t, "all handled", func() bool { return slices.Contains(w.of("s"), "4") })
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := slices.Compact(w.of("s")); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
			t.Errorf("after %d events: handled %v", after, got)
		}
	}
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/memory"
	"reckon/eventstore/node"
	"reckon/internal/tracing"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
	"reckon/test/wait"
)

// A shelf of things is what these tests project.
type (
	added   struct{ Key, Value string }
	changed struct{ Key, Value string }
	removed struct{ Key string }
	ignored struct{}
)

func (added) EventName() string   { return "shelf.added" }
func (changed) EventName() string { return "shelf.changed" }
func (removed) EventName() string { return "shelf.removed" }
func (ignored) EventName() string { return "shelf.ignored" }

type thing struct {
	bun.BaseModel `bun:"table:shelf_v1"`

	Key   string `bun:"key,pk"`
	Value string `bun:"value,notnull"`
	At    int64  `bun:"at,notnull"`
}

var errBad = errors.New("bad event")

// shelf is the projection; an event whose value is "bad" cannot be applied while bad is set.
func shelf(bad *atomic.Bool, onBad engine.Policy) engine.Projection {
	rows := engine.TableOf("key", func(r *thing) string { return r.Key }, engine.Index{Name: "shelf_v1_value", Columns: "value"})
	p := engine.Projection{Name: "shelf", Version: 1, Tables: []engine.Table{rows}, OnFailure: onBad}
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e added, r event.Recorded) error {
		if e.Value == "bad" && bad.Load() {
			return errBad
		}
		if e.Value == "panic" && bad.Load() {
			panic("handler")
		}
		rows.Upsert(tx, &thing{Key: e.Key, Value: e.Value, At: r.Metadata.At.UnixMilli()})
		return nil
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e changed, _ event.Recorded) error {
		return rows.Update(ctx, tx, e.Key, func(row *thing) { row.Value = e.Value })
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e removed, _ event.Recorded) error {
		rows.Delete(tx, e.Key)
		return nil
	})
	return p
}

type fixture struct {
	t     *testing.T
	db    *bun.DB
	store *memory.Store
	log   engine.Log                // what engines follow: the store, unless a test has another
	last  map[string]event.Revision // of each stream
	bad   atomic.Bool

	tracer      *tracing.Tracer // of the engines that start
	traceparent string          // of the events that append writes
}

func shelfCatalogue(t *testing.T) event.Catalogue {
	catalogue, err := event.NewCatalogue([]event.Type{event.Of(added{}), event.Of(changed{}), event.Of(removed{}), event.Of(ignored{})})
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

func newFixture(t *testing.T, db *bun.DB) *fixture {
	f := &fixture{t: t, db: db, store: memory.New(shelfCatalogue(t)), last: map[string]event.Revision{}}
	f.log = f.store
	f.bad.Store(true)
	return f
}

// append writes events to a stream, wherever it stands.
func (f *fixture) append(stream string, events ...event.Event) event.Position {
	f.t.Helper()
	at, written := f.last[stream]
	if !written {
		at = event.NoStream
	}
	proposed := make([]event.Proposed, len(events))
	for i, e := range events {
		proposed[i] = event.Proposed{ID: uuid.NewString(), Event: e, Metadata: event.Metadata{At: time.Unix(int64(i), 0).UTC(), Traceparent: f.traceparent}}
	}
	appended, err := f.store.Append(f.t.Context(), stream, at, proposed)
	if err != nil {
		f.t.Fatal(err)
	}
	f.last[stream] = appended.Revision
	return appended.Position
}

// start runs an engine until stop, or the test, ends.
func (f *fixture) start(projections ...engine.Projection) (e *engine.Engine, stop func()) {
	f.t.Helper()
	e, err := engine.New(f.t.Context(), engine.Config{DB: f.db, Log: f.log, Logger: slog.New(slog.DiscardHandler), Tracer: f.tracer}, projections...)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := e.Run(ctx); err != nil {
			f.t.Error(err)
		}
	}()
	stop = func() { cancel(); <-ended }
	f.t.Cleanup(stop)
	return e, stop
}

func (f *fixture) reach(e *engine.Engine, p event.Position) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), wait.Longest)
	defer cancel()
	if err := e.Wait(ctx, "shelf", p); err != nil {
		f.t.Fatal(err)
	}
}

// phase waits until the projection is in it and returns the reason.
func (f *fixture) phase(e *engine.Engine, want engine.Phase) string {
	f.t.Helper()
	var reason string
	wait.Until(f.t, fmt.Sprintf("the projection is %s", want), func() bool {
		list, err := e.Status(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		s := list[0]
		if s.Phase == engine.Halted && (s.Percent >= 100 || s.ETA != -1) {
			f.t.Errorf("a halted projection is shown as done, or on its way: %+v", s)
		}
		reason = s.Reason
		return s.Phase == want
	})
	return reason
}

func (f *fixture) rows() string {
	f.t.Helper()
	var rows []thing
	if err := f.db.NewSelect().Model(&rows).Order("key").Scan(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	words := make([]string, len(rows))
	for i, r := range rows {
		words[i] = r.Key + "=" + r.Value
	}
	return strings.Join(words, " ")
}

func (f *fixture) wantRows(want string) {
	f.t.Helper()
	if got := f.rows(); got != want {
		f.t.Errorf("rows %q, want %q", got, want)
	}
}

func onBoth(t *testing.T, test func(*testing.T, *fixture)) {
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) { test(t, newFixture(t, db)) })
}

func TestBootAndLive(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		for i := range 3000 { // several batches
			f.append(fmt.Sprint("s", i%7), added{fmt.Sprintf("%04d", i), "v"}, ignored{})
		}
		before := f.append("s0", changed{"0000", "w"}, removed{"0001"})
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, before)
		if !e.Ready() {
			t.Error("caught up and not ready")
		}
		n, err := f.db.NewSelect().Model((*thing)(nil)).Count(t.Context())
		if err != nil || n != 2999 {
			t.Fatalf("%d rows, %v", n, err)
		}
		live := f.append("s1", added{"live", "1"}, changed{"live", "2"})
		f.reach(e, live)
		var row thing
		if err := f.db.NewSelect().Model(&row).Where("key = ?", "live").Scan(t.Context()); err != nil || row.Value != "2" {
			t.Errorf("live row %+v, %v", row, err)
		}
		dump := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Halt))
		if err := e.Boot(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		f.reach(e, live)
		if again := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Halt)); again != dump {
			t.Error("a rebuild gives other rows")
		}
		stop()
	})
}

// TestBuiltAnewIsNotReady: a read model that is built anew is ready again when it has reached what the log held when that
// began, however long before the process started.
func TestBuiltAnewIsNotReady(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		var closed atomic.Bool
		rows := engine.TableOf("key", func(r *thing) string { return r.Key }, engine.Index{Name: "shelf_v1_value", Columns: "value"})
		p := engine.Projection{Name: "shelf", Version: 1, Tables: []engine.Table{rows}}
		engine.On(&p, func(ctx context.Context, tx *engine.Tx, e added, _ event.Recorded) error {
			if closed.Load() {
				select {
				case <-gate:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			rows.Upsert(tx, &thing{Key: e.Key, Value: e.Value})
			return nil
		})
		e, stop := f.start(p)
		defer stop()
		last := f.append("s1", added{"a", "1"}, added{"b", "2"})
		f.reach(e, last)
		if !e.Ready() || !e.IsReady("shelf") {
			t.Error("caught up and not ready")
		}
		closed.Store(true)
		if err := e.Boot(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		if e.Ready() || e.IsReady("shelf") {
			t.Error("ready with an empty table")
		}
		close(gate)
		f.reach(e, last)
		if !e.Ready() || !e.IsReady("shelf") {
			t.Error("built anew and not ready")
		}
	})
}

func TestRestartGoesOn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, f.append("s", added{"a", "1"}))
		stop()
		last := f.append("s", added{"b", "2"}, removed{"a"})
		e, stop = f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, last)
		f.wantRows("b=2")
		stop()
		if _, err := engine.New(t.Context(), engine.Config{DB: f.db, Log: newFixture(t, f.db).store, Logger: slog.New(slog.DiscardHandler)}, shelf(&f.bad, engine.Halt)); err == nil {
			t.Error("the database of one log was used with another")
		} else if foreign := (*engine.ForeignLogError)(nil); !errors.As(err, &foreign) {
			t.Error(err)
		}
	})
}

// TestDropFormer: tables of a log that was migrated are built again from the log that it is now, and those of other logs are left alone.
func TestDropFormer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		drop := func(former ...string) []string {
			t.Helper()
			dropped, err := engine.DropFormer(t.Context(), f.db, former)
			if err != nil {
				t.Fatal(err)
			}
			return dropped
		}
		if dropped := drop("nothing is there yet"); len(dropped) > 0 {
			t.Error(dropped)
		}
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, f.append("s", added{"a", "1"}))
		stop()
		former, err := f.store.LogID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if dropped := append(drop(), drop("another")...); len(dropped) > 0 {
			t.Error(dropped)
		}
		f.wantRows("a=1")
		both := make(chan int, 2)
		for range 2 { // two processes start at once
			go func() {
				dropped, err := engine.DropFormer(t.Context(), f.db, []string{"another", former})
				if err != nil {
					t.Error(err)
				}
				both <- len(dropped)
			}()
		}
		if dropped := <-both + <-both; dropped != 1 {
			t.Errorf("%d dropped", dropped)
		}
		moved := newFixture(t, f.db)
		e, stop = moved.start(shelf(&moved.bad, engine.Halt))
		defer stop()
		moved.reach(e, moved.append("s", added{"b", "2"}))
		f.wantRows("b=2")
	})
}

// shorterLog is a log of which the newest events are not there until they are shown: what a copy was before it went on.
type shorterLog struct {
	*memory.Store

	end atomic.Pointer[event.Position] // nil: the whole log
}

func (l *shorterLog) Head(ctx context.Context) (event.Position, error) {
	if end := l.end.Load(); end != nil {
		return *end, nil
	}
	return l.Store.Head(ctx)
}

// TestCheckpointBeyondTheLog: tables that hold more than the log has halt, say what to do and skip nothing, also when the
// log has grown beyond them meanwhile; only building them again helps.
func TestCheckpointBeyondTheLog(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		end := f.append("s", added{"a", "1"})
		f.reach(e, f.append("s", added{"b", "2"}))
		stop()
		log := &shorterLog{Store: f.store}
		log.end.Store(&end)
		f.log = log
		for range 2 {
			e, stop = f.start(shelf(&f.bad, engine.Halt))
			if reason := f.phase(e, engine.Halted); !strings.Contains(reason, "projections boot shelf") {
				t.Errorf("reason %q", reason)
			}
			if e.Ready() || e.IsReady("shelf") {
				t.Error("beyond the log and ready")
			}
			if err := e.Wait(t.Context(), "shelf", end); !errors.Is(err, engine.ErrStopped) {
				t.Errorf("waiting: %v", err)
			}
			for action, do := range map[string]func(context.Context, string) error{"resume": e.Resume, "pause": e.Pause} {
				if err := do(t.Context(), "shelf"); err == nil || !strings.Contains(err.Error(), "projections boot shelf") {
					t.Errorf("%s: %v", action, err)
				}
			}
			stop()
			log.end.Store(nil) // it has grown past the checkpoint, with other events
			if _, err := f.store.Event(t.Context(), "s", 2); err != nil {
				f.append("s", added{"c", "3"})
			}
		}
		watcher, err := engine.New(t.Context(), engine.Config{DB: f.db, Log: f.log, Logger: slog.New(slog.DiscardHandler)}, shelf(&f.bad, engine.Halt))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- watcher.Watch(ctx) }()
		f.phase(watcher, engine.Halted)
		e, stop = f.start(shelf(&f.bad, engine.Halt))
		if err := e.Boot(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		last := f.append("s", added{"d", "4"})
		f.reach(e, last)
		f.wantRows("a=1 b=2 c=3 d=4")
		f.phase(watcher, engine.Standby)
		f.reach(watcher, last)
		if !e.Ready() || !watcher.Ready() {
			t.Error("built again and not ready")
		}
		stop()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestHalt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		last := f.append("s", added{"a", "1"}, added{"b", "bad"}, added{"c", "3"})
		reason := f.phase(e, engine.Halted)
		if !strings.Contains(reason, "shelf.added at revision 1 of s: bad event") {
			t.Errorf("reason %q", reason)
		}
		f.wantRows("a=1")
		if err := e.Wait(t.Context(), "shelf", last); !errors.Is(err, engine.ErrStopped) {
			t.Errorf("waiting for a halted projection: %v", err)
		}
		if e.Ready() {
			t.Error("halted and ready")
		}
		f.bad.Store(false)
		if err := e.Resume(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		f.reach(e, last)
		f.wantRows("a=1 b=bad c=3")
		stop()
	})
}

func TestPanicHalts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.append("s", added{"a", "panic"})
		if reason := f.phase(e, engine.Halted); !strings.Contains(reason, "panicked: handler") {
			t.Errorf("reason %q", reason)
		}
		stop()
	})
}

func TestPark(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Park))
		f.append("s", added{"a", "1"}, added{"b", "bad"}, changed{"b", "2"}, ignored{})
		f.append("other", added{"c", "3"})
		last := f.append("s", changed{"a", "4"})
		f.reach(e, last)
		f.wantRows("a=1 c=3") // the later events of the stream wait behind the bad one
		stop()
		e, stop = f.start(shelf(&f.bad, engine.Park)) // also after a restart
		last = f.append("s", changed{"a", "5"})
		f.reach(e, last)
		parked, err := engine.ListParked(t.Context(), f.db)
		if err != nil {
			t.Fatal(err)
		}
		var places []string
		for _, p := range parked {
			places = append(places, fmt.Sprintf("%s/%d", p.Stream, p.Revision))
		}
		if got, want := strings.Join(places, " "), "s/1 s/2 s/4 s/5"; got != want {
			t.Errorf("parked %s, want %s", got, want)
		}
		if err := e.RetryParked(t.Context(), "shelf"); !errors.Is(err, errBad) {
			t.Errorf("retrying what is still bad: %v", err)
		}
		f.bad.Store(false)
		if err := e.RetryParked(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		f.wantRows("a=5 b=2 c=3")
		if parked, err = engine.ListParked(t.Context(), f.db); err != nil || len(parked) != 0 {
			t.Errorf("still parked: %v, %v", parked, err)
		}
		f.reach(e, f.append("s", changed{"a", "6"}))
		f.wantRows("a=6 b=2 c=3")
		stop()
	})
}

// TestParkedIsRetriedInOrder: that of the log, whatever the streams are called.
func TestParkedIsRetriedInOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Park))
		defer stop()
		names := []string{"m", "z", "a", "y", "b", "x", "c"}
		var last event.Position
		for _, name := range names {
			last = f.append(name, added{name, "bad"})
		}
		f.reach(e, last)
		err := e.RetryParked(t.Context(), "shelf")
		var tried []string
		for line := range strings.Lines(fmt.Sprint(err)) {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "stream "), ":")
			tried = append(tried, name)
		}
		if !slices.Equal(tried, names) {
			t.Errorf("tried %v, want %v: %v", tried, names, err)
		}
	})
}

func TestDropParked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Park))
		f.reach(e, f.append("s", added{"b", "bad"}, added{"a", "1"}))
		if err := e.DropParked(t.Context(), "shelf", "s"); err != nil {
			t.Fatal(err)
		}
		if err := e.DropParked(t.Context(), "shelf", "s"); !errors.Is(err, engine.ErrNotFound) {
			t.Error(err)
		}
		f.reach(e, f.append("s", added{"c", "2"}))
		f.wantRows("c=2")
		stop()
	})
}

func TestPauseOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, f.append("s", added{"a", "1"}))
		if err := e.Pause(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		last := f.append("s", added{"b", "2"})
		stop()
		e, stop = f.start(shelf(&f.bad, engine.Halt))
		f.phase(e, engine.Paused)
		f.wantRows("a=1")
		if err := e.Resume(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		f.reach(e, last)
		f.wantRows("a=1 b=2")
		stop()
	})
}

// TestFencing: of two processes on one database one keeps the projection and
// the other steps down, and every event is applied once.
func TestFencing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		first, stopFirst := f.start(shelf(&f.bad, engine.Halt))
		second, stopSecond := f.start(shelf(&f.bad, engine.Halt))
		var last event.Position
		steppedDown := func() (n int) {
			for _, e := range []*engine.Engine{first, second} {
				list, err := e.Status(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if list[0].Phase == engine.Standby {
					n++
				}
			}
			return n
		}
		for i := 0; steppedDown() == 0; i++ { // both have dealt with an event before the next: they meet in one batch soon
			if i == 10_000 {
				t.Fatal("nobody stepped down")
			}
			last = f.append("s", added{fmt.Sprint("k", i), "v"})
			f.reach(first, last)
			f.reach(second, last) // one that stepped down sees how far the other is
		}
		if n := steppedDown(); n != 1 {
			t.Errorf("%d stepped down", n)
		}
		dump := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Halt))
		stopFirst()
		stopSecond()
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		if err := e.Boot(t.Context(), "shelf"); err != nil {
			t.Fatal(err)
		}
		f.reach(e, last)
		if again := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Halt)); again != dump {
			t.Errorf("two processes made\n%s\none makes\n%s", dump, again)
		}
		stop()
	})
}

// TestFirstStartTogether: processes that start at once on an empty database do
// not trip over each other's tables.
func TestFirstStartTogether(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				_, err := engine.New(t.Context(), engine.Config{DB: f.db, Log: f.store, Logger: slog.New(slog.DiscardHandler)}, shelf(&f.bad, engine.Halt))
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
}

// TestWatch: a process that keeps no projections sees how far another is.
func TestWatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		keeper, stopKeeper := f.start(shelf(&f.bad, engine.Halt))
		watcher, err := engine.New(t.Context(), engine.Config{DB: f.db, Log: f.store, Logger: slog.New(slog.DiscardHandler)}, shelf(&f.bad, engine.Halt))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- watcher.Watch(ctx) }()
		for i := range 5 {
			last := f.append("s", added{fmt.Sprint("k", i), "v"})
			f.reach(watcher, last)
			if n, err := f.db.NewSelect().Model((*thing)(nil)).Count(t.Context()); err != nil || n != int64(i+1) {
				t.Errorf("the watcher saw the position and %d rows, %v", n, err)
			}
			f.reach(keeper, last)
		}
		if !watcher.Ready() {
			t.Error("the watcher is not ready")
		}
		f.phase(keeper, engine.Running)
		f.phase(watcher, engine.Standby)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		stopKeeper()
	})
}

// TestWriter: every process, and a command beside them, says who writes a projection, and that nobody does; whatever state it is in.
func TestWriter(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		run := func(name string, how func(*engine.Engine, context.Context) error) (*engine.Engine, func()) {
			e, err := engine.New(ctx, engine.Config{DB: f.db, Log: f.log, Process: name}, shelf(&f.bad, engine.Halt))
			if err != nil {
				t.Fatal(err)
			}
			running, cancel := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() { ended <- how(e, running) }()
			return e, func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		}
		stored := func() ([]engine.Status, error) {
			return engine.StoredStatus(ctx, f.db, f.log, shelf(&f.bad, engine.Halt))
		}
		// shows waits until a status has this phase and writer, and a reason that begins so.
		shows := func(who string, status func() ([]engine.Status, error), phase engine.Phase, writer, reason string) {
			t.Helper()
			wait.Until(t, fmt.Sprintf("%s shows %s by %q (%s)", who, phase, writer, reason), func() bool {
				list, err := status()
				if err != nil {
					t.Fatal(err)
				}
				s := list[0]
				return s.Phase == phase && s.Writer == writer && strings.HasPrefix(s.Reason, reason)
			})
		}
		of := func(e *engine.Engine) func() ([]engine.Status, error) {
			return func() ([]engine.Status, error) { return e.Status(ctx) }
		}
		const advice = ": start a server with the role project"

		shows("no server", stored, engine.Unwritten, "", "nobody writes it"+advice)
		watcher, stopWatcher := run("api", (*engine.Engine).Watch)
		defer stopWatcher()
		shows("a server without the role", of(watcher), engine.Unwritten, "", "nobody writes it"+advice)

		one, stopOne := run("one", (*engine.Engine).Run)
		shows("its writer", of(one), engine.Running, "one", "")
		shows("beside a writer", stored, engine.Running, "one", "")
		shows("the watcher of a writer", of(watcher), engine.Standby, "one", "")
		if err := one.Pause(ctx, "shelf"); err != nil {
			t.Fatal(err)
		}
		shows("paused", of(one), engine.Paused, "one", "on request")
		shows("the watcher of a paused one", of(watcher), engine.Paused, "one", "on request")
		stopOne()
		shows("paused and stopped", stored, engine.Paused, "", "on request")
		shows("the watcher of a paused and stopped one", of(watcher), engine.Paused, "", "on request")
		one, stopOne = run("one", (*engine.Engine).Run)
		if err := one.Resume(ctx, "shelf"); err != nil {
			t.Fatal(err)
		}
		f.append("s", added{"a", "bad"})
		shows("halted", of(one), engine.Halted, "one", "shelf.added")
		shows("the watcher of a halted one", of(watcher), engine.Halted, "one", "shelf.added")
		f.bad.Store(false)
		if err := one.Resume(ctx, "shelf"); err != nil {
			t.Fatal(err)
		}
		shows("the watcher of a resumed one", of(watcher), engine.Standby, "one", "")
		stopOne()
		shows("stopped", stored, engine.Unwritten, "", "nobody writes it"+advice)

		// One that was killed an hour ago has left its claim.
		if _, err := f.db.ExecContext(ctx, "INSERT INTO projection_writers SELECT name, version, 'killed', 1000, false FROM projection_state"); err != nil {
			t.Fatal(err)
		}
		shows("killed", stored, engine.Unwritten, "", "nobody writes it (last: killed, not seen for ")
		shows("the watcher of a killed one", of(watcher), engine.Unwritten, "", "nobody writes it (last: killed, not seen for ")
		two, stopTwo := run("two", (*engine.Engine).Run)
		defer stopTwo()
		shows("after a killed one", of(two), engine.Running, "two", "")
		shows("beside the next one", stored, engine.Running, "two", "")
		shows("the watcher of the next one", of(watcher), engine.Standby, "two", "")
	})
}

// TestStandbyTakesOver: what nobody writes any more is written by a process in standby, though the log stands still.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		engines, stops := make([]*engine.Engine, 2), make([]func(), 2)
		for i := range engines {
			engines[i], stops[i] = f.start(shelf(&f.bad, engine.Halt))
		}
		inStandby := -1
		appended := 0
		wait.Until(t, "one of both steps down", func() bool { // both have to come by the next batch
			f.append("s", added{fmt.Sprint("k", appended), "v"})
			appended++
			for j, e := range engines {
				list, err := e.Status(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if list[0].Phase == engine.Standby {
					inStandby = j
				}
			}
			return inStandby >= 0
		})
		stops[1-inStandby]()
		f.phase(engines[inStandby], engine.Running)
		stops[inStandby]()
	})
}

// TestInterrupted: stopped at any moment, again and again, a boot ends with the
// rows of one that was left alone.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		var last event.Position
		for i := range 40 {
			events := make([]event.Event, 0, 100)
			for j := range 50 {
				key := fmt.Sprint(i*7%10, "-", j)
				events = append(events, added{key, fmt.Sprint(i)}, changed{fmt.Sprint(i%10, "-", j), fmt.Sprint("c", i)})
			}
			last = f.append(fmt.Sprint("s", i), events...)
		}
		e, stop := f.start(shelf(&f.bad, engine.Halt))
		f.reach(e, last)
		want := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Halt))
		boot := func() {
			if err := e.Boot(t.Context(), "shelf"); err != nil {
				t.Fatal(err)
			}
			stop()
		}
		boot()
		for interrupted := 0; ; {
			e, stop = f.start(shelf(&f.bad, engine.Halt))
			before, err := e.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if before[0].Lag == 0 {
				if interrupted >= 2 {
					break
				}
				boot() // it ended between two looks
				continue
			}
			next := before[0].Position
			next.Commit, next.Prepare = next.Commit+1, next.Prepare+1
			f.reach(e, next) // stop as soon as anything has been applied
			interrupted++
			stop()
		}
		stop()
		if got := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Halt)); got != want {
			t.Error("an interrupted boot gives other rows")
		}
	})
}

// TestCheckpointReachesHead: a process that is killed does not read again what
// concerned nobody when it started.
func TestCheckpointReachesHead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		last := f.append("s", ignored{}, ignored{})
		p := shelf(&f.bad, engine.Halt)
		e, _ := f.start(p)
		f.reach(e, last)
		if saved, err := engine.Checkpoint(t.Context(), f.db, p); err != nil || saved != last {
			t.Errorf("the checkpoint is %v, want %v (%v)", saved, last, err)
		}
	})
}

// TestBootBehindTheFeed: a projection reads what the feed has passed by itself,
// from a server that leaves out the events it does not want, the last ones too.
func TestBootBehindTheFeed(t *testing.T) {
	t.Parallel()
	const things, ignoredEach = 700, 3
	n, err := node.Open(node.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	store, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: shelfCatalogue(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	proposed := func(e event.Event) event.Proposed {
		return event.Proposed{ID: uuid.NewString(), Event: e, Metadata: event.Metadata{At: time.Unix(0, 0).UTC()}}
	}
	var last event.Position
	for i := range things {
		events := []event.Proposed{proposed(added{fmt.Sprint(i), "v"})}
		for range ignoredEach {
			events = append(events, proposed(ignored{}))
		}
		appended, err := store.Append(t.Context(), fmt.Sprint("s", i), event.NoStream, events)
		if err != nil {
			t.Fatal(err)
		}
		last = appended.Position
	}
	onBoth(t, func(t *testing.T, f *fixture) {
		f.log = store
		first := shelf(&f.bad, engine.Halt)
		e, stop := f.start(first)
		f.reach(e, last)
		want := projectiontest.Dump(t, f.db, first)
		stop()
		if err := engine.TearDown(t.Context(), f.db, first.Name, first.Version); err != nil {
			t.Fatal(err)
		}
		ahead := engine.Projection{Name: "ahead", Version: 1, Tables: []engine.Table{engine.TableOf("key", func(r *aheadRow) string { return r.Key })}}
		engine.On(&ahead, func(context.Context, *engine.Tx, ignored, event.Recorded) error { return nil })
		e, stop = f.start(ahead)
		if err := e.Wait(t.Context(), ahead.Name, last); err != nil {
			t.Fatal(err)
		}
		stop()
		e, stop = f.start(ahead, first)
		f.reach(e, last)
		if got := projectiontest.Dump(t, f.db, first); got != want || !strings.Contains(got, fmt.Sprintf("%d rows", things)) {
			t.Error("a boot behind the feed gives other rows")
		}
		stop()
	})
}

// aheadRow is of a projection that has got further than another.
type aheadRow struct {
	bun.BaseModel `bun:"table:ahead_v1"`

	Key string `bun:"key,pk"`
}

// thing2 is a row of the second version of the shelf.
type thing2 struct {
	bun.BaseModel `bun:"table:shelf_v2"`

	Key string `bun:"key,pk"`
}

// shelf2 is the second version of the shelf.
func shelf2() engine.Projection {
	rows := engine.TableOf("key", func(r *thing2) string { return r.Key })
	next := engine.Projection{Name: "shelf", Version: 2, Tables: []engine.Table{rows}}
	engine.On(&next, func(_ context.Context, tx *engine.Tx, e added, _ event.Recorded) error {
		rows.Upsert(tx, &thing2{Key: e.Key})
		return nil
	})
	return next
}

// TestVersionsSideBySide: a new version boots beside the old one, which can then be removed by name.
func TestVersionsSideBySide(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		next := shelf2()
		old, stopOld := f.start(shelf(&f.bad, engine.Halt))
		f.reach(old, f.append("s", added{"a", "1"}))
		e, stop := f.start(next)
		last := f.append("s", added{"b", "2"})
		f.reach(e, last)
		f.reach(old, last)
		f.wantRows("a=1 b=2")
		if n, err := f.db.NewSelect().Model((*thing2)(nil)).Count(t.Context()); err != nil || n != 2 {
			t.Errorf("the new version has %d rows, %v", n, err)
		}
		stopOld()
		if err := engine.TearDown(t.Context(), f.db, "shelf", 1); err != nil {
			t.Fatal(err)
		}
		if n, err := f.db.NewSelect().Model((*thing)(nil)).Count(t.Context()); err == nil {
			t.Errorf("the old version's table is still there with %d rows", n)
		}
		if err := engine.TearDown(t.Context(), f.db, "shelf", 1); !errors.Is(err, engine.ErrNotFound) {
			t.Error(err)
		}
		stop()
		misnamed := next
		misnamed.Version = 3
		if _, err := engine.New(t.Context(), engine.Config{DB: f.db, Log: f.store, Logger: slog.New(slog.DiscardHandler)}, misnamed); err == nil {
			t.Error("a version was accepted with the tables of another")
		}
	})
}

// TestUpgradeServesTheOldVersion: while a new version is built, the old one goes on and is ready, and the new one is not; it is once it has caught
// up. The database names both, with who writes them.
func TestUpgradeServesTheOldVersion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		next := shelf2()
		old, stopOld := f.start(shelf(&f.bad, engine.Halt))
		f.reach(old, f.append("s", added{"a", "1"}))
		// The new binary has made its tables and has not filled them yet.
		waiting, err := engine.New(t.Context(), engine.Config{DB: f.db, Log: f.log}, next)
		if err != nil {
			t.Fatal(err)
		}
		last := f.append("s", added{"b", "2"})
		f.reach(old, last)
		f.wantRows("a=1 b=2")
		if !old.Ready() || waiting.Ready() {
			t.Errorf("while the new version is built: old ready %v, new ready %v", old.Ready(), waiting.Ready())
		}
		e, stop := f.start(next)
		f.reach(e, last)
		if !old.Ready() || !e.Ready() {
			t.Errorf("after that: old ready %v, new ready %v", old.Ready(), e.Ready())
		}
		f.wantRows("a=1 b=2")
		versions, err := engine.StoredVersions(t.Context(), f.db)
		if err != nil || len(versions) != 2 || versions[0].Version != 1 || versions[1].Version != 2 || !slices.Equal(versions[1].Tables, []string{"shelf_v2"}) || versions[1].Position != last {
			t.Errorf("%+v, %v", versions, err)
		}
		stop()
		stopOld()
	})
}

// TestRebuildEqualsLive: whatever happens, in whatever batches and over however
// many restarts, a rebuild gives the same rows.
func TestRebuildEqualsLive(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fixture) {
		e, stop := f.start(shelf(&f.bad, engine.Park))
		rapid.Check(t, func(rt *rapid.T) {
			key, value := rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.SampledFrom([]string{"1", "2", "3"})
			var last event.Position
			for range rapid.IntRange(1, 20).Draw(rt, "appends") {
				var e event.Event
				switch rapid.IntRange(0, 3).Draw(rt, "kind") {
				case 0:
					e = added{key.Draw(rt, "key"), value.Draw(rt, "value")}
				case 1:
					e = changed{key.Draw(rt, "key"), value.Draw(rt, "value")}
				case 2:
					e = removed{key.Draw(rt, "key")}
				default:
					e = ignored{}
				}
				last = f.append("s"+key.Draw(rt, "stream"), e)
			}
			if rapid.IntRange(0, 3).Draw(rt, "restart") == 0 {
				stop()
				e, stop = f.start(shelf(&f.bad, engine.Park))
			}
			f.reach(e, last)
			live := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Park))
			if err := e.Boot(t.Context(), "shelf"); err != nil {
				rt.Fatal(err)
			}
			f.reach(e, last)
			if rebuilt := projectiontest.Dump(t, f.db, shelf(&f.bad, engine.Park)); rebuilt != live {
				rt.Fatalf("live\n%s\nrebuilt\n%s", live, rebuilt)
			}
		})
		stop()
	})
}

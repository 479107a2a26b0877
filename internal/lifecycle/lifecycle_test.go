package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"reckon/internal/lifecycle"
	"reckon/test/wait"
)

// diary is what parts did, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// part notes every call. Its background work notes its end.
func (d *diary) part(name string) lifecycle.Part {
	noted := func(what string) func(context.Context) error {
		return func(context.Context) error { d.note(what + " " + name); return nil }
	}
	return lifecycle.Part{
		Name: name, Start: noted("start"), Stop: noted("stop"),
		Run: func(ctx context.Context) error { <-ctx.Done(); d.note("end " + name); return ctx.Err() },
	}
}

func TestStartsInOrderAndStopsInReverse(t *testing.T) {
	t.Parallel()
	var d diary
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	life.Add(d.part("log"), d.part("rows"))
	life.Add(d.part("api"))
	ctx, cancel := context.WithCancel(t.Context())
	if err := life.Start(ctx); err != nil {
		t.Fatal(err)
	}
	cancel() // ends no background work: parts end in order
	if err := errors.Join(life.Stop(context.Background()), life.Stop(context.Background())); err != nil {
		t.Fatal(err)
	}
	want := []string{"start log", "start rows", "start api", "end api", "stop api", "end rows", "stop rows", "end log", "stop log"}
	if !slices.Equal(d.lines, want) {
		t.Errorf("%v, want %v", d.lines, want)
	}
}

func TestAPartThatDoesNotStartIsNamed(t *testing.T) {
	t.Parallel()
	var d diary
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	refused := errors.New("the port is taken")
	broken, never := d.part("api"), d.part("workers")
	broken.Start = func(context.Context) error { return refused }
	broken.Drain = func(context.Context) error { d.note("drain api"); return nil }
	life.Add(d.part("log"), broken, never)
	if err := life.Start(t.Context()); !errors.Is(err, refused) || err.Error() != "api: the port is taken" {
		t.Errorf("%v", err)
	}
	life.Drain(t.Context()) // not of what never started
	if err := life.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if want := []string{"start log", "stop workers", "stop api", "end log", "stop log"}; !slices.Equal(d.lines, want) {
		t.Errorf("%v, want %v", d.lines, want)
	}
}

func TestTheFirstFailureIsReported(t *testing.T) {
	t.Parallel()
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	first, second := make(chan struct{}), make(chan struct{})
	life.Add(
		lifecycle.Part{Name: "api", RunOnce: true, Run: func(context.Context) error { <-first; return errors.New("no socket") }},
		lifecycle.Part{Name: "admin", RunOnce: true, Run: func(context.Context) error { <-second; return nil }},
	)
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(first)
	if err := <-life.Failed(); err == nil || err.Error() != "api: no socket" {
		t.Errorf("%v", err)
	}
	close(second) // also what ends without an error has ended
	if err := <-life.Failed(); err == nil || err.Error() != "admin: it ended by itself" {
		t.Errorf("%v", err)
	}
	for _, state := range life.States() {
		if state.Healthy {
			t.Errorf("%+v", state)
		}
	}
	if err := life.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNothingEndsUnnoticed: background work that ends, with an error or without, is begun again,
// and States tells of it in between.
func TestNothingEndsUnnoticed(t *testing.T) {
	t.Parallel()
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	type call struct{ end chan error }
	calls := make(chan call)
	life.Add(lifecycle.Part{Name: "rows", Run: func(ctx context.Context) error {
		c := call{make(chan error)}
		select {
		case calls <- c:
		case <-ctx.Done():
			return nil
		}
		select {
		case err := <-c.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	state := func() lifecycle.State { return life.States()[0] }
	until := func(what string, condition func(lifecycle.State) bool) {
		t.Helper()
		wait.Until(t, what, func() bool { return condition(state()) })
	}
	running := <-calls
	if s := state(); !s.Healthy || s.Phase != lifecycle.Running || s.Restarts != 0 || s.Name != "rows" {
		t.Errorf("%+v", s)
	}
	for n, end := range []error{errors.New("no space"), nil} {
		running.end <- end
		until("seen to have ended", func(s lifecycle.State) bool { return s.Phase == lifecycle.Restarting && !s.Healthy && s.Error != "" })
		running = <-calls // begun again
		if s := state(); s.Restarts != n+1 || s.Phase != lifecycle.Running {
			t.Errorf("%+v", s)
		}
		until("healthy again", func(s lifecycle.State) bool { return s.Healthy })
	}
	if err := life.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if s := state(); s.Phase != lifecycle.Ended || s.Healthy {
		t.Errorf("%+v", s)
	}
}

// TestDrainedWorkMayEnd: what Drain lets end is not begun again.
func TestDrainedWorkMayEnd(t *testing.T) {
	t.Parallel()
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	draining, ended := make(chan struct{}), make(chan struct{})
	life.Add(lifecycle.Part{
		Name:  "jobs",
		Run:   func(context.Context) error { defer close(ended); <-draining; return nil }, // a second call would panic
		Drain: func(context.Context) error { close(draining); <-ended; return nil },
	})
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	life.Drain(t.Context())
	if err := life.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-life.Failed():
		t.Error(err)
	default:
	}
}

// written passes on what is logged.
type written chan string

func (w written) Write(line []byte) (int, error) { w <- string(line); return len(line), nil }

func TestALaterFailureIsLogged(t *testing.T) {
	t.Parallel()
	log := make(written, 1)
	life := lifecycle.New(slog.New(slog.NewTextHandler(log, nil)))
	for range 2 {
		life.Add(lifecycle.Part{Name: "rows", RunOnce: true, Run: func(context.Context) error { return errors.New("no space") }})
	}
	life.Add(lifecycle.Part{Name: "log", Stop: func(context.Context) error { return errors.New("still open") }})
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if line := <-log; !strings.Contains(line, "rows: no space") {
		t.Errorf("%s", line)
	}
	if err := <-life.Failed(); err.Error() != "rows: no space" {
		t.Errorf("%v", err)
	}
	if err := life.Stop(t.Context()); err == nil || err.Error() != "log: still open" {
		t.Errorf("%v", err)
	}
}

func TestDrainsRunAtOnceWhileAllPartsRun(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	life := lifecycle.New(slog.New(slog.NewTextHandler(&log, nil)))
	requests, jobs := make(chan struct{}), make(chan struct{})
	life.Add(
		lifecycle.Part{Name: "jobs", Drain: func(context.Context) error { close(jobs); <-requests; return nil }},
		lifecycle.Part{Name: "api", Drain: func(context.Context) error { close(requests); <-jobs; return errors.New("cut off") }},
	)
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	life.Drain(t.Context())
	if !strings.Contains(log.String(), "part=api") || !strings.Contains(log.String(), "cut off") {
		t.Errorf("%s", &log)
	}
}

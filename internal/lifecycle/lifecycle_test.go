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
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	first, second := make(chan struct{}), make(chan struct{})
	life.Add(
		lifecycle.Part{Name: "done early", Run: func(context.Context) error { return nil }},
		lifecycle.Part{Name: "rows", Run: func(context.Context) error { <-first; return errors.New("no space") }},
		lifecycle.Part{Name: "jobs", Run: func(context.Context) error { <-second; return errors.New("no log") }},
	)
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(first)
	if err := <-life.Failed(); err == nil || err.Error() != "rows: no space" {
		t.Errorf("%v", err)
	}
	close(second)
	if err := <-life.Failed(); err == nil || err.Error() != "jobs: no log" {
		t.Errorf("%v", err)
	}
	if err := life.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// written passes on what is logged.
type written chan string

func (w written) Write(line []byte) (int, error) { w <- string(line); return len(line), nil }

func TestALaterFailureIsLogged(t *testing.T) {
	log := make(written, 1)
	life := lifecycle.New(slog.New(slog.NewTextHandler(log, nil)))
	for range 2 {
		life.Add(lifecycle.Part{Name: "rows", Run: func(context.Context) error { return errors.New("no space") }})
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

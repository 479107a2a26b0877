package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/internal/database"
	"reckon/internal/tracing"
)

// Config configures New. DB and Log are required.
type Config struct {
	DB     *bun.DB
	Log    Log
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // for rates and the times of parked events, never for rows; nil: time.Now
	// Process names this process to people who ask which one writes a projection, and is another for every process;
	// empty: a random text.
	Process string
	// Tracer begins a span for every batch of new events, linked to what appended them; nil: no span is recorded.
	Tracer *tracing.Tracer
}

// Validate returns an error that names the field of c that New cannot use, or nil.
func (c Config) Validate() error {
	switch {
	case c.DB == nil:
		return errors.New("engine.Config.DB is missing")
	case c.Log == nil:
		return errors.New("engine.Config.Log is missing")
	}
	return nil
}

// Engine runs the projections of one process, or follows those that another process runs.
type Engine struct {
	db      *bun.DB
	log     Log
	logger  *slog.Logger
	process string
	logID   string
	moved   *wakeUp
	head    event.Position // of the log when New read it
	writer  *writer
	workers []*worker
	byName  map[string]*worker
}

// ErrNotFound is returned for a name that no projection has, and for a stream without parked events.
var ErrNotFound = errors.New("no such projection")

// New creates the tables of the projections if they are missing and reads their checkpoints.
// Errors: that of Config.Validate, *ForeignLogError, or of the database or the log.
func New(ctx context.Context, config Config, projections ...Projection) (*Engine, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	now := config.Now
	if now == nil {
		now = time.Now
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Process == "" {
		config.Process = rand.Text()
	}
	if err := createStateTables(ctx, config.DB); err != nil {
		return nil, fmt.Errorf("projection tables: %w", err)
	}
	logID, err := config.Log.LogID(ctx)
	if err != nil {
		return nil, err
	}
	head, err := config.Log.Head(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{db: config.DB, log: config.Log, logger: config.Logger, process: config.Process, logID: logID, head: head, moved: newWakeUp(), byName: map[string]*worker{}}
	e.writer = &writer{db: config.DB}
	checkpoints := &together[map[string]stateRow]{read: func(ctx context.Context) (map[string]stateRow, error) { return readCheckpoints(ctx, config.DB) }}
	writers := &together[map[string]claim]{read: func(ctx context.Context) (map[string]claim, error) { return readClaims(ctx, config.DB) }}
	for _, p := range projections {
		if err := p.validate(config.DB); err != nil {
			return nil, err
		}
		if e.byName[p.Name] != nil {
			return nil, fmt.Errorf("projection %q is listed twice", p.Name)
		}
		w := &worker{
			Projection: p, db: config.DB, log: config.Log, logID: logID, logger: config.Logger, processName: config.Process, tracer: config.Tracer, now: now, writer: e.writer,
			control: make(chan func(context.Context) error), moved: e.moved, checkpoints: checkpoints, writers: writers, readyFrom: head, phase: Starting, changed: make(chan struct{}),
		}
		if err := w.loadCheckpoint(ctx); err != nil {
			return nil, err
		}
		e.workers = append(e.workers, w)
		e.byName[p.Name] = w
	}
	return e, nil
}

// Run applies the log to the projections until the context ends, which is no error, or the
// log cannot be followed.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	past := e.readPast()
	group.Go(func() { past.run(ctx) })
	// The feed starts at the checkpoint that is furthest ahead, the head or beyond; projections read up to it first.
	foremost := e.head
	var names []string
	for _, w := range e.workers {
		names = append(names, w.EventNames()...)
		if at := w.currentPosition(); foremost.Less(at) {
			foremost = at
		}
	}
	feed := newFeed(e.log, foremost, names)
	group.Go(func() { forwardNotifications(ctx, e.db, e.moved, e.logger) })
	group.Go(func() { e.reportClaims(ctx) })
	for _, w := range e.workers {
		w.feed = feed
		group.Go(func() {
			if err := w.run(ctx); err != nil {
				e.logger.Warn("projection did not save its checkpoint", "projection", w.id(), "error", err)
			}
		})
	}
	err := feed.run(ctx)
	cancel(err)
	group.Wait()
	e.writer.close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// readPast makes the one read of what the log holds for all projections that are behind it, so
// that each event is sent and decoded once however many of them are built.
func (e *Engine) readPast() *pastReader {
	past := &pastReader{log: e.log, from: e.head, upTo: e.head}
	for _, w := range e.workers {
		phase, _ := w.currentPhase()
		at := w.currentPosition()
		if phase == Paused || phase == Halted || !at.Less(e.head) {
			continue
		}
		if at.Less(past.from) {
			past.from = at
		}
		past.names = append(past.names, w.EventNames()...)
		w.past = newMember(at, pastBuffer)
		past.members = append(past.members, w.past)
	}
	return past
}

// Watch is Run for a process that reads the tables and does not write them: Wait, Ready and
// Status report the progress of another process. It returns nil when the context ends.
func (e *Engine) Watch(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { forwardNotifications(ctx, e.db, e.moved, e.logger) })
	for _, w := range e.workers {
		w.mu.Lock()
		w.watching = true
		w.mu.Unlock()
		group.Go(func() { w.watch(ctx) })
	}
	group.Wait()
	return nil
}

// Wait returns when the projection has applied everything up to the position:
// nil then, ErrStopped when it does not move, or the context's error.
func (e *Engine) Wait(ctx context.Context, name string, p event.Position) error {
	w := e.byName[name]
	if w == nil {
		return fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	return w.wait(ctx, p)
}

// LogID returns the id of the log that the engine follows. Wait compares positions of that log only.
func (e *Engine) LogID() string { return e.logID }

// Pause stops a projection at its checkpoint until Resume, in this process or another. One that only Boot can
// continue cannot be paused.
func (e *Engine) Pause(ctx context.Context, name string) error {
	return e.onWorker(ctx, name, func(ctx context.Context, w *worker) error {
		if err := w.notBeyond(ctx); err != nil {
			return err
		}
		if err := setPhase(ctx, w.db, w.Projection, phasePaused, "on request"); err != nil {
			return err
		}
		w.setPhase(Paused, "on request")
		return nil
	})
}

// Resume lets a paused or halted projection continue from its checkpoint. The error of one that only Boot
// can continue says so.
func (e *Engine) Resume(ctx context.Context, name string) error {
	return e.onWorker(ctx, name, func(ctx context.Context, w *worker) error {
		if err := w.notBeyond(ctx); err != nil {
			return err
		}
		if err := setPhase(ctx, w.db, w.Projection, phaseRunning, ""); err != nil {
			return err
		}
		w.setPhase(Starting, "")
		return nil
	})
}

// Boot drops a projection's tables and builds them again from the log.
func (e *Engine) Boot(ctx context.Context, name string) error {
	return e.onWorker(ctx, name, func(ctx context.Context, w *worker) error {
		head, err := e.log.Head(ctx)
		if err != nil {
			return err
		}
		err = w.db.RunInTx(database.Unlimited(ctx), nil, func(ctx context.Context, tx bun.Tx) error {
			if err := TearDown(ctx, tx, w.Name, w.Version); err != nil {
				return err
			}
			_, err := loadState(ctx, tx, w.Projection, w.TableNames(w.db), w.logID, head)
			return err
		})
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.readyFrom = head
		w.mu.Unlock()
		w.setPosition(event.Position{}, 0)
		w.setPhase(Starting, "")
		return nil
	})
}

// onWorker runs do on the goroutine of the named projection, between two batches.
// It returns ErrNotFound, the error of do, or the context's.
func (e *Engine) onWorker(ctx context.Context, name string, do func(context.Context, *worker) error) error {
	w := e.byName[name]
	if w == nil {
		return fmt.Errorf("%w: %s; there are %s", ErrNotFound, name, strings.Join(slices.Sorted(maps.Keys(e.byName)), ", "))
	}
	answer := make(chan error, 1)
	request := func(ctx context.Context) error {
		answer <- do(ctx, w)
		return errCheckpointMoved
	}
	select {
	case w.control <- request:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

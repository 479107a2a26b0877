// Package fleet is several processes that run jobs, within one test: each has
// its own workers (reckon/runners/workers), as `reckon serve` has them, and they
// share one log and one database of read models.
//
// It promises that a process can be killed or cut off from the log at any
// moment, which real processes do less obediently. What a job computes is the
// test's own.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/eventstore"
	"reckon/eventstore/storetest"
	"reckon/internal/lifecycle"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/runners"
	"reckon/runners/workers"
)

// Log is what a fleet's log offers: that of eventstore.Store or memory.Store.
type Log = storetest.Store

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// Func is a kind of job made of a function.
type Func func(ctx context.Context, w runners.Work) (runners.End, error)

// Traceparent is the W3C trace context of every submission.
const Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Kind is the name of the kind of a fleet's jobs.
const Kind job.Kind = "fleet"

// Declare is runners.Kind.
func (Func) Declare() commands.JobKind {
	return commands.JobKind{Declaration: job.Declaration{Name: Kind}}
}

// Run is runners.Kind.
func (f Func) Run(ctx context.Context, _ commands.Intent, w runners.Work) (runners.End, error) {
	return f(ctx, w)
}

// Fleet is what all processes share.
type Fleet struct {
	Log       Log
	Models    *projections.ReadModels
	Projector *engine.Engine
	Jobs      *commands.Jobs

	t testing.TB
}

// blobs keeps nothing: the payloads of a fleet's jobs are short.
type blobs struct{}

func (blobs) Put(context.Context, []byte) (event.Blob, error) {
	return event.Blob{}, errors.New("a fleet's jobs have short texts")
}

func (blobs) Get(context.Context, event.Blob) ([]byte, error) {
	return nil, errors.New("a fleet's jobs have short texts")
}

// New starts the read models over a log and a database.
func New(t testing.TB, log Log, db *bun.DB) *Fleet {
	t.Helper()
	models := projections.New(db, blobs{})
	if err := models.Queue.CreateProposalsTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	projector, err := engine.New(t.Context(), engine.Config{DB: db, Log: log, Logger: slog.New(slog.DiscardHandler)},
		models.Jobs.Projection(), models.Queue.Projection(), models.Sessions.Projection())
	if err != nil {
		t.Fatal(err)
	}
	f := &Fleet{
		Log: log, Models: models, Projector: projector, t: t,
		Jobs: &commands.Jobs{Store: log, Runs: commands.NewRunIDs(log, "fleet"), Blobs: blobs{}},
	}
	life := lifecycle.New(slog.New(slog.DiscardHandler))
	life.Add(lifecycle.Part{Name: "read models", Run: projector.Run})
	t.Cleanup(func() { f.stop(life) })
	if err := life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// Submit queues a job of an account that may run so many at once.
func (f *Fleet) Submit(ctx context.Context, accountID, payload string, concurrent int) (string, error) {
	in := commands.Intent{ID: uuid.New(), At: time.Now(), Account: accountID, Source: "web", Traceparent: Traceparent}
	submitted, err := f.Jobs.SubmitJob(ctx, in, commands.SubmitJob{
		Submission: job.Submission{Kind: Kind, Payload: event.Inline(payload)},
		Plan:       account.Plan{Name: "test", JobsPerDay: 1 << 30, JobBudgetMS: 60_000, ConcurrentJobs: concurrent},
		Prepare:    func(context.Context, commands.Intent, *job.Submission) error { return nil },
	})
	return submitted.Job.Queued.JobID, err
}

// Cancel cancels a job of an account.
func (f *Fleet) Cancel(ctx context.Context, accountID, jobID string) (commands.Cancellation, error) {
	return f.Jobs.CancelJob(ctx, commands.Intent{ID: uuid.New(), At: time.Now(), Account: accountID}, jobID)
}

// Process is one process of a fleet.
type Process struct {
	*workers.Workers
	ID  string
	Log *Line

	life *lifecycle.Lifecycle
	end  func()
}

// Options of a process.
type Options struct {
	Beat  time.Duration
	Slots int
	Grace time.Duration
	Run   Func // computes the jobs
	// Reserve is runners.Reserver; nil: the jobs need no room.
	Reserve func(content string) (release func(), ok bool)
	// AwaitAble is runners.Config.AwaitAble.
	AwaitAble func(context.Context) error
}

// reserving is a kind whose jobs need room.
type reserving struct {
	Func
	reserve func(content string) (release func(), ok bool)
}

// Reserve is runners.Reserver.
func (r reserving) Reserve(content string) (release func(), ok bool) { return r.reserve(content) }

func (o Options) kind() runners.Kind {
	if o.Reserve == nil {
		return o.Run
	}
	return reserving{o.Run, o.Reserve}
}

// Start starts a process; it is killed at the test's end.
func (f *Fleet) Start(o Options) *Process {
	f.t.Helper()
	logger := slog.New(slog.DiscardHandler)
	p := &Process{ID: uuid.NewString(), Log: NewLine(f.Log), life: lifecycle.New(logger)}
	jobs := *f.Jobs
	jobs.Store = p.Log
	p.Workers = workers.New(workers.Config{
		Process: p.ID, Build: "test", Beat: o.Beat, Log: p.Log, Jobs: &jobs, Models: f.Models, Projector: f.Projector,
		Clock: clock{}, Logger: logger, Recovers: true,
	})
	p.Run(workers.RunConfig{Slots: o.Slots, Grace: o.Grace, Kinds: []runners.Kind{o.kind()}, AwaitAble: o.AwaitAble})
	p.life.Add(p.Parts()...)
	p.end = sync.OnceFunc(func() { f.stop(p.life) })
	f.t.Cleanup(p.Kill)
	if err := p.life.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	return p
}

// stop ends a process and reports the part of it that failed.
func (f *Fleet) stop(life *lifecycle.Lifecycle) {
	for _, part := range life.States() {
		if part.Error != "" {
			f.t.Errorf("%s has ended: %s", part.Name, part.Error)
		}
	}
	if err := life.Stop(context.Background()); err != nil {
		f.t.Error(err)
	}
	select {
	case err := <-life.Failed():
		f.t.Error(err)
	default:
	}
}

// Stop drains the process as SIGTERM does.
func (p *Process) Stop() { p.life.Drain(context.Background()); p.end() }

// Kill ends the process as SIGKILL does: nothing it does from now on is logged.
func (p *Process) Kill() { p.Log.Cut(); p.Log.end(); p.end() }

// Line is a process's connection to the log, which can be cut: then writes and
// reads hang until their context ends or it is mended, as they do behind a broken network.
type Line struct {
	Log
	queues  eventstore.Queues // a process's own
	states  commands.States   // a process's own
	ended   chan struct{}
	endOnce sync.Once

	mu     sync.Mutex
	mended chan struct{} // nil while the line works; else closed when it does again
}

// NewLine is a connection that works.
func NewLine(log Log) *Line { return &Line{Log: log, ended: make(chan struct{})} }

// Cut breaks it.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mended == nil {
		l.mended = make(chan struct{})
	}
}

// Mend makes a line that was cut work again.
func (l *Line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mended != nil {
		close(l.mended)
		l.mended = nil
	}
}

// end lets nobody wait for it any more.
func (l *Line) end() { l.endOnce.Do(func() { close(l.ended) }) }

// Enter is commands.Store.
func (l *Line) Enter(ctx context.Context, stream string) (leave func(), err error) {
	return l.queues.Enter(ctx, stream)
}

// States is commands.Store.
func (l *Line) States() *commands.States { return &l.states }

func (l *Line) hang(ctx context.Context) error {
	l.mu.Lock()
	mended := l.mended
	l.mu.Unlock()
	if mended == nil {
		return nil
	}
	select {
	case <-mended:
		return nil
	case <-ctx.Done():
	case <-l.ended:
	}
	return fmt.Errorf("%w: the line is cut", commands.ErrUnavailable)
}

// Append is commands.Store.
func (l *Line) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if err := l.hang(ctx); err != nil {
		return commands.Appended{}, err
	}
	return l.Log.Append(ctx, stream, at, events)
}

// Read is commands.Store.
func (l *Line) Read(ctx context.Context, stream string) (commands.History, error) {
	if err := l.hang(ctx); err != nil {
		return commands.History{Revision: event.NoStream}, err
	}
	return l.Log.Read(ctx, stream)
}

// ReadFrom is commands.Store.
func (l *Line) ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	if err := l.hang(ctx); err != nil {
		return commands.History{Revision: event.NoStream}, err
	}
	return l.Log.ReadFrom(ctx, stream, from, count)
}

// Event is commands.Store.
func (l *Line) Event(ctx context.Context, stream string, revision event.Revision) (event.Recorded, error) {
	if err := l.hang(ctx); err != nil {
		return event.Recorded{}, err
	}
	return l.Log.Event(ctx, stream, revision)
}

// Head is the log's end.
func (l *Line) Head(ctx context.Context) (event.Position, error) {
	if err := l.hang(ctx); err != nil {
		return event.Position{}, err
	}
	return l.Log.Head(ctx)
}

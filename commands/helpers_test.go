package commands_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/verification"
	"reckon/eventstore/memory"
	"reckon/internal/blobs"
)

const (
	anna = "0198a1b2-0000-7000-8000-00000000000a"
	bert = "0198a1b2-0000-7000-8000-00000000000b"
)

// noon is when tests begin.
var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// clock stands still.
type clock struct{ at time.Time }

func (c clock) Now() time.Time { return c.at }

// intentOf is a new command of an account.
func intentOf(accountID string) commands.Intent {
	return commands.Intent{ID: uuid.New(), At: noon, Account: accountID, Actor: "session", Source: event.SourceWeb, Agent: "test"}
}

// log is a log in memory that counts appends, knows that blobs come before the
// events that name them, and lets a test step in.
type log struct {
	*memory.Store
	t     rapid.TB
	blobs commands.Blobs

	mu      sync.Mutex
	appends int
	// conflicts counts those since the last append of anything, where before provokes none.
	conflicts int
	reads     map[string]int // by stream
	// eventsRead counts the events of all reads.
	eventsRead int
	// beforeRead runs ahead of every read from a revision on; its error is the read's.
	beforeRead func(from event.Revision) error
	// before runs ahead of every append; its error is the append's.
	before func(stream string) error
}

// maxConflicts ends a command that loses for ever: it would wait for the test's end otherwise. Commands of one process
// queue, and no test has more than two.
const maxConflicts = 50

// elsewhere is the log as another process has it: they share no queue.
func (l *log) elsewhere() *log {
	return &log{Store: l.WithCatalogue(domain.Catalogue()), t: l.t, blobs: l.blobs}
}

func (l *log) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	l.t.Helper()
	if l.before != nil {
		if err := l.before(stream); err != nil {
			return commands.Appended{}, err
		}
	}
	for _, e := range events {
		l.expectBlobs(ctx, e.Event)
	}
	appended, err := l.Store.Append(ctx, stream, at, events)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.appends++
		l.conflicts = 0
	case errors.Is(err, commands.ErrConflict) && l.before == nil:
		if l.conflicts++; l.conflicts >= maxConflicts {
			return appended, fmt.Errorf("%d conflicts in a row: the writer does not see what was appended", l.conflicts)
		}
	}
	return appended, err
}

func (l *log) Read(ctx context.Context, stream string) (commands.History, error) {
	return l.counted(stream, func() (commands.History, error) { return l.Store.Read(ctx, stream) })
}

func (l *log) ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	if l.beforeRead != nil {
		if err := l.beforeRead(from); err != nil {
			return commands.History{}, err
		}
	}
	return l.counted(stream, func() (commands.History, error) { return l.Store.ReadFrom(ctx, stream, from, count) })
}

// counted counts a read and its events.
func (l *log) counted(stream string, read func() (commands.History, error)) (commands.History, error) {
	history, err := read()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reads == nil {
		l.reads = map[string]int{}
	}
	l.reads[stream]++
	l.eventsRead += len(history.Events)
	return history, err
}

// readsDuring counts how often something reads a stream.
func (l *log) readsDuring(stream string, something func()) int {
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.reads[stream]
	}
	before := count()
	something()
	return count() - before
}

// expectBlobs wants every blob an event names to be there already.
func (l *log) expectBlobs(ctx context.Context, e event.Event) {
	l.t.Helper()
	stored, err := event.Marshal(e)
	if err != nil {
		l.t.Error(err)
		return
	}
	var decoded any
	if err := json.Unmarshal(stored, &decoded); err != nil {
		l.t.Error(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, member := range v {
				walk(member)
			}
		case map[string]any:
			if sha, ok := v["sha256"].(string); ok && len(v) == 2 {
				size, _ := v["bytes"].(float64)
				if _, err := l.blobs.Get(ctx, event.Blob{SHA256: sha, Bytes: int64(size)}); err != nil {
					l.t.Errorf("%s was to be appended before its blob %s: %v", e.EventName(), sha, err)
				}
			}
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(decoded)
}

// count is how many appends succeeded.
func (l *log) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appends
}

// names are the events of a stream.
func (l *log) names(stream string) string {
	l.t.Helper()
	history, err := l.Read(context.Background(), stream)
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, r := range history.Events {
		names = append(names, r.Event.EventName())
	}
	return strings.Join(names, " ")
}

// newLog is an empty log with a folder of blobs.
func newLog(t testing.TB) *log {
	t.Helper()
	folder, err := blobs.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &log{Store: memory.New(domain.Catalogue()), t: t, blobs: folder}
}

// newBareLog is an empty log for a property's one trial, in which nothing is long.
func newBareLog(t rapid.TB) *log {
	return &log{Store: memory.New(domain.Catalogue()), t: t, blobs: nil}
}

// engine answers what a test says; a session's worker lives from its first
// evaluation until it is closed or fails.
type engine struct {
	answer func(commands.EngineRequest) (commands.EngineOutcome, error)

	mu       sync.Mutex
	workers  map[string]bool
	requests []commands.EngineRequest
}

func (e *engine) Evaluate(_ context.Context, r commands.EngineRequest) (commands.EngineOutcome, error) {
	e.mu.Lock()
	opened := r.Session != "" && !e.workers[r.Session]
	if r.Session != "" {
		e.workers[r.Session] = true
	}
	e.requests = append(e.requests, r)
	e.mu.Unlock()
	o, err := e.answer(r)
	o.SessionOpened = opened
	var failed *commands.EngineFailedError
	var ended *commands.SessionEndedError
	if errors.As(err, &ended) {
		e.CloseSession(r.Session)
	}
	if errors.Is(err, commands.ErrBudgetExhausted) || errors.As(err, &failed) {
		if e.CloseSession(r.Session) {
			o.SessionEnded = "worker_died"
		}
	}
	return o, err
}

func (e *engine) CloseSession(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	live := e.workers[key]
	delete(e.workers, key)
	return live
}

func (e *engine) Describe() (name, revision string) { return "stand-in", "1" }

// checker answers what a test says and remembers its steps.
type checker struct {
	check func(code, answer string) run.Check
	mu    sync.Mutex
	steps []verification.Steps
}

func (c *checker) Check(ctx context.Context, r commands.CheckRequest) (run.Check, error) {
	c.mu.Lock()
	c.steps = append(c.steps, r.Steps)
	c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return run.Check{}, err
	}
	return c.check(r.Code, r.Answer), nil
}

// asked is how often the checker was asked.
func (c *checker) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.steps)
}

var (
	verified     = run.Check{Verdict: "verified", Basis: "exact", Method: "rewrite_identity", Check: "1+1 - (2)", Residual: "0", ElapsedMS: 1}
	refuted      = run.Check{Verdict: "refuted", Basis: "exact", Method: "rewrite_identity", Check: "1+1 - (3)", Residual: "-1", ElapsedMS: 1}
	inconclusive = run.Check{Verdict: "inconclusive", Reason: "no_check_for_head"}
)

// owners says which processes report.
type owners map[string]bool

func (o owners) Alive(_ context.Context, owner string) (bool, error) { return o[owner], nil }

// places are those of accounts, by account; several houses may share them.
type places struct {
	mu   sync.Mutex
	held map[string][]string
}

// Take is commands.Places.
func (p *places) Take(ctx context.Context, accountID, sessionID string, most int, ended func(ctx context.Context, sessionID string) (bool, error)) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var live []string
	for _, id := range p.held[accountID] {
		if id == sessionID {
			continue
		}
		over, err := ended(ctx, id)
		if err != nil {
			return false, err
		}
		if !over {
			live = append(live, id)
		}
	}
	if len(live) >= most {
		return false, nil
	}
	p.held[accountID] = append(live, sessionID)
	return true, nil
}

// Opened is commands.Places.
func (*places) Opened(context.Context, string, string) error { return nil }

// house is the write side of one process.
type house struct {
	*commands.Evaluator
	config  commands.EvaluatorConfig
	t       testing.TB
	log     *log
	engine  *engine
	checker *checker
}

// plan is generous.
var plan = account.Plan{Name: "free", EvaluationBudgetMS: 3000, PerMinute: 20, JobsPerDay: 2, JobBudgetMS: 60_000, ConcurrentJobs: 1, Qubits: 4, LiveSessions: 2, DeniedHeads: []string{"Run", "Import"}}

// newHouse is a process on a log; its engine answers every expression with 2.
func newHouse(t testing.TB, l *log) *house {
	t.Helper()
	signer := newSigner()
	h := &house{
		t: t, log: l,
		engine: &engine{workers: map[string]bool{}, answer: func(commands.EngineRequest) (commands.EngineOutcome, error) {
			return commands.EngineOutcome{Result: "2", InputForm: "2", Elapsed: 30 * time.Millisecond}, nil
		}},
		checker: &checker{check: func(string, string) run.Check { return verified }},
	}
	process := uuid.NewString()
	h.config = commands.EvaluatorConfig{
		Store: l, Runs: commands.NewRunIDs(l, process), Engine: h.engine, Checker: h.checker, Blobs: l.blobs, Owners: owners{process: true}, Places: &places{held: map[string][]string{}},
		Clock: clock{noon.Add(1500 * time.Microsecond)}, Signer: func() (*receipt.Signer, error) { return signer, nil }, Process: process, Address: "127.0.0.1:1", QueueWait: time.Second,
	}
	h.with(func(*commands.EvaluatorConfig) {})
	return h
}

// with makes the house's evaluator anew, of a changed configuration.
func (h *house) with(change func(*commands.EvaluatorConfig)) {
	h.t.Helper()
	change(&h.config)
	var err error
	if h.Evaluator, err = commands.NewEvaluator(h.config); err != nil {
		h.t.Fatal(err)
	}
}

// answers makes the engine answer every request so.
func (h *house) answers(o commands.EngineOutcome, err error) {
	h.engine.answer = func(commands.EngineRequest) (commands.EngineOutcome, error) { return o, err }
}

// text is a Text's string.
func (h *house) text(t testing.TB, text event.Text) string {
	t.Helper()
	if text.Blob == nil {
		return text.Inline
	}
	content, err := h.config.Blobs.Get(context.Background(), *text.Blob)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// run folds one run's stream.
func (h *house) run(t testing.TB, runID int64) run.State {
	t.Helper()
	history, err := h.log.Read(context.Background(), run.Stream(runID))
	if err != nil {
		t.Fatal(err)
	}
	return run.Decider.Fold(history.Domain())
}

// signingKey seals in every house.
var signingKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// publicKeys is the key set as it is published.
func publicKeys() map[string]ed25519.PublicKey {
	public := signingKey.Public().(ed25519.PublicKey)
	return map[string]ed25519.PublicKey{keys.Thumbprint(public): public}
}

func newSigner() *receipt.Signer {
	return &receipt.Signer{KID: keys.Thumbprint(signingKey.Public().(ed25519.PublicKey)), Key: signingKey}
}

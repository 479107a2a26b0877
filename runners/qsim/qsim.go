package qsim

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"reckon/commands"
	"reckon/domain/circuit"
	"reckon/domain/job"
	"reckon/internal/statefiles"
	"reckon/runners"
)

const (
	// outcomesShown is how many outcomes the rendered result lists.
	outcomesShown = 16
	// largeBytes bounds what the one large simulation takes with its result.
	largeBytes = circuit.DefaultMemoryLimitBytes
	// lightBytes bounds what each of the others takes, and lightTotalBytes what they take together.
	lightBytes      = 64 << 20
	lightTotalBytes = 256 << 20
	// resultCopies is how many times the text of a result is held while it is written, compressed and stored.
	resultCopies = 3
)

// Jobs runs circuits.
type Jobs struct {
	states States
	child  []string

	mu    sync.Mutex
	large bool  // one that is not light runs
	light int64 // bytes reserved for light ones
}

// States keeps the state vectors that jobs ask for.
type States interface {
	// Largest is the length of the largest file that can be kept.
	Largest() int64
	// Create begins the file of a job, which will have so many bytes.
	Create(account, job string, bytes int64) (*statefiles.File, error)
}

// New has all room to give. child starts a process that calls Serve, for circuits that take long; nil: this process simulates all.
func New(states States, child []string) *Jobs { return &Jobs{states: states, child: child} }

// Reserve is runners.Reserver. A circuit that cannot be read needs nothing: it fails when it is run.
func (j *Jobs) Reserve(content string) (release func(), ok bool) {
	c, err := parse(content)
	if err != nil {
		return nil, true
	}
	need := needOf(c)
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case need.large && !j.large:
		j.large = true
		return func() { j.change(func() { j.large = false }) }, true
	case !need.large && j.light+need.bytes <= lightTotalBytes:
		j.light += need.bytes
		return func() { j.change(func() { j.light -= need.bytes }) }, true
	}
	return nil, false
}

// need is the memory of one simulation.
type need struct {
	large bool
	bytes int64 // with its result
	limit int64 // of these for the simulation alone
}

// needOf gives a simulation what it must have, and what saves repeating work as far as there is room for that.
func needOf(c circuit.Circuit) need {
	cost := circuit.Estimate(c)
	result := resultCopies * cost.ResultBytes
	must := cost.MemoryBytes + result
	if must > lightBytes {
		return need{large: true, bytes: largeBytes, limit: largeBytes - result}
	}
	bytes := min(must+cost.SpareBytes, lightBytes)
	return need{bytes: bytes, limit: bytes - result}
}

func (j *Jobs) change(do func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	do()
}

// Run is runners.Kind.
func (j *Jobs) Run(ctx context.Context, _ commands.Intent, w runners.Work) (runners.End, error) {
	c, err := parse(w.Content)
	if err != nil {
		a, err := refusal(err)
		if err != nil {
			return runners.End{}, err
		}
		return a.end(), nil
	}
	bounded, cancel := context.WithTimeout(ctx, w.Budget)
	defer cancel()
	file := &stateWriter{create: func() (*statefiles.File, error) { return j.states.Create(w.Account, w.JobID, c.NPYBytes()) }}
	defer file.discard()
	s := simulation{Circuit: w.Content, Seed: freshSeed(), MemoryLimitBytes: needOf(c).limit, Threads: runtime.GOMAXPROCS(0)}
	var a answer
	if len(j.child) > 0 && circuit.Estimate(c).Operations >= childOperations {
		a, err = s.runInChild(bounded, j.child, file)
	} else {
		a, err = s.run(bounded, file)
	}
	switch {
	case ctx.Err() != nil:
		return runners.End{}, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return runners.End{Status: job.TimedOut, Outcome: job.Outcome{
			Error: fmt.Sprintf("the simulation ran past the job's time budget of %v and was stopped", w.Budget),
		}}, nil
	case err != nil:
		return runners.End{}, err
	}
	return a.end(), nil
}

// stateWriter makes room for a state only when the simulation has one to write, which is at its end. A file that cannot be written, as on
// a full disk, costs the job its file and nothing else: another attempt would fare no better.
type stateWriter struct {
	create func() (*statefiles.File, error)
	file   *statefiles.File
	bytes  int64
	failed error // the first; what comes after it is not written
}

// Write is io.Writer; it never fails.
func (s *stateWriter) Write(data []byte) (int, error) {
	if s.file == nil && s.failed == nil {
		s.file, s.failed = s.create()
	}
	if s.failed == nil {
		_, s.failed = s.file.Write(data)
	}
	if s.failed != nil {
		s.discard() // gives back what a full disk needs most
	}
	s.bytes += int64(len(data))
	return len(data), nil
}

// keep makes the file durable, or says why there is none.
func (s *stateWriter) keep() (kept, error) {
	var sha string
	if s.failed == nil {
		sha, s.failed = s.file.Keep()
	}
	if s.failed != nil {
		return kept{Missing: "the server could not keep the file: " + statefiles.Reason(s.failed) + "; submit the circuit again later for it"}, nil
	}
	return kept{File: &circuit.StateFile{SHA256: sha, Bytes: s.bytes}}, nil
}

func (s *stateWriter) discard() {
	if s.file != nil {
		s.file.Discard()
		s.file = nil
	}
}

// parse reads what was accepted when it was submitted, so that no plan's limit applies again.
func parse(content string) (circuit.Circuit, error) {
	limits := circuit.DefaultLimits()
	limits.Qubits, limits.CliffordQubits = circuit.MaxQubits, circuit.MaxCliffordQubits
	limits.Bytes = max(limits.Bytes, len(content))
	return circuit.Parse([]byte(content), limits)
}

// pointsShown is how many points of a sweep the rendered result lists.
const pointsShown = 16

// render lists the most frequent outcomes, of each point of a sweep on a line of its own.
func render(r circuit.SweepResult) string {
	if len(r.Points) == 0 {
		return renderCounts(r.Result)
	}
	var out strings.Builder
	for _, p := range r.Points[:min(len(r.Points), pointsShown)] {
		for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
			fmt.Fprintf(&out, "%s = %g, ", name, p.Parameters[name])
		}
		fmt.Fprintf(&out, "%s\n", renderCounts(p.Result))
	}
	if more := len(r.Points) - pointsShown; more > 0 {
		fmt.Fprintf(&out, "… %d more points\n", more)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// renderCounts is "00: 507, 11: 517 of 1024 shots".
func renderCounts(r circuit.Result) string {
	keys := slices.SortedFunc(maps.Keys(r.Counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Counts[b], r.Counts[a]), cmp.Compare(a, b))
	})
	var out strings.Builder
	for i, key := range keys[:min(len(keys), outcomesShown)] {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%s: %d", key, r.Counts[key])
	}
	if more := len(keys) - outcomesShown; more > 0 {
		fmt.Fprintf(&out, ", … %d more outcomes", more)
	}
	fmt.Fprintf(&out, " of %d shots", r.Shots)
	return out.String()
}

func freshSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand documents it)
	return binary.LittleEndian.Uint64(b[:]) & circuit.MaxSeed
}

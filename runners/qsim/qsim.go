package qsim

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"reckon/commands"
	"reckon/domain/circuit"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/runners"
)

const (
	// outcomesShown is how many outcomes the rendered result lists.
	outcomesShown = 16
	// lightBytes is the estimate up to which simulations run beside each other and beside one larger one.
	lightBytes = 64 << 20
	// lightTotalBytes bounds the estimates of all light simulations that run at once.
	lightTotalBytes = 256 << 20
)

// Jobs runs circuits.
type Jobs struct {
	mu    sync.Mutex
	large bool  // one that is not light runs
	light int64 // bytes reserved for light ones
}

// New has all room to give.
func New() *Jobs { return &Jobs{} }

// Reserve is runners.Reserver. A circuit that cannot be read needs nothing: it fails when it is run.
func (j *Jobs) Reserve(content string) (release func(), ok bool) {
	c, err := parse(content)
	if err != nil {
		return nil, true
	}
	need := circuit.Estimate(c).MemoryBytes
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case need <= lightBytes && j.light+need <= lightTotalBytes:
		j.light += need
		return func() { j.change(func() { j.light -= need }) }, true
	case need > lightBytes && !j.large:
		j.large = true
		return func() { j.change(func() { j.large = false }) }, true
	}
	return nil, false
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
		return failed(err)
	}
	bounded, cancel := context.WithTimeout(ctx, w.Budget)
	defer cancel()
	result, err := circuit.Run(bounded, c, circuit.Options{Seed: freshSeed()})
	switch {
	case ctx.Err() != nil:
		return runners.End{}, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return runners.End{Status: job.TimedOut, Outcome: job.Outcome{
			Error: fmt.Sprintf("the simulation ran past the job's time budget of %v and was stopped", w.Budget),
		}}, nil
	case err != nil:
		return failed(err)
	}
	structured, err := event.Marshal(result)
	if err != nil {
		return runners.End{}, err
	}
	return runners.End{Status: job.Succeeded, Outcome: job.Outcome{Output: event.Inline(render(result)), Result: event.Inline(string(structured))}}, nil
}

// parse reads what was accepted when it was submitted, so that no plan's limit applies again.
func parse(content string) (circuit.Circuit, error) {
	limits := circuit.DefaultLimits()
	limits.Qubits, limits.CliffordQubits = circuit.MaxQubits, circuit.MaxCliffordQubits
	limits.Bytes = max(limits.Bytes, len(content))
	return circuit.Parse([]byte(content), limits)
}

// failed ends a job with a refusal; anything else is not the circuit's doing.
func failed(err error) (runners.End, error) {
	var refused *circuit.Refusal
	if !errors.As(err, &refused) {
		return runners.End{}, err
	}
	return runners.End{Status: job.Failed, Outcome: job.Outcome{Error: refused.Error()}}, nil
}

// render lists the most frequent outcomes: "00: 507, 11: 517 of 1024 shots".
func render(r circuit.Result) string {
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

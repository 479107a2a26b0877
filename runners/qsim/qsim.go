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

	"reckon/commands"
	"reckon/domain/circuit"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/runners"
)

const (
	// outcomesShown is how many outcomes the rendered result lists.
	outcomesShown = 16
	// lightBytes is the memory up to which simulations run beside each other; a larger one runs alone.
	lightBytes = 64 << 20
)

// Jobs runs circuits.
type Jobs struct{ large chan struct{} }

// New runs one large circuit at a time.
func New() *Jobs { return &Jobs{large: make(chan struct{}, 1)} }

// Run is runners.Kind.
func (j *Jobs) Run(ctx context.Context, _ commands.Intent, w runners.Work) (runners.End, error) {
	c, err := parse(w.Content)
	if err != nil {
		return failed(err)
	}
	if circuit.Estimate(c).MemoryBytes > lightBytes {
		select {
		case j.large <- struct{}{}:
			defer func() { <-j.large }()
		case <-ctx.Done():
			return runners.End{}, context.Cause(ctx)
		}
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

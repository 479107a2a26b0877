package qsim

import (
	"context"
	"errors"

	"reckon/domain/circuit"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/offheap"
	"reckon/runners"
)

// simulation is what is asked of this process or of a child.
type simulation struct {
	Circuit          string `json:"circuit"`
	Seed             uint64 `json:"seed"`
	MemoryLimitBytes int64  `json:"memory_limit_bytes"`
	Threads          int    `json:"threads"`
}

// kept is what became of the file of the state vector.
type kept struct {
	File    *circuit.StateFile `json:"file,omitempty"`
	Missing string             `json:"missing,omitempty"` // why there is none
}

// answer is how a simulation ended: with both texts of the result, or refused.
type answer struct {
	Refused string // empty: it succeeded
	Output  string // as people read it
	Result  string // as JSON
}

// end is how the job ends with it.
func (a answer) end() runners.End {
	if a.Refused != "" {
		return runners.End{Status: job.Failed, Outcome: job.Outcome{Error: a.Refused}}
	}
	return runners.End{Status: job.Succeeded, Outcome: job.Outcome{Output: event.Inline(a.Output), Result: event.Inline(a.Result)}}
}

// stateFile takes the state vector of a simulation that has one.
type stateFile interface {
	Write(data []byte) (int, error)
	// keep is called once all is written.
	keep() (kept, error)
}

// run simulates in this process. An error is the context's, or not the circuit's doing.
func (s simulation) run(ctx context.Context, file stateFile) (answer, error) {
	c, err := parse(s.Circuit)
	if err != nil {
		return refusal(err)
	}
	options := circuit.Options{Seed: s.Seed, Threads: s.Threads, MemoryLimitBytes: s.MemoryLimitBytes, Allocate: offheap.Allocate}
	if c.WantsNPY() {
		options.NPY = file
	}
	result, err := circuit.RunSweep(ctx, c, options)
	if err != nil {
		return refusal(err)
	}
	if c.WantsNPY() {
		k, err := file.keep()
		if err != nil {
			return answer{}, err
		}
		if result.NPY = k.File; k.File == nil {
			result.Omit("npy", k.Missing)
		}
	}
	structured, err := result.JSON()
	return answer{Output: render(result), Result: structured}, err
}

// refusal answers with a refusal; any other error is none of the circuit's.
func refusal(err error) (answer, error) {
	if refused, ok := errors.AsType[*circuit.Refusal](err); ok {
		return answer{Refused: refused.Error()}, nil
	}
	return answer{}, err
}

package engine

import (
	"context"
	"time"
)

// Stateless is an engine without state between questions: each question has a process of its own, forked from one that has
// the engine's library loaded.
type Stateless struct{ zygote *Zygote }

// StartStateless starts the program behind its walls.
func StartStateless(ctx context.Context, program Program) (Stateless, error) {
	zygote, err := StartZygote(ctx, program)
	return Stateless{zygote}, err
}

// Close ends it and every question that it works on.
func (s Stateless) Close(context.Context) error { return s.zygote.Close() }

// Info names the engine and its revision, as receipts record them.
func (s Stateless) Info() (name, revision string) {
	info := s.zygote.Info()
	return info["name"], info["revision"]
}

// Boundaries tells what is in force around its processes.
func (s Stateless) Boundaries() []Boundary { return s.zygote.Boundaries() }

// WhenEnded is that of Zygote.
func (s Stateless) WhenEnded(ended func(said string)) { s.zygote.WhenEnded(ended) }

// MemoryBytes is what its process holds at rest; 0 where that cannot be known.
func (s Stateless) MemoryBytes() int64 { return s.zygote.MemoryBytes() }

// The wall clock bounds a question far outside of its processor time, for a process that gets no processor at all.
const (
	questionWallFactor = 8
	questionWallSlack  = 20 * time.Second
)

// Ask puts a question, whose request tells the program its processor time, in a process of its own, at the context's place (fair.At).
func (s Stateless) Ask(ctx context.Context, processor time.Duration, request, reply any) error {
	return s.zygote.Call(ctx, questionWallFactor*processor+questionWallSlack, request, reply)
}

package portfolio

import (
	"context"

	"reckon/domain/expression"
	"reckon/runners/engine"
	"reckon/runners/engine/fricas"
	"reckon/runners/engine/giac"
	"reckon/runners/engine/numerics"
)

// Second is an engine that may be asked after the first: what it runs from, and how it is started.
type Second struct {
	Name     string
	Packages engine.Packages
	Start    func(ctx context.Context, environment string, sandbox engine.Sandbox) (Running, error)
}

// Running is a started Second.
type Running interface {
	Other
	Boundaries() []engine.Boundary
	Probe() (question *expression.Expr, answer string) // a question to try it with
	MemoryBytes() int64                                // of its process at rest; 0 where that cannot be known
	WhenEnded(ended func(said string))                 // that of engine.Zygote
	Close(ctx context.Context) error
}

// Seconds are all there are, in the order in which they are asked.
var Seconds = []Second{
	{giac.Packages.Name, giac.Packages, func(ctx context.Context, environment string, sandbox engine.Sandbox) (Running, error) {
		return giac.Start(ctx, giac.Options{Environment: environment, Sandbox: sandbox})
	}},
	{fricas.Packages.Name, fricas.Packages, func(ctx context.Context, environment string, sandbox engine.Sandbox) (Running, error) {
		return fricas.Start(ctx, environment, sandbox)
	}},
	{numerics.Packages.Name, numerics.Packages, func(ctx context.Context, environment string, sandbox engine.Sandbox) (Running, error) {
		return numerics.Start(ctx, environment, sandbox)
	}},
}

// Default are the names of those that `reckon serve` starts unless it is configured otherwise. FriCAS is not among them: 191 MB to download, 685 MB on disk, and a
// second of processor time for each question.
var Default = []string{"giac", "mpmath"}

// Chosen are the second engines of these names, in their order.
func Chosen(names []string) (seconds []Second) {
	for _, name := range names {
		for _, second := range Seconds {
			if second.Name == name {
				seconds = append(seconds, second)
			}
		}
	}
	return seconds
}

// Folder is where the environment of a second engine lies: beside that of the first.
func (s Second) Folder(first string) string { return first + "-" + s.Name }

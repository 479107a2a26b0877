package checker

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"reckon/domain/verification"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

//go:embed python/reckon_checker/*.py python/reckon_checker/rules/*.py python/reckon_checker/programs/*.py
var sources embed.FS

// Options of a Checker. Zero values are the defaults.
type Options struct {
	Sandbox     engine.Sandbox
	Idle        int   // workers kept forked and waiting
	MemoryBytes int64 // of one check, beyond the warmed program; default 512 MiB
}

// Checker executes plans in throwaway processes.
type Checker struct{ zygote *engine.Zygote }

// New starts the checker in an environment made by engine.Install.
func New(ctx context.Context, environment string, options Options) (*Checker, error) {
	if options.MemoryBytes == 0 {
		options.MemoryBytes = 512 << 20
	}
	modules, err := modules()
	if err != nil {
		return nil, err
	}
	zygote, err := engine.StartZygote(ctx, engine.Program{
		Name: "checker", Python: engine.Python(environment), Source: []byte(program), Modules: modules, Sandbox: options.Sandbox, Idle: options.Idle,
		Limits: engine.Limits{MemoryBytes: options.MemoryBytes, CPUSeconds: 600, RequestBytes: 4 << 20, ReplyBytes: 64 << 10},
	})
	if err != nil {
		return nil, fmt.Errorf("start the checker: %w", err)
	}
	return &Checker{zygote}, nil
}

// Close ends the checker and every check that runs.
func (c *Checker) Close() error { return c.zygote.Close() }

// Ready returns why no worker can be started; nil while they start.
func (c *Checker) Ready(ctx context.Context) error { return c.zygote.Ready(ctx) }

// WhenEnded is that of engine.Zygote.
func (c *Checker) WhenEnded(ended func(said string)) { c.zygote.WhenEnded(ended) }

// Info names the libraries that check: name and revision.
func (c *Checker) Info() map[string]string { return c.zygote.Info() }

// Boundaries tells what is in force around the checks.
func (c *Checker) Boundaries() []engine.Boundary { return c.zygote.Boundaries() }

type request struct {
	Op    string             `json:"op"`
	Task  verification.Task  `json:"task"`
	Steps verification.Steps `json:"steps"`
	CPUMS int64              `json:"cpu_ms"` // of processor time, after which the process ends
}

// residualCharacters bounds what is kept of a residual.
const residualCharacters = 500

// A check is bounded by its steps, so that a busy machine changes no verdict. Processor time is a guard far outside, for a call
// into a library that counts none, and the wall clock one farther out, for a worker that gets no processor at all.
const (
	wallFactor = 4
	wallSlack  = 10 * time.Second
)

// Check carries a plan out within so many steps. The error is for a caller that gave up, a checker that is closed or a
// place (fair.At) that others had for too long (*fair.SaturatedError); a check
// that runs over its budget or fails is a Finding.
func (c *Checker) Check(ctx context.Context, plan verification.Plan, steps verification.Steps) (verification.Finding, error) {
	started := time.Now()
	var finding verification.Finding
	err := c.zygote.Call(ctx, wallFactor*steps.Processor()+wallSlack, request{Op: "check", Task: plan.Task, Steps: steps, CPUMS: steps.Processor().Milliseconds()}, &finding)
	_, late := errors.AsType[*fair.SaturatedError](err)
	switch {
	case ctx.Err() != nil:
		return verification.Finding{}, ctx.Err()
	case late, errors.Is(err, engine.ErrClosed):
		return verification.Finding{}, err
	case errors.Is(err, engine.ErrBudgetExhausted):
		finding = verification.Finding{Status: verification.StatusTimedOut}
	case err != nil || finding.Status == "":
		finding = verification.Finding{Status: verification.StatusFailed}
	}
	if len(finding.Residual) > residualCharacters {
		finding.Residual = strings.ToValidUTF8(finding.Residual[:residualCharacters], "") + "…"
	}
	finding.ElapsedMS = time.Since(started).Milliseconds()
	return finding, nil
}

// modules are the sources of the package, by the names of its modules.
func modules() (map[string]string, error) {
	list := map[string]string{}
	err := fs.WalkDir(sources, "python", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := sources.ReadFile(file)
		name := strings.TrimSuffix(strings.TrimPrefix(file, "python/"), ".py")
		list[strings.ReplaceAll(name, "/", ".")] = string(source)
		return err
	})
	return list, err
}

// program hands the entry points of the package's module service on.
const program = "from reckon_checker.service import handle, info, warm\n"

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"reckon/commands"
	"reckon/domain/audit"
	"reckon/domain/expression"
	runs "reckon/domain/run"
	"reckon/internal/config"
	"reckon/projections/auditor"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

// engineEndLimit is how long the engine of an audit may take to end.
const engineEndLimit = 10 * time.Second

// reverify starts the engine and its checker, as serve does, and returns how verdicts are asked for again.
func (c *auditLogCmd) reverify(ctx context.Context) (*auditor.Reverify, func(), error) {
	environment := config.EngineFolder(c.Engine, c.Data)
	if !isFolder(environment) {
		return nil, nil, fmt.Errorf("--reverify: no engine in %s: make one with `reckon engine install --engine DIR`, and name DIR with --engine", filepath.Clean(environment))
	}
	if err := checkEngine(environment); err != nil {
		return nil, nil, err
	}
	places := engine.DefaultConcurrency()
	started, err := engine.Start(ctx, engine.Options{Environment: environment, Sandbox: engine.SandboxRequired, Concurrency: places})
	if err != nil {
		return nil, nil, err
	}
	stop := func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineEndLimit)
		defer cancel()
		_ = started.Close(ending) // the process ends
	}
	checks, err := checker.New(ctx, environment, checker.Options{Sandbox: engine.SandboxRequired})
	if err != nil {
		stop()
		return nil, nil, err
	}
	asked := adapter.Checker{Engine: started, Checker: checks, Places: fair.NewPool(places)}
	return &auditor.Reverify{Check: checkAgain(asked, c.ReverifyTimeout), Timeout: c.ReverifyTimeout, Workers: places, From: c.ReverifyFrom}, func() {
		_ = checks.Close() // likewise
		stop()
	}, nil
}

// checkAgain asks about a logged answer as `POST /api/verify` does.
func checkAgain(asked commands.Checker, wait time.Duration) func(context.Context, audit.Answered) (runs.Check, error) {
	return func(ctx context.Context, a audit.Answered) (runs.Check, error) {
		tree, err := expression.Parse(a.Expression)
		if err != nil {
			tree = nil // the service's own parser does not read it: then there is no check
		}
		return asked.Check(ctx, commands.CheckRequest{Account: a.Account, Code: a.Expression, Tree: tree, Answer: a.InputForm, Steps: commands.MaxCheckSteps, QueueWait: wait})
	}
}

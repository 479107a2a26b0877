package main

import (
	"context"
	"os"

	"reckon/commands"
	"reckon/internal/config"
	"reckon/internal/lifecycle"
	"reckon/runners/cluster"
	"reckon/runners/elaborate"
	"reckon/runners/jail"
	"reckon/runners/proof"
)

// exportsInMemory is how many exports may be in this process's memory at a time.
const exportsInMemory = 2

// writeSide holds the commands of evaluations, jobs and proofs.
type writeSide struct {
	evaluator *commands.Evaluator // made with the workers; nil in a process that evaluates nothing
	signing   *signing            // nil in a process that evaluates nothing
	jobs      *commands.Jobs
	judge     *proof.Judge
	program   *proof.Program // the operator's kernel; nil: there is none, or no job is run here
	proofs    *commands.Proofs
	peers     *cluster.Peers // forwards evaluations of sessions that live elsewhere; nil in a process that evaluates nothing
}

func newWriteSide(ctx context.Context, p process, log *eventLog, s *stores) (*writeSide, error) {
	w := &writeSide{jobs: &commands.Jobs{Store: log.store, Runs: commands.NewRunIDs(log.store, p.id), Blobs: s.blobs}}
	if p.evaluates() {
		var err error
		w.signing, err = awaiting(ctx, p, "the event log", func(ctx context.Context) (*signing, error) { return openSigning(ctx, p, log.store) })
		if err != nil {
			return nil, err
		}
	}
	return w, w.makeProofs(ctx, p, log, s)
}

// makeProofs wires what takes, judges and certifies proofs.
func (w *writeSide) makeProofs(ctx context.Context, p process, log *eventLog, s *stores) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w.judge = proof.NewJudge(proof.JudgeConfig{Command: []string{self, "lean", "child"}, MemoryBytes: int64(p.config.ProofMemory) << 20})
	p.life.Add(lifecycle.Part{Name: "proof kernel", Stop: func(context.Context) error { w.judge.Close(); return nil }})
	if p.config.SecondKernel != "" && p.evaluates() {
		w.program, err = proof.NewProgram(ctx, proof.ProgramConfig{
			Path: p.config.SecondKernel, Jail: []string{self, "lean", "jail"}, SandboxOff: p.config.EngineSandbox == config.SandboxOff, MemoryBytes: int64(p.config.ProofMemory) << 20,
		})
		if err != nil {
			return err
		}
		p.logger.Info("proofs are judged by a further kernel", "program", p.config.SecondKernel)
	}
	proofs := commands.Proofs{Store: log.store, Blobs: s.blobs, Jobs: w.jobs, Judge: w.judge, Clock: systemClock{}}
	if p.config.Lean != "" && p.config.Has(config.RoleAPI) {
		toolchain, err := elaborate.New(ctx, elaborate.Options{
			Lean: p.config.Lean, Exporter: p.config.LeanExporter, Jail: []string{self, "lean", "jail"}, SandboxOff: p.config.EngineSandbox == config.SandboxOff,
		})
		if err != nil {
			return err
		}
		p.logger.Info("sources are elaborated", "toolchain", toolchain.Version)
		proofs.Elaborator = toolchain
	}
	w.proofs = commands.NewProofs(proofs, exportsInMemory)
	return nil
}

// leanJailCmd is the process in which a server has a toolchain or a kernel of the operator's run.
type leanJailCmd struct {
	Policy string `arg:""`
}

// Run becomes that program.
func (c leanJailCmd) Run() error { return exitStatus(jail.Enter(c.Policy)) }

// leanChildCmd is a process in which a server has exports read and checked.
type leanChildCmd struct{}

// Run answers requests until standard input ends.
func (leanChildCmd) Run() error {
	proof.Serve(os.Stdin, os.Stdout)
	return nil
}

package main

import (
	"context"
	"os"

	"reckon/commands"
	"reckon/domain"
	"reckon/internal/config"
	"reckon/runners/elaborate"
	"reckon/runners/kinds"
	"reckon/runners/proof"
)

// exportsInMemory is how many exports may be in this process's memory at a time.
const exportsInMemory = 2

// makeProofs wires what takes, judges and certifies proofs.
func (s *service) makeProofs(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.judge = proof.NewJudge(proof.JudgeConfig{Command: []string{self, "lean", "child"}, MemoryBytes: int64(s.config.ProofMemory) << 20})
	s.onClose(func(context.Context) error { s.judge.Close(); return nil })
	proofs := commands.Proofs{Store: s.store, Blobs: s.blobs, Jobs: s.jobs, Judge: s.judge, Clock: systemClock{}}
	if s.config.Lean != "" && s.config.Has(config.RoleAPI) {
		toolchain, err := elaborate.New(ctx, elaborate.Options{
			Lean: s.config.Lean, Exporter: s.config.LeanExporter, Jail: []string{self, "lean", "jail"}, SandboxOff: s.config.EngineSandbox == "off",
		})
		if err != nil {
			return err
		}
		s.logger.Info("sources are elaborated", "toolchain", toolchain.Version)
		proofs.Elaborator = toolchain
	}
	s.proofs = commands.NewProofs(proofs, exportsInMemory)
	s.kinds = kinds.All(kinds.Parts{
		Evaluator: s.evaluator, Proofs: s.proofs, Judge: s.judge, Blobs: s.blobs, Plans: s.plans, Catalogue: domain.Catalogue(), Clock: systemClock{}, Build: build(),
	})
	return nil
}

// leanJailCmd is the process in which a server has the toolchain run.
type leanJailCmd struct {
	Policy string `arg:""`
}

// Run becomes the toolchain.
func (c leanJailCmd) Run() error { return exitStatus(elaborate.Jail(c.Policy)) }

// leanChildCmd is a process in which a server has exports read and checked.
type leanChildCmd struct{}

// Run answers requests until standard input ends.
func (leanChildCmd) Run() error {
	proof.Serve(os.Stdin, os.Stdout)
	return nil
}

package main

import (
	"context"
	"os"

	"reckon/commands"
	"reckon/runners/proof"
)

// exportsInMemory is how many exports may be in this process's memory at a time.
const exportsInMemory = 2

// makeProofs wires what takes, judges and certifies proofs.
func (s *service) makeProofs(context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.judge = proof.NewJudge(proof.JudgeConfig{Command: []string{self, "lean", "child"}})
	s.onClose(func(context.Context) error { s.judge.Close(); return nil })
	s.proofs = commands.NewProofs(commands.Proofs{Store: s.store, Blobs: s.blobs, Jobs: s.jobs, Judge: s.judge, Clock: systemClock{}}, exportsInMemory)
	return nil
}

// leanChildCmd is the process in which a server has one export read or checked.
type leanChildCmd struct{}

// Run answers one request.
func (leanChildCmd) Run() error {
	if status := proof.Serve(os.Stdin, os.Stdout); status != 0 {
		return exitStatus(status)
	}
	return nil
}

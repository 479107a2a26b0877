// Package kinds lists every kind of job.
//
// It promises that what can be submitted, what is run, and what the API's
// description and the docs name is one list. It knows nothing of any kind but
// where its folder is.
package kinds

import (
	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/runners"
	"reckon/runners/evaluate"
	"reckon/runners/proof"
	"reckon/runners/qsim"
)

// Parts are the parts of a process that kinds are made of.
type Parts struct {
	Evaluator *commands.Evaluator
	Proofs    *commands.Proofs
	Judge     *proof.Judge             // nil where no job is run
	Program   *proof.Program           // the operator's kernel; nil: there is none
	Judged    func(certificate.Issued) // is shown every certificate with its findings; nil: nobody asks
	Blobs     commands.Blobs
	Plans     account.Plans
	States    qsim.States // of circuits; nil where none are run or submitted
	Simulator []string    // starts a process that calls qsim.Serve; nil: this process simulates every circuit
	Catalogue event.Catalogue
	Clock     commands.Clock
	Build     string // revision of the binary
}

// All lists the kinds in the order they are shown in; the first is the default.
func All(p Parts) []runners.Kind {
	return []runners.Kind{
		evaluate.Jobs{Evaluator: p.Evaluator, Plans: p.Plans, Catalogue: p.Catalogue},
		qsim.New(p.States, p.Simulator),
		proof.Jobs{Proofs: p.Proofs, Judge: p.Judge, Program: p.Program, Judged: p.Judged, Blobs: p.Blobs, Catalogue: p.Catalogue, Clock: p.Clock, Rev: p.Build},
	}
}

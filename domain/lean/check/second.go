package check

import (
	"context"
	"fmt"

	"reckon/domain/lean/kernel"
	"reckon/domain/lean/plain"
)

// The names of the kernels of this program in reports.
const (
	fastName  = "reckon" // package kernel
	plainName = "plain"  // package plain
)

// KernelAnswer is one kernel's answer to the whole file.
type KernelAnswer struct {
	Name   string  `json:"name"`
	Answer Kernel  `json:"answer"`
	Reason *string `json:"reason"` // null where it accepts
}

// Answered adds what a kernel answers.
func (r *Report) Answered(name string, answer Kernel, reason string) {
	a := KernelAnswer{Name: name, Answer: answer}
	if answer != Accepted {
		a.Reason = &reason
	}
	r.Kernels = append(r.Kernels, a)
}

// Disagree makes the report of a file that one kernel accepts and another refuses: it is no verdict on the proof, whichever is right.
func (r *Report) Disagree(name, reason string, at Refusal) {
	r.Answered(name, Refused, reason)
	r.Verdict = Inconclusive
	at.Class, at.Message = KernelsDisagree, fmt.Sprintf("the kernel %s refuses what the kernel %s accepts: %s", name, fastName, reason)
	r.Refusal = &at
}

// NotFinished makes the report of a file on which a further kernel did not come to an end in the time and memory given.
func (r *Report) NotFinished(name, reason string) {
	r.Answered(name, Undecided, reason)
	r.Verdict = Inconclusive
	r.Refusal = &Refusal{Class: ResourceLimit, Message: fmt.Sprintf("the kernel %s did not finish: %s", name, reason)}
}

// answerOf is the fast kernel's answer, for the list of kernels.
func (j *judge) answerOf(result kernel.Result) (answer Kernel, reason string) {
	switch {
	case result.Refusal != nil:
		return Refused, j.names.Text(result.Refusal.Declaration) + ": " + result.Refusal.Error()
	case result.Exhausted != nil:
		return Undecided, result.Exhausted.Reason
	}
	return Accepted, ""
}

// askPlain has the second kernel check the whole file, which the first has accepted. Where it ends within its budget, both must accept.
func (j *judge) askPlain(ctx context.Context) {
	// Expressions that the first kernel and the description have made are taken away, so that the budget is a function of the file.
	j.file.Store.Truncate(0)
	budget := j.opts.Plain
	budget.Room = j.opts.Kernel.Room
	result := plain.Check(ctx, j.file.Store, j.file.Declarations, budget)
	switch refusal, out := result.Refusal, result.OutOfBudget; {
	case refusal != nil:
		name := j.names.Text(refusal.Declaration)
		j.report.Disagree(plainName, name+": "+refusal.Error(), Refusal{Declaration: name, File: j.opts.FileName, Line: refusal.Line})
	case out == nil:
		j.report.Answered(plainName, Accepted, "")
	case out.Counted:
		j.report.Answered(plainName, OutOfBudget, j.names.Text(out.Declaration)+": "+out.Reason)
	default:
		j.report.NotFinished(plainName, out.Reason)
	}
}

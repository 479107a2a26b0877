package runners

import (
	"context"

	"reckon/commands"
	"reckon/domain/job"
)

// Kind is a kind of job: what it is, how one is submitted and how one is run.
// Each has a folder below runners/; runners/kinds lists them.
type Kind interface {
	// Declare returns the kind's declaration; every call returns the same.
	Declare() commands.JobKind
	// Run computes one job and returns how it ended. An error means that the attempt
	// failed for a reason outside the job; the job is then given to another runner. When
	// the context ends, Run kills the processes that it started and returns.
	Run(ctx context.Context, in commands.Intent, w Work) (End, error)
}

// Reserver is a Kind whose jobs need room beside a slot, such as memory. A job has its room before it is claimed: one that there
// is no room for stays queued, where another process may take it, and those behind it go past.
type Reserver interface {
	Kind
	// Reserve sets aside what a job of this content needs until release is called, once. Without ok there is no room now.
	Reserve(content string) (release func(), ok bool)
}

// Submittable are the kinds as commands know them, in the same order.
func Submittable(kinds []Kind) commands.JobKinds {
	list := make(commands.JobKinds, len(kinds))
	for i, kind := range kinds {
		list[i] = kind.Declare()
	}
	return list
}

// ByName are the kinds as a Runner's Config wants them.
func ByName(kinds ...Kind) map[job.Kind]Kind {
	byName := make(map[job.Kind]Kind, len(kinds))
	for _, kind := range kinds {
		byName[kind.Declare().Name] = kind
	}
	return byName
}

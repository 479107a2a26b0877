package writeapi

import (
	"context"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/job"
)

// maxWait is the longest a submission is held (interface §4.3).
const maxWait = 25 * time.Second

// proofRequest is what the body says of a proof.
func proofRequest(in *submitInput) commands.ProofRequest {
	body := in.Body
	return commands.ProofRequest{
		Export: body.Export, UploadID: body.UploadID, Source: body.Source, Module: body.Module, Declarations: body.Declarations, RunID: body.RunID, WaitMS: body.WaitMS,
	}
}

// submit hands a request to the command of its kind.
func (s Services) submit(ctx context.Context, in commands.Intent, r commands.JobRequest, plan account.Plan) (commands.Submitted, error) {
	if r.Kind == job.Proof {
		return s.Proofs.Submit(ctx, in, r, plan)
	}
	return s.Jobs.SubmitJob(ctx, in, r.Command(plan))
}

// patience is how long a submission may take: one with a source is elaborated first.
func (s Services) patience(r commands.JobRequest) time.Duration {
	if r.Proof.Source != nil {
		return s.Longest + elaborationTimeout
	}
	return s.Longest
}

// awaitEnd holds a submission until its job has ended, or the time is over.
func (s Services) awaitEnd(ctx context.Context, state job.State, waitMS int64) (job.State, error) {
	id, wait := state.Queued.JobID, time.Duration(min(waitMS, maxWait.Milliseconds()))*time.Millisecond
	return s.JobView.Await(ctx, id, wait, func(ctx context.Context) (job.State, error) { return s.Jobs.Read(ctx, id) })
}

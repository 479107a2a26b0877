package writeapi

import (
	"context"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/job"
)

// maxWait is the longest a submission is held (spec §4.3).
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

// awaitEnd waits until a job has ended and what it published can be read, or the
// time is over; then it is the job as it is.
func (s Services) awaitEnd(ctx context.Context, state job.State, waitMS int64) (job.State, error) {
	id := state.Queued.JobID
	happened, stop := s.WatchJob(id)
	defer stop()
	over := time.NewTimer(time.Duration(min(waitMS, maxWait.Milliseconds())) * time.Millisecond)
	defer over.Stop()
	for last := false; ; {
		// Watched first, read second: an end in between is not missed.
		state, err := s.Jobs.Read(ctx, id)
		if err != nil || last {
			return state, err
		}
		if complete, err := s.JobView.Complete(ctx, state); err != nil || complete {
			return state, err
		}
		select {
		case <-happened:
		case <-over.C:
			last = true
		case <-s.Closing:
			last = true
		case <-ctx.Done():
			return state, ctx.Err()
		}
	}
}

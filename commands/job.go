package commands

import (
	"context"
	"errors"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

// Jobs is the write side of jobs: everything that appends to a job's stream, its
// slot's and its upload's.
type Jobs struct {
	Store Store
	Runs  *RunIDs
	Blobs Blobs
}

// Read folds one job's stream; a job that does not exist has State.Exists false. Its
// error is a StreamError.
func (j *Jobs) Read(ctx context.Context, jobID string) (job.State, error) {
	return readState(ctx, j.Store, job.Decider, job.Stream(jobID))
}

func (j *Jobs) handle(ctx context.Context, in Intent, jobID string, c job.Command) (job.State, event.Position, error) {
	return Handle(ctx, j.Store, job.Decider, job.Stream(jobID), in, c)
}

// Cancellation is the answer to a cancel.
type Cancellation struct {
	Job       job.State
	Cancelled bool // by this call; false: the job had ended before
	Refunded  bool // by this call: no runner had claimed the job
	Position  event.Position
}

// CancelJob ends a job on its owner's request. Before the first claim the slot is
// refunded; a running job is killed by its runner when the runner observes the event. It
// returns job.ErrNotFound if the account has no such job, or an error of Handle.
func (j *Jobs) CancelJob(ctx context.Context, in Intent, jobID string) (Cancellation, error) {
	h, err := handle(ctx, j.Store, job.Decider, job.Stream(jobID), in, job.Command(job.Cancel{Account: in.Account, Now: event.Timestamp(in.At)}))
	if err != nil {
		return Cancellation{}, err
	}
	if h.appended {
		in = in.CausedBy(EventID(in.ID, job.Stream(jobID), 0))
	}
	return Cancellation{Job: h.state, Cancelled: h.appended, Refunded: h.appended && h.state.Refunded, Position: h.at},
		j.SettleRefund(ctx, in, h.state)
}

// SettleRefund refunds the slot and releases the upload of a job that was cancelled before it was tried, or that the service
// lost; for any other job it does nothing. It may be repeated: what ends the job and the reactions refund_cancelled and
// refund_lost all call it. Its errors are Handle's.
func (j *Jobs) SettleRefund(ctx context.Context, in Intent, s job.State) error {
	if !s.Refunded {
		return nil
	}
	reason := slots.CancelledEarly
	if s.Status == job.Lost {
		reason = slots.ServiceFailed
	}
	if err := j.refund(ctx, in, refund{s.Queued.Account, s.Queued.Day, s.Queued.SlotID, s.Queued.JobID, reason}); err != nil {
		return err
	}
	if s.Queued.UploadID == "" {
		return nil
	}
	_, _, err := Handle(ctx, j.Store, upload.Decider, upload.Stream(s.Queued.UploadID), in.withNewID(),
		upload.Command(upload.Release{JobID: s.Queued.JobID}))
	return err
}

// ClaimJob gives a job to a runner, as the attempt that nonce names. It returns
// job.ErrNotQueued if another attempt has the job or the job has ended, job.ErrNotFound, or
// an error of Handle.
func (j *Jobs) ClaimJob(ctx context.Context, in Intent, jobID, runnerID, nonce string) (job.State, event.Position, error) {
	return j.handle(ctx, in, jobID, job.Claim{Runner: runnerID, Nonce: nonce, Now: event.Timestamp(in.At)})
}

// ReleaseJob puts a job back into the queue unfinished, because its runner was told to stop. It returns job.ErrSuperseded if
// nonce no longer names the present attempt, or an error of Handle.
func (j *Jobs) ReleaseJob(ctx context.Context, in Intent, jobID, nonce string) error {
	_, _, err := j.handle(ctx, in, jobID, job.Release{Nonce: nonce})
	return err
}

// ReturnJob gives a job back that could not be tried, with its attempt: to the queue after a pause that grows, or lost after
// job.GiveUpAfter. lacked says why, in words for the job's owner. Its errors are ReleaseJob's.
func (j *Jobs) ReturnJob(ctx context.Context, in Intent, jobID, nonce, lacked string) (job.State, error) {
	return j.take(ctx, in, jobID, job.Return{Nonce: nonce, Lacked: lacked, Now: in.At})
}

// AbandonJob takes a job from a runner that lost the attempt: the job goes back into the queue, or is lost after
// job.MaxAbandoned attempts that are spent. spent tells that the runner ended. An attempt that has ended is left alone. Its errors are Handle's.
func (j *Jobs) AbandonJob(ctx context.Context, in Intent, jobID, nonce string, spent bool) (job.State, error) {
	return j.take(ctx, in, jobID, job.Abandon{Nonce: nonce, Now: event.Timestamp(in.At), Spent: spent})
}

// BlameWork is AbandonJob by the runner itself, which saw that the job's work ended the attempt.
func (j *Jobs) BlameWork(ctx context.Context, in Intent, jobID, nonce string) (job.State, error) {
	return j.take(ctx, in, jobID, job.Abandon{Nonce: nonce, Now: event.Timestamp(in.At), Spent: true, Shown: true})
}

// ExcuseAttempt says that the runner of an attempt lives, which was cut off from the log: the attempt no longer holds the
// job, and is not spent. Its errors are Handle's.
func (j *Jobs) ExcuseAttempt(ctx context.Context, in Intent, jobID, nonce string) (job.State, error) {
	return j.take(ctx, in, jobID, job.Excuse{Nonce: nonce, Now: event.Timestamp(in.At)})
}

// take ends an attempt without an outcome, and refunds the slot of a job that is lost with it by the service's failure.
func (j *Jobs) take(ctx context.Context, in Intent, jobID string, c job.Command) (job.State, error) {
	h, err := handle(ctx, j.Store, job.Decider, job.Stream(jobID), in, c)
	if err != nil {
		return h.state, err
	}
	if h.appended {
		in = in.CausedBy(EventID(in.ID, job.Stream(jobID), 0))
	}
	if h.state.Status != job.Lost {
		return h.state, nil
	}
	in.Account = h.state.Queued.Account
	return h.state, j.SettleRefund(ctx, in, h.state)
}

// LoadPayload returns what a job is to compute, read from the blobs where it is long.
// Its errors are those of the blobs.
func (j *Jobs) LoadPayload(ctx context.Context, s job.Submission) (string, error) {
	return s.Payload.Load(ctx, j.Blobs)
}

// FinishJob ends a job with what a runner computed, then publishes it. Long texts
// become blobs. With job.ErrSuperseded the job is no longer the runner's and
// nothing is published.
func (j *Jobs) FinishJob(ctx context.Context, in Intent, status job.Status, o job.Outcome) (job.State, error) {
	o.FinishedAt = event.Timestamp(in.At)
	for _, text := range []*event.Text{&o.Output, &o.Result} {
		if text.Blob != nil {
			continue
		}
		var err error
		if *text, err = storeText(ctx, j.Blobs, text.Inline); err != nil {
			return job.State{}, err
		}
	}
	s, _, err := j.handle(ctx, in, o.JobID, job.Finish{Status: status, Outcome: o})
	if err != nil {
		return s, err
	}
	return s, j.PublishOutcome(ctx, in.CausedBy(EventID(in.ID, job.Stream(o.JobID), 0)), s)
}

// PublishOutcome appends what a job's terminal event carries — its run and
// receipt, or its certificate — under the id fixed when its slot was spent. It
// may be repeated: the runner and the reaction publish_outcome both call it. Its
// error is a StreamError.
func (j *Jobs) PublishOutcome(ctx context.Context, in Intent, s job.State) error {
	if !s.Terminal() || len(s.Outcome.Publish) == 0 {
		return nil
	}
	events := make([]event.Event, len(s.Outcome.Publish))
	for i, e := range s.Outcome.Publish {
		events[i] = e // appended as it was encoded when the job ended
	}
	in = in.withID(s.Queued.JobID)
	in.Account, in.Source, in.Agent = s.Queued.Account, event.SourceJob, s.Queued.Agent
	_, err := j.Store.Append(ctx, s.Outcome.PublishTo, event.NoStream, in.Propose(s.Outcome.PublishTo, events))
	switch {
	case err == nil, errors.Is(err, ErrConflict): // a conflict: published before, because the stream's id is this job's alone
		return nil
	}
	return &StreamError{Stream: s.Outcome.PublishTo, Attempts: 1, Cause: err}
}

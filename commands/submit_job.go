package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

// SubmitJob is the command to queue one job.
type SubmitJob struct {
	Submission job.Submission // without JobID, RunID, CertificateID and the plan's fields: SubmitJob sets them
	Plan       account.Plan
	Publishes  job.Publication // decides which id is fixed with the submission
	// Prepare refuses an invalid request, before a slot is spent, and completes the
	// submission. It runs only for a job that does not exist yet; it appends nothing.
	Prepare func(ctx context.Context, in Intent, s *job.Submission) error
}

// Submitted is the answer to a submission.
type Submitted struct {
	Job           job.State
	Resubmit      bool // the idempotency key named a job that existed: nothing was spent
	JobsRemaining int  // of the submitting day
	Position      event.Position
}

// TimeoutOverPlanError means that a job requests more time than the plan allows.
type TimeoutOverPlanError struct{ RequestedMS, PlanMS int64 }

func (e *TimeoutOverPlanError) Error() string {
	return fmt.Sprintf("timeout_ms is %d; the plan's jobs may take up to %d", e.RequestedMS, e.PlanMS)
}

// jobNamespace is the UUIDv5 namespace of job ids made from idempotency keys.
var jobNamespace = uuid.MustParse("0d5aa1be-2a5a-4e39-9d1f-6f0a60c5b9d3")

// JobID is the id of a job with an idempotency key: the same key of the same
// account is the same job. Without a key every submission is its own (UUIDv7).
func JobID(accountID, idempotencyKey string) (string, error) {
	if idempotencyKey != "" {
		return uuid.NewSHA1(jobNamespace, []byte(accountID+"\x00"+idempotencyKey)).String(), nil
	}
	id, err := uuid.NewV7()
	return id.String(), err
}

// Day is the UTC day of a time as YYYY-MM-DD, the form in which the names of slots' streams have it.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// SubmitJob queues a job in three appends: it spends a slot, claims the upload if there is
// one, and queues the job (docs/architecture.md#protocols). A refusal has appended nothing,
// unless another job claimed the upload meanwhile: then the slot is refunded. After a crash
// the reaction complete_submission makes the appends that are missing.
func (j *Jobs) SubmitJob(ctx context.Context, in Intent, c SubmitJob) (Submitted, error) {
	id, err := JobID(in.Account, c.Submission.IdempotencyKey)
	if err != nil {
		return Submitted{}, err
	}
	existing, err := j.Read(ctx, id)
	if err != nil {
		return Submitted{}, err
	}
	if existing.Exists() {
		return j.resubmitted(ctx, in, c.Plan, existing)
	}
	s, err := j.complete(ctx, in, c, id)
	if err != nil {
		return Submitted{}, err
	}
	day := Day(in.At)
	stream := slots.Stream(in.Account, day)
	slotID := EventID(in.ID, stream, 0)
	spent := slots.Spent{SlotID: slotID, Day: day, Submission: s}
	after, _, err := Handle(ctx, j.Store, slots.Decider, stream, in, slots.Command(
		slots.Spend{SlotID: spent.SlotID, Day: day, Submission: s, Allowance: c.Plan.JobsPerDay}))
	if err != nil {
		return Submitted{}, err
	}
	if slot, _ := after.HeldBy(id); slot.ID != spent.SlotID {
		// Another submission with the same key spent the slot first: its content is queued.
		if spent, err = j.spentOn(ctx, in.Account, day, slot); err != nil {
			return Submitted{}, err
		}
	}
	queued, at, err := j.FinishSubmission(ctx, in, spent)
	if err != nil {
		return Submitted{}, err
	}
	if queued.Queued.SlotID != slotID { // the job was queued by another submission with the same key; a slot that this one spent is refunded
		return j.resubmitted(ctx, in, c.Plan, queued)
	}
	return Submitted{Job: queued, JobsRemaining: max(0, c.Plan.JobsPerDay-after.SlotsUsed()), Position: at}, nil
}

// spentOn returns the event that spent a slot of a day. Its error is a StreamError.
func (j *Jobs) spentOn(ctx context.Context, accountID, day string, slot slots.Slot) (slots.Spent, error) {
	stream := slots.Stream(accountID, day)
	recorded, err := j.Store.Event(ctx, stream, slot.SpentAt)
	if err != nil {
		return slots.Spent{}, &StreamError{Stream: stream, Cause: err}
	}
	spent, ok := recorded.Event.(slots.Spent)
	if !ok || spent.SlotID != slot.ID {
		return slots.Spent{}, &StreamError{Stream: stream, Cause: fmt.Errorf("event %d does not spend slot %s", slot.SpentAt, slot.ID)}
	}
	return spent, nil
}

// complete returns the submission with the fields that the service sets and those that its kind sets in Prepare.
func (j *Jobs) complete(ctx context.Context, in Intent, c SubmitJob, id string) (job.Submission, error) {
	s := c.Submission
	s.JobID, s.Account, s.Plan, s.Concurrent, s.Source, s.Agent, s.SubmittedAt = id, in.Account, c.Plan.Name, c.Plan.ConcurrentJobs, in.Source, in.Agent, event.Timestamp(in.At)
	switch {
	case s.TimeoutMS > c.Plan.JobBudgetMS:
		return s, &TimeoutOverPlanError{RequestedMS: s.TimeoutMS, PlanMS: c.Plan.JobBudgetMS}
	case s.TimeoutMS == 0:
		s.TimeoutMS = c.Plan.JobBudgetMS
	}
	if err := c.Prepare(ctx, in, &s); err != nil {
		return s, err
	}
	var err error
	switch c.Publishes {
	case job.PublishesRun:
		s.RunID, err = j.Runs.Next(ctx, in)
	case job.PublishesCertificate:
		s.CertificateID = newID().String()
	case job.PublishesNothing:
	}
	if err != nil {
		return s, err
	}
	if s.Payload.Blob == nil {
		s.Payload, err = storeText(ctx, j.Blobs, s.Payload.Inline)
	}
	return s, err
}

// resubmitted answers a submission whose idempotency key names a job that exists.
func (j *Jobs) resubmitted(ctx context.Context, in Intent, plan account.Plan, existing job.State) (Submitted, error) {
	remaining, err := j.Remaining(ctx, in, plan)
	return Submitted{Job: existing, Resubmit: true, JobsRemaining: remaining}, err
}

// Remaining is the number of jobs that the intent's account may still submit on the UTC day of
// the intent. Its error is a StreamError.
func (j *Jobs) Remaining(ctx context.Context, in Intent, plan account.Plan) (int, error) {
	day, err := readState(ctx, j.Store, slots.Decider, slots.Stream(in.Account, Day(in.At)))
	if err != nil {
		return 0, err
	}
	return max(0, plan.JobsPerDay-day.SlotsUsed()), nil
}

// FinishSubmission queues the job of a spent slot, or refunds the slot if its upload is
// used or the job has another slot. It may be repeated: SubmitJob and the reaction
// complete_submission both call it, and append the same bytes under the same event ids, so
// that the second append succeeds like the first. It returns upload.ErrUploadUsed or
// upload.ErrNotFound after a refund, or an error of Handle.
func (j *Jobs) FinishSubmission(ctx context.Context, in Intent, spent slots.Spent) (job.State, event.Position, error) {
	s := spent.Submission
	in = in.CausedBy(spent.SlotID) // a slot has the id of the event that spent it
	state, err := j.Read(ctx, s.JobID)
	if err != nil {
		return job.State{}, event.Position{}, err
	}
	var at event.Position
	if !state.Exists() {
		if err := j.claimUpload(ctx, in, spent); err != nil {
			return job.State{}, event.Position{}, err
		}
		queue := job.Queue{Queued: job.WasQueued{Submission: s, SlotID: spent.SlotID, Day: spent.Day}}
		state, at, err = Create(ctx, j.Store, job.Decider, job.Stream(s.JobID), in.withID(spent.SlotID), job.Command(queue))
		if err != nil {
			return job.State{}, event.Position{}, err
		}
	}
	if state.Queued.SlotID != spent.SlotID {
		if err := j.refund(ctx, in, refund{s.Account, spent.Day, spent.SlotID, s.JobID, slots.Duplicate}); err != nil {
			return job.State{}, event.Position{}, err
		}
	}
	return state, at, j.SettleRefund(ctx, in, state)
}

// claimUpload claims the upload of a submission for its job. If the upload is used or
// unknown it refunds the slot and returns upload.ErrUploadUsed or upload.ErrNotFound.
func (j *Jobs) claimUpload(ctx context.Context, in Intent, spent slots.Spent) error {
	s := spent.Submission
	if s.UploadID == "" {
		return nil
	}
	state, _, err := Handle(ctx, j.Store, upload.Decider, upload.Stream(s.UploadID), in.withNewID(),
		upload.Command(upload.Claim{Account: s.Account, JobID: s.JobID, SlotID: spent.SlotID}))
	if err == nil {
		err = state.CheckAdmitted(spent.SlotID)
	}
	if errors.Is(err, upload.ErrUploadUsed) || errors.Is(err, upload.ErrNotFound) {
		if refundErr := j.refund(ctx, in, refund{s.Account, spent.Day, spent.SlotID, s.JobID, slots.UploadUsed}); refundErr != nil {
			return refundErr
		}
	}
	return err
}

// refund is a slot to refund and why.
type refund struct {
	account, day, slotID, jobID string // day: YYYY-MM-DD, UTC
	reason                      slots.RefundReason
}

// refund refunds a slot; one that was refunded stays as it is. Its error is Handle's.
func (j *Jobs) refund(ctx context.Context, in Intent, r refund) error {
	_, _, err := Handle(ctx, j.Store, slots.Decider, slots.Stream(r.account, r.day), in.withNewID(),
		slots.Command(slots.Refund{SlotID: r.slotID, JobID: r.jobID, Reason: r.reason}))
	return err
}

package commands

import (
	"context"
	"strings"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/upload"
)

// ProofRequest is what a proof job is asked for (interface §4.3).
type ProofRequest struct {
	Export       *string // NDJSON; exactly one of Export, UploadID and Source
	UploadID     *string
	Source       *string // Lean, elaborated before the slot is spent
	Module       *string // with Source
	Declarations []string
	RunID        *int64 // the evaluation the proof is about
	WaitMS       *int64 // how long the answer may take; the caller waits
}

// ProofWork is what a runner is to check: the payload of a proof job, as JSON.
type ProofWork struct {
	Declarations []string      `json:"declarations"`
	Export       upload.Export `json:"export"`
}

// Blob names the bytes to check.
func (w ProofWork) Blob() event.Blob { return ProofExport{Export: w.Export}.Blob() }

func fillProof(r JobRequest, s *job.Submission) {
	if r.Proof.UploadID != nil {
		s.UploadID = *r.Proof.UploadID
	}
	if r.Proof.RunID != nil {
		s.AboutRunID = *r.Proof.RunID
	}
}

// checkProof refuses what can be refused without looking at anything stored.
func checkProof(r JobRequest, plan account.Plan) error {
	q := r.Proof
	given := 0
	for _, one := range []*string{q.Export, q.UploadID, q.Source} {
		if one != nil {
			given++
		}
	}
	switch {
	case !plan.Proofs:
		return ErrProofsNotOnPlan
	case given != 1:
		return ErrProofChoice
	case q.Module != nil && q.Source == nil:
		return &JobFieldError{"module", "goes with source only"}
	case q.RunID != nil && *q.RunID < 1:
		return &JobFieldError{"run_id", "must be at least 1"}
	}
	if q.WaitMS != nil && *q.WaitMS < 0 {
		return &JobFieldError{"wait_ms", "must not be negative"}
	}
	if err := checkDeclarations(q.Declarations); err != nil {
		return err
	}
	_, err := checkInline(q.Export, plan)
	return err
}

// Submit queues a proof job. The export is read, or the source elaborated, before
// a slot is spent; a job that has the idempotency key is answered before that.
func (p *Proofs) Submit(ctx context.Context, in Intent, r JobRequest, plan account.Plan) (Submitted, error) {
	c := r.Command(plan)
	if exists, err := p.exists(ctx, in.Account, r.IdempotencyKey); err != nil || exists {
		if err != nil {
			return Submitted{}, err
		}
		return p.Jobs.SubmitJob(ctx, in, c)
	}
	c.Submission.Account = in.Account
	if err := c.Validate(ctx, c.Submission); err != nil {
		return Submitted{}, err
	}
	work, err := p.work(ctx, in, r.Proof, plan)
	if err != nil {
		return Submitted{}, err
	}
	payload, err := event.Marshal(work)
	if err != nil {
		return Submitted{}, err
	}
	c.Submission.Payload = event.Inline(string(payload))
	c.Validate = p.uploadAvailable
	return p.Jobs.SubmitJob(ctx, in, c)
}

func (p *Proofs) exists(ctx context.Context, accountID, idempotencyKey string) (bool, error) {
	if idempotencyKey == "" {
		return false, nil
	}
	id, err := JobID(accountID, idempotencyKey)
	if err != nil {
		return false, err
	}
	state, err := p.Jobs.Read(ctx, id)
	return state.Exists(), err
}

// work makes sure that what is to be checked is there: the run, and the export in the blob store.
func (p *Proofs) work(ctx context.Context, in Intent, r ProofRequest, plan account.Plan) (ProofWork, error) {
	work := ProofWork{Declarations: r.Declarations}
	if r.RunID != nil {
		if err := p.ownsRun(ctx, in.Account, *r.RunID); err != nil {
			return work, err
		}
	}
	var kept ProofExport
	var err error
	switch {
	case r.UploadID != nil:
		state, err := p.upload(ctx, *r.UploadID)
		if err == nil && (state.Stored == nil || state.Stored.Account != in.Account) {
			err = ErrNoUpload
		}
		if err != nil {
			return work, err
		}
		kept.Export = state.Stored.Export
	case r.Source != nil:
		module := ""
		if r.Module != nil {
			module = *r.Module
		}
		kept, _, err = p.elaborate(ctx, in.Account, ElaborateProof{Source: *r.Source, Module: module, Declarations: r.Declarations, Plan: plan})
	default:
		kept, err = p.keep(ctx, strings.NewReader(*r.Export))
	}
	work.Export = kept.Export
	return work, err
}

func (p *Proofs) ownsRun(ctx context.Context, accountID string, runID int64) error {
	history, err := p.Store.Read(ctx, run.Stream(runID))
	if err != nil {
		return err
	}
	if state := run.Decider.Fold(history.Domain()); !state.Exists() || state.Subject().Account != accountID {
		return run.ErrNotFound
	}
	return nil
}

// uploadAvailable refuses an upload that another job holds; that it holds it
// after all is found out when the upload is claimed.
func (p *Proofs) uploadAvailable(ctx context.Context, s job.Submission) error {
	if s.UploadID == "" {
		return nil
	}
	state, err := p.upload(ctx, s.UploadID)
	if err != nil {
		return err
	}
	return state.Available(s.Account, s.JobID)
}

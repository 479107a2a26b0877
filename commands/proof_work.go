package commands

import (
	"context"
	"strings"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/upload"
)

// ProofRequest says what a proof job is to check (interface §4.3).
type ProofRequest struct {
	Export       *string // NDJSON; exactly one of Export, UploadID and Source
	UploadID     *string
	Source       *string // Lean, elaborated before the slot is spent
	Module       *string // with Source
	Declarations []string
	RunID        *int64 // the evaluation the proof is about
}

// ProofWork is the payload of a proof job: the work of its runner, as JSON.
type ProofWork struct {
	Declarations []string      `json:"declarations"`
	Export       upload.Export `json:"export"`
}

// Blob names the bytes to check.
func (w ProofWork) Blob() event.Blob { return ProofExport{Export: w.Export}.Blob() }

// PrepareWork refuses an invalid request and stores the export of a valid one, before a
// slot is spent: an export is read whole, a source is elaborated. jobID is the job that
// will claim the upload, if the request names one.
func (p *Proofs) PrepareWork(ctx context.Context, in Intent, r ProofRequest, plan account.Plan, jobID string) (ProofWork, error) {
	if err := r.check(plan); err != nil {
		return ProofWork{}, err
	}
	if r.RunID != nil {
		if err := p.checkRunOwner(ctx, in.Account, *r.RunID); err != nil {
			return ProofWork{}, err
		}
	}
	kept, err := p.exportOf(ctx, in, r, plan, jobID)
	return ProofWork{Declarations: r.Declarations, Export: kept}, err
}

// check refuses a request that is invalid whatever the log and the blobs hold.
func (r ProofRequest) check(plan account.Plan) error {
	given := 0
	for _, one := range []*string{r.Export, r.UploadID, r.Source} {
		if one != nil {
			given++
		}
	}
	switch {
	case !plan.Proofs:
		return ErrProofsNotOnPlan
	case given != 1:
		return ErrProofChoice
	case r.Module != nil && r.Source == nil:
		return &JobFieldError{"module", "goes with source only"}
	case r.RunID != nil && *r.RunID < 1:
		return &JobFieldError{"run_id", "must be at least 1"}
	}
	if err := checkDeclarations(r.Declarations); err != nil {
		return err
	}
	_, err := checkInline(r.Export, plan)
	return err
}

// exportOf returns the export of a request, which is in the blob store when it returns. An
// upload that another job holds is refused; a job that claims it after this is found when
// the upload is claimed.
func (p *Proofs) exportOf(ctx context.Context, in Intent, r ProofRequest, plan account.Plan, jobID string) (upload.Export, error) {
	switch {
	case r.UploadID != nil:
		state, err := p.upload(ctx, *r.UploadID)
		if err == nil {
			err = state.CheckAvailable(in.Account, jobID)
		}
		if err != nil {
			return upload.Export{}, err
		}
		return state.Stored.Export, nil
	case r.Source != nil:
		source := ElaborateProof{Source: *r.Source, Declarations: r.Declarations, Plan: plan}
		if r.Module != nil {
			source.Module = *r.Module
		}
		kept, _, err := p.elaborate(ctx, in.Account, source)
		return kept.Export, err
	}
	kept, err := p.storeExport(ctx, strings.NewReader(*r.Export))
	return kept.Export, err
}

// checkRunOwner returns run.ErrNotFound unless the account has a run of this id, or a StreamError.
func (p *Proofs) checkRunOwner(ctx context.Context, accountID string, runID int64) error {
	state, err := readState(ctx, p.Store, run.Decider, run.Stream(runID))
	if err != nil {
		return err
	}
	if !state.Exists() || state.Subject().Account != accountID {
		return run.ErrNotFound
	}
	return nil
}

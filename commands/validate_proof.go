package commands

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/certificate"
	"reckon/domain/lean/check"
	"reckon/domain/lean/export"
	"reckon/domain/upload"
)

// ValidateProof asks what would become of a proof job. It has either Export or UploadID.
type ValidateProof struct {
	Export       *string
	UploadID     *string
	Declarations []string
	Plan         account.Plan
}

// Forecast is the expected outcome of submitting a proof job (interface §4.4).
type Forecast string

// Forecasts of a proof job.
const (
	WouldBeChecked     Forecast = "checked"     // the kernel would judge the proof
	WouldBeRefused     Forecast = "refused"     // the submission would be refused and spend no slot
	WouldBeUnsupported Forecast = "unsupported" // the job would spend a slot and end with the verdict unsupported
	WouldBeUndecided   Forecast = "undecided"   // the inspection did not finish
)

// Classes of refusals that the checker does not have: they are found before the export is read.
const (
	classPlan         = "proofs_not_on_plan"
	classBudget       = "export_over_budget"
	classInline       = "export_too_large"
	classDeclarations = "invalid_declarations"
	classUploadUsed   = "upload_used"
)

// ProofReport is the answer to ValidateProof.
type ProofReport struct {
	WouldBe Forecast
	Inline  bool        // the export came in the request, not as an upload
	Export  ProofExport // zero but for Bytes if the export could not be read
	certificate.Findings
	JobsRemaining int
	Elapsed       time.Duration
}

const (
	// inspectTimeout bounds a validation.
	inspectTimeout = 20 * time.Second
	exportFile     = "export.ndjson" // name of the file in refusals
)

// ValidateProof inspects an export without the kernel, within inspectTimeout. It appends
// nothing and does not claim an upload. It returns ErrExportChoice, upload.ErrNotFound,
// ErrSaturated, or an error of the log, the blobs or the judge; a refusal is an answer.
func (p *Proofs) ValidateProof(ctx context.Context, in Intent, c ValidateProof) (ProofReport, error) {
	begun := p.Clock.Now()
	if (c.Export == nil) == (c.UploadID == nil) {
		return ProofReport{}, ErrExportChoice
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	report, err := p.validate(ctx, in, c)
	if err != nil {
		return ProofReport{}, err
	}
	if report.Inline = c.Export != nil; report.Inline && report.Export.SHA256 == "" {
		report.Export.Bytes = int64(len(*c.Export))
	}
	if report.JobsRemaining, err = p.Jobs.Remaining(ctx, in, c.Plan); err != nil {
		return ProofReport{}, err
	}
	report.Elapsed = p.Clock.Now().Sub(begun)
	return report, nil
}

func (p *Proofs) validate(ctx context.Context, in Intent, c ValidateProof) (ProofReport, error) {
	var stored *upload.Stored
	if c.UploadID != nil {
		state, err := p.upload(ctx, *c.UploadID)
		switch {
		case err != nil:
			return ProofReport{}, err
		case errors.Is(state.CheckAvailable(in.Account, ""), upload.ErrNotFound):
			return ProofReport{}, upload.ErrNotFound
		case state.Job != "":
			return refusedReport(classUploadUsed, upload.ErrUploadUsed.Error(), 0), nil
		}
		stored = state.Stored
	}
	if class, err := refusedBeforehand(c); err != nil {
		return refusedReport(class, err.Error(), 0), nil
	}
	leave, err := p.acquireMemorySlot(ctx)
	if err != nil {
		return ProofReport{}, err
	}
	defer leave()
	content, read, err := p.content(ctx, c.Export, stored)
	var bad *export.Error
	switch {
	case errors.As(err, &bad) && bad.Class == export.Stopped:
		return ProofReport{WouldBe: WouldBeUndecided, Findings: certificate.Findings{Refusal: &certificate.Refusal{Class: resourceLimit, Message: bad.Message, File: exportFile, Line: bad.Line}}}, nil
	case errors.As(err, &bad):
		return refusedReport(string(bad.Class), bad.Message, bad.Line), nil
	case err != nil:
		return ProofReport{}, err
	}
	report, err := p.inspect(ctx, content, c.Declarations)
	report.Export = read
	return report, err
}

// refusedBeforehand returns why a submission would be refused whatever its export holds; nil if it would not.
func refusedBeforehand(c ValidateProof) (class string, err error) {
	if !c.Plan.Proofs {
		return classPlan, ErrProofsNotOnPlan
	}
	if err := checkDeclarations(c.Declarations); err != nil {
		return classDeclarations, err
	}
	return checkInline(c.Export, c.Plan)
}

// checkInline returns why an export that is part of a JSON body is too long; nil if it is not, or if there is none.
func checkInline(content *string, plan account.Plan) (class string, err error) {
	switch {
	case content == nil:
		return "", nil
	case len(*content) > MaxInlineExportBytes:
		return classInline, ErrInlineExportTooLarge
	case int64(len(*content)) > plan.ProofExportBytes:
		return classBudget, &ExportOverBudgetError{Bytes: int64(len(*content)), PlanBytes: plan.ProofExportBytes}
	}
	return "", nil
}

func refusedReport(class, message string, line int) ProofReport {
	return ProofReport{WouldBe: WouldBeRefused, Findings: certificate.Findings{
		Reason: message, Refusal: &certificate.Refusal{Class: class, Message: message, File: exportFile, Line: line},
	}}
}

// upload folds an upload's stream. It returns upload.ErrNotFound for an id that is no UUID, or a StreamError.
func (p *Proofs) upload(ctx context.Context, id string) (upload.State, error) {
	if !canonicalUUID(id) {
		return upload.State{}, upload.ErrNotFound
	}
	return readState(ctx, p.Store, upload.Decider, upload.Stream(id))
}

// content reads and normalises the export of a request.
func (p *Proofs) content(ctx context.Context, inline *string, stored *upload.Stored) ([]byte, ProofExport, error) {
	if stored == nil {
		return readExport(ctx, strings.NewReader(*inline))
	}
	raw, err := p.Blobs.Get(ctx, stored.Blob)
	if err != nil {
		return nil, ProofExport{}, err
	}
	return readExport(ctx, bytes.NewReader(raw))
}

// inspect has the judge inspect an export, and forecasts from its report.
func (p *Proofs) inspect(ctx context.Context, content []byte, declarations []string) (ProofReport, error) {
	found, err := p.Judge.Inspect(ctx, content, declarations)
	if err != nil {
		return ProofReport{}, err
	}
	report := ProofReport{WouldBe: WouldBeChecked, Findings: FindingsOf(found)}
	switch found.Verdict {
	case check.Unsupported, check.Rejected:
		report.WouldBe = WouldBeUnsupported
	case check.Inconclusive:
		report.WouldBe = WouldBeUndecided
		if found.Refusal != nil {
			report.Refusal = refusalOf(found.Refusal)
		}
	}
	return report, nil
}

// ReachesSorry tells whether a declaration rests on sorry, Lean's placeholder for a missing proof.
func ReachesSorry(d certificate.Declaration) bool { return slices.Contains(d.Axioms, "sorryAx") }

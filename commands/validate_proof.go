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

// ValidateProof is the question what a proof job would come to.
type ValidateProof struct {
	Export       *string
	UploadID     *string
	Declarations []string
	Plan         account.Plan
}

// What a submission would come to (interface §4.4).
const (
	WouldBeChecked     = "checked"
	WouldBeRefused     = "refused"     // and spend nothing
	WouldBeUnsupported = "unsupported" // accepted, and a slot spent on it
	Undecided          = "undecided"   // the inspection did not finish
)

// Classes of refusal of a submission that no checker has.
const (
	classPlan         = "proofs_not_on_plan"
	classBudget       = "export_over_budget"
	classInline       = "export_too_large"
	classDeclarations = "invalid_declarations"
	classUploadUsed   = "upload_used"
)

// ProofReport is the answer.
type ProofReport struct {
	WouldBe string
	Inline  bool
	Export  ProofExport // zero: it could not be read
	certificate.Findings
	JobsRemaining int
	Elapsed       time.Duration
}

// ErrNoUpload means that the account has no such upload.
var ErrNoUpload = upload.ErrNone

const (
	// inspectTimeout bounds a validation.
	inspectTimeout = 20 * time.Second
	exportFile     = "export.ndjson" // what refusals call the file
)

// ValidateProof inspects without the kernel. It appends nothing, and an upload
// stays as it is.
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
		case errors.Is(state.Available(in.Account, ""), upload.ErrNone):
			return ProofReport{}, ErrNoUpload
		case state.Job != "":
			return refusedReport(classUploadUsed, upload.ErrUsed.Error(), 0), nil
		}
		stored = state.Stored
	}
	if class, err := refusedBeforehand(c); err != nil {
		return refusedReport(class, err.Error(), 0), nil
	}
	leave, err := p.enter(ctx)
	if err != nil {
		return ProofReport{}, err
	}
	defer leave()
	content, read, err := p.content(ctx, c.Export, stored)
	var bad *export.Error
	switch {
	case errors.As(err, &bad) && bad.Class == export.Stopped:
		return ProofReport{WouldBe: Undecided, Findings: certificate.Findings{Refusal: &certificate.Refusal{Class: resourceLimit, Message: bad.Message, File: exportFile, Line: bad.Line}}}, nil
	case errors.As(err, &bad):
		return refusedReport(string(bad.Class), bad.Message, bad.Line), nil
	case err != nil:
		return ProofReport{}, err
	}
	report, err := p.inspect(ctx, content, c.Declarations)
	report.Export = read
	return report, err
}

// refusedBeforehand is why a submission would be refused whatever the export says.
func refusedBeforehand(c ValidateProof) (class string, err error) {
	if !c.Plan.Proofs {
		return classPlan, ErrProofsNotOnPlan
	}
	if err := checkDeclarations(c.Declarations); err != nil {
		return classDeclarations, err
	}
	return checkInline(c.Export, c.Plan)
}

// checkInline bounds an export that is part of a JSON body.
func checkInline(content *string, plan account.Plan) (class string, err error) {
	switch {
	case content == nil:
		return "", nil
	case len(*content) > MaxInlineExportBytes:
		return classInline, ErrInlineExport
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

// upload folds an upload's stream; ids that are no stream's are nobody's upload.
func (p *Proofs) upload(ctx context.Context, id string) (upload.State, error) {
	if !canonicalUUID(id) {
		return upload.State{}, ErrNoUpload
	}
	history, err := p.Store.Read(ctx, upload.Stream(id))
	if err != nil {
		return upload.State{}, err
	}
	return upload.Decider.Fold(history.Domain()), nil
}

// content is the export a request is about, normalised.
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

// inspect turns the judge's words into what a submission would come to.
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
		report.WouldBe = Undecided
		if found.Refusal != nil {
			report.Refusal = refusalOf(found.Refusal)
		}
	}
	return report, nil
}

// ReachesSorry tells whether a declaration leaves a proof out.
func ReachesSorry(d certificate.Declaration) bool { return slices.Contains(d.Axioms, "sorryAx") }

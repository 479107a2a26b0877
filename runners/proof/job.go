package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"reckon/commands"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/lean/check"
	"reckon/runners"
)

// Jobs runs proof jobs: each ends with the certificate that was promised when it
// was submitted, whatever the verdict.
type Jobs struct {
	Proofs    *commands.Proofs // takes what is submitted
	Judge     *Judge
	Program   *Program                 // the operator's kernel; nil: there is none
	Judged    func(certificate.Issued) // is shown every certificate with its findings; nil: nobody asks
	Blobs     commands.Blobs
	Catalogue event.Catalogue
	Clock     commands.Clock
	Rev       string // of this binary
}

// Run is runners.Kind.
func (j Jobs) Run(ctx context.Context, _ commands.Intent, w runners.Work) (runners.End, error) {
	var work commands.ProofWork
	if err := json.Unmarshal([]byte(w.Content), &work); err != nil {
		return runners.End{}, fmt.Errorf("proof job %s: %w", w.JobID, err)
	}
	content, err := j.Blobs.Get(ctx, work.Blob())
	if err != nil {
		return runners.End{}, err
	}
	report, err := j.Judge.Check(ctx, content, work.Declarations, w.Budget)
	if err == nil && j.Program != nil {
		err = j.Program.AddAnswer(ctx, &report, bytes.NewReader(content), fileName, w.Budget)
	}
	if err != nil {
		return runners.End{}, err
	}
	return j.end(commands.AfterWork(ctx), w.Submission, work, report)
}

// end makes the certificate and what the job says of it.
func (j Jobs) end(ctx context.Context, s job.Submission, work commands.ProofWork, report check.Report) (runners.End, error) {
	issued := certificate.Issued{
		CertificateID: s.CertificateID, JobID: s.JobID, Account: s.Account, AboutRunID: s.AboutRunID, Verdict: certificate.Verdict(report.Verdict),
		Findings: commands.FindingsOf(report), Export: work.Export, Checker: certificate.Checker{Name: "reckon", Rev: j.Rev, FormatWindow: certificate.FormatWindow},
		DeclarationsChecked: report.DeclarationsChecked, ElapsedMS: report.ElapsedMS, CreatedAt: event.Timestamp(j.Clock.Now()),
	}.WithJudged()
	if j.Judged != nil {
		j.Judged(issued)
	}
	issued, err := j.shorten(ctx, issued)
	if err != nil {
		return runners.End{}, err
	}
	published, err := j.Catalogue.Embed(issued)
	return runners.End{Status: job.Succeeded, Outcome: job.Outcome{Publish: published, PublishTo: certificate.Stream(s.CertificateID)}}, err
}

// shorten moves long findings to the blob store: one append is bounded.
func (j Jobs) shorten(ctx context.Context, issued certificate.Issued) (certificate.Issued, error) {
	findings, err := event.Marshal(issued.Findings)
	if err != nil || len(findings) <= event.MaxInlineBytes {
		return issued, err
	}
	blob, err := commands.StoreBlob(ctx, j.Blobs, findings)
	if err != nil {
		return issued, err
	}
	issued.Findings, issued.FindingsBlob = certificate.Findings{}, &blob
	return issued, nil
}

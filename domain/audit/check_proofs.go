package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"reckon/domain/certificate"
	"reckon/domain/job"
	"reckon/domain/upload"
)

// proofCheck proves the way from an upload over its job to the certificate.
type proofCheck struct {
	p    *pass
	jobs *legalCheck
	work map[string]proofWork // of jobs that are to issue a certificate, until they have
}

// proofWork is the payload of a proof job, as docs/jobs.md has it.
type proofWork struct {
	Declarations []string      `json:"declarations"`
	Export       upload.Export `json:"export"`
	known        bool
}

func newProofCheck(p *pass, jobs *legalCheck) *proofCheck {
	return &proofCheck{p: p, jobs: jobs, work: map[string]proofWork{}}
}

func (c *proofCheck) take(it *Item) {
	switch e := it.Event.(type) {
	case upload.Stored:
		if e.Blob.SHA256 != e.Export.SHA256 || e.Blob.Bytes != e.Export.Bytes {
			c.p.found(checkProofs, KindProof, it.Recorded, fmt.Sprintf("a blob that is the export: %s, %d bytes", e.Export.SHA256, e.Export.Bytes), fmt.Sprintf("%s, %d bytes", e.Blob.SHA256, e.Blob.Bytes))
		}
	case job.WasQueued:
		c.queued(it, e)
	case certificate.Issued:
		c.issued(it, e)
	}
}

// queued: a job with an upload holds it when it is queued, and checks what was uploaded.
func (c *proofCheck) queued(it *Item, e job.WasQueued) {
	wrong := func(expected, found string) { c.p.found(checkProofs, KindProof, it.Recorded, expected, found) }
	var held *upload.State
	if e.UploadID != "" {
		if held = c.jobs.upload(e.UploadID); held == nil || held.Account() != e.Account {
			wrong("an upload of the account", "upload "+shown(e.UploadID))
		} else if held.Job != e.JobID {
			wrong("an upload that the job has claimed", fmt.Sprintf("upload %s, which %q holds", e.UploadID, held.Job))
		}
	}
	if e.CertificateID == "" {
		return
	}
	work := proofWork{}
	if it.texts.missing == "" {
		if err := json.Unmarshal([]byte(it.texts.payload), &work); err != nil {
			wrong("a payload with declarations and an export", err.Error())
		} else {
			work.known = true
		}
	}
	if work.known && held != nil && held.Stored != nil && !reflect.DeepEqual(work.Export, held.Stored.Export) {
		wrong("the export of upload "+e.UploadID+", "+held.Stored.Export.SHA256, "export "+work.Export.SHA256)
	}
	c.work[e.JobID] = work
}

func (c *proofCheck) issued(it *Item, e certificate.Issued) {
	wrong := func(expected, found string) {
		c.p.found(checkProofs, KindCertificate, it.Recorded, expected, found)
	}
	state := c.jobs.job(e.JobID)
	if state == nil {
		wrong("a certificate of a job", "job "+shown(e.JobID))
		return
	}
	s := state.Queued
	for _, field := range []struct{ name, want, found string }{
		{"certificate_id", s.CertificateID, e.CertificateID}, {"account", s.Account, e.Account}, {"about_run_id", fmt.Sprint(s.AboutRunID), fmt.Sprint(e.AboutRunID)},
	} {
		if field.want != field.found {
			wrong(field.name+" of the submission, "+field.want, field.found)
		}
	}
	work := c.work[e.JobID]
	delete(c.work, e.JobID)
	if work.known && !reflect.DeepEqual(work.Export, e.Export) {
		wrong("the export of the submission, "+work.Export.SHA256, e.Export.SHA256)
	}
	if it.texts.missing == "" {
		c.findings(it, e, work)
		if c.p.config.Certified != nil && work.known {
			e.FindingsBlob, e.Findings = nil, it.texts.findings
			c.p.config.Certified(Certified{Issued: e, Declarations: work.Declarations, Place: at(it.Recorded)})
		}
	}
}

// Certified is a certificate with what its job was to check.
type Certified struct {
	Issued       certificate.Issued // with its findings
	Declarations []string
	Place        Finding // of certificate.issued
}

// findings checks what the certificate says against itself: digests, and the verdict against what it rests on.
func (c *proofCheck) findings(it *Item, e certificate.Issued, work proofWork) {
	f := it.texts.findings
	wrong := func(expected, found string) {
		c.p.found(checkProofs, KindCertificate, it.Recorded, expected, found)
	}
	axioms := map[string]bool{}
	for _, name := range f.AxiomsUsed {
		axioms[name] = true
	}
	for _, d := range f.Declarations {
		if (d.Statement == nil) != (d.StatementSHA256 == nil) {
			wrong("a digest of each statement", "statement and digest of "+shown(d.Name)+" not both")
		} else if d.Statement != nil && sha256Hex(*d.Statement) != *d.StatementSHA256 {
			wrong("the SHA-256 of the statement of "+shown(d.Name)+", "+sha256Hex(*d.Statement), *d.StatementSHA256)
		}
		for _, name := range d.Axioms {
			if !axioms[name] {
				wrong("every axiom of a declaration in axioms_used", shown(name)+" only in "+shown(d.Name))
			}
		}
		if work.known && !slices.Contains(work.Declarations, d.Name) {
			wrong("declarations that were asked for", shown(d.Name))
		}
	}
	if own := f.Own; own != nil {
		text := ""
		for _, d := range own.Definitions {
			text += d.Text + "\n"
		}
		if own.Omitted == 0 && (sha256Hex(text) != own.SHA256 || own.Count != len(own.Definitions)) || own.Count != len(own.Definitions)+own.Omitted {
			wrong("own definitions with their count and digest, "+sha256Hex(text), fmt.Sprintf("%d of %d, %s", len(own.Definitions), own.Count, own.SHA256))
		}
	}
	if f.Judged != nil && !reflect.DeepEqual(f.Judged, e.WithJudged().Judged) {
		wrong("findings of what the certificate says that judged it", fmt.Sprintf("%s %s of export %s", shown(f.Judged.Checker.Name), shown(f.Judged.Checker.Rev), shown(f.Judged.Export.SHA256)))
	}
	verified := e.Verdict == certificate.Verified
	if problem := kernelsProblem(e.Verdict, f); problem != "" {
		wrong("kernels that bear out the verdict "+string(e.Verdict), problem)
	}
	if verified && (f.Refusal != nil || f.Reason != "" || len(f.Declarations) == 0) || !verified && f.Reason == "" {
		wrong("a reason exactly where the verdict is not verified, and a refusal nowhere else", fmt.Sprintf("verdict %s, reason %s", e.Verdict, shown(f.Reason)))
	}
	if verified && f.Conformance != nil && len(f.Conformance.Differing) > 0 {
		wrong("no constant that differs from Lean's own in a verified proof", fmt.Sprint(len(f.Conformance.Differing)))
	}
}

// kernelsProblem says what is wrong with the list of kernels under a verdict. Certificates of older versions have none.
func kernelsProblem(verdict certificate.Verdict, f certificate.Findings) string {
	if len(f.Kernels) == 0 {
		return ""
	}
	first := f.Kernels[0]
	if first.Name != certificate.FirstKernel {
		return "the first kernel is " + shown(first.Name)
	}
	names := map[string]bool{}
	for _, k := range f.Kernels {
		switch {
		case names[k.Name]:
			return shown(k.Name) + " twice"
		case !slices.Contains([]certificate.Answer{certificate.Accepted, certificate.Refused, certificate.OutOfBudget, certificate.Undecided}, k.Answer):
			return shown(k.Name) + " answers " + shown(string(k.Answer))
		case (k.Reason == nil) != (k.Answer == certificate.Accepted):
			return shown(k.Name) + " answers " + string(k.Answer) + ", and its reason does not go with that"
		case verdict == certificate.Verified && (k.Answer == certificate.Refused || k.Answer == certificate.Undecided && (k.Name == certificate.FirstKernel || k.Name == certificate.SecondKernel)):
			return shown(k.Name) + " answers " + string(k.Answer)
		}
		names[k.Name] = true
	}
	switch {
	case len(f.Kernels) > 1 && first.Answer != certificate.Accepted:
		return "others were asked, though the first answers " + string(first.Answer)
	case verdict == certificate.Verified && (first.Answer != certificate.Accepted || !names[certificate.SecondKernel]):
		return fmt.Sprintf("the first answers %s, and the second was asked: %v", first.Answer, names[certificate.SecondKernel])
	case verdict == certificate.Rejected && first.Answer != certificate.Refused:
		return "the first answers " + string(first.Answer)
	case f.Disagree() != nil && verdict != certificate.Inconclusive:
		return "the kernels disagree"
	}
	return ""
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (c *proofCheck) end() {}

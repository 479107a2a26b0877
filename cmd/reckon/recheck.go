package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"reckon/commands"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/lean/check"
	"reckon/eventstore"
	"reckon/internal/blobs"
	"reckon/runners/proof"
)

// leanRecheckCmd has the kernel judge a certificate's export once more.
type leanRecheckCmd struct {
	installation
	Certificate string        `arg:"" help:"certificate_id."`
	Timeout     time.Duration `help:"Give up after this long." default:"1h" placeholder:"D"`
	MemoryMiB   int64         `help:"Most memory to use." name:"memory-mib" default:"4096" placeholder:"N"`
	JSON        bool          `help:"Print JSON." name:"json"`
}

// recheckReport is the result of a second check.
type recheckReport struct {
	CertificateID string               `json:"certificate_id"`
	Agrees        bool                 `json:"agrees"`
	Certified     certificate.Verdict  `json:"certified"` // verdict of the certificate
	Found         certificate.Verdict  `json:"found"`     // verdict now
	Differing     []string             `json:"differing"` // fields that are not what the certificate says
	CertifiedRev  string               `json:"certified_rev"`
	Rev           string               `json:"rev"`     // of this binary
	Kernels       []certificate.Kernel `json:"kernels"` // what each says now
	ElapsedMS     int64                `json:"elapsed_ms"`
}

// disagreement is the kernel that refuses now what the first accepts; nil where there is none.
func (r recheckReport) disagreement() *certificate.Kernel {
	return certificate.Findings{Kernels: r.Kernels}.Disagree()
}

// Run compares. It exits 1 when something differs or the kernels disagree, and 2 when the second check did not finish.
func (c *leanRecheckCmd) Run() error {
	ctx := context.Background()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	store, closeStore, err := where.openLog(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	kept, err := where.openBlobs(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	report, err := c.recheck(ctx, store, kept)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(report)
	} else {
		err = printRecheck(report)
	}
	switch {
	case err != nil:
		return err
	case report.disagreement() != nil:
		return exitStatus(1)
	case report.Found == certificate.Inconclusive:
		return exitStatus(2)
	case !report.Agrees:
		return exitStatus(1)
	}
	return nil
}

func (c *leanRecheckCmd) recheck(ctx context.Context, store *eventstore.Store, kept blobs.Store) (recheckReport, error) {
	issued, work, err := readCertificate(ctx, store, kept, c.Certificate)
	if err != nil {
		return recheckReport{}, err
	}
	judge, err := newRecheckJudge(c.MemoryMiB)
	if err != nil {
		return recheckReport{}, err
	}
	defer judge.Close()
	return recheckIssued(ctx, judge, kept, issued, work.Declarations, c.Timeout)
}

// newRecheckJudge has children of this binary judge.
func newRecheckJudge(memoryMiB int64) (*proof.Judge, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return proof.NewJudge(proof.JudgeConfig{Command: []string{filepath.Clean(self), "lean", "child"}, MemoryBytes: memoryMiB << 20}), nil
}

// exportJudge has the kernel judge an export within a budget (proof.Judge).
type exportJudge interface {
	Check(ctx context.Context, content []byte, declarations []string, budget time.Duration) (check.Report, error)
}

// recheckIssued judges the export of a certificate, with its findings, once more.
func recheckIssued(ctx context.Context, judge exportJudge, kept event.BlobReader, issued certificate.Issued, declarations []string, timeout time.Duration) (recheckReport, error) {
	content, err := kept.Get(ctx, event.Blob{SHA256: issued.Export.SHA256, Bytes: issued.Export.Bytes})
	if err != nil {
		return recheckReport{}, fmt.Errorf("the certificate's export: %w", err)
	}
	found, err := judge.Check(ctx, content, declarations, timeout)
	if err != nil {
		return recheckReport{}, err
	}
	now := commands.FindingsOf(found)
	report := recheckReport{
		Kernels: now.Kernels, CertificateID: issued.CertificateID, Certified: issued.Verdict, Found: certificate.Verdict(found.Verdict), Differing: []string{},
		CertifiedRev: issued.Checker.Rev, Rev: buildRevision(), ElapsedMS: found.ElapsedMS,
	}
	if issued.Verdict != certificate.Inconclusive { // which was no verdict, so there is none to differ from
		report.Differing = differingFields(issued, report.Found, found.DeclarationsChecked, now)
	}
	report.Agrees = len(report.Differing) == 0
	return report, nil
}

// readCertificate reads what a certificate says and what its job was to check.
func readCertificate(ctx context.Context, store *eventstore.Store, kept blobs.Store, id string) (certificate.Issued, commands.ProofWork, error) {
	var work commands.ProofWork
	history, err := store.Read(ctx, certificate.Stream(id))
	if err != nil {
		return certificate.Issued{}, work, err
	}
	issued, found := certificate.FromHistory(history.Domain())
	if !found {
		return issued, work, errors.New("there is no certificate " + id)
	}
	if issued, err = issued.LoadFindings(ctx, kept); err != nil {
		return issued, work, err
	}
	jobs := &commands.Jobs{Store: store, Blobs: kept}
	state, err := jobs.Read(ctx, issued.JobID)
	if err != nil {
		return issued, work, err
	}
	payload, err := jobs.LoadPayload(ctx, state.Queued.Submission)
	if err != nil {
		return issued, work, err
	}
	if err := json.Unmarshal([]byte(payload), &work); err != nil {
		return issued, work, fmt.Errorf("job %s: %w", issued.JobID, err)
	}
	if work.Export.SHA256 != issued.Export.SHA256 {
		return issued, work, fmt.Errorf("the certificate is about export %s and its job about %s", issued.Export.SHA256, work.Export.SHA256)
	}
	return issued, work, nil
}

// differingFields names the fields in which a second check found something else.
func differingFields(issued certificate.Issued, verdict certificate.Verdict, checked int, found certificate.Findings) []string {
	text, err := event.Marshal(found)
	var now certificate.Findings // as it would read had it been stored: empty and absent lists are the same there
	if err == nil {
		err = json.Unmarshal(text, &now)
	}
	if err != nil {
		return []string{"findings"}
	}
	fields, stored := []string{}, issued.Findings
	for _, f := range []struct {
		name    string
		was, is any
	}{
		{"verdict", issued.Verdict, verdict}, {"declarations_checked", issued.DeclarationsChecked, checked}, {"reason", stored.Reason, now.Reason},
		{"declarations", stored.Declarations, now.Declarations}, {"axioms_used", stored.AxiomsUsed, now.AxiomsUsed},
		{"refusal", stored.Refusal, now.Refusal}, {"conformance", stored.Conformance, now.Conformance},
		{"own_definitions", stored.Own, ownIfStored(stored, now)}, {"kernels", contradicted(stored.Kernels, now.Kernels), []string(nil)},
	} {
		if !reflect.DeepEqual(f.was, f.is) {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// ownIfStored is what was found of own definitions, where the certificate is of a version that records them. The digest
// covers the texts of all; how many of them are shown may be another revision's choice.
func ownIfStored(stored, now certificate.Findings) *certificate.Own {
	if stored.Own == nil {
		return nil
	}
	if now.Own != nil && stored.Own.Count == now.Own.Count && stored.Own.SHA256 == now.Own.SHA256 {
		return stored.Own
	}
	return now.Own
}

// contradicted names the kernels that say something else now. One that ran out of its budget or was not asked, then or now, contradicts nothing.
func contradicted(stored, now []certificate.Kernel) (names []string) {
	decides := func(k certificate.Kernel) bool {
		return k.Answer == certificate.Accepted || k.Answer == certificate.Refused
	}
	for _, was := range stored {
		for _, is := range now {
			if was.Name == is.Name && decides(was) && decides(is) && was.Answer != is.Answer {
				names = append(names, was.Name)
			}
		}
	}
	return names
}

func printRecheck(r recheckReport) error {
	for _, k := range r.Kernels {
		if _, err := fmt.Printf("kernel %s: %s\n", k.Name, answerText(string(k.Answer), k.Reason)); err != nil {
			return err
		}
	}
	if r.Agrees {
		_, err := fmt.Printf("agrees: %s, as certified by %s; checked by %s in %d ms\n", r.Found, r.CertifiedRev, r.Rev, r.ElapsedMS)
		return err
	}
	_, err := fmt.Printf("DIFFERS in %v: certified %s by %s, found %s by %s in %d ms\n", r.Differing, r.Certified, r.CertifiedRev, r.Found, r.Rev, r.ElapsedMS)
	return err
}

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/audit"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/lean/check"
	"reckon/domain/upload"
	"reckon/internal/config"
	"reckon/projections/auditor"
)

// oneBlob is a store of one blob.
type oneBlob []byte

func (b oneBlob) Get(context.Context, event.Blob) ([]byte, error) { return b, nil }

// inProcess is the kernel without a child around it.
type inProcess struct{ t *testing.T }

func (k inProcess) Check(ctx context.Context, content []byte, declarations []string, budget time.Duration) (check.Report, error) {
	path := filepath.Join(k.t.TempDir(), "export.ndjson")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return check.Report{}, err
	}
	command := leanCheckCmd{File: path, Declarations: declarations, Timeout: budget, MemoryMiB: 1024, MaxBytes: 1 << 20, Quiet: true}
	report, err := command.check(ctx)
	if err != nil {
		return check.Report{}, err
	}
	return *report, nil
}

// TestRecheckFindings: given a certificate, when the kernel judges its export again, then one that says the same is no finding, one that says
// otherwise contradicts, and one that does not finish reproduces nothing.
func TestRecheckFindings(t *testing.T) {
	t.Parallel()
	judge := inProcess{t}
	report, err := judge.Check(t.Context(), []byte(leanExport), []string{"p"}, time.Minute)
	if err != nil || report.Verdict != "verified" {
		t.Fatalf("%+v, %v", report, err)
	}
	stored, err := event.Marshal(commands.FindingsOf(report))
	if err != nil {
		t.Fatal(err)
	}
	var found certificate.Findings
	if err := json.Unmarshal(stored, &found); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(leanExport))
	one := audit.Certified{Declarations: []string{"p"}, Place: audit.Finding{Stream: "certificate-x", Position: 7}, Issued: certificate.Issued{
		Verdict: certificate.Verified, Findings: found, DeclarationsChecked: report.DeclarationsChecked,
		Export: upload.Export{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(leanExport))},
	}}
	find := func(kept event.BlobReader, change func(*audit.Certified), timeout time.Duration) []audit.Finding {
		t.Helper()
		changed := one
		change(&changed)
		findings, err := recheckFindings(t.Context(), judge, kept, changed, timeout)
		if err != nil {
			t.Fatal(err)
		}
		return findings
	}
	export := oneBlob(leanExport)
	if findings := find(export, func(*audit.Certified) {}, time.Minute); len(findings) > 0 {
		t.Errorf("the same: %v", findings)
	}
	for name, change := range map[string]func(*audit.Certified){
		"another verdict": func(c *audit.Certified) { c.Issued.Verdict = certificate.Rejected },
		"another size":    func(c *audit.Certified) { c.Issued.DeclarationsChecked++ },
		"another axiom":   func(c *audit.Certified) { c.Issued.AxiomsUsed = []string{"propext"} },
	} {
		findings := find(export, change, time.Minute)
		if len(findings) != 1 || findings[0].Kind != audit.KindContradicted || findings[0].Position != 7 || findings[0].Stream != "certificate-x" {
			t.Errorf("%s: %v", name, findings)
		}
	}
	for name, change := range map[string]func(*audit.Certified){
		"a certificate of before there were two kernels": func(c *audit.Certified) { c.Issued.Kernels = nil },
		"a budget that ran out then": func(c *audit.Certified) {
			c.Issued.Kernels = []certificate.Kernel{c.Issued.Kernels[0], {Name: certificate.SecondKernel, Answer: certificate.OutOfBudget, Reason: new("steps")}}
		},
	} {
		if findings := find(export, change, time.Minute); len(findings) > 0 {
			t.Errorf("%s: %v", name, findings)
		}
	}
	if findings := find(export, func(*audit.Certified) {}, time.Nanosecond); len(findings) != 1 || findings[0].Kind != audit.KindNotReproduced || findings[0].Severity != audit.Warning {
		t.Errorf("no time: %v", findings)
	}
}

// TestRecheckFindsThatKernelsDisagree: a proof that was verified by one kernel and that the other refuses now contradicts its certificate.
func TestRecheckFindsThatKernelsDisagree(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../domain/lean/check/testdata/kernels-disagree.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	judge := inProcess{t}
	report, err := judge.Check(t.Context(), content, []string{"boom"}, time.Minute)
	if err != nil || report.Verdict != "inconclusive" {
		t.Fatalf("%+v, %v", report, err)
	}
	issued := certificate.Issued{Verdict: certificate.Verified, Findings: commands.FindingsOf(report), DeclarationsChecked: report.DeclarationsChecked}
	issued.Reason, issued.Kernels = "", nil
	one := audit.Certified{Declarations: []string{"boom"}, Issued: issued}
	findings, err := recheckFindings(t.Context(), judge, oneBlob(content), one, time.Minute)
	if err != nil || len(findings) != 1 || findings[0].Kind != audit.KindContradicted {
		t.Errorf("%v %v", findings, err)
	}
}

// TestReadKeySet: a set of keys is read as it was served, and what is none is refused with its file's name.
func TestReadKeySet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	for content, want := range map[string]string{
		`{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","x":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}]}`: "",
		`{"keys":[]}`: "no keys", `{"keys":[{"kid":"a","x":"AA"}]}`: "not an Ed25519", `x`: "invalid character", strings.Repeat(" ", 1<<20+1): "longer than",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := readKeySet(path)
		switch {
		case want == "" && (err != nil || len(set) != 1):
			t.Errorf("%.40s: %v, %v", content, set, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)):
			t.Errorf("%.40s: %v, want %s", content, err, want)
		}
	}
	if set, err := readKeySet(""); set != nil || err != nil {
		t.Errorf("no file: %v, %v", set, err)
	}
}

// TestPrintAudit: a report names what was not checked, each finding with its place and remedy, and ends with the verdict.
func TestPrintAudit(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	finding := audit.Complete("receipts", audit.KindSignature, audit.Finding{Stream: "run-5", Revision: 1, Position: 9}, "a signature", "another")
	if err := printAudit(&out, auditor.Report{Findings: []audit.Finding{finding}, Counts: audit.Counts{NotChecked: 3}}, asked{recheck: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"run-5, revision 1, position 9", finding.Remedy, "not checked: the source has no hash chain", "not checked: no database", "blobs        not checked: no blobs were named", "proofs       agrees, but for 3 events", "slots        agrees\n", "kernel       not checked: there is no certificate\n", "verdicts     not checked: --reverify was not given\n", "1 findings", "NOT CLEAN"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := printAudit(&out, auditor.Report{Chained: true, Findings: []audit.Finding{audit.Complete(audit.CheckChain, audit.KindNoAnchor, audit.Finding{Revision: -1}, "a", "b")}}, asked{blobs: true}); err != nil || !strings.Contains(out.String(), "\nclean:") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// TestPrintAuditSaysWhatCameOfWhatWasKept: each kind of evidence that was given is said to agree, or to be among the findings.
func TestPrintAuditSaysWhatCameOfWhatWasKept(t *testing.T) {
	t.Parallel()
	kept := asked{anchors: 2, contents: 1, keys: 3}
	for kind, want := range map[audit.Kind]string{
		"":                   "2 anchors: agree; 1 contents: agree; 3 public keys: agree\n",
		audit.KindAnchor:     "2 anchors: see the findings; 1 contents: agree; 3 public keys: agree\n",
		audit.KindContent:    "2 anchors: agree; 1 contents: see the findings; 3 public keys: agree\n",
		audit.KindUnreadable: "2 anchors: see the findings; 1 contents: see the findings; 3 public keys: see the findings\n",
	} {
		var findings []audit.Finding
		if kind != "" {
			findings = append(findings, audit.Complete(audit.CheckChain, kind, audit.Finding{Revision: -1}, "a", "b"))
		}
		if got := keptLine(auditor.Report{Findings: findings}, kept); got != "  kept elsewhere: "+want {
			t.Errorf("%s: %s", kind, got)
		}
	}
	if got := keptLine(auditor.Report{}, asked{}); got != "" {
		t.Errorf("nothing was given: %q", got)
	}
}

// TestPrintAuditOfADamagedLog: no check is said to agree further than the log could be read.
func TestPrintAuditOfADamagedLog(t *testing.T) {
	t.Parallel()
	damaged := auditor.Report{Chained: true, ReadModels: true, Tables: true, Findings: []audit.Finding{audit.Complete(audit.CheckChain, audit.KindExport, audit.Finding{Revision: -1, Position: 9}, "a", "b")}}
	for events, want := range map[int64]string{0: "agrees, but for all events: none could be read, the log is damaged at position 9", 3: "agrees, but for what follows position 5: it was not read, the log is damaged at position 9"} {
		if damaged.Counts.Events = events; events > 0 {
			damaged.Position = 5
		}
		for _, state := range checkStates(damaged, asked{blobs: true}) {
			if state.State == "agrees" || state.State == "partly" && state.String() != want {
				t.Errorf("%s: %s", state.Name, state)
			}
		}
	}
}

// TestAuditOfNoExport: a file that is none is an argument that was mistyped, and no damaged log.
func TestAuditOfNoExport(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys.json")
	for _, content := range []string{"", `{"keys":[]}`} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (&auditLogCmd{auditSource: auditSource{Export: file}}).Run(); err == nil || !strings.Contains(err.Error(), "is no export") {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// TestAuditNeedsTheBlobsOfAnInstallation: where the blobs of a data folder are gone, an audit that would have looked at them does not begin.
func TestAuditNeedsTheBlobsOfAnInstallation(t *testing.T) {
	t.Parallel()
	c := auditLogCmd{auditSource: auditSource{Data: t.TempDir()}}
	if kept, err := c.openBlobs(t.Context()); kept != nil || err != nil {
		t.Errorf("the folder of a log alone: %v, %v", kept, err)
	}
	if err := os.Mkdir(filepath.Join(c.Data, "eventstore"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.openBlobs(t.Context()); err == nil || !strings.Contains(err.Error(), "--blobs none") {
		t.Errorf("without blobs: %v", err)
	}
	c.Blobs = "none"
	if kept, err := c.openBlobs(t.Context()); kept != nil || err != nil {
		t.Errorf("none: %v, %v", kept, err)
	}
}

// TestUsageOfNothingIsRefused: an account that the log does not have and days that are none have no bill of zeros.
func TestUsageOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []auditUsageCmd{{From: "2026-11-31"}, {To: "2026-13-01"}, {From: "2026-02-02", To: "2026-02-01"}, {From: "2026-02-02", To: "2026-02-02"}} {
		if err := c.Run(); err == nil || !strings.Contains(err.Error(), "day") {
			t.Errorf("from %q to %q: %v", c.From, c.To, err)
		}
	}
}

// TestAuditNamesALogElsewhere: a data folder whose server had its log at an address is no log, and an audit says where it is.
func TestAuditNamesALogElsewhere(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := recordServed(config.Installation{Data: data, Eventstore: "esdb://auditor:secret@log.example:2113"}); err != nil {
		t.Fatal(err)
	}
	err := (&auditUsageCmd{auditSource: auditSource{Data: data}, Account: "a"}).Run()
	if err == nil || !strings.Contains(err.Error(), "log.example:2113") || !strings.Contains(err.Error(), "--eventstore") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

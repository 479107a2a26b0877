package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/projections"
	"reckon/test/binary"
)

// auditAnswer is what `reckon audit --json` prints.
type auditAnswer struct {
	Counts     map[string]int64 `json:"counts"`
	Tables     bool             `json:"tables"`
	Chained    bool             `json:"chained"`
	Rechecked  int64            `json:"rechecked"`
	Reverified int64            `json:"reverified"`
	Findings   []auditFinding   `json:"findings"`

	Transparency audit.Transparency `json:"transparency"`
}

type auditFinding struct {
	Kind, Severity, Stream, Table, Key, Column, Expected, Found string
	Position                                                    uint64
}

// audit runs the auditor on the server's data folder.
func (s *Server) audit(arguments ...string) (auditAnswer, int) {
	s.t.Helper()
	command := exec.Command(binary.Reckon(s.t), append([]string{"audit", "--json", "--data", s.Data}, arguments...)...)
	var errs strings.Builder
	command.Stderr = &errs
	output, err := command.Output()
	status := command.ProcessState.ExitCode()
	if err != nil && status != 1 {
		s.t.Fatalf("reckon audit %v: %v\n%s", arguments, err, errs.String())
	}
	var answer auditAnswer
	if err := json.Unmarshal(output, &answer); err != nil {
		s.t.Fatalf("reckon audit %v: %v\n%s", arguments, err, output)
	}
	return answer, status
}

// mustBeClean audits what a test has made the real service write: whatever it was, nothing in it is wrong.
func (s *Server) mustBeClean(arguments ...string) auditAnswer {
	s.t.Helper()
	answer, status := s.audit(arguments...)
	if status != 0 {
		for _, f := range answer.Findings {
			s.t.Errorf("%s %s %s %d %s %s %s: expected %s; found %s", f.Severity, f.Kind, f.Stream, f.Position, f.Table, f.Key, f.Column, f.Expected, f.Found)
		}
		s.t.Fatalf("the audit ends with %d", status)
	}
	if !answer.Tables || !answer.Chained || answer.Counts["events"] == 0 {
		s.t.Errorf("not everything was looked at: %+v", answer)
	}
	return answer
}

// TestAudit: what a real server wrote is audited beside it, over its socket and when it has ended; one bit of its log, or one value of its
// tables, is found where it is; and what an account used is what it did.
func TestAudit(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", jobPlans(t, data))
	account := server.NewAccount("audited@example.com")
	for _, body := range []map[string]string{
		{"expression": "Integrate[x^2, x]"}, {"expression": "a = 7", "session_id": "s"}, {"expression": "Print[a]; a", "session_id": "s"}, {"expression": "Plot[x, {x, 0, 1}]"},
		{"expression": "Range[6001]"}, // its answer lies in a blob
	} {
		var e evaluation
		if err := account.JSON("POST", "/api/evaluate", body, &e); err != nil {
			t.Fatal(err)
		}
	}
	account.awaitJob(t, account.submit(t, jobBody{"expression": "2+2"}).JobID)
	beside := server.mustBeClean()
	blobs := filepath.Join(data, "blobs")
	if overSocket, status := server.audit("--eventstore", server.Log, "--blobs", blobs); status != 0 || overSocket.Chained || overSocket.Counts["receipts"] != 6 || overSocket.Counts["signatures"] != beside.Counts["signatures"] {
		t.Errorf("over the socket: %d, %+v", status, overSocket)
	}
	if server.Interrupt() != 0 {
		t.Fatal(server.Output())
	}
	after := server.mustBeClean("--reverify")
	if after.Reverified != 2 { // of the integral and of the sum
		t.Errorf("%d verdicts were asked for again", after.Reverified)
	}
	if after.Counts["receipts"] != 6 || after.Counts["signatures"] != 6 || after.Counts["jobs"] != 1 {
		t.Errorf("%+v", after)
	}
	usage := server.Command("", "audit", "usage", "--csv", "--account", account.ID)
	lines := strings.Split(strings.TrimSpace(usage), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "day,evaluations,engine_ms,") || len(lines) == 2 && strings.Split(lines[1], ",")[1] != "6" {
		t.Errorf("usage:\n%s", usage)
	}

	db, err := projections.Open(t.Context(), "sqlite:"+filepath.Join(data, "readmodels.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("UPDATE history_v3 SET result = 'forged' WHERE expression = 'a = 7'")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	answer, status := server.audit()
	if status != 1 || !slices.ContainsFunc(answer.Findings, func(f auditFinding) bool {
		return f.Kind == "rows.differ" && f.Table == "history_v3" && f.Column == "result" && strings.Contains(f.Found, "forged")
	}) {
		t.Errorf("a row that was changed: %d, %+v", status, answer.Findings)
	}
	damagedBlob(t, server, filepath.Join(data, "blobs"))
	segments, err := filepath.Glob(filepath.Join(data, "eventstore", "segments", "*.seg"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	content, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte("Integrate[x^2, x]"))
	content[at] ^= 1
	write(t, segments[0], content)
	answer, status = server.audit("--read-models", "none")
	if status != 1 || !slices.ContainsFunc(answer.Findings, func(f auditFinding) bool { return f.Kind == "log.damaged" && f.Position > 1 }) {
		t.Errorf("a bit that was changed: %d, %+v", status, answer.Findings)
	}
	nothing := exec.Command(binary.Reckon(t), "audit", "--data", t.TempDir())
	if output, err := nothing.CombinedOutput(); err == nil || nothing.ProcessState.ExitCode() != 2 {
		t.Errorf("an empty folder: %v\n%s", err, output)
	}
}

// damagedBlob: a blob of a long answer that is damaged, or away, is found where it is named; the rest of the audit stands. Without any blobs none begins.
func damagedBlob(t *testing.T, server *Server, folder string) {
	t.Helper()
	var path string
	if err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, failed := entry.Info(); failed == nil && info.Size() > 34_000 && info.Size() < 35_000 {
				path = file
			}
		}
		return err
	}); err != nil || path == "" {
		t.Fatalf("no blob of the answer: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	has := func(answer auditAnswer, kind string) bool {
		return slices.ContainsFunc(answer.Findings, func(f auditFinding) bool { return f.Kind == kind })
	}
	for what, change := range map[string]func() error{
		"blob.differs": func() error { return os.WriteFile(path, bytes.Replace(content, []byte("17"), []byte("71"), 1), 0o600) },
		"blob.missing": func() error { return os.Remove(path) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if answer, status := server.audit(); status != 1 || !has(answer, what) || !has(answer, "table.not_compared") {
			t.Errorf("%s: %d, %+v", what, status, answer.Findings)
		}
		write(t, path, content)
	}
	away := folder + "-away"
	if err := os.Rename(folder, away); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command(binary.Reckon(t), "audit", "--data", filepath.Dir(folder)).CombinedOutput(); err == nil || !strings.Contains(string(output), "--blobs none") {
		t.Errorf("without blobs: %v\n%s", err, output)
	}
	if err := os.Rename(away, folder); err != nil {
		t.Fatal(err)
	}
}

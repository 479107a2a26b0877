package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"reckon/domain/certificate"
	"reckon/domain/job"
	"reckon/eventstore"
	"reckon/test/binary"
	"reckon/test/need"
	"reckon/test/wait"
)

const missingID = "00000000-0000-4000-8000-000000000000"

// proofPlans has a plan for each limit of proofs.
func proofPlans(t testing.TB, data string) string {
	t.Helper()
	path := filepath.Join(data, "reckon.toml")
	var plans strings.Builder
	for _, p := range []struct {
		name   string
		bytes  int
		proofs bool
		perDay int
	}{{"free", 1 << 20, true, 60}, {"big", 16 << 20, true, 1000}, {"none", 1 << 20, false, 10}, {"small", 20_000, true, 10}, {"poor", 1 << 20, true, 1}} {
		fmt.Fprintf(&plans, "[[plans]]\nplan = %q\nevaluation_budget_ms = 10000\nper_minute = 100000\nconcurrent_evaluations = 64\njobs_per_day = %d\njob_budget_ms = 60000\nconcurrent_jobs = 1\nqubits = 12\nproof_export_bytes = %d\nproofs = %v\nlive_sessions = 2\ndenied_heads = []\n\n",
			p.name, p.perDay, p.bytes, p.proofs)
	}
	if err := os.WriteFile(path, []byte(plans.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// leanExport is a shared export, as text.
func leanExport(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(need.Shared(t, "lean-exports", filepath.FromSlash(name)+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

type proofAnswer struct {
	jobAnswer
	CertificateID  string `json:"certificate_id"`
	CertificateURL string `json:"certificate_url"`
}

type uploadAnswer struct {
	UploadID      string            `json:"upload_id"`
	ExportBytes   int64             `json:"export_bytes"`
	ExportSHA256  string            `json:"export_sha256"`
	Exporter      map[string]string `json:"exporter"`
	Lean          map[string]string `json:"lean"`
	FormatVersion string            `json:"format_version"`
}

var ndjson = http.Header{"Content-Type": {"application/x-ndjson"}}

func (a *Account) upload(content string, header http.Header) (u uploadAnswer, err error) {
	response, err := a.Do("POST", "/api/proofs", content, header)
	if err != nil {
		return u, err
	}
	return u, decode(response, &u)
}

func (a *Account) mustUpload(t testing.TB, content string) uploadAnswer {
	t.Helper()
	u, err := a.upload(content, ndjson)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (a *Account) prove(t testing.TB, body jobBody) proofAnswer {
	t.Helper()
	body["kind"], body["wait_ms"] = "proof", 25_000
	var p proofAnswer
	if err := a.JSON("POST", "/api/jobs", body, &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != job.Succeeded {
		t.Fatalf("a proof job of %v ended as %+v", body["declarations"], p)
	}
	return p
}

func TestProofs(t *testing.T) {
	t.Parallel()
	leanExport(t, "judge/addComm")
	data := DataFolder(t)
	server := Start(t, data, "--config", proofPlans(t, data), "--job-slots", "2", "--checkpoint-interval", "1s")
	log := connect(t, server)
	accounts := 0
	fresh := func(plan string) *Account {
		accounts++
		a := server.NewAccount(fmt.Sprintf("proofs-%d@example.com", accounts))
		if plan != "free" {
			server.Command("", "account", "plan", a.Email, plan, "--config", filepath.Join(data, "reckon.toml"))
		}
		return a
	}
	t.Run("verdicts", func(t *testing.T) { proofVerdicts(t, fresh("free"), log) })
	t.Run("a certificate by every way to it", func(t *testing.T) { certificateReads(t, fresh("free"), fresh("free")) })
	t.Run("certificate about a run", func(t *testing.T) { certificateAboutRun(t, fresh("free")) })
	t.Run("a certificate offline", func(t *testing.T) { certificateOffline(t, fresh("free")) })
	t.Run("list", func(t *testing.T) { listCertificates(t, fresh("free"), fresh("free")) })
	t.Run("uploads", func(t *testing.T) { uploads(t, fresh("free")) })
	t.Run("one upload, one job", func(t *testing.T) { oneUploadOneJob(t, fresh("free"), log) })
	t.Run("refused uploads", func(t *testing.T) { refusedUploads(t, fresh, server) })
	t.Run("refused submissions", func(t *testing.T) { refusedProofs(t, fresh, log) })
	t.Run("validation", func(t *testing.T) { validations(t, fresh, log) })
	t.Run("idempotency", func(t *testing.T) { idempotentProof(t, fresh("free"), log) })
	t.Run("no elaboration", func(t *testing.T) { noElaboration(t, fresh, log) })
	t.Run("recheck", func(t *testing.T) { recheck(t, fresh("free"), server) })
	t.Run("kernels that disagree", func(t *testing.T) { kernelsDisagree(t, fresh("free"), server) })
	t.Run("audit", func(t *testing.T) {
		if answer := server.mustBeClean("--recheck"); answer.Rechecked == 0 || answer.Rechecked != answer.Counts["certificates"] {
			t.Errorf("%d of %d certificates were judged again", answer.Rechecked, answer.Counts["certificates"])
		}
	})
}

// proofVerdicts has real exports judged: each costs one slot, whatever the verdict.
func proofVerdicts(t *testing.T, account *Account, log *eventstore.Store) {
	for i, c := range []struct {
		file, declaration string
		timeoutMS         int
		verdict           certificate.Verdict
		axioms            []string
		refusal           string // class
		output            string // part of
	}{
		{"judge/addComm", "addComm", 0, certificate.Verified, nil, "", "Verified: the kernels reckon and plain accept addComm; no axioms are used."},
		{"judge/usesPropext", "usesPropext", 0, certificate.Verified, []string{"propext"}, "", "axioms used: propext"},
		{"judge/evenTwo", "evenTwo", 0, certificate.Verified, nil, "", "Verified"},
		{"judge/opq", "secret", 0, certificate.Verified, nil, "", "Verified"},
		{"reject/bogus1", "thm", 0, certificate.Rejected, nil, "type_mismatch", "Rejected: the kernel refuses the proof: thm"},
		{"reject/011_nonPropThm", "nonPropThm", 0, certificate.Rejected, nil, "theorem_not_prop", "Rejected"},
		{"judge/usesSorry", "usesSorry", 0, certificate.Unsupported, []string{"sorryAx"}, "sorry", "Unsupported: the export cannot be judged: sorryAx"},
		{"judge/usesCustom", "usesCustom", 0, certificate.Unsupported, []string{"myAxiom"}, "custom_axiom", "Unsupported"},
		{"judge/addComm", "addCom", 0, certificate.Unsupported, nil, "missing_declaration", "the nearest declared name is addComm; the theorems of the export are "},
		{"judge/strLit", "Char.ofNat", 1, certificate.Inconclusive, nil, "", "Inconclusive: the check did not finish, which is no verdict on the proof"},
	} {
		content := leanExport(t, c.file)
		body := jobBody{"export": content, "declarations": []string{c.declaration}}
		if c.timeoutMS > 0 {
			body["timeout_ms"] = c.timeoutMS
		}
		p := account.prove(t, body)
		var record certificate.Record
		if err := json.Unmarshal(p.Result, &record); err != nil {
			t.Fatal(err)
		}
		name := c.file + " " + c.declaration
		if record.Verdict != c.verdict || p.Output == nil || !strings.Contains(*p.Output, c.output) || p.Error != nil {
			t.Errorf("%s: %s, output %q; want %s, %q", name, record.Verdict, *p.Output, c.verdict, c.output)
		}
		if p.CertificateID != record.CertificateID || p.CertificateURL != "/api/certificates/"+p.CertificateID || record.JobID != p.JobID || p.Resubmit || p.JobsRemainingToday != 60-i-1 {
			t.Errorf("%s: %+v", name, p)
		}
		if refusal := record.Refusal; (refusal == nil) != (c.refusal == "") || refusal != nil && (refusal.Class != c.refusal || refusal.Message == "" || refusal.Declaration == "") {
			t.Errorf("%s: refusal %+v, want %s", name, refusal, c.refusal)
		}
		if (record.Reason == nil) != (c.verdict == certificate.Verified) {
			t.Errorf("%s: reason %v", name, record.Reason)
		}
		if record.Export.SHA256 != sum(content) || record.Export.Bytes != int64(len(content)) || record.Export.FormatVersion != "3.1.0" || record.Export.Exporter == nil {
			t.Errorf("%s: export %+v", name, record.Export)
		}
		if record.Checker.Name != "reckon" || record.Checker.FormatWindow != certificate.FormatWindow || record.Checker.Rev == "" || record.CreatedAt == "" {
			t.Errorf("%s: checker %+v at %q", name, record.Checker, record.CreatedAt)
		}
		if c.axioms != nil && !reflect.DeepEqual(record.AxiomsUsed, c.axioms) {
			t.Errorf("%s: axioms %v, want %v", name, record.AxiomsUsed, c.axioms)
		}
		if c.verdict == certificate.Verified {
			d := record.Declarations
			if k := record.Kernels; len(k) != 2 || k[0] != (certificate.Kernel{Name: "reckon", Answer: certificate.Accepted}) || k[1] != (certificate.Kernel{Name: "plain", Answer: certificate.Accepted}) {
				t.Errorf("%s: kernels %+v", name, k)
			}
			if len(d) != 1 || d[0].Name != c.declaration || d[0].Statement == nil || *d[0].StatementSHA256 != sum(*d[0].Statement) || record.Conformance == nil || record.DeclarationsChecked < 2 {
				t.Errorf("%s: %+v", name, record)
			}
		}
		if spent := used(t, log, account); spent != i+1 {
			t.Errorf("%s: %d slots spent, want %d", name, spent, i+1)
		}
	}
}

// certificateReads wants one certificate, whoever tells of it.
func certificateReads(t *testing.T, account, other *Account) {
	p := account.prove(t, jobBody{"export": leanExport(t, "judge/usesPropext"), "declarations": []string{"usesPropext", "propext"}})
	var fromJob, read, listed, public map[string]any
	if err := json.Unmarshal(p.Result, &fromJob); err != nil {
		t.Fatal(err)
	}
	if err := account.JSON("GET", p.CertificateURL, nil, &read); err != nil {
		t.Fatal(err)
	}
	var list struct{ Certificates []map[string]any }
	wait.Until(t, "the certificate is listed", func() bool { // the list follows the log
		if err := account.JSON("GET", "/api/certificates", nil, &list); err != nil {
			t.Fatal(err)
		}
		return len(list.Certificates) == 1
	})
	listed = list.Certificates[0]
	if !reflect.DeepEqual(fromJob, read) || !reflect.DeepEqual(read, listed) {
		t.Errorf("the job says %v\nthe certificate %v\nthe list %v", fromJob, read, listed)
	}
	stranger := &Account{URL: account.URL, http: account.http}
	response, err := stranger.Do("GET", p.CertificateURL+"/public", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.Header.Get("Access-Control-Allow-Origin") != "*" || response.Header.Get("ETag") == "" || !strings.Contains(response.Header.Get("Cache-Control"), "max-age=86400") {
		t.Errorf("public headers: %v", response.Header)
	}
	etag := response.Header.Get("ETag")
	if err := decode(response, &public); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"job_id", "submission_id", "run_id", "about_run_id", "account"} {
		if _, there := public[private]; there {
			t.Errorf("%s is public: %v", private, public)
		}
	}
	if public["public_url"] != p.CertificateURL+"/public" {
		t.Errorf("public_url: %v", public["public_url"])
	}
	for field, value := range read {
		if field != "job_id" && field != "about_run_id" && !reflect.DeepEqual(public[field], value) {
			t.Errorf("public %s is %v, want %v", field, public[field], value)
		}
	}
	again, err := stranger.Do("GET", p.CertificateURL+"/public", nil, http.Header{"If-None-Match": {etag}})
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Body.Close()
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("with its ETag: %d", again.StatusCode)
	}
	for path, by := range map[string]*Account{
		p.CertificateURL: other, "/api/certificates/" + missingID: account, "/api/certificates/nonsense": account,
		"/api/certificates/" + missingID + "/public": stranger, "/api/certificates/nonsense/public": stranger,
	} {
		if status, code := statusOf(by.JSON("GET", path, nil, nil)); status != 404 || code != "no_such_certificate" {
			t.Errorf("%s: %d %s", path, status, code)
		}
	}
	if status, _ := statusOf(stranger.JSON("GET", p.CertificateURL, nil, nil)); status != 401 {
		t.Errorf("without a credential: %d", status)
	}
}

func certificateAboutRun(t *testing.T, account *Account) {
	e := account.evaluate(t, "1+1", "")
	for _, c := range []struct {
		file, name string
		shown      certificate.Verdict
	}{
		{"judge/strLit", "Char.ofNat", certificate.Inconclusive}, {"judge/addComm", "addComm", certificate.Verified}, {"judge/strLit", "Char.ofNat", certificate.Verified},
	} {
		body := jobBody{"export": leanExport(t, c.file), "declarations": []string{c.name}, "run_id": e.RunID}
		if c.file == "judge/strLit" {
			body["timeout_ms"] = 1
		}
		p := account.prove(t, body)
		var record certificate.Record
		if err := account.JSON("GET", p.CertificateURL, nil, &record); err != nil || record.AboutRunID == nil || *record.AboutRunID != e.RunID {
			t.Fatalf("%v %+v", err, record)
		}
		var h struct {
			Runs []struct {
				RunID       int64 `json:"run_id"`
				Certificate *struct {
					CertificateID  string              `json:"certificate_id"`
					Verdict        certificate.Verdict `json:"verdict"`
					CertificateURL string              `json:"certificate_url"`
				} `json:"certificate"`
			}
		}
		wait.Until(t, "the history shows the verdict", func() bool { // the runner publishes, not the request
			if err := account.JSON("GET", "/api/history", nil, &h); err != nil {
				t.Fatal(err)
			}
			return len(h.Runs) == 1 && h.Runs[0].Certificate != nil && h.Runs[0].Certificate.Verdict == c.shown
		})
		if shown := h.Runs[0].Certificate; record.Verdict == c.shown && (shown.CertificateID != p.CertificateID || shown.CertificateURL != p.CertificateURL) {
			t.Errorf("%+v", shown)
		}
	}
}

func listCertificates(t *testing.T, account, other *Account) {
	var made []string
	for range 5 {
		made = append([]string{account.prove(t, jobBody{"export": leanExport(t, "judge/proofIrrel"), "declarations": []string{"proofIrrel"}}).CertificateID}, made...)
	}
	type page struct {
		Certificates []certificate.Record `json:"certificates"`
		NextBefore   *string              `json:"next_before"`
	}
	wait.Until(t, "five certificates are listed", func() bool {
		var all page
		if err := account.JSON("GET", "/api/certificates", nil, &all); err != nil {
			t.Fatal(err)
		}
		return len(all.Certificates) == 5
	})
	var got []string
	for before := ""; ; {
		var p page
		if err := account.JSON("GET", "/api/certificates?limit=2"+before, nil, &p); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Certificates {
			got = append(got, c.CertificateID)
		}
		if p.NextBefore == nil {
			break
		}
		before = "&before=" + *p.NextBefore
	}
	if !reflect.DeepEqual(got, made) {
		t.Errorf("listed %v, made %v", got, made)
	}
	var none page
	if err := other.JSON("GET", "/api/certificates", nil, &none); err != nil || len(none.Certificates) != 0 || none.Certificates == nil {
		t.Errorf("another's: %v %+v", err, none)
	}
	for _, bad := range []string{"?limit=0", "?limit=201", "?limit=x", "?before=x", "?offset=1"} {
		if status, code := statusOf(account.JSON("GET", "/api/certificates"+bad, nil, nil)); status != 400 || code != "invalid_parameter" {
			t.Errorf("%s: %d %s", bad, status, code)
		}
	}
}

func zip(t testing.TB, content string) string {
	t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped.String()
}

func uploads(t *testing.T, account *Account) {
	content := leanExport(t, "judge/addComm")
	want := account.mustUpload(t, content)
	if want.ExportBytes != int64(len(content)) || want.ExportSHA256 != sum(content) || want.FormatVersion != "3.1.0" ||
		want.Exporter["name"] != "lean4export" || want.Exporter["version"] != "3.1.0" || want.Lean["version"] != "4.28.0-pre" || len(want.Lean["githash"]) != 40 {
		t.Errorf("%+v", want)
	}
	for name, c := range map[string]struct {
		content string
		header  http.Header
	}{
		"gzip":                  {zip(t, content), http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"}}},
		"gzip without encoding": {zip(t, content), http.Header{"Content-Type": {"application/gzip"}}},
		"encoded":               {zip(t, content), http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"gzip"}}},
		"charset":               {content, http.Header{"Content-Type": {"application/x-ndjson; charset=utf-8"}}},
		"CRLF":                  {strings.ReplaceAll(content, "\n", "\r\n"), ndjson},
		"no final newline":      {strings.TrimRight(content, "\n"), ndjson},
		"two final newlines":    {content + "\n", ndjson},
	} {
		got, err := account.upload(c.content, c.header)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.UploadID == want.UploadID || uuid.Validate(got.UploadID) != nil {
			t.Errorf("%s: upload_id %s", name, got.UploadID)
		}
		if got.UploadID = want.UploadID; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	bare, err := account.upload(leanExport(t, "reject/large-elim-param"), ndjson) // its meta line has the format only
	if err != nil || bare.Exporter != nil || bare.Lean != nil || bare.FormatVersion != "3.1.0" {
		t.Errorf("%+v %v", bare, err)
	}
}

// oneUploadOneJob shares an upload between jobs: whoever comes second gets its slot back.
func oneUploadOneJob(t *testing.T, account *Account, log *eventstore.Store) {
	u := account.mustUpload(t, leanExport(t, "judge/addComm"))
	names := []string{"addComm"}
	blocker := account.submit(t, jobBody{"expression": forever}) // the plan runs one at a time
	account.awaitRunning(t, blocker.JobID)
	first := account.submit(t, jobBody{"kind": "proof", "upload_id": u.UploadID, "declarations": names})
	if first.Status != job.Queued || used(t, log, account) != 2 {
		t.Fatalf("%+v, %d slots", first, used(t, log, account))
	}
	if status, code := statusOf(account.JSON("POST", "/api/jobs", jobBody{"kind": "proof", "upload_id": u.UploadID, "declarations": names}, nil)); status != 409 || code != "upload_used" {
		t.Errorf("a second job: %d %s", status, code)
	}
	var report validation
	if err := account.JSON("POST", "/api/proofs/validate", jobBody{"upload_id": u.UploadID, "declarations": names}, &report); err != nil || report.WouldBe != "refused" || report.Refusal.Class != "upload_used" {
		t.Errorf("validating a claimed upload: %v %+v", err, report)
	}
	if c := account.cancel(t, first.JobID); !c.Refunded {
		t.Errorf("%+v", c)
	}
	account.cancel(t, blocker.JobID)
	p := account.prove(t, jobBody{"upload_id": u.UploadID, "declarations": names})
	var record certificate.Record
	if err := json.Unmarshal(p.Result, &record); err != nil || record.Verdict != certificate.Verified || record.Export.SHA256 != u.ExportSHA256 {
		t.Errorf("after the cancel: %v %+v", err, record)
	}
	if status, code := statusOf(account.JSON("POST", "/api/jobs", jobBody{"kind": "proof", "upload_id": u.UploadID, "declarations": names}, nil)); status != 409 || code != "upload_used" {
		t.Errorf("after the check: %d %s", status, code)
	}
	if spent := used(t, log, account); spent != 2 { // the blocker had started
		t.Errorf("%d slots spent, want 2", spent)
	}
}

func refusedUploads(t *testing.T, fresh func(string) *Account, server *Server) {
	content := leanExport(t, "judge/addComm")
	meta, rest, _ := strings.Cut(content, "\n")
	bomb := zip(t, meta+"\n"+strings.Repeat(" ", 64<<20))
	accounts := map[string]*Account{"free": fresh("free"), "big": fresh("big"), "none": fresh("none"), "small": fresh("small")}
	gzipped := http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"}}
	blobs := blobCount(t, server)
	for name, c := range map[string]struct {
		plan, content string
		header        http.Header
		status        int
		code, class   string
	}{
		"format 3.0.0":          {"free", leanExport(t, "judge/format-3.0.0"), ndjson, 400, "invalid_export", "format_window"},
		"format 3.2.0":          {"free", strings.Replace(content, `"format":{"version":"3.1.0"}`, `"format":{"version":"3.2.0"}`, 1), ndjson, 400, "invalid_export", "format_window"},
		"no meta line":          {"free", rest, ndjson, 400, "invalid_export", "bad_meta"},
		"meta without format":   {"free", `{"meta":{}}` + "\n" + rest, ndjson, 400, "invalid_export", "bad_meta"},
		"long meta":             {"free", `{"meta":{"exporter":{"name":"` + strings.Repeat("x", 300) + `","version":"1"},"format":{"version":"3.1.0"}}}` + "\n" + rest, ndjson, 400, "invalid_export", "bad_meta"},
		"empty":                 {"free", " ", ndjson, 400, "invalid_export", "bad_meta"},
		"blank line":            {"free", meta + "\n\n" + rest, ndjson, 400, "invalid_export", "blank_line"},
		"blank lines at end":    {"free", content + "\n\n", ndjson, 400, "invalid_export", "blank_line"},
		"not JSON":              {"free", meta + "\nhello\n", ndjson, 400, "invalid_export", "bad_json"},
		"not UTF-8":             {"free", content + "{\"in\":1,\"str\":{\"pre\":0,\"str\":\"\xff\"}}\n", ndjson, 400, "invalid_export", "bad_json"},
		"unknown record":        {"free", content + `{"theorem":{}}` + "\n", ndjson, 400, "invalid_export", "unknown_record"},
		"undefined index":       {"free", meta + "\n" + `{"ie":0,"app":{"fn":7,"arg":8}}` + "\n", ndjson, 400, "invalid_export", "undefined_index"},
		"a JSON envelope":       {"free", `{"export":"x"}`, http.Header{"Content-Type": {"application/json"}}, 415, "unsupported_export_type", ""},
		"brotli":                {"free", content, http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"br"}}, 415, "unsupported_export_type", ""},
		"gzip that is none":     {"free", content, gzipped, 400, "invalid_export", ""},
		"half a gzip":           {"free", zip(t, content)[:2000], gzipped, 400, "invalid_export", ""},
		"gzip with trailing":    {"free", zip(t, content) + "x", gzipped, 400, "invalid_export", ""},
		"bomb":                  {"big", bomb, gzipped, 413, "body_too_large", ""},
		"over 16 MiB":           {"big", meta + "\n" + strings.Repeat(" ", 16<<20), ndjson, 413, "body_too_large", ""},
		"over 16 MiB and plan":  {"free", meta + "\n" + strings.Repeat(" ", 16<<20), ndjson, 413, "body_too_large", ""},
		"over the plan":         {"small", content, ndjson, 400, "export_over_budget", ""},
		"over the plan, zipped": {"small", zip(t, content), gzipped, 400, "export_over_budget", ""},
		"no proofs on the plan": {"none", content, ndjson, 403, "proofs_not_on_plan", ""},
	} {
		response, err := accounts[c.plan].Do("POST", "/api/proofs", c.content, c.header)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var problem struct {
			Code   string
			Errors []struct{ Message string }
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || json.Unmarshal(text, &problem) != nil || response.StatusCode != c.status || problem.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, response.StatusCode, text, c.status, c.code)
		}
		if c.class != "" && (len(problem.Errors) != 1 || problem.Errors[0].Message != c.class) {
			t.Errorf("%s: %s, want class %s", name, text, c.class)
		}
	}
	if now := blobCount(t, server); now != blobs {
		t.Errorf("refused uploads left %d blobs", now-blobs)
	}
}

// blobCount counts the files of the blob folder, whole or not.
func blobCount(t *testing.T, server *Server) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(server.Data, "blobs"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// refusedProofs wants each refusal with its code, and no slot spent.
func refusedProofs(t *testing.T, fresh func(string) *Account, log *eventstore.Store) {
	content, names := leanExport(t, "judge/addComm"), []string{"addComm"}
	account, other := fresh("free"), fresh("free")
	theirs, theirRun := other.mustUpload(t, content), other.evaluate(t, "1+1", "")
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("n%d", i)
	}
	for name, c := range map[string]struct {
		plan   string
		body   jobBody
		status int
		code   string
	}{
		"no plan":              {"none", jobBody{"export": content, "declarations": names}, 403, "proofs_not_on_plan"},
		"nothing to check":     {"free", jobBody{"declarations": names}, 400, "export_choice"},
		"two things":           {"free", jobBody{"export": content, "upload_id": theirs.UploadID, "declarations": names}, 400, "export_choice"},
		"export and source":    {"free", jobBody{"export": content, "source": "theorem t : True := trivial", "declarations": names}, 400, "export_choice"},
		"module without":       {"free", jobBody{"export": content, "module": "A", "declarations": names}, 400, "invalid_request"},
		"no declarations":      {"free", jobBody{"export": content}, 400, "invalid_declarations"},
		"empty declarations":   {"free", jobBody{"export": content, "declarations": []string{}}, 400, "invalid_declarations"},
		"33 declarations":      {"free", jobBody{"export": content, "declarations": many}, 400, "invalid_declarations"},
		"repeated":             {"free", jobBody{"export": content, "declarations": []string{"addComm", "addComm"}}, 400, "invalid_declarations"},
		"no name":              {"free", jobBody{"export": content, "declarations": []string{""}}, 400, "invalid_declarations"},
		"double dot":           {"free", jobBody{"export": content, "declarations": []string{"a..b"}}, 400, "invalid_declarations"},
		"space":                {"free", jobBody{"export": content, "declarations": []string{"a b"}}, 400, "invalid_declarations"},
		"open quotation":       {"free", jobBody{"export": content, "declarations": []string{"«a"}}, 400, "invalid_declarations"},
		"malformed export":     {"free", jobBody{"export": "hello", "declarations": names}, 400, "invalid_export"},
		"format 3.0.0":         {"free", jobBody{"export": leanExport(t, "judge/format-3.0.0"), "declarations": names}, 400, "invalid_export"},
		"blank line":           {"free", jobBody{"export": strings.Replace(content, "\n", "\n\n", 1), "declarations": names}, 400, "invalid_export"},
		"over 640 KiB":         {"free", jobBody{"export": content + strings.Repeat(" ", 640<<10), "declarations": names}, 400, "export_too_large"},
		"over the plan":        {"small", jobBody{"export": content, "declarations": names}, 400, "export_over_budget"},
		"another's upload":     {"free", jobBody{"upload_id": theirs.UploadID, "declarations": names}, 404, "no_such_upload"},
		"no such upload":       {"free", jobBody{"upload_id": missingID, "declarations": names}, 404, "no_such_upload"},
		"upload that is none":  {"free", jobBody{"upload_id": "../x", "declarations": names}, 404, "no_such_upload"},
		"another's run":        {"free", jobBody{"export": content, "declarations": names, "run_id": theirRun.RunID}, 404, "no_such_run"},
		"no such run":          {"free", jobBody{"export": content, "declarations": names, "run_id": 1 << 40}, 404, "no_such_run"},
		"run 0":                {"free", jobBody{"export": content, "declarations": names, "run_id": 0}, 400, "invalid_request"},
		"negative wait":        {"free", jobBody{"export": content, "declarations": names, "wait_ms": -1}, 400, "invalid_request"},
		"expression too":       {"free", jobBody{"export": content, "declarations": names, "expression": "1"}, 400, "invalid_request"},
		"timeout over plan":    {"free", jobBody{"export": content, "declarations": names, "timeout_ms": 600_000}, 400, "timeout_over_plan"},
		"source, no toolchain": {"free", jobBody{"source": "theorem t : True := trivial", "declarations": []string{"t"}}, 503, "no_elaboration"},
		"wait_ms, evaluate":    {"evaluate", jobBody{"expression": "1+1", "wait_ms": 10}, 400, "invalid_request"},
	} {
		by := account
		switch c.plan {
		case "evaluate":
		case "free":
			c.body["kind"] = "proof"
		default:
			by = fresh(c.plan)
			c.body["kind"] = "proof"
		}
		if status, code := statusOf(by.JSON("POST", "/api/jobs", c.body, nil)); status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, c.status, c.code)
		}
		if spent := used(t, log, by); spent != 0 {
			t.Fatalf("%s: %d slots spent", name, spent)
		}
	}
	poor := fresh("poor")
	poor.prove(t, jobBody{"export": content, "declarations": names})
	if status, code := statusOf(poor.JSON("POST", "/api/jobs", jobBody{"kind": "proof", "export": content, "declarations": names}, nil)); status != 429 || code != "daily_allowance_spent" {
		t.Errorf("allowance spent: %d %s", status, code)
	}
	if spent := used(t, log, poor); spent != 1 {
		t.Errorf("%d slots of 1 spent", spent)
	}
}

type validation struct {
	OK      bool   `json:"ok"`
	WouldBe string `json:"would_be"`
	Refusal *struct {
		Declaration, Class, Message string
		Line                        int
	} `json:"refusal"`
	Export struct {
		Bytes  int64   `json:"bytes"`
		SHA256 *string `json:"sha256"`
		Inline bool    `json:"inline"`
		Meta   *struct {
			Exporter, Lean, Format map[string]string
		} `json:"meta"`
	} `json:"export"`
	Declarations []struct {
		Name         string   `json:"name"`
		Kind         string   `json:"kind"`
		Statement    *string  `json:"statement"`
		Axioms       []string `json:"axioms"`
		ReachesSorry bool     `json:"reaches_sorry"`
	} `json:"declarations"`
	AxiomsUsed           []string        `json:"axioms_used"`
	Conformance          json.RawMessage `json:"conformance"`
	DeclarationsInExport int             `json:"declarations_in_export"`
	SlotCost             *int            `json:"slot_cost"`
	JobsRemainingToday   *int            `json:"jobs_remaining_today"`
	ElapsedMS            *int64          `json:"elapsed_ms"`
}

func validations(t *testing.T, fresh func(string) *Account, log *eventstore.Store) {
	account := fresh("free")
	content := leanExport(t, "judge/addComm")
	for name, c := range map[string]struct {
		content, declaration, wouldBe, class string
		declarations                         int // in the export
	}{
		"a theorem":            {content, "addComm", "checked", "", 19},
		"propext":              {leanExport(t, "judge/usesPropext"), "usesPropext", "checked", "", 4},
		"a wrong proof":        {leanExport(t, "reject/bogus1"), "thm", "checked", "", -1}, // only the kernel can tell
		"a missing name":       {content, "addCom", "unsupported", "missing_declaration", 19},
		"sorry":                {leanExport(t, "judge/usesSorry"), "usesSorry", "unsupported", "sorry", 8},
		"an axiom":             {leanExport(t, "judge/usesCustom"), "usesCustom", "unsupported", "custom_axiom", 7},
		"a malformed export":   {"hello", "x", "refused", "bad_json", 0},
		"outside the window":   {leanExport(t, "judge/format-3.0.0"), "x", "refused", "format_window", 0},
		"a blank line":         {strings.Replace(content, "\n", "\n\n", 1), "x", "refused", "blank_line", 0},
		"no name":              {content, "a..b", "refused", "invalid_declarations", 0},
		"too large to be sent": {content + strings.Repeat(" ", 640<<10), "addComm", "refused", "export_too_large", 0},
	} {
		var r validation
		if err := account.JSON("POST", "/api/proofs/validate", jobBody{"export": c.content, "declarations": []string{c.declaration}}, &r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.WouldBe != c.wouldBe || r.OK != (c.wouldBe == "checked") || (r.Refusal == nil) != (c.class == "") || r.Refusal != nil && r.Refusal.Class != c.class {
			t.Errorf("%s: %+v, refusal %+v; want %s %s", name, r, r.Refusal, c.wouldBe, c.class)
		}
		if r.SlotCost == nil || *r.SlotCost != 0 || r.JobsRemainingToday == nil || *r.JobsRemainingToday != 60 || r.ElapsedMS == nil || !r.Export.Inline || r.Declarations == nil || r.AxiomsUsed == nil {
			t.Errorf("%s: %+v", name, r)
		}
		if c.declarations > 0 && (r.DeclarationsInExport != c.declarations || *r.Export.SHA256 != sum(c.content) || r.Export.Meta.Format["version"] != "3.1.0") {
			t.Errorf("%s: %d declarations, export %+v", name, r.DeclarationsInExport, r.Export)
		}
		switch name {
		case "a theorem":
			if d := r.Declarations; len(d) != 1 || d[0].Kind != "theorem" || d[0].Statement == nil || d[0].ReachesSorry || len(r.Conformance) < 10 || r.Export.Meta.Lean["version"] != "4.28.0-pre" {
				t.Errorf("%+v", r)
			}
		case "sorry":
			if d := r.Declarations; len(d) != 1 || !d[0].ReachesSorry {
				t.Errorf("%+v", r)
			}
		case "a missing name":
			if !strings.Contains(r.Refusal.Message, "addComm") {
				t.Errorf("no hint in %q", r.Refusal.Message)
			}
		}
	}
	if r := (validation{}); fresh("none").JSON("POST", "/api/proofs/validate", jobBody{"export": content, "declarations": []string{"addComm"}}, &r) != nil || r.WouldBe != "refused" || r.Refusal.Class != "proofs_not_on_plan" {
		t.Errorf("without proofs on the plan: %+v", r)
	}
	u := account.mustUpload(t, content)
	for range 2 { // it is not consumed
		var r validation
		if err := account.JSON("POST", "/api/proofs/validate", jobBody{"upload_id": u.UploadID, "declarations": []string{"addComm"}}, &r); err != nil || !r.OK || r.Export.Inline || *r.Export.SHA256 != u.ExportSHA256 {
			t.Errorf("an upload: %v %+v", err, r)
		}
	}
	account.prove(t, jobBody{"upload_id": u.UploadID, "declarations": []string{"addComm"}})
	theirs := fresh("free").mustUpload(t, content)
	for name, c := range map[string]struct {
		body any
		code string
	}{
		"both":             {jobBody{"export": content, "upload_id": u.UploadID, "declarations": []string{"a"}}, "export_choice"},
		"neither":          {jobBody{"declarations": []string{"a"}}, "export_choice"},
		"another's upload": {jobBody{"upload_id": theirs.UploadID, "declarations": []string{"a"}}, "unknown_upload"},
		"no such upload":   {jobBody{"upload_id": missingID, "declarations": []string{"a"}}, "unknown_upload"},
		"no declarations":  {jobBody{"export": content}, "invalid_request"},
		"33 declarations":  {jobBody{"export": content, "declarations": strings.Fields(strings.Repeat("a ", 33))}, "invalid_request"},
		"null":             {`{"export":"x","declarations":null}`, "invalid_request"},
		"unknown field":    {jobBody{"export": content, "declarations": []string{"a"}, "x": 1}, "unknown_field"},
	} {
		if status, code := statusOf(account.JSON("POST", "/api/proofs/validate", c.body, nil)); status != 400 || code != c.code {
			t.Errorf("%s: %d %s, want 400 %s", name, status, code, c.code)
		}
	}
	if spent := used(t, log, account); spent != 1 {
		t.Errorf("%d slots spent, want the one of the job", spent)
	}
}

func idempotentProof(t *testing.T, account *Account, log *eventstore.Store) {
	body := jobBody{"kind": "proof", "export": leanExport(t, "judge/addComm"), "declarations": []string{"addComm"}, "idempotency_key": "k", "wait_ms": 25_000}
	first := account.prove(t, body)
	again := account.prove(t, jobBody{"kind": "proof", "export": "rubbish", "declarations": []string{"", ""}, "idempotency_key": "k"})
	if !again.Resubmit || again.JobID != first.JobID || again.CertificateID != first.CertificateID || again.JobsRemainingToday != 59 {
		t.Errorf("%+v", again)
	}
	var receipt proofAnswer // without wait_ms
	delete(body, "wait_ms")
	body["idempotency_key"] = "other"
	if err := account.JSON("POST", "/api/jobs", body, &receipt); err != nil || receipt.JobID == first.JobID || receipt.JobsRemainingToday != 58 {
		t.Errorf("%v %+v", err, receipt)
	}
	if j := account.awaitJob(t, receipt.JobID); j.Status != job.Succeeded || len(j.Result) == 0 {
		t.Errorf("%+v", j)
	}
	if spent := used(t, log, account); spent != 2 {
		t.Errorf("%d slots spent, want 2", spent)
	}
}

func noElaboration(t *testing.T, fresh func(string) *Account, log *eventstore.Store) {
	account := fresh("free")
	const source = "theorem t : True := trivial"
	response, err := account.Do("POST", "/api/proofs/elaborate", jobBody{"source": source}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, code := statusOf(decode(response, nil)); status != 503 || code != "no_elaboration" || response.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s, Retry-After %q", status, code, response.Header.Get("Retry-After"))
	}
	for name, c := range map[string]struct {
		by     *Account
		body   any
		status int
		code   string
	}{
		"no source":         {account, jobBody{}, 400, "invalid_source"},
		"empty source":      {account, jobBody{"source": ""}, 400, "invalid_source"},
		"blank source":      {account, jobBody{"source": " \n"}, 400, "invalid_source"},
		"oversize":          {account, jobBody{"source": strings.Repeat("-", 64<<10+1)}, 400, "invalid_source"},
		"bad module":        {account, jobBody{"source": source, "module": "../etc"}, 400, "invalid_module"},
		"Lean's module":     {account, jobBody{"source": source, "module": "Lean.Elab"}, 400, "invalid_module"},
		"with export":       {account, jobBody{"source": source, "export": "x"}, 400, "unknown_field"},
		"with upload":       {account, jobBody{"source": source, "upload_id": missingID}, 400, "unknown_field"},
		"33 declarations":   {account, jobBody{"source": source, "declarations": strings.Fields(strings.Repeat("a ", 33))}, 400, "invalid_declarations"},
		"not on the plan":   {fresh("none"), jobBody{"source": source}, 403, "proofs_not_on_plan"},
		"a repeated name":   {account, jobBody{"source": source, "declarations": []string{"t", "t"}}, 400, "invalid_declarations"},
		"an impossible one": {account, jobBody{"source": source, "declarations": []string{"t."}}, 400, "invalid_declarations"},
	} {
		if status, code := statusOf(c.by.JSON("POST", "/api/proofs/elaborate", c.body, nil)); status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, c.status, c.code)
		}
	}
	if spent := used(t, log, account); spent != 0 {
		t.Errorf("%d slots spent", spent)
	}
}

// recheck has the binary check certificates again, and one about a damaged export.
func recheck(t *testing.T, account *Account, server *Server) {
	for _, c := range []struct{ file, name, verdict string }{{"judge/addComm", "addComm", "verified"}, {"reject/bogus1", "thm", "rejected"}, {"judge/addComm", "addCom", "unsupported"}} {
		p := account.prove(t, jobBody{"export": leanExport(t, c.file), "declarations": []string{c.name}})
		var report struct {
			Agrees           bool
			Certified, Found string
			Differing        []string
		}
		if err := json.Unmarshal([]byte(server.Command("", "lean", "recheck", p.CertificateID, "--json")), &report); err != nil || !report.Agrees || report.Found != c.verdict || report.Certified != c.verdict || len(report.Differing) != 0 {
			t.Errorf("%s: %v %+v", c.file, err, report)
		}
	}
}

// kernelsDisagree has an export judged that the first kernel accepts and the second refuses: the certificate gives no verdict and says so to anyone, a
// metric counts it, the server's log names it, and the export stays.
func kernelsDisagree(t *testing.T, account *Account, server *Server) {
	content, err := os.ReadFile(filepath.Join("..", "..", "domain", "lean", "check", "testdata", "kernels-disagree.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	p := account.prove(t, jobBody{"export": string(content), "declarations": []string{"boom"}})
	if !strings.Contains(*p.Output, "Inconclusive: the kernels disagree, which is no verdict on the proof, and the operator is told: boom: the kernel plain refuses what the kernel reckon accepts") {
		t.Errorf("output %q", *p.Output)
	}
	var public certificate.Public
	if err := (&Account{URL: account.URL, http: account.http}).JSON("GET", p.CertificateURL+"/public", nil, &public); err != nil {
		t.Fatal(err)
	}
	if k := public.Kernels; public.Verdict != certificate.Inconclusive || public.Refusal != nil || public.Reason == nil || len(k) != 2 ||
		k[0].Answer != certificate.Accepted || k[1].Name != certificate.SecondKernel || k[1].Answer != certificate.Refused || k[1].Reason == nil || !strings.Contains(*k[1].Reason, "boom: type_mismatch") {
		t.Errorf("%+v", public)
	}
	counted := false
	server.askAdmin(t, "/metrics", func(line string) {
		counted = counted || line == `reckon_kernel_answers_total{answer="refused",kernel="plain"} 1`
	})
	if said := server.Output(); !counted || !strings.Contains(said, "the kernels disagree") || !strings.Contains(said, p.CertificateID) {
		t.Errorf("counted: %v; the log names the certificate: %v", counted, strings.Contains(said, p.CertificateID))
	}
	ageBlobs(t, server.Data)
	server.Command("", "blobs", "collect")
	command := exec.Command(binary.Reckon(t), "lean", "recheck", p.CertificateID, "--json", "--data", server.Data)
	output, err := command.Output()
	var report struct{ Kernels []certificate.Kernel }
	if command.ProcessState.ExitCode() != 1 || json.Unmarshal(output, &report) != nil || len(report.Kernels) != 2 || report.Kernels[1].Answer != certificate.Refused {
		t.Errorf("recheck: %v %s", err, output)
	}
}

// TestAFurtherKernel: a server with a kernel of the operator's asks it about what would be verified, and does not start with one that is none.
func TestAFurtherKernel(t *testing.T) {
	t.Parallel()
	content := leanExport(t, "judge/addComm")
	folder := t.TempDir()
	kernel := filepath.Join(folder, "kernel")
	// It refuses the probe of the start, and what speaks of propext.
	script := "#!/bin/sh\ngrep -q '\"type\":0,\"value\":1' \"$1\" && exit 1\ngrep -q propext \"$1\" && { echo I do not believe in propext; exit 1; }\nexit 0\n"
	if err := os.WriteFile(kernel, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	data := DataFolder(t)
	server := Start(t, data, "--config", proofPlans(t, data), "--second-kernel", kernel)
	account := server.NewAccount("further@example.com")
	for _, c := range []struct {
		content, name string
		verdict       certificate.Verdict
		answer        certificate.Answer
	}{{content, "addComm", certificate.Verified, certificate.Accepted}, {leanExport(t, "judge/usesPropext"), "usesPropext", certificate.Inconclusive, certificate.Refused}} {
		p := account.prove(t, jobBody{"export": c.content, "declarations": []string{c.name}})
		var record certificate.Record
		if err := json.Unmarshal(p.Result, &record); err != nil {
			t.Fatal(err)
		}
		if k := record.Kernels; record.Verdict != c.verdict || len(k) != 3 || k[2].Name != "program kernel" || k[2].Answer != c.answer {
			t.Errorf("%s: %s %+v", c.name, record.Verdict, k)
		}
	}
	counted := 0
	server.askAdmin(t, "/metrics", func(line string) {
		if line == `reckon_kernel_answers_total{answer="refused",kernel="program"} 1` || line == `reckon_kernel_answers_total{answer="accepted",kernel="program"} 1` {
			counted++
		}
	})
	if counted != 2 {
		t.Errorf("%d of two answers are counted", counted)
	}
	server.mustBeClean()
	at := filepath.Join(folder, "export.ndjson")
	if err := os.WriteFile(at, []byte(leanExport(t, "judge/usesPropext")), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary.Reckon(t), "lean", "check", at, "--declarations", "usesPropext", "--second-kernel", kernel, "--quiet")
	output, _ := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 2 || !strings.Contains(string(output), "kernel program kernel: refused: exit status 1 I do not believe in propext") {
		t.Errorf("lean check: %s", output)
	}
	for name, arguments := range map[string][]string{
		"no kernel":      {"lean", "check", at, "--all", "--second-kernel", "/bin/true"},
		"standard input": {"lean", "check", "-", "--all", "--second-kernel", kernel},
		"a server":       {"serve", "--init", "--data", DataFolder(t), "--listen", "127.0.0.1:0", "--second-kernel", "/bin/true"},
	} {
		output, err := exec.Command(binary.Reckon(t), arguments...).CombinedOutput()
		if err == nil || !strings.Contains(string(output), "--second-kernel") {
			t.Errorf("%s: %v %s", name, err, output)
		}
	}
}

// certificateOffline verifies certificates with the published program alone. Every value of a certificate that is changed is refused, or is
// none of those that the program prints as verified.
func certificateOffline(t *testing.T, account *Account) {
	kept := t.TempDir()
	file := func(name string) string { return filepath.Join(kept, name) }
	save(t, account, "/.well-known/service-keys.json", file("keys.json"))
	for declaration, export := range map[string]string{"addComm": "judge/addComm", "thm": "reject/bogus1"} {
		p := account.prove(t, jobBody{"export": leanExport(t, export), "declarations": []string{declaration}})
		address := "/api/certificates/" + p.CertificateID
		wait.Until(t, "the certificate is in the transparency log", func() bool { return account.JSON("GET", address+"/inclusion", nil, nil) == nil })
		save(t, account, address+"/public", file("certificate.json"))
		save(t, account, address+"/inclusion", file("inclusion.json"))
		save(t, account, "/.well-known/transparency-log.json", file("log.json"))
		check := func(certificate any) (proved string, verified bool) {
			t.Helper()
			content, err := json.Marshal(certificate)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file("shown.json"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			output, verified := offline(t, file("shown.json"), "--inclusion", file("inclusion.json"), "--log", file("log.json"))
			proved, _, _ = strings.Cut(output, "not covered")
			return proved, verified
		}
		var certificate map[string]any
		content, err := os.ReadFile(file("certificate.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, &certificate); err != nil {
			t.Fatal(err)
		}
		want, verified := check(certificate)
		if !verified || !strings.Contains(want, fmt.Sprintf("  verdict: %q\n", certificate["verdict"])) || !strings.Contains(want, declaration) {
			t.Fatalf("%s: %s", declaration, want)
		}
		refused := 0
		eachChanged(certificate, func(path string) {
			if proved, verified := check(certificate); !verified {
				refused++
			} else if proved != want {
				t.Errorf("%s is not the certificate's, and was verified: %s", path, proved)
			}
		})
		if refused < 8 {
			t.Errorf("%d changes of a certificate were refused", refused)
		}
	}
}

// eachChanged changes every value within a JSON value in turn, calls then, and puts the value back.
func eachChanged(within any, then func(path string)) {
	var walk func(v any, path string, set func(any))
	walk = func(v any, path string, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(member, path+"."+name, func(other any) { v[name] = other })
			}
			return
		case []any:
			for i, element := range v {
				walk(element, fmt.Sprintf("%s[%d]", path, i), func(other any) { v[i] = other })
			}
			if len(v) == 0 {
				set([]any{"another"})
			} else {
				set(v[:0])
			}
		case string:
			set(v + "x")
		case float64:
			set(v + 1)
		case bool:
			set(!v)
		default:
			set("another")
		}
		then(path)
		set(v)
	}
	walk(within, "", nil)
}

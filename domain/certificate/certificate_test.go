package certificate_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"reckon/domain/certificate"
	"reckon/domain/event"
)

func issued() certificate.Issued {
	sample, _ := certificate.Events()[0].Sample.(certificate.Issued)
	return sample
}

func TestOwnersRecordHasEveryField(t *testing.T) {
	text, err := json.Marshal(issued().Record("https://reckon.example"))
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("certificate_id certificate_url job_id about_run_id verdict reason declarations axioms_used refusal export checker conformance own_definitions kernels declarations_checked elapsed_ms created_at")
	for _, field := range want {
		if record[field] == nil {
			t.Errorf("%s is missing in %s", field, text)
		}
	}
	if len(record) != len(want) {
		t.Errorf("%d fields, want %d: %s", len(record), len(want), text)
	}
}

func TestPublicRecordNamesNobody(t *testing.T) {
	i := issued()
	text, err := json.Marshal(i.Public(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{i.Account, i.JobID, "job_id", "run_id", "submission_id", "account"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is public: %s", secret, text)
		}
	}
	if !strings.Contains(string(text), `"public_url":"/api/certificates/`+i.CertificateID+`/public"`) {
		t.Errorf("no public_url: %s", text)
	}
}

func TestAnEmptyCertificateHasEmptyListsAndNulls(t *testing.T) {
	text, err := json.Marshal(certificate.Issued{}.Record(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"declarations":[]`, `"axioms_used":[]`, `"refusal":null`, `"reason":null`, `"conformance":null`, `"about_run_id":null`, `"exporter":null`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
}

// kept is a blob store with one content.
type kept []byte

func (k kept) Get(context.Context, event.Blob) ([]byte, error) { return k, nil }

func TestFindingsMayBeElsewhere(t *testing.T) {
	whole := issued()
	findings, err := json.Marshal(whole.Findings)
	if err != nil {
		t.Fatal(err)
	}
	slim := whole
	slim.Findings, slim.FindingsBlob = certificate.Findings{}, &event.Blob{}
	back, err := slim.LoadFindings(t.Context(), kept(findings))
	if err != nil || !reflect.DeepEqual(back, whole) {
		t.Errorf("%+v %v", back, err)
	}
	if _, err := slim.LoadFindings(t.Context(), kept("{")); err == nil {
		t.Error("half a blob was read")
	}
}

func TestOf(t *testing.T) {
	if _, ok := certificate.FromHistory(nil); ok {
		t.Error("a certificate of nothing")
	}
	if i, ok := certificate.FromHistory([]event.Event{issued()}); !ok || i.Verdict != certificate.Unsupported {
		t.Errorf("%+v", i)
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	accepts := func(name string) certificate.Kernel {
		return certificate.Kernel{Name: name, Answer: certificate.Accepted}
	}
	why := "why"
	out := certificate.Kernel{Name: "plain", Answer: certificate.OutOfBudget, Reason: &why}
	refuses := certificate.Kernel{Name: "plain", Answer: certificate.Refused, Reason: &why}
	named := []certificate.Declaration{{Name: "a"}}
	for _, c := range []struct {
		verdict  certificate.Verdict
		findings certificate.Findings
		want     string
	}{
		{certificate.Verified, certificate.Findings{Declarations: named}, "Verified: the kernel accepts a; no axioms are used."}, // of version 2
		{certificate.Verified, certificate.Findings{Declarations: named, Kernels: []certificate.Kernel{accepts("reckon"), accepts("plain")}, AxiomsUsed: []string{"propext"}},
			"Verified: the kernels reckon and plain accept a; axioms used: propext."},
		{certificate.Verified, certificate.Findings{Declarations: named, Kernels: []certificate.Kernel{accepts("reckon"), out}},
			"Verified: the kernel reckon (plain ran out of its budget) accepts a; no axioms are used."},
		{certificate.Verified, certificate.Findings{Declarations: named, Kernels: []certificate.Kernel{accepts("reckon"), accepts("plain"), {Name: "program x", Answer: certificate.Undecided, Reason: &why}}},
			"Verified: the kernels reckon and plain (program x has no opinion) accept a; no axioms are used."},
		{certificate.Verified, certificate.Findings{Declarations: named, Own: &certificate.Own{Count: 12_040, Omitted: 11_840, Definitions: make([]certificate.OwnDefinition, 200)}},
			"Verified: the kernel accepts a; no axioms are used; what it says rests on 12040 definitions of the export's own, listed under own_definitions (the nearest 200; the SHA-256 there is of all)."},
		{certificate.Inconclusive, certificate.Findings{Reason: why, Kernels: []certificate.Kernel{accepts("reckon"), refuses}},
			"Inconclusive: the kernels disagree, which is no verdict on the proof, and the operator is told: why."},
		{certificate.Inconclusive, certificate.Findings{Reason: why}, "Inconclusive: the check did not finish, which is no verdict on the proof: why."},
	} {
		if got := (certificate.Issued{Verdict: c.verdict, Findings: c.findings}).Sentence(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

package transparency_test

import (
	"encoding/hex"
	"testing"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/transparency"
	"reckon/domain/upload"
)

// TestLeavesNeverChange: a leaf that is in a tree is there for ever. Whoever changes what is committed to makes leaves of another
// version for events to come.
func TestLeavesNeverChange(t *testing.T) {
	statement := "∀ n, n = n"
	issued := certificate.Issued{
		CertificateID: "b3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e", JobID: "j", Account: "a", Verdict: certificate.Verified,
		Findings: certificate.Findings{Declarations: []certificate.Declaration{{Name: "T", Kind: "theorem", Statement: &statement, Axioms: []string{}}}},
		Export:   upload.Export{SHA256: "ab"}, Checker: certificate.Checker{Rev: "4c9186d0a1b2"}, CreatedAt: "2026-08-01T12:00:01.000Z",
	}
	long := issued
	long.Findings, long.FindingsBlob = certificate.Findings{}, &event.Blob{SHA256: "cd", Bytes: 20_000}
	for name, c := range map[string]struct {
		of          event.Event
		leaf, entry string
	}{
		"receipt": {
			run.Sealed{RunID: 1001, ReceiptID: "3d0a", Signature: "LU6z", KID: "1IG2"},
			"reckon leaf v1\nreceipt\n3d0a\n1IG2\nLU6z\n", "cf6a30596493320b626087f9e808ccf79235169b625a79e2aaf100b94bc51510",
		},
		"certificate": {
			issued,
			"reckon leaf v1\ncertificate\nb3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e\nverified\nab\n4c9186d0a1b2\n2026-08-01T12:00:01.000Z\nfc0fbee2475f5acb9cc0041c5e7cb62128df3a9032d49b3b4fe451e3c775b1e0\n", "63d12cfed77a8a33cd9b9aa706ccfabf8fc4d4845f4edaa3977b6f8f886edbd0",
		},
		"certificate with long findings": {
			long,
			"reckon leaf v1\ncertificate\nb3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e\nverified\nab\n4c9186d0a1b2\n2026-08-01T12:00:01.000Z\ncd\n", "e6cca060d4b91cd190080d65eb5cce1d44f2c291a66e47cc15057478d5ec228b",
		},
	} {
		leaf, ok, err := transparency.LeafOf(c.of)
		entry := transparency.EntryOf(leaf)
		if err != nil || !ok || leaf != c.leaf || hex.EncodeToString(entry[:]) != c.entry {
			t.Errorf("%s: %q %x %v %v", name, leaf, entry, ok, err)
		}
	}
	for _, none := range []event.Event{nil, run.Sealed{RunID: 1, ReceiptID: "3d0a", UnsignedReason: "no key"}, run.TimedOut{}} {
		if leaf, ok, err := transparency.LeafOf(none); ok || err != nil {
			t.Errorf("%+v has the leaf %q, %v", none, leaf, err)
		}
	}
}

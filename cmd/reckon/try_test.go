package main

import (
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"reckon/domain/keys"
	"reckon/domain/receipt"
	outcome "reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// TestTryVerifiesReceipts: against a service that lies, which the real one does not. It answers 1+1 with 2, and with a receipt that each
// case has changed, under a signature that is right unless the case says otherwise.
func TestTryVerifiesReceipts(t *testing.T) {
	t.Parallel()
	secret := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	public := secret.Public().(ed25519.PublicKey)
	kid := keys.Thumbprint(public)
	for name, c := range map[string]struct {
		record func(*receipt.Record)
		sealed func(*receipt.Envelope)
		kid    string // published
		says   string
	}{
		"right":              {kid: kid},
		"another answer":     {record: func(r *receipt.Record) { r.Answer = "3" }, kid: kid, says: "its answer differs"},
		"another expression": {record: func(r *receipt.Record) { r.Expression = "1+2" }, kid: kid, says: "its expression differs"},
		"another run":        {record: func(r *receipt.Record) { r.RunID = 8 }, kid: kid, says: "its run differs"},
		"another print":      {record: func(r *receipt.Record) { r.StdoutSHA256 = hexSHA256(new("x")) }, kid: kid, says: "its printed text differs"},
		"another verdict": {record: func(r *receipt.Record) {
			r.Verification = &receipt.Verification{Verdict: outcome.VerdictVerified, Basis: outcome.BasisExact, Method: "m"}
		}, kid: kid, says: "its verdict differs"},
		"a session":      {record: func(r *receipt.Record) { r.SessionID = new("s") }, kid: kid, says: "its session differs"},
		"other warnings": {record: func(r *receipt.Record) { r.Warnings = []string{"w"} }, kid: kid, says: "its warnings differs"},
		"a changed record": {sealed: func(e *receipt.Envelope) {
			e.Record = json.RawMessage(strings.Replace(string(e.Record), `"2"`, `"2 "`, 1))
		}, kid: kid, says: "canonical_form"},
		"another hash":       {sealed: func(e *receipt.Envelope) { e.ID = strings.Repeat("0", 64) }, kid: kid, says: "SHA-256"},
		"a changed sign":     {sealed: func(e *receipt.Envelope) { e.Signature = new(strings.Repeat("A", 86) + "==") }, kid: kid, says: "signature"},
		"no signature":       {sealed: func(e *receipt.Envelope) { e.Signature, e.KID, e.UnsignedReason = nil, nil, "no key" }, kid: kid, says: "not signed"},
		"an unpublished key": {sealed: func(e *receipt.Envelope) { e.KID = new("other") }, kid: kid, says: "no key"},
		"a false thumbprint": {kid: "other", says: "is not what its id says"},
	} {
		t.Run(name, func(t *testing.T) {
			record := receipt.Record{
				V: receipt.Version, RunID: 7, Expression: "1+1", Answer: "2", Status: outcome.Success, StdoutSHA256: hexSHA256(nil), Warnings: []string{},
			}
			if c.record != nil {
				c.record(&record)
			}
			seal, err := receipt.SealJSON(record, &receipt.Signer{KID: kid, Key: secret})
			if err != nil {
				t.Fatal(err)
			}
			sealed := seal.Envelope(view.KeysPath, view.ReceiptPath(7))
			if c.sealed != nil {
				c.sealed(&sealed)
			}
			answers := map[string]any{
				"/api/evaluate":     view.Evaluation{Result: "2", Status: outcome.Success, RunID: new(int64(7)), ReceiptURL: new(view.ReceiptPath(7)), Warnings: []string{}},
				view.ReceiptPath(7): sealed,
				view.KeysPath:       map[string]any{"keys": []any{map[string]string{"kty": "OKP", "crv": "Ed25519", "x": keys.EncodeX(public), "kid": c.kid}}},
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = json.NewEncoder(w).Encode(answers[r.URL.Path]) }))
			defer server.Close()
			client := apiClient{session: localSession{URL: server.URL, Cookie: "c", Secret: "s"}, lease: io.NopCloser(nil)}
			defer client.close()
			tried, err := client.try(t.Context(), "1+1", "")
			if err != nil {
				t.Fatal(err)
			}
			if c.says == "" {
				if !tried.good() {
					t.Error(tried.receiptError)
				}
				return
			}
			var shown strings.Builder
			if err := tried.print(&shown, ""); err != nil {
				t.Fatal(err)
			}
			if tried.good() || tried.report().ReceiptVerified || !strings.Contains(shown.String(), "DOES NOT VERIFY") || !strings.Contains(shown.String(), c.says) {
				t.Errorf("no %q in\n%s", c.says, &shown)
			}
		})
	}
}

// TestVerdictAsWritten: where another expression was probably meant, the verdict is said to be about the one that stands there.
func TestVerdictAsWritten(t *testing.T) {
	t.Parallel()
	for _, verdict := range []outcome.Verdict{outcome.VerdictVerified, outcome.VerdictRefuted} {
		for _, asWritten := range []bool{false, true} {
			var p page
			p.verdict(&view.Verification{Verdict: verdict, Basis: outcome.BasisExact, Method: "value_equal"}, asWritten)
			if strings.Contains(p.String(), "as it is written, which may not be what was meant: ") != asWritten {
				t.Errorf("%s, %v:\n%s", verdict, asWritten, p.String())
			}
		}
	}
}

// TestMarked: the line a suggestion is about, with carets below its part, in characters.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text       string
		start, end int
		want       []string
	}{
		{"sin(x)", 0, 6, []string{"sin(x)", "^^^^^^"}},
		{"a;\n\tπ+sin(x)", 6, 12, []string{"\tπ+sin(x)", "\t  ^^^^^^"}},
		{"f[1\n]", 0, 5, []string{"f[1", "^^^"}}, // it goes on in the next line
		{"f[1", 3, 3, []string{"f[1", "   ^"}},
		{"\x1b+x", 2, 3, []string{"\x1b+x", "       ^"}}, // shown as \u001b
		{"x", 0, 2, nil}, {"x", -1, 1, nil}, {"xy", 2, 1, nil},
	} {
		line, carets, ok := marked([]rune(c.text), httpkit.Range{Start: c.start, End: c.end})
		if ok != (c.want != nil) || ok && !slices.Equal([]string{line, carets}, c.want) {
			t.Errorf("%q %d-%d: %q %q %v", c.text, c.start, c.end, line, carets, ok)
		}
	}
}

// TestShellQuoted: a word comes out of a shell as it went in.
func TestShellQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"/a/b-1": "/a/b-1", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := shellQuoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

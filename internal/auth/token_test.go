package auth_test

import (
	"strings"
	"testing"

	"reckon/internal/auth"
)

func TestTokens(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		token := auth.MintToken()
		if len(token) != 43 || !strings.HasPrefix(token, "rk_pat_") || !auth.WellFormed(token) || seen[token] {
			t.Fatalf("minted %q", token)
		}
		seen[token] = true
		if !strings.HasSuffix(token, auth.Last4(token)) || len(auth.Last4(token)) != 4 {
			t.Errorf("last 4 of %q: %q", token, auth.Last4(token))
		}
		changed := []byte(token)
		if changed[20]++; changed[20] != token[20] && auth.WellFormed(string(changed)) {
			t.Errorf("%q accepted after a change", changed)
		}
	}
	// The vector fixes the format: CRC-32 (IEEE) of prefix and secret in base62, most significant digit first.
	if fixed := "rk_pat_000000000000000000000000000000"; !auth.WellFormed(fixed + "3hpkJc") {
		t.Errorf("the checksum of %q has changed", fixed)
	}
	if auth.TokenID("abc") != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error("a token's id is its SHA-256")
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add(auth.MintToken())
	f.Add("rk_pat_")
	f.Add(strings.Repeat("é", 43))
	f.Fuzz(func(t *testing.T, token string) {
		if auth.WellFormed(token) && (len(token) != 43 || strings.ContainsAny(token, " \n\x00'\"")) {
			t.Fatalf("accepted %q", token)
		}
	})
}

package oauth_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestAnAppIsGrantedNoMoreThanItRegistered (RFC 7591 §2): what it registered bounds what it may be granted, whatever it sends later.
func TestAnAppIsGrantedNoMoreThanItRegistered(t *testing.T) {
	t.Parallel()
	p, all := provider(t)
	narrow, err := p.Register(t.Context(), []byte(`{"redirect_uris":["`+registered[0]+`"],"scope":"history:read evaluate nonsense"}`))
	if err != nil || narrow.Scope != "evaluate history:read" {
		t.Fatalf("%+v, %v", narrow, err)
	}
	if _, err := p.Register(t.Context(), []byte(`{"redirect_uris":["`+registered[0]+`"],"scope":"nonsense"}`)); err == nil {
		t.Error("an app without any scope is registered")
	}
	grant := func(client, scopes string) string {
		query := url.Values{"client_id": {client}, "redirect_uri": {registered[0]}, "response_type": {"code"}, "code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"}}
		if scopes != "" {
			query.Set("scope", scopes)
		}
		a, err := p.Authorize(t.Context(), "https://reckon.example", "192.0.2.1", query.Encode())
		if err != nil {
			return err.Error()
		}
		return a.Scopes.String()
	}
	for scopes, want := range map[string]string{"": "evaluate history:read", "evaluate": "evaluate", "evaluate jobs:read": "evaluate"} {
		if got := grant(narrow.ClientID, scopes); got != want {
			t.Errorf("of %q it is granted %q, want %q", scopes, got, want)
		}
	}
	if got := grant(narrow.ClientID, "jobs:read"); !strings.Contains(got, "evaluate history:read") {
		t.Errorf("of another scope: %q", got)
	}
	if got := grant(all, "evaluate jobs:read"); got != "evaluate jobs:read" {
		t.Errorf("an app that registered no scope is granted %q", got)
	}
}

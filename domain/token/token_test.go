package token_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/domain/token"
)

func TestToken(t *testing.T) {
	given := decidertest.Given[token.Command, token.State]
	expiry := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	minted := token.Minted{TokenID: "h", Account: "a", Name: "n", Last4: "abcd", FullAccess: true, Scopes: []string{}, ExpiresAt: "2027-01-02T03:04:05.000Z"}
	revoked := token.Revoked{TokenID: "h", Account: "a"}
	mint := token.Mint{TokenID: "h", Account: "a", Name: "n", Last4: "abcd", ExpiresAt: expiry}

	given(t, token.Decider).When(mint).Then(minted)
	limited := mint
	limited.Scopes = scope.Of(scope.MCP, scope.Evaluate)
	given(t, token.Decider).When(limited).Then(token.Minted{TokenID: "h", Account: "a", Name: "n", Last4: "abcd", Scopes: []string{"evaluate", "mcp"}, ExpiresAt: "2027-01-02T03:04:05.000Z"})
	given(t, token.Decider, minted).When(mint).ThenRefused(token.ErrAlreadyMinted)
	given(t, token.Decider).When(token.Revoke{TokenID: "h", Account: "a"}).ThenRefused(token.ErrNotFound)
	given(t, token.Decider, minted).When(token.Revoke{TokenID: "h", Account: "b"}).ThenRefused(token.ErrNotFound)
	given(t, token.Decider, minted).When(token.Revoke{TokenID: "h", Account: "a"}).Then(revoked)
	given(t, token.Decider, minted, revoked).When(token.Revoke{TokenID: "h", Account: "a"}).ThenNothing()

	fold := func(events ...event.Event) token.State { return token.Decider.Fold(events) }
	for name, c := range map[string]struct {
		state token.State
		at    time.Time
		want  bool
	}{
		"absent":  {fold(), expiry.Add(-time.Second), false},
		"valid":   {fold(minted), expiry.Add(-time.Second), true},
		"expired": {fold(minted), expiry, false},
		"revoked": {fold(minted, revoked), expiry.Add(-time.Second), false},
		"eternal": {fold(token.Minted{TokenID: "h", Account: "a"}), expiry.AddDate(50, 0, 0), true},
	} {
		if got := c.state.ValidAt(c.at); got != c.want {
			t.Errorf("%s: valid %v, want %v", name, got, c.want)
		}
	}
}

// TestScopes: a token of version 1 may do everything, and one whose event names no scope that this binary knows nothing.
func TestScopes(t *testing.T) {
	catalogue, err := event.NewCatalogue(token.Events())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		version int
		stored  string
		full    bool
		scopes  scope.Set
	}{
		"version 1":       {1, `{"token_id":"h","account":"a","name":"n","last4":"abcd"}`, true, scope.Set{}},
		"full access":     {2, `{"token_id":"h","account":"a","name":"n","last4":"abcd","full_access":true}`, true, scope.Set{}},
		"scopes":          {2, `{"token_id":"h","account":"a","name":"n","last4":"abcd","full_access":false,"scopes":["verify","of a later version"]}`, false, scope.Of(scope.Verify)},
		"of later binary": {2, `{"token_id":"h","account":"a","name":"n","last4":"abcd","full_access":false,"scopes":["of a later version"]}`, false, scope.Set{}},
	} {
		e, err := catalogue.Decode("token.minted", c.version, []byte(c.stored))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s := token.Decider.Fold([]event.Event{e}); s.FullAccess != c.full || s.Scopes != c.scopes || s.Name != "n" || s.Account != "a" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := catalogue.Decode("token.minted", 1, []byte(`[]`)); err == nil {
		t.Error("what is no object became a token")
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"laptop": "laptop", "  my laptop\t\n": "my laptop", "ноутбук 💻": "ноутбук 💻", strings.Repeat("é", 100): strings.Repeat("é", 100),
		"": "", " \u00a0\u2003": "", "a\nb": "", "a\x1b[31m": "", "a\u202eb": "", "a\u200bb": "", "a\u00a0b": "", strings.Repeat("x", 101): "",
	} {
		got, err := token.CleanName(name)
		if got != want || (want == "") != errors.Is(err, token.ErrInvalidName) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

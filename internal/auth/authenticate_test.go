package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/domain/token"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
)

// streams is a log as authentication reads it.
type streams map[string][]event.Event

func (s streams) Token(_ context.Context, id string) (token.State, error) {
	return token.Decider.Fold(s[token.Stream(id)]), nil
}

func (s streams) Grant(_ context.Context, id string) (grant.State, error) {
	return grant.Decider.Fold(s[grant.Stream(id)]), nil
}

func (s streams) Account(_ context.Context, id string) (account.State, error) {
	return account.Decider.Fold(s[account.Stream(id)]), nil
}

// sessions are the browser sessions, by secret.
type sessions map[string]string

func (s sessions) SessionAccount(_ context.Context, secret string) (string, error) {
	if owner, live := s[secret]; live {
		return owner, nil
	}
	return "", auth.ErrSessionNotFound
}

func TestAuthenticate(t *testing.T) {
	secret, now := auth.MintToken(), time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	id := auth.TokenID(secret)
	limited := auth.MintToken()
	limitedID := auth.TokenID(limited)
	log := streams{
		account.Stream("a"):     {account.Registered{Account: "a", Plan: "free"}, account.PlanChanged{Account: "a", Plan: "pro"}},
		token.Stream(id):        {token.Minted{TokenID: id, Account: "a", Name: "n", FullAccess: true}},
		token.Stream(limitedID): {token.Minted{TokenID: limitedID, Account: "a", Name: "l", Scopes: []string{"evaluate", "a scope of a later version"}}},
	}
	used := 0
	a := &auth.Authenticator{
		Credentials: log, Sessions: sessions{"cookie": "a", "orphan": "nobody", "attacker": "b"}, Now: func() time.Time { return now },
		TokenUsed: func(context.Context, string) { used++ },
		MetadataURL: func(_ context.Context, resource access.Resource) string {
			return "https://reckon.example/.well-known/oauth-protected-resource" + resource.Path()
		},
	}
	ask := func(rule access.Rule, header, cookie string) (auth.Principal, *httpkit.Problem) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		for value := range strings.FieldsSeq(cookie) {
			r.AddCookie(&http.Cookie{Name: auth.PlainCookie, Value: value})
		}
		ctx, err := a.Authenticate(r, rule)
		if err == nil {
			return auth.PrincipalOf(ctx), nil
		}
		var problem *httpkit.Problem
		if !errors.As(err, &problem) {
			problem = &httpkit.Problem{Code: "none"}
		}
		return auth.Principal{}, problem
	}
	evaluate, firstParty, browserOnly := access.Rule{Who: access.Scoped, Scope: scope.Evaluate}, access.Rule{Who: access.FirstParty}, access.Rule{Who: access.BrowserOnly}
	verify := access.Rule{Who: access.Scoped, Scope: scope.Verify}
	byToken := auth.Principal{Account: "a", Plan: "pro", Actor: "token:" + id, FullAccess: true, TokenID: id}
	byCookie := auth.Principal{Account: "a", Plan: "pro", Actor: "session:" + auth.SignInID("cookie"), FullAccess: true, Secret: "cookie"}
	byLimited := auth.Principal{Account: "a", Plan: "pro", Actor: "token:" + limitedID, Scopes: scope.Of(scope.Evaluate), TokenID: limitedID}
	for name, c := range map[string]struct {
		rule           access.Rule
		header, cookie string
		want           auth.Principal
		code           string
	}{
		"public":                  {access.Rule{Who: access.Public}, "Bearer nonsense", "", auth.Principal{}, ""},
		"token":                   {evaluate, "Bearer " + secret, "", byToken, ""},
		"token, first party":      {firstParty, "Bearer " + secret, "", byToken, ""},
		"token, browser only":     {browserOnly, "Bearer " + secret, "cookie", auth.Principal{}, "first_party_only"},
		"scope":                   {evaluate, "Bearer " + limited, "", byLimited, ""},
		"another scope":           {verify, "Bearer " + limited, "", auth.Principal{}, "insufficient_scope"},
		"scopes, first party":     {firstParty, "Bearer " + limited, "", auth.Principal{}, "first_party_only"},
		"scopes, browser only":    {browserOnly, "Bearer " + limited, "cookie", auth.Principal{}, "first_party_only"},
		"garbage, browser only":   {browserOnly, "Bearer x", "cookie", auth.Principal{}, "invalid_token"},
		"a route without a rule":  {access.Rule{}, "", "cookie", auth.Principal{}, "none"},
		"cookie":                  {evaluate, "", "cookie", byCookie, ""},
		"cookie, browser only":    {browserOnly, "", "cookie", byCookie, ""},
		"a bad header is no door": {evaluate, "Bearer x", "cookie", auth.Principal{}, "invalid_token"},
		"nothing":                 {evaluate, "", "", auth.Principal{}, "unauthenticated"},
		"unknown cookie":          {evaluate, "", "x", auth.Principal{}, "unauthenticated"},
		"planted cookies":         {evaluate, "", "x y cookie z cookie", byCookie, ""},
		"another's live cookie":   {evaluate, "", "attacker cookie", auth.Principal{}, "unauthenticated"},
		"too many cookies":        {evaluate, "", "1 2 3 4 5 6 7 8 cookie", auth.Principal{}, "unauthenticated"},
		"account not in the log":  {evaluate, "", "orphan", auth.Principal{}, "unauthenticated"},
	} {
		got, problem := ask(c.rule, c.header, c.cookie)
		switch {
		case problem == nil && (c.code != "" || got != c.want):
			t.Errorf("%s: %+v", name, got)
		case problem != nil && problem.Code != c.code:
			t.Errorf("%s: %s, want %q", name, problem.Code, c.code)
		case problem != nil && problem.Status == http.StatusUnauthorized:
			want := `Bearer resource_metadata="https://reckon.example/.well-known/oauth-protected-resource"`
			if c.rule.Scope != "" {
				want += `, scope="` + string(c.rule.Scope) + `"`
			}
			if c.code == "invalid_token" {
				want += `, error="invalid_token"`
			}
			if got := problem.GetHeaders().Get("WWW-Authenticate"); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	const forbidden = `Bearer resource_metadata="https://reckon.example/.well-known/oauth-protected-resource", error="insufficient_scope", scope="verify"`
	if _, problem := ask(verify, "Bearer "+limited, ""); problem.GetHeaders().Get("WWW-Authenticate") != forbidden {
		t.Errorf("%s", problem.GetHeaders())
	}
	if used != 3 {
		t.Errorf("the token's use was told %d times", used)
	}
	log[token.Stream(id)] = append(log[token.Stream(id)], token.Revoked{TokenID: id, Account: "a"})
	if _, problem := ask(evaluate, "Bearer "+secret, ""); problem == nil || problem.Code != "invalid_token" {
		t.Errorf("a revoked token: %v", problem)
	}
	log[account.Stream("a")] = append(log[account.Stream("a")], account.Closed{Account: "a"})
	if _, problem := ask(evaluate, "", "cookie"); problem == nil || problem.Code != "unauthenticated" {
		t.Errorf("a closed account: %v", problem)
	}
}

package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/token"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
)

// streams is a log as authentication reads it.
type streams map[string][]event.Event

func (s streams) Token(_ context.Context, id string) (token.State, error) {
	return token.Decider.Fold(s[token.Stream(id)]), nil
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
	log := streams{
		account.Stream("a"): {account.Registered{Account: "a", Plan: "free"}, account.PlanChanged{Account: "a", Plan: "pro"}},
		token.Stream(id):    {token.Minted{TokenID: id, Account: "a", Name: "n"}},
	}
	used := 0
	a := &auth.Authenticator{
		Credentials: log, Sessions: sessions{"cookie": "a", "orphan": "nobody"}, Now: func() time.Time { return now },
		TokenUsed:   func(context.Context, string) { used++ },
		MetadataURL: "https://reckon.example/.well-known/oauth-protected-resource",
	}
	ask := func(access httpkit.Access, header, cookie string) (auth.Principal, *httpkit.Problem) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if cookie != "" {
			r.AddCookie(&http.Cookie{Name: auth.PlainCookie, Value: cookie})
		}
		ctx, err := a.Authenticate(r, httpkit.Route{Access: access})
		if err == nil {
			return auth.PrincipalOf(ctx), nil
		}
		var problem *httpkit.Problem
		if !errors.As(err, &problem) {
			t.Fatal(err)
		}
		return auth.Principal{}, problem
	}
	byToken := auth.Principal{Account: "a", Plan: "pro", Actor: "token:" + id, TokenID: id}
	byCookie := auth.Principal{Account: "a", Plan: "pro", Actor: "session", Secret: "cookie"}
	for name, c := range map[string]struct {
		access         httpkit.Access
		header, cookie string
		want           auth.Principal
		code           string
	}{
		"public":                  {httpkit.Public, "Bearer nonsense", "", auth.Principal{}, ""},
		"token":                   {httpkit.Bearer, "Bearer " + secret, "", byToken, ""},
		"token, first party":      {httpkit.FirstParty, "Bearer " + secret, "", byToken, ""},
		"token, browser only":     {httpkit.BrowserOnly, "Bearer " + secret, "cookie", auth.Principal{}, "first_party_only"},
		"cookie":                  {httpkit.Bearer, "", "cookie", byCookie, ""},
		"cookie, browser only":    {httpkit.BrowserOnly, "", "cookie", byCookie, ""},
		"a bad header is no door": {httpkit.Bearer, "Bearer x", "cookie", auth.Principal{}, "invalid_token"},
		"nothing":                 {httpkit.Bearer, "", "", auth.Principal{}, "unauthenticated"},
		"unknown cookie":          {httpkit.Bearer, "", "x", auth.Principal{}, "unauthenticated"},
		"account not in the log":  {httpkit.Bearer, "", "orphan", auth.Principal{}, "invalid_token"},
	} {
		got, problem := ask(c.access, c.header, c.cookie)
		switch {
		case problem == nil && (c.code != "" || got != c.want):
			t.Errorf("%s: %+v", name, got)
		case problem != nil && problem.Code != c.code:
			t.Errorf("%s: %s, want %q", name, problem.Code, c.code)
		case problem != nil && problem.Status == http.StatusUnauthorized:
			want := `Bearer resource_metadata="https://reckon.example/.well-known/oauth-protected-resource"`
			if c.code == "invalid_token" {
				want += `, error="invalid_token"`
			}
			if got := problem.GetHeaders().Get("WWW-Authenticate"); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	if used != 2 {
		t.Errorf("the token's use was told %d times", used)
	}
	log[token.Stream(id)] = append(log[token.Stream(id)], token.Revoked{TokenID: id, Account: "a"})
	if _, problem := ask(httpkit.Bearer, "Bearer "+secret, ""); problem == nil || problem.Code != "invalid_token" {
		t.Errorf("a revoked token: %v", problem)
	}
	log[account.Stream("a")] = append(log[account.Stream("a")], account.Closed{Account: "a"})
	if _, problem := ask(httpkit.Bearer, "", "cookie"); problem == nil || problem.Code != "invalid_token" {
		t.Errorf("a closed account: %v", problem)
	}
}

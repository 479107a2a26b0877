package writeapi

import (
	"context"
	"net/http"
	"time"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/domain/token"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type mintInput struct {
	Body struct {
		Name          string        `json:"name" minLength:"1" maxLength:"100" doc:"Your own name for the token: 1 to 100 printable characters. White space around it is removed" example:"laptop"`
		Scopes        []scope.Scope `json:"scopes,omitempty" minItems:"1" maxItems:"20" enum:"@scopes" doc:"What the token may do: names of scopes. Absent: everything that the account may, also what no scope covers" example:"[\"evaluate\",\"history:read\"]"`
		ExpiresInDays int           `json:"expires_in_days,omitempty" minimum:"1" maximum:"3650" doc:"Absent: the token does not expire"`
	}
}

type mintOutput struct {
	Body struct {
		TokenID   string        `json:"token_id" pattern:"^[0-9a-f]{64}$" doc:"Id of the token: SHA-256 of its secret, hexadecimal"`
		Token     string        `json:"token" pattern:"^rk_pat_[0-9A-Za-z]{36}$" doc:"The secret; it is shown this once"`
		Name      string        `json:"name" doc:"Your name for the token"`
		Scopes    []scope.Scope `json:"scopes" nullable:"true" enum:"@scopes" doc:"What it may do: names of scopes; null: everything that the account may"`
		CreatedAt string        `json:"created_at" format:"date-time" doc:"When it was minted: RFC 3339, UTC, milliseconds"`
		ExpiresAt *string       `json:"expires_at" format:"date-time" doc:"When it stops being valid: RFC 3339, UTC, milliseconds; null: never"`
	}
}

type tokenIDInput struct {
	ID string `path:"id" doc:"token_id" pattern:"^[0-9a-f]{64}$" patternDescription:"64 hexadecimal digits"`
}

type revokeOutput struct {
	Body struct {
		TokenID string `json:"token_id" pattern:"^[0-9a-f]{64}$" doc:"Id of the token"`
		Revoked bool   `json:"revoked" doc:"Always true: the token authenticates nothing from now on"`
	}
}

func (s Services) registerTokens(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/tokens", ID: "mint-token", Tag: "Account", Summary: "Mint an API token",
		Description: "Needs a browser session: a token cannot make tokens. The answer is the only place the secret appears.",
		Errors:      problems, ReturnsToken: true,
		Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.mintToken)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodDelete, Path: "/api/tokens/{id}", ID: "revoke-token", EndsCredential: true, Tag: "Account", Summary: "Revoke an API token",
		Description: "It takes effect at once; what was computed with it stays. Revoking it again answers the same.",
		Errors:      problems, ReturnsToken: true,
		Kinds: []httpkit.Kind{httpkit.NoSuchToken, httpkit.Unavailable},
	}, s.revokeToken)
}

func (s Services) mintToken(ctx context.Context, in *mintInput) (*mintOutput, error) {
	name, err := token.CleanName(in.Body.Name)
	if err != nil {
		return nil, err
	}
	secret, intent, scopes := auth.MintToken(), s.intent(ctx), scope.Of(in.Body.Scopes...)
	var expires time.Time
	if days := in.Body.ExpiresInDays; days > 0 {
		expires = intent.At.AddDate(0, 0, days)
	}
	id := auth.TokenID(secret)
	at, err := commands.MintToken(ctx, s.Store, intent, id, name, auth.Last4(secret), scopes, expires)
	if err != nil {
		return nil, err
	}
	s.announceWrite(ctx, intent.Account, at)
	out := &mintOutput{}
	out.Body.TokenID, out.Body.Token, out.Body.Name = id, secret, name
	out.Body.Scopes = view.Scopes(scopes)
	out.Body.CreatedAt = event.Timestamp(intent.At)
	if !expires.IsZero() {
		written := event.Timestamp(expires)
		out.Body.ExpiresAt = &written
	}
	return out, nil
}

func (s Services) revokeToken(ctx context.Context, in *tokenIDInput) (*revokeOutput, error) {
	intent := s.intent(ctx)
	at, err := commands.RevokeToken(ctx, s.Store, intent, in.ID)
	if err != nil {
		return nil, err
	}
	s.announceWrite(ctx, intent.Account, at)
	out := &revokeOutput{}
	out.Body.TokenID, out.Body.Revoked = in.ID, true
	return out, nil
}

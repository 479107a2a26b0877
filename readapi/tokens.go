package readapi

import (
	"context"
	"net/http"

	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type tokensInput struct {
	Freshness
	Page
}

type tokensOutput struct {
	Body struct {
		Tokens []tokenRow `json:"tokens" doc:"Newest first; revoked ones are gone"`
		view.NextPage
	}
}

type tokenRow struct {
	TokenID    string        `json:"token_id" pattern:"^[0-9a-f]{64}$" doc:"Id of the token: SHA-256 of its secret, hexadecimal"`
	Name       string        `json:"name" doc:"Your name for the token"`
	Last4      string        `json:"last4" minLength:"4" maxLength:"4" doc:"The last four characters of the secret"`
	Scopes     []scope.Scope `json:"scopes" nullable:"true" enum:"@scopes" doc:"What it may do: names of scopes; null: everything that the account may"`
	CreatedAt  string        `json:"created_at" format:"date-time" doc:"When it was minted: RFC 3339, UTC, milliseconds"`
	ExpiresAt  *string       `json:"expires_at" format:"date-time" doc:"When it stops being valid: RFC 3339, UTC, milliseconds; null: never"`
	Expired    bool          `json:"expired" doc:"Whether it has expired: it authenticates nothing any more"`
	LastUsedOn *string       `json:"last_used_on" format:"date" doc:"UTC day it was last used on; null: not yet"`
}

func (s Services) registerTokens(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/tokens", ID: "list-tokens", Tag: "Account", Summary: "API tokens",
		Description: "Your tokens that were not revoked, without their secrets. Give the Consistency-Token of a write to have it in the list.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.tokens)
}

func (s Services) tokens(ctx context.Context, in *tokensInput) (*tokensOutput, error) {
	if err := s.waitUntilApplied(ctx, "tokens", in.Token); err != nil {
		return nil, err
	}
	rows, next, err := s.Models.Tokens.List(ctx, auth.PrincipalOf(ctx).Account, in.asked())
	if err != nil {
		return nil, refusedQuery(err)
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.TokenID
	}
	used, err := s.TokenUse(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := &tokensOutput{}
	out.Body.NextBefore = view.NullIfEmpty(next)
	out.Body.Tokens = make([]tokenRow, len(rows))
	now := s.Now()
	for i, row := range rows {
		out.Body.Tokens[i] = tokenRow{
			TokenID: row.TokenID, Name: string(row.Name), Last4: row.Last4, Scopes: view.Scopes(row.ScopeSet()), CreatedAt: event.Timestamp(row.CreatedAt()),
			ExpiresAt: view.NullIfEmpty(row.ExpiresAt), Expired: row.ExpiredAt(now), LastUsedOn: view.NullIfEmpty(used[row.TokenID]),
		}
	}
	return out, nil
}

package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type sessionsOutput struct {
	Body struct {
		Sessions       []sessionRow `json:"sessions"`
		IdleTTLSeconds int64        `json:"idle_ttl_seconds" doc:"A session that is idle for so long expires"`
	}
}

type sessionRow struct {
	SessionID   string `json:"session_id"`
	CreatedAt   string `json:"created_at" format:"date-time"`
	LastUsedAt  string `json:"last_used_at" format:"date-time"`
	ExpiresAt   string `json:"expires_at" format:"date-time" doc:"When it expires unless it is used before"`
	Evaluations int64  `json:"evaluations"`
	Busy        bool   `json:"busy" doc:"It is evaluating now"`
}

type tokensInput struct {
	Freshness
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"before" maxLength:"32" doc:"next_before of the page before"`
}

type tokensOutput struct {
	Body struct {
		Tokens     []tokenRow `json:"tokens" doc:"Newest first; revoked ones are gone"`
		NextBefore *string    `json:"next_before" doc:"For the next page; null on the last"`
	}
}

type tokenRow struct {
	TokenID    string  `json:"token_id"`
	Name       string  `json:"name"`
	Last4      string  `json:"last4" doc:"The last four characters of the secret part"`
	CreatedAt  string  `json:"created_at" format:"date-time"`
	ExpiresAt  *string `json:"expires_at" format:"date-time"`
	LastUsedOn *string `json:"last_used_on" format:"date" doc:"UTC day"`
}

func (s Services) registerSessions(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/sessions", ID: "list-sessions", Tag: "Sessions", Summary: "Live sessions",
		Access: httpkit.Bearer, Scope: "sessions:write", Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.sessions)
}

func (s Services) registerTokens(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/tokens", ID: "list-tokens", Tag: "Account", Summary: "API tokens",
		Access: httpkit.FirstParty, Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.tokens)
}

func (s Services) sessions(ctx context.Context, in *Freshness) (*sessionsOutput, error) {
	if err := s.settle(ctx, "sessions", in.Token); err != nil {
		return nil, err
	}
	account := auth.Caller(ctx).Account
	rows, err := s.Models.Sessions.List(ctx, account)
	if err != nil {
		return nil, err
	}
	out := &sessionsOutput{}
	out.Body.IdleTTLSeconds = int64(s.SessionIdle / time.Second)
	out.Body.Sessions = make([]sessionRow, len(rows))
	for i, row := range rows {
		out.Body.Sessions[i] = sessionRow{
			SessionID: row.SessionID, CreatedAt: event.Timestamp(row.CreatedAt()), LastUsedAt: event.Timestamp(row.LastUsedAt()),
			ExpiresAt: event.Timestamp(row.LastUsedAt().Add(s.SessionIdle)), Evaluations: row.Evaluations,
			Busy: s.Busy(account, row.SessionID, row.Epoch),
		}
	}
	return out, nil
}

func (s Services) tokens(ctx context.Context, in *tokensInput) (*tokensOutput, error) {
	if err := s.settle(ctx, "tokens", in.Token); err != nil {
		return nil, err
	}
	rows, next, err := s.Models.Tokens.List(ctx, auth.Caller(ctx).Account, in.Limit, in.Before)
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
	out.Body.NextBefore = view.Optional(next)
	out.Body.Tokens = make([]tokenRow, len(rows))
	for i, row := range rows {
		out.Body.Tokens[i] = tokenRow{
			TokenID: row.TokenID, Name: string(row.Name), Last4: row.Last4, CreatedAt: event.Timestamp(row.CreatedAt()),
			ExpiresAt: view.Optional(row.ExpiresAt), LastUsedOn: view.Optional(used[row.TokenID]),
		}
	}
	return out, nil
}

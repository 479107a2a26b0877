package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
)

type sessionsOutput struct {
	Body struct {
		Sessions       []sessionRow `json:"sessions" doc:"By name; at most as many as the plan allows"`
		IdleTTLSeconds int64        `json:"idle_ttl_seconds" doc:"Idle time after which a session expires, in seconds"`
	}
}

type sessionRow struct {
	SessionID   string `json:"session_id" doc:"Your name for the session"`
	CreatedAt   string `json:"created_at" format:"date-time" doc:"When it was opened: RFC 3339, UTC, milliseconds"`
	LastUsedAt  string `json:"last_used_at" format:"date-time" doc:"When its last evaluation was logged: RFC 3339, UTC, milliseconds"`
	ExpiresAt   string `json:"expires_at" format:"date-time" doc:"When it expires unless it is used before: RFC 3339, UTC, milliseconds"`
	Evaluations int64  `json:"evaluations" doc:"Number of evaluations in it so far"`
	Busy        bool   `json:"busy" doc:"Whether it is evaluating now, where this process can tell"`
}

func (s Services) registerSessions(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/sessions", ID: "list-sessions", Tag: "Sessions", Summary: "Live sessions",
		Description: "The sessions that hold variables and definitions now. Give the Consistency-Token of a write to have it in the list.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.sessions)
}

func (s Services) sessions(ctx context.Context, in *Freshness) (*sessionsOutput, error) {
	if err := s.waitUntilApplied(ctx, "sessions", in.Token); err != nil {
		return nil, err
	}
	account := auth.PrincipalOf(ctx).Account
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

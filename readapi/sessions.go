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

func (s Services) registerSessions(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/sessions", ID: "list-sessions", Tag: "Sessions", Summary: "Live sessions",
		Access: httpkit.Bearer, Scope: "sessions:write", Kinds: []httpkit.Kind{httpkit.Unavailable},
	}, s.sessions)
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

package writeapi

import (
	"context"
	"net/http"

	"reckon/commands"
	"reckon/domain/session"
	"reckon/internal/httpkit"
)

type sessionIDInput struct {
	ID string `path:"id" describedPattern:"^[A-Za-z0-9._-]{1,64}$" doc:"session_id" example:"notebook-1"`
}

type clearedOutput struct {
	Body struct {
		SessionID string `json:"session_id" doc:"Your name for the session"`
		Existed   bool   `json:"existed" doc:"Whether there was a live session of that name"`
	}
}

func (s Services) registerSessions(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodDelete, Path: "/api/sessions/{id}", ID: "clear-session", Tag: "Sessions", Summary: "Clear a session",
		Description: "Its variables and definitions are gone; the name may be used again.",
		Errors:      problems, ReturnsToken: true,
		Kinds: []httpkit.Kind{httpkit.InvalidSessionID, httpkit.Unavailable},
	}, s.clearSession)
}

func (s Services) clearSession(ctx context.Context, in *sessionIDInput) (*clearedOutput, error) {
	if !session.ValidID(in.ID) {
		return nil, commands.ErrInvalidSessionID
	}
	intent := s.intent(ctx)
	existed, epoch, at, err := commands.ClearSession(ctx, s.Store, intent, in.ID)
	if err != nil {
		return nil, err
	}
	if existed {
		s.CloseSessionWorker(commands.SessionKey(intent.Account, in.ID, epoch))
		s.announceWrite(ctx, intent.Account, at)
	}
	out := &clearedOutput{}
	out.Body.SessionID, out.Body.Existed = in.ID, existed
	return out, nil
}

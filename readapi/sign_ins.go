package readapi

import (
	"context"
	"net/http"

	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type signInsOutput struct {
	Body struct {
		SignIns []signInRow `json:"sign_ins" doc:"Newest first; at most 100: one more ends the oldest"`
	}
}

type signInRow struct {
	SignInID   string  `json:"sign_in_id" pattern:"^[0-9a-f]{32}$" doc:"Id of the sign-in; it opens nothing"`
	Current    bool    `json:"current" doc:"Whether this request was made with it"`
	CreatedAt  string  `json:"created_at" format:"date-time" doc:"When its password was given: RFC 3339, UTC, milliseconds"`
	ExpiresAt  string  `json:"expires_at" format:"date-time" doc:"When it ends by itself: RFC 3339, UTC, milliseconds"`
	LastUsedOn *string `json:"last_used_on" format:"date" doc:"UTC day it was last used on; null: not yet"`
	Agent      *string `json:"agent" doc:"What the browser called itself, at most 100 bytes of it; null: nothing"`
	Network    *string `json:"network" doc:"Where it came from, as the IPv4 /24 or IPv6 /48 of its address; null: not known" example:"203.0.113.0/24"`
}

func (s Services) registerSignIns(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/sign-ins", ID: "list-sign-ins", Tag: "Account", Summary: "Browsers signed in",
		Description: "The browser sessions of the account that have not ended. DELETE one that you do not know, and change the password.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.signIns)
}

func (s Services) signIns(ctx context.Context, _ *struct{}) (*signInsOutput, error) {
	caller := auth.PrincipalOf(ctx)
	list, err := s.SignIns(ctx, caller.Account, caller.Secret)
	if err != nil {
		return nil, err
	}
	out := &signInsOutput{}
	out.Body.SignIns = make([]signInRow, len(list))
	for i, signedIn := range list {
		out.Body.SignIns[i] = signInRow{
			SignInID: signedIn.ID, Current: signedIn.Current, CreatedAt: event.Timestamp(signedIn.CreatedAt), ExpiresAt: event.Timestamp(signedIn.ExpiresAt),
			LastUsedOn: view.NullIfEmpty(signedIn.LastUsedOn), Agent: view.NullIfEmpty(signedIn.Agent), Network: view.NullIfEmpty(signedIn.Network),
		}
	}
	return out, nil
}

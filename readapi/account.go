package readapi

import (
	"context"
	"net/http"

	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type accountOutput struct {
	Body struct {
		UserID string  `json:"user_id" format:"uuid" doc:"Id of the account, as registering answered it"`
		Email  *string `json:"email" doc:"Its address; null: it has none"`
		Plan   string  `json:"plan" doc:"Name of the plan in force"`
	}
}

func (s Services) registerAccount(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/account", ID: "get-account", Tag: "Account", Summary: "Whose credential this is",
		Description: "The account that a browser session or an API token is of.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.account)
}

func (s Services) account(ctx context.Context, _ *struct{}) (*accountOutput, error) {
	caller := auth.PrincipalOf(ctx)
	email, err := s.EmailOf(ctx, caller.Account)
	if err != nil {
		return nil, err
	}
	out := &accountOutput{}
	out.Body.UserID, out.Body.Email, out.Body.Plan = caller.Account, view.NullIfEmpty(email), caller.Plan
	return out, nil
}

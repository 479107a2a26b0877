package workbench

import (
	"net/http"
	"net/url"
	"strconv"

	"reckon/internal/httpkit"
)

// accountShown is what may act for an account.
type accountShown struct {
	Tokens []struct {
		TokenID    string `json:"token_id"`
		Name       string
		Last4      string
		Scopes     []string
		CreatedAt  string  `json:"created_at"`
		ExpiresAt  *string `json:"expires_at"`
		Expired    bool
		LastUsedOn *string `json:"last_used_on"`
	}
	MoreTokens  *string `json:"next_before"`
	Connections []struct {
		ConnectionID string `json:"connection_id"`
		ClientName   string `json:"client_name"`
		Resource     string
		Scopes       []string
		CreatedAt    string  `json:"created_at"`
		LastUsedOn   *string `json:"last_used_on"`
	}
	SignIns []struct {
		SignInID   string `json:"sign_in_id"`
		Agent      *string
		Network    *string
		Current    bool
		CreatedAt  string  `json:"created_at"`
		LastUsedOn *string `json:"last_used_on"`
	} `json:"sign_ins"`
	Minted *struct{ Token, Name string } // just now; shown this once
	Base   string                        // of this service; empty: not known
	Done   done
}

func (v *visit) accountPage() { v.showAccount(accountShown{Done: v.justDone()}, nil) }

func (v *visit) showAccount(page accountShown, refused *refusal) {
	page.Base = httpkit.RequestOf(v.r.Context()).Base
	for _, list := range []string{"/api/tokens?limit=100", "/api/connections", "/api/sign-ins"} {
		if _, problem := v.ask(http.MethodGet, list, nil, &page); problem != nil {
			v.show("account", shown{Title: "Account", Section: "account", Problem: problem})
			return
		}
	}
	v.showWithStatus("account", shown{Title: "Account", Section: "account", Page: page, Refused: refused}, refused)
}

// accountForm does what its button says.
func (v *visit) accountForm() {
	page := accountShown{}
	var problem *refusal
	what := ""
	switch id := url.PathEscape(v.field("id")); v.field("do") {
	case "mint":
		body := map[string]any{"name": v.field("name")}
		if days, err := strconv.Atoi(v.field("days")); err == nil {
			body["expires_in_days"] = days
		}
		if scopes := v.r.PostForm["scope"]; len(scopes) > 0 {
			body["scopes"] = scopes
		}
		_, problem = v.ask(http.MethodPost, "/api/tokens", body, &page.Minted)
	case "revoke":
		_, problem = v.ask(http.MethodDelete, "/api/tokens/"+id, nil, nil)
		what = "revoked"
	case "disconnect":
		_, problem = v.ask(http.MethodDelete, "/api/connections/"+id, nil, nil)
		what = "disconnected"
	case "end":
		_, problem = v.ask(http.MethodDelete, "/api/sign-ins/"+id, nil, nil)
		what = "ended"
	default:
		problem = &refusal{Problem: *httpkit.InvalidRequest.Problem("the form does not say what to do")}
	}
	if problem == nil && what != "" {
		v.goOnHaving(done{What: what}, "/account")
		return
	}
	v.showAccount(page, problem)
}

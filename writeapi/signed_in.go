package writeapi

import (
	"context"
	"net/http"

	"reckon/commands"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/ratelimit"
)

type signInIDInput struct {
	ID string `path:"id" doc:"sign_in_id" pattern:"^[0-9a-f]{32}$" patternDescription:"32 hexadecimal digits"`
}

type signInEndedOutput struct {
	Body struct {
		SignInID string `json:"sign_in_id" pattern:"^[0-9a-f]{32}$" doc:"Id of the sign-in"`
		Ended    bool   `json:"ended" doc:"Always true: its cookie authenticates nothing from now on"`
	}
}

type passwordInput struct {
	Body struct {
		CurrentPassword string `json:"current_password" doc:"The account's password"`
		NewPassword     string `json:"new_password" minLength:"8" maxLength:"128" doc:"8 to 128 characters"`
	}
}

type passwordChangedOutput struct {
	Body struct {
		Changed bool `json:"changed" doc:"Always true: the new password is in force and all other sign-ins have ended"`
	}
}

type closeInput struct {
	Body struct {
		CurrentPassword string `json:"current_password" doc:"The account's password"`
	}
}

type closedOutput struct {
	Body struct {
		UserID string `json:"user_id" format:"uuid" doc:"Id of the account"`
		Closed bool   `json:"closed" doc:"Always true: no credential of the account is accepted from now on"`
	}
}

func (s Services) registerSignIns(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodDelete, Path: "/api/sign-ins/{id}", ID: "end-sign-in", EndsCredential: true, Tag: "Account", Summary: "End a sign-in",
		Description: "Signs out a browser of yours, this one or another. It takes effect at once.",
		Errors:      problems, Kinds: []httpkit.Kind{httpkit.NoSuchSignIn, httpkit.Unavailable},
	}, s.endSignIn)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/auth/password", ID: "change-password", Tag: "Account", Summary: "Change the password",
		Description: "Ends all other sign-ins of the account, at once. API tokens stay valid: revoke those that you do not trust.",
		Errors:      problems, Limit: s.passwordsPerMinute(),
		Kinds: []httpkit.Kind{httpkit.WrongPassword, httpkit.Saturated, httpkit.Unavailable},
	}, s.changePassword)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/auth/close", ID: "close-account", EndsCredential: true, Tag: "Account", Summary: "Close the account",
		Description: "For good. No token and no sign-in of the account is accepted from the answer on. Its jobs are cancelled, its sessions and tokens end, and its address and password are forgotten within moments. Receipts and certificates that were handed out can be verified as before.",
		Errors:      problems, Limit: s.passwordsPerMinute(), SetsCookie: "The cookie of the browser session, expired",
		Kinds: []httpkit.Kind{httpkit.WrongPassword, httpkit.Saturated, httpkit.Unavailable},
	}, s.closeAccount)
}

// passwordsPerMinute is the limit of routes that ask who is signed in for the password.
func (s Services) passwordsPerMinute() *httpkit.Limit {
	return &httpkit.Limit{
		Allowance: func(ctx context.Context) (ratelimit.Allowance, error) {
			return s.Identity.PasswordsLeft(ctx, auth.PrincipalOf(ctx).Account)
		},
		Exceeded: httpkit.RateLimited, Counts: "attempts to give the account's password while signed in, in a minute",
	}
}

// countPassword counts an attempt to give the password of the caller's account.
func (s Services) countPassword(ctx context.Context) error {
	allowance, err := s.Identity.CountPassword(ctx, auth.PrincipalOf(ctx).Account)
	if err != nil {
		return err
	}
	return s.rejectIfOverLimit(ctx, allowance, "at most %d attempts a minute to give the password are accepted", allowance.Limit)
}

func (s Services) endSignIn(ctx context.Context, in *signInIDInput) (*signInEndedOutput, error) {
	if err := s.Identity.EndSignIn(ctx, auth.PrincipalOf(ctx).Account, in.ID); err != nil {
		return nil, err
	}
	out := &signInEndedOutput{}
	out.Body.SignInID, out.Body.Ended = in.ID, true
	return out, nil
}

func (s Services) changePassword(ctx context.Context, in *passwordInput) (*passwordChangedOutput, error) {
	if err := s.countPassword(ctx); err != nil {
		return nil, err
	}
	caller := auth.PrincipalOf(ctx)
	if err := s.Identity.ChangePassword(ctx, caller.Account, in.Body.CurrentPassword, in.Body.NewPassword, caller.Secret); err != nil {
		return nil, err
	}
	out := &passwordChangedOutput{}
	out.Body.Changed = true
	return out, nil
}

func (s Services) closeAccount(ctx context.Context, in *closeInput) (*closedOutput, error) {
	if err := s.countPassword(ctx); err != nil {
		return nil, err
	}
	intent := s.intent(ctx)
	switch right, err := s.Identity.IsPassword(ctx, intent.Account, in.Body.CurrentPassword); {
	case err != nil:
		return nil, err
	case !right:
		return nil, identity.ErrWrongPassword
	}
	if _, err := commands.CloseAccount(ctx, s.Store, intent); err != nil {
		return nil, err
	}
	clearCookie(ctx)
	out := &closedOutput{}
	out.Body.UserID, out.Body.Closed = intent.Account, true
	return out, nil
}

package writeapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"reckon/commands"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/ratelimit"
)

type credentialsInput struct {
	Body struct {
		Email    string `json:"email" maxLength:"254" describedFormat:"email" doc:"Unique whatever its case" example:"ada@example.com"`
		Password string `json:"password" minLength:"8" maxLength:"128" doc:"8 to 128 characters"`
	}
}

// signInInput has no bounds: a text that cannot be a password is answered as a wrong password is.
type signInInput struct {
	Body struct {
		Email    string `json:"email" example:"ada@example.com" doc:"The address of the account, whatever its case"`
		Password string `json:"password" doc:"Its password"`
	}
}

type userOutput struct {
	Body struct {
		UserID string `json:"user_id" format:"uuid" doc:"Id of the account"`
	}
}

type signedOutOutput struct {
	Body struct {
		SignedOut bool `json:"signed_out" doc:"Always true: the session has ended"`
	}
}

func (s Services) registerAccounts(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/auth/register", ID: "register", Tag: "Account", Summary: "Open an account",
		Description: "The account starts on the Free plan.",
		Kinds:       []httpkit.Kind{httpkit.EmailTaken, httpkit.Saturated, httpkit.Unavailable},
		Errors:      problems, Limit: &httpkit.Limit{Allowance: s.allowanceOfRegistrations, Exceeded: httpkit.RateLimited, Counts: "attempts to register from the client's address in an hour"}, ReturnsToken: true,
	}, s.register)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/auth/login", ID: "login", Tag: "Account", Summary: "Sign in",
		Description: "Opens a browser session: an HttpOnly cookie named __Host-reckon, or reckon without TLS.",
		Kinds:       []httpkit.Kind{httpkit.InvalidCredentials, httpkit.Saturated, httpkit.Unavailable},
		Errors:      problems, Limit: &httpkit.Limit{Allowance: s.allowanceOfSignIns, Exceeded: httpkit.RateLimited, Counts: "attempts to sign in, by the client's address, network or device in a minute, or wrong ones of unknown devices for the e-mail address in an hour: of the one with fewest left"},
		SetsCookie: "The browser session: the credential of later requests; and, as a second cookie, what the device shows when it signs in again, whose attempts are then counted apart from others'",
	}, s.login)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/auth/logout", ID: "logout", EndsCredential: true, Tag: "Account", Summary: "Sign out",
		Description: "Ends the browser session that the cookie names and clears the cookie.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable}, Errors: problems, SetsCookie: "Clears the cookie of the browser session",
	}, s.logout)
}

// allowanceOfRegistrations is what is left to the client's address.
func (s Services) allowanceOfRegistrations(ctx context.Context) (ratelimit.Allowance, error) {
	return s.Identity.RegistrationsLeft(ctx, httpkit.RequestOf(ctx).Address)
}

// allowanceOfSignIns is what is left to the client's address. For whom it wants to sign in is not read yet.
func (s Services) allowanceOfSignIns(ctx context.Context) (ratelimit.Allowance, error) {
	return s.Identity.SignInsLeft(ctx, httpkit.RequestOf(ctx).Address)
}

func (s Services) register(ctx context.Context, in *credentialsInput) (*userOutput, error) {
	allowance, err := s.Identity.CountRegistration(ctx, httpkit.RequestOf(ctx).Address)
	if err != nil {
		return nil, err
	}
	if err := s.rejectIfOverLimit(ctx, allowance, "at most %d registrations are accepted from one address in an hour", allowance.Limit); err != nil {
		return nil, err
	}
	out := &userOutput{}
	out.Body.UserID, err = s.Identity.Register(ctx, in.Body.Email, in.Body.Password, s.openInLog)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// openInLog appends account.registered for a new account.
func (s Services) openInLog(ctx context.Context, accountID string) error {
	in := s.intent(ctx)
	in.Account, in.Actor = accountID, "session"
	at, err := commands.RegisterAccount(ctx, s.Store, s.Plans, in)
	if err == nil {
		s.announceWrite(ctx, accountID, at)
	}
	return err
}

func (s Services) login(ctx context.Context, in *signInInput) (*userOutput, error) {
	request := httpkit.RequestOf(ctx)
	from := identity.Client{Address: request.Address, Agent: request.Agent, Devices: request.Cookies(auth.DeviceCookieName(request))}
	attempt, err := s.Identity.CountSignIn(ctx, from, in.Body.Email)
	if err != nil {
		return nil, err
	}
	if err := s.rejectIfOverLimit(ctx, attempt.Allowance, "too many attempts to sign in; a browser that has signed in to this account before has attempts of its own"); err != nil {
		return nil, err
	}
	opened, err := s.Identity.SignIn(ctx, in.Body.Email, in.Body.Password, from, s.openInLog)
	if errors.Is(err, identity.ErrWrongCredentials) {
		return nil, httpkit.InvalidCredentials.Problem("%s", identity.ErrWrongCredentials.Error()).WithHeader("WWW-Authenticate", `Bearer realm="reckon"`)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Identity.SignedIn(ctx, attempt); err != nil {
		return nil, err
	}
	device, err := s.Identity.NewDevice(ctx, in.Body.Email)
	if err != nil {
		return nil, err
	}
	setCookie(ctx, auth.CookieName(request), opened.Secret, opened.ExpiresAt)
	setCookie(ctx, auth.DeviceCookieName(request), device, s.Clock.Now().Add(identity.DeviceLifetime))
	out := &userOutput{}
	out.Body.UserID = opened.Account
	return out, nil
}

func (s Services) logout(ctx context.Context, _ *struct{}) (*signedOutOutput, error) {
	if err := s.Identity.SignOut(ctx, auth.PrincipalOf(ctx).Secret); err != nil {
		return nil, err
	}
	clearCookie(ctx)
	out := &signedOutOutput{}
	out.Body.SignedOut = true
	return out, nil
}

func setCookie(ctx context.Context, name, value string, expires time.Time) {
	cookie := http.Cookie{
		Name: name, Value: value, Path: "/", Expires: expires,
		HttpOnly: true, Secure: httpkit.RequestOf(ctx).Secure, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	httpkit.AnswerHeader(ctx).Add("Set-Cookie", cookie.String())
}

// clearCookie clears the cookie of the browser session. The device stays known.
func clearCookie(ctx context.Context) {
	setCookie(ctx, auth.CookieName(httpkit.RequestOf(ctx)), "", time.Unix(0, 0))
}

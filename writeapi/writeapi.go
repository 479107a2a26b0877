package writeapi

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/token"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/oauth"
	"reckon/internal/payments"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

//go:generate go run reckon/internal/lists

// Services are what the handlers call. All fields but Payments are required.
type Services struct {
	Store    commands.Store
	Plans    account.Plans
	Identity *identity.Store
	Limiter  ratelimit.Limiter      // of evaluations and checks a minute, per account
	Running  *ratelimit.Concurrency // of evaluations and checks at once, per account
	Clock    commands.Clock
	Build    string // revision of the binary, for event metadata

	// Evaluate and Verify are those of a commands.Evaluator; Evaluate may forward to the process that owns a session.
	Evaluate  func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error)
	Verify    func(context.Context, commands.Intent, commands.Verify) (commands.Verification, error)
	Anonymous Anonymous
	// CloseSessionWorker ends the worker of a session's epoch (commands.SessionKey) and tells whether this process has it.
	CloseSessionWorker func(key string) bool
	Jobs               *commands.Jobs
	JobKinds           commands.JobKinds // what can be submitted; Declared says the same to the API
	JobView            view.Jobs         // shared with readapi
	Proofs             *commands.Proofs
	// Payments is the payment provider whose webhook is answered; nil: there is none.
	Payments payments.Provider
	OAuth    *oauth.Provider // NewOAuth's
	Logger   *slog.Logger
	// Overhead is the time that a request may take in addition to computing: for waiting, checking and appending.
	Overhead time.Duration

	Writes *httpkit.AccountWrites // shared with readapi
	LogID  string                 // of the log, for consistency tokens
}

// Register adds every route of the write side to the API.
func (s Services) Register(api *httpkit.API) { s.addRoutes(api) }

// intent is who made this request, when and from where; each call is a command of its own.
func (s Services) intent(ctx context.Context) commands.Intent {
	request, caller := httpkit.RequestOf(ctx), auth.PrincipalOf(ctx)
	return commands.Intent{
		ID: uuid.New(), At: s.Clock.Now(), Account: caller.Account, Actor: caller.Actor, Source: request.Source,
		Agent: request.Agent, Traceparent: request.Traceparent, Build: s.Build,
	}
}

// plan is the caller's plan. For one that is no longer in the catalogue it is the catalogue's first.
func (s Services) plan(ctx context.Context) account.Plan {
	return s.Plans.InForce(auth.PrincipalOf(ctx).Plan)
}

// announceWrite puts the position of a write into the answer's Consistency-Token, and has
// this process's lists wait for it. The zero position is none.
func (s Services) announceWrite(ctx context.Context, accountID string, at event.Position) {
	if at == (event.Position{}) {
		return
	}
	s.Writes.RecordWrite(accountID, at)
	httpkit.SetToken(httpkit.AnswerHeader(ctx), httpkit.ConsistencyToken{Log: s.LogID, Position: at})
}

// countRequest counts a request against the plan's limit per minute.
func (s Services) countRequest(ctx context.Context, plan account.Plan) (ratelimit.Allowance, error) {
	rule := ratelimit.Rule{Requests: plan.PerMinute, Window: time.Minute}
	allowance, err := s.Limiter.Count(ctx, perMinuteKey(ctx), rule, s.Clock.Now())
	if err != nil {
		return ratelimit.Allowance{}, err
	}
	return allowance, s.rejectIfOverLimit(ctx, allowance, "the plan allows %d evaluations and checks a minute", plan.PerMinute)
}

// perMinuteKey is the key of the caller's evaluations and checks a minute.
func perMinuteKey(ctx context.Context) string { return "evaluate:" + auth.PrincipalOf(ctx).Account }

// allowanceOfMinute is the caller's allowance of evaluations and checks a minute.
func (s Services) allowanceOfMinute(ctx context.Context) (ratelimit.Allowance, error) {
	return s.Limiter.Peek(ctx, perMinuteKey(ctx), ratelimit.Rule{Requests: s.plan(ctx).PerMinute, Window: time.Minute}, s.Clock.Now())
}

// perMinute is the plan's limit per minute.
func (s Services) perMinute() *httpkit.Limit {
	return &httpkit.Limit{
		Allowance: s.allowanceOfMinute, Exceeded: httpkit.RateLimited,
		Counts: "evaluations, checks, uploads, validations and elaborations of the account in a minute, all together",
	}
}

// withinMinute computes for the caller, unless the plan's limit per minute is used up. What is refused for now, because too
// much runs already or a part is away, is not counted.
func (s Services) withinMinute(ctx context.Context, plan account.Plan, compute func() error) error {
	allowance, err := s.countRequest(ctx, plan)
	if err != nil {
		return err
	}
	return giveBackIfRefusedForNow(ctx, s.Limiter, perMinuteKey(ctx), allowance, compute())
}

// giveBackIfRefusedForNow takes back the request that was counted for what ended with this error, if it was refused for now, and writes
// the restored allowance into the answer's headers. It returns the error, or why the limiter failed.
func giveBackIfRefusedForNow(ctx context.Context, limiter ratelimit.Limiter, key string, counted ratelimit.Allowance, err error) error {
	_, logged := errors.AsType[*commands.RunEndedError](err)
	left := errors.Is(ctx.Err(), context.Canceled) // what is not waited for was computed all the same
	if logged || left || !httpkit.RefusedForNow(err, problems) {
		return err
	}
	restored, failed := limiter.GiveBack(context.WithoutCancel(ctx), key, counted)
	if failed != nil {
		return failed
	}
	httpkit.SetRateLimit(httpkit.AnswerHeader(ctx), restored)
	return err
}

// withinLimits is withinMinute for what counts against the plan's limit of evaluations at once too; longest is how long that
// takes at most.
func (s Services) withinLimits(ctx context.Context, plan account.Plan, longest time.Duration, compute func() error) error {
	return s.withinMinute(ctx, plan, func() error { return s.oneAtOnce(ctx, plan, longest, compute) })
}

// oneAtOnce computes as one of the evaluations that the plan allows at once.
func (s Services) oneAtOnce(ctx context.Context, plan account.Plan, longest time.Duration, compute func() error) error {
	now := s.Clock.Now()
	end, free := s.Running.Begin(auth.PrincipalOf(ctx).Account, plan.ConcurrentEvaluations, now.Add(longest))
	if end == nil {
		return httpkit.TooMany.Problem("the plan allows %d evaluations and checks at once; wait until one of yours has ended", plan.ConcurrentEvaluations).
			WithRetryAfter(free.Sub(now))
	}
	defer end()
	return compute()
}

// rejectIfOverLimit writes an allowance into the answer's headers. When it is used
// up it returns the problem of kind RateLimited with this detail.
func (s Services) rejectIfOverLimit(ctx context.Context, allowance ratelimit.Allowance, detail string, args ...any) error {
	httpkit.SetRateLimit(httpkit.AnswerHeader(ctx), allowance)
	if allowance.Allowed {
		return nil
	}
	wait := allowance.ResetAt.Sub(s.Clock.Now())
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	return httpkit.RateLimited.Problem(detail+"; again in %d s", append(slices.Clip(args), seconds)...).WithRetryAfter(wait)
}

// Credentials reads tokens and accounts for authentication, which knows no commands. Its
// errors are StreamReader's.
func Credentials(store commands.Store) auth.Credentials { return credentials{store} }

type credentials struct{ store commands.Store }

func (c credentials) Token(ctx context.Context, tokenID string) (token.State, error) {
	state, err := commands.ReadToken(ctx, c.store, tokenID)
	return state, unavailable(err)
}

func (c credentials) Grant(ctx context.Context, grantID string) (grant.State, error) {
	state, err := commands.ReadGrant(ctx, c.store, grantID)
	return state, unavailable(err)
}

func (c credentials) Account(ctx context.Context, accountID string) (account.State, error) {
	state, err := commands.ReadAccount(ctx, c.store, accountID)
	return state, unavailable(err)
}

// unavailable returns the problem to answer when the log is unavailable or the call was cancelled; any other error
// as it is.
func unavailable(err error) error {
	if errors.Is(err, commands.ErrUnavailable) || errors.Is(err, commands.ErrCancelled) {
		return httpkit.Translate(err, problems)
	}
	return err
}

// StreamReader reads streams for readapi, which knows no commands. Its error is the
// problem to answer when the log is unavailable, and otherwise the store's.
func StreamReader(store commands.Store) func(ctx context.Context, stream string) ([]event.Recorded, error) {
	return func(ctx context.Context, stream string) ([]event.Recorded, error) {
		history, err := store.Read(ctx, stream)
		return history.Events, unavailable(err)
	}
}

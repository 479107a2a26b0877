package writeapi

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

// Services are what the handlers call.
type Services struct {
	Store    commands.Store
	Plans    account.Plans
	Identity *identity.Store
	Limiter  ratelimit.Limiter // of evaluations and checks, per account
	Clock    commands.Clock
	Build    string // revision of the binary, for event metadata

	// Evaluate and Verify are a commands.Evaluator's, or what forwards to the process that owns a session.
	Evaluate func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error)
	Verify   func(context.Context, commands.Intent, commands.Verify) (commands.Verification, error)
	// CloseWorker ends the worker of a session's epoch (commands.SessionKey), if this process has it.
	CloseWorker func(key string) bool
	Jobs        *commands.Jobs
	JobView     view.Jobs // shared with readapi
	Proofs      *commands.Proofs
	// Longest is the time an evaluation may take besides computing: queueing, checking, appending.
	Longest time.Duration

	Writes *httpkit.Writes // shared with readapi
	LogID  string
}

// Register adds every route to the API.
func (s Services) Register(api *httpkit.API) {
	s.registerAccounts(api)
	s.registerTokens(api)
	s.registerEvaluate(api)
	s.registerVerify(api)
	s.registerSessions(api)
	s.registerJobs(api)
	s.registerProofs(api)
}

// intent is who wants something, when and from where.
func (s Services) intent(ctx context.Context) commands.Intent {
	request, caller := httpkit.RequestOf(ctx), auth.Caller(ctx)
	return commands.Intent{
		ID: uuid.New(), At: s.Clock.Now(), Account: caller.Account, Actor: caller.Actor, Source: run.Web,
		Agent: request.Agent, Traceparent: request.Traceparent, Build: s.Build,
	}
}

// plan is the caller's; one that has left the catalogue is served as the first.
func (s Services) plan(ctx context.Context) account.Plan {
	return s.Plans.InForce(auth.Caller(ctx).Plan)
}

// wrote says in the answer and to this process's lists where a write stands.
func (s Services) wrote(ctx context.Context, accountID string, at event.Position) {
	if at == (event.Position{}) {
		return
	}
	s.Writes.Note(accountID, at)
	httpkit.SetToken(httpkit.Header(ctx), httpkit.ConsistencyToken{Log: s.LogID, Position: at})
}

// count counts an evaluation or a check against the plan's limit per minute.
func (s Services) count(ctx context.Context, plan account.Plan) error {
	rule := ratelimit.Rule{Requests: plan.PerMinute, Window: time.Minute}
	allowance, err := s.Limiter.Take(ctx, "evaluate:"+auth.Caller(ctx).Account, rule, s.Clock.Now())
	if err != nil {
		return err
	}
	return s.admit(ctx, allowance, "the plan allows %d evaluations and checks a minute", plan.PerMinute)
}

// admit writes an allowance into the answer, and refuses when it is used up.
func (s Services) admit(ctx context.Context, allowance ratelimit.Allowance, detail string, args ...any) error {
	httpkit.SetRateLimit(httpkit.Header(ctx), allowance)
	if allowance.Allowed {
		return nil
	}
	wait := allowance.ResetAt.Sub(s.Clock.Now())
	return httpkit.RateLimited.Problem(detail, args...).RetryAfter(wait)
}

// StreamReader reads streams for authentication and readapi, which know no commands:
// a log that is away is a 503.
func StreamReader(store commands.Store) auth.ReadStream {
	return func(ctx context.Context, stream string) ([]event.Recorded, error) {
		history, err := store.Read(ctx, stream)
		if errors.Is(err, commands.ErrUnavailable) {
			return nil, httpkit.Translate(err, problems)
		}
		return history.Events, err
	}
}

// Package application makes the HTTP interface of its parts. The server and the tests of the routes make it here, so that what one of them
// serves the other serves too.
package application

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/reference"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/payments"
	"reckon/internal/ratelimit"
	"reckon/internal/statefiles"
	"reckon/internal/tracing"
	"reckon/internal/view"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/readapi"
	"reckon/readapi/workbench"
	"reckon/runners"
	"reckon/writeapi"
	"reckon/writeapi/mcpapi"
)

// Parts are what the routes work with.
type Parts struct {
	Store     commands.Store
	Identity  *identity.Store
	Rules     identity.Rules // of Identity
	Blobs     event.BlobReader
	States    *statefiles.Folder
	Models    *projections.ReadModels
	Projector *projecting.Engine // writes Models, or watches who does
	Clock     commands.Clock
	Logger    *slog.Logger
	Build     string // revision of the binary

	// Evaluate and Verify are those of a commands.Evaluator; Evaluate may forward to the process that owns a session.
	Evaluate func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error)
	Verify   func(context.Context, commands.Intent, commands.Verify) (commands.Verification, error)
	// CloseSession ends the worker of a session's epoch (commands.SessionKey) and tells whether this process has it; Busy tells whether
	// that worker is evaluating, as far as this process knows.
	CloseSession func(key string) bool
	Busy         func(account, sessionID string, epoch int) bool
	Jobs         *commands.Jobs
	Kinds        []runners.Kind
	// NotifyJobEnded is that of view.Jobs, and Closing is closed when this process stops.
	NotifyJobEnded func(jobID string) (notified <-chan struct{}, stop func())
	Closing        <-chan struct{}
	Proofs         *commands.Proofs
	Signer         func() (*receipt.Signer, error)
	Payments       payments.Provider // nil: there is none

	Plans            account.Plans
	Anonymous        commands.Anonymous // evaluates for callers without an account
	AnonymousPerHour int                // for each address; 0: never
	Showcase         bool               // the first page shows answers to questions of the service itself
	Limiter          func() ratelimit.Limiter
	Running          *ratelimit.Concurrency
	SessionIdle      time.Duration // after which a session expires
	Overhead         time.Duration // of a request: waiting, checking and appending
	MaxPlaceWait     time.Duration // of view.Queue

	PublicURL      string // as config.PublicURL has it; empty: not configured
	TrustedProxies []netip.Prefix
	Transparency   readapi.Transparency
	Health         readapi.Health

	// Observe and ObserveProblem are called for every answer and error answer, Tracer begins a span for each; nil: none is. UseNotKept is
	// called with why the day of a credential's use could not be stored.
	Observe        func(method, route string, status int, took time.Duration)
	ObserveProblem func(code string)
	Tracer         *tracing.Tracer
	UseNotKept     func(context.Context, error)
}

// New registers every route and page. Its error is a description that cannot be served.
func New(p Parts) (*httpkit.API, error) {
	kinds := runners.Submittable(p.Kinds)
	api := httpkit.New(httpkit.Settings{
		Build: p.Build, Logger: p.Logger, TrustedProxies: p.TrustedProxies, PublicURL: p.PublicURL, Access: access.Routes(), Declared: writeapi.Declared(kinds.Declarations()),
		Observe: p.Observe, ObserveProblem: p.ObserveProblem, Tracer: p.Tracer,
		Authenticator: &auth.Authenticator{
			Credentials: writeapi.Credentials(p.Store), Sessions: p.Identity, AccessTokens: p.Identity, Now: p.Clock.Now, MetadataURL: writeapi.MetadataURL,
			TokenUsed: p.noteUse(p.Identity.TokenUsed), GrantUsed: p.noteUse(p.Identity.GrantUsed),
		},
	})
	writes := httpkit.NewAccountWrites()
	jobs := p.jobView(writes)
	forWrites := writeapi.Services{
		Store: p.Store, Plans: p.Plans, Identity: p.Identity, Limiter: p.Limiter(), Running: p.Running, Clock: p.Clock, Build: p.Build,
		Evaluate: p.Evaluate, Verify: p.Verify, CloseSessionWorker: p.CloseSession, Overhead: p.Overhead,
		Anonymous: writeapi.Anonymous{Evaluate: p.Anonymous.Evaluate, PerHour: p.AnonymousPerHour, Limiter: p.Limiter(), Caller: p.Identity.Stranger},
		Jobs:      p.Jobs, JobKinds: kinds, JobView: jobs, Proofs: p.Proofs, Payments: p.Payments,
		OAuth: writeapi.NewOAuth(p.Store, p.Identity, p.Clock, p.Build), Logger: p.Logger, Writes: writes, LogID: p.Projector.LogID(),
	}
	forWrites.Register(api)
	about, err := reference.Current()
	if err != nil {
		return nil, err
	}
	if err := (readapi.Services{
		Streams: jobs.Stream, Blobs: p.Blobs, States: p.States, Models: p.Models, JobView: jobs, JobKinds: kinds.Declarations(),
		TokenUse: p.Identity.LastUsed, Grants: p.Identity.OAuthGrants, SignIns: p.Identity.SignIns, EmailOf: p.Identity.EmailOf,
		Wait: p.Projector.Wait, IsReady: p.Projector.IsReady, Writes: writes, LogID: p.Projector.LogID(),
		Plans: p.Plans, Rules: p.Rules, Signer: p.Signer, Now: p.Clock.Now, SessionIdle: p.SessionIdle, Busy: p.Busy,
		Reference: about, Transparency: p.Transparency, Health: p.Health, Build: p.Build, PublicURL: p.PublicURL, Tools: agentTools(), Revisions: mcpapi.Revisions(),
	}).Register(api); err != nil {
		return nil, err
	}
	if err := (mcpapi.Services{API: api, Logger: p.Logger, Build: p.Build, PublicURL: p.PublicURL}).Register(); err != nil {
		return nil, err
	}
	pages := workbench.Services{API: api, Elaborates: p.Proofs.Elaborator != nil, Now: p.Clock.Now, AnonymousBudget: forWrites.AnonymousBudget()}
	if p.Showcase {
		pages.Evaluate = forWrites.EvaluateForItself
	}
	pages.Register()
	return api, nil
}

// noteUse stores the day of a credential's use.
func (p Parts) noteUse(store func(context.Context, string) error) func(context.Context, string) {
	return func(ctx context.Context, id string) {
		if err := store(ctx, id); err != nil {
			p.UseNotKept(ctx, err)
		}
	}
}

// jobView reads jobs with their places in the queue. A place that is not known is left out.
func (p Parts) jobView(writes *httpkit.AccountWrites) view.Jobs {
	queue := view.Queue{Place: p.Models.Queue.Place, Wait: p.Projector.Wait, IsReady: p.Projector.IsReady, Writes: writes, MaxWait: p.MaxPlaceWait}
	return view.Jobs{
		Stream: writeapi.StreamReader(p.Store), Answers: view.Answers{Catalogue: domain.Catalogue(), Blobs: p.Blobs}, NotifyJobEnded: p.NotifyJobEnded, Closing: p.Closing,
		PlaceInQueue: func(ctx context.Context, account, jobID string) int {
			place, err := queue.PlaceOf(ctx, account, jobID)
			if err != nil {
				p.Logger.DebugContext(ctx, "a job's place in the queue is not known", "error", err)
			}
			return place
		},
	}
}

// agentTools are the tools of /mcp for agents.md.
func agentTools() (tools []readapi.Tool) {
	for _, t := range mcpapi.Tools() {
		tools = append(tools, readapi.Tool(t))
	}
	return tools
}

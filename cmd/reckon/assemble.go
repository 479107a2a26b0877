package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/receipt"
	"reckon/eventstore"
	"reckon/internal/auth"
	"reckon/internal/blobs"
	"reckon/internal/config"
	"reckon/internal/httpkit"
	"reckon/internal/httpserver"
	"reckon/internal/identity"
	"reckon/internal/private"
	"reckon/internal/ratelimit"
	"reckon/internal/telemetry"
	"reckon/internal/view"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/readapi"
	"reckon/runners"
	"reckon/runners/checker"
	"reckon/runners/cluster"
	"reckon/runners/engine"
	"reckon/runners/evaluate"
	"reckon/runners/proof"
	"reckon/writeapi"
)

// systemClock is the machine's.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// service is one process with its parts, in the order they were made; they are
// closed in the opposite one.
type service struct {
	config     config.Serve
	logger     *slog.Logger
	process    string // this process's runner id, new every time
	plans      account.Plans
	connection string // of the log
	metrics    *telemetry.Metrics

	store     *eventstore.Store
	blobs     blobs.Store
	identity  *identity.Store
	rows      *projections.DB
	models    *projections.ReadModels
	reacted   *projections.ReactionState
	projector *projecting.Engine
	engine    *engine.Engine
	evaluator *commands.Evaluator
	jobs      *commands.Jobs
	judge     *proof.Judge
	proofs    *commands.Proofs
	rules     identity.Rules
	handler   http.Handler
	closing   chan struct{} // closed when the process stops: long polls end

	subscription *cluster.Subscription
	liveness     *cluster.Liveness
	recovery     *cluster.Recovery
	heartbeat    *cluster.Heartbeat // nil without an engine, and so are the following
	runner       *runners.Runner    // of jobs
	peers        *cluster.Peers
	peerListener net.Listener
	peerServer   *httpserver.Server
	drain        func() // waits until no job runs here any more

	running  sync.WaitGroup
	stoppers []func() // end the background work that no context ends
	closers  []func(context.Context) error
}

// assemble makes every part; whatever fails, what was made before is closed.
func assemble(ctx context.Context, c config.Serve, logger *slog.Logger) (*service, error) {
	data, err := filepath.Abs(c.Data) // workers run in folders of their own
	if err != nil {
		return nil, err
	}
	c.Data = data
	if err := private.Make(data, logger); err != nil {
		return nil, err
	}
	s := &service{config: c, logger: logger, process: uuid.NewString(), metrics: telemetry.NewMetrics(build()), closing: make(chan struct{})}
	for _, part := range []func(context.Context) error{s.makeLog, s.makeStores, s.makeProjections, s.makeEngine, s.makeCommands, s.makeProofs, s.makeRunners, s.makeAPI, s.makeAdmin} {
		if err := part(ctx); err != nil {
			return nil, errors.Join(err, s.close(func() {}))
		}
	}
	return s, nil
}

func (s *service) onClose(f func(context.Context) error) { s.closers = append(s.closers, f) }

// close ends the background work, then the parts, last made first.
func (s *service) close(cancel func()) error {
	cancel()
	for _, stop := range s.stoppers {
		stop()
	}
	s.running.Wait()
	ctx, done := context.WithTimeout(context.Background(), shutdownTimeout)
	defer done()
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i](ctx))
	}
	s.closers = nil
	return errors.Join(errs...)
}

// makeLog starts the embedded node, or connects to the log that was named.
func (s *service) makeLog(ctx context.Context) error {
	plans, err := s.loadPlans()
	if err != nil {
		return err
	}
	s.plans, s.connection = plans, s.config.Eventstore
	if s.connection == "embedded" {
		n, err := openNode(filepath.Join(s.config.Data, "eventstore"), "", s.logger)
		if err != nil {
			return err
		}
		s.onClose(n.Close)
		s.connection = n.ConnectionString()
	}
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: s.connection, Insecure: s.config.InsecureEventstore, Catalogue: domain.Catalogue(), Logger: s.logger})
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { store.Close(); return nil })
	s.store = store
	return nil
}

func (s *service) loadPlans() (account.Plans, error) {
	if s.config.Config == "" {
		return account.DefaultPlans(), nil
	}
	return config.LoadPlans(string(s.config.Config))
}

// makeStores opens the blobs and the identity tables.
func (s *service) makeStores(ctx context.Context) error {
	folder, err := s.config.BlobFolder()
	if err != nil {
		return err
	}
	if s.blobs, err = openBlobs(folder, s.logger); err != nil {
		return err
	}
	people, err := identity.Open(ctx, s.config.IdentityAddress())
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { return people.Close() })
	s.rules = identity.Rules{
		Registrations: ratelimit.Rule{Requests: s.config.RegistrationsPerHour, Window: time.Hour},
		SignIns:       ratelimit.Rule{Requests: s.config.SignInsPerMinute, Window: time.Minute},
	}
	s.identity = identity.New(people, time.Now, s.rules)
	return nil
}

// makeProjections opens the read models. Every process reads them; one with the
// role project keeps them.
func (s *service) makeProjections(ctx context.Context) error {
	rows, err := projections.Open(ctx, s.config.DatabaseAddress())
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { return rows.Close() })
	s.rows, s.models = rows, projections.New(rows, s.blobs)
	if s.projector, err = projecting.New(ctx, projecting.Config{DB: rows, Log: s.store, Logger: s.logger}, s.models.All()...); err != nil {
		return err
	}
	s.reacted, err = projections.NewReactionState(ctx, rows)
	return err
}

// makeEngine installs the engine where it is missing and starts it with its
// checker, in a process that evaluates anything.
func (s *service) makeEngine(ctx context.Context) error {
	if !s.config.Has(config.RoleAPI) && !s.config.Has(config.RoleRun) {
		s.evaluator = &commands.Evaluator{}
		return nil
	}
	environment := engineEnvironment(s.config.Data)
	if err := engine.Install(ctx, environment, func(step string) { fmt.Fprintln(os.Stderr, "engine:", step) }); err != nil {
		return err
	}
	sandbox := engine.SandboxRequired
	if s.config.EngineSandbox == "off" {
		s.logger.Warn("the engine runs without its walls: expressions can reach this machine's files and network")
		sandbox = engine.SandboxOff
	}
	started, err := engine.Start(ctx, engine.Options{Environment: environment, Sandbox: sandbox, Concurrency: s.config.Workers, OnSessionExpired: s.sessionExpired})
	if err != nil {
		return err
	}
	s.onClose(started.Close)
	checks, err := checker.New(ctx, environment, checker.Options{Sandbox: sandbox})
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { return checks.Close() })
	s.engine = started
	s.evaluator = &commands.Evaluator{
		Engine: evaluate.Engine{Engine: started}, Checker: evaluate.Checker{Engine: started, Checker: checks},
	}
	return nil
}

// makeCommands wires the write side.
func (s *service) makeCommands(ctx context.Context) error {
	signer, err := s.loadSigner(ctx)
	if err != nil {
		return err
	}
	ids := commands.NewRunIDs(s.store, s.process)
	ev := s.evaluator
	ev.Store, ev.Runs, ev.Blobs, ev.Clock = s.store, ids, s.blobs, systemClock{}
	ev.Signer = func() *receipt.Signer { return signer }
	ev.Process, ev.QueueWait = s.process, s.config.QueueWait
	s.jobs = &commands.Jobs{Store: s.store, Runs: ids, Blobs: s.blobs}
	return nil
}

// makeAPI registers every route, in a process that answers HTTP.
func (s *service) makeAPI(context.Context) error {
	if !s.config.Has(config.RoleAPI) {
		return nil
	}
	proxies, err := s.config.Proxies()
	if err != nil {
		return err
	}
	streams := writeapi.StreamReader(s.store)
	api := httpkit.New(httpkit.Settings{
		Build: build(), Logger: s.logger, TrustedProxies: proxies, PublicURL: s.config.PublicURL, Observe: s.metrics.ObserveRequest,
		Authenticator: &auth.Authenticator{Streams: streams, Sessions: s.identity, Now: time.Now, TokenUsed: func(ctx context.Context, id string) {
			if err := s.identity.TokenUsed(ctx, id); err != nil {
				s.logger.Warn("the day of a token's use was not kept", "error", err)
			}
		}},
	})
	jobView := view.Jobs{Stream: streams, Blobs: s.blobs, Place: s.place, NotifyJobEnded: s.subscription.NotifyJobEnded, Closing: s.closing}
	writes := httpkit.NewWrites()
	writeapi.Services{
		Store: s.store, Plans: s.plans, Identity: s.identity, Limiter: ratelimit.NewMemory(), Clock: systemClock{}, Build: build(),
		Evaluate: s.peers.Evaluate, Verify: s.evaluator.Verify, CloseWorker: s.evaluator.Engine.CloseSession,
		Jobs: s.jobs, JobView: jobView, Proofs: s.proofs,
		Longest: s.config.QueueWait + 20*time.Second, Writes: writes, LogID: s.projector.LogID(),
	}.Register(api)
	s.handler = api
	return readapi.Services{
		Streams: streams, Blobs: s.blobs, Models: s.models, TokenUse: s.identity.LastUsed,
		JobView: jobView,
		Plans:   s.plans, Rules: s.rules, Signer: s.evaluator.Signer, Now: time.Now,
		Wait: s.projector.Wait, Writes: writes, LogID: s.projector.LogID(), SessionIdle: engine.DefaultSessionIdle, Busy: s.busy,
		Health: s.health(), Build: build(), PublicURL: s.config.PublicURL,
	}.Register(api)
}

// place is a job's in the queue; a job is answered without it when the queue cannot be asked.
func (s *service) place(ctx context.Context, jobID string) (int, bool) {
	place, err := s.models.Queue.Place(ctx, jobID)
	if err != nil {
		s.logger.Warn("the queue cannot tell a job's place", "error", err)
	}
	return place, err == nil
}

// busy tells whether this process evaluates in a session.
func (s *service) busy(accountID, sessionID string, epoch int) bool {
	for _, live := range s.engine.Sessions(accountID) {
		if live.Key == commands.SessionKey(accountID, sessionID, epoch) {
			return live.Busy
		}
	}
	return false
}

func (s *service) health() readapi.Health {
	return readapi.Health{
		Logger: s.logger,
		Dependencies: []readapi.Dependency{
			{Name: "eventstore", Check: func(ctx context.Context) error { _, err := s.store.Head(ctx); return err }},
			{Name: "database", Check: s.rows.PingContext},
			{Name: "identity", Check: s.identity.Ready},
			{Name: "blobs", Check: s.blobs.Ready},
		},
		Projections: func(ctx context.Context) ([]readapi.ProjectionHealth, error) {
			list, err := s.projector.Status(ctx)
			healths := make([]readapi.ProjectionHealth, len(list))
			for i, p := range list {
				healths[i] = readapi.ProjectionHealth{Name: p.Name, Version: p.Version, Phase: string(p.Phase), Lag: p.Lag, Parked: p.Parked, Ready: p.Ready}
			}
			return healths, err
		},
		Walls: func() []readapi.Wall {
			var walls []readapi.Wall
			for _, b := range s.engine.Boundaries() {
				walls = append(walls, readapi.Wall{Name: string(b.Name), InForce: b.InForce, Detail: fmt.Sprint(b.By)})
			}
			return walls
		},
	}
}

// start runs the background work of the process's roles.
func (s *service) start(ctx context.Context, failed chan<- error) error {
	run := func(what string, f func(context.Context) error) {
		s.running.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				select {
				case failed <- fmt.Errorf("%s: %w", what, err):
				default: // the process ends of other failures already
					s.logger.Error(what, "error", err)
				}
			}
		})
	}
	if s.config.Has(config.RoleProject) {
		run("read models", s.projector.Run)
	} else {
		run("read models", s.projector.Watch)
	}
	if s.config.Has(config.RoleReact) {
		run("reactions", s.react)
	}
	return s.startRunners(ctx, run)
}

// react runs the reactions until the context ends.
func (s *service) react(ctx context.Context) error {
	list := reactions.All(s.jobs, reactions.Actor{Clock: systemClock{}, Build: build()})
	return reactions.Run(ctx, reactions.Deps{
		List: list, Clock: systemClock{}, Logger: s.logger, Parking: parking{s.reacted},
		Messages: &eventstore.Subscriber{Log: s.store, Topics: reactions.Topics(list), Checkpoints: s.reacted.Of(s.projector.LogID()), Logger: s.logger},
	})
}

// parking keeps what reactions gave up on in the database of the read models.
type parking struct{ state *projections.ReactionState }

// Park is reactions.Parking.
func (p parking) Park(ctx context.Context, e reactions.Parked) error {
	return p.state.Park(ctx, projections.ParkedReaction{
		Reaction: e.Reaction, EventID: e.EventID, Stream: e.Stream, Revision: int64(e.Revision), EventName: e.EventName,
		Reason: projections.Text(e.Reason), ParkedAt: e.ParkedAt,
	})
}

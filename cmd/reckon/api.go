package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reckon/cmd/application"
	"reckon/commands"
	"reckon/internal/config"
	"reckon/internal/disk"
	"reckon/internal/httpserver"
	"reckon/internal/lifecycle"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
	projecting "reckon/projections/engine"
	"reckon/readapi"
	"reckon/runners/engine"
)

// api is the HTTP interface of a process.
type api struct {
	server   *httpserver.Server
	listener net.Listener  // nil before it was started
	closing  chan struct{} // closed when the listener closes: long polls end
	drained  chan struct{} // closed when no request is in flight any more
}

// makeAPI registers every route.
func (s *service) makeAPI() (*api, error) {
	proxies, err := s.config.Proxies()
	if err != nil {
		return nil, err
	}
	s.metrics.MeasureAPI(problemCodes(s.kinds))
	a := &api{closing: make(chan struct{}), drained: make(chan struct{})}
	provider, err := paymentProvider(s.config.PaymentSecretFile)
	if err != nil {
		return nil, err
	}
	strangers, strangersChecks := s.engine.forStrangers()
	routes, err := application.New(application.Parts{
		Store: s.log.store, Identity: s.stores.identity, Rules: s.stores.rules, Blobs: s.stores.blobs, States: s.stores.states, Models: s.readSide.models, Projector: s.readSide.projector,
		Clock: systemClock{}, Logger: s.logger, Build: buildRevision(),
		Evaluate: s.writeSide.peers.Evaluate, Verify: s.writeSide.evaluator.Verify, CloseSession: s.engine.engine.CloseSession, Busy: s.sessionBusy,
		Jobs: s.writeSide.jobs, Kinds: s.kinds, NotifyJobEnded: s.workers.Subscription.NotifyJobEnded, Closing: a.closing,
		Proofs: s.writeSide.proofs, Signer: s.writeSide.signing.Signer, Payments: provider,
		Plans: s.plans, Anonymous: commands.Anonymous{Engine: strangers, Checker: strangersChecks, QueueWait: s.config.QueueWait}, AnonymousPerHour: s.config.AnonymousPerHour, Showcase: true,
		Limiter: s.sharedLimiter, Running: ratelimit.NewConcurrency(), SessionIdle: engine.DefaultSessionIdle, Overhead: s.config.QueueWait + 20*time.Second, MaxPlaceWait: view.MaxPlaceWait,
		PublicURL: s.config.PublicURL, TrustedProxies: proxies, Transparency: s.served, Health: s.health(),
		Observe: s.metrics.ObserveRequest, ObserveProblem: s.metrics.ObserveProblem, Tracer: s.tracer,
		UseNotKept: func(ctx context.Context, err error) {
			s.logger.WarnContext(ctx, "the day of a credential's use was not kept", "error", err)
		},
	})
	if err != nil {
		return nil, err
	}
	a.server = httpserver.New(routes, httpserver.ClientLimits(), s.logger)
	s.life.Add(a.part(s.config.Listen, s.config.UnreadyFor()))
	return a, nil
}

// sharedLimiter counts evaluations and checks: over all processes, or in memory in a process with an embedded
// log, which is the only one of its installation.
func (s *service) sharedLimiter() ratelimit.Limiter {
	if s.config.Eventstore == config.EmbeddedLog {
		return ratelimit.NewMemory()
	}
	return ratelimit.NewShared(s.stores.identity.Windows(), func(err error) {
		// As text: a line about a part that is away may be left out, and this one says what that does to the limits.
		s.logger.Warn("the limits of evaluations and checks are counted by this process alone", "cause", err.Error())
	})
}

// part listens when it is started, after everything its handlers call. When it is drained it
// first answers as before for a grace, in which /readyz says that the process stops.
func (a *api) part(address string, grace time.Duration) lifecycle.Part {
	return lifecycle.Part{
		Name: "API",
		Start: func(ctx context.Context) (err error) {
			if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err != nil {
				return fmt.Errorf("listen (--listen): %w", err)
			}
			return nil
		},
		RunOnce: true,
		Run:     func(ctx context.Context) error { return serveUntil(ctx, a.server, a.listener) },
		Drain: func(ctx context.Context) error {
			defer close(a.drained)
			a.server.CloseConnectionsAfterAnswers()
			select {
			case <-time.After(grace):
			case <-ctx.Done():
			}
			close(a.closing)
			return a.server.Shutdown(ctx)
		},
	}
}

// sessionBusy reports whether this process is evaluating in a session.
func (s *service) sessionBusy(accountID, sessionID string, epoch int) bool {
	for _, live := range s.engine.engine.Sessions(accountID) {
		if live.Key == commands.SessionKey(accountID, sessionID, epoch) {
			return live.Busy
		}
	}
	return false
}

func (s *service) health() readapi.Health {
	h := readapi.Health{
		Outages: s.outages,
		IsAway:  isOutage,
		Dependencies: []readapi.Dependency{
			{Name: "eventstore", Part: "the event log", Check: s.log.Ready},
			{Name: "database", Part: "the database of read models", Check: withRoom(sqliteFolder(s.config.Database), s.readSide.db.PingContext)},
			{Name: "identity", Part: "the database of identities", Check: withRoom(sqliteFolder(s.config.Identity), s.stores.identity.Ready)},
			{Name: "blobs", Part: "the store of blobs", Check: withRoom("", s.stores.blobs.Ready)},
		},
		Projections: s.projectionsHealth,
		Parts:       s.partsHealth,
		Stopping:    s.stopping.Load,
	}
	if s.writeSide.signing != nil {
		h.Dependencies = append(h.Dependencies, readapi.Dependency{Name: "signing_key", Part: "the signing key", Check: s.writeSide.signing.Ready})
	}
	if s.engine != nil {
		h.Dependencies = append(h.Dependencies,
			readapi.Dependency{Name: "engine", Part: "the engine", Check: s.engine.engine.Ready},
			readapi.Dependency{Name: "checker", Part: "the checker", Check: s.engine.checker.Ready},
			readapi.Dependency{Name: "proof_kernel", Part: "the proof kernel", Check: s.writeSide.judge.Ready},
			readapi.Dependency{Name: "temporary_files", Part: "the folder of temporary files", Check: withRoom(os.TempDir(), nil)},
		)
		h.Walls = func() []readapi.Wall {
			var walls []readapi.Wall
			for _, b := range s.engine.boundaries() {
				walls = append(walls, readapi.Wall{Name: string(b.Name), InForce: b.InForce, Detail: fmt.Sprint(b.By)})
			}
			return walls
		}
	}
	return h
}

// sqliteFolder is the folder of a SQLite database; empty for another database.
func sqliteFolder(database string) string {
	if path, isFile := strings.CutPrefix(database, "sqlite:"); isFile {
		return filepath.Dir(path)
	}
	return ""
}

// withRoom is a check, nil for none, that also fails where the disk of a folder is full; to anyone it says that it is.
func withRoom(folder string, check func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		if check != nil {
			err = check(ctx)
		}
		if err == nil && folder != "" {
			err = disk.CheckRoom(folder)
		}
		if full, ok := errors.AsType[*disk.FullError](err); ok {
			return errors.Join(&readapi.PublicError{Problem: "its disk is full: what is written there is refused until an operator makes room"}, full)
		}
		return err
	}
}

// describeReadModel says what is wrong with a read model, to anyone; its reason may name events and machines.
func describeReadModel(p projecting.Status) string {
	switch p.Phase {
	case projecting.Halted:
		return "it has stopped; `reckon projections status` says why"
	case projecting.Retrying:
		return "it cannot go on for now and tries again; `reckon projections status` says why"
	case projecting.Paused:
		return "an operator stopped it; `reckon projections resume` lets it go on"
	case projecting.Unwritten:
		return "no running server writes this read model, so its lists do not change: start a server with the role project"
	}
	if !p.Ready {
		return fmt.Sprintf("it is being built: %.1f %% of the log as it was when this process started", p.Percent)
	}
	return ""
}

// describePart says what is wrong with a part, to anyone. A part that runs may have something to say too.
func (s *service) describePart(p lifecycle.State) string {
	switch {
	case p.Name == transparencyPart && p.Healthy:
		return s.checkpointTrouble()
	case p.Phase == lifecycle.Ended && s.stopping.Load():
		return "it has ended, as the process was told to stop"
	case p.Phase == lifecycle.Ended:
		return "it has ended"
	case !p.Healthy:
		return "it ended by itself and is begun again; the log of the server says why"
	}
	return ""
}

// projectionsHealth is the state of every read model.
func (s *service) projectionsHealth(ctx context.Context) (healths []readapi.ProjectionHealth) {
	list, err := s.readSide.projector.Status(ctx)
	for _, p := range list {
		h := readapi.ProjectionHealth{Name: p.Name, Version: p.Version, Phase: p.Phase, Lag: p.Lag, Parked: p.Parked, Ready: p.Ready, Detail: describeReadModel(p)}
		if err != nil && h.Detail == "" {
			h.Detail = "its lag and its parked events are not known: the event log or the database of read models does not answer"
		}
		healths = append(healths, h)
	}
	return healths
}

// partsHealth is the state of every background part, and how many events the reactions among
// them have parked.
func (s *service) partsHealth(ctx context.Context) (parts []readapi.PartHealth) {
	parked, err := s.readSide.reactionState.CountParked(ctx)
	parkedBy := make(map[string]int64, len(parked))
	for reaction, count := range parked {
		parkedBy[reactionPart(reaction)] = count
	}
	for _, p := range s.life.States() {
		h := readapi.PartHealth{Name: p.Name, Phase: p.Phase, Restarts: p.Restarts, Parked: parkedBy[p.Name], Ready: p.Healthy, Detail: s.describePart(p)}
		if err != nil && h.Detail == "" && strings.HasPrefix(p.Name, reactionPart("")) {
			h.Detail = "its parked events are not known: the database of read models does not answer"
		}
		parts = append(parts, h)
	}
	return parts
}

// httpPart serves on a listener that is open already.
func httpPart(name string, server *httpserver.Server, listener net.Listener) lifecycle.Part {
	return lifecycle.Part{
		Name: name, RunOnce: true,
		Run: func(ctx context.Context) error { return serveUntil(ctx, server, listener) },
		Stop: func(context.Context) error {
			if err := listener.Close(); !errors.Is(err, net.ErrClosed) { // it was never served
				return err
			}
			return nil
		},
	}
}

// serveUntil serves until the server is shut down, or ctx ends: then every connection is closed.
func serveUntil(ctx context.Context, server *httpserver.Server, listener net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

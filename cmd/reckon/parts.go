package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"reckon/commands"
	"reckon/domain"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/blobs"
	"reckon/internal/config"
	"reckon/internal/identity"
	"reckon/internal/lifecycle"
	"reckon/internal/passwords"
	"reckon/internal/ratelimit"
	"reckon/internal/statefiles"
	"reckon/internal/telemetry"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/engine"
	"reckon/runners/fair"
	"reckon/runners/portfolio"
)

// eventLog is the connection to the log, and the embedded node where there is one.
type eventLog struct {
	store      *eventstore.Store
	connection string     // the log's address, with its credentials
	node       *node.Node // nil where the log is not embedded in this process
}

// openLog starts the embedded node, or connects to the log that was named.
func openLog(ctx context.Context, p process) (*eventLog, error) {
	l := &eventLog{connection: p.config.Eventstore}
	if l.connection == config.EmbeddedLog {
		if err := checkLog(p.config.Installation); err != nil {
			return nil, err
		}
		n, err := openWithRoom(ctx, node.Config{Dir: p.config.LogFolder(), Logger: p.logger}, p.starting)
		if err != nil {
			return nil, err
		}
		if h := n.Health(); h.ReadOnly { // a service appends from its first moment
			return nil, errors.Join(fmt.Errorf("a log that is read only serves no installation; `reckon node --data %s` lets it be read: %w", p.config.LogFolder(), h.Err), n.Close(ctx))
		}
		p.life.Add(lifecycle.Part{Name: "embedded node", RunOnce: true, Run: func(ctx context.Context) error { return nodeServes(ctx, n, p.config.LogFolder(), p.logger) }, Stop: n.Close})
		l.connection, l.node = n.ConnectionString(), n
		measureNode(n, p.metrics)
	}
	answered := sayWaiting(ctx, p, "the event log", func() string { return "no answer from " + eventstore.Redacted(l.connection) })
	defer answered()
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: l.connection, Insecure: p.config.InsecureEventstore, Catalogue: domain.Catalogue(), Logger: p.logger, Observe: observeAppends(p.metrics)})
	if err != nil {
		return nil, err
	}
	p.life.Add(lifecycle.Part{Name: "connection to the log", Stop: func(context.Context) error { store.Close(); return nil }})
	p.life.Add(lifecycle.Part{Name: "name of the log", RunOnce: true, Run: store.AwaitMove})
	l.store = store
	return l, nil
}

// Ready returns an error when the log does not answer, or takes no more appends.
func (l *eventLog) Ready(ctx context.Context) error {
	if l.node != nil {
		if err := l.node.Health().Err; err != nil {
			return err
		}
	}
	_, err := l.store.Head(ctx)
	return err
}

// measureNode adds figures of a log that this process holds.
func measureNode(n *node.Node, m *telemetry.Metrics) {
	for name, read := range map[string]func(eventlog.Health) float64{
		"reckon_log_position":                  func(h eventlog.Health) float64 { return float64(h.Records) },
		"reckon_log_segments":                  func(h eventlog.Health) float64 { return float64(h.Segments) },
		"reckon_log_bytes":                     func(h eventlog.Health) float64 { return float64(h.Bytes) },
		"reckon_log_verified_position":         func(h eventlog.Health) float64 { return float64(h.VerifiedPosition) },
		"reckon_log_verifications":             func(h eventlog.Health) float64 { return float64(h.Passes) },
		"reckon_log_refuses_appends":           refusing,
		"reckon_log_last_verification_seconds": lastVerification,
	} {
		m.Gauge(name, nil, func() float64 { return read(n.Health()) })
	}
}

func refusing(h eventlog.Health) float64 {
	if h.Err != nil {
		return 1
	}
	return 0
}

func lastVerification(h eventlog.Health) float64 {
	if h.LastPass.IsZero() {
		return 0
	}
	return float64(h.LastPass.UnixMilli()) / 1000
}

// stores are the stores beside the log: blobs, and the identity tables.
type stores struct {
	blobs    blobs.Store
	states   *statefiles.Folder // shared by the same processes as the blobs, unless these lie in a bucket
	identity *identity.Store
	rules    identity.Rules
}

func openStores(ctx context.Context, p process, log *eventLog) (*stores, error) {
	address, err := p.config.BlobAddress()
	if err != nil {
		return nil, err
	}
	content, err := awaiting(ctx, p, "the store of blobs", func(ctx context.Context) (blobs.Store, error) { return openBlobs(ctx, address, p.logger) })
	if err != nil {
		return nil, err
	}
	stateFolder, err := p.config.StateFolder()
	if err != nil {
		return nil, err
	}
	named, err := awaiting(ctx, p, "the event log", log.store.Identity)
	if err != nil {
		return nil, err
	}
	if err := awaitingDone(ctx, p, "the store of blobs", func(ctx context.Context) error { return content.UsedBy(ctx, named.Origin) }); err != nil {
		return nil, err
	}
	states, err := statefiles.Open(stateFolder, statefiles.Limits{
		Age: p.config.StateAge, AccountBytes: int64(p.config.StateSpaceAccount) << 20, TotalBytes: int64(p.config.StateSpace) << 20,
	}, time.Now, p.logger)
	if err != nil {
		return nil, err
	}
	p.life.Add(lifecycle.Part{Name: "files of state vectors", Run: states.Run})
	where := identity.Where{Address: p.config.Identity, Schema: p.config.IdentitySchema, Logger: p.logger}
	people, err := awaitingWith(ctx, p, "the database of identities", identity.Open, where)
	if err != nil {
		return nil, err
	}
	p.life.Add(lifecycle.Part{Name: "identity tables", Stop: func(context.Context) error { return people.Close() }})
	rules := identity.Rules{
		Registrations: ratelimit.Rule{Requests: p.config.RegistrationsPerHour, Window: time.Hour},
		SignIns:       ratelimit.Rule{Requests: p.config.SignInsPerMinute, Window: time.Minute},
	}
	return &stores{blobs: content, states: states, identity: identity.New(people, time.Now, rules, passwords.NewHasher(passwords.Standard)), rules: rules}, nil
}

// readSide is the read models. Every process reads them; one with the role project writes them.
type readSide struct {
	db            *projections.DB
	models        *projections.ReadModels
	reactionState *projections.ReactionState
	projector     *projecting.Engine
}

func openReadSide(ctx context.Context, p process, log *eventLog, s *stores) (*readSide, error) {
	const database = "the database of read models"
	db, err := awaitingWith(ctx, p, database, projections.Open, p.config.Database)
	if err != nil {
		return nil, err
	}
	p.life.Add(lifecycle.Part{Name: "database of read models", Stop: func(context.Context) error { return db.Close() }})
	r := &readSide{db: db, models: projections.New(db, s.blobs)}
	r.reactionState, err = awaitingWith(ctx, p, database, projections.NewReactionState, db)
	if err != nil {
		return nil, err
	}
	if p.config.Has(config.RoleProject) {
		named, err := awaiting(ctx, p, "the event log", log.store.Identity)
		if err != nil {
			return nil, err
		}
		if err := awaitingDone(ctx, p, database, func(ctx context.Context) error { return r.dropFormer(ctx, p, named) }); err != nil {
			return nil, err
		}
	}
	r.projector, err = awaiting(ctx, p, database+" or the event log", func(ctx context.Context) (*projecting.Engine, error) {
		return projecting.New(ctx, projecting.Config{DB: db, Log: log.store, Logger: p.logger, Process: processName(p.id), Tracer: p.tracer}, r.models.All()...)
	})
	if err != nil {
		return nil, err
	}
	if err := awaitingDone(ctx, p, database, r.models.Queue.CreateProposalsTable); err != nil {
		return nil, err
	}
	run := r.projector.Watch
	if p.config.Has(config.RoleProject) {
		run = r.projector.Run
	}
	p.life.Add(lifecycle.Part{Name: "read models", Run: run})
	return r, nil
}

// dropFormer removes what is noted by positions that the log had before it was migrated, or has in a copy from which it was taken back.
func (r *readSide) dropFormer(ctx context.Context, p process, named eventstore.Identity) error {
	names := slices.Concat(named.Former, named.Copies)
	dropped, err := projecting.DropFormer(ctx, r.db, names)
	if len(dropped) > 0 {
		p.logger.Info("the log was migrated: these read models are built again from it", "read_models", dropped)
	}
	return errors.Join(err, r.reactionState.DropFormer(ctx, names))
}

// evaluation is the engines with the independent checker, each of processes of their own.
type evaluation struct {
	engine  *engine.Engine // which is asked first
	others  []portfolio.Other
	asks    *fair.Pool // questions to others at a time
	checker *checker.Checker
	checks  *fair.Pool // as many checks run at a time as evaluations
	// strangers are the places of evaluations without an account, and strangersChecks of their checks: a quarter as many, beside those
	// of accounts.
	strangers, strangersChecks *fair.Pool
}

// startEngine installs the engine where it is missing and starts it with its checker.
func startEngine(ctx context.Context, p process, log *eventLog) (*evaluation, error) {
	environment := p.config.EngineFolder()
	if err := installEngine(ctx, engine.Core, environment, p.logger); err != nil {
		return nil, err
	}
	sandbox := engine.SandboxRequired
	if p.config.EngineSandbox == config.SandboxOff {
		p.logger.Warn("the engine runs without its walls: expressions can reach this machine's files and network")
		sandbox = engine.SandboxOff
	}
	workers := p.config.Workers
	if workers == 0 {
		workers = engine.DefaultConcurrency()
	}
	running, end := context.WithCancel(context.Background())
	started, err := engine.Start(ctx, engine.Options{
		Environment: environment, Sandbox: sandbox, Concurrency: workers, SessionMemoryBytes: int64(p.config.SessionMemory) << 20,
		OnSessionExpired: logExpiredSessions(running, p, log),
	})
	if err != nil {
		end()
		return nil, err
	}
	p.life.Add(lifecycle.Part{Name: "engine", Stop: func(ctx context.Context) error {
		end()
		return started.Close(ctx)
	}})
	checks, err := checker.New(ctx, environment, checker.Options{Sandbox: sandbox})
	if err != nil {
		return nil, err
	}
	p.life.Add(lifecycle.Part{Name: "checker", Stop: func(context.Context) error { return checks.Close() }})
	e := &evaluation{engine: started, others: startOthers(ctx, p, environment, sandbox), asks: fair.NewPool(workers), checker: checks, checks: fair.NewPool(workers), strangers: fair.NewPool(workers / 4), strangersChecks: fair.NewPool(workers / 4)}
	e.measure(p.metrics)
	e.watch(p.logger, p.metrics)
	return e, nil
}

// watch counts the processes of engines that end by themselves, and logs each.
func (e *evaluation) watch(logger *slog.Logger, m *telemetry.Metrics) {
	engines := map[string]interface{ WhenEnded(func(said string)) }{"checker": e.checker}
	first, _ := e.engine.Info()
	engines[first] = e.engine
	for _, other := range e.others {
		if running, is := other.(portfolio.Running); is {
			name, _ := running.Info()
			engines[name] = running
		}
	}
	m.MeasureEngines(slices.Sorted(maps.Keys(engines)))
	for name, watched := range engines {
		watched.WhenEnded(func(said string) {
			m.CountEngineEnd(name)
			logger.Error("an engine's process ended, and all that it evaluated with it: what was asked of it is answered 503 or goes back to the queue; the next evaluation starts another. The system may have killed it for want of memory",
				"engine", name, "said", said)
		})
	}
}

// startOthers installs and starts the engines that are asked after the first. One that cannot be had is left out: what it would have
// answered stays unanswered, and the log says so.
func startOthers(ctx context.Context, p process, environment string, sandbox engine.Sandbox) (others []portfolio.Other) {
	for _, second := range portfolio.Chosen(p.config.Engines) {
		folder := second.Folder(environment)
		err := installEngine(ctx, second.Packages, folder, p.logger)
		var started portfolio.Running
		if err == nil {
			started, err = second.Start(ctx, folder, sandbox)
		}
		if err != nil {
			p.logger.WarnContext(ctx, "an engine is missing: what the first engine cannot answer and this one could stays unanswered. `reckon engine install` makes it; --engines=none does without",
				"engine", second.Name, "error", err)
			continue
		}
		p.life.Add(lifecycle.Part{Name: second.Name, Stop: started.Close})
		others = append(others, started)
	}
	return others
}

// boundaries are what holds around the workers of every engine: in force only where it is around all.
func (e *evaluation) boundaries() []engine.Boundary {
	all := e.engine.Boundaries()
	for _, other := range e.others {
		running, is := other.(portfolio.Running)
		if !is {
			continue
		}
		for i, b := range running.Boundaries() {
			all[i].InForce = all[i].InForce && b.InForce
		}
	}
	return all
}

// forAccounts is what accounts' evaluations and jobs are answered with.
func (e *evaluation) forAccounts() (commands.Engine, commands.Checker) {
	checks := adapter.Checker{Engine: e.engine, Checker: e.checker, Places: e.checks}
	return portfolio.Engine{First: adapter.Engine{Engine: e.engine}, Others: e.others, Checker: checks, Places: e.asks}, checks
}

// forStrangers is what evaluations without an account are answered with.
func (e *evaluation) forStrangers() (commands.Engine, commands.Checker) {
	checks := adapter.Checker{Engine: e.engine, Checker: e.checker, Places: e.strangersChecks}
	return portfolio.Engine{First: adapter.Engine{Engine: e.engine, Places: e.strangers}, Others: e.others, Checker: checks, Places: e.strangers}, checks
}

// measure adds figures of the workers and of the memory of sessions.
func (e *evaluation) measure(m *telemetry.Metrics) {
	for pool, usage := range map[string]func() fair.Usage{"engine": e.engine.Usage, "others": e.asks.Usage, "checker": e.checks.Usage, "strangers": e.strangers.Usage, "strangers-checks": e.strangersChecks.Usage} {
		labels := map[string]string{"pool": pool}
		m.Gauge("reckon_workers_busy", labels, func() float64 { return float64(usage().Held) })
		m.Gauge("reckon_workers_awaited", labels, func() float64 { return float64(usage().Waiting) })
	}
	m.Gauge("reckon_sessions_live", nil, func() float64 { return float64(e.engine.SessionCount()) })
	m.Gauge("reckon_session_memory_bytes", nil, func() float64 {
		held, _ := e.engine.SessionMemory()
		return float64(held)
	})
	m.Gauge("reckon_session_memory_limit_bytes", nil, func() float64 {
		_, limit := e.engine.SessionMemory()
		return float64(limit)
	})
}

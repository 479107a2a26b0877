package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/internal/config"
	"reckon/internal/lifecycle"
	"reckon/internal/private"
	"reckon/internal/supervision"
	"reckon/internal/telemetry"
	"reckon/internal/tracing"
	"reckon/internal/witness"
	"reckon/readapi"
	"reckon/runners"
	"reckon/runners/cluster"
	"reckon/runners/workers"
)

// systemClock is the clock of the machine.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// process holds what every part of one process needs.
type process struct {
	config  config.Serve
	logger  *slog.Logger
	id      string // this process's runner id, a UUID that is new every time
	plans   account.Plans
	metrics *telemetry.Metrics
	life    *lifecycle.Lifecycle // each part adds itself once it is made
	tracer  *tracing.Tracer      // nil while no traces are exported

	starting *starting
}

// evaluates reports whether the process has an engine, and so seals receipts.
func (p process) evaluates() bool {
	return p.config.Has(config.RoleAPI) || p.config.Has(config.RoleRun)
}

// service is the parts of `reckon serve`, in the order in which they are made and started.
type service struct {
	process
	log       *eventLog
	stores    *stores
	readSide  *readSide
	engine    *evaluation // nil in a process that evaluates nothing
	writeSide *writeSide
	workers   *workers.Workers
	kinds     []runners.Kind // of jobs; none in a process that evaluates nothing
	served    readapi.Transparency

	outages           *readapi.Outages
	witnesses         []witness.Peer
	checkpointTrouble func() string // why no checkpoint is signed; set where this process signs them
	api               *api          // nil in a process that answers no HTTP
	rotating          sync.Mutex    // held by an operator's rotation of the keys
	stopping          atomic.Bool   // /readyz tells
	ready             chan struct{} // closed when the read models have caught up and the API answers
	local             localSessions
}

// assemble makes every part; whatever fails, what was made before is stopped.
func assemble(ctx context.Context, c config.Serve, logger *slog.Logger) (*service, error) {
	var err error
	if c.Installation, err = c.Complete(); err != nil { // workers run in folders of their own, and so do operators
		return nil, err
	}
	if err := private.MakeFolder(c.Data, logger); err != nil {
		return nil, err
	}
	plans, err := config.LoadPlans(string(c.Config))
	if err != nil {
		return nil, err
	}
	witnesses, err := witness.ParsePeers(c.Witnesses)
	if err != nil {
		return nil, err
	}
	s := &service{witnesses: witnesses, process: process{
		config: c, logger: logger, id: cluster.NewProcessID(c.Eventstore == config.EmbeddedLog), plans: plans, metrics: telemetry.NewMetrics(buildRevision()), life: lifecycle.New(logger),
		starting: newStarting(),
	}, outages: readapi.NewOutages(logger, time.Now), ready: make(chan struct{})}
	s.metrics.MeasureServer(domain.Catalogue().Names(), appendResults)
	if err := s.makeParts(ctx); err != nil {
		bounded, done := context.WithTimeout(context.WithoutCancel(ctx), supervision.PartsEnd)
		defer done()
		return nil, errors.Join(err, s.life.Stop(bounded))
	}
	return s, nil
}

// makeParts makes the parts in order; each needs those before it.
func (s *service) makeParts(ctx context.Context) (err error) {
	if err = s.claimFolder(ctx); err != nil {
		return err
	}
	if err = s.makeAdminListener(ctx); err != nil {
		return err
	}
	if err = s.startTraces(ctx); err != nil {
		return err
	}
	if s.log, err = openLog(ctx, s.process); err != nil {
		return err
	}
	if s.stores, err = openStores(ctx, s.process, s.log); err != nil {
		return err
	}
	if s.readSide, err = openReadSide(ctx, s.process, s.log, s.stores); err != nil {
		return err
	}
	if s.evaluates() {
		if s.engine, err = startEngine(ctx, s.process, s.log); err != nil {
			return err
		}
	}
	if s.writeSide, err = newWriteSide(ctx, s.process, s.log, s.stores); err != nil {
		return err
	}
	if err = s.makeWorkers(ctx); err != nil {
		return err
	}
	if s.config.Has(config.RoleReact) {
		s.life.Add(s.reactions()...)
	}
	if err = s.makeTransparency(ctx); err != nil {
		return err
	}
	s.measureService()
	if err = s.makeAdmin(ctx); err != nil {
		return err
	}
	if s.config.Has(config.RoleAPI) {
		s.api, err = s.makeAPI()
	}
	return err
}

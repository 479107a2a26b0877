package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"reckon/eventstore"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/config"
	"reckon/internal/private"
	"reckon/internal/progress"
	"reckon/internal/supervision"
	"reckon/internal/telemetry"
	"reckon/internal/tracing"
	"reckon/runners/engine"
)

type serveCmd struct {
	config.Serve
	newFlag
}

// Run serves until SIGINT or SIGTERM.
func (c *serveCmd) Run() error {
	logger, err := telemetry.NewLogger(os.Stderr, string(c.Log.Level), telemetry.Format(c.Log.Format))
	if err != nil {
		return err
	}
	logger = slog.New(tracing.LogHandler(telemetry.LimitOutages(logger.Handler(), isOutage)))
	if buildRevision() == unstamped {
		logger.Warn("this binary does not know its revision: events, certificates and the transparency log will say dev for ever; for more than a trial build it with make build", "build", unstamped)
	}
	ctx, stop := untilSignal()
	defer stop()
	whole, err := c.Complete()
	if err == nil {
		err = c.allowServer(whole)
	}
	if err != nil {
		return couldNotServe(err)
	}
	s, err := assemble(ctx, c.Serve, logger)
	switch {
	case err != nil && ctx.Err() != nil:
		logger.Info("stopping: the start had not ended", "error", err)
		return nil
	case err != nil:
		return couldNotServe(err)
	}
	return s.runParts(ctx, stop, func(ctx context.Context) error {
		s.announce()
		<-ctx.Done()
		return nil
	})
}

// couldNotServe prints errors whose message tells an operator what to do, and exits with 2.
func couldNotServe(err error) error {
	var inUse *eventlog.FolderInUseError
	var unsafe *engine.UnsafeError
	var unguarded *eventstore.UnguardedError
	var open *private.FolderError
	var lost *LostLogError
	var none *NoInstallationError
	var moved *eventstore.MovedError
	var unfinished *eventstore.UnfinishedError
	switch {
	case errors.As(err, &inUse), errors.As(err, &unsafe), errors.As(err, &unguarded), errors.As(err, &open), errors.As(err, &lost), errors.As(err, &none), errors.As(err, &moved), errors.As(err, &unfinished):
		fmt.Fprintln(os.Stderr, "reckon serve:", err)
		return exitStatus(2)
	}
	return fmt.Errorf("serve: %w", err)
}

// runParts runs every part while work, which is called when the service is ready, has not returned. The context of work ends with ctx
// and when a part fails.
func (s *service) runParts(ctx context.Context, stopSignals func(), work func(context.Context) error) error {
	err := s.life.Start(ctx)
	if err == nil {
		err = recordServed(s.config.Installation)
	}
	if err == nil {
		err = s.awaitReady(ctx)
	}
	if err == nil && ctx.Err() == nil {
		close(s.ready)
		err = s.whilePartsRun(ctx, work)
	}
	s.logger.Info("stopping")
	s.stopping.Store(true)
	stopSignals() // a second signal ends the process at once
	return errors.Join(err, s.drainAndStop(context.WithoutCancel(ctx)))
}

// whilePartsRun calls work, and ends its context with the error of a part that fails meanwhile.
func (s *service) whilePartsRun(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- work(ctx) }()
	select {
	case err := <-ended:
		return err
	case err := <-s.life.Failed():
		cancel()
		return errors.Join(err, <-ended)
	}
}

// drainAndStop lets requests and jobs end, or hands them back, while everything still
// runs; then it stops the parts.
func (s *service) drainAndStop(ctx context.Context) error {
	draining, drained := context.WithTimeout(ctx, supervision.Drain(s.config.UnreadyFor(), s.config.Grace, s.longestEvaluation()))
	s.life.Drain(draining)
	drained()
	stopping, stopped := context.WithTimeout(ctx, supervision.PartsEnd)
	defer stopped()
	return s.life.Stop(stopping)
}

// longestEvaluation is how long the evaluation of a request that has just come may take.
func (s *service) longestEvaluation() (longest time.Duration) {
	for _, p := range s.plans {
		longest = max(longest, supervision.Evaluation(s.config.QueueWait, p.EvaluationBudget()))
	}
	return longest
}

// awaitReady waits until the read models have caught up with the log as it was,
// the context ends, or a part fails.
func (s *service) awaitReady(ctx context.Context) error {
	const look = 20 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	display := progress.New(os.Stderr, s.logger)
	defer display.Close()
	for !s.readSide.projector.Ready() {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.life.Failed():
			return err
		case <-ticker.C:
		}
		display.Show(func() []progress.Task { return buildingTasks(s.readSide.projector.Building()) })
	}
	return nil
}

// announce prints the addresses of the service and a command to try it.
func (s *service) announce() {
	if s.api == nil {
		fmt.Println("ready", s.id)
		return
	}
	fmt.Printf("ready http://%s\n  log  %s\n  data %s\n\ntry, in another terminal in this folder:\n  %s\n",
		s.api.listener.Addr(), eventstore.Redacted(s.log.connection), s.config.Data, tryHint(s.config.Data))
}

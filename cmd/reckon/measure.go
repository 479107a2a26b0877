package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	runs "reckon/domain/run"
	"reckon/eventstore"
	"reckon/internal/httpkit"
	"reckon/internal/telemetry"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/readapi"
	"reckon/runners"
	"reckon/runners/kinds"
)

// observeAppends counts what this process appends.
func observeAppends(m *telemetry.Metrics) func([]event.Proposed, time.Duration, error) {
	return func(events []event.Proposed, took time.Duration, err error) {
		names := make([]string, len(events))
		for i, e := range events {
			names[i] = e.Event.EventName()
		}
		result := appendResult(err)
		m.ObserveAppend(names, result, took)
		for _, e := range events {
			if result == telemetry.AppendOK && isUnsigned(e.Event) {
				m.CountUnsignedReceipt()
			}
			if released, is := e.Event.(job.WasReleased); is && result == telemetry.AppendOK && released.Reason == job.Abandoned {
				m.CountSpentAttempt()
			}
		}
	}
}

// Results of appends, as a label has them.
const (
	appendConflict    = "conflict"
	appendCancelled   = "cancelled"
	appendUnavailable = "unavailable"
	appendRefused     = "refused"
)

// appendResults are all of them.
var appendResults = []string{telemetry.AppendOK, appendConflict, appendCancelled, appendUnavailable, appendRefused}

// appendResult is how an append ended, as a label has it.
func appendResult(err error) string {
	switch {
	case err == nil:
		return telemetry.AppendOK
	case errors.Is(err, commands.ErrConflict):
		return appendConflict
	case errors.Is(err, commands.ErrCancelled):
		return appendCancelled
	case errors.Is(err, commands.ErrUnavailable):
		return appendUnavailable
	}
	return appendRefused
}

// isUnsigned tells whether an event is a receipt without a signature. That of a job is encoded already.
func isUnsigned(e event.Event) bool {
	switch e := e.(type) {
	case runs.Sealed:
		return e.Signature == ""
	case event.Embedded:
		var sealed runs.Sealed
		return e.Name == sealed.EventName() && (json.Unmarshal(e.Data, &sealed) != nil || sealed.Signature == "")
	}
	return false
}

// problemCodes are the codes of all problems, those of the kinds of jobs included.
func problemCodes(jobs []runners.Kind) (codes []string) {
	for _, kind := range httpkit.Kinds() {
		codes = append(codes, kind.Code)
	}
	for _, kind := range jobs {
		for _, refusal := range kind.Declare().Refusals {
			codes = append(codes, refusal.Code)
		}
	}
	return codes
}

// observeJob counts the attempts that end here.
func (s *service) observeJob() func(job.Kind, runners.Outcome, time.Duration) {
	var names []string
	for _, kind := range s.kinds {
		names = append(names, string(kind.Declare().Name))
	}
	outcomes := []string{string(job.Succeeded), string(job.Failed), string(job.TimedOut)}
	for _, outcome := range runners.Outcomes() {
		outcomes = append(outcomes, string(outcome))
	}
	s.metrics.MeasureRunner(names, outcomes)
	return func(kind job.Kind, outcome runners.Outcome, took time.Duration) {
		s.metrics.ObserveJob(string(kind), string(outcome), took)
	}
}

// observeKernels counts what the kernels say of an export, and says it where they disagree: one of them is wrong.
func (s *service) observeKernels(c certificate.Issued) {
	for _, k := range c.Kernels {
		s.metrics.CountKernelAnswer(k.Name, string(k.Answer))
	}
	if k := c.Disagree(); k != nil {
		s.logger.Error("the kernels disagree about an export: docs/proofs.md says what to do", "certificate", c.CertificateID, "export_sha256", c.Export.SHA256, "kernel", k.Name, "refuses", *k.Reason)
	}
}

// measureWorkers adds figures of the jobs that run here.
func (s *service) measureWorkers(slots int) {
	s.metrics.Gauge("reckon_runner_slots", nil, func() float64 { return float64(slots) })
	s.metrics.Gauge("reckon_runner_running", nil, func() float64 { return float64(s.workers.Running()) })
	s.metrics.Gauge("reckon_heartbeat_age_seconds", nil, func() float64 { return s.workers.HeartbeatAge().Seconds() })
}

// measureService adds the figures of every server that are read when somebody asks for them.
func (s *service) measureService() {
	health := s.health()
	s.metrics.Collect("health", []string{"reckon_ready", "reckon_dependency_up", "reckon_part_up", "reckon_part_restarts_total"}, func(ctx context.Context, add telemetry.Add) error {
		addHealth(health.Summarise(ctx), add)
		return nil
	})
	s.metrics.Collect("projections", []string{
		"reckon_projection_lag_positions", "reckon_projection_lag_seconds", "reckon_projection_phase", "reckon_projection_ready",
		"reckon_projection_events_per_second", "reckon_projection_parked",
	}, s.collectProjections)
	s.metrics.Collect("reactions", []string{"reckon_reaction_parked"}, func(ctx context.Context, add telemetry.Add) error {
		parked, err := s.readSide.reactionState.CountParked(ctx)
		for _, name := range reactionNames() {
			add("reckon_reaction_parked", float64(parked[name]), name)
		}
		return err
	})
	s.metrics.Collect("queue", []string{"reckon_jobs_waiting", "reckon_jobs_running", "reckon_jobs_oldest_waiting_seconds"}, func(ctx context.Context, add telemetry.Add) error {
		return collectQueue(ctx, s.readSide.models.Queue, s.log.store, add)
	})
}

func addHealth(h readapi.Summary, add telemetry.Add) {
	add("reckon_ready", oneIf(h.Ready))
	for name, up := range h.Dependencies {
		add("reckon_dependency_up", oneIf(up), name)
	}
	for _, p := range h.Parts {
		add("reckon_part_up", oneIf(p.Ready), p.Name)
		add("reckon_part_restarts_total", float64(p.Restarts), p.Name)
	}
}

// reactionNames are the names of all reactions.
func reactionNames() (names []string) {
	for _, r := range reactions.All(nil, nil, nil, reactions.Actor{}) {
		names = append(names, r.Name)
	}
	return names
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (s *service) collectProjections(ctx context.Context, add telemetry.Add) error {
	list, err := s.readSide.projector.Status(ctx)
	if err != nil {
		return err
	}
	for _, p := range list {
		version := strconv.Itoa(p.Version)
		add("reckon_projection_lag_positions", float64(p.Lag), p.Name, version)
		age, err := oldestAfter(ctx, s.log.store, p)
		if err != nil {
			return err
		}
		add("reckon_projection_lag_seconds", age.Seconds(), p.Name, version)
		for _, phase := range projecting.Phases() {
			add("reckon_projection_phase", oneIf(p.Phase == phase), p.Name, version, string(phase))
		}
		add("reckon_projection_ready", oneIf(p.Ready), p.Name, version)
		add("reckon_projection_events_per_second", p.Rate, p.Name, version)
		add("reckon_projection_parked", float64(p.Parked), p.Name, version)
	}
	return nil
}

// oldestAfter is the age of the first event of the service after a read model's position; 0 where there is none.
func oldestAfter(ctx context.Context, store *eventstore.Store, p projecting.Status) (time.Duration, error) {
	if p.Lag == 0 {
		return 0, nil
	}
	const most = 256 // events without a time are the store's own
	read := 0
	for raw, err := range store.RawAll(ctx, p.Position) {
		if err != nil {
			return 0, err
		}
		if meta, ok := metadataOf(raw); ok && !meta.At.IsZero() {
			return max(0, time.Since(meta.At)), nil
		}
		if read++; read == most {
			break
		}
	}
	return 0, nil
}

// collectQueue counts the jobs of the installation.
func collectQueue(ctx context.Context, queue *projections.Queue, store *eventstore.Store, add telemetry.Add) error {
	counts, oldest, err := queue.Counts(ctx)
	if err != nil {
		return err
	}
	type cell struct {
		status job.Status
		kind   job.Kind
	}
	jobs := map[cell]int64{}
	for _, k := range kinds.All(kinds.Parts{}) { // a kind without jobs is 0, and not missing
		kind := k.Declare().Name
		jobs[cell{job.Queued, kind}], jobs[cell{job.Running, kind}] = 0, 0
	}
	for _, c := range counts {
		jobs[cell{c.Status, c.Kind}] = c.Jobs
	}
	for of, count := range jobs {
		name := "reckon_jobs_waiting"
		if of.status == job.Running {
			name = "reckon_jobs_running"
		}
		add(name, float64(count), string(of.kind))
	}
	if oldest == "" {
		add("reckon_jobs_oldest_waiting_seconds", 0)
		return nil
	}
	first, err := store.RawStream(ctx, job.Stream(oldest), 0, 1)
	if err != nil {
		return err
	}
	for _, raw := range first {
		if meta, ok := metadataOf(raw); ok {
			add("reckon_jobs_oldest_waiting_seconds", max(0, time.Since(meta.At).Seconds()))
		}
	}
	return nil
}

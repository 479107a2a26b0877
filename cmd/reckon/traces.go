package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"reckon/internal/config"
	"reckon/internal/lifecycle"
	"reckon/internal/telemetry"
	"reckon/internal/tracing/otlp"
)

// startTraces exports the spans of this process if the environment names a collector. It is stopped last: the other parts end spans until then.
func (p *process) startTraces(ctx context.Context) error {
	wanted, err := otlp.Wanted(os.Getenv)
	if err != nil || !wanted {
		return err
	}
	export, err := otlp.Start(ctx, otlp.Process{Build: buildRevision(), ID: p.id, Roles: roleNames(p.config.Roles)}, p.logger)
	if err != nil {
		return err
	}
	p.tracer = export.Tracer()
	p.life.Add(lifecycle.Part{Name: "traces", Stop: func(ctx context.Context) error {
		if err := export.Stop(ctx); err != nil { // what a collector misses is no failure of the service
			p.logger.Warn("not all spans were sent", "error", err)
		}
		return nil
	}})
	p.metrics.Collect("traces", []string{"reckon_trace_spans_total"}, func(_ context.Context, add telemetry.Add) error {
		add("reckon_trace_spans_total", float64(export.Sent.Load()), "sent")
		add("reckon_trace_spans_total", float64(export.Dropped.Load()), "dropped")
		add("reckon_trace_spans_total", float64(export.Refused.Load()), "refused")
		return nil
	})
	return nil
}

// roleNames are the roles of a process as one text, in order.
func roleNames(roles []config.Role) string {
	return strings.Join(slices.Sorted(func(yield func(string) bool) {
		for _, r := range roles {
			if !yield(fmt.Sprint(r)) {
				return
			}
		}
	}), ",")
}

// Package otlp sends the spans of a process to an OpenTelemetry collector, over HTTP in OTLP's binary form.
//
// A span is sent by another goroutine than the one that ended it, from a queue of bounded length: a collector that is slow, away or dead delays nobody, and
// what it does not take is counted. All settings are OpenTelemetry's own environment variables.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"reckon/internal/tracing"
)

const (
	// MaxQueue is how many spans wait for the collector, those that are being sent among them; beyond it they are dropped.
	MaxQueue = 4096
	maxBatch = 512
	// exportTimeout bounds the sending of one batch, its repetitions included.
	exportTimeout = 10 * time.Second
	// flushTimeout bounds the sending of what is left when the process ends.
	flushTimeout = 3 * time.Second

	// A span has at most this many attributes, of at most so many characters.
	maxAttributes     = 32
	maxAttributeChars = 256
)

// endpoints are the variables that switch the export on.
var endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// Wanted tells whether the environment asks for spans: it names a collector, and does not say OTEL_SDK_DISABLED=true or
// OTEL_TRACES_EXPORTER=none. An error names the variable that cannot be followed.
func Wanted(getenv func(string) string) (bool, error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: say otlp, or none to switch traces off", exporter)
	}
	for _, name := range endpoints {
		address := getenv(name)
		if address == "" {
			continue
		}
		if to, err := url.Parse(address); err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
			return false, fmt.Errorf("%s is not the address of a collector: say http://HOST:4318 or https://…", name)
		}
		for _, protocol := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
			if said := getenv(protocol); said != "" && said != "http/protobuf" {
				return false, fmt.Errorf("%s is %q: this program speaks http/protobuf, which collectors take on port 4318", protocol, said)
			}
		}
		return true, nil
	}
	return false, nil
}

// Process is what every span of a process says of it. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over it.
type Process struct {
	Build string // revision of the binary
	ID    string // another for every process
	Roles string // what the process does
}

// Export is the way of a process's spans to the collector.
type Export struct {
	provider *sdk.TracerProvider
	exporter *otlptrace.Exporter
	logger   *slog.Logger
	waiting  atomic.Int64 // spans that have ended and are neither sent nor given up
	failing  atomic.Bool  // the collector did not take the last batch

	// Sent, Dropped and Refused count spans: taken by the collector; dropped because MaxQueue of them waited; given up because the collector did
	// not take them.
	Sent, Dropped, Refused atomic.Int64
}

// Start begins to export. It does not ask whether the collector is there.
func Start(ctx context.Context, p Process, logger *slog.Logger) (*Export, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "reckon"), attribute.String("service.version", p.Build),
		attribute.String("service.instance.id", p.ID), attribute.String("reckon.roles", p.Roles),
	), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("traces: %w", err)
	}
	if err != nil {
		logger.Warn("OTEL_RESOURCE_ATTRIBUTES cannot be read whole", "error", err)
	}
	e := &Export{exporter: exporter, logger: logger}
	limits := sdk.NewSpanLimits()
	limits.AttributeValueLengthLimit, limits.AttributeCountLimit, limits.LinkCountLimit = maxAttributeChars, maxAttributes, tracing.MaxLinks
	batches := sdk.NewBatchSpanProcessor(counted{e}, sdk.WithMaxQueueSize(MaxQueue), sdk.WithMaxExportBatchSize(maxBatch), sdk.WithExportTimeout(exportTimeout))
	e.provider = sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithRawSpanLimits(limits), sdk.WithSpanProcessor(admission{batches, e}))
	return e, nil
}

// Tracer begins the spans that are exported.
func (e *Export) Tracer() *tracing.Tracer { return tracing.New(e.provider) }

// Stop sends what waits, for at most flushTimeout, and gives the rest up.
func (e *Export) Stop(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	err := e.provider.Shutdown(bounded)
	if err == nil {
		return nil
	}
	ended, end := context.WithCancel(ctx)
	end()
	_ = e.exporter.Shutdown(ended) // interrupts the request that is under way
	return fmt.Errorf("traces: %d spans were not sent: %w", e.waiting.Load(), err)
}

// admission lets at most MaxQueue spans wait. The queue behind it is as long, so that it has room for each of them.
type admission struct {
	sdk.SpanProcessor
	export *Export
}

// OnEnd is sdk.SpanProcessor.
func (a admission) OnEnd(span sdk.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if a.export.waiting.Add(1) > MaxQueue {
		a.export.waiting.Add(-1)
		a.export.Dropped.Add(1)
		return
	}
	a.SpanProcessor.OnEnd(span)
}

// counted is the exporter, with what becomes of each span.
type counted struct{ export *Export }

// ExportSpans is sdk.SpanExporter. A failure is logged once until the collector takes a batch again.
func (c counted) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	e, n := c.export, int64(len(spans))
	err := e.exporter.ExportSpans(ctx, spans)
	e.waiting.Add(-n)
	if err != nil {
		e.Refused.Add(n)
		if !e.failing.Swap(true) {
			e.logger.Warn("traces: the collector does not take spans; they are given up and counted", "cause", cut(err.Error()))
		}
		return nil
	}
	e.Sent.Add(n)
	if e.failing.Swap(false) {
		e.logger.Info("traces: the collector takes spans again")
	}
	return nil
}

// cut shortens a collector's words for a line of the log.
func cut(text string) string {
	const longest = 300
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// Shutdown is sdk.SpanExporter.
func (c counted) Shutdown(ctx context.Context) error { return c.export.exporter.Shutdown(ctx) }

package tracing_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"reckon/internal/tracing"
)

const (
	trace       = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent      = "00f067aa0ba902b7"
	traceparent = "00-" + trace + "-" + parent + "-01"
	unsampled   = "00-" + trace + "-" + parent + "-00"
)

func recorded() (*tracetest.SpanRecorder, *tracing.Tracer) {
	recorder := tracetest.NewSpanRecorder()
	return recorder, tracing.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)))
}

// TestSpansAreBelow: a span is below that of this process, else below the one that the traceparent names, else the first of a trace; its context passes it on.
func TestSpansAreBelow(t *testing.T) {
	t.Parallel()
	recorder, tracer := recorded()
	outer, request := tracer.Begin(t.Context(), tracing.Request, "POST", traceparent)
	inner, command := tracing.Below(outer, tracing.Command, "job.Claim")
	within, delegated := tracer.Begin(inner, tracing.Request, "GET", "00-"+strings.Repeat("a", 32)+"-"+parent+"-01")
	if got := tracing.TraceID(tracing.Traceparent(within)); got != trace {
		t.Errorf("within a span the traceparent of another trace was followed: %s", got)
	}
	command.Set(tracing.Text(tracing.CommandKind, "job.Claim"), tracing.Int(tracing.Events, 2), tracing.Flag(tracing.Session, true))
	request.Rename(tracing.Request, "POST /api/jobs")
	request.Fail()
	delegated.End()
	command.End()
	request.End()
	_, first := tracer.Begin(t.Context(), tracing.Job, "qsim", "")
	first.End()
	ended := recorder.Ended()
	if len(ended) != 4 {
		t.Fatalf("%d spans", len(ended))
	}
	d, c, r, f := ended[0], ended[1], ended[2], ended[3]
	if r.Parent().SpanID().String() != parent || !r.Parent().IsRemote() || r.SpanContext().TraceID().String() != trace || r.Name() != "POST /api/jobs" || r.Status().Description != "" || r.Status().Code.String() != "Error" {
		t.Errorf("%v", r)
	}
	if c.Parent().SpanID() != r.SpanContext().SpanID() || c.Name() != "command job.Claim" || len(c.Attributes()) != 3 || d.Parent().SpanID() != c.SpanContext().SpanID() {
		t.Errorf("%v %v", c, d)
	}
	if f.Parent().IsValid() || f.SpanContext().TraceID().String() == trace || f.Name() != "job qsim" {
		t.Errorf("%v", f)
	}
}

// TestWithoutATracer: nothing is recorded, and a trace that others began goes on through this process.
func TestWithoutATracer(t *testing.T) {
	t.Parallel()
	var none *tracing.Tracer
	ctx, span := none.Begin(t.Context(), tracing.Request, "GET", traceparent)
	span.Set(tracing.Int(tracing.Events, 1))
	span.Rename(tracing.Request, "GET /")
	span.Fail()
	span.End()
	below, nothing := tracing.Below(ctx, tracing.Append, "job")
	nothing.End()
	if span.Recording() || nothing.Recording() || tracing.Traceparent(below) != traceparent {
		t.Errorf("%q", tracing.Traceparent(below))
	}
	linked, nothing := none.BeginLinked(t.Context(), tracing.Project, "jobs", slices.Values([]string{traceparent}))
	nothing.End()
	if nothing.Recording() || tracing.Traceparent(linked) != "" {
		t.Error("a span is recorded")
	}
	// What the client does not want to be recorded is not.
	recorder, tracer := recorded()
	ctx, span = tracer.Begin(t.Context(), tracing.Request, "GET", unsampled)
	_, nothing = tracing.Below(ctx, tracing.Append, "job")
	nothing.End()
	span.End()
	if got := tracing.Traceparent(ctx); span.Recording() || len(recorder.Ended()) != 0 || tracing.TraceID(got) != trace || !strings.HasSuffix(got, "-00") {
		t.Errorf("%q, %d spans", got, len(recorder.Ended()))
	}
}

// TestLinksAreBounded: a batch is linked to each sampled span once, to at most MaxLinks, and has no span without one.
func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	recorder, tracer := recorded()
	for _, none := range [][]string{nil, {"", unsampled, "nonsense"}} {
		_, span := tracer.BeginLinked(t.Context(), tracing.Project, "jobs", slices.Values(none))
		span.End()
	}
	if n := len(recorder.Ended()); n != 0 {
		t.Fatalf("%d spans without links", n)
	}
	ctx, _ := tracer.Begin(t.Context(), tracing.Request, "GET", "")
	read := 0
	_, span := tracer.BeginLinked(ctx, tracing.Project, "jobs", func(yield func(string) bool) {
		for i := range 10 * tracing.MaxLinks {
			read++
			if !yield(fmt.Sprintf("00-%032x-%s-01", 1+i/2, parent)) || !yield(unsampled) {
				return
			}
		}
	})
	span.End()
	ended := recorder.Ended()[0]
	if len(ended.Links()) != tracing.MaxLinks || ended.Parent().IsValid() || read > 2*tracing.MaxLinks {
		t.Errorf("%d links, %d events read, below %v", len(ended.Links()), read, ended.Parent())
	}
}

// TestMalformedTraceparents: W3C Trace Context section 3.2 says what is none; it is left out.
func TestMalformedTraceparents(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "x", "00", "ff-" + trace + "-" + parent + "-01", "00-" + strings.Repeat("0", 32) + "-" + parent + "-01", "00-" + trace + "-0000000000000000-01",
		strings.ToUpper(traceparent), traceparent + "-x", "00-" + trace + "-" + parent, "00-" + trace + "-" + parent + "-1", strings.Repeat("0", 1<<16), " " + traceparent,
	} {
		if ctx := tracing.Join(t.Context(), bad); tracing.TraceID(bad) != "" || tracing.Traceparent(ctx) != "" {
			t.Errorf("%.80q is read as %s", bad, tracing.Traceparent(ctx))
		}
	}
	if next := "01-" + trace + "-" + parent + "-01-of a later version"; tracing.TraceID(next) != trace {
		t.Errorf("%q is not read", next)
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add(traceparent)
	f.Add("01-" + trace + "-" + parent + "-ff-more")
	whole := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$`)
	f.Fuzz(func(t *testing.T, text string) {
		kept := tracing.Traceparent(tracing.Join(context.Background(), text))
		if (kept == "") != (tracing.TraceID(text) == "") || kept != "" && (!whole.MatchString(kept) || tracing.TraceID(kept) != tracing.TraceID(text)) {
			t.Errorf("%q is kept as %q, of the trace %q", text, kept, tracing.TraceID(text))
		}
	})
}

// TestLogLines: a line that is logged within a trace names it, in groups and with attributes too; others do not.
func TestLogLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(tracing.LogHandler(slog.NewTextHandler(&out, nil)))
	in := tracing.Join(t.Context(), traceparent)
	log.InfoContext(in, "one", "request_id", "r")
	log.With("a", 1).WarnContext(in, "two")
	log.InfoContext(t.Context(), "three")
	log.Info("four")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range lines {
		if named := strings.HasSuffix(line, " trace_id="+trace+" span_id="+parent); named != (i < 2) {
			t.Error(line)
		}
	}
	if len(lines) != 4 || !strings.Contains(lines[0], "request_id=r") || !strings.Contains(lines[1], "a=1") {
		t.Error(out.String())
	}
}

package httpkit_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"reckon/internal/httpkit"
	"reckon/internal/tracing"
	"reckon/test/wait"
)

const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + clientTrace + "-00f067aa0ba902b7-01"
)

// TestARequestIsASpan: with the template of its route, never its path or query; of the client's trace, if its traceparent is one; failed from 500 on. A method that
// HTTP does not define has no name of its own. What is logged of the request names request and trace.
func TestARequestIsASpan(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	var log bytes.Buffer
	server := serve(t, httpkit.Settings{
		Tracer: tracing.New(sdk.NewTracerProvider(sdk.WithSyncer(tracetest.NewNoopExporter()), sdk.WithSpanProcessor(recorder))),
		Logger: slog.New(tracing.LogHandler(slog.NewTextHandler(&log, nil))),
	})
	for _, c := range []struct {
		method, path, traceparent string
		name                      string
		status                    int
		failed                    bool
	}{
		{"GET", "/items/secret-id?limit=7", traceparent, "GET /items/{id}", 200, false},
		{"GET", "/items/x?limit=none", "", "GET /items/{id}", 400, false},
		{"GET", "/fail/error", traceparent, "GET /fail/{id}", 500, true},
		{"GET", "/fail/panic", "00-0-0-01", "GET /fail/{id}", 500, true},
		{"GET", "/nothing/secret-path", "", "GET", 404, false},
		{"BREW", "/items/x", "", "_OTHER", 405, false},
	} {
		log.Reset()
		request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Request-Id", "the-request")
		if c.traceparent != "" {
			request.Header.Set("Traceparent", c.traceparent)
		}
		before := len(recorder.Ended())
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		wait.Until(t, "the span has ended", func() bool { return len(recorder.Ended()) > before }) // after the answer
		span := recorder.Ended()[before]
		attributes := attribute.NewSet(span.Attributes()...)
		status, _ := attributes.Value(attribute.Key(tracing.Status))
		id, _ := attributes.Value(attribute.Key(tracing.RequestID))
		if span.Name() != c.name || status.AsInt64() != int64(c.status) || (span.Status().Code.String() == "Error") != c.failed || id.AsString() != "the-request" {
			t.Errorf("%s %s is %q %v %v", c.method, c.path, span.Name(), span.Attributes(), span.Status())
		}
		if text := attributes.Encoded(attribute.DefaultEncoder()) + span.Name(); strings.Contains(text, "secret") {
			t.Error(text)
		}
		if followed := span.SpanContext().TraceID().String() == clientTrace; followed != (c.traceparent == traceparent) {
			t.Errorf("%s with the traceparent %q is of the trace %s", c.path, c.traceparent, span.SpanContext().TraceID())
		}
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, "request_id=the-request") || !strings.Contains(line, "trace_id="+span.SpanContext().TraceID().String()+" span_id="+span.SpanContext().SpanID().String()) {
				t.Error(line)
			}
		}
		if c.failed != (log.Len() > 0) {
			t.Errorf("%s %s is logged as %q", c.method, c.path, log.String())
		}
	}
}

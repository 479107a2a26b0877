package otlp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reckon/internal/tracing"
	"reckon/internal/tracing/otlp"
	"reckon/test/collector"
	"reckon/test/wait"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	const endpoint, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for name, c := range map[string]struct {
		environment []string
		wanted      bool
		wrong       string // variable that the error names
	}{
		"nothing said":       {nil, false, ""},
		"a collector":        {[]string{endpoint, "http://127.0.0.1:4318"}, true, ""},
		"of traces":          {[]string{traces, "https://collector/v1/traces"}, true, ""},
		"disabled":           {[]string{endpoint, "http://h:1", "OTEL_SDK_DISABLED", "true"}, false, ""},
		"no exporter":        {[]string{endpoint, "http://h:1", "OTEL_TRACES_EXPORTER", "none"}, false, ""},
		"otlp":               {[]string{endpoint, "http://h:1", "OTEL_TRACES_EXPORTER", "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, true, ""},
		"exporter elsewhere": {[]string{"OTEL_TRACES_EXPORTER", "otlp"}, false, ""},
		"another exporter":   {[]string{endpoint, "http://h:1", "OTEL_TRACES_EXPORTER", "zipkin"}, false, "OTEL_TRACES_EXPORTER"},
		"no address":         {[]string{endpoint, "collector:4318"}, false, endpoint},
		"another protocol":   {[]string{endpoint, "http://h:1", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"of traces another":  {[]string{endpoint, "http://h:1", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}, false, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"},
	} {
		wanted, err := otlp.Wanted(environment(c.environment...))
		if wanted != c.wanted || (err != nil) != (c.wrong != "") || err != nil && !strings.HasPrefix(err.Error(), c.wrong+" ") {
			t.Errorf("%s: %t, %v", name, wanted, err)
		}
	}
	if _, err := otlp.Wanted(environment("OTEL_EXPORTER_OTLP_ENDPOINT", "user:secret@host")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// start exports to an address.
func start(t *testing.T, address string, log io.Writer) *otlp.Export {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "5")
	export, err := otlp.Start(t.Context(), otlp.Process{Build: "b", ID: "i", Roles: "api"}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return export
}

func end(tracer *tracing.Tracer, spans int) {
	for range spans {
		_, span := tracer.Begin(context.Background(), tracing.Request, "GET", "")
		span.End()
	}
}

// TestSpansAreSent: all that has ended is with the collector when the export has stopped; OTEL_RESOURCE_ATTRIBUTES and the process say whose they are.
func TestSpansAreSent(t *testing.T) {
	received := collector.New(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	t.Setenv("OTEL_SERVICE_NAME", "another")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	export := start(t, received.URL, io.Discard)
	const n = 1500
	end(export.Tracer(), n)
	_, long := export.Tracer().Begin(t.Context(), tracing.Request, "GET", "")
	long.Set(tracing.Text(tracing.RequestID, strings.Repeat("x", 10_000)))
	long.End()
	if err := export.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := received.Spans()
	if len(spans) != n+1 || export.Sent.Load() != n+1 || export.Dropped.Load() != 0 || export.Refused.Load() != 0 {
		t.Fatalf("%d received; %d sent, %d dropped, %d refused", len(spans), export.Sent.Load(), export.Dropped.Load(), export.Refused.Load())
	}
	if r := spans[0].Resource; r["service.name"] != "another" || r["service.version"] != "b" || r["service.instance.id"] != "i" || r["deployment.environment.name"] != "test" {
		t.Errorf("%v", r)
	}
	if got := len(spans[n].Attributes[string(tracing.RequestID)]); got != 256 {
		t.Errorf("an attribute of %d characters", got)
	}
	end(export.Tracer(), 1) // after the end of the process's other parts: nothing happens
}

// TestADeadCollectorDelaysNobody: one that takes requests and never answers. Spans end all the same; as many as may wait do, the others are dropped and counted, and
// the export stops although nothing was sent.
func TestADeadCollectorDelaysNobody(t *testing.T) {
	release := make(chan struct{})
	dead := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // net/http sees that the client has gone once the body is read
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer dead.Close()
	defer close(release)
	export := start(t, dead.URL, io.Discard)
	const over = 777
	end(export.Tracer(), otlp.MaxQueue+over)
	if got := export.Dropped.Load(); got != over {
		t.Errorf("%d of %d spans dropped, want %d", got, otlp.MaxQueue+over, over)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := export.Stop(impatient); err == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	if export.Sent.Load() != 0 {
		t.Errorf("%d sent", export.Sent.Load())
	}
}

// TestARefusingCollectorIsLoggedOnce: what it does not take is counted, a line says so, and another when it takes spans again.
func TestARefusingCollectorIsLoggedOnce(t *testing.T) {
	var refused, refuse = make(chan struct{}, 100), true
	received := collector.New(t)
	fickle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse {
			http.Error(w, "no such tenant "+strings.Repeat("x", 1000), http.StatusForbidden)
			refused <- struct{}{}
			return
		}
		received.ServeHTTP(w, r)
	}))
	defer fickle.Close()
	var log bytes.Buffer
	export := start(t, fickle.URL, &log)
	for range 3 {
		before := export.Refused.Load()
		end(export.Tracer(), 1)
		<-refused
		wait.Until(t, "the refusal is counted", func() bool { return export.Refused.Load() > before })
	}
	refuse = false // the exporter's goroutine waits for spans
	end(export.Tracer(), 2)
	if err := export.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if export.Refused.Load() != 3 || export.Sent.Load() != 2 || len(received.Spans()) != 2 {
		t.Errorf("%d refused, %d sent, %d received", export.Refused.Load(), export.Sent.Load(), len(received.Spans()))
	}
	lines := log.String()
	if strings.Count(lines, "does not take spans") != 1 || strings.Count(lines, "takes spans again") != 1 || len(lines) > 1000 {
		t.Error(lines)
	}
}

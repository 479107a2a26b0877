// Package collector is an OpenTelemetry collector for tests: it takes OTLP over HTTP in its binary form, as the real ones do, and keeps the spans.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"reckon/internal/tracing"
	"reckon/test/wait"
)

// Span is a span as it was received.
type Span struct {
	Trace, ID, Parent string // hexadecimal; Parent is empty for the first of a trace
	Name              string
	Kind              traces.Span_SpanKind
	Attributes        map[string]string // of any type, as text
	Links             []Link
	Failed            bool
	StatusMessage     string
	Events            int
	Resource          map[string]string
}

// Link is a span of another trace that a span is linked to.
type Link struct{ Trace, ID string }

// Collector receives spans until the test's end.
type Collector struct {
	URL string

	t     testing.TB
	mu    sync.Mutex
	spans []Span
}

// New starts a collector on loopback.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Through begins a command line whose program exports its spans to the collector, and without the usual wait of 5 s for a batch.
func (c *Collector) Through() []string { return Through(c.URL) }

// Through is Collector.Through for any server that takes, or does not take, spans.
func Through(url string) []string {
	return []string{"env", "OTEL_EXPORTER_OTLP_ENDPOINT=" + url, "OTEL_BSP_SCHEDULE_DELAY=20"}
}

// maxBody bounds one request.
const maxBody = 64 << 20

// ServeHTTP takes one batch of spans.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, maxBody))
	var batch otlp.ExportTraceServiceRequest
	err := func() error {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			return fmt.Errorf("%s %s of %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
		}
		if r.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(body)
			if err != nil {
				return err
			}
			body = unzipped
		}
		content, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return proto.Unmarshal(content, &batch)
	}()
	if err != nil {
		c.t.Errorf("the collector was sent what is no batch of spans: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range batch.ResourceSpans {
		resource := texts(of.Resource.GetAttributes())
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, received(s, resource))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	answer, _ := proto.Marshal(&otlp.ExportTraceServiceResponse{})
	_, _ = w.Write(answer)
}

func received(s *traces.Span, resource map[string]string) Span {
	span := Span{
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Name: s.Name, Kind: s.Kind, Attributes: texts(s.Attributes), Resource: resource,
		Failed: s.Status.GetCode() == traces.Status_STATUS_CODE_ERROR, StatusMessage: s.Status.GetMessage(), Events: len(s.Events),
	}
	for _, l := range s.Links {
		span.Links = append(span.Links, Link{hex.EncodeToString(l.TraceId), hex.EncodeToString(l.SpanId)})
	}
	return span
}

func texts(attributes []*common.KeyValue) map[string]string {
	values := map[string]string{}
	for _, a := range attributes {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			values[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			values[a.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			values[a.Key] = fmt.Sprint(v.BoolValue)
		default:
			values[a.Key] = fmt.Sprint(v)
		}
	}
	return values
}

// Spans are those received so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Await returns the spans of a trace, and those linked to it, once there is one of each of these names and the trace is connected: every span of it leads, by what it
// is below, to the span root of the client, and every link to a span of it.
func (c *Collector) Await(trace, root string, names ...string) []Span {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; wait.Pace(5 * time.Millisecond) {
		found := Of(c.Spans(), trace)
		wrong := unconnected(found, trace, root)
		for _, name := range names {
			if !slices.ContainsFunc(found, func(s Span) bool { return s.Name == name }) {
				wrong = append(wrong, "there is no span "+name)
			}
		}
		if len(wrong) == 0 {
			return found
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s; the trace has:\n%s", strings.Join(wrong, "; "), Draw(found))
		}
	}
}

// Of are the spans of a trace, and those linked to it.
func Of(spans []Span, trace string) (found []Span) {
	for _, s := range spans {
		if s.Trace == trace || slices.ContainsFunc(s.Links, func(l Link) bool { return l.Trace == trace }) {
			found = append(found, s)
		}
	}
	return found
}

// Draw lists spans for a test's message.
func Draw(spans []Span) string {
	var out strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&out, "%s %s below %q in %s: %s %v, links %v, of %s\n", s.Kind, s.ID, s.Parent, s.Trace, s.Name, s.Attributes, s.Links, s.Resource["service.instance.id"])
	}
	return out.String()
}

// unconnected says which spans do not lead to the root.
func unconnected(spans []Span, trace, root string) (wrong []string) {
	known := map[string]Span{}
	for _, s := range spans {
		if s.Trace == trace {
			known[s.ID] = s
		}
	}
	leads := func(id string) bool {
		for range spans {
			if id == root {
				return true
			}
			id = known[id].Parent
		}
		return id == root
	}
	for _, s := range spans {
		if s.Trace == trace && !leads(s.ID) {
			wrong = append(wrong, fmt.Sprintf("%s %s does not lead to the client's span", s.Name, s.ID))
		}
		for _, l := range s.Links {
			if l.Trace == trace && !leads(l.ID) {
				wrong = append(wrong, fmt.Sprintf("%s is linked to %s, which is not in the trace", s.Name, l.ID))
			}
		}
	}
	return wrong
}

// Declared fails the test for a span that tracing.Declared does not have, with an attribute that is not declared for it, or with any of the secrets in it: texts that no span may hold.
func Declared(t testing.TB, spans []Span, secrets ...string) {
	t.Helper()
	for _, s := range spans {
		d := declaration(s)
		if d == nil {
			t.Errorf("the span %q is not declared", s.Name)
			continue
		}
		if int(s.Kind) != int(d.Kind) {
			t.Errorf("%s is of the kind %s, not %s", s.Name, s.Kind, d.Kind)
		}
		for key := range s.Attributes {
			if !slices.Contains(d.Attributes, tracing.Key(key)) {
				t.Errorf("%s has the attribute %s, which is not declared for %s", s.Name, key, d.Name)
			}
		}
		if s.StatusMessage != "" || s.Events > 0 {
			t.Errorf("%s has words or events: %+v", s.Name, s)
		}
		for _, secret := range secrets {
			if text := fmt.Sprint(s); strings.Contains(text, secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
	}
}

// declaration is that of a received span.
func declaration(s Span) *tracing.Declaration {
	for i := range tracing.Declared {
		d := &tracing.Declared[i]
		if s.Name == string(d.Name) || strings.HasPrefix(s.Name, string(d.Name)+" ") || d.Name == tracing.Request && s.Attributes[string(tracing.Method)] != "" {
			return d
		}
	}
	return nil
}

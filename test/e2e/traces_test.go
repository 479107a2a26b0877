package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"reckon/test/binary"
	"reckon/test/collector"
)

// What a client that traces sends.
const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
	traceparent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// TestOneTrace: a job submitted over HTTP with a traceparent is one trace from the request to the read models, with no account, token or expression in it; the
// log's events and lines name it.
func TestOneTrace(t *testing.T) {
	t.Parallel()
	spans := collector.New(t)
	server := StartThrough(t, spans.Through(), DataFolder(t), "--log-level", "debug", "--log-format", "json")
	a := server.NewAccount("a@example.com")
	const expression = "Integrate[x^2, x]"
	var submitted struct {
		JobID string `json:"job_id"`
	}
	response, err := a.Do("POST", "/api/jobs", map[string]any{"kind": "evaluate", "expression": expression}, http.Header{"Traceparent": {traceparent}, "X-Request-Id": {"the-request"}})
	server.must(err)
	server.must(decode(response, &submitted))

	spans.Await(clientTrace, clientSpan, "POST /api/jobs", "command slots.Spend", "append slots", "command job.Queue", "append job", "job evaluate", "command job.Claim", "evaluate", "check",
		"command job.Finish", "append run", "react complete_submission", "react publish_outcome", "project queue", "project jobs", "project history")
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("status %d\n%s", status, server.Output())
	}
	found := spans.Await(clientTrace, clientSpan) // all of them: the process has sent what was left
	collector.Declared(t, spans.Spans(), a.ID, a.Token, "a@example.com", expression, "Integrate", "x^3")

	named := func(name string) collector.Span {
		t.Helper()
		i := slices.IndexFunc(found, func(s collector.Span) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no %s in\n%s", name, collector.Draw(found))
		}
		return found[i]
	}
	// The reaction that completes submissions may queue the job before the request does: the same event, of which the log keeps the first.
	request, react, job, claim := named("POST /api/jobs"), named("react complete_submission"), named("job evaluate"), named("command job.Claim")
	if request.Parent != clientSpan || react.Parent != request.ID || job.Parent != request.ID && job.Parent != react.ID || claim.Parent != job.ID || named("evaluate").Parent != job.ID || named("check").Parent != job.ID {
		t.Errorf("the spans are not below each other:\n%s", collector.Draw(found))
	}
	for span, want := range map[string]map[string]string{
		"POST /api/jobs":    {"http.route": "/api/jobs", "http.request.method": "POST", "http.response.status_code": "200", "reckon.request_id": "the-request"},
		"job evaluate":      {"reckon.job": submitted.JobID, "reckon.job_kind": "evaluate", "reckon.attempt": "1", "reckon.outcome": "succeeded"},
		"command job.Claim": {"reckon.command": "job.Claim", "reckon.stream_category": "job", "reckon.outcome": "appended"},
		"append slots":      {"reckon.stream_category": "slots", "reckon.events": "1", "reckon.revision": "0", "reckon.outcome": "ok"},
		"append run":        {"reckon.events": "2", "reckon.revision": "1"},
		"evaluate":          {"reckon.session": "false", "reckon.outcome": "answered"},
		"check":             {"reckon.verdict": "verified"},
	} {
		for key, value := range want {
			if got := named(span).Attributes[key]; got != value {
				t.Errorf("%s of %s is %q, want %q", key, span, got, value)
			}
		}
	}
	if r := request.Resource; r["service.name"] != "reckon" || r["service.version"] == "" || r["service.instance.id"] == "" || r["reckon.roles"] != "api,project,react,run" {
		t.Errorf("the process is described as %v", r)
	}

	restarted := Start(t, server.Data)
	tree := restarted.Command("", "trace", "job-"+submitted.JobID)
	if !strings.Contains(tree, "trace "+clientTrace+"\n") || strings.Contains(tree, "(after)") {
		t.Errorf("reckon trace prints\n%s", tree)
	}
	if byTrace := restarted.Command("", "trace", clientTrace); !strings.Contains(byTrace, "job.succeeded") || !strings.Contains(byTrace, "receipt.sealed") {
		t.Errorf("reckon trace of the trace id prints\n%s", byTrace)
	}
}

// TestAServerOutlivesItsCollector: with one that takes connections and never answers, requests are answered and the server ends as it should, and says what was not sent.
func TestAServerOutlivesItsCollector(t *testing.T) {
	t.Parallel()
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
	server := StartThrough(t, collector.Through(dead.URL), DataFolder(t))
	a := server.NewAccount("a@example.com")
	for range 20 {
		server.must(a.JSON("POST", "/api/evaluate", map[string]any{"expression": "1+1"}, nil))
	}
	if status := server.Interrupt(); status != 0 || !strings.Contains(server.Output(), "not all spans were sent") {
		t.Errorf("status %d\n%s", status, server.Output())
	}
}

// TestAnUnusableCollectorIsNamed: the server does not start without the traces that were asked for.
func TestAnUnusableCollectorIsNamed(t *testing.T) {
	t.Parallel()
	command := exec.Command(binary.Reckon(t), "serve", "--init", "--data", DataFolder(t), "--listen", "127.0.0.1:0")
	command.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	output, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 2 || !strings.Contains(string(output), "OTEL_EXPORTER_OTLP_PROTOCOL") {
		t.Errorf("%v\n%s", err, output)
	}
}

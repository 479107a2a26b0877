package processes

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"reckon/test/collector"
	"reckon/test/e2e"
)

// TestOneTraceOverProcesses: what one client's trace leads to in a process that answers HTTP, one that runs jobs, one that writes the read models and one that owns
// a session is one trace.
func TestOneTraceOverProcesses(t *testing.T) {
	t.Parallel()
	const (
		trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		traceparent = "00-" + trace + "-" + span + "-01"
	)
	spans := collector.New(t)
	in := install(t)
	in.through = spans.Through()
	in.headless("project,react")
	in.headless("run")
	one, two := in.api("api"), in.api("api")
	alice := one.NewAccount("alice@example.com")
	send := func(a *e2e.Account, path string, body map[string]string) {
		t.Helper()
		response, err := a.Do("POST", path, body, http.Header{"Traceparent": {traceparent}})
		must(t, err)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, response.Status)
		}
	}
	send(alice, "/api/jobs", map[string]string{"expression": "2 + 2"})
	must(t, alice.JSON("POST", "/api/evaluate", map[string]string{"expression": "x = 5", "session_id": "s"}, nil)) // of another trace
	send(at(alice, two), "/api/evaluate", map[string]string{"expression": "x + 1", "session_id": "s"})

	found := spans.Await(trace, span, "POST /api/jobs", "job evaluate", "append run", "react complete_submission", "react publish_outcome", "project queue", "project jobs",
		"POST /api/evaluate", "forward", "forwarded", "command run.Record", "project history")
	collector.Declared(t, spans.Spans(), alice.ID, alice.Token)
	process := func(name string) string {
		i := slices.IndexFunc(found, func(s collector.Span) bool { return s.Name == name })
		return found[i].Resource["service.instance.id"] + " " + found[i].Resource["reckon.roles"]
	}
	roles := map[string]string{"POST /api/jobs": "api", "job evaluate": "run", "project queue": "project,react", "react publish_outcome": "project,react", "forward": "api", "forwarded": "api"}
	for name, want := range roles {
		if got := process(name); !strings.HasSuffix(got, " "+want) {
			t.Errorf("%s is of the process %s, want one with the roles %s", name, got, want)
		}
	}
	if process("POST /api/jobs") != process("forwarded") || process("forward") != process("POST /api/evaluate") || process("forward") == process("forwarded") {
		t.Errorf("the evaluation was not forwarded from one process to the other:\n%s", collector.Draw(found))
	}
}

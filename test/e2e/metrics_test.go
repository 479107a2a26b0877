package e2e

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reckon/internal/telemetry"
	"reckon/test/collector"
)

// TestMetrics: a server with everything serves every metric that is declared and no other of its own, the figures are those of what was done, and no
// label names an account or a job.
func TestMetrics(t *testing.T) {
	t.Parallel()
	server := StartThrough(t, collector.New(t).Through(), DataFolder(t))
	a := server.NewAccount("a@example.com")
	server.must(a.JSON("POST", "/api/evaluate", map[string]any{"expression": "1+1"}, &struct{}{}))
	var submitted struct {
		JobID string `json:"job_id"`
	}
	server.must(a.JSON("POST", "/api/jobs", map[string]any{"kind": "evaluate", "expression": "2+2"}, &submitted))
	for ended := false; !ended; {
		var now struct {
			FinishedAt *string `json:"finished_at"`
		}
		server.must(a.JSON("GET", "/api/jobs/"+submitted.JobID+"?wait_ms=10000", nil, &now))
		ended = now.FinishedAt != nil
	}
	response, err := a.Do("POST", "/api/evaluate", map[string]any{"expression": 1}, http.Header{"Authorization": {"Bearer " + a.Token}})
	server.must(err)
	_ = response.Body.Close()

	served, values := map[string]bool{}, map[string]string{}
	var all strings.Builder
	// The attempt ends here a moment after its events are in the log: the scrape is repeated until it has.
	for values[`reckon_job_seconds_count{kind="evaluate",outcome="succeeded"}`] != "1" {
		all.Reset()
		server.askAdmin(t, "/metrics", func(line string) { all.WriteString(line + "\n") })
		for lines := bufio.NewScanner(strings.NewReader(all.String())); lines.Scan(); {
			if name, isType := strings.CutPrefix(lines.Text(), "# TYPE "); isType {
				name, kind, _ := strings.Cut(name, " ")
				served[name+" "+kind] = true
			} else if series, value, ok := strings.Cut(lines.Text(), "} "); ok {
				values[series+"}"] = value
			} else if series, value, ok := strings.Cut(lines.Text(), " "); ok {
				values[series] = value
			}
		}
		if t.Context().Err() != nil {
			return
		}
	}
	for _, d := range telemetry.Declared {
		if !served[d.Name+" "+string(d.Kind)] {
			t.Errorf("%s is not served as a %s", d.Name, d.Kind)
		}
		delete(served, d.Name+" "+string(d.Kind))
	}
	for name := range served {
		if strings.HasPrefix(name, "reckon_") {
			t.Errorf("%s is not declared", name)
		}
	}
	for series, want := range map[string]string{
		"reckon_ready": "1", `reckon_dependency_up{dependency="signing_key"}`: "1", `reckon_events_appended_total{event="job.succeeded"}`: "1",
		"reckon_receipts_unsigned_total": "0", `reckon_http_problems_total{code="invalid_request"}`: "1",
		"reckon_runner_running": "0", `reckon_collect_failed_total{figures="queue"}`: "0",
	} {
		if values[series] != want {
			t.Errorf("%s is %q, want %s", series, values[series], want)
		}
	}
	// Every labelled counter that an alert reads was there before its first incident.
	alerts, err := os.ReadFile(filepath.Join("..", "..", "docs", "alerts.yml"))
	server.must(err)
	selected := 0
	for _, s := range regexp.MustCompile(`(reckon_\w+)\{(\w+)=~?"([^"]+)"\}\[`).FindAllStringSubmatch(string(alerts), -1) {
		for value := range strings.SplitSeq(s[3], "|") {
			there := regexp.MustCompile(`(?m)^` + s[1] + `\{([^}]*,)?` + s[2] + `="` + value + `"[,}]`)
			if selected++; !there.MatchString(all.String()) {
				t.Errorf("an alert reads %s, of which there is no series of %s %s", s[1], s[2], value)
			}
		}
	}
	if selected < 5 {
		t.Errorf("only %d selectors found in the alerts", selected)
	}
	if id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-`).FindString(all.String()); id != "" || strings.Contains(all.String(), a.ID) {
		t.Errorf("a label names something that there may be any number of: %s", id)
	}
}

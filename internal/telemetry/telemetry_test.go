package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reckon/internal/telemetry"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, "warn", "json")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud", "n", 1, "waited", 5*time.Second)
	if strings.Contains(out.String(), "quiet") || !strings.Contains(out.String(), `"msg":"loud","n":1,"waited":"5s"`) {
		t.Error(out.String())
	}
	for _, bad := range [][2]string{{"chatty", "text"}, {"info", "xml"}} {
		if _, err := telemetry.NewLogger(&out, bad[0], telemetry.Format(bad[1])); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics("abc")
	m.MeasureServer([]string{"job.lost", "job.queued"}, []string{telemetry.AppendOK, "refused"})
	m.MeasureAPI([]string{"saturated"})
	m.MeasureRunner([]string{"evaluate"}, []string{"succeeded", "abandoned"})
	m.ObserveProblem("rate_limited")
	m.ObserveAppend([]string{"job.lost"}, telemetry.AppendOK, time.Millisecond)
	m.ObserveAppend([]string{"job.lost"}, "conflict", time.Millisecond)
	m.CountUnsignedReceipt()
	m.ObserveJob("evaluate", "succeeded", time.Second)
	m.Collect("away", []string{"reckon_reaction_parked"}, func(_ context.Context, add telemetry.Add) error {
		add("reckon_reaction_parked", 7, "r")
		return errors.New("the database is away")
	})
	m.Collect("health", []string{"reckon_part_restarts_total", "reckon_ready"}, func(ctx context.Context, add telemetry.Add) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a scrape may take for ever")
		}
		add("reckon_part_restarts_total", 3, "p")
		add("reckon_ready", 1)
		return nil
	})
	m.ObserveRequest("GET", "/api/receipts/{id}", 200, 20*time.Millisecond)
	for _, path := range []string{"BREW", "STEAL"} { // foreign methods on unknown paths are one series
		m.ObserveRequest(path, "", 404, time.Millisecond)
	}
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`reckon_http_request_seconds_count{method="GET",route="/api/receipts/{id}",status="200"} 1`,
		`reckon_http_request_seconds_count{method="",route="none",status="404"} 2`,
		`reckon_build_info{build="abc"} 1`, "go_goroutines", `reckon_http_problems_total{code="rate_limited"} 1`, `reckon_events_appended_total{event="job.lost"} 1`,
		`reckon_append_seconds_count{result="conflict"} 1`, "reckon_receipts_unsigned_total 1", `reckon_job_seconds_count{kind="evaluate",outcome="succeeded"} 1`,
		`reckon_events_appended_total{event="job.queued"} 0`, `reckon_append_seconds_count{result="refused"} 0`, `reckon_http_problems_total{code="saturated"} 0`,
		`reckon_job_seconds_count{kind="evaluate",outcome="abandoned"} 0`, // from the beginning
		`reckon_part_restarts_total{part="p"} 3`, "# TYPE reckon_part_restarts_total counter", "reckon_ready 1", `reckon_collect_failed_total{figures="away"} 1`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(string(body), "reckon_reaction_parked{") {
		t.Error("a figure that could not be read is served")
	}
	for name, register := range map[string]func(){
		"another name": func() { m.Gauge("reckon_nothing", nil, nil) },
		"another kind": func() { m.Gauge("reckon_http_problems_total", nil, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s than those declared was registered", name)
				}
			}()
			register()
		}()
	}
}

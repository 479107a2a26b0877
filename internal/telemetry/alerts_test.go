package telemetry_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reckon/test/need"
)

// incident is what an alert is about: series that lead to it, and those of a day without it, in promtool's notation.
type incident struct {
	happens, quiet map[string]string
	at             string // when the alert fires
	step           string // between two values of happens; empty: a minute
}

// day is a value for each minute of a day.
func day(value string) string { return value + "+0x1440" }

// counter stands still for ten minutes, then counts one incident.
const counter = "0+0x10 1+0x60"

// incidents has each alert of docs/alerts.yml.
var incidents = map[string]incident{
	"ReckonNotReady":    {of("reckon_ready", "1 0x5"), of("reckon_ready", day("1")), "3m", ""},
	"ReckonProcessGone": {of(`up{job="reckon"}`, "1 0x5"), of(`up{job="reckon"}`, day("1")), "3m", ""},
	// Started every two minutes, a scrape in four seeing it up.
	"ReckonProcessRestarts":       {of(`process_start_time_seconds{job="reckon"}`, "0 _ 120 _ 240 _ 360 _ 480 _ 600"), of(`process_start_time_seconds{job="reckon"}`, "100x600 36000x839"), "10m", ""},
	"ReckonDependencyDown":        {of(`reckon_dependency_up{dependency="blobs"}`, "1 0x5"), of(`reckon_dependency_up{dependency="blobs"}`, day("1")), "3m", ""},
	"ReckonLogRefusesAppends":     {of("reckon_log_refuses_appends", "0 1x5"), of("reckon_log_refuses_appends", day("0")), "1m", ""},
	"ReckonLogNotVerified":        {of("reckon_log_last_verification_seconds", "0x720"), of("reckon_log_last_verification_seconds", "0+60x1440"), "16d", "1h"},
	"ReckonReadModelHalted":       {of(`reckon_projection_phase{projection="jobs",version="2",phase="halted"}`, "0 1x5"), of(`reckon_projection_phase{projection="jobs",version="2",phase="halted"}`, day("0")), "3m", ""},
	"ReckonTransparencyLogBehind": {of("reckon_transparency_leaves", "5x60", "reckon_transparency_leaves_served", "4x60"), of("reckon_transparency_leaves", day("5"), "reckon_transparency_leaves_served", day("5")), "40m", ""},
	"ReckonCheckpointsNotSigned":  {of("reckon_transparency_failing", "0 1x30"), of("reckon_transparency_failing", day("0")), "20m", ""},
	"ReckonWitnessConflict":       {of("reckon_transparency_conflict", "0 1x5"), of("reckon_transparency_conflict", day("0")), "1m", ""},
	"ReckonReadModelBehind":       {of(`reckon_projection_lag_seconds{projection="jobs",version="2"}`, "0 61x10"), of(`reckon_projection_lag_seconds{projection="jobs",version="2"}`, day("59")), "8m", ""},
	"ReckonEventsParked":          {of(`reckon_reaction_parked{reaction="refund_lost"}`, "0 1x5"), of(`reckon_reaction_parked{reaction="refund_lost"}`, day("0"), `reckon_projection_parked{projection="jobs"}`, day("0")), "1m", ""},
	"ReckonQueueOld":              {of("reckon_jobs_oldest_waiting_seconds", "0 901x10"), of("reckon_jobs_oldest_waiting_seconds", day("899")), "8m", ""},
	"ReckonJobsLost":              {of(`reckon_events_appended_total{event="job.lost"}`, counter), of(`reckon_events_appended_total{event="job.lost"}`, day("3")), "12m", ""},
	"ReckonJobsAbandoned":         {of(`reckon_attempts_spent_total`, counter), of(`reckon_job_seconds_count{kind="proof",outcome="untried"}`, day("3"), "reckon_attempts_spent_total", day("3")), "12m", ""},
	"ReckonEngineEnded":           {of(`reckon_engine_ended_total{engine="woxi"}`, counter), of(`reckon_engine_ended_total{engine="woxi"}`, day("2")), "12m", ""},
	"ReckonKernelsDisagree":       {of(`reckon_kernel_answers_total{kernel="plain",answer="refused"}`, counter), of(`reckon_kernel_answers_total{kernel="plain",answer="refused"}`, day("0"), `reckon_kernel_answers_total{kernel="reckon",answer="refused"}`, "0+1x1440"), "12m", ""},
	"ReckonHeartbeatLate":         {of("reckon_heartbeat_age_seconds", "0 11x5"), of("reckon_heartbeat_age_seconds", day("5")), "1m", ""},
	"ReckonAppendsSlow": {of(`reckon_append_seconds_bucket{result="ok",le="0.5"}`, "0x60", `reckon_append_seconds_bucket{result="ok",le="1"}`, "0+9x60", `reckon_append_seconds_bucket{result="ok",le="+Inf"}`, "0+9x60"),
		of(`reckon_append_seconds_bucket{result="ok",le="0.5"}`, "0+9x1440", `reckon_append_seconds_bucket{result="ok",le="1"}`, "0+9x1440", `reckon_append_seconds_bucket{result="ok",le="+Inf"}`, "0+9x1440"), "30m", ""},
	"ReckonSaturated":        {of(`reckon_http_problems_total{code="saturated"}`, "0+60x60"), of(`reckon_http_problems_total{code="saturated"}`, day("9")), "30m", ""},
	"ReckonSpansLost":        {of(`reckon_trace_spans_total{outcome="dropped"}`, "0+1x60"), of(`reckon_trace_spans_total{outcome="dropped"}`, day("9")), "30m", ""},
	"ReckonUnsignedReceipts": {of("reckon_receipts_unsigned_total", counter), of("reckon_receipts_unsigned_total", day("0")), "12m", ""},
}

// of are series with their values, in pairs.
func of(pairs ...string) map[string]string {
	series := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		series[pairs[i]] = pairs[i+1]
	}
	return series
}

// TestEachAlertFiresOnItsIncident: with Prometheus' own evaluation (promtool test rules), each alert fires on its incident, and not once in a
// day without.
func TestEachAlertFiresOnItsIncident(t *testing.T) {
	t.Parallel()
	rules, err := filepath.Abs(filepath.Join("..", "..", "docs", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	quiet := map[string]string{}
	byStep := map[string]*strings.Builder{} // a file for each step of time, in which all rules are evaluated
	file := func(step string) *strings.Builder {
		if byStep[step] == nil {
			byStep[step] = &strings.Builder{}
			fmt.Fprintf(byStep[step], "rule_files: [%q]\nevaluation_interval: %s\ntests:\n", rules, step)
		}
		return byStep[step]
	}
	write := func(to *strings.Builder, step string, series map[string]string) {
		fmt.Fprintf(to, "  - interval: %s\n    input_series:\n", step)
		for name, values := range series {
			fmt.Fprintf(to, "      - {series: '%s', values: '%s'}\n", name, values)
		}
	}
	for _, rule := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
		about, known := incidents[rule[1]]
		if !known {
			t.Errorf("%s has no incident in this test", rule[1])
			continue
		}
		step := cmp.Or(about.step, "1m")
		write(file(step), step, about.happens)
		fmt.Fprintf(file(step), "    promql_expr_test:\n      - {expr: 'sum(ALERTS{alertname=\"%s\",alertstate=\"firing\"})', eval_time: %s, exp_samples: [{labels: '{}', value: 1}]}\n", rule[1], about.at)
		maps.Copy(quiet, about.quiet)
	}
	write(file("1m"), "1m", quiet)
	fmt.Fprint(file("1m"), "    promql_expr_test:\n      - {expr: 'count(max_over_time(ALERTS[1d]))', eval_time: 1d, exp_samples: []}\n")
	for step, tests := range byStep {
		path := filepath.Join(t.TempDir(), "alerts_test.yml")
		if err := os.WriteFile(path, []byte(tests.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(need.Program(t, "promtool", "prometheus"), "test", "rules", path).CombinedOutput(); err != nil {
			t.Errorf("in steps of %s: %v\n%s", step, err, said)
		}
	}
}

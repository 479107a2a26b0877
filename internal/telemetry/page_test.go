package telemetry_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/internal/telemetry"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

const metricsPage = "../../docs/metrics.md"

// TestMetricsPage: docs/metrics.md is what the declarations say.
func TestMetricsPage(t *testing.T) {
	var want bytes.Buffer
	want.WriteString(`# Metrics

Written by ` + "`make generate` from `internal/telemetry/declared.go`" + `; do not edit. Processes serve them in Prometheus' text format at ` + "`/metrics`" + `: on ` + "`admin.sock`" + ` in the data folder, and with
` + "`--admin-listen HOST:PORT`" + ` on a port, to holders of the token ([monitoring.md](monitoring.md)). Every server has them, in every role; ` + "`reckon node --admin-listen`" + `
has those of the log. A label's values are bounded in number: none names an account, a job or an address. [alerts.yml](alerts.yml) has alerts to begin with.

A scrape omits figures of a log or database that does not answer within 2 s; ` + "`reckon_collect_failed_total`" + ` counts them.

| metric | type | labels | meaning | served by |
|---|---|---|---|---|
`)
	for _, d := range telemetry.Declared {
		labels := make([]string, len(d.Labels))
		for i, l := range d.Labels {
			labels[i] = "`" + l + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s |\n", d.Name, d.Kind, strings.Join(labels, ", "), d.Help, d.Where)
	}
	want.WriteString("\nThose of the Go runtime (`go_…`) and of the process (`process_…`) come with them.\n")
	if *update {
		if err := os.WriteFile(metricsPage, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(metricsPage); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/metrics.md is not what the declarations say (%v): run `make generate`", err)
	}
}

// TestDeclarations: names and labels are as Prometheus wants them, once each, and no label could name an account.
func TestDeclarations(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range telemetry.Declared {
		if seen[d.Name] || !regexp.MustCompile(`^reckon_[a-z_]+$`).MatchString(d.Name) || d.Help == "" || d.Where == "" {
			t.Errorf("%+v", d)
		}
		if strings.HasSuffix(d.Name, "_total") != (d.Kind == telemetry.Counter) {
			t.Errorf("%s is a %s", d.Name, d.Kind)
		}
		seen[d.Name] = true
		for _, l := range d.Labels {
			if slices.Contains([]string{"account", "job", "job_id", "run", "session", "user", "token", "stream", "address"}, l) {
				t.Errorf("%s has the label %s, which may have any number of values", d.Name, l)
			}
		}
	}
}

// TestAlerts: each rule of docs/alerts.yml has its parts, and every metric and label that it names exists.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("../../docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.Split(string(text), "      - alert: ")[1:]
	if len(rules) < 10 {
		t.Fatalf("%d rules", len(rules))
	}
	names := regexp.MustCompile(`reckon_[a-z_]+|\bup\b|\bprocess_start_time_seconds\b`)
	selector := regexp.MustCompile(`(reckon_[a-z_]+)\{([^}]*)\}`)
	for _, rule := range rules {
		name, body, _ := strings.Cut(rule, "\n")
		expr := regexp.MustCompile(`(?m)^        expr: (.+)$`).FindStringSubmatch(body)
		if expr == nil || !regexp.MustCompile(`(?m)^        labels: \{severity: (page|ticket)\}$`).MatchString(body) || !regexp.MustCompile(`(?m)^        annotations: \{summary: ".+"\}$`).MatchString(body) {
			t.Errorf("%s:\n%s", name, body)
			continue
		}
		if strings.Count(expr[1], "(") != strings.Count(expr[1], ")") {
			t.Errorf("%s: %s", name, expr[1])
		}
		used := names.FindAllString(expr[1], -1)
		if len(used) == 0 {
			t.Errorf("%s is about no metric", name)
		}
		for _, u := range used {
			if declarationOf(u) == nil && u != "up" && u != "process_start_time_seconds" { // Prometheus itself has the one of each target, its client the other
				t.Errorf("%s: there is no metric %s", name, u)
			}
		}
		for _, s := range selector.FindAllStringSubmatch(expr[1], -1) {
			for part := range strings.SplitSeq(s[2], ",") {
				label := regexp.MustCompile(`^\w+`).FindString(strings.TrimSpace(part))
				if d := declarationOf(s[1]); d == nil || !slices.Contains(d.Labels, label) {
					t.Errorf("%s: %s has no label %s", name, s[1], label)
				}
			}
		}
	}
}

// declarationOf is the metric of a series' name; nil: there is none.
func declarationOf(series string) *telemetry.Declaration {
	for i, d := range telemetry.Declared {
		if d.Name == series || d.Kind == telemetry.Histogram && slices.Contains([]string{d.Name + "_bucket", d.Name + "_count", d.Name + "_sum"}, series) {
			return &telemetry.Declared[i]
		}
	}
	return nil
}

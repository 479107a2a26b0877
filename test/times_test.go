package test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/internal/supervision"
)

const (
	restartingPage = "../docs/restarting.md"
	timesOpen      = "<!-- times: written by go test ./test -run TestTimesPage -update -->\n"
	timesEnd       = "<!-- end of times -->"
)

// timesTable is what a reader needs of the table of times.
func timesTable() string {
	var evaluation time.Duration
	for _, p := range account.DefaultPlans() {
		evaluation = max(evaluation, supervision.Evaluation(supervision.WorkerWait, p.EvaluationBudget()))
	}
	drain := supervision.Drain(supervision.AnswersUnready, supervision.JobsEnd, evaluation)
	stops := supervision.ServerStops(drain)
	ready, lives := supervision.Readiness, supervision.Liveness
	var b strings.Builder
	b.WriteString("| what | time |\n|---|---|\n")
	for _, row := range []struct {
		what string
		time string
	}{
		{fmt.Sprintf("a balancer asks `%s`: every; waits for the answer; sends nothing more after failures in a row", ready.Path), probeTimes(ready)},
		{fmt.Sprintf("`%s` waits for what it asks, at most", ready.Path), seconds(supervision.ReadinessLooks)},
		{"a dependency that answered before is away, once it has been silent for", seconds(supervision.Silence)},
		{fmt.Sprintf("a supervisor asks `%s`: every; waits for the answer; starts the process anew after failures in a row", lives.Path), probeTimes(lives)},
		{"a server that stops answers as before (`--unready-grace`)", seconds(supervision.AnswersUnready)},
		{"its running jobs may end (`--grace`)", seconds(supervision.JobsEnd)},
		{"the longest evaluation of a request that came at the last moment: its wait for a worker, its computing and its answer", seconds(evaluation)},
		{"steps 1 to 4 together, at most", seconds(drain)},
		{"step 5, at most", seconds(supervision.PartsEnd)},
		{"a supervisor kills a server after (`TimeoutStopSec`, `terminationGracePeriodSeconds`, `stop_grace_period`)", seconds(supervision.Killed(stops))},
		{"calls in flight of a `reckon node` that stops, at most", seconds(supervision.NodeEnds)},
		{"a supervisor kills a node after", seconds(supervision.Killed(supervision.NodeEnds))},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row.what, row.time)
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

func probeTimes(p supervision.Probe) string {
	return fmt.Sprintf("%s; %s; %d", seconds(p.Every), seconds(p.Timeout), p.Failures)
}

// TestTimesPage keeps the table of docs/restarting.md equal to the times of the code.
func TestTimesPage(t *testing.T) {
	keepEqual(t, restartingPage, timesOpen, timesTable(), timesEnd)
}

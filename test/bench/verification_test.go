//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	battery "reckon/test/verification"
)

// BenchmarkVerification runs the whole battery through the checker, one check after the other: the share of pairs with a
// verdict, the time of a check with a worker kept ready, and the memory of the zygote that all checks share.
func BenchmarkVerification(b *testing.B) {
	pairs, err := battery.Battery()
	if err != nil {
		b.Fatal(err)
	}
	c := checkertest.Start(b, checker.Options{Idle: 1})
	for b.Loop() {
		var times, processor []time.Duration
		verdicts, automatic := 0, 0
		for _, pair := range pairs {
			elapsed, cpu, outcome := checkPair(b, c, pair, requestedSteps)
			times, processor = append(times, elapsed), append(processor, cpu)
			if outcome.Verdict != verification.VerdictInconclusive {
				verdicts++
			}
			if cpu <= time.Duration(automaticSteps)*5*time.Microsecond {
				automatic++
			}
		}
		slices.Sort(times)
		slices.Sort(processor)
		at := func(times []time.Duration, share float64) float64 {
			return float64(times[int(share*float64(len(times)-1))].Microseconds()) / 1000
		}
		b.ReportMetric(100*float64(verdicts)/float64(len(pairs)), "%verdicts")
		b.ReportMetric(100*float64(automatic)/float64(len(pairs)), "%within300ms")
		b.ReportMetric(at(times, 0.5), "p50-ms")
		b.ReportMetric(at(times, 0.95), "p95-ms")
		b.ReportMetric(at(processor, 0.5), "p50-cpu-ms")
		b.ReportMetric(at(processor, 0.95), "p95-cpu-ms")
		b.ReportMetric(at(processor, 0.99), "p99-cpu-ms")
		b.ReportMetric(checkerMemoryMiB(b), "zygote-MiB")
	}
}

// What a check may take that was asked for, and one that was not.
const (
	requestedSteps verification.Steps = 500_000
	automaticSteps verification.Steps = 60_000
)

// BenchmarkVerificationUnderLoad checks the same 500 pairs with the automatic steps on an idle machine and beside ten busy
// processes, and counts the outcomes that differ: none may.
func BenchmarkVerificationUnderLoad(b *testing.B) {
	pairs, err := battery.Stranger()
	if err != nil {
		b.Fatal(err)
	}
	pairs = pairs[:min(500, len(pairs))]
	c := checkertest.Start(b, checker.Options{Idle: 1})
	all := func() []verification.Outcome {
		var outcomes []verification.Outcome
		for _, pair := range pairs {
			_, _, outcome := checkPair(b, c, pair, automaticSteps)
			outcomes = append(outcomes, outcome)
		}
		return outcomes
	}
	for b.Loop() {
		idle := all()
		ctx, cancel := context.WithCancel(b.Context())
		var busy []*exec.Cmd
		for range 10 {
			command := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
			if err := command.Start(); err != nil {
				b.Fatal(err)
			}
			busy = append(busy, command)
		}
		loaded := all()
		cancel()
		for _, command := range busy {
			_ = command.Wait() // killed above
		}
		differ := 0
		for i := range idle {
			if idle[i] != loaded[i] {
				differ++
				b.Logf("%s | %s: %+v, under load %+v", pairs[i].Input, pairs[i].Answer, idle[i], loaded[i])
			}
		}
		b.ReportMetric(float64(len(pairs)), "pairs")
		b.ReportMetric(float64(differ), "differ")
	}
}

func checkPair(b *testing.B, c *checker.Checker, pair battery.Pair, steps verification.Steps) (elapsed, processor time.Duration, outcome verification.Outcome) {
	input, err := expression.Parse(pair.Input)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := expression.Parse(pair.Answer)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	plan, err := verification.Derive(input, answer)
	var none *verification.NoPlanError
	if errors.As(err, &none) {
		return time.Since(begin), 0, verification.OutcomeOf(none)
	}
	finding, err := c.Check(b.Context(), plan, steps)
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(begin), time.Duration(finding.CPUMicros) * time.Microsecond, verification.Conclude(plan, finding)
}

// checkerMemoryMiB is the resident memory of the child processes that run a zygote of the checker.
func checkerMemoryMiB(b *testing.B) float64 {
	largest := 0.0
	statuses, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range statuses {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), fmt.Sprintf("PPid:\t%d\n", os.Getpid())) {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
				kib, err := strconv.ParseFloat(fields[1], 64)
				if err != nil {
					b.Fatal(err)
				}
				largest = max(largest, kib/1024)
			}
		}
	}
	return largest
}

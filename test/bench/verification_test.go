//go:build bench

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/engine/checker"
	"reckon/runners/engine/enginetest"
	battery "reckon/test/verification"
)

// BenchmarkVerification runs the whole battery through the checker, one check after the other: the share of pairs with a
// verdict, the time of a check with a worker kept ready, and the memory of the zygote that all checks share.
func BenchmarkVerification(b *testing.B) {
	pairs, err := battery.Battery()
	if err != nil {
		b.Fatal(err)
	}
	c, err := checker.New(b.Context(), enginetest.Environment(b), checker.Options{Idle: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	}()
	for b.Loop() {
		var times []time.Duration
		verdicts, automatic := 0, 0
		for _, pair := range pairs {
			elapsed, outcome := checkPair(b, c, pair)
			times = append(times, elapsed)
			if outcome.Verdict != verification.VerdictInconclusive {
				verdicts++
			}
			if elapsed <= 300*time.Millisecond {
				automatic++
			}
		}
		slices.Sort(times)
		at := func(share float64) float64 {
			return float64(times[int(share*float64(len(times)-1))].Microseconds()) / 1000
		}
		b.ReportMetric(100*float64(verdicts)/float64(len(pairs)), "%verdicts")
		b.ReportMetric(100*float64(automatic)/float64(len(pairs)), "%within300ms")
		b.ReportMetric(at(0.5), "p50-ms")
		b.ReportMetric(at(0.95), "p95-ms")
		b.ReportMetric(at(0.99), "p99-ms")
		b.ReportMetric(checkerMemoryMiB(b), "zygote-MiB")
	}
}

func checkPair(b *testing.B, c *checker.Checker, pair battery.Pair) (time.Duration, verification.Outcome) {
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
		return time.Since(begin), verification.OutcomeOf(none)
	}
	finding, err := c.Check(b.Context(), plan, 10*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(begin), verification.Conclude(plan, finding)
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

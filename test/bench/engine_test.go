//go:build bench

package bench

import (
	"context"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/wait"
)

// An evaluation is compared with the least an isolated one can be: the same zygote forking the same walled-in worker for
// a program that does nothing. Both run in this process, in turns; the best round of each counts.

const (
	engineRounds     = 3
	engineRoundCalls = 100
	engineBudget     = 10 * time.Second
	enginePause      = 5 * time.Millisecond // between the calls of a caller who is not in a hurry
	engineCallers    = 8
)

// idleProgram answers without doing anything.
const idleProgram = "def handle(request):\n    return {}\n"

// engineLatencies of one round, sorted.
type engineLatencies []time.Duration

func measureRound(b *testing.B, pause time.Duration, call func() error) engineLatencies {
	b.Helper()
	round := make(engineLatencies, engineRoundCalls)
	for i := range round {
		wait.Pace(pause)
		started := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		round[i] = time.Since(started)
	}
	slices.Sort(round)
	return round
}

func (l engineLatencies) at(share float64) time.Duration { return l[int(share*float64(len(l)-1))] }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkEngineFork: fork, evaluate 1+1, exit, with no worker kept ready, against fork and exit alone.
func BenchmarkEngineFork(b *testing.B) {
	environment := enginetest.Environment(b)
	fresh := enginetest.Start(b, engine.Options{Idle: -1})
	bare, err := engine.StartZygote(b.Context(), engine.Program{
		Name: "nothing", Python: engine.Python(environment), Source: []byte(idleProgram),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = bare.Close() })
	forkOnly := func() error {
		ctx, cancel := context.WithTimeout(b.Context(), engineBudget)
		defer cancel()
		return bare.Call(ctx, time.Minute, map[string]string{"op": "nothing"}, &struct{}{})
	}
	compareRounds(b, 0, evaluation(b, fresh, "1+1", ""), forkOnly)
}

// BenchmarkEngineIdle: the same evaluation in workers forked beforehand, against forking one for each; with a pause between
// calls, in which the next worker is forked, and without.
func BenchmarkEngineIdle(b *testing.B) {
	for name, pause := range map[string]time.Duration{"paced": enginePause, "busy": 0} {
		b.Run(name, func(b *testing.B) {
			ready, fresh := enginetest.Start(b, engine.Options{}), enginetest.Start(b, engine.Options{Idle: -1})
			compareRounds(b, pause, evaluation(b, ready, "1+1", ""), evaluation(b, fresh, "1+1", ""))
		})
	}
}

// BenchmarkEngineSession: in a session's own worker, against forking one for each.
func BenchmarkEngineSession(b *testing.B) {
	e := enginetest.Start(b, engine.Options{Idle: -1})
	compareRounds(b, 0, evaluation(b, e, "1+1", "bench/session"), evaluation(b, e, "1+1", ""))
}

// BenchmarkEngineColdStart: what the zygote saves: a fresh interpreter for one evaluation, against a fork.
func BenchmarkEngineColdStart(b *testing.B) {
	python := engine.Python(enginetest.Environment(b))
	e := enginetest.Start(b, engine.Options{Idle: -1})
	cold := func() error {
		return exec.Command(python, "-I", "-c", "import woxi; woxi.evaluate('1+1')").Run()
	}
	compareRounds(b, 0, cold, evaluation(b, e, "1+1", ""))
}

// BenchmarkEngineThroughput: evaluations per second from several callers at once, against one caller.
func BenchmarkEngineThroughput(b *testing.B) {
	e := enginetest.Start(b, engine.Options{})
	call := evaluation(b, e, "1+1", "")
	var best, alone float64
	for b.Loop() {
		for range engineRounds {
			best = max(best, evaluationsPerSecond(b, engineCallers, call))
			alone = max(alone, evaluationsPerSecond(b, 1, call))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(best, "evaluations/s")
	b.ReportMetric(best/alone, "x-one-caller")
}

// evaluationsPerSecond lets the callers share one round of calls.
func evaluationsPerSecond(b *testing.B, callers int, call func() error) float64 {
	var group sync.WaitGroup
	started := time.Now()
	for range callers {
		group.Go(func() {
			for range engineRoundCalls / callers {
				if err := call(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	return float64(engineRoundCalls/callers*callers) / time.Since(started).Seconds()
}

func evaluation(b *testing.B, e *engine.Engine, code, session string) func() error {
	return func() error {
		_, err := e.Evaluate(b.Context(), engine.Request{Code: code, Session: session, Budget: engineBudget, QueueWait: engineBudget})
		return err
	}
}

// compareRounds reports the median and tail of subject and the ratio of its median to the peer's, best rounds of both.
func compareRounds(b *testing.B, pause time.Duration, subject, peer func() error) {
	b.Helper()
	var best, bestPeer engineLatencies
	for b.Loop() {
		for range engineRounds {
			if round := measureRound(b, pause, subject); best == nil || round.at(0.5) < best.at(0.5) {
				best = round
			}
			if round := measureRound(b, pause, peer); bestPeer == nil || round.at(0.5) < bestPeer.at(0.5) {
				bestPeer = round
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(best.at(0.5)), "p50-ms")
	b.ReportMetric(milliseconds(best.at(0.99)), "p99-ms")
	b.ReportMetric(milliseconds(bestPeer.at(0.5)), "peer-p50-ms")
	b.ReportMetric(float64(best.at(0.5))/float64(bestPeer.at(0.5)), "x-peer")
}

package engine_test

import (
	"testing"
	"time"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// The share of the sample that must be right: all but what the engine itself answers wrongly or not at all.
const wantRight = 64

func TestSample(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	samples := enginetest.Samples(t)
	right := 0
	for _, sample := range samples {
		outcome, err := e.Evaluate(t.Context(), engine.Request{Code: sample.Input, Budget: 20 * time.Second, QueueWait: time.Minute})
		if err != nil {
			t.Logf("wrong  %s: %v", sample.Input, err)
			continue
		}
		ok, why := sample.Right(t, enginetest.Answer{Result: outcome.Result, Stdout: outcome.Stdout, Warnings: outcome.Messages, SVG: outcome.SVG})
		switch {
		case !sample.Scored():
			t.Logf("not scored  %s: %s", sample.Input, outcome.Result)
		case ok:
			right++
		default:
			t.Logf("wrong  %s: %s (unevaluated: %t)", sample.Input, why, outcome.Unevaluated)
		}
	}
	if right < wantRight {
		t.Errorf("%d of %d right, want %d", right, len(samples), wantRight)
	}
	t.Logf("%d of %d right", right, len(samples))
}

package run_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/run"
)

func TestAFoldIsLinear(t *testing.T) {
	decidertest.Linear(t, run.Decider, func(i int) event.Event {
		return run.Verified{RunID: int64(i)}
	})
}

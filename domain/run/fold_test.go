package run_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/run"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, run.Decider, func(i int) event.Event {
		return run.Verified{RunID: int64(i)}
	})
}

package engine_test

import (
	"errors"
	"testing"
	"time"

	"reckon/domain/run"
	"reckon/runners/engine"
)

// failure is the reason of a FailedError, or nothing.
func failure(err error) run.FailureReason {
	var failed *engine.FailedError
	if errors.As(err, &failed) {
		return failed.Reason
	}
	return ""
}

// eventually waits for a condition that has nothing to wait on.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about", what)
		}
	}
}

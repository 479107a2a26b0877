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

// eventually waits for a condition that has nothing to wait on, for as long as the tests may run.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline, limited := t.Deadline()
	for ; !condition(); time.Sleep(5 * time.Millisecond) {
		if limited && time.Until(deadline) < 10*time.Second { // to be told before the run is killed
			t.Fatalf("%s did not come about", what)
		}
	}
}

package engine_test

import (
	"errors"

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

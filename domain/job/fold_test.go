package job_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/job"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, job.Decider, func(i int) event.Event {
		return []event.Event{job.WasQueued{}, job.WasClaimed{Attempt: i}, job.WasReleased{Reason: job.Abandoned}}[i%3]
	})
}

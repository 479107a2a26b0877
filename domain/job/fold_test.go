package job_test

import (
	"fmt"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/job"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, job.Decider, func(i int) event.Event {
		return []event.Event{
			job.WasQueued{}, job.WasClaimed{Attempt: i}, job.WasReleased{Reason: job.Abandoned, Nonce: fmt.Sprint(i)},
			job.WasReleased{Reason: job.Untried, NotBefore: now}, job.WasExcused{Nonce: fmt.Sprint(i - 2)},
		}[i%5]
	})
}

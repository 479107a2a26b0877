package slots_test

import (
	"fmt"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/slots"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, slots.Decider, func(i int) event.Event {
		if i%3 == 2 {
			return slots.Refunded{SlotID: fmt.Sprint("slot-", i-1), JobID: fmt.Sprint("job-", i-1)}
		}
		return slots.Spent{SlotID: fmt.Sprint("slot-", i), Submission: job.Submission{JobID: fmt.Sprint("job-", i)}}
	})
}

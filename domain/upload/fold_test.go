package upload_test

import (
	"fmt"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/upload"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, upload.Decider, func(i int) event.Event {
		return []event.Event{upload.Claimed{JobID: fmt.Sprint(i)}, upload.Refused{SlotID: fmt.Sprint(i)}, upload.Released{JobID: fmt.Sprint(i - 2)}}[i%3]
	})
}

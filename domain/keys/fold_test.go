package keys_test

import (
	"fmt"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/keys"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, keys.Decider, func(i int) event.Event {
		return []event.Event{keys.Published{KID: fmt.Sprint(i)}, keys.Activated{KID: fmt.Sprint(i - 1)}, keys.Retired{KID: fmt.Sprint(i - 2)}}[i%3]
	})
}

package session_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/session"
)

func TestAFoldIsLinear(t *testing.T) {
	decidertest.Linear(t, session.Decider, func(i int) event.Event {
		return []event.Event{session.Opened{Epoch: i}, session.Expired{Epoch: i}}[i%2]
	})
}

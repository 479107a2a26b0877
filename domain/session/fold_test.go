package session_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/session"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, session.Decider, func(i int) event.Event {
		return []event.Event{session.Opened{Epoch: i}, session.Expired{Epoch: i}}[i%2]
	})
}

package token_test

import (
	"fmt"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/token"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, token.Decider, func(i int) event.Event {
		return []event.Event{token.Minted{Name: fmt.Sprint(i)}, token.Revoked{}}[i%2]
	})
}

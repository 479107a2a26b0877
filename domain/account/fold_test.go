package account_test

import (
	"fmt"
	"testing"

	"reckon/domain/account"
	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
)

func TestFold(t *testing.T) {
	decidertest.Fold(t, account.Decider, func(i int) event.Event {
		return account.PlanChanged{Plan: fmt.Sprint(i)}
	})
}

package decidertest_test

import (
	"testing"

	"reckon/domain/account"
	"reckon/domain/decider/decidertest"
)

// The body of TestAccount is three scenarios: what has happened, the command, and what the
// decider must decide. Each runs as a subtest that is named by its events and its command,
// such as "account.registered | ChangePlan".
func ExampleGiven() {
	TestAccount := func(t *testing.T) {
		given := decidertest.Given[account.Command, account.State]
		registered := account.Registered{Account: "a", Plan: "free"}

		given(t, account.Decider, registered).
			When(account.ChangePlan{Account: "a", Plan: "pro"}).
			Then(account.PlanChanged{Account: "a", Plan: "pro"})

		given(t, account.Decider, registered).
			When(account.ChangePlan{Account: "a", Plan: "free"}).
			ThenNothing()

		given(t, account.Decider).
			When(account.ChangePlan{Account: "a", Plan: "pro"}).
			ThenRefused(account.ErrNotFound)
	}
	_ = TestAccount
}

package account_test

import (
	"testing"

	"reckon/domain/account"
	"reckon/domain/decider/decidertest"
)

func TestAccount(t *testing.T) {
	given := decidertest.Given[account.Command, account.State]
	open, closed := account.Registered{Account: "a", Plan: "free"}, account.Closed{Account: "a"}

	given(t, account.Decider).When(account.Register{Account: "a", Plan: "free"}).Then(open)
	given(t, account.Decider, open).When(account.Register{Account: "a", Plan: "free"}).ThenNothing()
	given(t, account.Decider).When(account.ChangePlan{Account: "a", Plan: "pro"}).ThenRefused(account.ErrNotFound)
	given(t, account.Decider, open).When(account.ChangePlan{Account: "a", Plan: "pro"}).Then(account.PlanChanged{Account: "a", Plan: "pro"})
	given(t, account.Decider, open).When(account.ChangePlan{Account: "a", Plan: "free"}).ThenNothing()
	given(t, account.Decider, open).When(account.Close{Account: "a"}).Then(closed)
	given(t, account.Decider, open, closed).When(account.Close{Account: "a"}).ThenRefused(account.ErrClosed)
}

func TestDefaultPlansAreValid(t *testing.T) {
	plans := account.DefaultPlans()
	if err := plans.Validate(); err != nil {
		t.Fatal(err)
	}
	if p, ok := plans.Find("pro"); !ok || p.PerMinute != 120 {
		t.Errorf("pro: %+v", p)
	}
	if plans.InForce("pro").Name != "pro" || plans.InForce("gone").Name != "free" {
		t.Error("a plan that left the catalogue is served as the first")
	}
	for name, bad := range map[string]account.Plans{
		"empty": nil, "unnamed": {{}}, "no budget": {{Name: "a"}}, "twice": append(plans, plans[0]),
		"negative": {{Name: "a", EvaluationBudgetMS: 1, PerMinute: 1, JobBudgetMS: 1, Qubits: -1}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

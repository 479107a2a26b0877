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
	follow := func(plan string, change int64) account.FollowSubscription {
		return account.FollowSubscription{Account: "a", Plan: plan, Change: change}
	}
	followed := account.PlanChanged{Account: "a", Plan: "pro", Follows: 2}
	given(t, account.Decider, open).When(follow("pro", 2)).Then(followed)
	given(t, account.Decider, open, followed).When(follow("pro", 2)).ThenNothing()
	given(t, account.Decider, open, followed, account.PlanChanged{Account: "a", Plan: "team"}).When(follow("pro", 2)).ThenNothing() // an operator was later
	given(t, account.Decider, open, followed).When(follow("free", 1)).ThenNothing()                                                 // told late
	given(t, account.Decider, open, account.PlanChanged{Account: "a", Plan: "pro"}).When(follow("pro", 2)).Then(followed)           // so that a later repetition is known
	given(t, account.Decider, open, followed).When(follow("free", 3)).Then(account.PlanChanged{Account: "a", Plan: "free", Follows: 3})
	given(t, account.Decider, open, closed).When(follow("pro", 2)).ThenRefused(account.ErrClosed)
	given(t, account.Decider).When(follow("pro", 2)).ThenRefused(account.ErrNotFound)
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
		"a price without an amount": priced(account.Price{Period: account.Monthly, Currency: "USD"}),
		"a price over the limit":    priced(account.Price{Period: account.Monthly, AmountMinor: account.MaxAmountMinor + 1, Currency: "USD"}),
		"a price for a week":        priced(account.Price{Period: "week", AmountMinor: 1, Currency: "USD"}),
		"a currency in words":       priced(account.Price{Period: account.Monthly, AmountMinor: 1, Currency: "dollars"}),
		"two prices for one period": priced(account.Price{Period: account.Monthly, AmountMinor: 1, Currency: "USD"}, account.Price{Period: account.Monthly, AmountMinor: 1, Currency: "EUR"}),
		"a price of the first plan": {{Name: "a", EvaluationBudgetMS: 1, PerMinute: 1, ConcurrentEvaluations: 1, JobBudgetMS: 1, Prices: []account.Price{{Period: account.Monthly, AmountMinor: 1, Currency: "USD"}}}},
		"negative":                  {{Name: "a", EvaluationBudgetMS: 1, PerMinute: 1, JobBudgetMS: 1, Qubits: -1}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// priced is a catalogue whose second plan has these prices.
func priced(prices ...account.Price) account.Plans {
	paid := account.Plan{Name: "paid", EvaluationBudgetMS: 1, PerMinute: 1, ConcurrentEvaluations: 1, JobBudgetMS: 1, Prices: prices}
	return append(account.DefaultPlans()[:1], paid)
}

func TestPriceOfAPeriod(t *testing.T) {
	plans := account.DefaultPlans()
	if p, ok := plans[1].PriceOf(account.Yearly); !ok || p.AmountMinor != 12000 {
		t.Errorf("%+v %v", p, ok)
	}
	if _, ok := plans[0].PriceOf(account.Monthly); ok {
		t.Error("the free plan has a price")
	}
}

func TestCurrencies(t *testing.T) {
	for _, code := range []string{"USD", "EUR", "JPY", "CHF", "XOF", "XCG", "ZWG", "AED"} {
		if !account.ValidCurrency(code) {
			t.Errorf("%s is refused", code)
		}
	}
	for _, code := range []string{"", "QQQ", "XXX", "XTS", "XAU", "usd", "US", "USDX", "DEM", "ZZZ", "AAA", "US D"} {
		if account.ValidCurrency(code) {
			t.Errorf("%q is accepted", code)
		}
	}
}

package readapi

import (
	"errors"
	"testing"
	"time"

	"reckon/domain/billing"
	"reckon/domain/receipt"
)

// TestQuotesAreSealedOnce for each time and key, and a failure is not kept.
func TestQuotesAreSealedOnce(t *testing.T) {
	t.Parallel()
	kept, sealed := &keptPlans{}, 0
	broken := errors.New("broken")
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	ask := func(at time.Time, signer *receipt.Signer, failure error) int {
		_, err := kept.at(at, signer, func(time.Time, *receipt.Signer) ([]catalogued, error) {
			sealed++
			return []catalogued{}, failure
		})
		if !errors.Is(err, failure) {
			t.Errorf("%v, want %v", err, failure)
		}
		return sealed
	}
	a, b := &receipt.Signer{KID: "a"}, &receipt.Signer{KID: "b"}
	for i, c := range []struct {
		at     time.Time
		signer *receipt.Signer
		err    error
		want   int
	}{
		{now, nil, broken, 1}, {now, nil, nil, 2}, {now, nil, nil, 2}, {now, a, nil, 3}, {now.Add(billing.QuoteStep - 1), a, nil, 3},
		{now.Add(billing.QuoteStep), a, nil, 4}, {now.Add(billing.QuoteStep), b, nil, 5}, {now.Add(billing.QuoteStep), b, nil, 5},
	} {
		if got := ask(c.at, c.signer, c.err); got != c.want {
			t.Errorf("request %d: sealed %d times, want %d", i, got, c.want)
		}
	}
}

package billing_test

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reckon/domain/account"
	"reckon/domain/billing"
)

// TestAPartedPeriodAddsUp: for any amount, period and moment the parts add up to the whole, each is what exact arithmetic
// says, and no more is unused later.
func TestAPartedPeriodAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(0, account.MaxAmountMinor).Draw(t, "amount")
		from := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "from")).UTC()
		whole := rapid.Int64Range(1, 400*24*3600*1000).Draw(t, "whole")
		to := from.Add(time.Duration(whole) * time.Millisecond)
		moments := []int64{rapid.Int64Range(-1000, whole+1000).Draw(t, "moment"), rapid.Int64Range(-1000, whole+1000).Draw(t, "another"), 0, whole}
		last := amount
		if moments[1] < moments[0] {
			moments[0], moments[1] = moments[1], moments[0]
		}
		for i, after := range moments {
			used, unused := billing.Prorate(amount, from, to, from.Add(time.Duration(after)*time.Millisecond))
			left := new(big.Int).Mul(big.NewInt(amount), big.NewInt(min(max(whole-after, 0), whole)))
			if want := left.Div(left, big.NewInt(whole)).Int64(); used+unused != amount || unused != want {
				t.Fatalf("%d ms of %d: %d used, %d unused of %d, want %d unused", after, whole, used, unused, amount, want)
			}
			if i < 2 && unused > last {
				t.Fatalf("more is unused later: %d, %d", last, unused)
			}
			if last = unused; after == 0 && unused != amount || after == whole && unused != 0 {
				t.Fatalf("%d unused after %d of %d ms", unused, after, whole)
			}
		}
	})
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	if used, unused := billing.Prorate(1200, now, now, now); used != 1200 || unused != 0 {
		t.Errorf("a period without length: %d %d", used, unused)
	}
}

func TestAnniversaries(t *testing.T) {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for _, c := range []struct {
		start  string
		period account.Period
		want   []string // the first, second, … anniversary
	}{
		{"2027-01-31T10:20:30.456Z", account.Monthly, []string{"2027-02-28T10:20:30.456Z", "2027-03-31T10:20:30.456Z", "2027-04-30T10:20:30.456Z", "2027-05-31T10:20:30.456Z"}},
		{"2028-01-31T00:00:00Z", account.Monthly, []string{"2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"}},
		{"2026-12-30T23:59:59.999Z", account.Monthly, []string{"2027-01-30T23:59:59.999Z", "2027-02-28T23:59:59.999Z", "2027-03-30T23:59:59.999Z"}},
		{"2026-08-15T12:00:00Z", account.Monthly, []string{"2026-09-15T12:00:00Z", "2026-10-15T12:00:00Z", "2026-11-15T12:00:00Z", "2026-12-15T12:00:00Z", "2027-01-15T12:00:00Z"}},
		{"2028-02-29T08:00:00Z", account.Yearly, []string{"2029-02-28T08:00:00Z", "2030-02-28T08:00:00Z", "2031-02-28T08:00:00Z", "2032-02-29T08:00:00Z"}},
		{"2026-08-31T23:30:00-04:00", account.Monthly, []string{"2026-10-01T03:30:00Z"}}, // the day of the month is UTC's
	} {
		for i, want := range c.want {
			if got := billing.Anniversary(at(c.start), c.period, i+1); !got.Equal(at(want)) || got.Location() != time.UTC {
				t.Errorf("%s, %s %d: %s, want %s", c.start, c.period, i+1, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		start := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "start")).UTC()
		period := rapid.SampledFrom([]account.Period{account.Monthly, account.Yearly}).Draw(t, "period")
		if !billing.Anniversary(start, period, 0).Equal(start) {
			t.Fatal("the anniversary of none is not the start")
		}
		least, most := 28*24*time.Hour, 31*24*time.Hour
		if period == account.Yearly {
			least, most = 365*24*time.Hour, 366*24*time.Hour
		}
		for n := range 60 {
			length := billing.Anniversary(start, period, n+1).Sub(billing.Anniversary(start, period, n))
			if length < least || length > most {
				t.Fatalf("period %d of %s lasts %s", n+1, start, length)
			}
		}
	})
}

package billing

import (
	"time"

	"reckon/domain/account"
)

// Anniversary is when the n-th period after a start begins, in UTC: n months or years later on the same day of the
// month at the same time, or on the last day of a month that is too short. It is counted from the start and not from
// the anniversary before, so that 31 January is followed by 28 February and then by 31 March.
func Anniversary(start time.Time, period account.Period, n int) time.Time {
	start = start.UTC()
	months := n
	if period == account.Yearly {
		months *= 12
	}
	year, month, day := start.Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	first := time.Date(year, month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	lastDay := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, lastDay)-1).Add(start.Sub(midnight))
}

package billing

import (
	"math/bits"
	"time"
)

// Prorate splits the amount of the period [from, to) at a moment: what was used before it, and what is unused after it.
// unused is amount·(to−at)/(to−from), in whole milliseconds, rounded down; used is the rest, so that both add up to the
// amount. A moment before the period counts as its beginning, one after it as its end. The amount is not negative.
func Prorate(amountMinor int64, from, to, at time.Time) (used, unused int64) {
	whole := to.UnixMilli() - from.UnixMilli()
	left := min(to.UnixMilli()-at.UnixMilli(), whole)
	if whole <= 0 || left <= 0 || amountMinor <= 0 {
		return amountMinor, 0
	}
	high, low := bits.Mul64(uint64(amountMinor), uint64(left))
	quotient, _ := bits.Div64(high, low, uint64(whole)) // at most the amount, because left is at most whole
	unused = int64(quotient)
	return amountMinor - unused, unused
}

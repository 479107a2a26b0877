package export

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDecimalReadsWhatTheStandardLibraryReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.StringMatching(`[0-9]{1,40}`).Draw(t, "block")
		digits := strings.Repeat(block, rapid.IntRange(1, 400).Draw(t, "times"))
		want, _ := new(big.Int).SetString(digits, 10)
		got, ok := decimal(digits)
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%d digits: %v %v", len(digits), ok, got)
		}
	})
	if _, ok := decimal(strings.Repeat("1", 5000) + "x" + strings.Repeat("1", 5000)); ok {
		t.Fatal("a letter is read as a digit")
	}
}

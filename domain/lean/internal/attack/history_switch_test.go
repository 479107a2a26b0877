package attack

import (
	"testing"

	"reckon/domain/lean/internal/histories"
	"reckon/test/sweep"
)

// askOtherwise describes a difference between the kernel's answers when it is asked otherwise, or returns "".
func askOtherwise(text string) string {
	difference, _ := histories.Compare([]byte(text))
	return difference
}

// What the first hunter builds, accepted or not, is answered alike with caches off and with other questions in between.
func TestHuntedEnvironmentsHaveNoHistory(t *testing.T) {
	t.Parallel()
	var count histories.Count
	for seed := range uint64(sweep.Size(t, "HISTORY_SEEDS", 40, 800)) {
		h := &hunter{Rand: newRand(seed), equals: map[valueType]valueType{}, made: map[string]bool{}, closed: map[string]*Term{}, nests: seed%4 == 2}
		h.build(seed%4 == 0)
		difference, compared := histories.Compare([]byte((&File{Version: "4.99.0", Decls: h.decls}).emit().Text()))
		if difference != "" {
			t.Errorf("seed %d: %s", seed, difference)
		}
		count.Add(compared)
	}
	t.Log(count)
}

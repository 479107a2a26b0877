package adapter_test

import (
	"testing"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/runners/adapter"
)

// TestWhatIsNotAskedOfTheEngine: without an expression and an answer that the service's parser reads there is nothing to check,
// and neither engine nor checker is asked.
func TestWhatIsNotAskedOfTheEngine(t *testing.T) {
	t.Parallel()
	tree, err := expression.Parse("1+1")
	if err != nil {
		t.Fatal(err)
	}
	unnamed, err := expression.Parse("f[x]")
	if err != nil {
		t.Fatal(err)
	}
	for reason, r := range map[run.InconclusiveReason]commands.CheckRequest{
		"no_check_for_shape": {Code: "1 +* 2", Answer: "2"},
		"answer_not_usable":  {Code: "1+1", Tree: tree, Answer: "2 +*"},
		"no_check_for_head":  {Code: "f[x]", Tree: unnamed, Answer: "f[x]"},
	} {
		r.Steps = 1000
		if got, err := (adapter.Checker{}).Check(t.Context(), r); err != nil || got.Verdict != "inconclusive" || got.Reason != reason || got.Conclusive() || got.Automatic {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}

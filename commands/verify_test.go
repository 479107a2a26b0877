package commands_test

import (
	"errors"
	"strings"
	"testing"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/run"
)

func TestVerifyTakesARunOrAPair(t *testing.T) {
	h := newHouse(t, newLog(t))
	for name, c := range map[string]commands.Verify{
		"nothing": {}, "code alone": {Code: "1+1"}, "result alone": {Result: "2"}, "blank result": {Code: "1+1", Result: " "},
		"run and code": {RunID: 1, Code: "1+1"}, "run and result": {RunID: 1, Result: "2"}, "run and pair": {RunID: 1, Code: "1+1", Result: "2"},
	} {
		if _, err := h.Verify(t.Context(), intentOf(anna), c); !errors.Is(err, commands.ErrInvalidVerifyRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.checker.asked() != 0 || h.log.count() != 0 {
		t.Errorf("%d checks, %d appends", h.checker.asked(), h.log.count())
	}
}

func TestAPairIsCheckedAndStoredNowhere(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.checker.check = func(code, answer string) run.Check {
		if code != "1+1" || answer != "3" {
			t.Errorf("checked %q against %q", code, answer)
		}
		return refuted
	}
	got, err := h.Verify(t.Context(), intentOf(anna), commands.Verify{Code: "1+1", Result: "3"})
	if err != nil || got != (commands.Verification{Check: refuted}) {
		t.Errorf("%+v, %v", got, err)
	}
	if h.log.count() != 0 || h.checker.steps[0] != commands.MaxCheckSteps {
		t.Errorf("%d appends; %v steps", h.log.count(), h.checker.steps[0])
	}
}

// evaluated is the run id of an evaluation with an automatic check's answer.
func (h *house) evaluated(t *testing.T, c commands.Evaluate, automatic run.Check) int64 {
	t.Helper()
	h.checker.check = func(string, string) run.Check { return automatic }
	got, err := h.Evaluate(t.Context(), intentOf(anna), c)
	if err != nil {
		t.Fatal(err)
	}
	return got.RunID
}

func (h *house) verify(t *testing.T, runID int64, answer run.Check) commands.Verification {
	t.Helper()
	h.checker.check = func(string, string) run.Check { return answer }
	got, err := h.Verify(t.Context(), intentOf(anna), commands.Verify{RunID: runID})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestARunIsCheckedAndTheVerdictKept(t *testing.T) {
	h := newHouse(t, newLog(t))
	long := strings.Repeat("7", event.MaxInlineBytes+1)
	h.answers(commands.EngineOutcome{Result: "shown", InputForm: long}, nil)
	code := `f["` + long + `"]`
	id := h.evaluated(t, evaluate(code), inconclusive)
	asked := h.checker.asked()
	h.checker.check = func(gotCode, answer string) run.Check {
		if gotCode != code || answer != long {
			t.Error("something else was checked than what was evaluated and answered")
		}
		return verified
	}
	got, err := h.Verify(t.Context(), intentOf(anna), commands.Verify{RunID: id})
	if head, _ := h.log.Head(t.Context()); err != nil || got != (commands.Verification{Check: verified, Position: head}) {
		t.Errorf("%+v, %v", got, err)
	}
	if h.checker.steps[asked] != commands.MaxCheckSteps {
		t.Errorf("%v steps", h.checker.steps[asked])
	}
	if names := h.log.names(run.Stream(id)); names != "run.evaluated receipt.sealed run.verified" {
		t.Errorf("stream: %s", names)
	}
	if s := h.run(t, id); *s.Check != verified || s.Evaluated.Check != nil {
		t.Errorf("%+v", s)
	}
}

func TestAVerdictIsNotForgotten(t *testing.T) {
	h := newHouse(t, newLog(t))
	id := h.evaluated(t, evaluate("1+1"), verified)
	appends := h.log.count()
	got := h.verify(t, id, inconclusive)
	if got.Verdict != "inconclusive" || h.log.count() != appends {
		t.Errorf("%+v, %d appends", got, h.log.count()-appends)
	}
	if s := h.run(t, id); s.Check.Verdict != "verified" {
		t.Errorf("the run's verdict is %+v", s.Check)
	}
	h.verify(t, id, refuted)
	if s := h.run(t, id); s.Check.Verdict != "refuted" || s.Evaluated.Check.Verdict != "verified" {
		t.Errorf("a later verdict: %+v over %+v", s.Check, s.Evaluated.Check)
	}
	appends = h.log.count()
	h.verify(t, id, refuted)
	if h.log.count() != appends {
		t.Error("the same verdict was appended again")
	}
}

func TestRunsOfOthersDoNotExist(t *testing.T) {
	h := newHouse(t, newLog(t))
	id := h.evaluated(t, evaluate("1+1"), inconclusive)
	asked := h.checker.asked()
	for name, c := range map[string]struct {
		account string
		id      int64
	}{"another account's": {bert, id}, "never given": {anna, id + 1}, "negative": {anna, -1}} {
		if _, err := h.Verify(t.Context(), intentOf(c.account), commands.Verify{RunID: c.id}); !errors.Is(err, run.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.checker.asked() != asked {
		t.Error("another account's run was checked")
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.evaluated(t, inSession("notebook", "x = 1"), inconclusive)
	later := h.evaluated(t, inSession("notebook", "x + 1"), inconclusive)
	h.answers(commands.EngineOutcome{Result: "f[x]", Unevaluated: true}, nil)
	unevaluated := h.evaluated(t, evaluate("f[x]"), inconclusive)
	h.answers(commands.EngineOutcome{}, commands.ErrBudgetExhausted)
	_, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("While[True]"))
	var ended *commands.RunEndedError
	if !errors.As(err, &ended) {
		t.Fatal(err)
	}
	asked := h.checker.asked()
	for name, c := range map[string]struct {
		id     int64
		reason run.InconclusiveReason
	}{"later in a session": {later, "check_not_permitted"}, "unevaluated": {unevaluated, "answer_not_usable"}, "timed out": {ended.RunID, "answer_not_usable"}} {
		if got := h.verify(t, c.id, verified); got.Verdict != "inconclusive" || got.Reason != c.reason || got.Automatic {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if h.checker.asked() != asked {
		t.Error("the checker was asked")
	}
	if names := h.log.names(run.Stream(ended.RunID)); names != "run.timed_out" {
		t.Errorf("stream: %s", names)
	}
}

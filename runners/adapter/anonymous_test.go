package adapter_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
)

// TestAnonymousAnswersAreThoseOfAccounts: the engine answers the tree that was admitted as it answers the text.
func TestAnonymousAnswersAreThoseOfAccounts(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	checks := checkertest.Start(t, checker.Options{})
	anonymous := commands.Anonymous{
		Engine:    adapter.Engine{Engine: e, Places: fair.NewPool(1)},
		Checker:   adapter.Checker{Engine: e, Checker: checks, Places: fair.NewPool(1)},
		QueueWait: time.Minute,
	}
	verified := 0
	content, err := os.ReadFile("../../commands/testdata/anonymous/honest.txt")
	if err != nil {
		t.Fatal(err)
	}
	const budget = 30 * time.Second // the machine may be busy
	for text := range strings.Lines(string(content)) {
		text = strings.TrimSpace(text)
		admitted, err := commands.AdmitAnonymous(commands.EvaluateAnonymous{Expression: text, Caller: "somebody", Budget: budget})
		if err != nil {
			t.Fatal(text, err)
		}
		answer, err := anonymous.Evaluate(t.Context(), admitted)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		told, err := e.Evaluate(t.Context(), engine.Request{Code: text, Account: "an account", Budget: budget, QueueWait: budget})
		if err != nil {
			t.Fatal(text, err)
		}
		if answer.Result != told.Result {
			t.Errorf("%s: %q, and %q of the text itself", text, answer.Result, told.Result)
		}
		if answer.Check != nil && answer.Check.Verdict == run.VerdictVerified {
			verified++
		}
	}
	if verified < 40 {
		t.Errorf("only %d answers are verified", verified)
	}
}

// TestAnonymousPlacesAreNotThoseOfAccounts: whoever holds all places of strangers holds up no account, and the other way round.
func TestAnonymousPlacesAreNotThoseOfAccounts(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Concurrency: 1})
	strangers := fair.NewPool(1)
	place, err := strangers.Acquire(t.Context(), "one", time.Minute, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(places *fair.Pool) error {
		_, err := adapter.Engine{Engine: e, Places: places}.Evaluate(t.Context(), commands.EngineRequest{Code: "1+1", Account: "a", Budget: time.Minute})
		return err
	}
	if err := ask(strangers); !errors.Is(err, commands.ErrSaturated) {
		t.Errorf("%v while all places of strangers are held", err)
	}
	if err := ask(nil); err != nil {
		t.Errorf("an account: %v", err)
	}
	place.Release()
	if err := ask(strangers); err != nil {
		t.Errorf("%v once the place is free", err)
	}
}

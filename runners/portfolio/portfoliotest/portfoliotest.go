// Package portfoliotest gives tests real engines behind the real checker, as `reckon serve` has them.
package portfoliotest

import (
	"context"
	"testing"

	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
	"reckon/runners/portfolio"
)

// Most are all engines beside the first, in the order of --engines=giac,fricas,mpmath.
var Most = []string{"giac", "fricas", "mpmath"}

// Start brings up the first engine, those of names beside it, and the checker for one test and ends them with the test. first is the engine that is asked first.
func Start(t testing.TB, names []string) (all portfolio.Engine, first *engine.Engine) {
	t.Helper()
	first = enginetest.Start(t, engine.Options{})
	var others []portfolio.Other
	for _, second := range portfolio.Chosen(names) {
		started, err := second.Start(t.Context(), enginetest.Of(t, second.Packages), engine.SandboxRequired)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = started.Close(context.Background()) })
		others = append(others, started)
	}
	places := engine.DefaultConcurrency()
	return portfolio.Engine{
		First: adapter.Engine{Engine: first}, Others: others, Places: fair.NewPool(places),
		Checker: adapter.Checker{Engine: first, Checker: checkertest.Start(t, checker.Options{}), Places: fair.NewPool(places)},
	}, first
}

// Package portfoliotest gives tests all real engines behind the real checker, as `reckon serve` has them.
package portfoliotest

import (
	"context"
	"testing"

	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/engine/giac"
	"reckon/runners/engine/numerics"
	"reckon/runners/fair"
	"reckon/runners/portfolio"
)

// Start brings up the engines, Giac before mpmath, and the checker for one test and ends them with the test. first is the engine that is asked first.
func Start(t testing.TB) (all portfolio.Engine, first *engine.Engine) {
	t.Helper()
	first = enginetest.Start(t, engine.Options{})
	second, err := giac.Start(t.Context(), giac.Options{Environment: enginetest.Of(t, giac.Packages)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close(context.Background()) })
	numbers, err := numerics.Start(t.Context(), enginetest.Of(t, numerics.Packages), engine.SandboxRequired)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = numbers.Close(context.Background()) })
	places := engine.DefaultConcurrency()
	return portfolio.Engine{
		First: adapter.Engine{Engine: first}, Others: []portfolio.Other{second, numbers}, Places: fair.NewPool(places),
		Checker: adapter.Checker{Engine: first, Checker: checkertest.Start(t, checker.Options{}), Places: fair.NewPool(places)},
	}, first
}

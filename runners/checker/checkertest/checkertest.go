// Package checkertest gives tests the real checker.
package checkertest

import (
	"testing"

	"reckon/runners/checker"
	"reckon/runners/engine/enginetest"
)

// Start brings up a checker for one test and ends it with the test.
func Start(t testing.TB, options checker.Options) *checker.Checker {
	t.Helper()
	c, err := checker.New(t.Context(), enginetest.Environment(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the checker: %v", err)
		}
	})
	return c
}

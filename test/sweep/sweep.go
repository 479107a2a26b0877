// Package sweep says how much runs of a test that could always run for longer: a part in `make test`, the whole in `make soak`.
//
// docs/tests.md lists every call with both amounts; it is generated from the calls.
package sweep

import (
	"os"
	"strconv"
	"testing"

	"reckon/test/need"
)

// Variable is "whole" in `make soak`.
const Variable = "RECKON_SWEEP"

// Whole reports whether `make soak` runs.
func Whole() bool { return os.Getenv(Variable) == "whole" }

// Size is part in `make test` and whole in `make soak`, or the number in the environment variable called name. Seeds count from 0, so that the
// part is always the beginning of the whole.
func Size(t testing.TB, name string, part, whole int) int {
	t.Helper()
	size := part
	if Whole() {
		size = whole
	}
	if given := os.Getenv(name); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q: not a number above 0", name, given)
		}
		size = n
	}
	return size
}

// Only skips a test outside `make soak`.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Whole() {
		need.Skip(t, "time: "+why, "make soak")
	}
}

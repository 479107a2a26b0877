package qsim_test

import (
	"os"
	"testing"

	"reckon/runners/qsim"
	"reckon/test/shared"
)

// TestMain is also the child processes of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "child" {
		if err := qsim.Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(shared.Run(m))
}

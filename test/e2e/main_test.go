package e2e

import (
	"os"
	"testing"

	"reckon/test/shared"
)

func TestMain(m *testing.M) {
	if errand := os.Getenv(strangerEnv); errand != "" {
		beStranger(errand)
	}
	os.Exit(shared.Run(m))
}

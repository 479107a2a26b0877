package e2e

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if errand := os.Getenv(strangerEnv); errand != "" {
		beStranger(errand)
	}
	os.Exit(m.Run())
}

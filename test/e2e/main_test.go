package e2e

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	status := m.Run()
	RemoveBinary()
	os.Exit(status)
}

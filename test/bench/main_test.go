//go:build bench

package bench

import (
	"os"
	"testing"

	"reckon/test/shared"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(floodKind); kind != "" {
		runFlood(kind, os.Getenv(floodNode))
	}
	os.Exit(shared.Run(m))
}

package engine_test

import (
	"testing"

	"reckon/runners/engine/enginetest"
)

func TestEnvironmentIsReady(t *testing.T) {
	t.Log(enginetest.Environment(t))
}

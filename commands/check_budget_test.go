package commands

import (
	"testing"
	"time"
)

// A check ends within 5 seconds of processor time unasked and within 20 where it was asked for, whatever it does.
func TestChecksAreShort(t *testing.T) {
	t.Parallel()
	if unasked := automaticSteps.Processor(); unasked > 5*time.Second {
		t.Errorf("unasked: %v", unasked)
	}
	if asked := MaxCheckSteps.Processor(); asked > 20*time.Second {
		t.Errorf("asked for: %v", asked)
	}
}

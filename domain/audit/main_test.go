package audit_test

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests audit one log after the other and throw each away: collecting took a third of their processor time
	os.Exit(m.Run())
}

package engine

import (
	"errors"
	"os"
	"testing"

	"reckon/internal/private"
)

// TestProgramsLieWhereNobodyElseReplacesThem: the interpreter reads them by name, as this process's user.
func TestProgramsLieWhereNobodyElseReplacesThem(t *testing.T) {
	place := t.TempDir()
	t.Setenv("TMPDIR", place)
	if err := os.Chmod(place, 0o777); err != nil { //nolint:gosec // open on purpose
		t.Fatal(err)
	}
	var refused *private.FolderError
	if folder, err := writeProgram(t.Context(), Program{Sandbox: SandboxOff}, false); !errors.As(err, &refused) {
		t.Errorf("%s, %v", folder, err)
	}
	if made, err := os.ReadDir(place); err != nil || len(made) != 0 {
		t.Errorf("%v, %v", made, err)
	}
	if err := os.Chmod(place, 0o777|os.ModeSticky); err != nil { //nolint:gosec // as /tmp is
		t.Fatal(err)
	}
	if _, err := writeProgram(t.Context(), Program{Sandbox: SandboxOff}, false); err != nil {
		t.Error(err)
	}
}

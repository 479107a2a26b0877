package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// Two processes that start together on a half-made environment: one makes it anew, both go on.
func TestInstallTogetherOnAHalfMadeFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages: not with -short")
	}
	enginetest.Environment(t) // skips where nothing can be installed
	folder := filepath.Join(t.TempDir(), "data", "engine")
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bin", "python"), []byte("torn"), 0o755); err != nil {
		t.Fatal(err)
	}
	if engine.Status(folder).Ready {
		t.Fatal("a half-made folder is called ready")
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var steps []string
	for range 2 {
		group.Go(func() {
			err := engine.Install(t.Context(), folder, func(step string) {
				mu.Lock()
				defer mu.Unlock()
				steps = append(steps, step)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made := strings.Count(strings.Join(steps, "\n"), "making a private"); made != 1 {
		t.Errorf("made %d times: %q", made, steps)
	}
	if status := engine.Status(folder); !status.Ready || len(status.Packages) != 3 {
		t.Errorf("%+v", status)
	}
	if err := engine.Install(t.Context(), folder, func(step string) { t.Errorf("again: %s", step) }); err != nil {
		t.Error(err)
	}
}

func TestInstallWithoutPythonSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := engine.Install(t.Context(), filepath.Join(t.TempDir(), "engine"), nil)
	if !errors.Is(err, engine.ErrNoPython) || !strings.Contains(err.Error(), "apt install python3") {
		t.Errorf("got %v", err)
	}
}

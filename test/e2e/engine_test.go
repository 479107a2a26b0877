package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reckon/runners/engine/enginetest"
	"reckon/test/binary"
)

// TestProcessesOfAMachineShareOneEngine: with --engine a data folder has none of its own, and one that others could change is refused.
func TestProcessesOfAMachineShareOneEngine(t *testing.T) {
	t.Parallel()
	shared := enginetest.Environment(t)
	for range 2 {
		data := t.TempDir()
		if err := os.Chmod(data, 0o700); err != nil {
			t.Fatal(err)
		}
		server := Start(t, data, "--engine", shared)
		a := server.NewAccount("anna@example.com")
		var answer struct {
			Result string `json:"result"`
		}
		if err := a.JSON("POST", "/api/evaluate", map[string]any{"expression": "2 + 2"}, &answer); err != nil || answer.Result != "4" {
			t.Errorf("%q, %v", answer.Result, err)
		}
		if _, err := os.Lstat(filepath.Join(data, "engine")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the data folder has an engine of its own: %v", err)
		}
	}
	open := filepath.Join(t.TempDir(), "engine")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, verb := range [][]string{{"serve", "--init", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, {"engine", "install"}, {"engine", "status"}, {"engine", "test"}} {
		output, err := exec.Command(binary.Reckon(t), append(verb, "--engine", open)...).CombinedOutput()
		if err == nil || !strings.Contains(string(output), "can be written to by other users") {
			t.Errorf("%v: %v\n%s", verb, err, output)
		}
	}
}

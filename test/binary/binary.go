// Package binary gives tests the program as it is shipped, built from this tree once for all test processes.
package binary

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Variable names a program that was built before the tests.
const Variable = "RECKON_TEST_BINARY"

// Reckon is the path of the program: the one that Variable names, else one in the user's cache folder, which the go command links anew only
// where the sources of this tree have changed.
func Reckon(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(Variable); given != "" {
		return given, nil
	}
	return build("", nil)
})

// Changed is the path of the program with other contents of some files of this tree, by their absolute paths. It is kept like the other, by a name.
func Changed(t testing.TB, name string, contents map[string][]byte) string {
	t.Helper()
	path, err := build("-"+name, contents)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(suffix string, contents map[string][]byte) (path string, err error) {
	_, here, _, _ := runtime.Caller(0)
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the program under test: %w; set %s", err, Variable)
	}
	folder := filepath.Join(cache, "reckon", fmt.Sprintf("test-binary-%x", sha256.Sum256([]byte(here)))[:28]+suffix) // one for each clone
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which unlocks it
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	over, err := overlay(folder, contents)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "reckon")
	if output, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", over, "-o", path, "reckon/cmd/reckon").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, output)
	}
	return path, nil
}

// overlay writes the file that tells the go command of other contents.
func overlay(folder string, contents map[string][]byte) (path string, err error) {
	replaced := map[string]string{}
	for source, content := range contents {
		replaced[source] = filepath.Join(folder, filepath.Base(source))
		if err := os.WriteFile(replaced[source], content, 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

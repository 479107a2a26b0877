// Package binary gives tests the program as it is shipped, built from this tree once for all test processes.
package binary

import (
	"crypto/sha256"
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

// Variable names a program that was built before the tests, as `make test` does.
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
	return build()
})

func build() (path string, err error) {
	_, here, _, _ := runtime.Caller(0)
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the program under test: %w; set %s", err, Variable)
	}
	folder := filepath.Join(cache, "reckon", fmt.Sprintf("test-binary-%x", sha256.Sum256([]byte(here)))[:28]) // one for each clone
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
	path = filepath.Join(folder, "reckon")
	if output, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "reckon/cmd/reckon").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, output)
	}
	return path, nil
}

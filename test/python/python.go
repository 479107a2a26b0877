// Package python gives tests Python with packages: one environment for each set of pinned packages, made once a machine and kept in the user's
// cache folder.
package python

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"reckon/test/need"
)

// Unreachable is what package managers print when no registry answers.
var Unreachable = regexp.MustCompile(`ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|dial tcp|no such host|NewConnectionError|Temporary failure in name resolution`)

// With is the interpreter of an environment that has the packages of a requirements.txt, as text. Where one has a hash all must have.
func With(t testing.TB, requirements string) string {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(interpreter, "-c", "import venv, ensurepip").Run()
	}
	if err != nil {
		need.Skip(t, "Python 3 with venv", "apt-get install python3-venv")
	}
	folder := environment(t, requirements)
	defer lock(t, folder)()
	python, ready := filepath.Join(folder, "bin", "python"), filepath.Join(folder, "ready")
	if _, err := os.Stat(ready); err == nil {
		return python
	}
	must(t, exec.Command(interpreter, "-m", "venv", "--clear", folder))
	list := filepath.Join(folder, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:", "-r", list}
	if strings.Contains(requirements, "--hash=") {
		arguments = append(arguments, "--require-hashes", "--no-deps")
	}
	if output, err := exec.CommandContext(t.Context(), python, arguments...).CombinedOutput(); err != nil && Unreachable.Match(output) {
		need.Skip(t, "the registry of Python's packages", "make test, where it can be reached")
	} else if err != nil {
		t.Fatalf("pip: %v\n%s", err, output)
	}
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return python
}

func environment(t testing.TB, requirements string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(cache, "reckon")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(kept, fmt.Sprintf("test-python-%.6x", sha256.Sum256([]byte(requirements))))
}

// lock holds a folder for this process; other test processes wait.
func lock(t testing.TB, folder string) (unlock func()) {
	t.Helper()
	file, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { _ = file.Close() }
}

func must(t testing.TB, command *exec.Cmd) {
	t.Helper()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
}

// Package need gives tests what they need of the machine, and skips tests that lack something. No test skips in another way (TestSkipsNameACommand in package test), so that the list at the
// end of `make test` names for each skipped test what it lacks and the command that runs it.
package need

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Skip skips a test that needs something which is not here; command makes it run.
func Skip(t testing.TB, something, command string) {
	t.Helper()
	t.Skipf("needs %s; to run it: %s", something, command)
}

// Program is the path of a program that the Debian package of this name has.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(t, name, "apt-get install "+debian)
	}
	return path
}

// Root skips a test that only root can run.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Skip(t, "root", "sudo make test")
	}
}

// Proc is a file below /proc, as text.
func Proc(t testing.TB, path string, arguments ...any) string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/"+path, arguments...))
	if err != nil {
		Skip(t, "Linux's /proc: "+err.Error(), "make test, on Linux")
	}
	return string(content)
}

// clone is the folder of this repository, whatever package the test is of.
func clone() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(here)))
}

// Shared is a file or folder of the test data that lies beside the clone, in ../shared/data; it is not part of the repository.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	found, ok := LookShared(path...)
	if !ok {
		Skip(t, "the shared test data", "make test, with "+filepath.Join(append([]string{"shared", "data"}, path...)...)+" beside the clone")
	}
	return found
}

// LookShared is Shared for a test that has other data as well.
func LookShared(path ...string) (found string, ok bool) {
	found = filepath.Join(append([]string{clone(), "..", "shared", "data"}, path...)...)
	_, err := os.Stat(found)
	return found, err == nil
}

// Address is a loopback address at which no one listens now, HOST:PORT.
func Address(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

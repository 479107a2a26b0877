package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"reckon/test/binary"
	"reckon/test/need"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal of 100 columns (pty(7)): what is written to the second file is read from the first.
func terminal(t *testing.T) (screen, end *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		need.Skip(t, fmt.Sprintf("pseudo-terminals (%v)", err), "make test, where /dev/ptmx can be opened")
	}
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		need.Skip(t, fmt.Sprintf("pseudo-terminals (%v)", err), "make test, where /dev/ptmx can be opened")
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if end, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		need.Skip(t, fmt.Sprintf("pseudo-terminals (%v)", err), "make test, where /dev/ptmx can be opened")
	}
	if err := unix.IoctlSetWinsize(int(end.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close(); _ = end.Close() })
	return screen, end
}

// TestAFirstInstallShowsItself: as a bar on a terminal, and as lines without escape sequences elsewhere; both say how many modules, how
// much, and how long it took.
func TestAFirstInstallShowsItself(t *testing.T) {
	t.Parallel()
	DataFolder(t) // skips where the engine cannot be installed
	install := func(stderr *os.File) {
		data := filepath.Join(t.TempDir(), "data")
		command := exec.Command(binary.Reckon(t), "engine", "install", "--data", data, "--engines", "none")
		command.Stderr = stderr
		if err := command.Run(); err != nil {
			t.Error(err)
		}
	}
	begins, ends := regexp.MustCompile(`once: 2 modules \(woxi==[0-9.]+, python-flint==[0-9.]+\), a download of 35 MB that takes up to 128 MB of disk`), regexp.MustCompile(`is made: 2 modules, \d+ MB, \d+ s`)
	bar := regexp.MustCompile(`engine +\[#+\.+\] +\d+\.\d %  \d+ of \d+ MB, \d+ s: [a-z]`)

	screen, end := terminal(t)
	seen := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, screen) // it ends with an error when the other end is closed (EIO)
		seen <- b.String()
	}()
	install(end)
	_ = end.Close()
	drawn := <-seen
	if !begins.MatchString(drawn) || !ends.MatchString(drawn) || !bar.MatchString(drawn) {
		t.Errorf("on a terminal:\n%q", drawn)
	}

	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	install(file)
	_ = file.Close()
	written, err := os.ReadFile(path)
	if err != nil || !begins.Match(written) || !ends.Match(written) || bar.Match(written) || bytes.ContainsRune(written, 0x1b) {
		t.Errorf("in a file: %v\n%q", err, written)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reckon/test/need"

	"golang.org/x/sys/unix"
)

// TestAPersonIsAsked: at a terminal the question is put, and nothing but yes makes something.
func TestAPersonIsAsked(t *testing.T) {
	t.Parallel()
	for answer, status := range map[string]int{"yes": 0, "no": 2, "": 2} {
		data := filepath.Join(t.TempDir(), "data")
		controller, terminal := openTerminal(t)
		command := reckonCommand(t, nil, "keys", "rotate", "--data", data)
		command.Stdin, command.Stderr = terminal, terminal
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		_ = terminal.Close() // the command has its own
		var said bytes.Buffer
		for shown := make([]byte, 256); !strings.Contains(said.String(), "[yes/no]"); {
			n, err := controller.Read(shown)
			said.Write(shown[:n])
			if err != nil {
				t.Fatalf("%v after %q", err, &said)
			}
		}
		if _, err := controller.WriteString(answer + "\n"); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait() // the status tells
		if got := command.ProcessState.ExitCode(); got != status || exists(data) != (status == 0) || !strings.Contains(said.String(), data) {
			t.Errorf("answer %q: status %d, made: %v\n%s", answer, got, exists(data), &said)
		}
	}
}

// openTerminal opens a pseudo-terminal: what is written to controller is typed at terminal.
func openTerminal(t *testing.T) (controller, terminal *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		need.Skip(t, fmt.Sprintf("pseudo-terminals (%v)", err), "make test, where /dev/ptmx can be opened")
	}
	t.Cleanup(func() { _ = controller.Close() })
	number, err := unix.IoctlGetInt(int(controller.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(controller.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return controller, terminal
}

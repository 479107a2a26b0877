package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"reckon/test/need"
)

// Freezable is a private server, of one test, whose processes can be stopped: then connections stay open and are made, and
// nothing is answered.
type Freezable struct {
	t       testing.TB
	cluster cluster
	frozen  []int // processes
}

// NewFreezable starts a server, which ends with the test. The test is skipped where no server can be started.
func NewFreezable(t testing.TB) *Freezable {
	t.Helper()
	ours, err := private()
	if err != nil {
		need.Skip(t, fmt.Sprintf("a PostgreSQL server of its own (%v)", err), "apt-get install postgresql")
	}
	f := &Freezable{t: t, cluster: ours}
	t.Cleanup(func() {
		f.Thaw()
		_ = ours.alive.Close() // it ends then
	})
	return f
}

// Address is that of its database.
func (f *Freezable) Address() string { return f.cluster.address }

// Freeze stops every process of the server.
func (f *Freezable) Freeze() {
	f.t.Helper()
	noted, err := os.ReadFile(filepath.Join(f.cluster.folder, "data", "postmaster.pid"))
	if err != nil {
		f.t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(noted), "\n")
	server, err := strconv.Atoi(first)
	if err != nil {
		f.t.Fatal(err)
	}
	f.stop(server) // first: it starts no more
	running, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(running)) {
		var process, parent int
		if _, err := fmt.Sscan(line, &process, &parent); err == nil && parent == server {
			f.stop(process)
		}
	}
}

func (f *Freezable) stop(process int) {
	f.t.Helper()
	if err := syscall.Kill(process, syscall.SIGSTOP); err != nil {
		f.t.Fatal(err)
	}
	f.frozen = append(f.frozen, process)
}

// Thaw lets the server go on.
func (f *Freezable) Thaw() {
	for _, process := range f.frozen {
		_ = syscall.Kill(process, syscall.SIGCONT) // it may have ended
	}
	f.frozen = nil
}

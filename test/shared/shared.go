// Package shared keeps what the tests of a package share, as a server or a browser, until the last of them has ended.
package shared

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Run runs a package's tests, then ends what they shared. It returns the exit status for TestMain.
func Run(m *testing.M) int {
	running.Store(true)
	status := m.Run()
	if life.end() && status == 0 {
		return 1
	}
	return status
}

// Life is the testing.TB of what lives as long as the tests of a package. An error of it fails the package. The package's TestMain must call Run.
func Life(t testing.TB) testing.TB {
	t.Helper()
	if !running.Load() {
		t.Fatal("the package has no TestMain that calls shared.Run")
	}
	return life
}

var (
	running atomic.Bool
	life    = &packageLife{}
)

// packageLife has the methods of testing.TB that something started by a test calls; the rest are not there.
type packageLife struct {
	testing.TB

	mu     sync.Mutex
	ends   []func()
	failed bool
}

func (l *packageLife) Helper() {}

func (l *packageLife) Cleanup(end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, end)
}

func (l *packageLife) TempDir() string {
	folder, err := os.MkdirTemp("", "reckon-shared-")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			l.Error(err)
		}
	})
	return folder
}

func (l *packageLife) Error(arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = true
	fmt.Fprintln(os.Stderr, append([]any{"FAIL: what the tests of this package share:"}, arguments...)...)
}

// Fatal ends the process: a goroutine that is no test's cannot be ended alone.
func (l *packageLife) Fatal(arguments ...any) { panic(fmt.Sprint(arguments...)) }

// end ends all that is shared, what was started last first, and reports whether anything of it failed.
func (l *packageLife) end() (failed bool) {
	l.mu.Lock()
	ends := slices.Clone(l.ends)
	l.mu.Unlock()
	for _, end := range slices.Backward(ends) {
		end()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

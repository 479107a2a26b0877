package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"reckon/domain/run"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/need"
	"reckon/test/wait"
)

func TestWorkersThatMisbehaveAreFailuresOfOneRequest(t *testing.T) {
	zygote := attempts(t, func(p *engine.Program) {
		p.Limits = engine.Limits{MemoryBytes: 128 << 20, ReplyBytes: 1 << 20, RequestBytes: 64 << 10}
	})
	for name, c := range map[string]struct {
		number int
		reason run.FailureReason
	}{
		"flood":        {2 << 20, run.FailureOutputTooLarge}, // a reply over its bound, refused by the worker itself
		"endless line": {0, run.FailureOutputTooLarge},       // bytes without end on the protocol's own socket
		"garbage":      {0, run.FailureCrashed},
		"exit":         {0, run.FailureQuit},
		"raise":        {0, run.FailureCrashed},
		"memory":       {1 << 40, run.FailureMemory},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := try(t, zygote, name, c.number)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if failure(err) != c.reason {
			t.Errorf("%s: %v", name, err)
		}
		if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 8<<20 {
			t.Errorf("%s: the server's memory grew by %d bytes", name, grown)
		}
	}
	if _, err := try(t, zygote, strings.Repeat("x", 100<<10), 0); failure(err) != run.FailureRefused {
		t.Errorf("a request over its bound: %v", err)
	}
	if reply, err := try(t, zygote, "pid", 0); err != nil || reply.Answer == "" {
		t.Errorf("afterwards: %v", err)
	}
}

func TestDeadlineKills(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, nil)
	worker, err := zygote.Spawn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := worker.Call(ctx, attempt{Name: "spin"}, &attempted{}); !errors.Is(err, engine.ErrBudgetExhausted) {
		t.Errorf("got %v", err)
	}
	<-worker.Done()
	worker.Kill() // once more does no harm
}

func TestCancelKills(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, nil)
	worker, err := zygote.Spawn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := worker.Call(ctx, attempt{Name: "spin"}, &attempted{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-worker.Done()
}

func TestEachCallRunsInAFreshProcess(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, func(p *engine.Program) { p.Idle = 3 })
	var mu sync.Mutex
	seen := map[string]int{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 10 {
				reply, err := try(t, zygote, "pid", 0)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				seen[reply.Answer]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(seen) != 40 {
		t.Errorf("40 calls ran in %d processes", len(seen))
	}
}

// processes lists the processes whose command line names the folder.
func processes(t *testing.T, folder string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		need.Skip(t, "Linux's /proc", "make test, on Linux")
	}
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), folder) {
			found = append(found, pid)
		}
	}
	return found
}

// Whoever asks for a worker while a zygote is killed gets one of the next zygote, unless that is killed while it starts. A call that had one fails with it.
func TestAKilledZygoteFailsNobodyWhoAsks(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	zygote := attempts(t, nil)
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 8 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				_, err := try(t, zygote, "pid", 0)
				if spawn, failed := errors.AsType[*engine.SpawnError](err); failed && !strings.HasPrefix(spawn.Err.Error(), "start ") || err != nil && !failed && !errors.Is(err, engine.ErrLost) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	for range 12 {
		var all []int
		wait.Until(t, "a zygote with a worker", func() bool { all = processes(t, folder); return len(all) >= 2 })
		if err := unix.Kill(all[0], unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) { // the oldest; it may have been a worker's last moment
			t.Fatal(err)
		}
	}
	close(done)
	group.Wait()
	if reply, err := try(t, zygote, "pid", 0); err != nil || reply.Answer == "" {
		t.Errorf("the next call: %v", err)
	}
}

func TestADeadZygoteIsReplacedAndTakesItsWorkersAlong(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	zygote := attempts(t, nil)
	ended := make(chan string, 2)
	zygote.WhenEnded(func(said string) { ended <- said })
	worker, err := zygote.Spawn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spinning := make(chan error, 1)
	go func() { spinning <- worker.Call(context.Background(), attempt{Name: "spin"}, &attempted{}) }()
	var all []int
	wait.Until(t, "two processes", func() bool { all = processes(t, folder); return len(all) >= 2 })
	if err := unix.Kill(all[0], unix.SIGKILL); err != nil { // the zygote is the oldest
		t.Fatal(err)
	}
	if err := <-spinning; !errors.Is(err, engine.ErrLost) {
		t.Errorf("the call under way: %v", err)
	}
	if reply, err := try(t, zygote, "pid", 0); err != nil || reply.Answer == "" {
		t.Errorf("the next call: %v", err)
	}
	<-ended
	if err := zygote.Close(); err != nil {
		t.Error(err)
	}
	if len(ended) != 0 {
		t.Error("a zygote that was closed is told of as one that ended by itself")
	}
	wait.Until(t, "an end of all processes", func() bool { return len(processes(t, folder)) == 0 })
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestClosedZygoteRefuses(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, func(p *engine.Program) { p.Idle = 2 })
	if err := zygote.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := zygote.Spawn(t.Context()); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestAProgramThatDoesNotLoadSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := engine.StartZygote(t.Context(), engine.Program{
		Name: "broken", Python: engine.Python(enginetest.Environment(t)), Source: []byte("import a_module_that_is_not_there\n"),
	})
	if err == nil || !strings.Contains(err.Error(), "a_module_that_is_not_there") {
		t.Errorf("got %v", err)
	}
}

func TestARelativeEnvironmentIsFound(t *testing.T) {
	environment := enginetest.Environment(t)
	t.Chdir(filepath.Dir(environment))
	zygote := attempts(t, func(p *engine.Program) { p.Python = engine.Python(filepath.Base(environment)) })
	if _, err := try(t, zygote, "pid", 0); err != nil {
		t.Error(err)
	}
}

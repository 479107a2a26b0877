package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/need"
	"reckon/test/wait"
)

// Every way in which an environment can differ from what was installed is found and named.
func TestDamageIsFound(t *testing.T) {
	startIndex(t, 0, nil)
	folder := installed(t)
	at := func(pattern string) string {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		return found[0]
	}
	module, stamp := at("lib/python3*/site-packages/flint/__init__.py"), at("reckon-environment")
	compiled, packages := at("lib/python3*/site-packages/woxi/__pycache__/__init__*.pyc"), filepath.Dir(filepath.Dir(module))
	rewrite := func(path string, change func([]byte) []byte) func() {
		content, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, change(bytes.Clone(content)), 0o600))
		return func() { must(t, os.WriteFile(path, content, 0o600)) }
	}
	for name, damage := range map[string]func() (restore func()){
		"was changed": func() func() { return rewrite(module, func(b []byte) []byte { b[0] ^= 1; return b }) },
		"__init__":    func() func() { return rewrite(compiled, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }) },
		"is missing": func() func() {
			must(t, os.Rename(module, folder+".away"))
			return func() { must(t, os.Rename(folder+".away", module)) }
		},
		"was added": func() func() {
			must(t, os.WriteFile(filepath.Join(packages, "woxi.py"), []byte("import os"), 0o600))
			return func() { must(t, os.Remove(filepath.Join(packages, "woxi.py"))) }
		},
		"other users": func() func() {
			must(t, os.Chmod(packages, 0o777))
			return func() { must(t, os.Chmod(packages, 0o700)) }
		},
		"bin/python": func() func() {
			target, err := os.Readlink(engine.Python(folder))
			must(t, err)
			must(t, os.Remove(engine.Python(folder)))
			must(t, os.Symlink("/bin/false", engine.Python(folder)))
			return func() {
				must(t, os.Remove(engine.Python(folder)))
				must(t, os.Symlink(target, engine.Python(folder)))
			}
		},
		"cut short": func() func() { return rewrite(stamp, func(b []byte) []byte { return b[:len(b)-10] }) },
		"is no longer Python": func() func() {
			return rewrite(stamp, func(b []byte) []byte { return bytes.Replace(b, []byte(" 3."), []byte(" 2."), 1) })
		},
		"another revision":       func() func() { return rewrite(stamp, func(b []byte) []byte { b[0] ^= 1; return b }) },
		"nothing was ever ready": func() func() { return rewrite(stamp, func([]byte) []byte { return nil }) },
	} {
		restore := damage()
		status := engine.Core.Status(folder)
		named := strings.Contains(status.Damage, name)
		if name == "another revision" || name == "nothing was ever ready" {
			named = status.Damage == ""
		}
		if status.Ready || !named {
			t.Errorf("%s: %+v", name, status)
		}
		restore()
		if status := engine.Core.Status(folder); !status.Ready {
			t.Fatalf("%s, restored: %+v", name, status)
		}
	}
}

// kill -9 in the middle of an installation: nothing goes on, what was there is still there, and the next one works, for
// processes that start together too.
func TestInstallAfterAKilledInstall(t *testing.T) {
	var stall atomic.Bool
	downloading, killed := make(chan struct{}, 1), make(chan struct{})
	served := startIndex(t, 0, func(string) {
		if stall.CompareAndSwap(true, false) { // the first download of the process that is killed
			downloading <- struct{}{}
			<-killed
		}
	})
	folder := installed(t)
	gone, err := filepath.Glob(filepath.Join(folder, "lib", "python3*", "site-packages", "woxi"))
	if err != nil || len(gone) != 1 {
		t.Fatalf("%v, %v", gone, err)
	}
	must(t, os.RemoveAll(gone[0]))
	t.Setenv("PIP_CACHE_DIR", t.TempDir())
	stall.Store(true)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "RECKON_TEST_INSTALL="+folder, "RECKON_TEST_PINS="+string(served.pins))
	must(t, child.Start())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case <-downloading:
	case err := <-ended:
		t.Fatalf("the installation ended before it was killed: %v", err)
	}
	if working := processes(t, folder); len(working) == 0 {
		t.Fatal("nothing works on the folder")
	}
	must(t, child.Process.Kill())
	if err := <-ended; err == nil {
		t.Error("an installation that was killed ended well")
	}
	close(killed)
	wait.Until(t, "an end of what the installation had started", func() bool { return len(processes(t, folder)) == 0 })
	if status := engine.Core.Status(folder); status.Ready || !strings.Contains(status.Damage, "is missing") {
		t.Errorf("after the kill: %+v", status)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var steps []string
	for range 2 {
		group.Go(func() {
			err := engine.Core.Install(t.Context(), folder, func(r engine.Report) {
				mu.Lock()
				defer mu.Unlock()
				steps = append(steps, r.Notice, r.Doing)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	told := strings.Join(steps, "\n")
	if made := strings.Count(told, "once: 2 modules"); made != 1 || strings.Count(told, "is made: 2 modules") != 1 || !strings.Contains(told, "damaged") || !strings.Contains(told, "downloading woxi") && !strings.Contains(told, "from the cache: woxi") {
		t.Errorf("made %d times:\n%s", made, told)
	}
	if status := engine.Core.Status(folder); !status.Ready || len(status.Packages) != 2 {
		t.Errorf("%+v", status)
	}
	if err := engine.Core.Install(t.Context(), folder, func(r engine.Report) { t.Errorf("again: %+v", r) }); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(folder + ".*"); err != nil || len(left) != 1 || left[0] != folder+".lock" {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

// installUntilKilled is the process that TestInstallAfterAKilledInstall kills.
func installUntilKilled(folder, pins string) {
	engine.PinForTest([]byte(pins))
	fmt.Println(engine.Core.Install(context.Background(), folder, func(r engine.Report) { fmt.Println(r) }))
	os.Exit(2)
}

// A package index that is not there is named, with what to do, and people see what is waited for.
func TestInstallWithoutAnIndex(t *testing.T) {
	enginetest.Environment(t) // skips where there is no Python
	useIndex(t, "http://127.0.0.1:1/simple")
	folder := filepath.Join(t.TempDir(), "engine")
	doing := map[string]bool{}
	err := engine.Core.Install(t.Context(), folder, func(r engine.Report) { doing[r.Doing] = true })
	failed, ok := errors.AsType[*engine.InstallError](err)
	if !ok || failed.Cause != engine.CauseUnreachable || !strings.Contains(err.Error(), "PIP_INDEX_URL") {
		t.Errorf("%v", err)
	}
	if told := strings.Join(slices.Collect(maps.Keys(doing)), "\n"); strings.Count(told, "pip: Retrying") < 2 {
		t.Errorf("nobody saw what was waited for:\n%s", told)
	}
	nothingLeft(t, folder)
}

// A full disk is named, and given back what was taken.
func TestInstallOnAFullDisk(t *testing.T) {
	if small := os.Getenv("RECKON_TEST_SMALL_DISK"); small != "" { // inside a mount namespace
		t.Cleanup(engine.PinForTest([]byte(os.Getenv("RECKON_TEST_PINS"))))
		err := engine.Core.Install(t.Context(), filepath.Join(small, "engine"), nil)
		failed, ok := errors.AsType[*engine.InstallError](err)
		if !ok || failed.Cause != engine.CauseDiskFull || !strings.Contains(err.Error(), small) || strings.Contains(err.Error(), "venv") {
			t.Errorf("%v", err)
		}
		nothingLeft(t, filepath.Join(small, "engine"))
		return
	}
	served := startIndex(t, 4<<20, nil)
	folder := t.TempDir()
	const script = `mount -t tmpfs -o size=$0 none "$1" || exit 77; exec "$2" -test.run '^TestInstallOnAFullDisk$' -test.v`
	for _, size := range []string{"64k", "2m"} { // too little for a virtual environment, and for the packages
		command := exec.Command("unshare", "-m", "sh", "-c", script, size, folder, os.Args[0])
		command.Env = append(os.Environ(), "RECKON_TEST_SMALL_DISK="+folder, "RECKON_TEST_PINS="+string(served.pins))
		output, err := command.CombinedOutput()
		if command.ProcessState == nil || command.ProcessState.ExitCode() == 77 || command.ProcessState.ExitCode() == 1 && !strings.Contains(string(output), "RUN") {
			need.Skip(t, fmt.Sprintf("the right to mount a small disk (%v %s)", err, output), "sudo make test")
		}
		if err != nil || !strings.Contains(string(output), "PASS") {
			t.Errorf("%s: %v\n%s", size, err, output)
		}
	}
}

func nothingLeft(t *testing.T, folder string) {
	t.Helper()
	if left, err := filepath.Glob(folder + "*"); err != nil || len(left) != 1 || left[0] != folder+".lock" {
		t.Errorf("left: %v, %v", left, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestInstallWithoutPythonSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := engine.Core.Install(t.Context(), filepath.Join(t.TempDir(), "engine"), nil)
	if !errors.Is(err, engine.ErrNoPython) || !strings.Contains(err.Error(), "apt install python3") {
		t.Errorf("got %v", err)
	}
}

// What is downloaded has an end, whatever the index serves: nothing is left of more than the bound, and people are told.
func TestInstallHasAnEnd(t *testing.T) {
	startIndex(t, 4<<20, nil)
	restore := engine.BoundInstallForTest(2 << 20)
	defer restore()
	folder := filepath.Join(t.TempDir(), "engine")
	err := engine.Core.Install(t.Context(), folder, nil)
	failed, ok := errors.AsType[*engine.InstallError](err)
	if !ok || failed.Cause != engine.CauseEndless || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("%v", err)
	}
	nothingLeft(t, folder)
}

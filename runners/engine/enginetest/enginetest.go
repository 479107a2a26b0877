// Package enginetest gives tests the real engine.
//
// It promises one environment for all test packages of a machine, made at most once per set of pinned packages. It never
// replaces the engine by anything, and a test skips only where Python or the package index cannot be had, saying so.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"reckon/runners/engine"
	"reckon/test/need"
)

// Environment answers the folder of a ready environment of the first engine and the checker: RECKON_TEST_ENGINE where set, else one in
// the user's cache folder, shared by all tests.
func Environment(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("RECKON_TEST_ENGINE"); folder != "" {
		if !engine.Core.Status(folder).Ready {
			t.Fatalf("RECKON_TEST_ENGINE=%s is not a ready environment: make it with `reckon engine install`", folder)
		}
		return folder
	}
	return Of(t, engine.Core)
}

// Of answers the folder of a ready environment of packages, in the user's cache folder, shared by all tests.
func Of(t testing.TB, packages engine.Packages) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		need.Skip(t, "Linux, for the engine's walls", "make test, on Linux")
	}
	made, _ := shared.LoadOrStore(packages.Name, sync.OnceValues(func() (string, error) { return install(packages) }))
	folder, err := made.(func() (string, error))()
	failed, is := errors.AsType[*engine.InstallError](err)
	if errors.Is(err, engine.ErrNoPython) || is && failed.Cause == engine.CauseUnreachable {
		need.Skip(t, fmt.Sprintf("%s (%v)", packages.Name, err), "apt-get install python3-venv; make test, where the registry of Python's packages can be reached")
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// shared are the environments of this test process by the name of their packages: each is made, or read whole, once.
var shared sync.Map

func install(packages engine.Packages) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the engine: %w; set RECKON_TEST_ENGINE", err)
	}
	folder := filepath.Join(cache, "reckon", "engine-"+engine.Core.Revision()) // where servers under test look for both
	if packages.Name != engine.Core.Name {
		folder += "-" + packages.Name
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return folder, packages.Install(ctx, folder, func(r engine.Report) {
		if r.Notice != "" {
			_, _ = fmt.Fprintln(os.Stderr, r.Notice)
		}
	})
}

// Start brings up an engine for one test and ends it with the test.
func Start(t testing.TB, options engine.Options) *engine.Engine {
	t.Helper()
	options.Environment = Environment(t)
	e, err := engine.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return e
}

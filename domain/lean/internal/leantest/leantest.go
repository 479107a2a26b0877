// Package leantest finds exports for tests: the repository's own, and the shared ones where they are at hand. It is
// imported by tests only.
package leantest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/test/need"
)

// SharedDir returns a folder of ../shared/data/lean-exports next to the repository, or skips the test where it is absent.
func SharedDir(t testing.TB, name string) string {
	t.Helper()
	return need.Shared(t, "lean-exports", name)
}

// SharedFiles returns the paths of the exports in a shared folder, or skips the test where it is absent.
func SharedFiles(t testing.TB, name string) []string {
	t.Helper()
	return exports(t, SharedDir(t, name))
}

// AcceptedExports returns the paths of the repository's accepted exports and, where they exist, of those in two shared
// folders.
func AcceptedExports(t testing.TB) []string {
	t.Helper()
	files := exports(t, filepath.Join(repositoryRoot(t), "domain", "lean", "internal", "rules", "testdata"))
	files = slices.DeleteFunc(files, func(path string) bool { return !strings.HasSuffix(path, ".accept.ndjson") })
	for _, folder := range []string{"accept", "judge"} {
		if _, here := need.LookShared("lean-exports", folder); here {
			files = append(files, SharedFiles(t, folder)...)
		}
	}
	return files
}

// AcceptedExport returns the path of the repository's export that keeps the given rule of docs/kernel.md.
func AcceptedExport(t testing.TB, rule string) string {
	t.Helper()
	return filepath.Join(repositoryRoot(t), "domain", "lean", "internal", "rules", "testdata", rule+".accept.ndjson")
}

// Prelude returns the repository's largest export: what Lean's literals rest on.
func Prelude(t testing.TB) string { return AcceptedExport(t, "string-literals") }

// repositoryRoot is the folder of go.mod.
func repositoryRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}

func exports(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no exports in %s: %v", dir, err)
	}
	return files
}

// Package leantest finds the shared exports for tests. It is imported by tests only.
package leantest

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns a folder of ../shared/data/lean-exports next to the repository, or skips the test where it is absent.
func Dir(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	data := filepath.Join(dir, "..", "shared", "data", "lean-exports", name)
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the shared exports are absent: %v", err)
	}
	return data
}

// Files returns the exports of a folder.
func Files(t testing.TB, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Dir(t, name), "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no exports in %s: %v", name, err)
	}
	return files
}

// Package page keeps the parts of pages that say what the code says.
package page

import (
	"os"
	"strings"
	"testing"
)

// Keep compares what stands in a file between two texts with what the code says, or, with update, writes it. command is the one that does.
func Keep(t testing.TB, path, open, want, end string, update bool, command string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), open)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place between %q and %q", path, open, end)
	}
	written := before + open + want + end + after
	if written == string(content) {
		return
	}
	if !update {
		t.Fatalf("%s is not what the code says: %s\n%s", path, command, want)
	}
	if err := os.WriteFile(path, []byte(written), 0o644); err != nil { //nolint:gosec // files of the repository are for everybody
		t.Fatal(err)
	}
}

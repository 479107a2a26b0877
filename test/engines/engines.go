// Package engines puts the environments of the engines that are there by default where a server under test looks for them, so that it installs none.
package engines

import (
	"os"
	"path/filepath"
	"testing"

	"reckon/runners/engine/enginetest"
	"reckon/runners/portfolio"
)

// Link makes the environments those of a data folder, as links to the ones that all tests share.
func Link(t testing.TB, data string) {
	t.Helper()
	first := filepath.Join(data, "engine")
	link(t, enginetest.Environment(t), first)
	for _, second := range portfolio.Chosen(portfolio.Default) {
		link(t, enginetest.Of(t, second.Packages), second.Folder(first))
	}
}

func link(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

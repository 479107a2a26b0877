package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"reckon/runners/engine/enginetest"
)

// readmeBlock is a block of commands of the README, marked `<!-- run -->`. Its lines that begin with "# "
// are texts that its output must hold.
type readmeBlock struct {
	commands string
	expected []string
}

func readmeBlocks(t *testing.T) []readmeBlock {
	t.Helper()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const fence = "```sh\n"
	marked := regexp.MustCompile("(?s)<!-- run -->\n```sh\n(.*?)```").FindAllSubmatch(page, -1)
	// The two commands that open the page are the only ones not run here: every test of this package runs the
	// first, and the second is what runs this test. "Working on it" has none.
	if all := strings.Count(string(page), fence); all != len(marked)+1 {
		t.Errorf("README.md has %d blocks of commands; all but the first must be marked to run, %d are", all, len(marked))
	}
	var blocks []readmeBlock
	for _, m := range marked {
		var b readmeBlock
		for line := range strings.Lines(string(m[1])) {
			if text, ok := strings.CutPrefix(line, "# "); ok {
				b.expected = append(b.expected, strings.TrimSpace(text))
			} else {
				b.commands += line
			}
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		t.Fatal("README.md has no block to run")
	}
	return blocks
}

// TestReadme runs what the README tells a newcomer to type, in one shell, against a server with the default settings.
func TestReadme(t *testing.T) {
	if output, err := exec.Command("python3", "-c", "import venv, ensurepip").CombinedOutput(); err != nil {
		t.Skipf("needs Python with venv: %v\n%s", err, output)
	}
	folder := t.TempDir()
	data := filepath.Join(folder, "reckon-data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(enginetest.Environment(t), filepath.Join(data, "engine")); err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(docs, filepath.Join(folder, "docs")); err != nil {
		t.Fatal(err)
	}
	server := Start(t, data)
	const end = "--- end of a block ---"
	blocks := readmeBlocks(t)
	var script strings.Builder
	script.WriteString("set -eu -o pipefail\n")
	for _, b := range blocks {
		script.WriteString(b.commands + "\necho; echo '" + end + "'\n")
	}
	text := replaced(t, script.String(), "localhost:8080", strings.TrimPrefix(server.URL, "http://"), "go run ./cmd/reckon", Binary(t))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", text)
	shell.Dir = folder
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("the README's commands: %v\n%s\n%s", err, output, server.Output())
	}
	answers := strings.Split(string(output), end)
	for i, b := range blocks {
		for _, expected := range b.expected {
			if !strings.Contains(answers[i], expected) {
				t.Errorf("%s\nanswers\n%s\nwithout %s", b.commands, answers[i], expected)
			}
		}
	}
}

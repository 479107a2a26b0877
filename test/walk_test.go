package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reckon/test/sweep"
	"reckon/test/wait"
)

// TestWalkOfProjections builds the repository with the code of docs/projections.md, and no other, and runs the page's test. Nothing is written
// into the tree: the go command is given the files as an overlay.
func TestWalkOfProjections(t *testing.T) {
	t.Parallel()
	sweep.Only(t, "it builds the read side anew")
	page, err := os.ReadFile("../docs/projections.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	o := overlay{root: root, scratch: t.TempDir(), replace: map[string]string{}}
	for _, m := range regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err == nil {
			t.Fatalf("%s exists: the page would replace it", m[1])
		}
		o.add(t, m[1], m[2])
	}
	for _, m := range regexp.MustCompile("(?s)<!-- insert: (\\S+) after (.*?) -->\n```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		text, err := os.ReadFile(filepath.Join(root, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		before, after, found := strings.Cut(string(text), m[2])
		rest, behind, line := strings.Cut(after, "\n")
		if !found || !line {
			t.Fatalf("%s has no %s", m[1], m[2])
		}
		o.add(t, m[1], before+m[2]+rest+"\n"+m[3]+behind)
	}
	if len(o.replace) != 4 {
		t.Fatalf("the page has %d files", len(o.replace))
	}
	lists := filepath.Join(o.scratch, "lists")
	o.run(t, root, "go", "build", "-o", lists, "./internal/lists")
	for _, folder := range []string{"projections", "readapi"} {
		o.add(t, folder+"/list.go", o.list(t, folder, lists))
	}
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(o.scratch, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	said := o.run(t, root, "go", "test", "-overlay", file, "-count=1", "-v", "-run", "^TestFailures$", "./readapi")
	if !strings.Contains(said, "--- PASS: TestFailures") {
		t.Errorf("the page's test did not run:\n%s", said)
	}
}

// overlay is files that the go command sees in place of those of the tree, or beside them.
type overlay struct {
	root, scratch string
	replace       map[string]string // path in the tree → file with the content
}

func (o overlay) add(t *testing.T, path, content string) {
	t.Helper()
	file := filepath.Join(o.scratch, strings.ReplaceAll(path, "/", "_"))
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	o.replace[filepath.Join(o.root, path)] = file
}

// list is what `go generate` writes for a folder with the files of the overlay.
func (o overlay) list(t *testing.T, folder, lists string) string {
	t.Helper()
	copied := t.TempDir()
	files, err := filepath.Glob(filepath.Join(o.root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for path := range o.replace {
		if filepath.Dir(path) == filepath.Join(o.root, folder) {
			files = append(files, path)
		}
	}
	for _, path := range files {
		from := path
		if other, replaced := o.replace[path]; replaced {
			from = other
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, filepath.Base(path)), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o.run(t, copied, lists)
	written, err := os.ReadFile(filepath.Join(copied, "list.go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func (o overlay) run(t *testing.T, folder string, command ...string) (said string) {
	t.Helper()
	ctx, cancel := wait.Whole(t)
	defer cancel()
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Dir = folder
	output, err := process.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return string(output)
}

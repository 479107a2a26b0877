package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/test/binary"
	"reckon/test/engines"
	"reckon/test/need"
	"reckon/test/wait"
)

// pageBlock is a block of commands of a page, marked `<!-- run -->` or with another word. Its lines that begin with "# "
// are texts that its output must hold.
type pageBlock struct {
	commands string
	expected []string
}

// markedBlocks are the blocks of a page that have a mark, and how many blocks of commands it has.
func markedBlocks(t *testing.T, file, mark string) (blocks []pageBlock, all int) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)<!-- "+mark+" -->\n```sh\n(.*?)```").FindAllSubmatch(page, -1) {
		var b pageBlock
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
		t.Fatalf("%s has no block to %s", file, mark)
	}
	return blocks, strings.Count(string(page), "```sh\n")
}

// runBlocks runs the blocks in one shell, in a folder where `reckon` is the command. edit changes the commands before; said is what to
// show beside them when one fails.
func runBlocks(t *testing.T, folder string, said func() string, blocks []pageBlock, edit func(string) string) {
	t.Helper()
	const end = "--- end of a block ---"
	var script strings.Builder
	script.WriteString("set -eu -o pipefail\n")
	for _, b := range blocks {
		script.WriteString(b.commands + "\necho; echo '" + end + "'\n")
	}
	ctx, cancel := wait.Whole(t)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", edit(script.String()))
	shell.Dir = folder
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(binary.Reckon(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("the page's commands: %v\n%s\n%s", err, output, said())
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

// usualFolder is a working folder, and the data folder in it that commands use when none is named, with the engine installed.
func usualFolder(t *testing.T) (working, data string) {
	t.Helper()
	working = t.TempDir()
	data = filepath.Join(working, "reckon-data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	engines.Link(t, data)
	return working, data
}

// TestInspecting runs the blocks of docs/inspecting.md that are marked, which look at a log.
func TestInspecting(t *testing.T) {
	t.Parallel()
	folder, data := usualFolder(t)
	blocks, _ := markedBlocks(t, "../../docs/inspecting.md", "run")
	runBlocks(t, folder, Start(t, data).Output, blocks, func(commands string) string { return commands })
}

// TestDisasterDrill runs the drill of docs/restoring.md: log, signing key and read models are lost in turn, and come back.
func TestDisasterDrill(t *testing.T) {
	t.Parallel()
	runDrill(t, "restoring.md", "drill")
}

// TestMigrationDrill runs the commands of docs/migrating.md, which move the log to another server.
func TestMigrationDrill(t *testing.T) {
	t.Parallel()
	runDrill(t, "migrating.md", "migration")
}

func runDrill(t *testing.T, page, mark string) {
	t.Helper()
	folder, _ := usualFolder(t)
	blocks, _ := markedBlocks(t, filepath.Join("..", "..", "docs", page), mark)
	said := func() string {
		output, err := os.ReadFile(filepath.Join(folder, "serve.log"))
		if err != nil {
			return err.Error()
		}
		return string(output)
	}
	runBlocks(t, folder, said, blocks, func(commands string) string {
		edited := replaced(t, commands, "127.0.0.1:8473", need.Address(t))
		if strings.Contains(edited, "127.0.0.1:8475") {
			edited = replaced(t, edited, "127.0.0.1:8475", need.Address(t))
		}
		return "trap 'kill ${server:-} ${node:-} 2>/dev/null || true' EXIT\n" + edited
	})
}

// TestReadme runs what the README tells a newcomer to type, and the first proof of docs/proofs.md after it, in one shell, against a server with
// the default settings. Nothing is left in the folder.
func TestReadme(t *testing.T) {
	t.Parallel()
	folder, data := usualFolder(t)
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"docs": docs, "reckon": binary.Reckon(t)} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	server := Start(t, data, EveryEngine...)
	blocks, all := markedBlocks(t, "../../README.md", "run")
	// The commands that open the page are the only ones not run here: every test of this package runs the server that make build
	// builds, and make test is what runs this test. "Working on it" has none.
	if all != len(blocks)+1 {
		t.Errorf("README.md has %d blocks of commands; all but the first must be marked to run, %d are", all, len(blocks))
	}
	proof, _ := markedBlocks(t, "../../docs/proofs.md", "run")
	runBlocks(t, folder, server.Output, append(blocks, proof...), func(commands string) string {
		return replaced(t, commands, "localhost:8080", strings.TrimPrefix(server.URL, "http://"))
	})
	leavesOnly(t, folder, "docs", "reckon", "reckon-data")
}

// leavesOnly fails for everything else that the commands of pages have left in the folder in which a reader runs them.
func leavesOnly(t *testing.T, folder string, names ...string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if !slices.Contains(names, entry.Name()) {
			t.Errorf("the pages leave %s in the clone", entry.Name())
		}
	}
}

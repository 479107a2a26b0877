package e2e

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notRun are the blocks of commands that no test runs as they stand, by page and first line, each with what keeps it from that and, where there is
// one, the test that does the same in another way.
var notRun = map[string]map[string]string{
	"README.md":             {"make build": "every test of this package runs what make build builds, and make test runs this"},
	"docs/audit.md":         {"reckon audit --data DIR": "DIR, ID and addresses are the reader's: audit_test.go", "reckon audit --data COPY": "it asks for every verdict again: test/audit", "reckon node export": "DIR and ACCOUNT are the reader's: test/audit/account_test.go"},
	"docs/bursts.md":        {"python3 plot_bursts.py": "it needs pandas and matplotlib"},
	"docs/deploy/README.md": {"cd docs/deploy": "it needs Docker: test/deploy", "useradd": "it makes a user of the machine, and needs systemd: test/deploy"},
	"docs/engine.md":        {"reckon engine status": "it starts every engine: runners/portfolio and cmd/reckon do, one by one"},
	"docs/inspecting.md":    {"reckon try": "TestTry has both forms", "reckon operate": "it serves until Ctrl-C: operate_test.go"},
	"docs/installing.md":    {"reckon serve": "it serves until Ctrl-C: every test of this package starts it so"},
	"docs/monitoring.md":    {"OTEL_EXPORTER_OTLP_ENDPOINT": "it needs a collector: traces_test.go"},
	"docs/node.md":          {"reckon node --init": "nodes serve until Ctrl-C: cmd/reckon", "reckon node users": "its last line is five commands: cmd/reckon/node_users_test.go"},
	"docs/operating.md":     {"reckon serve": "it serves until Ctrl-C, and asks a terminal for a password: TestReadme does the same"},
	"docs/processes.md":     {"reckon node --init": "it needs PostgreSQL: test/processes"},
	"docs/proxy.md":         {"reckon serve": "it needs a proxy: proxy_test.go"},
	"docs/reference.md":     {"reckon reference check": "it evaluates every example, for minutes: test/reference"},
	"docs/signing-keys.md":  {"reckon keys list": "ten minutes lie between its lines: cmd/reckon and test/processes have clocks of their own"},
	"docs/tests.md":         {"RECKON_TEST_EVENTSTORE": "it needs a server of another make"},
	"docs/transparency.md":  {"curl": "it needs a witness: transparency_test.go", "reckon serve": "the same"},
}

// ranElsewhere are the pages whose marked blocks another test of this package runs.
var ranElsewhere = []string{"README.md", "docs/proofs.md", "docs/inspecting.md", "docs/restoring.md", "docs/migrating.md"}

// commandPage is a page whose marked blocks TestPages runs.
type commandPage struct {
	path   string
	before []string          // of each block: commands that make what it takes for granted; the account of one page is closed at a block's end
	edits  map[string]string // words that stand for what is the reader's
}

var commandPages = []commandPage{
	{path: "docs/reference.md"},
	{path: "docs/kernel.md", edits: map[string]string{"FILE": "docs/and_swap.ndjson", "A,B": "and_swap"}},
	{path: "docs/monitoring.md"},
	{path: "docs/read-models.md"},
	{path: "docs/accounts.md", before: []string{"PASSWORD='correct horse battery'\n", "printf '%s\\n' \"$PASSWORD\" | reckon account create someone@example.com --password-stdin\n"}},
	{path: "docs/api/README.md"},
	{path: "docs/bursts.md", before: []string{anEvaluation}},
	{path: "docs/backup.md"},
	{path: "docs/log-format.md", edits: map[string]string{"FOLDER": "TARGET", "DIR": "reckon-data/eventstore", "COPY": "reckon-data/eventstore"}},
}

// anEvaluation is one of an account's own.
const anEvaluation = `
echo 'correct horse battery' | reckon account create you@example.com --password-stdin
TOKEN=$(reckon account token you@example.com --name laptop)
curl -sf localhost:8080/api/evaluate -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"expression":"1+1"}'
`

// TestPages runs the marked blocks of the pages, one after the other in one shell, against one server with the default settings.
func TestPages(t *testing.T) {
	t.Parallel()
	folder, data := usualFolder(t)
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(docs, filepath.Join(folder, "docs")); err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)<!-- run: check_bursts.py -->\n```python\n(.*?)```").FindStringSubmatch(read(t, "docs/bursts.md"))
	if program == nil {
		t.Fatal("docs/bursts.md has no check_bursts.py")
	}
	write(t, filepath.Join(folder, "check_bursts.py"), []byte(program[1]))
	server := Start(t, data)
	var blocks []pageBlock
	for _, page := range commandPages {
		marked, _ := markedBlocks(t, filepath.Join("..", "..", page.path), "run")
		for i := range marked {
			for _, word := range slices.Sorted(maps.Keys(page.edits)) {
				marked[i].commands = replaced(t, marked[i].commands, word, page.edits[word])
			}
			if i < len(page.before) {
				marked[i].commands = page.before[i] + marked[i].commands
			}
		}
		blocks = append(blocks, marked...)
	}
	runBlocks(t, folder, server.Output, blocks, func(commands string) string {
		return replaced(t, commands, "localhost:8080", strings.TrimPrefix(server.URL, "http://"))
	})
	leavesOnly(t, folder, "docs", "reckon-data", "check_bursts.py", "TARGET") // TARGET is what a reader names
}

func read(t *testing.T, page string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestEveryBlockOfCommandsIsRun: each block of a page is marked and on a page that a test runs, or it is in the table with the reason; and the
// table has no other.
func TestEveryBlockOfCommandsIsRun(t *testing.T) {
	t.Parallel()
	pages := []string{"README.md"}
	err := filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			pages = append(pages, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	run := slices.Clone(ranElsewhere)
	for _, page := range commandPages {
		run = append(run, page.path)
	}
	fence := regexp.MustCompile("(?sm)(?:^<!-- ([a-z]+) -->\n)?^```([a-z]*)\n(.*?)^```$")
	command := regexp.MustCompile(`^(?:\./)?(?:reckon|curl|make|go|python3|docker|git|sh) `)
	for _, page := range pages {
		reasons := maps.Clone(notRun[page])
		for _, block := range fence.FindAllStringSubmatch(read(t, page), -1) {
			mark, language, first := block[1], block[2], strings.SplitN(block[3], "\n", 2)[0]
			switch {
			case language == "" && command.MatchString(first):
				t.Errorf("%s: mark as sh the block of %q", page, first)
			case language != "sh":
			case mark != "":
				if !slices.Contains(run, page) {
					t.Errorf("%s has the mark %q, but no test runs that page", page, mark)
				}
			default:
				known := slices.DeleteFunc(slices.Collect(maps.Keys(reasons)), func(begins string) bool { return !strings.HasPrefix(first, begins) })
				if len(known) == 0 {
					t.Errorf("%s: nothing runs the block of %q: mark it <!-- run -->, or give notRun the reason", page, first)
				}
				for _, begins := range known {
					delete(reasons, begins)
				}
			}
		}
		for begins := range reasons {
			t.Errorf("%s has no block that is not run and begins with %q", page, begins)
		}
	}
	for page := range notRun {
		if !slices.Contains(pages, page) {
			t.Errorf("there is no page %s", page)
		}
	}
}

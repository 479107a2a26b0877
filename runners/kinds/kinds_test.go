package kinds_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/job"
	"reckon/runners"
	"reckon/runners/kinds"
	"reckon/test/page"
)

//go:generate go test . -run TestDocsListTheKinds -update

var update = flag.Bool("update", false, "write the table of kinds in docs/jobs.md")

// declared are the kinds; what they are made of does not change what they declare.
func declared() []runners.Kind { return kinds.All(kinds.Parts{}) }

// TestDeclarations: what is declared is complete, and two kinds that share a field mean the same by it.
func TestDeclarations(t *testing.T) {
	names := map[job.Kind]bool{}
	types := map[string]job.FieldType{}
	common := []string{"kind", "timeout_ms", "idempotency_key", "wait_ms"}
	for _, kind := range runners.Submittable(declared()) {
		if kind.Name == "" || names[kind.Name] || kind.Summary == "" || kind.Result == "" || kind.Prepare == nil || len(kind.Fields) == 0 {
			t.Errorf("kind %q: a name of its own, a summary, a result, fields and Prepare are needed", kind.Name)
		}
		names[kind.Name] = true
		for _, f := range kind.Fields {
			if known, given := types[f.Name]; f.Doc == "" || slices.Contains(common, f.Name) || given && known != f.Type {
				t.Errorf("kind %s, field %s: undocumented, a field of every kind, or another kind's with another type", kind.Name, f.Name)
			}
			types[f.Name] = f.Type
			if f.Example != "" && !json.Valid([]byte(f.Example)) {
				t.Errorf("kind %s, field %s: the example is not JSON", kind.Name, f.Name)
			}
		}
		var example struct {
			Kind job.Kind `json:"kind"`
		}
		if kind.Example != "" && (json.Unmarshal([]byte(kind.Example), &example) != nil || example.Kind != kind.Name) {
			t.Errorf("kind %s: the example is not a submission of the kind", kind.Name)
		}
	}
}

// TestTheAuditorKnowsWhatKindsPublish: its own list, by which it finds a submission that says another kind, is that of the kinds.
func TestTheAuditorKnowsWhatKindsPublish(t *testing.T) {
	known := audit.Publications()
	for _, kind := range runners.Submittable(declared()) {
		if publishes, is := known[kind.Name]; !is || publishes != kind.Publishes {
			t.Errorf("kind %s publishes %q, and the auditor takes it for %q", kind.Name, kind.Publishes, publishes)
		}
	}
	if len(known) != len(declared()) {
		t.Errorf("the auditor knows %d kinds", len(known))
	}
}

// TestDocsListTheKinds compares the table in docs/jobs.md.
func TestDocsListTheKinds(t *testing.T) {
	const jobsPage, begin, end = "../../docs/jobs.md", "<!-- kinds -->\n", "<!-- end of kinds -->\n"
	var table strings.Builder
	table.WriteString("| kind | what it does | fields | result | publishes |\n|---|---|---|---|---|\n")
	for _, kind := range runners.Submittable(declared()) {
		var fields []string
		for _, f := range kind.Fields {
			fields = append(fields, "`"+f.Name+"`")
		}
		publishes := string(kind.Publishes)
		if kind.Publishes == job.PublishesNothing {
			publishes = "nothing"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", kind.Name, kind.Summary, strings.Join(fields, " "), kind.Result, publishes)
	}
	page.Keep(t, jobsPage, begin, table.String(), end, *update, "go generate ./runners/kinds")
}

// alsoNamed are the files that may say a kind's name for another reason. Each is needed.
var alsoNamed = map[string]string{
	"internal/tracing/declared.go":        `"evaluate" is the name of a span`,
	"writeapi/evaluate.go":                `"evaluate" is the id and the scope of POST /api/evaluate`,
	"writeapi/proofs.go":                  `"proof": the answer of an elaboration gives the request that has the kernel check the upload`,
	"runners/engine/engine.go":            `"evaluate" is an operation of the engine's worker`,
	"domain/slips/phrases.go":             `"evaluate" is a word of an English question`,
	"domain/job/events.go":                `"evaluate" is in the sample of the golden files, which stay as they were written`,
	"domain/scope/scope.go":               `"evaluate" is a scope`,
	"domain/grant/grant.go":               `"evaluate" is a scope in the sample of the golden files`,
	"domain/token/token.go":               `"evaluate" is a scope in the sample of the golden files`,
	"writeapi/mcpapi/tools.go":            `"evaluate" is a tool; the other two each submit the kind that the interface names for them`,
	"domain/audit/submission.go":          `the auditor's own list of kinds, which a test of this package compares`,
	"domain/audit/audittest/audittest.go": "logs that tests audit have jobs of every kind",
	"readapi/workbench/evaluate.go":       `"evaluate": the name of a page`,
	"readapi/workbench/diagram.go":        `"qsim": the form that a drawing is in`,
	"readapi/workbench/jobs.go":           `"evaluate", "qsim": these have forms and pictures of their own; any other kind is shown as text`,
	"readapi/workbench/proofs.go":         `"proof": the page of uploads submits proofs`,
	"cmd/reckon/main.go":                  `"evaluate" is what other programs call the command try`,
	"writeapi/mcpapi/jobs.go":             `"evaluate": the answer of a job that evaluated is shown as the tool evaluate shows it`,
}

// TestOneFolderNamesAKind: outside its folder no file of the service has a
// kind's name as a string: whatever names kinds is made from the declarations.
func TestOneFolderNamesAKind(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{} // by quoted name
	for _, kind := range declared() {
		of := reflect.TypeOf(kind)
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		folders[strconv.Quote(string(kind.Declare().Name))] = strings.TrimPrefix(of.PkgPath(), "reckon/") + "/"
	}
	files, used := 0, map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "reckon-data" || path == filepath.Join(root, "test")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		ast.Inspect(tree, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			folder, isName := folders[literal.Value]
			switch {
			case !isName || strings.HasPrefix(name, folder):
			case alsoNamed[name] != "":
				used[name] = true
			default:
				t.Errorf("%s says %s; a kind is named in %s only, and what others need of it is in its declaration", name, literal.Value, folder)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("only %d files were read: the walk is wrong", files)
	}
	for name, why := range alsoNamed {
		if !used[name] {
			t.Errorf("%s says no kind's name any more: take it off the list (%s)", name, why)
		}
	}
}

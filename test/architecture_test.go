// Package test holds what is tested across packages. This file is the import
// rules of the house (docs/adr/0002): who may import whom, and which library
// has which one home.
package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "reckon/"

// allowed lists, for the longest matching prefix of a package's path, which
// other packages of the house it may import. Its own subtree is always allowed.
var allowed = map[string][]string{
	"domain":               {"domain/"}, // the catalogue
	"domain/event":         {},
	"domain/decider":       {"domain/event"},
	"domain/account":       {"domain/event", "domain/decider"},
	"domain/audit":         {"domain", "domain/"}, // derives what all of them write
	"domain/billing":       {"domain/event", "domain/decider", "domain/account", "domain/keys", "domain/receipt"},
	"domain/slots":         {"domain/event", "domain/decider", "domain/job"},
	"domain/job":           {"domain/event", "domain/decider"},
	"domain/run":           {"domain/event", "domain/decider"},
	"domain/session":       {"domain/event", "domain/decider"},
	"domain/upload":        {"domain/event", "domain/decider"},
	"domain/certificate":   {"domain/event", "domain/decider", "domain/upload"},
	"domain/burst":         {"domain/event", "domain/run", "domain/job", "domain/certificate"},
	"domain/keys":          {"domain/event", "domain/decider"},
	"domain/scope":         {},
	"domain/grant":         {"domain/event", "domain/decider", "domain/scope"},
	"domain/token":         {"domain/event", "domain/decider", "domain/scope"},
	"domain/runner":        {"domain/event", "domain/decider"},
	"domain/receipt":       {"domain/event", "domain/run"},
	"domain/transparency":  {"domain/event", "domain/decider", "domain/certificate", "domain/keys", "domain/run"},
	"domain/expression":    {},
	"domain/reference":     {"domain/expression"},
	"domain/mathml":        {"domain/expression"},
	"domain/verification":  {"domain/expression"},
	"domain/circuit":       {},
	"domain/lean":          {},
	"commands":             {"domain/", "commands", "internal/tracing"},
	"projections":          {"domain/", "projections", "internal/database", "internal/tracing"},
	"projections/auditor":  {"domain/", "projections", "eventstore", "internal/blobs", "internal/private"}, // reads logs wherever they lie
	"readapi":              {"projections", "domain/", "internal/"},
	"readapi/workbench":    {"domain/", "internal/httpkit", "internal/view"},       // what pages show comes from the routes
	"readapi/operator":     {"domain/", "projections/engine", "readapi/workbench"}, // what pages show comes from the operator's commands
	"writeapi":             {"commands", "domain/", "internal/"},
	"writeapi/mcpapi":      {"domain/event", "internal/auth", "internal/httpkit"}, // what it answers comes from the routes
	"runners":              {"commands", "domain/", "runners/cluster", "runners/fair", "internal/offheap", "internal/private", "internal/statefiles", "internal/tracing", "internal/view"},
	"runners/cluster":      {"commands", "domain/", "internal/tracing"},
	"runners/kinds":        {"commands", "domain/", "runners"},                            // the one place that knows every kind of job
	"runners/reference":    {"commands", "domain", "domain/", "runners", "internal/view"}, // runs jobs of every kind as examples, proofs from the catalogue
	"runners/checker":      {"domain/", "runners/engine", "runners/fair"},
	"runners/workers":      {"runners", "commands", "domain/", "projections", "internal/lifecycle", "internal/tracing"},
	"runners/engine":       {"domain/", "runners/fair", "internal/disk", "internal/private"},
	"runners/fair":         {},
	"eventstore":           {"domain/", "commands", "eventstore", "internal/disk", "internal/httpserver", "internal/openfiles", "internal/passwords", "internal/tracing"},
	"internal/access":      {"domain/scope"},
	"internal/auth":        {"domain/account", "domain/event", "domain/grant", "domain/scope", "domain/token", "internal/access", "internal/httpkit"},
	"internal/blobs":       {"domain/event", "internal/disk"},
	"internal/config":      {"domain/account", "internal/blobs", "internal/supervision"},
	"internal/database":    {"internal/private"},
	"internal/httpkit":     {"domain/event", "internal/access", "internal/database", "internal/httpserver", "internal/ratelimit", "internal/tracing"}, // database: what of it a request may wait for
	"internal/httpserver":  {"internal/openfiles"},
	"internal/identity":    {"domain/scope", "internal/access", "internal/auth", "internal/database", "internal/passwords", "internal/ratelimit"},
	"internal/disk":        {},
	"internal/keyring":     {"domain/keys", "domain/receipt", "internal/disk", "internal/private"},
	"internal/lifecycle":   {},
	"internal/lists":       {},
	"internal/oauth":       {"domain/grant", "domain/scope", "internal/access", "internal/auth", "internal/identity"},
	"internal/offheap":     {},
	"internal/statefiles":  {"internal/disk"},
	"internal/openfiles":   {},
	"internal/passwords":   {},
	"internal/payments":    {},
	"internal/private":     {"internal/disk"},
	"internal/progress":    {},
	"internal/ratelimit":   {},
	"internal/supervision": {},
	"internal/supplychain": {},
	"internal/telemetry":   {},
	"internal/tracing":     {},
	"internal/view":        {"domain/", "internal/httpkit"},
	"internal/verifier":    {"domain/receipt"},
	"internal/witness":     {"domain/transparency", "internal/private"},
	"cmd":                  {""},
	"test":                 {""},
}

// homes lists the libraries that may be imported from few places only.
var homes = map[string][]string{
	"github.com/EventStore/EventStore-Client-Go": {"eventstore"},
	"github.com/cockroachdb/pebble":              {"eventstore/node"},
	"google.golang.org/grpc":                     {"eventstore"},
	"github.com/uptrace/bun":                     {"projections", "internal/identity", "internal/database"}, // the last: the driver only
	"github.com/uptrace/bunrouter":               {"internal/httpkit"},
	"github.com/danielgtaylor/huma":              {"internal/httpkit", "internal/view"},
	"github.com/ThreeDotsLabs/watermill":         {"eventstore", "commands/reactions"},
	"github.com/modelcontextprotocol/go-sdk":     {"writeapi/mcpapi"},
	"github.com/chromedp":                        {"test/browser"},
	"github.com/minio/minio-go":                  {"internal/blobs"},
	"github.com/ory/dockertest":                  {},
	"github.com/alecthomas/kong":                 {"cmd", "internal/config"},
	"github.com/google/licensecheck":             {"internal/supplychain"},
	"github.com/CycloneDX/cyclonedx-go":          {"internal/supplychain"},
	"go.opentelemetry.io":                        {"internal/tracing"},
}

type source struct {
	pkg  string // path below the module
	file string
	test bool
	tree *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	var all []source
	files := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "reckon-data") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		all = append(all, source{pkg: filepath.ToSlash(filepath.Dir(relative)), file: relative, test: strings.HasSuffix(path, "_test.go"), tree: tree})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d Go files found: the walk is wrong", len(all))
	}
	return all
}

// crossPackage says that a package tests several packages of the house together: it may import all of them.
func crossPackage(pkg string) bool { return within(pkg, "test") }

// testKit says that a package exists for tests only and may import test libraries. One that stands beside the package it
// tests (storetest, enginetest) obeys that package's import rule; only a package under test/ may import the whole house.
func testKit(pkg string) bool {
	return crossPackage(pkg) || pkg == "domain/lean/internal/attack" || strings.HasSuffix(pkg[strings.LastIndex(pkg, "/")+1:], "test")
}

// forTestKits are the packages under test/ that import nothing of the house.
var forTestKits = []string{"test/need", "test/proxy", "test/sweep", "test/wait"}

func rule(pkg string) (key string, may []string) {
	for key = pkg; ; key = key[:strings.LastIndex(key, "/")] {
		if may, ok := allowed[key]; ok {
			return key, may
		}
		if !strings.Contains(key, "/") {
			return "", nil
		}
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || crossPackage(s.pkg) {
			continue
		}
		key, may := rule(s.pkg)
		if key == "" {
			t.Errorf("%s: package %s has no import rule; add one", s.file, s.pkg)
			continue
		}
		for _, spec := range s.tree.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			own, ours := strings.CutPrefix(path, module)
			switch {
			case ours && within(own, "cmd") && !within(s.pkg, "cmd"):
				t.Errorf("%s imports %s: only commands and tests import cmd", s.file, path)
			case testKit(s.pkg) && slices.Contains(forTestKits, own):
			case ours && crossPackage(own):
				t.Errorf("%s imports %s: only tests import test/", s.file, path)
			case ours && testKit(own) && !testKit(s.pkg):
				t.Errorf("%s imports %s: only tests import what is for tests", s.file, path)
			case ours && !within(own, key) && !matches(own, may):
				t.Errorf("%s imports %s: %s may import %v", s.file, path, key, may)
			case !ours && strings.HasPrefix(s.pkg, "domain") && !testKit(s.pkg) && strings.Contains(strings.Split(path, "/")[0], "."):
				t.Errorf("%s imports %s: the domain is the standard library only", s.file, path)
			}
			for library, where := range homes {
				if !ours && !testKit(s.pkg) && within(path, library) && !slices.ContainsFunc(where, func(home string) bool { return within(s.pkg, home) }) {
					t.Errorf("%s imports %s: its home is %v", s.file, path, where)
				}
			}
		}
	}
}

// TestPasswordsHaveTheStandardCost: no program hashes them at a cost of its own.
func TestPasswordsHaveTheStandardCost(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || testKit(s.pkg) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if selected, ok := n.(*ast.SelectorExpr); ok && selected.Sel.Name == "Cost" {
				if of, ok := selected.X.(*ast.Ident); ok && of.Name == "passwords" {
					t.Errorf("%s makes a cost of passwords: passwords.Standard is the one", s.file)
				}
			}
			return true
		})
	}
}

// TestRulesNameWhatIsThere: a rule for a package or a library that is gone allows what nobody decided on.
func TestRulesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	all := sources(t)
	exists := func(pkg string) bool {
		return pkg == "" || slices.ContainsFunc(all, func(s source) bool { return within(s.pkg, strings.TrimSuffix(pkg, "/")) })
	}
	imports := func(library, home string) bool {
		return slices.ContainsFunc(all, func(s source) bool {
			return within(s.pkg, home) && slices.ContainsFunc(s.tree.Imports, func(spec *ast.ImportSpec) bool {
				path, _ := strconv.Unquote(spec.Path.Value)
				return within(path, library)
			})
		})
	}
	for pkg, may := range allowed {
		for _, named := range append([]string{pkg}, may...) {
			if !exists(named) {
				t.Errorf("the import rule of %s names %s, which does not exist", pkg, named)
			}
		}
	}
	for library, where := range homes {
		if len(where) == 0 && !slices.ContainsFunc(all, func(s source) bool { return imports(library, s.pkg) }) {
			t.Errorf("there is a rule for %s, which nothing imports", library)
		}
		for _, home := range where {
			if !imports(library, home) {
				t.Errorf("%s is a home of %s and does not import it", home, library)
			}
		}
	}
}

// TestOnlyOperateServesTheOperatorsPages: no other command and no part of the API can have a route to them.
func TestOnlyOperateServesTheOperatorsPages(t *testing.T) {
	t.Parallel()
	const home, pages = "cmd/reckon/operate.go", "readapi/operator"
	found := false
	for _, s := range sources(t) {
		for _, spec := range s.tree.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if s.test || !within(strings.TrimPrefix(path, module), pages) {
				continue
			}
			if found = found || s.file == home; s.file != home {
				t.Errorf("%s imports %s: only %s serves them", s.file, path, home)
			}
		}
	}
	if !found {
		t.Errorf("%s does not import %s", home, pages)
	}
}

// TestNoCircleOfFolders: Go refuses circles of packages; this refuses circles of folders, in which two
// siblings import packages out of each other's subtrees and neither can be understood first.
func TestNoCircleOfFolders(t *testing.T) {
	t.Parallel()
	edges := map[string]map[string]string{} // folder → sibling folder → a file that imports from it
	for _, s := range sources(t) {
		if s.test || testKit(s.pkg) {
			continue
		}
		for _, spec := range s.tree.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			own, ours := strings.CutPrefix(path, module)
			from, to := siblings(s.pkg, own)
			if !ours || from == to || testKit(own) {
				continue
			}
			if edges[from] == nil {
				edges[from] = map[string]string{}
			}
			edges[from][to] = s.file
		}
	}
	state := map[string]int{} // 1: on the way, 2: done
	var walk func(folder string, way []string)
	walk = func(folder string, way []string) {
		if state[folder] == 1 {
			circle := append(way[slices.Index(way, folder):], folder)
			t.Errorf("a circle of folders: %s (for example %s)", strings.Join(circle, " → "), edges[circle[0]][circle[1]])
			return
		}
		if state[folder] == 2 {
			return
		}
		state[folder] = 1
		for _, next := range slices.Sorted(maps.Keys(edges[folder])) {
			walk(next, append(slices.Clone(way), folder))
		}
		state[folder] = 2
	}
	for _, folder := range slices.Sorted(maps.Keys(edges)) {
		walk(folder, nil)
	}
	if len(edges) < 10 {
		t.Fatalf("only %d folders import another: the walk is wrong", len(edges))
	}
}

// siblings are the folders in which two packages part: a/b/c and a/d/e part in a/b and a/d. A package that
// lies above the other has no sibling of it, and both are the same.
func siblings(one, other string) (string, string) {
	a, b := strings.Split(one, "/"), strings.Split(other, "/")
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return strings.Join(a[:n+1], "/"), strings.Join(b[:n+1], "/")
		}
	}
	return one, one
}

func within(pkg, prefix string) bool { return pkg == prefix || strings.HasPrefix(pkg, prefix+"/") }

func matches(pkg string, may []string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		return m == "" || pkg == m || strings.HasSuffix(m, "/") && strings.HasPrefix(pkg, m) || within(pkg, m)
	})
}

// TestDomainIsPure keeps clocks, randomness and I/O out of the domain.
func TestDomainIsPure(t *testing.T) {
	t.Parallel()
	impure := []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "io/ioutil", "syscall", "log", "log/slog", "path/filepath", "database/sql"}
	for _, s := range sources(t) {
		if s.test || testKit(s.pkg) || !strings.HasPrefix(s.pkg, "domain") {
			continue
		}
		if s.tree.Name.Name == "main" {
			continue // a generator run by go generate
		}
		for _, spec := range s.tree.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); slices.Contains(impure, path) {
				t.Errorf("%s imports %s: the domain has no clock, no randomness and no I/O", s.file, path)
			}
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := call.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker"}, call.Sel.Name) {
				t.Errorf("%s calls time.%s: the domain has no clock", s.file, call.Sel.Name)
			}
			return true
		})
	}
}

// TestFuzzTargetsNeverSkip: a target that skips where shared data is absent passes without having tried anything.
func TestFuzzTargetsNeverSkip(t *testing.T) {
	t.Parallel()
	targets := 0
	for _, s := range sources(t) {
		for _, decl := range s.tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !s.test || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			targets++
			fuzz := f.Type.Params.List[0].Names[0].Name
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := call.X.(*ast.Ident)
				if ok && (x.Name == fuzz && strings.HasPrefix(call.Sel.Name, "Skip") || x.Name == "leantest" && (call.Sel.Name == "Dir" || call.Sel.Name == "Files")) {
					t.Errorf("%s: %s calls %s.%s, which may skip it", s.file, f.Name.Name, x.Name, call.Sel.Name)
				}
				return true
			})
		}
	}
	if targets < 10 {
		t.Fatalf("only %d fuzz targets found: the walk is wrong", targets)
	}
}

// TestFoldersAreMadeDurably: a folder that lasts is made by disk.MakeFolder, which syncs the folders above it. Those that are gone with their process, or are
// made again when they are missing, are listed.
func TestFoldersAreMadeDurably(t *testing.T) {
	t.Parallel()
	passing := []string{"eventstore/node/listen.go", "runners/engine/program.go", "runners/engine/environment.go", "runners/elaborate/toolchain.go"}
	for _, s := range sources(t) {
		if s.test || testKit(s.pkg) || s.pkg == "internal/disk" || slices.Contains(passing, s.file) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := call.X.(*ast.Ident); ok && x.Name == "os" && strings.HasPrefix(call.Sel.Name, "Mkdir") && call.Sel.Name != "MkdirTemp" {
				t.Errorf("%s calls os.%s: disk.MakeFolder makes folders that outlast a power failure", s.file, call.Sel.Name)
			}
			return true
		})
	}
}

// TestTestsDoNotSleep: a test that sleeps is too slow on a fast machine and fails on a slow one. In a file that uses synctest time is a bubble's.
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if !s.test && !testKit(s.pkg) || s.pkg == "test/wait" || slices.ContainsFunc(s.tree.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` }) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := call.X.(*ast.Ident); ok && x.Name == "time" && call.Sel.Name == "Sleep" {
				t.Errorf("%s calls time.Sleep: use wait.Until for a condition, wait.Pace for a simulated client's own pace", s.file)
			}
			return true
		})
	}
}

// TestSkipsNameACommand: whoever reads the list of what was skipped reads there what would run it. rapid's own T and fuzz targets skip inputs, not tests.
func TestSkipsNameACommand(t *testing.T) {
	inputs := []string{"eventstore/node/group/model_test.go", "runners/fair/schedule_test.go", "domain/mathml/mathml_test.go", "commands/jobs_test.go", "readapi/readapi_test.go", "domain/receipt/receipt_test.go"}
	for _, s := range sources(t) {
		if s.pkg == "test/need" || slices.Contains(inputs, s.file) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				method, ok := call.Fun.(*ast.SelectorExpr)
				if ok && (method.Sel.Name == "Skipf" || method.Sel.Name == "SkipNow" || method.Sel.Name == "Skip" && len(call.Args) == 1) {
					t.Errorf("%s skips by %s: use package test/need or test/sweep, which name the command that runs it", s.file, method.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestNoInit keeps registries out: whatever exists is in a list someone can read.
func TestNoInit(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, decl := range s.tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && !strings.HasSuffix(s.file, ".pb.go") { // protobuf has a registry
				t.Errorf("%s has an init function", s.file)
			}
		}
	}
}

// TestEveryPackageSaysWhatItIs wants a package comment somewhere in every package.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test || s.pkg == "test" {
			documented[s.pkg] = documented[s.pkg] || s.tree.Doc != nil
		}
	}
	for pkg, has := range documented {
		if !has {
			t.Errorf("package %s has no package comment (doc.go: what it promises and what it never does)", pkg)
		}
	}
}

// TestEveryCommandIsDocumented: what a command promises and which errors it returns stands at its declaration, because HTTP,
// jobs and reactions all rely on it.
func TestEveryCommandIsDocumented(t *testing.T) {
	t.Parallel()
	obvious := []string{"Error", "Unwrap", "Is"} // methods of errors
	declared := 0
	for _, s := range sources(t) {
		if s.test || !within(s.pkg, "commands") {
			continue
		}
		undocumented := func(name string, docs ...*ast.CommentGroup) {
			if ast.IsExported(name) && !slices.Contains(obvious, name) {
				declared++
				if !slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return c != nil }) {
					t.Errorf("%s: %s has no doc comment", s.file, name)
				}
			}
		}
		for _, decl := range s.tree.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				undocumented(d.Name.Name, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						undocumented(spec.Name.Name, spec.Doc, d.Doc)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							undocumented(name.Name, spec.Doc, spec.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	if declared < 100 {
		t.Fatalf("only %d exported names found: the walk is wrong", declared)
	}
}

// TestTopLevel keeps the top level as it was agreed.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	fixed := []string{"domain", "commands", "projections", "readapi", "writeapi", "runners", "eventstore", "cmd", "test", "internal", "docs",
		"go.mod", "go.sum", "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE", "reckon.cdx.json", "reckon-data", "reckon", "dist"}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(fixed, e.Name()) {
			t.Errorf("%s stands at the top level", e.Name())
		}
	}
}

// TestOneWayToServeHTTP: a server made elsewhere would have no limits for slow clients.
func TestOneWayToServeHTTP(t *testing.T) {
	t.Parallel()
	served := 0
	for _, s := range sources(t) {
		if s.test || testKit(s.pkg) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			named, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := named.X.(*ast.Ident); !ok || x.Name != "http" || !slices.Contains([]string{"Server", "Serve", "ServeTLS", "ListenAndServe", "ListenAndServeTLS"}, named.Sel.Name) {
				return true
			}
			if s.pkg == "internal/httpserver" {
				served++
			} else {
				t.Errorf("%s uses http.%s: HTTP is served by internal/httpserver only", s.file, named.Sel.Name)
			}
			return true
		})
	}
	if served == 0 {
		t.Error("internal/httpserver makes no http.Server: the walk is wrong")
	}
}

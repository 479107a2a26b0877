package test

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"maps"
	"reckon/test/page"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	testsPage  = "../docs/tests.md"
	sweepsOpen = "<!-- sweeps: written by go test ./test -run TestSweepsPage -update -->\n"
	sweepsEnd  = "<!-- end of sweeps -->"

	makefile = "../Makefile"
	soakOpen = "# The tests that take their size from test/sweep: written by go test ./test -run TestSweepsPage -update\n"
	soakEnd  = "# end of sweeps\n"
)

// sweeping is what the tests of this tree take from test/sweep.
type sweeping struct {
	rows     []string            // of the table: every call with its amounts, as they are written
	tests    map[string]bool     // names of the tests that come to a call
	packages map[string]bool     // where they are
	calls    map[string][]string // in one package: function → functions of the package that it calls
	size     map[string]bool     // in one package: functions with a call of test/sweep
}

// findSweeps follows the calls inside each package, for a helper may call test/sweep for several tests.
func findSweeps(all []source) *sweeping {
	found := &sweeping{tests: map[string]bool{}, packages: map[string]bool{}}
	byPackage := map[string][]source{}
	for _, s := range all {
		if (s.test || testKit(s.pkg)) && s.pkg != "test/sweep" {
			byPackage[s.pkg] = append(byPackage[s.pkg], s)
		}
	}
	for pkg, files := range byPackage {
		found.calls, found.size = map[string][]string{}, map[string]bool{}
		for _, s := range files {
			for _, decl := range s.tree.Decls {
				found.read(pkg, decl)
			}
		}
		for name := range found.calls {
			if strings.HasPrefix(name, "Test") && found.comesToASize(name, map[string]bool{}) {
				found.tests[name], found.packages["./"+pkg] = true, true
			}
		}
	}
	slices.Sort(found.rows)
	return found
}

// read notes what a function, or a function in a variable, calls.
func (f *sweeping) read(pkg string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		f.readNamed(pkg, d.Name.Name, d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					f.readNamed(pkg, name.Name, v)
				}
			}
		}
	}
}

func (f *sweeping) readNamed(pkg, name string, body ast.Node) {
	f.calls[name] = append(f.calls[name], "")
	ast.Inspect(body, func(n ast.Node) bool {
		if used, ok := n.(*ast.Ident); ok {
			f.calls[name] = append(f.calls[name], used.Name)
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := method.X.(*ast.Ident); !ok || x.Name != "sweep" && x.Name != "amount" {
			return true
		}
		where := fmt.Sprintf("| `%s` | `%s` |", pkg, name)
		switch method.Sel.Name {
		case "Size":
			f.size[name] = true
			f.rows = append(f.rows, fmt.Sprintf("%s `%s` | %s | %s |", where, written(call.Args[1]), written(call.Args[2]), written(call.Args[3])))
		case "Only":
			f.size[name] = true
			f.rows = append(f.rows, fmt.Sprintf("%s | – | all: %s |", where, written(call.Args[1])))
		}
		return true
	})
}

func (f *sweeping) comesToASize(name string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	seen[name] = true
	return f.size[name] || slices.ContainsFunc(f.calls[name], func(next string) bool { return f.comesToASize(next, seen) })
}

func (f *sweeping) table() string {
	return "| package | test or helper | variable | `make test` | whole |\n|---|---|---|---|---|\n" + strings.Join(f.rows, "\n") + "\n"
}

func (f *sweeping) variables() string {
	return "SOAK = " + strings.Join(slices.Sorted(maps.Keys(f.tests)), "|") + "\nSOAKED = " + strings.Join(slices.Sorted(maps.Keys(f.packages)), " ") + "\n"
}

// written is an argument as its source has it, a text without its quotes.
func written(e ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		return err.Error()
	}
	if text, err := strconv.Unquote(b.String()); err == nil {
		return text
	}
	return b.String()
}

// TestSweepsPage keeps the table in docs/tests.md, and what make soak runs, equal to the calls.
func TestSweepsPage(t *testing.T) {
	found := findSweeps(sources(t))
	keepEqual(t, testsPage, sweepsOpen, found.table(), sweepsEnd)
	keepEqual(t, makefile, soakOpen, found.variables(), soakEnd)
}

// keepEqual is page.Keep of what make generate writes.
func keepEqual(t *testing.T, path, open, want, end string) {
	t.Helper()
	page.Keep(t, path, open, want, end, *update, "make generate")
}

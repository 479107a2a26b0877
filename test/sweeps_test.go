package test

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	testsPage  = "../docs/tests.md"
	sweepsOpen = "<!-- sweeps: written by go test ./test -run TestSweepsPage -update -->\n"
	sweepsEnd  = "<!-- end of sweeps -->"
)

// sweepTable lists every call of test/sweep with its amounts, as they are written.
func sweepTable(all []source) string {
	var rows []string
	for _, s := range all {
		if !s.test && !testKit(s.pkg) || s.pkg == "test/sweep" {
			continue
		}
		for _, decl := range s.tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				method, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := method.X.(*ast.Ident); !ok || x.Name != "sweep" {
					return true
				}
				where := fmt.Sprintf("| `%s` | `%s` |", s.pkg, f.Name.Name)
				switch method.Sel.Name {
				case "Size":
					rows = append(rows, fmt.Sprintf("%s `%s` | %s | %s |", where, written(call.Args[1]), written(call.Args[2]), written(call.Args[3])))
				case "Only":
					rows = append(rows, fmt.Sprintf("%s | – | all: %s |", where, written(call.Args[1])))
				}
				return true
			})
		}
	}
	slices.Sort(rows)
	return "| package | test or helper | variable | `make test` | whole |\n|---|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
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

// TestSweepsPage keeps the table in docs/tests.md equal to the calls.
func TestSweepsPage(t *testing.T) {
	page, err := os.ReadFile(testsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), sweepsOpen)
	_, after, ended := strings.Cut(rest, sweepsEnd)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", testsPage)
	}
	want := before + sweepsOpen + sweepTable(sources(t)) + sweepsEnd + after
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the calls say: go test ./test -run TestSweepsPage -update", testsPage)
	}
	if err := os.WriteFile(testsPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

package circuit

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDeclaredFieldsAreThoseRead: the fields that Input and GateInput declare are the cases of the reader's switches over key.
func TestDeclaredFieldsAreThoseRead(t *testing.T) {
	var declared []string
	for _, of := range []reflect.Type{reflect.TypeFor[Input](), reflect.TypeFor[GateInput]()} {
		for _, field := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			declared = append(declared, name)
		}
	}
	read := casesOverKey(t, "parse.go")
	for _, name := range read {
		if !slices.Contains(declared, name) {
			t.Errorf("the reader knows %q, and fields.go does not declare it", name)
		}
	}
	for _, name := range declared {
		if !slices.Contains(read, name) {
			t.Errorf("fields.go declares %q, and the reader does not know it", name)
		}
	}
}

// casesOverKey lists the strings of the cases of every switch over a variable named key.
func casesOverKey(t *testing.T, file string) (names []string) {
	tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		choice, ok := n.(*ast.SwitchStmt)
		if !ok {
			return true
		}
		if over, named := choice.Tag.(*ast.Ident); !named || over.Name != "key" {
			return true
		}
		for _, clause := range choice.Body.List {
			for _, value := range clause.(*ast.CaseClause).List {
				name, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
		return true
	})
	return names
}

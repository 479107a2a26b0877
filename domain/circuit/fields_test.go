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

// TestDeclaredFieldsAreThoseRead: the fields that Input and what it holds declare are the cases of the reader's switches over key.
func TestDeclaredFieldsAreThoseRead(t *testing.T) {
	declared := declaredNames(reflect.TypeFor[Input](), map[reflect.Type]bool{})
	read := append(casesOverKey(t, "parse.go"), casesOverKey(t, "parse_flow.go")...)
	read = append(read, casesOverKey(t, "parse_noise.go")...)
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

// declaredNames lists the JSON names of a type's members and of those of the types it holds.
func declaredNames(of reflect.Type, seen map[reflect.Type]bool) (names []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return nil
	}
	seen[of] = true
	for _, field := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
		names = append(names, declaredNames(field.Type, seen)...)
	}
	return names
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

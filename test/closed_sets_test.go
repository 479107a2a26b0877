package test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// closedSet is a named string type with constants.
type closedSet struct {
	values  []string // of its constants
	allowed []string // by the enum tags of all fields of the type
	listed  int      // values in the literal of the function that lists them all; 0: there is none
}

// notStored are constants that no event and no answer holds.
var notStored = map[string]string{
	"session.EndReason": "cleared", // an event of its own, session.cleared, stands for it
}

// TestEnumTagsAreClosedSets: a field of an event or of the API whose enum tag allows several
// values has a type with constants, and the tag allows no other value; every constant is allowed
// by some field; the function that lists the constants lists them all.
func TestEnumTagsAreClosedSets(t *testing.T) {
	t.Parallel()
	files := map[string]*ast.File{}
	for _, s := range sources(t) {
		if !s.test && !crossPackage(s.pkg) {
			files[s.file] = s.tree
		}
	}
	sets := closedSets(files)
	fields := 0
	for path, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil || len(field.Names) == 0 {
				return true
			}
			allowed, documented := enumOf(field)
			if !documented || len(allowed) == 1 && !strings.HasPrefix(allowed[0], "@") {
				return true // a single value is a constant
			}
			fields++
			name := typeName(path, field.Type)
			set := sets[name]
			if set == nil {
				t.Errorf("%s: %s allows %v and is no closed set: give it a string type with constants", path, field.Names[0].Name, allowed)
				return true
			}
			if strings.HasPrefix(allowed[0], "@") {
				allowed = set.values // the API fills the tag from the list
			}
			for _, value := range allowed {
				if len(set.values) > 0 && !slices.Contains(set.values, value) {
					t.Errorf("%s: the enum tag of %s allows %q, which is no constant of %s", path, field.Names[0].Name, value, name)
				}
			}
			set.allowed = append(set.allowed, allowed...)
			return true
		})
	}
	for name, set := range sets {
		if set.listed > 0 && set.listed != len(set.values) {
			t.Errorf("%s: %d constants, but its list has %d", name, len(set.values), set.listed)
		}
		for _, value := range set.values {
			if len(set.allowed) > 0 && !slices.Contains(set.allowed, value) && notStored[name] != value {
				t.Errorf("%s: no enum tag allows the constant %q", name, value)
			}
		}
	}
	if fields < 25 {
		t.Errorf("only %d fields with an enum tag found: the walk is wrong", fields)
	}
}

// enumOf is the enum tag of a field that is encoded as JSON or read from a query.
func enumOf(field *ast.Field) (allowed []string, documented bool) {
	text, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return nil, false
	}
	tag := reflect.StructTag(text)
	_, asJSON := tag.Lookup("json")
	_, inQuery := tag.Lookup("query")
	enum, has := tag.Lookup("enum")
	return strings.Split(enum, ","), has && (asJSON || inQuery)
}

// typeName is the folder's name and the name of a field's type, such as run.Status. Packages of
// the repository are imported under their folders' names.
func typeName(path string, t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(path, t.X)
	case *ast.ArrayType:
		return typeName(path, t.Elt)
	case *ast.Ident:
		return filepath.Base(filepath.Dir(path)) + "." + t.Name
	case *ast.SelectorExpr:
		if x, ok := t.X.(*ast.Ident); ok {
			return x.Name + "." + t.Sel.Name
		}
	}
	return ""
}

// closedSets finds the string types of the repository, their constants and the functions that list them.
func closedSets(files map[string]*ast.File) map[string]*closedSet {
	sets := map[string]*closedSet{}
	each := func(visit func(path string, decl ast.Decl)) {
		for path, f := range files {
			for _, decl := range f.Decls {
				visit(path, decl)
			}
		}
	}
	each(func(path string, decl ast.Decl) {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			return
		}
		for _, spec := range g.Specs {
			s, _ := spec.(*ast.TypeSpec)
			if base, ok := s.Type.(*ast.Ident); ok && base.Name == "string" {
				sets[typeName(path, s.Name)] = &closedSet{}
			}
		}
	})
	each(func(path string, decl ast.Decl) {
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok != token.CONST {
				return
			}
			for _, spec := range d.Specs {
				s, _ := spec.(*ast.ValueSpec)
				set := sets[typeName(path, s.Type)]
				if set == nil {
					continue
				}
				for _, value := range s.Values {
					if literal, ok := value.(*ast.BasicLit); ok {
						text, _ := strconv.Unquote(literal.Value)
						set.values = append(set.values, text)
					}
				}
			}
		case *ast.FuncDecl:
			if set, n := listOf(path, d, sets); set != nil {
				set.listed = n
			}
		}
	})
	return sets
}

// listOf is the set whose values a function without arguments returns as one literal, and how many it returns.
func listOf(path string, f *ast.FuncDecl, sets map[string]*closedSet) (*closedSet, int) {
	if f.Recv != nil || f.Type.Params.NumFields() > 0 || f.Type.Results.NumFields() != 1 || f.Body == nil || len(f.Body.List) != 1 {
		return nil, 0
	}
	list, ok := f.Type.Results.List[0].Type.(*ast.ArrayType)
	if !ok {
		return nil, 0
	}
	result, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(result.Results) != 1 {
		return nil, 0
	}
	literal, ok := result.Results[0].(*ast.CompositeLit)
	if !ok {
		return nil, 0
	}
	return sets[typeName(path, list.Elt)], len(literal.Elts)
}

package events_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reckon/commands/reactions"
	"reckon/domain"
	"reckon/projections"
)

// parties are who deals with an event type, as the code has it.
type parties struct {
	writers     []string // functions that append it, by file
	projections []string
	reactions   []string
	folds       []string // packages that fold its stream with its decider
	readers     []string // other files that look for it
}

// module is every package of the repository, type-checked from its source.
type module struct {
	set      *token.FileSet
	packages map[string]*checked // by import path
}

type checked struct {
	types *types.Package
	info  *types.Info
	files []*ast.File
}

// loadModule type-checks the repository without its tests. What the packages import comes from the build's own export data.
func loadModule(t *testing.T) *module {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{range .GoFiles}}{{.}} {{end}}", "reckon/cmd/reckon")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	type own struct {
		dir   string
		files []string
	}
	ours := map[string]own{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		exports[fields[0]] = fields[1]
		if strings.HasPrefix(fields[0], "reckon/") {
			ours[fields[0]] = own{fields[2], strings.Fields(fields[3])}
		}
	}
	m := &module{set: token.NewFileSet(), packages: map[string]*checked{}}
	from := importer.ForCompiler(m.set, "gc", func(path string) (io.ReadCloser, error) {
		file, known := exports[path]
		if !known {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(file)
	})
	for path, of := range ours {
		c := &checked{info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
		for _, name := range of.files {
			file, err := parser.ParseFile(m.set, filepath.Join(of.dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			c.files = append(c.files, file)
		}
		if c.types, err = (&types.Config{Importer: from}).Check(path, m.set, c.files, c.info); err != nil {
			t.Fatal(err)
		}
		m.packages[path] = c
	}
	return m
}

// typeName is "path.Name" of a named type or a pointer to one, else "".
func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name()
}

// functions are the declared functions and methods of a package, with their bodies.
func (c *checked) functions() map[types.Object]*ast.FuncDecl {
	all := map[types.Object]*ast.FuncDecl{}
	for _, file := range c.files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				all[c.info.Defs[f.Name]] = f
			}
		}
	}
	return all
}

// decided maps the type name of each command of a domain package to the type names of the events that it may lead to.
func (c *checked) decided(isEvent func(string) bool) map[string]map[string]bool {
	functions, leads := c.functions(), map[string]map[string]bool{}
	var reach func(ast.Node, map[types.Object]bool, map[string]bool)
	reach = func(n ast.Node, seen map[types.Object]bool, found map[string]bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if f := c.info.Uses[id]; f != nil && functions[f] != nil && !seen[f] {
					if f.Name() == "evolve" || f.Name() == "String" {
						return true
					}
					seen[f] = true
					reach(functions[f].Body, seen, found)
				}
			}
			if e, ok := n.(ast.Expr); ok {
				if name := typeName(c.info.Types[e].Type); c.info.Types[e].IsValue() && isEvent(name) {
					found[name] = true
				}
			}
			return true
		})
	}
	add := func(command ast.Expr, body ast.Node) {
		name := typeName(c.info.Types[command].Type)
		if leads[name] == nil {
			leads[name] = map[string]bool{}
		}
		reach(body, map[types.Object]bool{}, leads[name])
	}
	for object, f := range functions {
		if object.Name() != "decide" {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, command := range n.List {
					if tv := c.info.Types[command]; tv.IsType() {
						for _, statement := range n.Body {
							add(command, statement)
						}
					}
				}
			case *ast.IfStmt: // if c, ok := c.(Queue); ok { … }
				if init, ok := n.Init.(*ast.AssignStmt); ok && len(init.Rhs) == 1 {
					if asserted, ok := init.Rhs[0].(*ast.TypeAssertExpr); ok {
						add(asserted.Type, n.Body)
					}
				}
			}
			return true
		})
	}
	return leads
}

// sorting adds the functions of a domain package that return something else for each of several event types, such as job.EndOf.
func (c *checked) sorting(isEvent func(string) bool, sorted map[string][]string) {
	for object, f := range c.functions() {
		declared, ok := object.(*types.Func)
		if !ok || !declared.Exported() || f.Recv != nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if clause, ok := n.(*ast.CaseClause); ok {
				for _, e := range clause.List {
					if tv := c.info.Types[e]; tv.IsType() && isEvent(typeName(tv.Type)) {
						sorted[declared.FullName()] = append(sorted[declared.FullName()], typeName(tv.Type))
					}
				}
			}
			return true
		})
	}
}

// findParties finds who deals with each event type, by its name.
func findParties(t *testing.T) map[string]*parties {
	t.Helper()
	m, catalogue := loadModule(t), domain.Catalogue()
	found, eventOf := map[string]*parties{}, map[string]string{} // Go type name → event name
	for name, declared := range catalogue {
		found[name] = &parties{}
		goType := reflect.TypeOf(declared.Sample)
		eventOf[goType.PkgPath()+"."+goType.Name()] = name
	}
	isEvent := func(goType string) bool { return eventOf[goType] != "" }
	leads := map[string]map[string]bool{} // command → events, by Go type names
	for path, c := range m.packages {
		if strings.HasPrefix(path, "reckon/domain/") {
			maps.Copy(leads, c.decided(isEvent))
		}
	}
	sorted := map[string][]string{} // function of the domain that tells events apart → their Go type names
	for path, c := range m.packages {
		if strings.HasPrefix(path, "reckon/domain/") {
			c.sorting(isEvent, sorted)
		}
	}
	for path, c := range m.packages {
		if strings.HasPrefix(path, "reckon/domain") || path == "reckon/projections" { // these say it themselves
			continue
		}
		for object, f := range c.functions() {
			m.partiesOf(path, c, object, f, leads, sorted, eventOf, found)
		}
	}
	for _, p := range projections.New(nil, nil).All() {
		for _, name := range p.EventNames() {
			found[name].projections = append(found[name].projections, p.Name)
		}
	}
	for _, r := range reactions.All(nil, nil, nil, reactions.Actor{}) {
		for _, name := range r.On {
			found[name].reactions = append(found[name].reactions, r.Name)
		}
	}
	for _, p := range found {
		for _, list := range []*[]string{&p.writers, &p.projections, &p.reactions, &p.folds, &p.readers} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
	}
	return found
}

// partiesOf adds what one function writes and reads.
func (m *module) partiesOf(path string, c *checked, object types.Object, f *ast.FuncDecl, leads map[string]map[string]bool, sorted map[string][]string, eventOf map[string]string, found map[string]*parties) {
	folder := strings.TrimPrefix(path, "reckon/")
	file := folder + "/" + filepath.Base(m.set.Position(f.Pos()).Filename)
	read := func(goType string) {
		if name := eventOf[goType]; name != "" && !strings.HasPrefix(folder, "commands/reactions") {
			found[name].readers = append(found[name].readers, file)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			goType := typeName(c.info.Types[n].Type)
			by := file + " `" + object.Name() + "`"
			if name := eventOf[goType]; name != "" {
				if len(n.Elts) > 0 { // an empty one is asked for its name
					found[name].writers = append(found[name].writers, by)
				} else {
					read(goType)
				}
			}
			for event := range leads[goType] {
				found[eventOf[event]].writers = append(found[eventOf[event]].writers, by)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if tv := c.info.Types[e]; tv.IsType() {
					read(typeName(tv.Type))
				}
			}
		case *ast.CallExpr: // job.EndOf(e)
			if selected, ok := n.Fun.(*ast.SelectorExpr); ok {
				if called, ok := c.info.Uses[selected.Sel].(*types.Func); ok {
					for _, goType := range sorted[called.FullName()] {
						read(goType)
					}
				}
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				read(typeName(c.info.Types[n.Type].Type))
			}
		case *ast.SelectorExpr: // slots.Decider
			if v, ok := c.info.Uses[n.Sel].(*types.Var); ok && v.Name() == "Decider" && v.Pkg() != nil && strings.HasPrefix(v.Pkg().Path(), "reckon/domain/") {
				for goType, name := range eventOf {
					if strings.HasPrefix(goType, v.Pkg().Path()+".") {
						found[name].folds = append(found[name].folds, folder)
					}
				}
			}
		}
		return true
	})
}

// TestEveryEventIsWrittenAndRead: an event that no code appends, or that nothing reads, is a mistake of the code or of this search.
func TestEveryEventIsWrittenAndRead(t *testing.T) {
	for name, p := range everyParty(t) {
		if len(p.writers) == 0 {
			t.Errorf("nothing writes %s", name)
		}
		if len(p.projections)+len(p.reactions)+len(p.folds)+len(p.readers) == 0 {
			t.Errorf("nothing reads %s", name)
		}
	}
	for name, want := range map[string]string{"slots.spent": "commands/submit_job.go `SubmitJob`", "job.queued": "commands/submit_job.go `FinishSubmission`", "job.lost": "commands/job.go `AbandonJob`"} {
		if writers := everyParty(t)[name].writers; !slices.Contains(writers, want) {
			t.Errorf("%s is written by %q and not by %s", name, writers, want)
		}
	}
	if p := everyParty(t)["slots.spent"]; !slices.Contains(p.reactions, "complete_submission") || !slices.Contains(p.folds, "commands") {
		t.Errorf("%+v", p)
	}
	if p := everyParty(t)["job.queued"]; !slices.Contains(p.projections, "queue") {
		t.Errorf("%+v", p)
	}
}

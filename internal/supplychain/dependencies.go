package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dependenciesFile holds the table of what each direct dependency costs. The last
// column, why it stays, is written by hand and kept.
const dependenciesFile = "docs/dependencies.md"

const (
	tableBegin = "<!-- dependencies: written by go generate ./internal/supplychain; the last column by hand -->\n"
	tableEnd   = "<!-- end -->"
	tableHead  = "| module | in the binary | modules behind it | of them its own | size, MB | compiling, s | why it stays |\n|---|---|---:|---:|---:|---:|---|\n"
)

// tolerated is by how much a written size may differ from the measured one (another
// release of Go links a little more or less) before it is written anew.
const tolerated = 0.1

// dependency is a module that go.mod requires directly.
type dependency struct {
	module      string
	linked      bool     // into the binary; else only tests and tools of the repository use it
	behind      []string // modules of others that its packages import, directly or not
	own         []string // those of behind that nothing else imports
	megabytes   float64  // 10^6 bytes of code and data in the binary, of it and own
	compileSecs float64  // CPU seconds of compiling it and own; -1: not measured
	why         string
}

// imported is what go list says of a package and its imports.
type imported struct {
	ImportPath string
	Imports    []string
	Standard   bool
	Module     *struct {
		Path string
		Main bool
	}
}

// importGraph is the packages of a build with those they import.
type importGraph struct {
	imports map[string][]string
	module  map[string]string // of a package of others
	roots   []string          // packages of ours
}

// importsOf lists what packages import, for Linux on amd64 without cgo, so that every machine finds the same.
func importsOf(ctx context.Context, root string, arguments ...string) (importGraph, error) {
	output, err := onPlatform(ctx, root, append([]string{"list", "-deps", "-json=ImportPath,Imports,Standard,Module"}, arguments...)...)
	if err != nil {
		return importGraph{}, err
	}
	g := importGraph{imports: map[string][]string{}, module: map[string]string{}}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p imported
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return g, nil
		case err != nil:
			return g, err
		}
		p.ImportPath = plainPath(p.ImportPath)
		for _, path := range p.Imports {
			g.imports[p.ImportPath] = append(g.imports[p.ImportPath], plainPath(path))
		}
		switch {
		case p.Standard || p.Module == nil:
		case p.Module.Main:
			g.roots = append(g.roots, p.ImportPath)
		default:
			g.module[p.ImportPath] = p.Module.Path
		}
	}
}

// plainPath is a package's path without the test binary it is compiled for.
func plainPath(path string) string {
	path, _, _ = strings.Cut(path, " ")
	return path
}

// onPlatform runs the go command for the one platform that figures are measured on.
func onPlatform(ctx context.Context, root string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	var says bytes.Buffer
	command.Stderr = &says
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, &says)
	}
	return output, nil
}

// reach returns the modules that are reached from packages, without passing through the module without.
func (g importGraph) reach(from []string, without string) map[string]bool {
	modules, seen := map[string]bool{}, map[string]bool{}
	for todo := slices.Clone(from); len(todo) > 0; {
		path := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[path] || without != "" && g.module[path] == without {
			continue
		}
		seen[path] = true
		if m := g.module[path]; m != "" {
			modules[m] = true
		}
		todo = append(todo, g.imports[path]...)
	}
	return modules
}

// cost fills in which modules a dependency brings.
func (g importGraph) cost(d *dependency) {
	var packages []string
	for path, m := range g.module {
		if m == d.module {
			packages = append(packages, path)
		}
	}
	reached, others := g.reach(packages, ""), g.reach(g.roots, d.module)
	for _, m := range slices.Sorted(maps.Keys(reached)) {
		if m == d.module {
			continue
		}
		d.behind = append(d.behind, m)
		if !others[m] {
			d.own = append(d.own, m)
		}
	}
}

// dependencies lists the direct dependencies with the modules they bring, which every machine finds alike.
func dependencies(ctx context.Context, root string) ([]dependency, error) {
	output, err := onPlatform(ctx, root, "list", "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all")
	if err != nil {
		return nil, err
	}
	inBinary, err := importsOf(ctx, root, binary)
	if err != nil {
		return nil, err
	}
	everywhere, err := importsOf(ctx, root, "-test", "./...")
	if err != nil {
		return nil, err
	}
	linked := inBinary.reach(inBinary.roots, "")
	var list []dependency
	for module := range strings.FieldsSeq(string(output)) {
		d := dependency{module: module, linked: linked[module], compileSecs: -1}
		if d.linked {
			inBinary.cost(&d)
		} else {
			everywhere.cost(&d)
		}
		list = append(list, d)
	}
	return list, nil
}

// sizes returns the bytes of code and data in the binary by the path of the module they come from.
func sizes(ctx context.Context, root string) (map[string]int64, error) {
	folder, err := os.MkdirTemp("", "supplychain-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "reckon")
	if _, err := onPlatform(ctx, root, "build", "-o", file, binary); err != nil {
		return nil, err
	}
	output, err := onPlatform(ctx, root, "tool", "nm", "-size", file)
	if err != nil {
		return nil, err
	}
	graph, err := importsOf(ctx, root, binary)
	if err != nil {
		return nil, err
	}
	bytesOf := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // address, size, kind, symbol
		if len(fields) < 4 || !strings.ContainsAny(fields[2], "TtRrDd") {
			continue // undefined, or zeroed memory that the file does not hold
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("go tool nm: %q: %w", lines.Text(), err)
		}
		bytesOf[graph.module[packageOf(strings.Join(fields[3:], " "))]] += size
	}
	return bytesOf, nil
}

// packageOf is the path of the package that a symbol belongs to: all up to the first dot behind the last
// slash of its path. The linker writes a dot in that last element as %2e.
func packageOf(symbol string) string {
	symbol = strings.TrimPrefix(symbol, "go:itab.*")
	head := symbol
	if end := strings.IndexAny(symbol, "[(,"); end >= 0 { // type arguments and receivers hold other paths
		head = symbol[:end]
	}
	slash := strings.LastIndexByte(head, '/')
	dot := strings.IndexByte(head[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	return strings.ReplaceAll(head[:slash+1+dot], "%2e", ".")
}

// compileTimes reads what `go build -a -debug-actiongraph=FILE` wrote: CPU seconds of compiling, by module.
func compileTimes(ctx context.Context, root, file string) (map[string]float64, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var actions []struct {
		Mode, Package   string
		CmdUser, CmdSys int64 // nanoseconds
	}
	if err := json.Unmarshal(content, &actions); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	graph, err := importsOf(ctx, root, binary)
	if err != nil {
		return nil, err
	}
	seconds := map[string]float64{}
	for _, a := range actions {
		if m := graph.module[a.Package]; m != "" && a.Mode == "build" {
			seconds[m] += float64(a.CmdUser+a.CmdSys) / 1e9
		}
	}
	return seconds, nil
}

var tableRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]* \\| [^|]* \\| [^|]* \\| ([^|]*) \\| ([^|]*) \\| ([^|]*) \\|$")

// written reads the figures and reasons that a table holds already, by module.
func written(document string) map[string]dependency {
	rows := map[string]dependency{}
	for _, row := range tableRow.FindAllStringSubmatch(document, -1) {
		d := dependency{module: row[1], compileSecs: -1, why: row[4]}
		d.megabytes, _ = strconv.ParseFloat(row[2], 64)
		if seconds, err := strconv.ParseFloat(row[3], 64); err == nil {
			d.compileSecs = seconds
		}
		rows[d.module] = d
	}
	return rows
}

// measure adds sizes and, where a file of actions is given, compile times. What is written already stays where it is near enough.
func measure(ctx context.Context, root, actions string, list []dependency, before map[string]dependency) error {
	bytesOf, err := sizes(ctx, root)
	if err != nil {
		return err
	}
	seconds := map[string]float64{}
	if actions != "" {
		if seconds, err = compileTimes(ctx, root, actions); err != nil {
			return err
		}
	}
	for n := range list {
		d := &list[n]
		was := before[d.module]
		d.compileSecs = was.compileSecs
		if was.module == "" {
			d.compileSecs = -1
		}
		if !d.linked {
			continue
		}
		all := append([]string{d.module}, d.own...)
		var size int64
		var spent float64
		for _, m := range all {
			size += bytesOf[m]
			spent += seconds[m]
		}
		d.megabytes = float64(size) / 1e6
		if near := was.megabytes; math.Abs(near-d.megabytes) <= max(0.05, tolerated*near) && was.module != "" {
			d.megabytes = near
		}
		if actions != "" {
			d.compileSecs = spent
		}
	}
	return nil
}

// table writes the rows; the reasons are those of before.
func table(list []dependency, before map[string]dependency) string {
	var out strings.Builder
	out.WriteString(tableHead)
	for _, d := range list {
		where, size, seconds := "no", "–", "–"
		if d.linked {
			where, size = "yes", strconv.FormatFloat(d.megabytes, 'f', 1, 64)
			if d.compileSecs >= 0 {
				seconds = strconv.FormatFloat(d.compileSecs, 'f', 0, 64)
			}
		}
		fmt.Fprintf(&out, "| `%s` | %s | %d | %d | %s | %s | %s |\n", d.module, where, len(d.behind), len(d.own), size, seconds, before[d.module].why)
	}
	return out.String()
}

// replaceTable puts a table between the marks of a document.
func replaceTable(document, table string) (string, error) {
	before, rest, found := strings.Cut(document, tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return "", fmt.Errorf("%s has no place for the table, between %q and %q", dependenciesFile, tableBegin, tableEnd)
	}
	return before + tableBegin + table + tableEnd + after, nil
}

// writeDependencies brings the table up to date.
func writeDependencies(ctx context.Context, root, actions string) error {
	file := filepath.Join(root, dependenciesFile)
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	list, err := dependencies(ctx, root)
	if err != nil {
		return err
	}
	before := written(string(document))
	if err := measure(ctx, root, actions, list, before); err != nil {
		return err
	}
	updated, err := replaceTable(string(document), table(list, before))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(updated), 0o644)
}

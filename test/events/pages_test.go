package events_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
)

var update = flag.Bool("update", false, "write docs/events")

const folder = "../../docs/events"

const introduction = `# Events

Every event type of the log, from the declarations in ` + "`domain/`" + ` and from the code that uses them. Written by ` + "`make events`" + `; do not edit. Each kind of stream has a page.

A field's meaning, unit and allowed values are the tags ` + "`doc`, `unit`, `format` and `enum`" + ` of its declaration. A field marked *optional* is left
out when it is empty. A *text* is an object with either ` + "`inline`" + `, the string itself (up to 16,384 bytes), or ` + "`blob`" + `, which names a longer
one in the blob store; a *blob* is ` + "`{sha256, bytes}`" + `: the hash (lower-case hexadecimal) and the size. An *embedded event* is ` + "`{name, v, data}`" + `: an event
that another one carries until it is appended to its own stream. Who did what when stands in the metadata of every event
([below](#metadata)), not in its fields. An event is stored for ever in the version in which it was written; its readers get the newest
(*upcast*).

For programs: [asyncapi.json](asyncapi.json) describes the streams and their events (AsyncAPI 3.0), and ` + "`schemas/NAME.vVERSION.json`" + ` is the JSON Schema (draft-07) of each
version that a log may hold.

`

// page is a generated file below docs/events.
type page struct {
	name    string
	content []byte
}

// TestEventDocs: docs/events is what the declarations and the code say, and holds nothing else.
func TestEventDocs(t *testing.T) {
	expected := map[string]bool{}
	for _, want := range allPages(t) {
		file := filepath.Join(folder, want.name)
		expected[file] = true
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, want.content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.content) {
			t.Errorf("docs/events/%s is not what the declarations say (%v): run `make events`", want.name, err)
		}
	}
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !expected[file] && !isOldSchema(file) {
			t.Errorf("%s describes no event: remove it", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func allPages(t *testing.T) []page {
	pages := append(eventPages(t), schemaPages(t)...)
	pages = append(pages, receiptPage(t))
	return append(pages, page{"asyncapi.json", asyncAPI(t)})
}

// TestEveryFieldOfAnEventHasAMeaning and, if it is a number, a unit.
func TestEveryFieldOfAnEventHasAMeaning(t *testing.T) {
	catalogue, count := domain.Catalogue(), 0
	declared := map[string]reflect.Type{"metadata": reflect.TypeFor[event.Metadata](), "receipt": reflect.TypeFor[receipt.Record]()}
	for _, name := range catalogue.Names() {
		declared[name] = reflect.TypeOf(catalogue[name].Sample)
	}
	for name, of := range declared {
		for _, f := range fieldsOf(of, "") {
			count++
			if f.meaning == "" {
				t.Errorf("%s: %s has no meaning: add a doc tag where it is declared", name, f.path)
			}
			if f.kind == "integer" && f.unit == "" {
				t.Errorf("%s: %s has no unit: end its name in _ms or add a unit tag", name, f.path)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d fields found: the walk is wrong", count)
	}
}

func TestAFieldWithoutAMeaningIsFound(t *testing.T) {
	type inner struct {
		Count int `json:"count"`
	}
	type declared struct {
		inner
		At     string   `json:"at,omitempty" format:"date-time" doc:"When"`
		Status string   `json:"status" enum:"on,off" doc:"How"`
		List   []inner  `json:"list" doc:"Several"`
		Names  []string `json:"names" doc:"Several"`
		TookMS int64    `json:"took_ms" doc:"How long"`
	}
	want := []field{
		{path: "count", kind: "integer"},
		{path: "at", kind: "string", optional: true, unit: "RFC 3339, UTC, milliseconds", meaning: "When"},
		{path: "status", kind: "string", allowed: []string{"on", "off"}, meaning: "How"},
		{path: "list", kind: "list of objects", meaning: "Several"},
		{path: "list[].count", kind: "integer"},
		{path: "names", kind: "list of strings", meaning: "Several"},
		{path: "took_ms", kind: "integer", unit: "milliseconds", meaning: "How long"},
	}
	if got := fieldsOf(reflect.TypeFor[declared](), ""); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

const receiptIntroduction = `# The record of a receipt

Written by ` + "`make events`" + ` from ` + "`domain/receipt`" + `; do not edit. ` + "`reckon verify`" + ` tells whether a key of the service signed a record ([how](../transparency.md#verify-a-receipt)); this page, what it says.
Beside the ` + "`record`" + `, a receipt has of the event [` + "`receipt.sealed`" + `](run.md#receiptsealed) its ` + "`receipt_id` as `id`, `canonical` as `canonical_form`, `signature`, `kid` and `unsigned_reason`" + `,
and the addresses ` + "`keys_url` and `receipt_url`" + `, which no signature covers. The fields of the record are those of [` + "`run.evaluated`" + `](run.md#runevaluated), appended with it; ` + "`reckon audit`" + ` compares them.

| field | type | meaning | allowed values | of ` + "`run.evaluated`" + ` |
|---|---|---|---|---|
`

// receiptPage says of each field of a receipt's record what it means, and which field of the event it is.
func receiptPage(t *testing.T) page {
	t.Helper()
	events := map[string]bool{}
	for _, f := range fieldsOf(reflect.TypeFor[run.Evaluated](), "") {
		events[f.path] = true
	}
	var out bytes.Buffer
	out.WriteString(receiptIntroduction)
	for _, f := range fieldsOf(reflect.TypeFor[receipt.Record](), "") {
		origin, allowed := strings.Replace(f.path, "verification", "check", 1), make([]string, len(f.allowed))
		for i, value := range f.allowed {
			allowed[i] = "`" + value + "`"
		}
		switch {
		case f.path == "v":
			origin = "–"
		case f.path == "stdout_sha256":
			origin = "the hash of `stdout`"
		case !events[origin]:
			t.Errorf("the receipt's %s is no field of run.evaluated: say in receiptPage what it is made of", f.path)
		default:
			origin = "`" + origin + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", f.path, f.kind, f.meaning, strings.Join(allowed, ", "), origin)
	}
	return page{"receipt.md", out.Bytes()}
}

// field is a row of an event's table.
type field struct {
	path     string // names from the event down, joined by dots
	kind     string // as JSON has it
	optional bool
	unit     string
	meaning  string
	allowed  []string
}

// named are the types whose parts are described once for all events.
var named = map[reflect.Type]string{
	reflect.TypeFor[event.Text]():     "text",
	reflect.TypeFor[event.Blob]():     "blob",
	reflect.TypeFor[event.Embedded](): "embedded event",
	reflect.TypeFor[time.Time]():      "string",
}

// formats are what the format tags of events mean.
var formats = map[string]string{
	"date-time": "RFC 3339, UTC, milliseconds",
	"date":      "UTC day, YYYY-MM-DD",
	"uuid":      "UUID",
	"sha256":    "SHA-256, lower-case hexadecimal",
}

// fieldsOf lists the fields of a struct and of the structs in it, in the order they are stored in.
func fieldsOf(t reflect.Type, prefix string) (fields []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			fields = append(fields, fieldsOf(f.Type, prefix)...)
			continue
		}
		row := field{path: prefix + name, optional: strings.Contains(options, "omitempty"), meaning: f.Tag.Get("doc")}
		if allowed := f.Tag.Get("enum"); allowed != "" {
			row.allowed = strings.Split(allowed, ",")
		}
		inside, list := f.Type, false
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		if inside.Kind() == reflect.Slice {
			inside, list = inside.Elem(), true
		}
		row.kind, row.unit = kindOf(inside), unitOf(f.Tag, name)
		if list {
			row.kind = "list of " + row.kind + "s"
		}
		fields = append(fields, row)
		if inside.Kind() == reflect.Struct && named[inside] == "" {
			if list {
				row.path += "[]"
			}
			fields = append(fields, fieldsOf(inside, row.path+".")...)
		}
	}
	return fields
}

func kindOf(t reflect.Type) string {
	if name := named[t]; name != "" {
		return name
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Struct:
		return "object"
	}
	panic(fmt.Sprintf("no name for a field of %v: add it to kindOf", t))
}

func unitOf(tag reflect.StructTag, name string) string {
	switch {
	case tag.Get("unit") != "":
		return tag.Get("unit")
	case tag.Get("format") != "":
		return formats[tag.Get("format")]
	case strings.HasSuffix(name, "_ms"):
		return "milliseconds"
	case name == "bytes":
		return "bytes"
	}
	return ""
}

// table writes the fields of an event.
func table(out *bytes.Buffer, fields []field) {
	out.WriteString("| field | type | unit or form | meaning | allowed values |\n|---|---|---|---|---|\n")
	for _, f := range fields {
		kind, allowed := f.kind, make([]string, len(f.allowed))
		if f.optional {
			kind += ", optional"
		}
		for i, value := range f.allowed {
			allowed[i] = "`" + value + "`"
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s | %s |\n", f.path, kind, f.unit, strings.ReplaceAll(f.meaning, "|", "\\|"), strings.Join(allowed, ", "))
	}
}

// eventPages are the list and a page for each package of the domain that declares events.
func eventPages(t *testing.T) []page {
	catalogue, parties := domain.Catalogue(), everyParty(t)
	var list bytes.Buffer
	list.WriteString(introduction)
	list.WriteString("## Metadata\n\nOf every event, as [metadata.v1.json](schemas/metadata.v1.json). Who an agent of [bursts](../bursts.md#what-counts) is, is made of three of these.\n\n")
	table(&list, fieldsOf(reflect.TypeFor[event.Metadata](), ""))
	list.WriteString("\n## Types\n\n| event | version | stream | meaning |\n|---|---|---|---|\n")
	bodies := map[string]*bytes.Buffer{}
	for _, name := range catalogue.Names() {
		declared := catalogue[name]
		goType := reflect.TypeOf(declared.Sample)
		kind := path.Base(goType.PkgPath())
		says := meaning(t, goType)
		fmt.Fprintf(&list, "| [`%s`](%s.md#%s) | %d | `%s` | %s |\n", name, kind, anchor(name), declared.Version, streamOf(t, declared), says)
		body := bodies[kind]
		if body == nil {
			body = &bytes.Buffer{}
			fmt.Fprintf(body, "# Events of %s\n\nWritten by `make events` from `domain/%s`; do not edit. What the words mean: [README.md](README.md).\n", kind, kind)
			bodies[kind] = body
		}
		writeEvent(t, body, declared, says, parties[name])
	}
	pages := []page{{"README.md", list.Bytes()}}
	for _, kind := range slices.Sorted(maps.Keys(bodies)) {
		pages = append(pages, page{kind + ".md", bodies[kind].Bytes()})
	}
	return pages
}

func anchor(name string) string { return strings.ReplaceAll(name, ".", "") }

// writeEvent writes the part of a page that is about one type.
func writeEvent(t *testing.T, out *bytes.Buffer, declared event.Type, says string, by *parties) {
	t.Helper()
	fmt.Fprintf(out, "\n## %s\n\nVersion %d: %s. Stream `%s`.\n\n", declared.Name, declared.Version, says, streamOf(t, declared))
	table(out, fieldsOf(reflect.TypeOf(declared.Sample), ""))
	lists := []struct {
		name, of string
		list     []string
	}{
		{"Written by", "", by.writers}, {"Projections", "", by.projections}, {"Reactions", "", by.reactions},
		{"Folded by", "", by.folds}, {"Looked for by", "", by.readers},
	}
	out.WriteString("\n| | |\n|---|---|\n")
	for _, l := range lists {
		if len(l.list) > 0 {
			fmt.Fprintf(out, "| %s | %s |\n", l.name, strings.Join(l.list, ", "))
		}
	}
	schemas := make([]string, declared.Version)
	for i := range schemas {
		schemas[i] = fmt.Sprintf("[version %d](schemas/%s.v%d.json)", i+1, declared.Name, i+1)
	}
	fmt.Fprintf(out, "| JSON Schema | %s |\n", strings.Join(schemas, ", "))
	for version := 1; version <= declared.Version; version++ {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, bytes.TrimSpace(golden(t, declared.Name, version)), "", "  "); err != nil {
			t.Fatal(err)
		}
		of := "Example:"
		if version < declared.Version {
			of = fmt.Sprintf("Version %d, which older logs hold:", version)
		}
		fmt.Fprintf(out, "\n%s\n\n```json\n%s\n```\n", of, pretty.Bytes())
	}
}

// golden is the stored example of a version.
func golden(t *testing.T, name string, version int) []byte {
	t.Helper()
	stored, err := os.ReadFile(fmt.Sprintf("../../domain/testdata/events/%s.v%d.json", name, version))
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// streamOf names the streams that hold a type: a constant of its package whose value begins the type's name, or what the package's
// function Stream makes of its arguments, such as job-{jobID}.
func streamOf(t *testing.T, declared event.Type) string {
	t.Helper()
	pkg := reflect.TypeOf(declared.Sample).PkgPath()
	kind, _, _ := strings.Cut(declared.Name, ".")
	named := ""
	for _, file := range parsePackage(t, pkg) {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					spec, ok := s.(*ast.ValueSpec)
					if !ok || len(spec.Values) != 1 || !strings.HasSuffix(spec.Names[0].Name, "Stream") {
						continue
					}
					if value := nameParts(spec.Values[0]); value == kind || value == kind+"s" {
						return value
					}
				}
			case *ast.FuncDecl:
				if d.Name.Name == "Stream" && d.Recv == nil {
					if made, ok := d.Body.List[0].(*ast.ReturnStmt); ok {
						named = nameParts(made.Results[0])
					}
				}
			}
		}
	}
	if named == "" {
		t.Fatalf("%s has no stream", declared.Name)
	}
	return named
}

// nameParts is the text of a stream's name: literals as they are, variables in braces.
func nameParts(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			return ""
		}
		return text
	case *ast.Ident:
		return "{" + e.Name + "}"
	case *ast.BinaryExpr:
		return nameParts(e.X) + nameParts(e.Y)
	case *ast.CallExpr:
		return nameParts(e.Args[0])
	}
	return ""
}

// parsePackage is the source of a package of the repository, without its tests.
func parsePackage(t *testing.T, pkg string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", strings.TrimPrefix(pkg, "reckon/"), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// everyParty is findParties, once for all tests.
func everyParty(t *testing.T) map[string]*parties {
	t.Helper()
	partiesOnce.Do(func() { partiesFound = findParties(t) })
	if partiesFound == nil {
		t.Fatal("who writes and reads events was not found")
	}
	return partiesFound
}

var (
	partiesOnce  sync.Once
	partiesFound map[string]*parties
)

// meaning is the first sentence of the Go type's comment, without the type's name.
func meaning(t *testing.T, goType reflect.Type) string {
	t.Helper()
	for _, parsed := range parsePackage(t, goType.PkgPath()) {
		for _, d := range parsed.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range decl.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok || spec.Name.Name != goType.Name() {
					continue
				}
				for _, comment := range []*ast.CommentGroup{spec.Doc, spec.Comment, decl.Doc} {
					if comment != nil {
						return firstSentence(comment.Text(), goType.Name())
					}
				}
			}
		}
	}
	t.Errorf("%v has no comment that says what it means", goType)
	return ""
}

func firstSentence(comment, name string) string {
	text := strings.Join(strings.Fields(comment), " ")
	text, _, _ = strings.Cut(text, ". ")
	text = strings.TrimPrefix(strings.TrimSuffix(text, "."), name+" ")
	return strings.ReplaceAll(text, "|", "\\|")
}

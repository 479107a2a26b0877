package domain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reckon/domain"
	"reckon/domain/event"
)

const docsFile = "../docs/events/README.md"

const docsIntroduction = `# Events

Every event type of the log, from the declarations in ` + "`domain/`" + `. Written by ` + "`make events`" + `; do not edit.

A field's meaning, unit and allowed values are the tags ` + "`doc`, `unit`, `format` and `enum`" + ` of its declaration. A field marked *optional* is left
out when it is empty. A *text* is an object with either ` + "`inline`" + `, the string itself (up to 16,384 bytes), or ` + "`blob`" + `, which names a longer
one in the blob store; a *blob* is ` + "`{sha256, bytes}`" + `: the hash (lower-case hexadecimal) and the size. An *embedded event* is ` + "`{name, v, data}`" + `: an event
that another one carries until it is appended to its own stream. Who did what when stands in the metadata of every event
(` + "`domain/event`, `Metadata`" + `), not in its fields.

`

// TestEventDocs: docs/events is what the declarations say.
func TestEventDocs(t *testing.T) {
	want := docs(t, domain.Catalogue())
	if *update {
		if err := os.MkdirAll(filepath.Dir(docsFile), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, docsFile, want)
	}
	if got, err := os.ReadFile(docsFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/events/README.md is not what the declarations say (%v): run `make events`", err)
	}
}

// TestEveryFieldOfAnEventHasAMeaning and, if it is a number, a unit.
func TestEveryFieldOfAnEventHasAMeaning(t *testing.T) {
	catalogue, count := domain.Catalogue(), 0
	for _, name := range catalogue.Names() {
		for _, f := range fieldsOf(reflect.TypeOf(catalogue[name].Sample), "") {
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
	case reflect.Int, reflect.Int64:
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

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func docs(t *testing.T, catalogue event.Catalogue) []byte {
	var list, events bytes.Buffer
	list.WriteString(docsIntroduction + "| event | version | meaning | declared in |\n|---|---|---|---|\n")
	for _, name := range catalogue.Names() {
		declared := catalogue[name]
		goType := reflect.TypeOf(declared.Sample)
		folder := strings.TrimPrefix(goType.PkgPath(), "reckon/")
		says := meaning(t, goType)
		fmt.Fprintf(&list, "| [`%s`](#%s) | %d | %s | `%s` |\n", name, strings.ReplaceAll(name, ".", ""), declared.Version, says, folder)
		var pretty bytes.Buffer
		_, data, err := catalogue.Encode(declared.Sample)
		if err == nil {
			err = json.Indent(&pretty, data, "", "  ")
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&events, "\n## %s\n\nVersion %d: %s.\n\n", name, declared.Version, says)
		table(&events, fieldsOf(goType, ""))
		fmt.Fprintf(&events, "\n```json\n%s\n```\n", pretty.Bytes())
	}
	list.Write(events.Bytes())
	return list.Bytes()
}

// meaning is the first sentence of the Go type's comment, without the type's name.
func meaning(t *testing.T, goType reflect.Type) string {
	t.Helper()
	folder := strings.TrimPrefix(goType.PkgPath(), "reckon/domain/")
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
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
	t.Errorf("%s.%s has no comment that says what it means", folder, goType.Name())
	return ""
}

func firstSentence(comment, name string) string {
	text := strings.Join(strings.Fields(comment), " ")
	text, _, _ = strings.Cut(text, ". ")
	text = strings.TrimPrefix(strings.TrimSuffix(text, "."), name+" ")
	return strings.ReplaceAll(text, "|", "\\|")
}

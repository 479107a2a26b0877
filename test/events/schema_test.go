package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"reckon/domain"
	"reckon/domain/event"
)

const draft = "http://json-schema.org/draft-07/schema#"

// ordered is a JSON object whose members keep their order.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := event.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := event.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// schemaFile is the path of a version's schema below docs/events.
func schemaFile(name string, version int) string {
	return fmt.Sprintf("schemas/%s.v%d.json", name, version)
}

// isOldSchema tells whether a file is the schema of a version that is not written any more. Like a golden file it stands for events that
// exist: it is what was generated when the version was the newest, and nothing writes it again.
func isOldSchema(file string) bool {
	for name, declared := range domain.Catalogue() {
		for version := 1; version < declared.Version; version++ {
			if file == filepath.Join(folder, schemaFile(name, version)) {
				return true
			}
		}
	}
	return false
}

// schemaPages are the schemas of the newest version of each type, and of the metadata.
func schemaPages(t *testing.T) []page {
	t.Helper()
	var pages []page
	for _, name := range domain.Catalogue().Names() {
		declared := domain.Catalogue()[name]
		pages = append(pages, page{schemaFile(name, declared.Version), schemaOf(t, fmt.Sprintf("%s version %d", name, declared.Version), reflect.TypeOf(declared.Sample))})
	}
	return append(pages, page{"schemas/metadata.v1.json", schemaOf(t, "metadata of an event", reflect.TypeFor[event.Metadata]())})
}

func schemaOf(t *testing.T, title string, of reflect.Type) []byte {
	t.Helper()
	return indentJSON(t, append(ordered{{"$schema", draft}, {"title", title}}, objectSchema(of)...))
}

func indentJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := event.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// objectSchema describes a struct. A version has these members and no others: another one is another version.
func objectSchema(of reflect.Type) ordered {
	properties, required := members(of)
	schema := ordered{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		schema = append(schema, member{"required", required})
	}
	return append(schema, member{"additionalProperties", false})
}

func members(of reflect.Type) (properties ordered, required []string) {
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner, needed := members(f.Type)
			properties, required = append(properties, inner...), append(required, needed...)
			continue
		}
		optional := strings.Contains(options, "omitempty")
		if !optional {
			required = append(required, name)
		}
		schema := valueSchema(f.Type, f.Tag, !optional)
		if unit := unitOf(f.Tag, name); unit != "" && f.Tag.Get("format") == "" {
			schema = append(ordered{{"$comment", "unit: " + unit}}, schema...)
		}
		if says := f.Tag.Get("doc"); says != "" {
			schema = append(ordered{{"description", says}}, schema...)
		}
		properties = append(properties, member{name, schema})
	}
	return properties, required
}

// patterns are what the format tags mean, where JSON Schema's own formats say less.
var patterns = map[string]string{
	"date-time": `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$`,
	"date":      `^\d{4}-\d{2}-\d{2}$`,
	"uuid":      `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`,
	"sha256":    `^[0-9a-f]{64}$`,
}

// valueSchema describes a field. always: it stands in the JSON without a value too, as null where its type has no other empty value.
func valueSchema(of reflect.Type, tag reflect.StructTag, always bool) ordered {
	nullable := false
	if of.Kind() == reflect.Pointer {
		of, nullable = of.Elem(), always
	}
	typed := func(name string) member {
		if nullable {
			return member{"type", []string{name, "null"}}
		}
		return member{"type", name}
	}
	switch {
	case of == reflect.TypeFor[json.RawMessage]():
		return ordered{}
	case of.PkgPath() == "time" && of.Name() == "Time":
		return ordered{typed("string"), {"pattern", patterns["date-time"]}}
	case of.Kind() == reflect.Slice:
		nullable = nullable || always
		return ordered{typed("array"), {"items", valueSchema(of.Elem(), tag, true)}}
	case of.Kind() == reflect.Struct:
		schema := objectSchema(of)
		schema[0] = typed("object")
		return schema
	case of.Kind() == reflect.Bool:
		return ordered{typed("boolean")}
	case of.Kind() == reflect.Int, of.Kind() == reflect.Int64, of.Kind() == reflect.Uint64:
		return ordered{typed("integer")}
	case of.Kind() == reflect.String:
		schema := ordered{typed("string")}
		if allowed := tag.Get("enum"); allowed != "" {
			values := []any{}
			for value := range strings.SplitSeq(allowed, ",") {
				values = append(values, value)
			}
			if nullable {
				values = append(values, nil)
			}
			schema = append(schema, member{"enum", values})
		}
		if pattern := patterns[tag.Get("format")]; pattern != "" {
			schema = append(schema, member{"pattern", pattern})
		}
		return schema
	}
	panic(fmt.Sprintf("no schema for a field of %v: add it to valueSchema", of))
}

// readSchema reads a schema that lies in docs/events.
func readSchema(t *testing.T, file string) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatalf("%v: run `make events`; the schema of a version that is not the newest is kept from when it was", err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return resolved
}

// TestGoldenEventsFitTheirSchemas: every version that a log may hold has a schema, which its example fits and what differs from it does not.
func TestGoldenEventsFitTheirSchemas(t *testing.T) {
	checked := 0
	for name, declared := range domain.Catalogue() {
		for version := 1; version <= declared.Version; version++ {
			schema := readSchema(t, schemaFile(name, version))
			var example map[string]any
			if err := json.Unmarshal(golden(t, name, version), &example); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(example); err != nil {
				t.Errorf("%s version %d: %v", name, version, err)
			}
			for member := range example {
				changed := map[string]any{}
				for key, value := range example {
					changed[key] = value
				}
				changed[member] = map[string]any{"another": "type"}
				if schema.Validate(changed) == nil {
					t.Errorf("%s version %d may have an object of another kind as %s", name, version, member)
				}
				checked++
			}
			example["and_more"] = 1
			if schema.Validate(example) == nil {
				t.Errorf("%s version %d may have any member", name, version)
			}
			if len(schema.Schema().Required) > 0 && schema.Validate(map[string]any{}) == nil {
				t.Errorf("%s version %d may be empty", name, version)
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d members were tried", checked)
	}
}

func TestMetadataFitTheirSchema(t *testing.T) {
	schema := readSchema(t, "schemas/metadata.v1.json")
	for text, fits := range map[string]bool{
		`{"v":1,"at":"2026-08-01T12:00:00Z"}`:                                                      true,
		`{"v":1,"at":"2026-08-01T12:00:00.5Z","$correlationId":"x","actor":"token:t","source":""}`: true,
		`{"at":"2026-08-01T12:00:00Z"}`:                                                            false,
		`{"v":1,"at":"2026-08-01T12:00:00Z","song":1}`:                                             false,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}

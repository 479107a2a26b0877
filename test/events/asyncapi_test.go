package events_test

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"reckon/domain"
)

// inName finds the parts of a stream's name that vary.
var inName = regexp.MustCompile(`\{(\w+)\}`)

// asyncAPI describes the streams as channels, their events as messages, and who writes and reads as operations of the service.
func asyncAPI(t *testing.T) []byte {
	t.Helper()
	catalogue, by := domain.Catalogue(), everyParty(t)
	type channel struct {
		name     string
		address  string
		messages ordered
		reads    map[string][]any // by projection or reaction
	}
	var channels []*channel
	byAddress, messages := map[string]*channel{}, ordered{}
	ref := func(to string) ordered { return ordered{{"$ref", to}} }
	for _, name := range catalogue.Names() {
		declared := catalogue[name]
		address := streamOf(t, declared)
		c := byAddress[address]
		if c == nil {
			kind, _, _ := strings.Cut(address, "-")
			c = &channel{name: kind, address: address, reads: map[string][]any{}}
			byAddress[address] = c
			channels = append(channels, c)
		}
		c.messages = append(c.messages, member{name, ref("#/components/messages/" + name)})
		goType := reflect.TypeOf(declared.Sample)
		var example any
		if err := json.Unmarshal(golden(t, name, declared.Version), &example); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, member{name, ordered{
			{"name", name}, {"title", name}, {"summary", meaning(t, goType)}, {"contentType", "application/json"},
			{"headers", ref("schemas/metadata.v1.json")}, {"payload", ref(schemaFile(name, declared.Version))},
			{"examples", []any{ordered{{"payload", example}}}},
		}})
		for _, p := range by[name].projections {
			c.reads["projection_"+p] = append(c.reads["projection_"+p], ref("#/channels/"+c.name+"/messages/"+name))
		}
		for _, r := range by[name].reactions {
			c.reads["reaction_"+r] = append(c.reads["reaction_"+r], ref("#/channels/"+c.name+"/messages/"+name))
		}
	}
	described, operations := ordered{}, ordered{}
	for _, c := range channels {
		of := ordered{{"address", c.address}, {"messages", c.messages}}
		if parts := inName.FindAllStringSubmatch(c.address, -1); len(parts) > 0 {
			parameters := ordered{}
			for _, part := range parts {
				parameters = append(parameters, member{part[1], ordered{{"description", "part of the stream's name"}}})
			}
			of = append(of, member{"parameters", parameters})
		}
		described = append(described, member{c.name, of})
		operations = append(operations, member{"append_" + c.name, ordered{{"action", "send"}, {"channel", ref("#/channels/" + c.name)}}})
		for _, reader := range slices.Sorted(maps.Keys(c.reads)) {
			operations = append(operations, member{reader + "_" + c.name, ordered{{"action", "receive"}, {"channel", ref("#/channels/" + c.name)}, {"messages", c.reads[reader]}}})
		}
	}
	return indentJSON(t, ordered{
		{"asyncapi", "3.0.0"},
		{"info", ordered{
			{"title", "Reckon's event log"}, {"version", "1"},
			{"description", "The streams of the log and their events. A channel is a kind of stream, a message an event type in its newest version, the headers are the event's metadata. Written by `make events`."},
			{"license", ordered{{"name", "Apache-2.0"}}},
		}},
		{"defaultContentType", "application/json"},
		{"channels", described}, {"operations", operations},
		{"components", ordered{{"messages", messages}}},
	})
}

// TestAsyncAPI: the document fits the schema that the AsyncAPI initiative publishes for version 3.0.0, and what it refers to exists.
func TestAsyncAPI(t *testing.T) {
	text, err := os.ReadFile("testdata/asyncapi-3.0.0.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	schema.Schema = draft // the file writes it without its #
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(asyncAPI(t), &document); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(document); err != nil {
		t.Error(err)
	}
	refs := 0
	var follow func(v any)
	follow = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if to, ok := v["$ref"].(string); ok {
				refs++
				if !refExists(document, to) {
					t.Errorf("nothing is at %s", to)
				}
			}
			for _, inner := range v {
				follow(inner)
			}
		case []any:
			for _, inner := range v {
				follow(inner)
			}
		}
	}
	follow(document)
	if refs < 2*len(domain.Catalogue()) {
		t.Errorf("only %d references", refs)
	}
	for _, broken := range []func(){
		func() { document["asyncapi"] = "2.0.0" },
		func() { document["asyncapi"] = "3.0.0"; delete(document, "info") },
	} {
		if broken(); resolved.Validate(document) == nil {
			t.Error("a broken document fits")
		}
	}
}

func refExists(document map[string]any, to string) bool {
	inside, ok := strings.CutPrefix(to, "#/")
	if !ok {
		_, err := os.Stat(path.Join(folder, to))
		return err == nil
	}
	var at any = document
	for part := range strings.SplitSeq(inside, "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return false
		}
		at = object[part]
	}
	return at != nil
}

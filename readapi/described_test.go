package readapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"reckon/test/apitest"
)

// documented is what the description says of itself to people.
type documented struct {
	Paths map[string]map[string]struct {
		Description string
		Parameters  []struct{ Name, Description string }
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct{ Description string }
		}
	}
}

// units are the endings of names that promise a unit, and the word a description must have then.
var units = map[string]string{"_ms": "millisecond", "_seconds": "second", "bytes": "byte"}

// undocumented lists what a reader of the description must guess, and counts what it saw.
func (d documented) undocumented() (missing []string, seen int) {
	check := func(what, name, description string) {
		seen++
		if description == "" {
			missing = append(missing, what+" has no description")
		}
		for ending, unit := range units {
			if strings.HasSuffix(name, ending) && !strings.Contains(description, unit) {
				missing = append(missing, what+" does not say that it counts "+unit+"s")
			}
		}
	}
	for path, methods := range d.Paths {
		for method, operation := range methods {
			check(method+" "+path, "", operation.Description)
			for _, parameter := range operation.Parameters {
				check(method+" "+path+": parameter "+parameter.Name, parameter.Name, parameter.Description)
			}
		}
	}
	for name, schema := range d.Components.Schemas {
		for _, property := range slices.Sorted(maps.Keys(schema.Properties)) {
			check(name+"."+property, property, schema.Properties[property].Description)
		}
	}
	slices.Sort(missing)
	return missing, seen
}

func TestEveryOperationParameterAndPropertyIsDescribed(t *testing.T) {
	t.Parallel()
	var d documented
	if err := json.Unmarshal(apitest.Share(t).Do(t, http.MethodGet, "/openapi.json", "").OK(t).Body, &d); err != nil {
		t.Fatal(err)
	}
	missing, seen := d.undocumented()
	for _, what := range missing {
		t.Error(what)
	}
	if seen < 400 {
		t.Errorf("only %d found: the walk is wrong", seen)
	}
}

func TestAMissingDescriptionIsNamed(t *testing.T) {
	t.Parallel()
	const description = `{
		"paths": {"/a": {"get": {"parameters": [{"name": "wait_ms", "description": "How long"}, {"name": "q"}]}}},
		"components": {"schemas": {"A": {"properties": {"bytes": {"description": "Size in bytes"}, "idle_seconds": {"description": "Idle time"}, "x": {}}}}}}`
	var d documented
	if err := json.Unmarshal([]byte(description), &d); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"A.idle_seconds does not say that it counts seconds", "A.x has no description",
		"get /a has no description", "get /a: parameter q has no description", "get /a: parameter wait_ms does not say that it counts milliseconds",
	}
	if missing, seen := d.undocumented(); !slices.Equal(missing, want) || seen != 6 {
		t.Errorf("%d seen, missing %q", seen, missing)
	}
}

package httpkit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

type judged struct {
	Name   string `json:"name" minLength:"1" maxLength:"3"`
	Number int64  `json:"number,omitempty" minimum:"1" maximum:"9"`
	List   []struct {
		Word  string   `json:"word" enum:"a,b"`
		Words []string `json:"words,omitempty" minItems:"1" maxItems:"2"`
	} `json:"list,omitempty" maxItems:"600000"`
	Free map[string]any `json:"free,omitempty"`
}

func judgedSchema(t *testing.T) (huma.Registry, *huma.Schema) {
	t.Helper()
	configureHuma()
	schemas := huma.NewMapRegistry(schemaPrefix, schemaName)
	return schemas, schemas.Schema(reflect.TypeFor[judged](), true, "")
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestFaultsAreHumas: what is told is what huma.Validate tells.
func TestFaultsAreHumas(t *testing.T) {
	t.Parallel()
	schemas, schema := judgedSchema(t)
	for _, text := range []string{
		`{"name":"x"}`, `{}`, `null`, `[]`, `1`, `{"name":""}`, `{"name":null}`, `{"name":"long"}`, `{"name":1,"number":"1"}`, `{"name":"x","number":10}`, `{"name":"x","number":1.5}`,
		`{"name":"x","number":null}`, `{"name":"x","list":{}}`, `{"name":"x","list":[1,{},{"word":"c"},{"word":"a","words":[]},{"word":"a","words":["1","2",3]}]}`,
		`{"Name":"x"}`, `{"name":"x","zz":1,"a":2}`, `{"name":"x","free":{"a":[1]}}`, `{"name":"x","free":1}`, `{"name":"x","list":[{"word":"a","q":1}]}`,
	} {
		all := &huma.ValidateResult{}
		path := huma.NewPathBuffer(nil, 0)
		path.Push("body")
		huma.Validate(schemas, schema, path, huma.ModeWriteToServer, decoded(t, text), all)
		want, got := fieldErrors(all.Errors), fieldErrors(faultsIn(schemas, schema, decoded(t, text)))
		if !slices.Equal(want, got) {
			t.Errorf("%s:\ngot  %v\nwant %v", text, got, want)
		}
	}
}

// TestManyFaults: the faults of the largest bodies are bounded in number, the same each time, and cost no work for each of them.
func TestManyFaults(t *testing.T) {
	schemas, schema := judgedSchema(t)
	var unknown []string
	for i := range 100_000 {
		unknown = append(unknown, fmt.Sprintf(`"%x":1`, i))
	}
	for name, text := range map[string]string{
		"unknown fields":       "{" + strings.Join(unknown, ",") + "}",
		"wrong elements":       `{"name":"x","list":[` + strings.Repeat("1,", 500_000) + `1]}`,
		"elements with faults": `{"name":"x","list":[` + strings.Repeat(`{"word":1,"x":2},`, 60_000) + `1]}`,
		"wrong words":          `{"name":"x","list":[{"word":"a","words":[` + strings.Repeat("1,", 500_000) + `1]}]}`,
	} {
		body := decoded(t, text)
		first, second := fieldErrors(faultsIn(schemas, schema, body)), fieldErrors(faultsIn(schemas, schema, body))
		if len(first) != maxFaults || !slices.Equal(first, second) {
			t.Errorf("%s: %d faults, then %d: %v", name, len(first), len(second), first[0])
		}
		if allocations := testing.AllocsPerRun(3, func() { faultsIn(schemas, schema, body) }); allocations > 500 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

package writeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"reckon/domain/job"
	"reckon/internal/httpkit"
)

// Declared is what the kinds of job add to the API: their names, what their
// results hold, and the problems that they alone have.
func Declared(kinds job.Declarations) httpkit.Declared {
	var results, waiting []string
	var problems []httpkit.Kind
	for _, kind := range kinds {
		results = append(results, fmt.Sprintf("%s: %s", kind.Name, kind.Result))
		if kind.Waits {
			waiting = append(waiting, string(kind.Name))
		}
		for _, refusal := range kind.Refusals {
			if refusal.Title != "" {
				problems = append(problems, httpkit.Kind{Code: refusal.Code, Status: http.StatusBadRequest, Title: refusal.Title, Help: refusal.Help})
			}
		}
	}
	var statuses []string
	for _, status := range job.Statuses() {
		statuses = append(statuses, string(status))
	}
	names := kinds.Names()
	return httpkit.Declared{
		Kinds: problems,
		Sets:  map[string][]string{"job_kinds": names, "job_statuses": statuses},
		Texts: map[string]string{
			"job_results": strings.Join(results, ". "), "job_kinds_list": alternatives(names), "job_kinds_waiting": strings.Join(waiting, ", "),
		},
	}
}

// alternatives lists names as a sentence does; the first is the default: "a (default), b or c".
func alternatives(names []string) string {
	list := append([]string{names[0] + " (default)"}, names[1:]...)
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// fieldSchemas describes the fields that not every kind of job takes.
func fieldSchemas(kinds job.Declarations) map[string]*httpkit.Schema {
	schemas := map[string]*httpkit.Schema{}
	for _, f := range kinds.Fields() {
		schema := fieldSchema(f.Type)
		var takers []string
		for _, kind := range f.Kinds {
			takers = append(takers, string(kind))
		}
		schema.Description = strings.Join(takers, ", ")
		if f.Required {
			schema.Description += ", required"
		}
		schema.Description += ": " + f.Doc
		if f.Example != "" {
			schema.Examples = []any{json.RawMessage(f.Example)}
		}
		schemas[f.Name] = schema
	}
	return schemas
}

// fieldSchema gives the type only: what a value may be is judged after a job of the same key was looked for.
func fieldSchema(t job.FieldType) *httpkit.Schema {
	switch t {
	case job.Integer:
		return &httpkit.Schema{Type: httpkit.TypeInteger, Format: "int64"}
	case job.Texts:
		return &httpkit.Schema{Type: httpkit.TypeArray, Items: &httpkit.Schema{Type: httpkit.TypeString}}
	case job.Object:
		return &httpkit.Schema{Type: httpkit.TypeObject, AdditionalProperties: true}
	case job.Text, job.UUID:
	}
	return &httpkit.Schema{Type: httpkit.TypeString}
}

// refusalKinds are the problems that submissions of some kind may be answered with.
func refusalKinds(api *httpkit.API, kinds job.Declarations) []httpkit.Kind {
	var list []httpkit.Kind
	for _, kind := range kinds {
		for _, refusal := range kind.Refusals {
			list = append(list, api.Kind(refusal.Code))
		}
	}
	return list
}

package writeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"reckon/domain/circuit"
	"reckon/domain/job"
	"reckon/domain/scope"
	"reckon/domain/slips"
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
	names := kinds.Names()
	return httpkit.Declared{
		Kinds:  problems,
		Unions: []httpkit.Union{jobUnion(kinds)},
		Sets:   map[string][]string{"job_kinds": names, "job_statuses": texts(job.Statuses()), "scopes": texts(scope.All())},
		Words:  map[string][]string{"Suggestion.code": texts(slips.Codes), "CircuitGateInput.gate": circuit.GateNames()},
		Texts: map[string]string{
			"job_results": strings.Join(results, ". "), "job_kinds_list": alternatives(names), "job_kinds_waiting": strings.Join(waiting, ", "),
		},
	}
}

// jobUnion says what a job of each kind has, as it is answered.
func jobUnion(kinds job.Declarations) httpkit.Union {
	union := httpkit.Union{Schemas: []string{"Job", "JobReceipt"}, Field: "kind"}
	for _, kind := range kinds {
		variant := httpkit.UnionVariant{Prefix: capitalised(string(kind.Name)), Value: string(kind.Name)}
		if kind.Publishes != job.PublishesRun {
			variant.Lacks = append(variant.Lacks, "run_id")
		}
		if kind.Publishes != job.PublishesCertificate {
			variant.Lacks = append(variant.Lacks, "certificate_id", "certificate_url")
		}
		if !slices.ContainsFunc(kind.Fields, func(f job.Field) bool { return f.Name == "session_id" }) {
			variant.Lacks = append(variant.Lacks, "session_id")
		}
		if kind.ResultType != nil {
			variant.Types = map[string]reflect.Type{"result": kind.ResultType}
		}
		union.Variants = append(union.Variants, variant)
	}
	return union
}

// capitalised begins a name as those of schemas begin.
func capitalised(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// texts are words as strings.
func texts[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
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
			list = append(list, atSubmission(api.Kind(refusal.Code)))
		}
	}
	return list
}

// atSubmission is a kind of problem as a submission is answered with it: 422 is for what was evaluated.
func atSubmission(kind httpkit.Kind) httpkit.Kind {
	if kind.Status == http.StatusUnprocessableEntity {
		return kind.WithStatus(http.StatusBadRequest)
	}
	return kind
}

// bodyVariants describes the body of a submission of each kind: its own fields, what is
// required of them and what they may be.
func bodyVariants(api *httpkit.API, kinds job.Declarations) *httpkit.BodyVariants {
	variants := &httpkit.BodyVariants{Name: "JobSubmission", Field: "kind", Named: "JobSubmissionByKind"}
	for i, kind := range kinds {
		name := string(kind.Name)
		schema := submissionSchema(api, kind)
		if i == 0 {
			variants.Unnamed = httpkit.BodyVariant{Name: "DefaultSubmission", Schema: submissionSchema(api, kind)}
			variants.Unnamed.Schema.Properties["kind"] = &httpkit.Schema{Type: "null", Description: "Left out or null: a job of kind " + name}
			variants.Unnamed.Schema.Description += ". Without kind it is of kind " + name
		}
		schema.Properties["kind"] = &httpkit.Schema{Type: httpkit.TypeString, Enum: []any{name}, Description: "The kind of job"}
		schema.Required = append(schema.Required, "kind")
		variants.List = append(variants.List, httpkit.BodyVariant{Name: capitalised(name) + "Submission", Value: name, Schema: schema})
	}
	return variants
}

// submissionSchema describes a submission of a kind but for the field kind.
func submissionSchema(api *httpkit.API, kind job.Declaration) *httpkit.Schema {
	schema := &httpkit.Schema{Type: httpkit.TypeObject, AdditionalProperties: false, Description: "A job that " + kind.Summary, Properties: map[string]*httpkit.Schema{
		"timeout_ms":      {Type: httpkit.TypeInteger, Format: "int64", Minimum: new(1.0), Description: "Time budget in milliseconds; the plan's when left out, never more than the plan's"},
		"idempotency_key": {Type: httpkit.TypeString, MinLength: new(1), MaxLength: new(maxIdempotencyKeyBytes), Description: "1 to 255 bytes of your own. A job of yours with this key is answered instead of a new one, whatever else the body says"},
	}}
	for _, f := range kind.Fields {
		schema.Properties[f.Name] = constrainedField(api, f)
		if f.Required {
			schema.Required = append(schema.Required, f.Name)
		}
	}
	if kind.Waits {
		schema.Properties["wait_ms"] = &httpkit.Schema{Type: httpkit.TypeInteger, Format: "int64", Minimum: new(0.0), Description: "Hold the request up to this many milliseconds until the job has ended; more than 25000 is 25000"}
	}
	if len(kind.Either) > 0 { // in words: of alternatives in a schema that has properties too, generators of clients make types without these
		schema.Description += ". Exactly one of " + strings.Join(kind.Either, ", ") + " is given"
	}
	return schema
}

// constrainedField describes a field with all that is known of what it may be.
func constrainedField(api *httpkit.API, f job.Field) *httpkit.Schema {
	schema := fieldSchema(f.Type)
	if f.Shape != nil {
		schema = api.SchemaOf(f.Shape)
	}
	schema.Description = capitalised(f.Doc)
	schema.Pattern = f.Pattern
	if f.Least != nil {
		schema.Minimum = new(float64(*f.Least))
	}
	if f.Example != "" {
		schema.Examples = []any{json.RawMessage(f.Example)}
	}
	switch f.Type {
	case job.UUID:
		schema.Format = "uuid"
	case job.Text:
		schema.MinLength = new(1)
		if f.Most > 0 {
			schema.MaxLength = &f.Most
		}
	case job.Texts:
		schema.MinItems, schema.Items.MinLength, schema.UniqueItems = new(1), new(1), true
		if f.Most > 0 {
			schema.MaxItems = &f.Most
		}
	case job.Integer, job.Object:
	}
	return schema
}

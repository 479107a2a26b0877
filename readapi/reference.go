package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"reckon/domain/reference"
	"reckon/domain/slips"
	"reckon/internal/httpkit"
)

// Bounds of the reference's routes.
const (
	maxSupportNames = 100
	mostSuggestions = 5
)

// kindAsked is which kind of entry a search wants.
type kindAsked string

const (
	functionsAsked kindAsked = "function"
	tasksAsked     kindAsked = "task"
	anyAsked       kindAsked = "any"
)

type searchReferenceInput struct {
	Query  string           `query:"q" maxLength:"200" doc:"What is looked for: a name, the beginning of one, what another system calls it, or words. Left out: everything, by name" example:"np.linalg.eig"`
	Kind   kindAsked        `query:"kind" enum:"function,task,any" default:"any" doc:"function: symbols of the language; task: how-tos that name symbols"`
	Status reference.Status `query:"status" enum:"supported,divergent,blocked,unsupported" doc:"Only rows of this status"`
	Limit  int              `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most rows to answer"`
	Offset int              `query:"offset" minimum:"0" maximum:"100000" default:"0" doc:"Rows to leave out"`
}

type searchReferenceOutput struct {
	Body struct {
		Rows   []ReferenceRow `json:"rows" doc:"Best first; names that work before those that do not"`
		Total  int            `json:"total" doc:"Number of rows found in all"`
		Limit  int            `json:"limit" doc:"As asked"`
		Offset int            `json:"offset" doc:"As asked"`
	}
}

// ReferenceRow is a row of the reference; exported as Freshness is.
type ReferenceRow struct {
	Name    string           `json:"name" doc:"Name of the symbol, or what the task does"`
	Kind    reference.Kind   `json:"kind" enum:"function,task" doc:"Whether it is a symbol or a task"`
	Status  reference.Status `json:"status" enum:"supported,divergent,blocked,unsupported" doc:"Derived from examples that the engine in force was run on; availability.json defines it"`
	Summary string           `json:"summary" doc:"What it is, in a sentence"`
	Tags    []string         `json:"tags" doc:"Areas it belongs to"`
	URL     string           `json:"url" doc:"Address of the entry"`
}

type symbolInput struct {
	Name string `path:"name" maxLength:"100" doc:"Name of the symbol, as it is written, or of a task" example:"Integrate"`
}

type symbolOutput struct{ Body symbol }

// symbol is an entry of the reference.
type symbol struct {
	ReferenceRow
	Reason      *string         `json:"reason" doc:"Why it has its status; null where its examples say it"`
	Usage       []usageForm     `json:"usage" doc:"Forms in which it is called"`
	Examples    []symbolExample `json:"examples" doc:"As the engine in force answered them"`
	Attributes  []string        `json:"attributes" doc:"In the language"`
	SeeAlso     []string        `json:"see_also" doc:"Other symbols; of a task those it is done with"`
	Elsewhere   []string        `json:"elsewhere" doc:"What other systems call it"`
	SinceEngine *string         `json:"since_engine" doc:"Revision of the engine since which it is supported; null while it is not"`
	Notes       []string        `json:"notes" doc:"What one should know"`
}

type usageForm struct {
	Form  string `json:"form" doc:"The call" example:"Sin[z]"`
	About string `json:"about" doc:"What it gives"`
}

type symbolExample struct {
	Input      string   `json:"input" doc:"Expression, or the request that submits a job"`
	Output     string   `json:"output" doc:"What the engine in force answered; -Graphics- stands for a picture. Of a job the members of its result that expected names"`
	Messages   []string `json:"messages" doc:"What the engine said with it; the first three"`
	Verified   bool     `json:"verified" doc:"True if the answer is right, as basis says; false if it is not known to be"`
	Expected   string   `json:"expected" doc:"What is right"`
	Source     string   `json:"source" doc:"Where that comes from"`
	Basis      *string  `json:"basis" doc:"What verified rests on; null without"`
	Difference *string  `json:"difference" doc:"How the answer differs from what is right, or why nothing is known; null if it is right"`
	CheckedAt  string   `json:"checked_at" format:"date" doc:"UTC day on which it was run"`
}

type supportInput struct {
	Names string `query:"names" required:"true" minLength:"1" maxLength:"8000" doc:"Names of symbols, at most 100, separated by commas" example:"Sin,Plot3D"`
}

type supportOutput struct {
	Body struct {
		Symbols []support `json:"symbols" doc:"In the order of names"`
	}
}

type support struct {
	Name        string           `json:"name" doc:"As it was asked for"`
	Status      reference.Status `json:"status" enum:"supported,divergent,blocked,unsupported" doc:"unsupported also where there is no such symbol"`
	Known       bool             `json:"known" doc:"Whether there is a symbol of this name"`
	Suggestions []string         `json:"suggestions,omitempty" doc:"Of a name that is not known: those that it resembles"`
}

// availability is what is known of every symbol.
type availability struct {
	CheckedAt string                   `json:"checked_at" format:"date" doc:"UTC day on which the engine was run"`
	Engine    reference.Program        `json:"engine" doc:"The engine in force then"`
	Counts    map[reference.Status]int `json:"counts" doc:"Number of symbols by status"`
	Statuses  []reference.Definition   `json:"statuses" doc:"What each status means"`
	Rows      []availabilityRow        `json:"rows" doc:"A row for each symbol, by name"`
}

type availabilityRow struct {
	Name             string           `json:"name" doc:"Name of the symbol"`
	Status           reference.Status `json:"status" enum:"supported,divergent,blocked,unsupported" doc:"See statuses"`
	Forms            []string         `json:"forms" doc:"Forms in which it is called; empty where nobody has written an entry"`
	VerifiedExamples int              `json:"verified_examples" doc:"Number of examples that the engine in force answered rightly, with another answer than the input"`
}

type fixedOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s Services) registerReference(api *httpkit.API) {
	about := s.Reference
	route := func(path, id, summary, description string) httpkit.Route {
		return httpkit.Route{Method: http.MethodGet, Path: path, ID: id, Tag: "Reference", Summary: summary, Description: description, PublicFor: docsFor}
	}
	httpkit.Handle(api, route("/api/docs/search", "search-reference", "Search the function reference",
		"Ranked; finds beginnings and misspelt words, so that it can be asked at each key. Statuses are derived from examples that the engine in force was run on."),
		func(_ context.Context, in *searchReferenceInput) (*searchReferenceOutput, error) {
			return searchReference(about, in), nil
		})
	get := route("/api/docs/symbol/{name}", "get-symbol", "One entry of the function reference",
		"With every example as the engine in force answered it, what is right, and where the two differ.")
	get.Kinds = []httpkit.Kind{httpkit.NoSuchSymbol}
	httpkit.Handle(api, get, func(_ context.Context, in *symbolInput) (*symbolOutput, error) { return getSymbol(about, in) })
	httpkit.Handle(api, route("/api/docs/support", "get-support", "Status of some symbols", "For programs that ask before they evaluate."),
		func(_ context.Context, in *supportInput) (*supportOutput, error) { return supportOf(about, in) })
	all := route("/api/docs/availability.json", "get-availability", "Status of every symbol", "Counts, what the statuses mean, and a row for each symbol.")
	all.FixedBody, all.ContentType, all.Answer = true, "application/json", reflect.TypeFor[availability]()
	rendered := renderAvailability(about)
	httpkit.Handle(api, all, func(context.Context, *struct{}) (*fixedOutput, error) {
		return &fixedOutput{ContentType: "application/json", Body: rendered}, nil
	})
}

func searchReference(about *reference.Reference, in *searchReferenceInput) *searchReferenceOutput {
	query := reference.Query{Text: in.Query, Status: in.Status, Limit: in.Limit, Offset: in.Offset}
	if in.Kind != anyAsked {
		query.Kind = reference.Kind(in.Kind)
	}
	rows, total := about.Find(query)
	out := &searchReferenceOutput{}
	out.Body.Rows, out.Body.Total, out.Body.Limit, out.Body.Offset = make([]ReferenceRow, len(rows)), total, in.Limit, in.Offset
	for i, row := range rows {
		out.Body.Rows[i] = symbolRowOf(about, row)
	}
	return out
}

func symbolRowOf(about *reference.Reference, row reference.Row) ReferenceRow {
	return ReferenceRow{
		Name: row.Name, Kind: row.Kind, Status: row.Status, Summary: about.Summary(row), Tags: about.Tags(row), URL: "/api/docs/symbol/" + url.PathEscape(row.Name),
	}
}

func getSymbol(about *reference.Reference, in *symbolInput) (*symbolOutput, error) {
	row, entry, ok := about.Lookup(in.Name)
	if !ok {
		return nil, noSuchSymbol(about, in.Name)
	}
	shown := symbol{
		ReferenceRow: symbolRowOf(about, row), Reason: orNull(row.Why()), SinceEngine: orNull(row.Since), Attributes: append([]string{}, row.Attributes...),
		Usage: []usageForm{}, Examples: []symbolExample{}, SeeAlso: []string{}, Elsewhere: []string{}, Notes: []string{},
	}
	if entry == nil {
		return &symbolOutput{shown}, nil
	}
	for _, usage := range entry.Usage {
		shown.Usage = append(shown.Usage, usageForm{usage.Form, usage.About})
	}
	shown.SeeAlso = append(append(shown.SeeAlso, entry.See...), entry.Symbols...)
	shown.Elsewhere, shown.Notes = append(shown.Elsewhere, entry.Elsewhere...), append(shown.Notes, entry.Notes...)
	for i, ran := range row.Examples {
		right := entry.Examples[i].Right
		shown.Examples = append(shown.Examples, symbolExample{
			Input: ran.Input, Output: ran.Output, Messages: append([]string{}, ran.Messages...), Verified: ran.State == reference.StateRight,
			Expected: right.Text, Source: right.Source, Basis: orNull(ran.Basis), Difference: orNull(ran.Difference), CheckedAt: about.CheckedAt,
		})
	}
	return &symbolOutput{shown}, nil
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// noSuchSymbol is the problem for a name that the reference has not, with those that are probably meant.
func noSuchSymbol(about *reference.Reference, name string) error {
	problem := httpkit.NoSuchSymbol.Problem("the reference has no %q", name)
	for _, meant := range about.Suggest(name, mostSuggestions) {
		problem.Suggestions = append(problem.Suggestions, httpkit.Suggestion{
			Code: string(slips.Name), Message: "did you mean " + meant + "?", Replacement: meant, Range: httpkit.Range{Start: 0, End: utf8.RuneCountInString(name)},
		})
	}
	return problem
}

func supportOf(about *reference.Reference, in *supportInput) (*supportOutput, error) {
	names := strings.Split(in.Names, ",")
	if len(names) > maxSupportNames {
		return nil, httpkit.InvalidParameter.Problem("names has %d names, at most %d are answered: /api/docs/availability.json has all", len(names), maxSupportNames).
			WithField("query.names", fmt.Sprintf("more than %d names", maxSupportNames))
	}
	out := &supportOutput{}
	for _, name := range names {
		one := support{Name: strings.TrimSpace(name), Status: reference.Unsupported}
		if row, _, ok := about.Lookup(one.Name); ok && row.Kind == reference.Function {
			one.Status, one.Known = row.Status, true
		} else if one.Name != "" {
			one.Suggestions = about.Suggest(one.Name, mostSuggestions)
		}
		out.Body.Symbols = append(out.Body.Symbols, one)
	}
	return out, nil
}

// renderAvailability makes the one answer that all clients share.
func renderAvailability(about *reference.Reference) []byte {
	all := availability{CheckedAt: about.CheckedAt, Engine: about.Engine, Counts: about.Count(reference.Function), Statuses: reference.Definitions()}
	for _, row := range about.Rows {
		if row.Kind == reference.Function {
			all.Rows = append(all.Rows, availabilityRow{row.Name, row.Status, about.Forms(row), row.Right})
		}
	}
	rendered, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts and numbers
	}
	return rendered
}

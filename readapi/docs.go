package readapi

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"reckon/internal/httpkit"
)

const docsFor = 24 * time.Hour

type pageOutput struct {
	ContentType string `header:"Content-Type"`
	Policy      string `header:"Content-Security-Policy"`
	Body        []byte
}

// pagePolicy: the pages run and load only what this service serves, and talk to nobody else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// dataPolicy: what is no page runs and loads nothing.
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

// serveDocs serves the description of every route registered before it, as JSON, as a page and for agents, and the page
// of error codes.
func (s Services) serveDocs(api *httpkit.API) error {
	description, err := api.OpenAPI()
	if err != nil {
		return err
	}
	shown, err := readReference(description)
	if err != nil {
		return err
	}
	reference, err := render("pages/reference.html", shown)
	if err != nil {
		return err
	}
	told := agents{described: shown, Base: s.PublicURL, Groups: groupsOf(shown.Operations), Plans: s.Plans, Kinds: api.Kinds(), Tools: s.Tools, Revisions: s.Revisions}
	llms, err := told.write("llms.txt", llmsText)
	if err != nil {
		return err
	}
	agentsPage, err := told.write("agents.md", agentsText)
	if err != nil {
		return err
	}
	errorCodes, err := render("pages/errors.html", api.Kinds())
	if err != nil {
		return err
	}
	script, err := pages.ReadFile("pages/reference.js")
	if err != nil {
		return err
	}
	style, err := pages.ReadFile("pages/reference.css")
	if err != nil {
		return err
	}
	document := func(path, id, contentType, policy string, body []byte) {
		httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: path, ID: id, PublicFor: docsFor, FixedBody: true, ContentType: contentType},
			func(context.Context, *struct{}) (*pageOutput, error) {
				return &pageOutput{ContentType: contentType, Policy: policy, Body: body}, nil
			})
	}
	document("/openapi.json", "openapi", "application/json", dataPolicy, description)
	document("/llms.txt", "llms", "text/plain; charset=utf-8", dataPolicy, llms)
	document("/agents.md", "agents", "text/markdown; charset=utf-8", dataPolicy, agentsPage)
	document("/docs", "docs", "text/html; charset=utf-8", pagePolicy, reference)
	document("/docs/reference.js", "docs-script", "text/javascript; charset=utf-8", dataPolicy, script)
	document("/docs/reference.css", "docs-style", "text/css; charset=utf-8", dataPolicy, style)
	document("/docs/errors", "docs-errors", "text/html; charset=utf-8", pagePolicy, errorCodes)
	return nil
}

// operation is what the page shows of an OpenAPI operation.
type operation struct {
	ID, Path, Method     string
	Tag                  string
	Summary, Description string
	Public               bool
	Parameters           []parameter
	Responses            []response
	Samples              []sample
	Body                 string // an example of the JSON body; empty: there is none
	Tried                bool   // the page has a form to try it: its body is JSON, if it has one
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                shape
}

type response struct{ Status, Description string }

// openAPI is the part of a description the page is made from.
type openAPI struct {
	Info struct {
		Title, Version, Description string
	}
	Paths map[string]map[string]struct {
		OperationID          string `json:"operationId"`
		Summary, Description string
		Tags                 []string
		Security             []map[string][]string
		Parameters           []parameter
		RequestBody          struct {
			Content map[string]struct{ Schema shape }
		} `json:"requestBody"`
		Responses map[string]struct{ Description string }
	}
	Components struct{ Schemas shapesByName }
}

// described is what pages show of the description of the API.
type described struct {
	Title, Version, Description string
	Operations                  []operation
	Languages                   []string // of samples
}

// readReference reads what pages show of a description.
func readReference(description []byte) (described, error) {
	var api openAPI
	if err := json.Unmarshal(description, &api); err != nil {
		return described{}, fmt.Errorf("reference page: %w", err)
	}
	page := described{Title: api.Info.Title, Version: api.Info.Version, Description: api.Info.Description}
	for path, methods := range api.Paths {
		for method, o := range methods {
			shown := operation{
				ID: o.OperationID, Path: path, Method: strings.ToUpper(method), Tag: strings.Join(o.Tags, ", "),
				Summary: o.Summary, Description: o.Description, Public: len(o.Security) == 0, Parameters: o.Parameters,
			}
			asked := request{method: shown.Method, path: api.Components.Schemas.fill(path, o.Parameters), credential: credentialOf(o.Security)}
			media := slices.Sorted(maps.Keys(o.RequestBody.Content))
			shown.Tried = len(media) == 0
			switch content, isJSON := o.RequestBody.Content["application/json"]; {
			case isJSON:
				body, err := api.Components.Schemas.body(content.Schema)
				if err != nil {
					return described{}, err
				}
				shown.Body, shown.Tried, asked.body = body, true, body
			case len(media) > 0:
				asked.upload = media[len(media)-1] // of an export the plain one
			}
			shown.Samples = asked.samples()
			for status, r := range o.Responses {
				shown.Responses = append(shown.Responses, response{status, strings.ReplaceAll(r.Description, "`", "")})
			}
			slices.SortFunc(shown.Responses, func(a, b response) int { return strings.Compare(a.Status, b.Status) })
			page.Operations = append(page.Operations, shown)
		}
	}
	slices.SortFunc(page.Operations, func(a, b operation) int {
		return strings.Compare(a.Tag+" "+a.Path+" "+a.Method, b.Tag+" "+b.Path+" "+b.Method)
	})
	for _, s := range (request{}).samples() {
		page.Languages = append(page.Languages, s.Language)
	}
	return page, nil
}

// credentialOf is what a sample sends of the credentials that an operation takes; nil: it needs none.
func credentialOf(security []map[string][]string) *credential {
	switch {
	case len(security) == 0:
		return nil
	case slices.ContainsFunc(security, func(one map[string][]string) bool { _, ok := one["bearer"]; return ok }):
		return &token
	}
	return &cookie
}

func render(path string, data any) ([]byte, error) {
	t, err := template.ParseFS(pages, path)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var page bytes.Buffer
	if err := t.Execute(&page, data); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return page.Bytes(), nil
}

// pages are the templates of the pages and what they load.
//
//go:embed pages
var pages embed.FS

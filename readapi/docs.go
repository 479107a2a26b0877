package readapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
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

// pagePolicy: the pages are complete in themselves and run nothing.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// dataPolicy: what is no page runs and loads nothing.
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

// serveDocs serves the description of every route registered before it, as JSON, as a page and for agents, and the page
// of error codes.
func (s Services) serveDocs(api *httpkit.API) error {
	description, err := api.OpenAPI()
	if err != nil {
		return err
	}
	described, err := readReference(description)
	if err != nil {
		return err
	}
	reference, err := render(referenceTemplate, described)
	if err != nil {
		return err
	}
	told := agents{reference: described, Base: s.PublicURL, Groups: groupsOf(described.Operations), Plans: s.Plans, Kinds: api.Kinds(), Tools: s.Tools, Revisions: s.Revisions}
	llms, err := told.write(llmsTemplate)
	if err != nil {
		return err
	}
	agentsPage, err := told.write(agentsTemplate)
	if err != nil {
		return err
	}
	errorCodes, err := render(errorsTemplate, api.Kinds())
	if err != nil {
		return err
	}
	document := func(path, id, contentType, policy string, body []byte) {
		httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: path, ID: id, PublicFor: docsFor, FixedBody: true, Hidden: true, ContentType: contentType},
			func(context.Context, *struct{}) (*pageOutput, error) {
				return &pageOutput{ContentType: contentType, Policy: policy, Body: body}, nil
			})
	}
	document("/openapi.json", "openapi", "application/json", dataPolicy, description)
	document("/llms.txt", "llms", "text/plain; charset=utf-8", dataPolicy, llms)
	document("/agents.md", "agents", "text/markdown; charset=utf-8", dataPolicy, agentsPage)
	document("/docs", "docs", "text/html; charset=utf-8", pagePolicy, reference)
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
}

type parameter struct{ Name, In, Description string }

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
		Responses            map[string]struct{ Description string }
	}
}

type reference struct {
	Title, Version, Description string
	Operations                  []operation
}

// readReference reads what pages show of a description.
func readReference(description []byte) (reference, error) {
	var api openAPI
	if err := json.Unmarshal(description, &api); err != nil {
		return reference{}, fmt.Errorf("reference page: %w", err)
	}
	page := reference{Title: api.Info.Title, Version: api.Info.Version, Description: api.Info.Description}
	for path, methods := range api.Paths {
		for method, o := range methods {
			shown := operation{
				ID: o.OperationID, Path: path, Method: strings.ToUpper(method), Tag: strings.Join(o.Tags, ", "),
				Summary: o.Summary, Description: o.Description, Public: len(o.Security) == 0, Parameters: o.Parameters,
			}
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
	return page, nil
}

func render(t *template.Template, data any) ([]byte, error) {
	var page bytes.Buffer
	if err := t.Execute(&page, data); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return page.Bytes(), nil
}

const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
code{font:0.9em ui-monospace,monospace}section{border-top:1px solid #ccc;padding:0.5rem 0}
h2{font-size:1.1rem;margin:0.5rem 0}table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:0.15rem 0.8rem 0.15rem 0}
.method{display:inline-block;min-width:4rem;font-weight:600}.tag{color:#555}
@media (prefers-color-scheme:dark){body{color:#eee;background:#151515}section{border-color:#444}.tag{color:#aaa}a{color:#8bf}}
</style>`

var referenceTemplate = template.Must(template.New("reference").Parse(pageHead + `
<title>{{.Title}} API {{.Version}}</title></head><body>
<h1>{{.Title}} API <small>{{.Version}}</small></h1>
<p>{{.Description}}</p>
<p><a href="/openapi.json">openapi.json</a> is the machine-readable description with every field; <a href="/docs/errors">error codes</a>.</p>
{{range .Operations}}<section>
<h2><span class="method">{{.Method}}</span><code>{{.Path}}</code> <span class="tag">{{.Tag}}{{if .Public}}, public{{end}}</span></h2>
<p>{{.Summary}}{{if .Description}}. {{.Description}}{{end}}</p>
{{if .Parameters}}<table>{{range .Parameters}}<tr><td><code>{{.Name}}</code></td><td>{{.In}}</td><td>{{.Description}}</td></tr>{{end}}</table>{{end}}
<table>{{range .Responses}}<tr><td>{{.Status}}</td><td>{{.Description}}</td></tr>{{end}}</table>
</section>{{end}}
</body></html>
`))

var errorsTemplate = template.Must(template.New("errors").Parse(pageHead + `
<title>Reckon error codes</title></head><body>
<h1>Error codes</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457); <code>code</code> is one of these.</p>
{{range .}}<section id="{{.Code}}"><h2><code>{{.Code}}</code> <span class="tag">{{.Status}}</span></h2><p>{{.Title}}. {{.Help}}</p></section>{{end}}
</body></html>
`))

package readapi

import (
	"bytes"
	"fmt"
	"text/template"

	"reckon/domain/account"
	"reckon/internal/httpkit"
)

// Tool is a tool of /mcp as agents.md lists it.
type Tool struct{ Name, About string }

// agents is what llms.txt and agents.md are made from: the tables that the service itself runs by.
type agents struct {
	described
	Base      string // before every path; empty: the host that the document comes from
	Groups    []group
	Plans     account.Plans
	Kinds     []httpkit.Kind
	Tools     []Tool
	Revisions []string // of the Model Context Protocol
}

// group is the operations of one tag.
type group struct {
	Tag        string
	Operations []operation
}

// groupsOf are operations, which are sorted by tag, by tag.
func groupsOf(operations []operation) (groups []group) {
	for _, o := range operations {
		if len(groups) == 0 || groups[len(groups)-1].Tag != o.Tag {
			groups = append(groups, group{Tag: o.Tag})
		}
		last := &groups[len(groups)-1]
		last.Operations = append(last.Operations, o)
	}
	return groups
}

// write is a document of the template.
func (a agents) write(name, form string) ([]byte, error) {
	t, err := template.New(name).Parse(form)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var text bytes.Buffer
	if err := t.Execute(&text, a); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text.Bytes(), nil
}

// llmsText is in the form of https://llmstxt.org: a title, a summary, and lists of links.
const llmsText = `# {{.Title}}

> {{.Description}} Interface {{.Version}}.

Send JSON with ` + "`Authorization: Bearer <API token>`" + `. {{len .Operations}} operations over HTTP; {{len .Tools}} tools over the Model Context Protocol at {{.Base}}/mcp.

## Documents

- [agents.md]({{.Base}}/agents.md): how an agent uses this service: credentials, workflows, tools, every operation, limits and error codes
- [openapi.json]({{.Base}}/openapi.json): the whole interface, OpenAPI 3.1
- [Reference]({{.Base}}/docs): the interface for people, with samples and a form to try it
- [Error codes]({{.Base}}/docs/errors): what each code means and what to do
- [Plans and limits]({{.Base}}/billing/plans): the limits that are enforced
- [Keys]({{.Base}}/.well-known/service-keys.json): the public keys that receipts are verified with
{{range .Groups}}
## {{.Tag}}

{{range .Operations}}- [{{.Method}} {{.Path}}]({{$.Base}}/docs#{{.ID}}): {{.Summary}}
{{end}}{{end}}`

const agentsText = `# {{.Title}} for agents

{{.Description}} This is interface {{.Version}}, written by the service from the tables that it runs by. Paths below are of {{if .Base}}{{.Base}}{{else}}the host that this document comes from{{end}}.

## What to do

1. Get an API token from the person you work for, and send it as ` + "`Authorization: Bearer <token>`" + `. Never print it.
2. Compute: ` + "`POST {{.Base}}/api/evaluate`" + ` with ` + "`" + `{"expression": "Integrate[x^2 Sin[x], x]"}` + "`" + `. Expressions are of a Wolfram-like language and evaluated exactly as given.
   - ` + "`status: unevaluated`" + ` means that the engine returned the input: ` + "`result`" + ` is then no answer.
   - ` + "`verification`" + ` is an independent check; null means that nothing was learned, not that the answer is right.
   - 408 means that the budget was too small: simplify, or submit a job.
3. Check an answer, yours or one of the service: ` + "`POST {{.Base}}/api/verify`" + ` with ` + "`run_id`" + `, or ` + "`code` and `result`" + `. Only verified and refuted are verdicts.
4. Long work, circuits and proofs are jobs: ` + "`POST {{.Base}}/api/jobs`" + ` with an ` + "`idempotency_key`" + `, then ` + "`GET {{.Base}}/api/jobs/{id}?wait_ms=25000`" + ` until it has ended.
5. Give the receipt (` + "`receipt_url`" + `) with a result: whoever doubts it can verify the signature offline.

## Model Context Protocol

Streamable HTTP at ` + "`{{.Base}}/mcp`" + `, revisions {{range $i, $r := .Revisions}}{{if $i}}, {{end}}{{$r}}{{end}}, with the same token. A tool does what a route does: the same limits, errors and log. A refused call has ` + "`isError`" + ` and the problem document, with its ` + "`code`" + `, as text.

| tool | what it does |
|---|---|
{{range .Tools}}| ` + "`{{.Name}}`" + ` | {{.About}} |
{{end}}
Resources: ` + "`reckon://runs`" + ` (recent runs), ` + "`reckon://receipts/{run_id}`, `reckon://plots/{run_id}`, `reckon://jobs/{job_id}`, `reckon://certificates/{certificate_id}`, `reckon://symbols/{name}`" + ` (the function reference).

## Operations
{{range .Groups}}
### {{.Tag}}

| operation | what it does | credential |
|---|---|---|
{{range .Operations}}| ` + "`{{.Method}} {{.Path}}`" + ` | {{.Summary}} | {{if .Public}}none{{else}}needed{{end}} |
{{end}}{{end}}
## Limits

| plan | evaluation, ms | a minute | jobs a day | job, ms | qubits | live sessions |
|---|---:|---:|---:|---:|---:|---:|
{{range .Plans}}| {{.Name}} | {{.EvaluationBudgetMS}} | {{.PerMinute}} | {{.JobsPerDay}} | {{.JobBudgetMS}} | {{.Qubits}} | {{.LiveSessions}} |
{{end}}
Limited answers carry ` + "`X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`" + `; 429 and 503 carry ` + "`Retry-After`" + ` in seconds: wait for it.

## Errors

Problem documents (RFC 9457). Decide by ` + "`code`" + `; ` + "`detail`" + ` says what to do about this one.

| code | status | means | what to do |
|---|---:|---|---|
{{range .Kinds}}| ` + "`{{.Code}}`" + ` | {{.Status}} | {{.Title}} | {{.Help}} |
{{end}}`

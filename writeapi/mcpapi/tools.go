package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"reckon/internal/httpkit"
)

// tool is a tool of the protocol. What it takes and answers is made from the description of the API.
type tool struct {
	name, title string
	about       string // for a model that chooses among tools
	reads       bool   // it changes nothing: neither the log nor a limit
	input       func(shapes) (schema, error)
	output      func(shapes) (schema, error)
	call        func(context.Context, *call, *mcp.CallToolRequest) (*mcp.CallToolResult, error)
}

// Tool is a tool as documents list it.
type Tool struct{ Name, About string }

// Tools lists the tools.
func Tools() []Tool {
	list := make([]Tool, len(tools))
	for i, t := range tools {
		list[i] = Tool{t.name, t.about}
	}
	return list
}

// tools are all tools, in the order in which documents list them.
var tools = []tool{
	{
		name: "evaluate", title: "Evaluate an expression",
		about: "Evaluates an expression of a Wolfram-like language, exactly as given, within the plan's compute budget: Integrate[x^2 Sin[x], x], Solve[x^2 == 2, x], Plot[Sin[x], {x, 0, 6}]. Function names begin with a capital and take square brackets. " +
			"status unevaluated means that the engine returned the input unchanged: the result is then no answer. verification is an independent check of the answer, or null where nothing was learned. With session_id, variables and definitions last from call to call.",
		input:  func(s shapes) (schema, error) { return s.input("EvaluateInputBody") },
		output: func(s shapes) (schema, error) { return s.output("Evaluation") },
		call:   evaluate,
	},
	{
		name: "verify", title: "Check an answer",
		about: "Checks an answer independently: an earlier run of yours by run_id, or code (the expression) together with result (the answer to check, in the same language). verified and refuted are verdicts; inconclusive means that nothing was learned, and reason says why.",
		input: func(s shapes) (schema, error) { return s.input("VerifyInputBody") }, output: func(s shapes) (schema, error) { return s.output("VerifyOutputBody") },
		call: verify,
	},
	{
		name: "simulate_circuit", title: "Simulate a quantum circuit",
		about: "Simulates a quantum circuit and draws samples from it, as a background job that takes one of the day's jobs. Waits up to wait_ms for its end and answers the job as it stands then: when status is queued or running, ask get_job with its job_id. " +
			"Bit strings have qubit 0 rightmost. The same circuit, shots and seed give the same counts on every machine.",
		input:  jobInput("QsimSubmission"),
		output: func(s shapes) (schema, error) { return s.output("QsimJobReceipt") },
		call:   submitted("qsim"),
	},
	{
		name: "check_proof", title: "Check a formal proof",
		about: "Has a kernel check a Lean proof and issues a certificate, as a background job that takes one of the day's jobs. Give exactly one of export (the text of a lean4export file), upload_id (of POST /api/proofs) or source (Lean text that the server elaborates), and the names of the declarations that the verdict is about. " +
			"rejected means that the kernel refused the proof, unsupported that it cannot be judged here, inconclusive that the check did not finish or the kernels disagree. Waits as simulate_circuit does.",
		input:  jobInput("ProofSubmission"),
		output: func(s shapes) (schema, error) { return s.output("ProofJobReceipt") },
		call:   submitted("proof"),
	},
	{
		name: "get_job", title: "Get a job", reads: true,
		about: "A job of yours with its result once it has ended. With wait_ms the answer comes when the job has ended, or with the job as it is when the time is over.",
		input: func(s shapes) (schema, error) {
			return s.object(schema{"job_id": schema{"type": "string", "format": "uuid", "description": "Id of the job"}, "wait_ms": waitSchema(0)}, "job_id")
		},
		output: func(s shapes) (schema, error) { return s.output("Job") },
		call:   getJob,
	},
	{
		name: "lookup_symbol", title: "Look up a function", reads: true,
		about: "The function reference of the language. Give a name, the beginning of one, what another system calls it (np.linalg.eig, dsolve) or words (fit a line): found lists what fits best, symbol is the entry of exactly that name, or null. " +
			"status says what works here, derived from examples that the engine in force was run on: supported, divergent (an example has a wrong answer, shown beside the right one), blocked (refused for safety) or unsupported. Costs nothing.",
		input: func(s shapes) (schema, error) {
			return s.object(schema{"name": schema{"type": "string", "minLength": 1, "maxLength": maxLookupCharacters, "description": "Name, or words", "examples": []any{"Integrate"}}}, "name")
		},
		output: func(s shapes) (schema, error) {
			return s.object(schema{
				"symbol": schema{"anyOf": []any{schema{"$ref": componentPrefix + "Symbol"}, schema{"type": "null"}}, "description": "The entry of exactly this name; null: there is none"},
				"found":  schema{"type": "array", "items": schema{"$ref": componentPrefix + "ReferenceRow"}, "description": "The best rows of a search, best first"},
			}, "symbol", "found")
		},
		call: lookUpSymbol,
	},
}

// declare is the tool as the protocol lists it.
func (t tool) declare(s shapes) (*mcp.Tool, error) {
	input, err := t.input(s)
	if err != nil {
		return nil, err
	}
	output, err := t.output(s)
	if err != nil {
		return nil, err
	}
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: input, OutputSchema: output,
		Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: t.reads, DestructiveHint: new(false), OpenWorldHint: new(false)},
	}, nil
}

// arguments are those of a call; none are an empty object.
func arguments(r *mcp.CallToolRequest) []byte {
	if len(r.Params.Arguments) == 0 {
		return []byte("{}")
	}
	return r.Params.Arguments
}

// answered is a result whose structured content is a JSON object, which is also its text for clients that know only text.
func answered(document []byte) *mcp.CallToolResult {
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(document), Content: []mcp.Content{text(document)}}
}

func evaluate(ctx context.Context, c *call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	reply := c.ask(ctx, http.MethodPost, "/api/evaluate", arguments(r))
	if refused := refusal(reply); refused != nil {
		return refused, nil
	}
	result := answered(reply.Body)
	return result, c.addRun(ctx, result, reply.Body)
}

func verify(ctx context.Context, c *call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	reply := c.ask(ctx, http.MethodPost, "/api/verify", arguments(r))
	if refused := refusal(reply); refused != nil {
		return refused, nil
	}
	return answered(reply.Body), nil
}

// maxInlinePlotBytes is the largest plot that is sent with a result; a larger one is read by its link.
const maxInlinePlotBytes = 256 << 10

// addRun adds what belongs to a run beside its JSON: the plot as an image, and links to plot and receipt. The image is for the
// person: few models read SVG.
func (c *call) addRun(ctx context.Context, result *mcp.CallToolResult, evaluation []byte) error {
	var run struct {
		RunID      *int64  `json:"run_id"`
		PlotURL    *string `json:"plot_url"`
		ReceiptURL *string `json:"receipt_url"`
	}
	if err := json.Unmarshal(evaluation, &run); err != nil {
		return fmt.Errorf("evaluation: %w", err)
	}
	if run.RunID == nil {
		return nil
	}
	id := strconv.FormatInt(*run.RunID, 10)
	if run.PlotURL != nil {
		if plot := c.ask(ctx, http.MethodGet, *run.PlotURL, nil); plot.Status == http.StatusOK && len(plot.Body) <= maxInlinePlotBytes {
			result.Content = append(result.Content, &mcp.ImageContent{Data: plot.Body, MIMEType: svg, Annotations: &mcp.Annotations{Audience: []mcp.Role{"user"}}})
		}
		result.Content = append(result.Content, plots.link(id, "Plot of run "+id))
	}
	if run.ReceiptURL != nil {
		result.Content = append(result.Content, receipts.link(id, "Signed receipt of run "+id))
	}
	return nil
}

const (
	maxLookupCharacters = 100 // as of the route for one entry
	mostFound           = "8"
)

// lookUpSymbol asks the function reference for the entry of a name, and for what resembles it.
func lookUpSymbol(ctx context.Context, c *call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Name string `json:"name"`
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments(r)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil || strings.TrimSpace(in.Name) == "" || utf8.RuneCountInString(in.Name) > maxLookupCharacters {
		return refuse(httpkit.InvalidRequest.Problem("name is the one argument: a name or words of 1 to %d characters", maxLookupCharacters).WithField("body.name", "is not a text of that length"), c.requestID()), nil
	}
	var found struct {
		Symbol json.RawMessage `json:"symbol"` // null without an entry
		Found  json.RawMessage `json:"found"`
	}
	entry := c.ask(ctx, http.MethodGet, "/api/docs/symbol/"+url.PathEscape(in.Name), nil)
	switch refused := refusal(entry); {
	case refused == nil:
		found.Symbol = entry.Body
	case entry.Status != http.StatusNotFound:
		return refused, nil
	}
	rows := c.ask(ctx, http.MethodGet, "/api/docs/search?limit="+mostFound+"&q="+url.QueryEscape(in.Name), nil)
	if refused := refusal(rows); refused != nil {
		return refused, nil
	}
	var page struct{ Rows json.RawMessage }
	if err := json.Unmarshal(rows.Body, &page); err != nil {
		return nil, fmt.Errorf("search of the reference: %w", err)
	}
	found.Found = page.Rows
	document, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return answered(document), nil
}

// requestID names the request in the service's own logs.
func (c *call) requestID() string { return httpkit.RequestOf(c.of.Context()).ID }

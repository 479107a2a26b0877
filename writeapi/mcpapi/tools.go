package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

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
			"rejected means that the kernel refused the proof, unsupported that it cannot be judged here, inconclusive that the check did not finish. Waits as simulate_circuit does.",
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
		name: "lookup_symbol", title: "Look up a function",
		about: "What the engine in force says of a function or symbol of the language: whether it knows the name, what it does and its attributes. Counts as an evaluation.",
		input: func(s shapes) (schema, error) {
			return s.object(schema{"name": schema{"type": "string", "pattern": symbolPattern, "maxLength": maxSymbolBytes, "description": "Name of the function, as in the language", "examples": []any{"Integrate"}}}, "name")
		},
		output: func(s shapes) (schema, error) {
			run := asSchema(s["Evaluation"]["properties"])
			return s.object(schema{
				"name":       schema{"type": "string", "description": "The name that was asked for"},
				"known":      schema{"type": "boolean", "description": "Whether the engine has a function of this name"},
				"usage":      schema{"type": []any{"string", "null"}, "description": "What it does, in the engine's words; null when it says nothing"},
				"attributes": schema{"type": "array", "items": schema{"type": "string"}, "description": "Its attributes in the language; empty when it has none"},
				"run_id":     run["run_id"], "receipt_url": run["receipt_url"],
			}, "name", "known", "usage", "attributes", "run_id", "receipt_url")
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
	symbolPattern  = `^[$A-Za-z][$A-Za-z0-9]*$`
	maxSymbolBytes = 100
)

var symbolForm = regexp.MustCompile(symbolPattern)

// lookUpSymbol asks the engine ?name, as anybody may: its answer is a run with a receipt.
func lookUpSymbol(ctx context.Context, c *call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Name string `json:"name"`
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments(r)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil || len(in.Name) > maxSymbolBytes || !symbolForm.MatchString(in.Name) {
		return refuse(httpkit.InvalidRequest.Problem("name is the one argument: 1 to %d of A-Z a-z 0-9 $, beginning with a letter or $", maxSymbolBytes).WithField("body.name", "is not the name of a symbol"), c.requestID()), nil
	}
	asked, err := json.Marshal(map[string]string{"expression": "?" + in.Name})
	if err != nil {
		return nil, err
	}
	reply := c.ask(ctx, http.MethodPost, "/api/evaluate", asked)
	if refused := refusal(reply); refused != nil {
		return refused, nil
	}
	found, err := readUsage(in.Name, reply.Body)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	result := answered(document)
	return result, c.addRun(ctx, result, reply.Body)
}

// usage is what the engine says of a symbol.
type usage struct {
	Name       string   `json:"name"`
	Known      bool     `json:"known"`
	Usage      *string  `json:"usage"`
	Attributes []string `json:"attributes"`
	RunID      *int64   `json:"run_id"`
	ReceiptURL *string  `json:"receipt_url"`
}

// unknownSymbol is what the engine's process answers to ?name for a name that it does not know (runners/engine/python).
const unknownSymbol = "no function of this name is known here."

// readUsage reads an evaluation of ?name: "Name: what it does", and in a second line "Attributes: A, B".
func readUsage(name string, evaluation []byte) (usage, error) {
	found := usage{Name: name, Attributes: []string{}}
	var answer struct {
		Result     string
		RunID      *int64  `json:"run_id"`
		ReceiptURL *string `json:"receipt_url"`
	}
	if err := json.Unmarshal(evaluation, &answer); err != nil {
		return found, fmt.Errorf("evaluation of ?%s: %w", name, err)
	}
	found.RunID, found.ReceiptURL = answer.RunID, answer.ReceiptURL
	said, attributes, listed := strings.Cut(answer.Result, "\nAttributes: ")
	said = strings.TrimSpace(strings.TrimPrefix(said, name+":"))
	if said == unknownSymbol {
		return found, nil
	}
	found.Known = true
	if said != "" {
		found.Usage = &said
	}
	if listed {
		found.Attributes = strings.Split(strings.TrimSpace(attributes), ", ")
	}
	return found, nil
}

// requestID names the request in the service's own logs.
func (c *call) requestID() string { return httpkit.RequestOf(c.of.Context()).ID }

package mcpapi

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxArgumentBytes bounds an argument of a prompt, in bytes.
const maxArgumentBytes = 64 << 10

// workflow is a prompt: what a person asks a model to do with the tools.
type workflow struct {
	name, title, about string
	arguments          []argument
	text               func(given map[string]string) string
}

type argument struct {
	name, about string
	required    bool
}

var workflows = []workflow{
	{
		name: "check_this_answer", title: "Check this answer", about: "Checks an answer to a computation independently and says what the verdict rests on",
		arguments: []argument{{"expression", "The computation, in the language or in words", true}, {"answer", "The answer to check", true}},
		text: func(given map[string]string) string {
			return "Check this answer with Reckon; do not judge it yourself.\n\nComputation:\n" + given["expression"] + "\n\nAnswer:\n" + given["answer"] + "\n\n" +
				"Write both in the language of the tool evaluate (lookup_symbol says what a function does). Call verify with code and result. " +
				"Then call evaluate with the computation and compare. Report the verdict, its basis and method as they are: verified and refuted are verdicts, " +
				"inconclusive means that nothing was learned. If it is refuted, give the answer of evaluate, its own verification and the run's receipt."
		},
	},
	{
		name: "simulate_and_explain", title: "Simulate and explain", about: "Simulates a quantum circuit and explains what its counts show",
		arguments: []argument{{"circuit", "The circuit: in words, as OpenQASM, or as a list of gates", true}, {"shots", "How many samples to draw; 1024 when left out", false}},
		text: func(given map[string]string) string {
			shots := given["shots"]
			if shots == "" {
				shots = "1024"
			}
			return "Simulate this circuit with Reckon and explain the result.\n\nCircuit:\n" + given["circuit"] + "\n\nShots: " + shots + "\n\n" +
				"Call simulate_circuit (gates, or openqasm for a program). If the job has not ended, call get_job with its job_id until it has. " +
				"Explain the counts: bit strings have qubit 0 rightmost; compare the frequencies with the exact probabilities where the result has them, and " +
				"say what is sampling noise. Give the seed, so that the counts can be had again."
		},
	},
	{
		name: "check_this_proof", title: "Check this proof", about: "Has the kernel check a Lean proof and explains the certificate",
		arguments: []argument{{"declarations", "Names of the theorems, as exported, separated by commas", true}, {"source", "Lean source that the server elaborates", false}, {"upload_id", "An uploaded export, instead of source", false}},
		text: func(given map[string]string) string {
			what := "upload_id: " + given["upload_id"]
			if given["source"] != "" {
				what = "Lean source:\n" + given["source"]
			}
			return "Have Reckon's kernel check this proof; a proof that looks right is not checked.\n\nDeclarations: " + given["declarations"] + "\n" + what + "\n\n" +
				"Call check_proof. If the job has not ended, call get_job with its job_id until it has. Report the verdict with its reason, the statement of each declaration " +
				"as the certificate has it (say whether it is what was to be proved), and the axioms it rests on. rejected is the kernel's refusal; unsupported and inconclusive " +
				"are no verdict on the proof. Give the address of the certificate."
		},
	},
}

// addPrompts adds the prompts to the server.
func addPrompts(server *mcp.Server) {
	for _, w := range workflows {
		declared := &mcp.Prompt{Name: w.name, Title: w.title, Description: w.about}
		for _, a := range w.arguments {
			declared.Arguments = append(declared.Arguments, &mcp.PromptArgument{Name: a.name, Description: a.about, Required: a.required})
		}
		server.AddPrompt(declared, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if err := w.check(r.Params.Arguments); err != nil {
				return nil, err
			}
			return &mcp.GetPromptResult{Description: w.about, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: w.text(r.Params.Arguments)}}}}, nil
		})
	}
}

// check refuses arguments that are missing or too long.
func (w workflow) check(given map[string]string) error {
	for _, a := range w.arguments {
		switch text := given[a.name]; {
		case a.required && text == "":
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the argument %q is missing: %s", a.name, a.about)}
		case len(text) > maxArgumentBytes:
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the argument %q is longer than %d bytes", a.name, maxArgumentBytes)}
		}
	}
	return nil
}

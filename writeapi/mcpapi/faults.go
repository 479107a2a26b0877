package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"reckon/internal/httpkit"
)

// fault is an error of the protocol that a client is told (JSON-RPC 2.0, section 5.1).
type fault struct {
	id      json.RawMessage // of the request; nil: it cannot be told
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    any             `json:"data,omitempty"`
}

// write answers a fault. What cannot be told has no id (MCP, Streamable HTTP).
func (f *fault) write(w http.ResponseWriter, status int) {
	document, _ := json.Marshal(struct { // of texts and numbers
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   *fault          `json:"error"`
	}{"2.0", f.id, f})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(document) // an error: the client has gone
}

// writeParseError answers a body that is no JSON.
func writeParseError(w http.ResponseWriter, _ *http.Request, problem *httpkit.Problem) {
	f := &fault{Code: jsonrpc.CodeParseError, Message: problem.Detail}
	f.write(w, http.StatusBadRequest)
}

// checkRevision returns the fault of a request whose header names a revision that is not served. The SDK has one for those before the
// first stateless revision only; a client of a later one falls back to what the fault says is served.
func checkRevision(header http.Header, id json.RawMessage) *fault {
	asked := header.Get(revisionHeader)
	if asked == "" || slices.Contains(Revisions(), asked) {
		return nil
	}
	return &fault{
		id: id, Code: mcp.CodeUnsupportedProtocolVersion, Message: "the header MCP-Protocol-Version names a revision that is not served",
		Data: mcp.UnsupportedProtocolVersionData{Supported: Revisions(), Requested: asked},
	}
}

// members are those of a JSON-RPC message.
var members = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// wholeNumbers are the spellings of the numbers that an id may be.
var wholeNumbers = regexp.MustCompile(`^(?:0|-?[1-9][0-9]{0,15})$`)

// largestID is the largest id that is a number: every reader reads up to 2^53 alike.
const largestID = 1 << 53

// isID tells whether a member is a text or a number that an id may be.
func isID(member string) bool {
	if member[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(member, 10, 64)
	return wholeNumbers.MatchString(member) && err == nil && -largestID <= n && n <= largestID
}

// paramsOf are the parameters of the methods that the SDK answers, as it reads them.
var paramsOf = map[string]func() any{
	"initialize": func() any { return new(mcp.InitializeParams) }, "ping": func() any { return new(mcp.PingParams) },
	"tools/list": func() any { return new(mcp.ListToolsParams) }, "tools/call": func() any { return new(mcp.CallToolParamsRaw) },
	"resources/list": func() any { return new(mcp.ListResourcesParams) }, "resources/templates/list": func() any { return new(mcp.ListResourceTemplatesParams) },
	"resources/read": func() any { return new(mcp.ReadResourceParams) }, "prompts/list": func() any { return new(mcp.ListPromptsParams) }, "prompts/get": func() any { return new(mcp.GetPromptParams) },
	"resources/subscribe": func() any { return new(mcp.SubscribeParams) }, "resources/unsubscribe": func() any { return new(mcp.UnsubscribeParams) },
	"subscriptions/listen": func() any { return new(mcp.SubscriptionsListenParams) }, "server/discover": func() any { return new(mcp.DiscoverParams) },
	"completion/complete": func() any { return new(mcp.CompleteParams) }, "logging/setLevel": func() any { return new(struct{ Level string }) }, // deprecated in the SDK, and answered still
}

// checkMessage returns the fault of a message that is none of JSON-RPC 2.0, or whose parameters are of other types than its method's: the SDK
// reads members in any letters, answers an id of 1.5 with 1, and tells clients of its Go types.
func checkMessage(body []byte) *fault {
	var message map[string]json.RawMessage
	if json.Unmarshal(body, &message) != nil || message == nil {
		return &fault{Code: jsonrpc.CodeInvalidRequest, Message: "the body is not one JSON-RPC 2.0 message; batches are of revisions that are not served"}
	}
	invalid := func(text string) *fault {
		return &fault{id: message["id"], Code: jsonrpc.CodeInvalidRequest, Message: text}
	}
	if id, given := message["id"]; given {
		if !isID(string(id)) {
			delete(message, "id")
			return invalid("id is a text or a whole number from -2^53 to 2^53")
		}
	}
	for name := range message {
		for _, member := range members {
			if name != member && strings.EqualFold(name, member) {
				return invalid("the member " + member + " is written in other letters")
			}
		}
	}
	if string(message["jsonrpc"]) != `"2.0"` {
		return invalid(`jsonrpc is "2.0"`)
	}
	var method string
	if given, is := message["method"]; is && (json.Unmarshal(given, &method) != nil || given[0] != '"') {
		return invalid("method is a text")
	}
	_, call := message["method"]
	_, result := message["result"]
	_, failed := message["error"]
	if !call && !result && !failed {
		return invalid("the message has a method, or as a response a result or an error")
	}
	params, given := message["params"]
	if !given {
		return nil
	}
	if params[0] != '{' {
		return &fault{id: message["id"], Code: jsonrpc.CodeInvalidParams, Message: "params is an object"}
	}
	if make := paramsOf[method]; make != nil {
		if err := json.Unmarshal(params, make()); err != nil {
			text := "a member of params is not of the type that " + method + " has"
			if typed, is := errors.AsType[*json.UnmarshalTypeError](err); is && typed.Field != "" {
				text = "params." + typed.Field + " is not of the type that " + method + " has"
			}
			return &fault{id: message["id"], Code: jsonrpc.CodeInvalidParams, Message: text}
		}
	}
	return nil
}

// faultWriter puts what the SDK refuses in plain text as an error of the protocol, and writes nothing of a request that its client has
// cancelled: its stream ends without an answer.
type faultWriter struct {
	http.ResponseWriter
	message message
	wanted  context.Context // ends when the client cancels the request
	status  int             // of a plain text, which is held back; 0: there is none
	said    strings.Builder
	begun   bool
}

// WriteHeader is http.ResponseWriter.
func (w *faultWriter) WriteHeader(status int) {
	if w.wanted.Err() != nil {
		w.endUnanswered()
		return
	}
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

// endUnanswered makes the answer a stream of no message, if it was not begun otherwise.
func (w *faultWriter) endUnanswered() {
	if w.begun {
		return
	}
	w.begun = true
	w.Header().Set("Content-Type", "text/event-stream")
	w.ResponseWriter.WriteHeader(http.StatusOK)
}

// Write is http.ResponseWriter.
func (w *faultWriter) Write(p []byte) (int, error) {
	switch {
	case w.wanted.Err() != nil:
		w.endUnanswered()
		return len(p), nil
	case w.status != 0:
		return w.said.Write(p)
	}
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *faultWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish writes what was held back.
func (w *faultWriter) finish() {
	switch {
	case w.wanted.Err() != nil:
		w.endUnanswered()
		return
	case w.status == 0:
		return
	}
	f := &fault{id: w.message.ID, Code: jsonrpc.CodeInvalidRequest, Message: "the message, or a header of its request, is not as the revision of the protocol has it"}
	switch said := w.said.String(); {
	case w.status >= http.StatusInternalServerError:
		f.Code, f.Message = jsonrpc.CodeInternalError, "something went wrong here"
	case strings.Contains(said, "JSON RPC not handled"):
		f.Code, f.Message = jsonrpc.CodeMethodNotFound, "there is no such method"
	case strings.Contains(said, "Accept must contain"):
		f.Message = "the header Accept must have both application/json and text/event-stream"
	case strings.Contains(said, "missing id"):
		f.Message = "the method is a request: it has an id"
	case strings.Contains(said, "unexpected id"):
		f.Message = "the method is a notification: it has no id"
	case strings.Contains(said, "missing required"):
		f.Code, f.Message = jsonrpc.CodeInvalidParams, "the method has params"
	}
	f.write(w.ResponseWriter, w.status)
}

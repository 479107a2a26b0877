package mcpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"reckon/domain/event"
	"reckon/internal/httpkit"
)

// routes are the routes of the HTTP API, which calls are answered from.
type routes struct{ api *httpkit.API }

// call is one request of a client.
type call struct {
	of     *http.Request
	agent  string          // as the log has it
	wanted context.Context // ends when the client cancels the call

	routes routes
	end    func()
}

type callOfRequest struct{}

// begin is the call that a request of the SDK belongs to, under a context that ends when the client cancels it. client is who the request itself
// names: the older revisions name it only when they initialize.
func (o routes) begin(ctx context.Context, client *mcp.Implementation) (context.Context, *call) {
	found, _ := ctx.Value(callOfRequest{}).(*call)
	c := *found
	c.routes = o
	if client != nil && client.Name != "" {
		c.agent = clientName(client.Name, client.Version)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.wanted, cancel)
	c.end = func() {
		stop()
		cancel()
	}
	return ctx, &c
}

// ask answers a request to a route in the name of the caller.
func (c *call) ask(ctx context.Context, method, target string, body []byte) *httpkit.Reply {
	return c.routes.api.ServeFor(ctx, httpkit.Delegation{Of: c.of, Route: route, Source: event.SourceMCP, Agent: c.agent}, method, target, body)
}

// refusal is a reply that is no answer, as a tool's error: the problem document, which has the code and says what to do. nil for
// an answer.
func refusal(reply *httpkit.Reply) *mcp.CallToolResult {
	if reply.Status < http.StatusBadRequest {
		return nil
	}
	result := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text(reply.Body)}}
	if wait := reply.Header().Get("Retry-After"); wait != "" {
		result.Content = append(result.Content, &mcp.TextContent{Text: "Try again in " + wait + " seconds."})
	}
	return result
}

// refuse is refusal for what never reached a route.
func refuse(problem *httpkit.Problem, requestID string) *mcp.CallToolResult {
	problem.RequestID = requestID
	document, _ := json.Marshal(problem) // of texts and numbers
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text(document)}}
}

// text is JSON as text.
func text(document []byte) *mcp.TextContent {
	return &mcp.TextContent{Text: string(trimNewline(document))}
}

func trimNewline(document []byte) []byte {
	if n := len(document); n > 0 && document[n-1] == '\n' {
		return document[:n-1]
	}
	return document
}

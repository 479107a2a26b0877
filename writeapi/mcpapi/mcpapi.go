package mcpapi

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"reckon/internal/httpkit"
)

// Path is where the protocol is served.
const Path = "/mcp"

// Revisions of the protocol that are served, newest first.
func Revisions() []string { return []string{firstStateless, "2025-11-25", "2025-06-18"} }

// firstStateless is the first revision without sessions: the end of a connection cancels its call. Before, only a notification does.
const firstStateless = "2026-07-28"

// instructions tell a model what the server is for.
const instructions = `Reckon computes and lets you check what it computed. evaluate runs an expression of a Wolfram-like language (Integrate[x^2, x]) and says in "verification" whether an independent check found the answer right. verify checks an answer of yours or an earlier run. simulate_circuit samples a quantum circuit. check_proof has a kernel check a Lean proof export. Work that has not ended in time is a job: ask get_job. A result without a verdict was not checked, which is no statement about it. Every run has a signed receipt (resource link).`

// listsFor is how long a client may keep lists of tools, prompts and resources: they change with the binary only.
const listsFor = time.Hour

// Services are what the protocol is served from.
type Services struct {
	API    *httpkit.API // with all its other routes
	Logger *slog.Logger
	Build  string
	// PublicURL is the scheme and host that clients use; empty: not configured.
	PublicURL string
}

// route is admitted as every route is.
var route = httpkit.Route{Method: http.MethodPost, Path: Path}

// Register serves the protocol from the API. The tools' schemas are made of the description that is served, which must be written before. Its
// error is a description that lacks what a tool needs.
func (s Services) Register() error {
	shapes, err := readShapes(s.API.Description())
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "reckon", Title: "Reckon", Version: s.Build, WebsiteURL: s.PublicURL}, &mcp.ServerOptions{
		Instructions: instructions, SupportedProtocolVersions: Revisions(), SetCacheable: cacheable,
		// Nothing is announced: what is listed stays the same while a process runs.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	server.AddReceivingMiddleware(s.recoverPanics)
	own := routes{s.API}
	for _, t := range tools {
		declared, err := t.declare(shapes)
		if err != nil {
			return fmt.Errorf("MCP tool %s: %w", t.name, err)
		}
		server.AddTool(declared, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, c := own.begin(ctx, r.ClientInfo())
			defer c.end()
			return t.call(ctx, c, r)
		})
	}
	addResources(server, own)
	addPrompts(server)
	transport := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, DisableLocalhostProtection: true, // the door checks hosts, and knows of proxies
		MaxRequestBodyBytes: httpkit.MaxJSONBytes,
	})
	s.API.HandleProtocol(route, &door{api: s.API, publicURL: s.PublicURL, transport: transport, calls: calls{}}, writeParseError)
	return nil
}

// recoverPanics answers a panic with an internal error: requests are handled on goroutines of the SDK, where one would end the
// process.
func (s Services) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				s.Logger.ErrorContext(ctx, "panic while serving MCP", "request_id", httpkit.RequestOf(ctx).ID, "method", method, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong here; it is in the log under request " + httpkit.RequestOf(ctx).ID}
			}
		}()
		return next(ctx, method, r)
	}
}

// cacheable says how long and by whom a result may be kept: lists are the same for everybody; what is read is the caller's.
func cacheable(_ context.Context, r mcp.Request, c *mcp.Cacheable) {
	if _, read := r.(*mcp.ReadResourceRequest); read {
		c.TTLMs, c.CacheScope = 0, "private"
		return
	}
	c.TTLMs, c.CacheScope = int(listsFor.Milliseconds()), "public"
}

package mcpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	svg      = "image/svg+xml"
	jsonText = "application/json"
)

// kind is a kind of resource: one thing, the caller's or the reference's, that a GET of the API answers.
type kind struct {
	uri, path   string // what stands before the id
	parameter   string
	name, title string
	about, mime string
}

var (
	receipts     = kind{"reckon://receipts/", "/api/receipts/", "run_id", "receipt", "Signed receipt", "The signed receipt of a run, which can be verified offline", jsonText}
	plots        = kind{"reckon://plots/", "/api/plots/", "run_id", "plot", "Plot", "The graphic of a run", svg}
	jobs         = kind{"reckon://jobs/", "/api/jobs/", "job_id", "job", "Job", "A job with its result once it has ended", jsonText}
	certificates = kind{"reckon://certificates/", "/api/certificates/", "certificate_id", "certificate", "Certificate", "The record of a proof check", jsonText}
	symbols      = kind{"reckon://symbols/", "/api/docs/symbol/", "name", "symbol", "Function or task", "What a function of the language does, or how a task is done, with examples", jsonText}
)

// kinds are those that a client reads by id.
var kinds = []kind{receipts, plots, jobs, certificates, symbols}

// link is a link to one of the kind.
func (k kind) link(id, title string) *mcp.ResourceLink {
	return &mcp.ResourceLink{URI: k.uri + url.PathEscape(id), Name: k.name + "-" + id, Title: title, Description: k.about, MIMEType: k.mime}
}

// fixed are the resources that are always there.
var fixed = []struct {
	uri, path, name, title, about, mime string
}{
	{"reckon://runs", "/api/history?limit=20", "recent-runs", "Recent runs", "The last 20 evaluations of the account, newest first", jsonText},
	{"reckon://agents.md", "/agents.md", "agents.md", "How to use Reckon", "The routes, tools, limits and errors of this service, for agents", "text/markdown"},
}

// addResources adds the resources to the server.
func addResources(server *mcp.Server, own routes) {
	for _, f := range fixed {
		server.AddResource(&mcp.Resource{URI: f.uri, Name: f.name, Title: f.title, Description: f.about, MIMEType: f.mime},
			func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return own.read(ctx, r, f.path, f.mime)
			})
	}
	for _, k := range kinds {
		server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: k.uri + "{" + k.parameter + "}", Name: k.name, Title: k.title, Description: k.about, MIMEType: k.mime},
			func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				id, err := url.PathUnescape(strings.TrimPrefix(r.Params.URI, k.uri))
				if err != nil || id == "" {
					return nil, mcp.ResourceNotFoundError(r.Params.URI)
				}
				return own.read(ctx, r, k.path+url.PathEscape(id), k.mime)
			})
	}
}

// read reads a resource from a route. An id that is not the caller's, or is no id, names no resource.
func (o routes) read(ctx context.Context, r *mcp.ReadResourceRequest, path, mime string) (*mcp.ReadResourceResult, error) {
	ctx, c := o.begin(ctx, r.ClientInfo())
	defer c.end()
	reply := c.ask(ctx, http.MethodGet, path, nil)
	switch {
	case reply.Status == http.StatusNotFound || reply.Status == http.StatusBadRequest:
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	case reply.Status != http.StatusOK:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the resource cannot be read", Data: trimNewline(reply.Body)}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: mime, Text: string(trimNewline(reply.Body))}}}, nil
}

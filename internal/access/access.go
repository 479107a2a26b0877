// Package access is the one table of who may call which route: with which kind of credential, and with which scope. What
// it says is enforced (internal/auth), described (openapi.json), announced (the metadata of authorization server and
// protected resources) and printed (docs/access.md).
//
// It promises that a route without a row is served to nobody: the API cannot be made with one.
package access

import (
	"maps"
	"slices"
	"strings"

	"reckon/domain/scope"
)

// Who is the kind of credential that a route takes (interface §4, column Auth).
type Who int

// The zero Who is none of these.
const (
	_ Who = iota
	// Public needs no credential.
	Public
	// Scoped takes a browser session, and an API token or an OAuth access token that has the scope.
	Scoped
	// TokenOnly takes what Scoped takes but a browser session, so that no page can make requests for who is signed in.
	TokenOnly
	// FirstParty takes a browser session or an API token without scopes; OAuth access tokens are refused whatever their scope.
	FirstParty
	// BrowserOnly takes a browser session only: a stolen token cannot call the route.
	BrowserOnly
)

// Rule says who may call a route.
type Rule struct {
	Who   Who
	Scope scope.Scope // of a Scoped or TokenOnly route
	// Undescribed is why /openapi.json does not have the route; empty: it has.
	Undescribed string
}

// HasScope tells whether the route takes tokens that have its scope.
func (r Rule) HasScope() bool { return r.Who == Scoped || r.Who == TokenOnly }

// Resource is what an OAuth access token is good for (RFC 8707): one token, one resource.
type Resource string

const (
	// API is the HTTP interface; its identifier is the service's address.
	API Resource = "api"
	// MCP is the MCP endpoint; its identifier ends in /mcp.
	MCP Resource = "mcp"
)

// Resource is the resource that the route belongs to.
func (r Rule) Resource() Resource { return ResourceOf(r.Scope) }

// ResourceOf is the resource that a scope is of.
func ResourceOf(s scope.Scope) Resource {
	if s == scope.MCP {
		return MCP
	}
	return API
}

// Resources lists all resources.
func Resources() []Resource { return []Resource{API, MCP} }

// Path is the path of the resource's identifier: empty for the service's own address.
func (r Resource) Path() string {
	if r == MCP {
		return "/mcp"
	}
	return ""
}

// Scopes are the scopes that a token for the resource can have.
func (r Resource) Scopes() scope.Set {
	return scope.Of(slices.DeleteFunc(scope.All(), func(s scope.Scope) bool { return ResourceOf(s) != r })...)
}

// Table has a rule for each route, by method and path template: "GET /api/jobs/{id}".
type Table map[string]Rule

// Of returns the rule of a route; false: the table has none.
func (t Table) Of(method, path string) (Rule, bool) {
	rule, ok := t[method+" "+path]
	return rule, ok
}

// Operations lists the routes of the table, by path and method.
func (t Table) Operations() []string {
	return slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		methodA, pathA, _ := strings.Cut(a, " ")
		methodB, pathB, _ := strings.Cut(b, " ")
		return strings.Compare(pathA+" "+methodA, pathB+" "+methodB)
	})
}

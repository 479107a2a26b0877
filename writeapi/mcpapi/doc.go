// Package mcpapi is the service for clients of the Model Context Protocol (https://modelcontextprotocol.io): tools, resources and
// prompts at POST /mcp, over streamable HTTP, in the revisions of Revisions. The protocol itself is the official SDK's.
//
// It promises that a tool does what a route of the HTTP API does: each call is a request to that route in the same process, so
// that limits, checks, errors and the log are the same, and what a tool takes and answers is read from the description of the
// API. It keeps no sessions: any process of an installation answers any request, and a revoked token ends everything with its
// next request. It decides nothing and reads neither the log nor a read model.
package mcpapi

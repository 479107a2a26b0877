package mcpapi

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
)

// A session id is all that is kept of a session of a revision before the first stateless one, and the client keeps it: "1.", a random name
// and what the client called itself when it initialized. It proves nothing and opens nothing: every request is authenticated.
const (
	sessionHeader  = "Mcp-Session-Id"
	revisionHeader = "Mcp-Protocol-Version"
	sessionVersion = "1"
	maxClientBytes = 150 // of what a client calls itself; as base64 200, which is what the log keeps of an agent
)

// newSessionID names a session of a client.
func newSessionID(client string) string {
	if len(client) > maxClientBytes {
		client = strings.ToValidUTF8(client[:maxClientBytes], "")
	}
	return sessionVersion + "." + rand.Text() + "." + base64.RawURLEncoding.EncodeToString([]byte(client))
}

// clientOf is what the client of a session called itself; ok is false for an id that newSessionID did not make.
func clientOf(sessionID string) (client string, ok bool) {
	version, rest, _ := strings.Cut(sessionID, ".")
	name, encoded, found := strings.Cut(rest, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if version != sessionVersion || name == "" || !found || err != nil || len(decoded) > maxClientBytes {
		return "", false
	}
	return string(decoded), true
}

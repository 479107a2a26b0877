package clients

import (
	"strings"
	"testing"

	"reckon/test/e2e"
)

// TestOAuthProbe: an app that uses an official library goes through discovery, registration, code with PKCE, refresh, reuse,
// mix-up, revocation and resource indicators against the real binary, and nothing that must fail succeeds.
func TestOAuthProbe(t *testing.T) {
	t.Parallel()
	needNode(t)
	folder := copied(t, "oauth")
	installNode(t, folder)
	server := e2e.Start(t, e2e.DataFolder(t))
	account := server.NewAccount("oauth@example.com")
	if said := run(t, folder, false, nil, "node", "probe.js", server.URL, session(t, account)); !strings.Contains(said, "every step was as it must be") {
		t.Error(said)
	}
}

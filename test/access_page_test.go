package test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"reckon/domain/scope"
	"reckon/internal/access"
)

const accessPageFile = "../docs/access.md"

const accessIntroduction = `# Who may call what

Written by ` + "`make generate`" + ` from the table in ` + "`internal/access/routes.go`" + `, which is also what the service enforces, what
` + "`/openapi.json`" + ` says of each operation (` + "`security`" + `) and what the metadata of the authorization server announces; do not edit. A route
without a row cannot be served.

| credential | how it is sent | what it may do |
|---|---|---|
| none | | what is *public* |
| API token, minted without scopes | ` + "`Authorization: Bearer rk_pat_…`" + ` | everything but what is for the *browser session only* |
| API token, minted with scopes | the same | what its scopes name |
| OAuth access token | ` + "`Authorization: Bearer rk_oat_…`" + ` | what its scopes name, at the one resource that it is for (the API, or ` + "`/mcp`" + `); see [oauth.md](oauth.md) |
| browser session | the cookie of ` + "`POST /auth/login`" + ` | everything |

A credential that is missing or not valid is answered 401, one that is valid and does not open the route 403: ` + "`insufficient_scope`" + `, with the
scope that is needed in ` + "`WWW-Authenticate`" + ` (RFC 6750 §3.1), or ` + "`first_party_only`" + `, which no scope opens. What belongs to another account is
answered 404, as what does not exist.

## Scopes

| scope | who has it may |
|---|---|
`

// TestAccessPage: docs/access.md is what internal/access says.
func TestAccessPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(accessIntroduction)
	for _, s := range scope.All() {
		fmt.Fprintf(&page, "| `%s` | %s |\n", s, s.Means())
	}
	page.WriteString("\n## Routes\n\n| route | who may call it |\n|---|---|\n")
	table := access.Routes()
	for _, operation := range table.Operations() {
		fmt.Fprintf(&page, "| `%s` | %s |\n", operation, inWords(table[operation]))
	}
	page.WriteString("\n## What `/openapi.json` does not have\n\n| route | why |\n|---|---|\n")
	for _, operation := range table.Operations() {
		if why := table[operation].Undescribed; why != "" {
			fmt.Fprintf(&page, "| `%s` | %s |\n", operation, why)
		}
	}
	if *update {
		if err := os.WriteFile(accessPageFile, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(accessPageFile); err != nil || string(got) != page.String() {
		t.Errorf("%s is not what internal/access says (%v): make generate", accessPageFile, err)
	}
}

func inWords(rule access.Rule) string {
	switch rule.Who {
	case access.Public:
		return "public"
	case access.TokenOnly:
		return fmt.Sprintf("scope `%s`, with a token: a browser session does not count", rule.Scope)
	case access.FirstParty:
		return "browser session, API token without scopes"
	case access.BrowserOnly:
		return "browser session only"
	}
	return fmt.Sprintf("scope `%s`", rule.Scope)
}

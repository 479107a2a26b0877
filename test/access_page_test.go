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

Written by ` + "`make generate`" + ` from the table in ` + "`internal/access/routes.go`" + `; do not edit. The service enforces this table,
` + "`/openapi.json`" + ` (` + "`security`" + `) and the metadata of the authorization server are made from it, and a route without a row cannot be served.

| credential | how it is sent | what it may do |
|---|---|---|
| none | | *public* routes |
| API token, minted without scopes | ` + "`Authorization: Bearer rk_pat_…`" + ` | everything but routes for the *browser session only* |
| API token, minted with scopes | the same | the rights of its scopes |
| OAuth access token | ` + "`Authorization: Bearer rk_oat_…`" + ` | the rights of its scopes, at its one resource (the API, or ` + "`/mcp`" + `); see [oauth.md](oauth.md) |
| browser session | the cookie of ` + "`POST /auth/login`" + ` | everything |

A missing or invalid credential is answered 401, a valid one without the right 403: ` + "`insufficient_scope`" + `, with the
required scope in ` + "`WWW-Authenticate`" + ` (RFC 6750 §3.1), or ` + "`first_party_only`" + `, which no scope opens. Another account's things are
answered 404, like things that do not exist.

## Scopes

| scope | allows |
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

package tracing_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"reckon/internal/tracing"
)

var update = flag.Bool("update", false, "write docs/traces.md")

const tracesPage = "../../docs/traces.md"

// TestTracesPage: docs/traces.md is what the declarations say.
func TestTracesPage(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	want.WriteString(`# Traces

Written by ` + "`make generate` from `internal/tracing/declared.go`" + `; do not edit. A server exports these spans when its environment names a collector
([monitoring.md](monitoring.md#traces)); reasons are in [ADR 49](adr/0049-traces-follow-the-log.md). Names of spans and values of attributes, except
` + "`reckon.request_id` and `reckon.job`" + `, are bounded in number. No span holds an account, an expression, a result, a credential, an address or the text of an error.

| span, for example | role | below | attributes | meaning |
|---|---|---|---|---|
`)
	for _, d := range tracing.Declared {
		keys := make([]string, len(d.Attributes))
		for i, k := range d.Attributes {
			keys[i] = "`" + string(k) + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s |\n", d.Example, d.Kind, d.Below, strings.Join(keys, ", "), d.Meaning)
	}
	fmt.Fprintf(&want, "\nA span of a read model has at most %d links: what else its batch holds is in the log under its own trace.\n", tracing.MaxLinks)
	if *update {
		if err := os.WriteFile(tracesPage, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(tracesPage); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/traces.md is not what the declarations say (%v): run `make generate`", err)
	}
}

// TestDeclarations: every span is declared once, says what it is, and has no attribute that could name an account or what was computed.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	seen := map[tracing.Name]bool{}
	for _, d := range tracing.Declared {
		if seen[d.Name] || d.Example == "" || d.Below == "" || !strings.HasSuffix(d.Meaning, ".") {
			t.Errorf("%+v", d)
		}
		seen[d.Name] = true
		for _, k := range d.Attributes {
			if !regexp.MustCompile(`^(http|reckon)\.[a-z_.]+$`).MatchString(string(k)) || regexp.MustCompile(`account|user|expression|result|token|address|url|stream$`).MatchString(string(k)) {
				t.Errorf("%s has the attribute %s", d.Name, k)
			}
		}
	}
}

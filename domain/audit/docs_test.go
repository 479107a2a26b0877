package audit_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/test/page"
)

var update = flag.Bool("update", false, "write the table of checks into docs/audit.md")

// TestDocsListTheChecks: the page says of each check what the code says.
func TestDocsListTheChecks(t *testing.T) {
	const auditPage, begin, end = "../../docs/audit.md", "| check | proves that |\n|---|---|\n", "<!-- end of checks -->"
	var rows strings.Builder
	for _, check := range audit.Checks() {
		fmt.Fprintf(&rows, "| %s | %s |\n", check.Name, check.Proves)
	}
	page.Keep(t, auditPage, begin, rows.String(), end, *update, "go test ./domain/audit -run TestDocsListTheChecks -update")
}

// TestEveryKindSaysWhatToDo: no finding is without a severity and a remedy.
func TestEveryKindSaysWhatToDo(t *testing.T) {
	for kind, info := range audit.Kinds() {
		if info.Remedy == "" || info.Severity != audit.Error && info.Severity != audit.Warning && info.Severity != audit.Note {
			t.Errorf("%s: %+v", kind, info)
		}
	}
}

// TestDocsListTheFreeFields: the page lists the fields that no check compares, with the reasons of the code.
func TestDocsListTheFreeFields(t *testing.T) {
	const auditPage, begin, end = "../../docs/audit.md", "<!-- free fields: event.Free in domain -->\n", "<!-- end of free fields -->"
	fields := map[string][]string{} // by reason
	for name, reason := range domain.Catalogue().Free() {
		fields[reason] = append(fields[reason], "`"+name+"`")
	}
	var rows strings.Builder
	rows.WriteString("| fields | nothing else in the log follows from them |\n|---|---|\n")
	for _, reason := range slices.Sorted(maps.Keys(fields)) {
		slices.Sort(fields[reason])
		fmt.Fprintf(&rows, "| %s | %s |\n", strings.Join(fields[reason], ", "), reason)
	}
	page.Keep(t, auditPage, begin, rows.String(), end, *update, "go test ./domain/audit -run TestDocsListTheFreeFields -update")
}

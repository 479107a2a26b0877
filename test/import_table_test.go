package test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the import table of docs/architecture.md, docs/limits.md, and what docs/api/README.md lists")

const (
	housePage   = "../docs/architecture.md"
	importsOpen = "<!-- imports: written by go test ./test -run TestImportTable -update -->\n"
	importsEnd  = "<!-- end of imports -->"
)

// importTable is the import rules as a reader sees them.
func importTable() string {
	var b strings.Builder
	list := func(names []string) string {
		shown := make([]string, len(names))
		for i, n := range names {
			shown[i] = "`" + n + "`"
		}
		return strings.Join(shown, ", ")
	}
	b.WriteString("| package | may import, of this repository |\n|---|---|\n")
	for _, pkg := range slices.Sorted(maps.Keys(allowed)) {
		may := allowed[pkg]
		switch {
		case slices.Contains(may, ""):
			fmt.Fprintf(&b, "| `%s` | everything |\n", pkg)
		case len(may) == 0:
			fmt.Fprintf(&b, "| `%s` | – |\n", pkg)
		default:
			fmt.Fprintf(&b, "| `%s` | %s |\n", pkg, list(may))
		}
	}
	b.WriteString("\nA rule holds for the packages below it that have none of their own, and every package may import what lies below it. " +
		"A name that ends in `/` means the packages below.\n\n| library | only in |\n|---|---|\n")
	for _, library := range slices.Sorted(maps.Keys(homes)) {
		where := list(homes[library])
		if where == "" {
			where = "tests"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", library, where)
	}
	return b.String()
}

// TestImportTable keeps the table in docs/architecture.md equal to the rules that TestImports enforces.
func TestImportTable(t *testing.T) {
	t.Parallel()
	keepEqual(t, housePage, importsOpen, importTable(), importsEnd)
}

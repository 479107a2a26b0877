package rules

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leansource"
	"reckon/domain/lean/kernel"
)

var update = flag.Bool("update", false, "write testdata anew")

// write returns the exports of a rule.
func (r *rule) write(t *testing.T) (accept, refuse []byte) {
	t.Helper()
	base := ""
	for _, name := range strings.Fields(r.base) {
		if name == "lean" {
			base += leansource.Prelude
			continue
		}
		if shared[name] == "" {
			t.Fatalf("there is no base %q", name)
		}
		base += shared[name]
	}
	export := func(text string) []byte {
		var out bytes.Buffer
		if err := leansource.Write(&out, base+text); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	accept, refuse = export(r.accept), export(r.refuse)
	if r.edit[0] != "" {
		edited := bytes.Replace(refuse, []byte(r.edit[0]), []byte(r.edit[1]), 1)
		if bytes.Equal(edited, refuse) {
			t.Fatalf("%s does not occur in\n%s", r.edit[0], refuse)
		}
		refuse = edited
	}
	return accept, refuse
}

func file(r *rule, what string) string { return filepath.Join("testdata", r.name+"."+what+".ndjson") }

func TestExportsAreWrittenByThisPackage(t *testing.T) {
	written := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		accept, refuse := r.write(t)
		for what, text := range map[string][]byte{"accept": accept, "refuse": refuse} {
			written[file(r, what)] = true
			if *update {
				if err := os.WriteFile(file(r, what), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(file(r, what)); err != nil || !bytes.Equal(have, text) {
				t.Errorf("%s is not what the package writes (run with -update): %v", file(r, what), err)
			}
		}
	}
	files, _ := filepath.Glob("testdata/*")
	for _, f := range files {
		if !written[f] {
			t.Errorf("%s belongs to no rule", f)
		}
	}
}

func TestEveryRule(t *testing.T) {
	for i := range rules {
		r := &rules[i]
		t.Run(r.name, func(t *testing.T) {
			for _, workers := range []int{1, 2} {
				if class, at := judge(t, file(r, "accept"), workers); class != "" {
					t.Errorf("what keeps the rule is refused: %s at %s", class, at)
				}
				if class, at := judge(t, file(r, "refuse"), workers); class != r.class || at != r.refusedDeclaration {
					t.Errorf("what breaks the rule: %q at %q, not %s at %s", class, at, r.class, r.refusedDeclaration)
				}
			}
		})
	}
}

// judge reads and checks an export. The class is empty where it is accepted.
func judge(t *testing.T, name string, workers int) (class, at string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	var bad *export.Error
	if errors.As(err, &bad) {
		return string(bad.Class), ""
	}
	if err != nil {
		t.Fatal(err)
	}
	result := kernel.Check(context.Background(), f.Store, f.Declarations, kernel.Options{Workers: workers})
	if result.Exhausted != nil {
		t.Fatal(result.Exhausted)
	}
	if result.Refusal == nil {
		return "", ""
	}
	return string(result.Refusal.Class), f.Store.NameString(result.Refusal.Declaration)
}

// The documentation lists every rule with the file of the kernel it is in, and every class of refusal; each has a pair.
func TestEveryRuleOfTheDocumentationHasAPair(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/kernel.md")
	if err != nil {
		t.Fatal(err)
	}
	section := func(heading string) string {
		_, rest, ok := strings.Cut(string(text), "\n## "+heading+"\n")
		if !ok {
			t.Fatalf("docs/kernel.md has no section %q", heading)
		}
		body, _, _ := strings.Cut(rest, "\n## ")
		return body
	}
	rows := func(body string) (rows [][]string) {
		for line := range strings.SplitSeq(body, "\n") {
			if strings.HasPrefix(line, "| ") {
				cells := strings.Split(strings.Trim(line, "| "), " | ")
				rows = append(rows, cells)
			}
		}
		return rows[1:] // without the heading
	}
	quoted := func(cell string) (words []string) {
		for i, part := range strings.Split(cell, "`") {
			if i%2 == 1 {
				words = append(words, part)
			}
		}
		return words
	}

	var listed []string
	places := map[string]bool{}
	for _, row := range rows(section("Every rule, kept and broken")) {
		names := quoted(row[0])
		listed = append(listed, names...)
		for _, place := range quoted(row[1]) {
			places[place] = true
		}
	}
	for _, r := range rules {
		if !slices.Contains(listed, r.name) {
			t.Errorf("docs/kernel.md does not list %s", r.name)
		}
	}
	for _, name := range listed {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.name == name }) {
			t.Errorf("the rule %s of docs/kernel.md has no pair of exports", name)
		}
	}
	for _, row := range rows(section("The rules, and where they are")) {
		for _, place := range quoted(row[len(row)-1]) {
			if !places[place] {
				t.Errorf("no pair of exports is listed for %s: %s", place, row[0])
			}
		}
	}
	uncovered := []string{"resource_limit", "too_large", "stopped", "statement_too_long", // bounds, not rules
		"statement_unreadable"} // no export is known to lead to it
	for _, class := range quoted(section("Refusals")) {
		isClass := strings.Trim(class, "abcdefghijklmnopqrstuvwxyz_") == "" && strings.Contains(class, "_")
		if isClass && !slices.Contains(uncovered, class) && !slices.Contains(foundations, class) &&
			!slices.ContainsFunc(rules, func(r rule) bool { return r.class == class }) {
			t.Errorf("no export is refused as %s", class)
		}
	}
}

// foundations are the classes of package check; its own tests have them.
var foundations = []string{"missing_declaration", "ambiguous_declaration", "custom_axiom", "forged_axiom", "basis_differs", "conformance_differs", "kernels_disagree"}

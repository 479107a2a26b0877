package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	heading        = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	numbered       = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)*)\.? `)
	interfaceCited = regexp.MustCompile(`interface §([0-9]+(?:\.[0-9]+)*)`)
	decisionCited  = regexp.MustCompile(`\bADRs? ([0-9]+)`)
	pageCited      = regexp.MustCompile(`(?:^|[^/\w])(docs/[A-Za-z0-9_./-]*\.(?:md|json|py)(?:#[a-z0-9-]+)?)`)
	link           = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// unpublished names texts that readers of the repository do not have.
	unpublished = regexp.MustCompile(`ARCHITECTURE\.md|API-DECISIONS|http-api-2026-08|\bspec §|eventstore-protocol\.md|verdicts\.md|lean-export-format\.md`)
)

// anchors are the fragments by which a page's headings are linked to, as GitHub makes them.
func anchors(page string) []string {
	var found []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		text := strings.ToLower(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(m[1], ""))
		found = append(found, strings.ReplaceAll(text, " ", "-"))
	}
	return found
}

// TestCitations fails on a citation that resolves to nothing: a section of the interface (docs/api/interface.md), a
// decision, a page under docs or a link of a page to a file or heading that is not there.
func TestCitations(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../docs/api/interface.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for _, m := range heading.FindAllStringSubmatch(string(contract), -1) {
		if n := numbered.FindStringSubmatch(m[1]); n != nil {
			sections = append(sections, n[1])
		}
	}
	decisions, err := filepath.Glob("../docs/adr/*.md")
	if err != nil {
		t.Fatal(err)
	}
	cited := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name != ".." && strings.HasPrefix(name, ".") && name != ".ci" || name == "testdata" || name == "reckon-data" || name == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".py", ".sh", ".toml", ".yml", ".yaml", ".service", ""}, filepath.Ext(path)) || d.Name() == "citations_test.go" || strings.HasSuffix(path, "docs/api/interface.md") {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > 1<<20 {
			return err // a binary that was built here
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, name := string(content), strings.TrimPrefix(path, "../")
		for _, m := range unpublished.FindAllString(text, -1) {
			t.Errorf("%s cites %q, which the repository does not hold: cite docs/api/interface.md (\"interface §4.3\") or docs/architecture.md", name, m)
		}
		for _, m := range interfaceCited.FindAllStringSubmatch(text, -1) {
			cited++
			if !slices.Contains(sections, m[1]) {
				t.Errorf("%s cites section %s of the interface: docs/api/interface.md has none", name, m[1])
			}
		}
		for _, m := range decisionCited.FindAllStringSubmatch(text, -1) {
			cited++
			number := strings.Repeat("0", max(0, 4-len(m[1]))) + m[1]
			if !slices.ContainsFunc(decisions, func(d string) bool { return strings.HasPrefix(filepath.Base(d), number+"-") }) {
				t.Errorf("%s cites ADR %s, which docs/adr does not hold", name, m[1])
			}
		}
		for _, m := range pageCited.FindAllStringSubmatch(text, -1) {
			cited++
			checkPage(t, name, "../"+m[1])
		}
		if filepath.Ext(path) == ".md" {
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				cited++
				target := filepath.Join(filepath.Dir(path), m[1])
				if strings.HasPrefix(m[1], "#") {
					target = path + m[1]
				}
				checkPage(t, name, target)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if cited < 100 {
		t.Errorf("only %d citations found: the walk or the patterns are wrong", cited)
	}
}

func checkPage(t *testing.T, from, target string) {
	t.Helper()
	path, fragment, _ := strings.Cut(target, "#")
	info, err := os.Stat(path)
	if err != nil {
		t.Errorf("%s cites %s, which is not there", from, strings.TrimPrefix(target, "../"))
		return
	}
	if fragment == "" || info.IsDir() {
		return
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if !slices.Contains(anchors(string(page)), fragment) && !strings.Contains(string(page), `id="`+fragment+`"`) {
		t.Errorf("%s cites %s, which has no such heading", from, strings.TrimPrefix(target, "../"))
	}
}

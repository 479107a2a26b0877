package readapi_test

import (
	"go/parser"
	"go/token"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reckon/test/apitest"
)

var (
	operationOfPage = regexp.MustCompile(`(?s)<section class="operation" id="([^"]*)">(.*?)</section>`)
	sampleOfPage    = regexp.MustCompile(`(?s)<div class="sample" data-language="([^"]*)">.*?<pre><code>(.*?)</code></pre>`)
)

// samplesOf are the samples of the reference, by operation and language.
func samplesOf(t *testing.T, s *apitest.Server) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, section := range operationOfPage.FindAllStringSubmatch(string(s.Do(t, http.MethodGet, "/docs", "").OK(t).Body), -1) {
		all[section[1]] = map[string]string{}
		for _, sample := range sampleOfPage.FindAllStringSubmatch(section[2], -1) {
			all[section[1]][sample[1]] = html.UnescapeString(sample[2])
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d operations", len(all))
	}
	return all
}

// TestSamplesAreInTheirLanguages: every operation has a sample in each language, which the language's own tools read.
func TestSamplesAreInTheirLanguages(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	folder := t.TempDir()
	for id, samples := range samplesOf(t, s) {
		if len(samples) != 4 {
			t.Errorf("%s: %d samples", id, len(samples))
		}
		if _, err := parser.ParseFile(token.NewFileSet(), id+".go", samples["Go"], parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v\n%s", id, err, samples["Go"])
		}
		for extension, language := range map[string]string{"py": "Python", "mjs": "TypeScript", "sh": "curl"} {
			if err := os.WriteFile(filepath.Join(folder, id+"."+extension), []byte(samples[language]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for extension, reads := range map[string]string{
		"py": "for f in *.py; do python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' $f || exit 1; done", "mjs": "for f in *.mjs; do node --check $f || exit 1; done", "sh": "for f in *.sh; do sh -n $f || exit 1; done",
	} {
		tool := map[string]string{"py": "python3", "mjs": "node", "sh": "sh"}[extension]
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("no %s here: its samples are not read", tool)
			continue
		}
		command := exec.CommandContext(t.Context(), "sh", "-c", reads)
		command.Dir = folder
		if said, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", tool, err, said)
		}
	}
}

// TestSamplesRun runs samples of a POST and a GET as they stand on the page.
func TestSamplesRun(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	all := samplesOf(t, s)
	for language, runs := range map[string][]string{"curl": {"sh", "s.sh"}, "Python": {"python3", "s.py"}, "Go": {"go", "run", "s.go"}, "TypeScript": {"node", "s.mjs"}} {
		needed := runs[0]
		if language == "curl" {
			needed = "curl"
		}
		if _, err := exec.LookPath(needed); err != nil {
			t.Logf("no %s here: its samples do not run", needed)
			continue
		}
		for operation, says := range map[string]string{"evaluate": `"result":"Integrate[x^2 Sin[x], x]"`, "list-history": `"runs":[`} {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, runs[len(runs)-1]), []byte(all[operation][language]), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), runs[0], runs[1:]...)
			command.Dir = folder
			command.Env = append(os.Environ(), "RECKON_URL="+s.URL, "RECKON_TOKEN="+user.Token, "GOWORK=off")
			if said, err := command.CombinedOutput(); err != nil || !strings.Contains(string(said), says) {
				t.Errorf("%s of %s: %v\n%s\n%s", language, operation, err, said, all[operation][language])
			}
		}
	}
}

// TestDocumentsForAgents: what the service says to agents is what it runs by.
func TestDocumentsForAgents(t *testing.T) {
	t.Parallel()
	const public = "https://reckon.example"
	for _, base := range []string{"", public} {
		s := apitest.Start(t, apitest.Options{PublicURL: base})
		agents, llms := s.Do(t, http.MethodGet, "/agents.md", "").OK(t), s.Do(t, http.MethodGet, "/llms.txt", "").OK(t)
		if agents.Header.Get("Content-Type") != "text/markdown; charset=utf-8" || llms.Header.Get("Content-Type") != "text/plain; charset=utf-8" || agents.Header.Get("ETag") == "" {
			t.Errorf("%v %v", agents.Header, llms.Header)
		}
		if !strings.HasPrefix(string(llms.Body), "# Reckon\n\n> ") || !strings.Contains(string(llms.Body), "]("+base+"/agents.md)") {
			t.Errorf("%.300s", llms.Body)
		}
		for _, r := range servedRoutes(t, s) {
			if row := "| `" + r.Method + " " + r.Path + "` |"; !strings.Contains(string(agents.Body), row) {
				t.Errorf("agents.md lacks %s", row)
			}
			if link := "- [" + r.Method + " " + r.Path + "](" + base + "/docs#"; !strings.Contains(string(llms.Body), link) {
				t.Errorf("llms.txt lacks %s", link)
			}
		}
		for _, kind := range s.API.Kinds() {
			if !strings.Contains(string(agents.Body), "| `"+kind.Code+"` |") {
				t.Errorf("agents.md lacks %s", kind.Code)
			}
		}
		for _, part := range []string{"`simulate_circuit`", "2026-07-28", "| free | 3000 | 20 |", base + "/mcp"} {
			if !strings.Contains(string(agents.Body), part) {
				t.Errorf("agents.md lacks %s", part)
			}
		}
		if rest := strings.ReplaceAll(string(agents.Body)+string(llms.Body), public, ""); strings.Contains(rest, "http://") || strings.Contains(rest, "https://") || strings.Contains(rest, "<no value>") {
			t.Error("a foreign address")
		}
	}
}

package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"reckon/test/e2e"
	"reckon/test/need"
)

// proofExport is a proof export of a declaration named one.
const proofExport = "mcp/proof.ndjson"

// TestMCPClients: the official clients call every tool, with an API token and signed in through OAuth, in the revisions with sessions
// and in the one without.
func TestMCPClients(t *testing.T) {
	t.Parallel()
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--config", e2e.GenerousPlans(t, data))
	account := server.NewAccount("mcp@example.com")
	credentials := map[string]string{"an API token": account.Token, "OAuth": session(t, account)}
	const told = "the story is told in "
	t.Run("Python", func(t *testing.T) {
		folder := copied(t, "mcp/python")
		python := pythonOf(t, folder)
		export, err := os.ReadFile(proofExport)
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(folder, "client.py")
		onPage(t, program)
		if said := run(t, folder, false, nil, python, program, server.URL+"/mcp", account.Token); said != "x^3/3 verified\n" {
			t.Errorf("docs/mcp.md: %s", said)
		}
		for kind, credential := range credentials {
			for mode, revision := range map[string]string{"legacy": "2025-11-25", "auto": "2026-07-28"} {
				command := exec.CommandContext(t.Context(), python, "tools.py", server.URL+"/mcp", credential, mode)
				command.Dir, command.Stdin = folder, strings.NewReader(string(export))
				if said, err := command.CombinedOutput(); err != nil || !strings.Contains(string(said), told+revision) {
					t.Errorf("%s, %s: %v\n%s", kind, mode, err, said)
				}
			}
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		needNode(t)
		folder := copied(t, "mcp/typescript")
		installNode(t, folder)
		onPage(t, filepath.Join(folder, "client.mjs"))
		if said := run(t, folder, false, nil, "node", "client.mjs", server.URL+"/mcp", account.Token); said != "x^3/3 verified\n" {
			t.Errorf("docs/mcp.md: %s", said)
		}
		export, err := filepath.Abs(proofExport)
		if err != nil {
			t.Fatal(err)
		}
		for kind, credential := range credentials {
			if said := run(t, folder, false, nil, "node", "tools.js", server.URL+"/mcp", credential, export); !strings.Contains(said, told+"2025-11-25") {
				t.Errorf("%s: %s", kind, said)
			}
		}
	})
}

// onPage writes the program that docs/mcp.md has under the file's name.
func onPage(t *testing.T, file string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- run: " + regexp.QuoteMeta(filepath.Base(file)) + " -->\n```[a-z]+\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/mcp.md has no %s", filepath.Base(file))
	}
	if err := os.WriteFile(file, found[1], 0o600); err != nil {
		t.Fatal(err)
	}
}

// lacks are what a failed check of the conformance suite may say: that the server has none of the suite's own tools, prompts and
// resources, or does not offer a capability that a server may leave out.
var lacks = regexp.MustCompile(`unknown (tool|prompt) "test_|Not testable: server (does not list the diagnostic tool 'test_|exposes no tool with x-mcp-header)|` +
	`Tool 'json_schema_2020_12_tool' not found|method not found: "(completion/complete|resources/subscribe)"|` +
	`Expected InputRequiredResult with|could not get initial InputRequiredResult|instead of re-requesting via InputRequiredResult|` + // of such a tool
	`Server did not send (priming event|retry field)`) // recommended to servers whose answers can be resumed

// ownResources are the scenarios that read the suite's own resources, which are said to be missing without a name.
var ownResources = []string{"resources-read-text", "resources-read-binary", "resources-templates-read"}

// passed are the scenarios of each revision that need nothing of the suite's own: every check of theirs passes.
var passed = map[string][]string{
	"2025-06-18": {"server-initialize", "ping", "logging-set-level", "tools-list", "resources-list", "prompts-list", "server-session-lifecycle"},
	"2025-11-25": {"server-initialize", "ping", "logging-set-level", "tools-list", "resources-list", "prompts-list", "server-session-lifecycle", "server-sse-multiple-streams", "dns-rebinding-protection"},
	"2026-07-28": {"tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams", "sep-2164-resource-not-found", "dns-rebinding-protection", "caching", "http-header-validation",
		"input-required-result-unsupported-methods", "input-required-result-validate-input"},
}

// check is what the suite says of one requirement.
type check struct {
	ID, Status   string
	ErrorMessage string `json:"errorMessage"`
}

// runStamp ends the name of the folder of a scenario's checks.
var runStamp = regexp.MustCompile(`-20\d\d-\d\d-\d\dT[-0-9]+Z$`)

// TestMCPConformance: the public conformance suite finds nothing but that its own tools, prompts and resources are not there, and every
// message is of the protocol's schema. The suite has no credential: a proxy adds one.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	needNode(t)
	folder := copied(t, "mcp/conformance")
	installNode(t, folder)
	node := newerNode(t, folder)
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--config", e2e.GenerousPlans(t, data))
	account := server.NewAccount("conformance@example.com")
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var broke proxyLog
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     &http.Transport{DisableKeepAlives: true}, // not the shared one, whose idle connections any test may close
		ErrorLog:      log.New(&broke, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+account.Token)
		},
	})
	defer proxy.Close()
	for revision, whole := range passed {
		t.Run(revision, func(t *testing.T) {
			for attempt := 1; ; attempt++ {
				results := filepath.Join(folder, fmt.Sprintf("results-%s-%d", revision, attempt))
				command := exec.CommandContext(t.Context(), node, "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", proxy.URL+"/mcp", "--suite", "all", "--spec-version", revision, "--output-dir", results)
				command.Dir = folder
				broke.reset()
				said, err := command.CombinedOutput()
				if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed { // it ends with 1 where a check fails
					t.Fatalf("%v\n%s", err, said)
				}
				complaints := judge(t, results, whole, string(said))
				if len(complaints) == 0 {
					return
				}
				proxySaid, ownFault := broke.said()
				if attempt == 3 || !ownFault && slices.ContainsFunc(complaints, func(c string) bool { return !isUntested(c) }) {
					t.Errorf("%s\n%s", strings.Join(complaints, "\n"), proxySaid)
					return
				}
				t.Logf("run %d again, because the suite could not test everything: %q\n%s", attempt, complaints, proxySaid)
			}
		})
	}
}

// proxyLog is what the test's proxy logs.
type proxyLog struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write is io.Writer.
func (l *proxyLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *proxyLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// said returns the log, and whether the proxy broke an answer itself: the connection was closed on its side, not on the server's.
func (l *proxyLog) said() (text string, ownFault bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String(), strings.Contains(l.text.String(), net.ErrClosed.Error())
}

// isUntested tells whether a complaint is that the suite gave up a request of its own before it had the answer: it waits a fixed time.
func isUntested(complaint string) bool { return strings.Contains(complaint, "WARNING Not testable") }

// judge reads the suite's results of one revision, and returns what it complains of.
func judge(t *testing.T, results string, whole []string, said string) (complaints []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d scenarios, %v\n%s", len(files), err, said)
	}
	ran, succeeded := map[string]bool{}, 0
	for _, file := range files {
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(written, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		folder := runStamp.ReplaceAllString(filepath.Base(filepath.Dir(file)), "")
		scenario := strings.TrimPrefix(folder, "server-")
		ran[scenario] = true
		for _, c := range checks {
			bad := c.Status == "FAILURE" || c.Status == "WARNING"
			excused := !slices.Contains(whole, scenario) && (lacks.MatchString(c.ErrorMessage) || slices.Contains(ownResources, scenario) && strings.HasSuffix(c.ErrorMessage, "Resource not found"))
			if bad && (!excused || strings.HasPrefix(c.ID, "wire-schema")) {
				complaints = append(complaints, fmt.Sprintf("%s: %s: %s %s", scenario, c.ID, c.Status, c.ErrorMessage))
			}
			if c.Status == "SUCCESS" {
				succeeded++
			}
		}
	}
	for _, scenario := range whole {
		if !ran[scenario] {
			complaints = append(complaints, fmt.Sprintf("the scenario %s did not run", scenario))
		}
	}
	t.Logf("%d scenarios, %d checks passed", len(ran), succeeded)
	return complaints
}

// newerNode is the Node.js that the folder pins: the suite needs a newer one than the other tools.
func newerNode(t *testing.T, folder string) string {
	t.Helper()
	architecture := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if architecture == "" {
		architecture = runtime.GOARCH
	}
	pinned := filepath.Join(folder, "node_modules", "node-"+runtime.GOOS+"-"+architecture, "bin", "node")
	if _, err := os.Stat(pinned); err != nil {
		need.Skip(t, fmt.Sprintf("Node.js 22 (%v)", err), "make soak, on a system that the npm registry has one for")
	}
	return pinned
}

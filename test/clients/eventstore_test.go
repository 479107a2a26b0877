package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/eventstore/node"
	"reckon/test/need"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// startEventStore runs the embedded node as `reckon node --insecure-listen` does.
func startEventStore(t *testing.T) *node.Node {
	t.Helper()
	n, err := node.Open(node.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Longest)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return n
}

// stories are the programs that tell the same story with official clients of other languages, by language. Each is made once
// and returns the command that takes an address.
var stories = map[string]func(t *testing.T) []string{
	"Python": func(t *testing.T) []string {
		folder := copied(t, "eventstore/python")
		return []string{pythonOf(t, folder), filepath.Join(folder, "story.py")}
	},
	"Node": func(t *testing.T) []string {
		needNode(t)
		folder := copied(t, "eventstore/node")
		installNode(t, folder)
		return []string{"node", filepath.Join(folder, "story.js")}
	},
	"Java": func(t *testing.T) []string {
		needTools(t, "mvn", "java", "javac")
		folder := copied(t, "eventstore/java")
		// -C: an artifact whose checksum is wrong ends the build
		run(t, folder, true, nil, "mvn", "--quiet", "--batch-mode", "-C", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
		libraries, err := os.ReadFile(filepath.Join(folder, "classpath"))
		if err != nil {
			t.Fatal(err)
		}
		return []string{"java", "-cp", filepath.Join(folder, "target", "classes") + string(os.PathListSeparator) + strings.TrimSpace(string(libraries)), "Story"}
	},
	"Rust": func(t *testing.T) []string {
		needTools(t, "cargo")
		if os.Getenv(rustStory) == "" {
			need.Skip(t, "minutes to compile 200 crates", rustStory+"=1 make soak")
		}
		folder := copied(t, "eventstore/rust")
		run(t, folder, true, nil, "cargo", "build", "--quiet")
		return []string{filepath.Join(folder, "target", "debug", "eventstore-groups")}
	},
}

// rustStory is the environment variable that has the story of the Rust client compiled and told.
const rustStory = "RECKON_TEST_RUST"

// TestEventStoreClients: the official clients of other languages use every call of persistent subscriptions, and index streams,
// without authentication and over TLS as a user with a password.
func TestEventStoreClients(t *testing.T) {
	t.Parallel()
	insecure, secure := startEventStore(t), startSecureEventStore(t, t.TempDir())
	for language, make := range stories {
		t.Run(language, func(t *testing.T) {
			story := make(t)
			for mode, address := range map[string]string{"insecure": insecure.ConnectionString(), "TLS": asAdmin(t, secure)} {
				t.Run(mode, func(t *testing.T) {
					command := append(slices.Clone(story), address)
					if said := run(t, t.TempDir(), false, nil, command[0], command[1:]...); !strings.Contains(said, "the story is told") {
						t.Error(said)
					}
				})
			}
		})
	}
}

const eventStoreModule = "github.com/EventStore/EventStore-Client-Go/v4"

// suitePatches are the lines of the official Go client's suite that hold on Kurrent's own test database only: stamps and
// positions of its events. By file.
var suitePatches = map[string]*regexp.Regexp{
	"read_stream_test.go":   regexp.MustCompile(`(?m)^.*(Event\.Created\.|Event\.Position\.(Commit|Prepare), events\[i\]).*\n`),
	"subscriptions_test.go": regexp.MustCompile(`(?m)^.*positions\[current\]\..*\n`),
}

// suiteWait is how long the suite waits for what it expects: too short for a machine with other work. Where it expects that nothing
// comes it writes its time otherwise.
const suiteWait = "time.Duration(5)*time.Second"

// suiteSkips are tests of the suite that are not run: the first two need JavaScript projections and client certificates, the
// others read $all of Kurrent's test database.
const suiteSkips = `^(TestProjections|TestPlugins)$|^TestExpectations$/^ReadAllTests$/^readAllEvents(Forwards|Backwards)From`

// suiteMode is a way of running the suite: its environment, how many tests pass, and which skip themselves.
type suiteMode struct {
	environment []string
	passed      int
	skipped     []string
}

// TestEventStoreGoSuite runs the official Go client's own integration tests on the node, without TLS and over TLS with users.
func TestEventStoreGoSuite(t *testing.T) {
	t.Parallel()
	sweep.Only(t, "the suite waits for what it expects not to happen")
	folder := suiteSource(t)
	binary := filepath.Join(folder, "suite.test")
	run(t, folder, true, []string{"GOFLAGS=-mod=mod"}, "go", "test", "-c", "-o", binary, "./esdb")
	t.Run("insecure", func(t *testing.T) {
		n := startEventStore(t)
		runSuite(t, folder, binary, suiteMode{
			environment: []string{"EVENTSTORE_INSECURE=true", "ESDB_TEST_ADDRESS=" + hostOf(t, n.ConnectionString())},
			passed:      86,
			skipped:     []string{"TestStreams/AppendTests/appendToSystemStreamWithIncorrectCredentials", "TestStreams/ReadStreamTests/readStreamWithCredentialsOverride"},
		})
	})
	t.Run("TLS", func(t *testing.T) {
		data, others := t.TempDir(), t.TempDir()
		n := startSecureEventStore(t, data)
		startSecureEventStore(t, others) // for a CA that did not sign
		for to, from := range map[string]string{
			"ca/ca.crt": filepath.Join(data, "tls", "ca.crt"), "node/node.crt": filepath.Join(data, "tls", "node.crt"), "untrusted-ca/ca.crt": filepath.Join(others, "tls", "ca.crt"),
		} {
			pem, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			replaceFile(t, filepath.Join(folder, "certs", to), pem)
		}
		runSuite(t, folder, binary, suiteMode{
			environment: []string{"EVENTSTORE_INSECURE=false", "ESDB_TEST_ADDRESS=" + hostOf(t, n.SecureConnectionString())},
			passed:      97,
		})
	})
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}

// suiteSource is a copy of the suite with our harness in place of its own.
func suiteSource(t *testing.T) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "suite")
	if err := os.CopyFS(folder, os.DirFS(moduleFolder(t, eventStoreModule))); err != nil {
		t.Fatal(err)
	}
	for file, lines := range suitePatches {
		path := filepath.Join(folder, "esdb", file)
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !lines.Match(source) {
			t.Errorf("nothing to patch in %s", file)
		}
		replaceFile(t, path, lines.ReplaceAll(source, nil))
	}
	waits := 0
	tests, err := filepath.Glob(filepath.Join(folder, "esdb", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tests {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		waits += strings.Count(string(source), suiteWait)
		replaceFile(t, path, []byte(strings.ReplaceAll(string(source), suiteWait, "2*time.Minute")))
	}
	if waits == 0 {
		t.Errorf("the suite waits nowhere for %s", suiteWait)
	}
	harness, err := os.ReadFile("eventstore/go/harness.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, filepath.Join(folder, "esdb", "containers_test.go"), harness)
	return folder
}

func runSuite(t *testing.T, folder, binary string, mode suiteMode) {
	t.Helper()
	ctx, cancel := wait.Whole(t)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "tool", "test2json", binary, "-test.v=test2json", "-test.timeout=50m", "-test.skip="+suiteSkips)
	command.Dir, command.Env = filepath.Join(folder, "esdb"), append(append(os.Environ(), "CLUSTER=false"), mode.environment...)
	said, err := command.CombinedOutput()
	results := suiteResults(t, said)
	var skipped []string
	passed := 0
	for test, result := range results {
		switch result {
		case "pass":
			passed++
		case "skip":
			skipped = append(skipped, test)
		}
	}
	slices.Sort(skipped)
	t.Logf("%d passed, skipped: %v", passed, skipped)
	if err != nil || passed != mode.passed || !slices.Equal(skipped, mode.skipped) {
		t.Errorf("%d of %d passed, skipped %v: %v\n%s", passed, mode.passed, skipped, err, failuresOf(said))
	}
}

// moduleFolder is where the source of a module that go.mod requires lies.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	said, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(said))
}

// replaceFile writes a file, also one that came from the module cache, where files may not be written.
func replaceFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// testEvent is a line of what test2json says.
type testEvent struct{ Action, Test, Output string }

// suiteResults are the results of the tests that have no tests below them.
func suiteResults(t *testing.T, said []byte) map[string]string {
	t.Helper()
	results := map[string]string{}
	for _, e := range testEvents(said) {
		switch e.Action {
		case "pass", "fail", "skip":
			results[e.Test] = e.Action
		}
	}
	for test := range results {
		for parent := filepath.Dir(test); parent != "."; parent = filepath.Dir(parent) {
			delete(results, parent)
		}
	}
	delete(results, "")
	return results
}

func testEvents(said []byte) []testEvent {
	var events []testEvent
	for line := range strings.Lines(string(said)) {
		var e testEvent
		if json.Unmarshal([]byte(line), &e) == nil {
			events = append(events, e)
		}
	}
	return events
}

// failuresOf is what the tests that failed have said.
func failuresOf(said []byte) string {
	output, failed := map[string]string{}, []string{}
	for _, e := range testEvents(said) {
		if output[e.Test] += e.Output; e.Action == "fail" {
			failed = append(failed, e.Test)
		}
	}
	var b strings.Builder
	for _, test := range failed {
		fmt.Fprintf(&b, "%s:\n%s\n", test, output[test])
	}
	return b.String()
}

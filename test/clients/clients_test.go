package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"reckon/test/e2e"
	"reckon/test/need"
	"reckon/test/python"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// oldestNode is the oldest major version of Node.js that the pinned tools run on.
const oldestNode = 20

// description is the path of the committed openapi.json, which a test of readapi compares with the one that is served.
func description(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../docs/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// copied is a copy of a folder of this package, in which tools may write.
func copied(t *testing.T, folder string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return to
}

// run runs a command in a folder and returns what it prints; where install is true and no registry can be reached the test is skipped.
func run(t *testing.T, folder string, install bool, environment []string, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := wait.Whole(t)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	command.Env = append(append(os.Environ(), "GOWORK=off"), environment...)
	output, err := command.CombinedOutput()
	switch {
	case err != nil && install && python.Unreachable.Match(output):
		need.Skip(t, "the registry that "+name+" installs from", "make soak, where it can be reached")
	case err != nil:
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, output)
	}
	return string(output)
}

// pythonOf is an interpreter with the packages that a folder's requirements.txt pins.
func pythonOf(t *testing.T, folder string) string {
	t.Helper()
	requirements, err := os.ReadFile(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return python.With(t, string(requirements))
}

// debian are the packages of programs.
var debian = map[string]string{"node": "nodejs", "npm": "npm", "javac": "default-jdk-headless", "java": "default-jdk-headless", "mvn": "maven", "cargo": "cargo"}

// needTools skips a test outside make soak, and where one of the programs is missing.
func needTools(t *testing.T, tools ...string) {
	t.Helper()
	sweep.Only(t, "foreign tools install their packages anew")
	for _, tool := range tools {
		need.Program(t, tool, debian[tool])
	}
}

// needNode skips a test where there is no Node.js, or one that is too old.
func needNode(t *testing.T) {
	t.Helper()
	needTools(t, "node", "npm")
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(bytes.TrimSpace(version)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		need.Skip(t, fmt.Sprintf("Node.js %d or later; here is %s", oldestNode, bytes.TrimSpace(version)), "make soak, with a newer one on the PATH")
	}
}

// installNode installs the packages of the lock file of a folder.
func installNode(t *testing.T, folder string) {
	t.Helper()
	run(t, folder, true, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel", "error")
}

// TestGeneratedClients: clients made of the description compile strictly and tell the README's story.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	const told = "the story is told"
	server := e2e.Start(t, e2e.DataFolder(t))
	t.Run("Go", func(t *testing.T) {
		folder := copied(t, "go")
		if err := os.Mkdir(filepath.Join(folder, "reckon"), 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, folder, true, nil, "go", "mod", "download")
		run(t, folder, false, nil, "go", "tool", "oapi-codegen", "-config", "oapi-codegen.yaml", description(t))
		run(t, folder, false, nil, "go", "vet", "./...")
		if said := run(t, folder, false, nil, "go", "run", ".", server.URL); !strings.Contains(said, told) {
			t.Error(said)
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		needNode(t)
		folder := copied(t, "typescript")
		installNode(t, folder)
		run(t, folder, false, nil, "npx", "--no-install", "openapi-typescript", description(t), "--output", "reckon.ts")
		run(t, folder, false, nil, "npx", "--no-install", "tsc")
		if said := run(t, folder, false, nil, "node", "made/story.js", server.URL); !strings.Contains(said, told) {
			t.Error(said)
		}
	})
}

// warned is what redocly says last of a description with warnings.
var warned = regexp.MustCompile(`You have \d+ warning`)

// TestLinters: redocly and spectral find neither an error nor a warning.
func TestLinters(t *testing.T) {
	t.Parallel()
	needNode(t)
	folder := copied(t, "lint")
	installNode(t, folder)
	environment := []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}
	if said := run(t, folder, false, environment, "npx", "--no-install", "redocly", "lint", "--extends", "recommended", description(t)); warned.MatchString(said) {
		t.Error(said)
	}
	run(t, folder, false, nil, "npx", "--no-install", "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", description(t))
}

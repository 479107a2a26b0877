package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/test/e2e"
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

// unreachable are words of tools that cannot reach a registry.
var unreachable = regexp.MustCompile(`ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|dial tcp|no such host|NewConnectionError|Temporary failure in name resolution`)

// run runs a command in a folder and returns what it prints; where install is true and no registry can be reached the test is skipped.
func run(t *testing.T, folder string, install bool, environment []string, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	command.Env = append(append(os.Environ(), "GOWORK=off"), environment...)
	output, err := command.CombinedOutput()
	switch {
	case err != nil && install && unreachable.Match(output):
		t.Skipf("%s %v: the registry cannot be reached:\n%s", name, arguments, output)
	case err != nil:
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, output)
	}
	return string(output)
}

// installPython makes the Python environment of the packages that a folder's requirements.txt pins, unless it is there, and returns its
// folder of programs. A test is skipped where there is no Python, or no registry to install from.
func installPython(t *testing.T, name, folder string) string {
	t.Helper()
	if output, err := exec.Command("python3", "-c", "import venv, ensurepip").CombinedOutput(); err != nil {
		t.Skipf("needs Python with venv: %v\n%s", err, output)
	}
	requirements, err := os.ReadFile(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	environment := filepath.Join(cache, "reckon", fmt.Sprintf("%s-%.6x", name, sha256.Sum256(requirements)))
	bin, ready := filepath.Join(environment, "bin"), filepath.Join(environment, "ready")
	if _, err := os.Stat(ready); err == nil {
		return bin
	}
	run(t, folder, false, nil, "python3", "-m", "venv", "--clear", environment)
	run(t, folder, true, nil, filepath.Join(bin, "pip"), "install", "--quiet", "--no-input", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", "requirements.txt")
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return bin
}

// needTools skips a test where one of the programs is missing.
func needTools(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
}

// needNode skips a test where there is no Node.js, or one that is too old.
func needNode(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); errors.Is(err, exec.ErrNotFound) {
			t.Skipf("needs Node.js %d or later: no %s here", oldestNode, tool)
		}
	}
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(bytes.TrimSpace(version)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		t.Skipf("needs Node.js %d or later, here is %s", oldestNode, version)
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
	server := e2e.Start(t, e2e.DataFolder(t))
	const told = "the story is told"
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

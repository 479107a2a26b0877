package clients

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"reckon/test/e2e"
)

// fewestCases is how many requests schemathesis sends at least: with fewer something is not tried.
const fewestCases = 1000

var generated = regexp.MustCompile(`(\d+) generated, (\d+) passed`)

// TestSchemathesis calls every operation with what the description allows and with what it rules out, and follows what answers
// lead to: no check finds anything. It sends one request at a time, in the same order in every run.
func TestSchemathesis(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	needPython(t)
	folder := copied(t, "schemathesis")
	bin := installPython(t, "schemathesis", folder)
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--config", e2e.GenerousPlans(t, data))
	account := server.NewAccount("schemathesis@example.com")
	environment := []string{
		"RECKON_HOOKS=" + filepath.Join(folder, "hooks.py"), "RECKON_TOKEN=" + account.Token,
		"RECKON_COOKIE=" + session(t, account), "RECKON_OTHER_COOKIE=" + session(t, account), "RECKON_CONSISTENCY_TOKEN=" + write(t, account),
	}
	said := run(t, folder, false, environment, filepath.Join(bin, "schemathesis"), "--config-file", "schemathesis.toml", "run", server.URL+"/openapi.json", "--no-color")
	counts := generated.FindStringSubmatch(said)
	if counts == nil || counts[1] != counts[2] {
		t.Fatal(said)
	}
	if n, err := strconv.Atoi(counts[1]); err != nil || n < fewestCases {
		t.Errorf("%d requests only\n%s", n, said)
	}
	t.Logf("%s requests", counts[1])
}

// needPython skips a test where there is no Python that makes environments.
func needPython(t *testing.T) {
	t.Helper()
	if output, err := exec.Command("python3", "-c", "import venv, ensurepip").CombinedOutput(); err != nil {
		t.Skipf("needs Python with venv: %v\n%s", err, output)
	}
}

// installPython makes the Python environment, of this name, of the packages that a folder pins, unless it is there, and returns its
// folder of programs.
func installPython(t *testing.T, name, folder string) string {
	t.Helper()
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

// session opens a browser session and returns its cookie.
func session(t *testing.T, account *e2e.Account) string {
	t.Helper()
	response, err := account.Do(http.MethodPost, "/auth/login", map[string]string{"email": account.Email, "password": "correct horse battery"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if len(response.Cookies()) != 1 {
		t.Fatalf("login: %s", response.Status)
	}
	return response.Cookies()[0].Name + "=" + response.Cookies()[0].Value
}

// write evaluates and returns the Consistency-Token of the answer.
func write(t *testing.T, account *e2e.Account) string {
	t.Helper()
	response, err := account.Do(http.MethodPost, "/api/evaluate", map[string]string{"expression": "Plot[Sin[x], {x, 0, 1}]"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	token := response.Header.Get("Consistency-Token")
	if token == "" {
		t.Fatalf("evaluate: %s", response.Status)
	}
	return token
}

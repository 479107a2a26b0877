package clients

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"reckon/test/e2e"
	"reckon/test/sweep"
)

// fewestCases is how many requests schemathesis sends at least: with fewer something is not tried.
const fewestCases = 1000

var generated = regexp.MustCompile(`(\d+) generated, (\d+) passed`)

// TestSchemathesis calls every operation with what the description allows and with what it rules out, and follows what answers
// lead to: no check finds anything. It sends one request at a time, in the same order in every run.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	sweep.Only(t, "thousands of requests, one at a time")
	folder := copied(t, "schemathesis")
	bin := filepath.Dir(pythonOf(t, folder))
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

// session opens a browser session and returns its cookie.
func session(t *testing.T, account *e2e.Account) string {
	t.Helper()
	response, err := account.Do(http.MethodPost, "/auth/login", map[string]string{"email": account.Email, "password": "correct horse battery"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if len(response.Cookies()) == 0 { // the session's, then the device's
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

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reckon/runners/engine/enginetest"
	"reckon/test/binary"
	"reckon/test/wait"
)

type evaluation struct {
	Result       string   `json:"result"`
	Status       string   `json:"status"`
	RunID        int64    `json:"run_id"`
	PlotURL      *string  `json:"plot_url"`
	ReceiptURL   *string  `json:"receipt_url"`
	Stdout       *string  `json:"stdout"`
	Warnings     []string `json:"warnings"`
	Verification *struct {
		Verdict   string `json:"verdict"`
		Basis     string `json:"basis"`
		Method    string `json:"method"`
		Automatic bool   `json:"automatic"`
	} `json:"verification"`
}

type history struct {
	Runs []struct {
		RunID        int64  `json:"run_id"`
		Expression   string `json:"expression"`
		Status       string `json:"status"`
		Verification *struct {
			Verdict string `json:"verdict"`
		} `json:"verification"`
	} `json:"runs"`
	HasMore bool `json:"has_more"`
}

func (a *Account) evaluate(t testing.TB, code, session string) evaluation {
	t.Helper()
	body := map[string]string{"expression": code}
	if session != "" {
		body["session_id"] = session
	}
	var e evaluation
	if err := a.JSON("POST", "/api/evaluate", body, &e); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return e
}

// TestFromNothingToAVerifiedReceipt is the main job, whole: register, evaluate,
// verify offline, find it in history, restart.
func TestFromNothingToAVerifiedReceipt(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data)
	account := server.NewAccount("newcomer@example.com")
	e := account.evaluate(t, "Integrate[x^2 Sin[x], x]", "")
	if e.Status != "success" || e.RunID == 0 || e.ReceiptURL == nil {
		t.Fatalf("evaluation: %+v", e)
	}
	if e.Verification == nil || e.Verification.Verdict != "verified" || e.Verification.Method != "integrate_residual" || !e.Verification.Automatic {
		t.Errorf("the antiderivative is not verified: %+v", e.Verification)
	}
	receiptFile, keysFile := filepath.Join(t.TempDir(), "receipt.json"), filepath.Join(t.TempDir(), "keys.json")
	save(t, account, *e.ReceiptURL, receiptFile)
	save(t, account, "/.well-known/service-keys.json", keysFile)
	verifyOffline(t, receiptFile, keysFile)
	tampered(t, receiptFile, keysFile)

	account.expectHistory(t, e.RunID)
	if status := server.Interrupt(); status != 0 {
		t.Errorf("Ctrl-C: exit status %d\n%s", status, server.Output())
	}
	server = Start(t, data)
	account.URL = server.URL
	account.expectHistory(t, e.RunID)
	again := account.evaluate(t, "1+1", "")
	if again.RunID <= e.RunID {
		t.Errorf("run id %d after %d", again.RunID, e.RunID)
	}
}

func (a *Account) expectHistory(t *testing.T, runID int64) {
	t.Helper()
	var h history
	if err := a.JSON("GET", "/api/history", nil, &h); err != nil {
		t.Fatal(err)
	}
	for _, r := range h.Runs {
		if r.RunID == runID {
			return
		}
	}
	t.Errorf("run %d is not in history: %+v", runID, h)
}

func save(t *testing.T, a *Account, path, file string) {
	t.Helper()
	response, err := a.Do("GET", path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", path, response.Status, err, content)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// cryptography is what auditors verify signatures with.
const cryptography = "cryptography==46.0.3\n"

func verifyOffline(t *testing.T, receiptFile, keysFile string) {
	t.Helper()
	if output, verified := offline(t, receiptFile, "--keys", keysFile); !verified || !strings.HasPrefix(output, "verified: ") {
		t.Fatalf("offline check: %s", output)
	}
}

// tampered changes the record and expects the offline check to notice.
func tampered(t *testing.T, receiptFile, keysFile string) {
	t.Helper()
	content, err := os.ReadFile(receiptFile)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), `Sin[x]`, `Cos[x]`, 1)
	if changed == string(content) {
		t.Fatal("nothing to change in the receipt")
	}
	file := receiptFile + ".changed"
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, verified := offline(t, file, "--keys", keysFile); verified {
		t.Errorf("a changed receipt verified: %s", output)
	}
}

// TestSample runs the shared sample through the HTTP API.
func TestSample(t *testing.T) {
	t.Parallel()
	samples := enginetest.Samples(t)
	data := DataFolder(t)
	server := Start(t, data, "--config", GenerousPlans(t, data))
	account := server.NewAccount("sample@example.com")
	right, scored := 0, 0
	for _, sample := range samples {
		if !sample.Scored() {
			continue
		}
		scored++
		var e evaluation
		if err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": sample.Input}, &e); err != nil {
			t.Logf("wrong: %s: %v", sample.Input, err)
			continue
		}
		answer := enginetest.Answer{Result: e.Result, Warnings: e.Warnings}
		if e.Stdout != nil {
			answer.Stdout = *e.Stdout
		}
		if e.PlotURL != nil {
			answer.SVG = plot(t, account, *e.PlotURL)
		}
		if ok, why := sample.Right(t, answer); ok {
			right++
		} else {
			t.Logf("wrong: %s: %s", sample.Input, why)
		}
	}
	t.Logf("%d of %d right", right, scored)
	if right < 64 {
		t.Errorf("%d right; at least 64 are wanted", right)
	}
}

func plot(t *testing.T, a *Account, path string) []byte {
	t.Helper()
	response, err := a.Do("GET", path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(response.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%s: %v, %v", path, err, response.Header)
	}
	return content
}

func TestSessionsKeepDefinitionsAndEnd(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", GenerousPlans(t, data))
	account := server.NewAccount("sessions@example.com")
	account.evaluate(t, "a = 41", "notebook")
	if e := account.evaluate(t, "a + 1", "notebook"); e.Result != "42" {
		t.Errorf("in the session: %q", e.Result)
	}
	if e := account.evaluate(t, "a + 1", ""); e.Result == "42" {
		t.Error("a definition left its session")
	}
	if e := account.evaluate(t, "a + 1", "other"); e.Result == "42" {
		t.Error("a definition reached another session")
	}
	var cleared struct {
		Existed bool `json:"existed"`
	}
	for _, want := range []bool{true, false} {
		if err := account.JSON("DELETE", "/api/sessions/notebook", nil, &cleared); err != nil || cleared.Existed != want {
			t.Errorf("clear: %+v, %v; want existed %v", cleared, err, want)
		}
	}
	if e := account.evaluate(t, "a + 1", "notebook"); e.Result == "42" {
		t.Error("a cleared session kept its definitions")
	}
	// A worker that is killed takes its definitions along, and the next answer says so.
	account.evaluate(t, "b = 7", "other")
	if status, code := statusOf(account.JSON("POST", "/api/evaluate", map[string]string{"expression": "While[True]", "session_id": "other"}, nil)); status != http.StatusRequestTimeout || code != "budget_exhausted" {
		t.Errorf("While[True]: %d %s", status, code)
	}
	var gone *StatusError
	account.evaluate(t, "c = 7", "killed")
	if err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": "While[True]", "session_id": "killed"}, nil); !errors.As(err, &gone) || gone.SessionEnded != "worker_died" || !strings.Contains(gone.Detail, "variables") {
		t.Errorf("what was lost: %v", err)
	}
	if e := account.evaluate(t, "b", "other"); e.Result != "b" || len(e.Warnings) == 0 || !strings.Contains(strings.Join(e.Warnings, " "), "gone") {
		t.Errorf("after the kill: %+v", e)
	}
}

// TestBadInput wants each refusal with its documented code and no run logged.
func TestBadInput(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", GenerousPlans(t, data))
	account, other := server.NewAccount("bad@example.com"), server.NewAccount("other@example.com")
	theirs := other.evaluate(t, "1+1", "")
	send := func(body any) (int, string) { return statusOf(account.JSON("POST", "/api/evaluate", body, nil)) }
	for name, c := range map[string]struct {
		body   any
		status int
		code   string
	}{
		"nothing":         {"{}", 400, "expression_required"},
		"empty":           {`{"expression":""}`, 400, "expression_required"},
		"blank":           {`{"expression":"  "}`, 400, "expression_required"},
		"input":           {`{"input":"1+1"}`, 400, "unknown_field"},
		"unknown field":   {`{"expression":"1+1","x":1}`, 400, "unknown_field"},
		"wrong type":      {`{"expression":1}`, 400, "invalid_request"},
		"wrong case":      {`{"Expression":"1+1"}`, 400, "unknown_field"},
		"lone surrogate":  {`{"expression":"\ud800"}`, 400, "invalid_json"},
		"not UTF-8":       {"{\"expression\":\"\xff\"}", 400, "invalid_json"},
		"two values":      {`{"expression":"1"}{}`, 400, "invalid_json"},
		"no JSON":         {`hello`, 400, "invalid_json"},
		"2 MB":            {`{"expression":"` + strings.Repeat("1", 2<<20) + `"}`, 413, "body_too_large"},
		"deep JSON":       {strings.Repeat("[", 100_000), 400, "invalid_json"},
		"deep expression": {map[string]string{"expression": strings.Repeat("(", 100_000)}, 400, "expression_too_complex"},
		"deep brackets":   {map[string]string{"expression": strings.Repeat("[", 100_000)}, 400, "expression_too_complex"},
		"deep braces":     {map[string]string{"expression": strings.Repeat("{", 100_000)}, 400, "expression_too_complex"},
		"deep, mixed":     {map[string]string{"expression": strings.Repeat("f[(", 50_000)}, 400, "expression_too_complex"},
		"bad session":     {`{"expression":"1","session_id":"a/b"}`, 400, "invalid_session_id"},
		"SQL session":     {`{"expression":"1","session_id":"'; DROP TABLE history_v3; --"}`, 400, "invalid_session_id"},
		"denied head":     {map[string]string{"expression": `Run["ls"]`}, 403, "expression_denied"},
	} {
		if status, code := send(c.body); status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, c.status, c.code)
		}
	}
	for path, want := range map[string]int{
		fmt.Sprintf("/api/receipts/%d", theirs.RunID): 404, fmt.Sprintf("/api/plots/%d", theirs.RunID): 404,
		"/api/receipts/999999": 404, "/api/receipts/0": 400, "/api/receipts/-1": 400, "/api/receipts/x": 400, "/api/receipts/1%27%20OR%201=1": 400,
		"/api/receipts/..%2f..%2fetc%2fpasswd": 400, "/api/receipts/9007199254740993": 400,
		"/api/history?from=yesterday": 400, "/api/history?limit=201": 400, "/api/history?limit=-1": 400, "/api/history?nosuch=1": 400,
		"/api/history?query=" + strings.Repeat("x", 201): 400, "/api/history?query=%27%3B%20DROP%20TABLE%20history_v3%3B--": 200, "/api/nothing": 404,
	} {
		if status, _ := statusOf(account.JSON("GET", path, nil, nil)); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	for _, token := range []string{"", "nonsense", "rk_pat_" + strings.Repeat("a", 36), account.Token[:len(account.Token)-1] + "!"} {
		stranger := &Account{URL: server.URL, Token: token, http: account.http}
		if status, _ := statusOf(stranger.JSON("POST", "/api/evaluate", map[string]string{"expression": "1"}, nil)); status != 401 {
			t.Errorf("token %q: %d, want 401", token, status)
		}
	}
	var h history
	if err := account.JSON("GET", "/api/history", nil, &h); err != nil || len(h.Runs) != 0 {
		t.Errorf("refusals were logged: %+v, %v", h, err)
	}
	// What reaches the engine and fails there is logged, and says so with a run id.
	for code, want := range map[string]string{"While[True]": "budget_exhausted", "Range[10^10]": "", "Quit[]": "engine_quit"} {
		err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": code}, nil)
		status, got := statusOf(err)
		if status != 408 && status != 422 || want != "" && got != want {
			t.Errorf("%s: %v", code, err)
		}
	}
	if err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": `StringJoin[Table["0123456789", {10000000}]]`}, nil); err == nil {
		t.Error("100 MB of output came through")
	}
	if e := account.evaluate(t, "1+1", ""); e.Result != "2" {
		t.Errorf("afterwards 1+1 is %q", e.Result)
	}
}

// TestThePrintedLineWorks: what `serve` prints is one command that works when it is pasted.
func TestThePrintedLineWorks(t *testing.T) {
	t.Parallel()
	server := Start(t, DataFolder(t))
	const heading = "try, in another terminal in this folder:\n"
	wait.Until(t, "the first start names the command to try", func() bool { return strings.Contains(server.Output(), " try 'Integrate") })
	_, line, _ := strings.Cut(server.Output(), heading)
	if strings.Count(strings.TrimSpace(line), "\n") != 0 {
		t.Errorf("more than one line:\n%s", line)
	}
	folder := t.TempDir()
	command := exec.Command("bash", "-ec", line)
	command.Dir = folder
	output, err := command.CombinedOutput()
	if left, readErr := os.ReadDir(folder); readErr != nil || len(left) != 0 {
		t.Errorf("the line left %v, %v", left, readErr)
	}
	if err != nil || !strings.Contains(string(output), "verified    by exact") || !strings.Contains(string(output), "receipt     verified here") {
		t.Errorf("%v\n%s\nprinted:\n%s", err, output, line)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	server := Start(t, DataFolder(t))
	account := server.NewAccount("limit@example.com")
	limited := false
	for range 45 { // two minutes' worth: a minute may turn while the test runs
		// a refused expression is counted too, and computes nothing: on a slow machine twenty
		// evaluations can take longer than a minute, and then none is over the limit
		response, err := account.Do("POST", "/api/evaluate", map[string]string{"expression": "Run[1]"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.Header.Get("X-RateLimit-Limit") != "20" || response.Header.Get("X-RateLimit-Remaining") == "" {
			t.Fatalf("headers: %v", response.Header)
		}
		if response.StatusCode == http.StatusTooManyRequests {
			limited = true
			if response.Header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
			break
		}
	}
	if !limited {
		t.Error("never limited")
	}
}

func TestSecondServerOnOneFolder(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	first := Start(t, data)
	elsewhere := "unix:" + filepath.Join(data, "eventstore", "node.sock")
	for _, log := range []string{"embedded", elsewhere} {
		output, err := exec.Command(binary.Reckon(t), "serve", "--data", data, "--listen", "127.0.0.1:0", "--eventstore", log).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(output), fmt.Sprintf("in use by process %d:", first.process.Process.Pid)) {
			t.Errorf("second server, log %s: %v\n%s", log, err, output)
		}
	}
}

func TestOperatorCommands(t *testing.T) {
	t.Parallel()
	server := Start(t, DataFolder(t))
	id := strings.TrimSpace(server.Command("a long password\n", "account", "create", "op@example.com", "--password-stdin"))
	token := strings.TrimSpace(server.Command("", "account", "token", "op@example.com", "--name", "ops"))
	account := &Account{URL: server.URL, Token: token, http: http.DefaultClient}
	if e := account.evaluate(t, "2+2", ""); e.Result != "4" {
		t.Errorf("with the operator's token: %+v", e)
	}
	server.Command("", "account", "plan", "op@example.com", "pro")
	response, err := account.Do("POST", "/api/evaluate", map[string]string{"expression": "1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if limit := response.Header.Get("X-RateLimit-Limit"); limit != "120" {
		t.Errorf("on plan pro (%s) the limit is %s", id, limit)
	}
	var listed []struct{ Status string }
	if err := json.Unmarshal([]byte(server.Command("", "keys", "list", "--json")), &listed); err != nil || len(listed) != 1 || listed[0].Status != "active" {
		t.Errorf("keys: %+v, %v", listed, err)
	}
}

// TestHelp asks every command of the binary for help.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, verb := range [][]string{{}, {"serve"}, {"try"}, {"node"}, {"account", "create"}, {"keys", "rotate"}, {"projections"}, {"engine", "install"}, {"qsim"}, {"lean", "check"}} {
		output, err := exec.Command(binary.Reckon(t), append(verb, "--help")...).CombinedOutput()
		if err != nil || !strings.Contains(string(output), "Usage: reckon") {
			t.Errorf("reckon %v --help: %v\n%s", verb, err, output)
		}
	}
}

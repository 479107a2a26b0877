package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reckon/test/binary"
	"reckon/test/locked"
	"reckon/test/wait"
)

// startNode runs `reckon node` until the test ends, and returns what it is ready at.
func startNode(t *testing.T, environment []string, arguments ...string) (address string) {
	t.Helper()
	command := exec.Command(binary.Reckon(t), append([]string{"node", "--init"}, arguments...)...)
	command.Env = append(os.Environ(), environment...)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs locked.Buffer
	command.Stderr = &errs
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = command.Process.Signal(syscall.SIGTERM), command.Wait() })
	line, err := bufio.NewReader(output).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ready {
		t.Fatalf("node: %q %v\n%s", line, err, errs.String())
	}
	return address
}

// migrate runs `reckon migrate`.
func migrate(t *testing.T, status int, arguments ...string) (stdout, stderr string) {
	t.Helper()
	command := exec.Command(binary.Reckon(t), append([]string{"migrate"}, arguments...)...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	_ = command.Run() // its status is compared
	if got := command.ProcessState.ExitCode(); got != status {
		t.Fatalf("reckon migrate %v: status %d, want %d\n%s%s", arguments, got, status, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// exported is what a test needs of an event.
type exported struct {
	ID       string
	Type     string
	Metadata struct {
		Actor     string
		Causation string `json:"$causationId"`
	}
}

// eventsOf are the events of a log by their ids, as `reckon node export` writes them.
func eventsOf(t *testing.T, arguments ...string) map[string]*exported {
	t.Helper()
	output, err := exec.Command(binary.Reckon(t), append([]string{"node", "export"}, arguments...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	events := map[string]*exported{}
	for line := range bytes.Lines(output) {
		var e exported
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		events[e.ID] = &e
	}
	return events
}

// seen is what an account sees of what it did, by path.
type seen map[string]string

func (a *Account) see(t *testing.T, paths ...string) seen {
	t.Helper()
	s := seen{}
	for _, path := range paths {
		response, err := a.Do("GET", path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v\n%s", path, response.Status, err, content)
		}
		s[path] = string(content)
	}
	return s
}

func (s seen) mustEqual(t *testing.T, when string, before seen) {
	t.Helper()
	for path, content := range before {
		if s[path] != content {
			t.Errorf("%s, %s:\n%s\nbefore:\n%s", when, path, s[path], content)
		}
	}
}

// TestMigrate: an installation is moved from its folder to a node, and from there to a node with TLS and passwords. The same account with
// the same token sees what it saw, receipts and proofs of before verify, new work is done, the audit is clean, and the logs that were
// left behind are refused.
func TestMigrate(t *testing.T) {
	t.Parallel()
	data, kept := DataFolder(t), t.TempDir()
	file := func(name string) string { return filepath.Join(kept, name) }
	settings := []string{"--config", jobPlans(t, data), "--checkpoint-interval", "1s"}
	server := Start(t, data, settings...)
	account := server.NewAccount("migrated@example.com")
	first := account.evaluate(t, "Integrate[x^2, x]", "")
	account.evaluate(t, "a = 7", "s")
	job := account.submit(t, jobBody{"expression": "2+2"})
	account.awaitJob(t, job.JobID)
	inclusion := fmt.Sprintf("/api/receipts/%d/inclusion", first.RunID)
	awaitInclusion := func(run int64) {
		t.Helper()
		wait.Until(t, "the receipt is in the transparency log", func() bool {
			return account.JSON("GET", fmt.Sprintf("/api/receipts/%d/inclusion", run), nil, nil) == nil
		})
	}
	awaitInclusion(first.RunID)
	save(t, account, fmt.Sprintf("/api/receipts/%d", first.RunID), file("receipt.json"))
	save(t, account, inclusion, file("inclusion.json"))
	save(t, account, "/.well-known/service-keys.json", file("keys.json"))
	save(t, account, "/.well-known/transparency-log.json", file("log.json"))
	save(t, account, "/transparency/checkpoint", file("checkpoint"))
	paths := []string{"/api/history", "/api/jobs/" + job.JobID, fmt.Sprintf("/api/receipts/%d", first.RunID), "/api/tokens", "/api/certificates", "/.well-known/service-keys.json", "/.well-known/transparency-log.json"}
	if exports := filepath.Join("..", "..", "..", "shared", "data", "lean-exports"); exists(exports) {
		proof := account.prove(t, jobBody{"export": leanExport(t, "judge/usesPropext"), "declarations": []string{"usesPropext"}})
		paths = append(paths, proof.CertificateURL)
		wait.Until(t, "the certificate is listed", func() bool {
			return strings.Contains(account.see(t, "/api/certificates")["/api/certificates"], proof.CertificateID)
		})
	}
	response, err := account.Do("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token := response.Header.Get("Consistency-Token")
	_ = response.Body.Close()
	wait.Until(t, "the history has 1+1", func() bool { return strings.Contains(account.see(t, "/api/history")["/api/history"], `"1+1"`) })
	before := account.see(t, paths...)
	if token == "" {
		t.Fatal("no Consistency-Token")
	}

	folder := filepath.Join(data, "eventstore")
	nodeFolder := filepath.Join(t.TempDir(), "node")
	plain := startNode(t, nil, "--data", nodeFolder)
	if _, stderr := migrate(t, 2, "--from", folder, "--to", plain); !strings.Contains(stderr, "in use by process") {
		t.Errorf("while the server runs: %s", stderr)
	}
	if _, stderr := migrate(t, 2, "--from", server.Log, "--to", plain); !strings.Contains(stderr, "to hand the log over stop it, and give the folder: --from "+folder) {
		t.Errorf("from the socket of a running server: %s", stderr)
	}
	if stdout, _ := migrate(t, 0, "--from", server.Log, "--to", plain, "--ahead"); !strings.Contains(stdout, `"done": false`) {
		t.Errorf("ahead: %s", stdout)
	}
	account.evaluate(t, "4+4", "") // the log that is copied ahead is in force
	wait.Until(t, "the history has 4+4", func() bool { return strings.Contains(account.see(t, "/api/history")["/api/history"], `"4+4"`) })
	before = account.see(t, paths...)
	if server.Interrupt() != 0 {
		t.Fatal(server.Output())
	}
	known := eventsOf(t, "--data", folder)
	var noted struct {
		Content struct {
			Events uint64
			SHA256 string `json:"sha256"`
		}
	}
	output, err := exec.Command(binary.Reckon(t), "audit", "--data", folder, "--json").Output()
	if err != nil {
		t.Fatal(err, string(output))
	}
	decodeKept := json.Unmarshal(output, &noted)
	content := fmt.Sprintf("%d:%s", noted.Content.Events, noted.Content.SHA256)
	if decodeKept != nil || noted.Content.Events == 0 {
		t.Fatal(decodeKept, content)
	}
	var planned, report struct {
		Events  uint64
		Present uint64
		SHA256  string `json:"sha256"`
		Done    bool
	}
	decodeInto := func(text string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	stdout, _ := migrate(t, 0, "--from", folder, "--to", plain, "--dry-run")
	decodeInto(stdout, &planned)
	stdout, _ = migrate(t, 0, "--from", folder, "--to", plain)
	decodeInto(stdout, &report)
	if planned.Done || planned.Present == 0 || planned.Present == planned.Events || !report.Done || planned.SHA256 != report.SHA256 || report.Events < 10 {
		t.Errorf("planned %+v, done %+v", planned, report)
	}
	if _, stderr := migrate(t, 0, "--from", folder, "--to", plain); !strings.Contains(stderr, "done already") {
		t.Errorf("once more: %s", stderr)
	}
	mustRefuse := func(arguments ...string) {
		t.Helper()
		command := exec.Command(binary.Reckon(t), arguments...)
		output, err := command.CombinedOutput()
		if err == nil || command.ProcessState.ExitCode() != 2 || !bytes.Contains(output, []byte("this log was migrated to ")) {
			t.Errorf("reckon %v: %v\n%s", arguments, err, output)
		}
	}
	mustRefuse("serve", "--data", data, "--listen", "127.0.0.1:0")
	for _, arguments := range [][]string{nil, {"--eventstore", plain}} { // before a server has run on the copy
		command := exec.Command(binary.Reckon(t), append([]string{"keys", "list", "--data", data}, arguments...)...)
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("keys list %v: %v\n%s", arguments, err, output)
		}
	}

	check := func(name, log string) {
		t.Helper()
		server = Start(t, data, append(settings, "--eventstore", log)...)
		account.URL = server.URL
		account.see(t, paths...).mustEqual(t, name, before)
		for path := range before { // the old token is of another log: nobody waits for it
			response, err := account.Do("GET", path, nil, http.Header{"Consistency-Token": {token}})
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%s, %s with the old token: %v %v", name, path, response, err)
			}
			_ = response.Body.Close()
		}
		awaitInclusion(first.RunID)
		save(t, account, inclusion, file("inclusion-"+name+".json"))
		for _, proof := range []string{"inclusion.json", "inclusion-" + name + ".json"} {
			if output, verified := offline(t, file("receipt.json"), "--inclusion", file(proof), "--keys", file("keys.json"), "--log", file("log.json")); !verified {
				t.Errorf("%s, %s: %s", name, proof, output)
			}
		}
		mustAudit := func() {
			t.Helper()
			answer, status := server.audit("--eventstore", log, "--content", content, "--blobs", filepath.Join(data, "blobs"), "--read-models", "sqlite:"+filepath.Join(data, "readmodels.db"))
			if status != 0 || !answer.Tables || answer.Counts["receipts"] == 0 {
				t.Errorf("%s: the audit ends with %d: %+v", name, status, answer)
			}
		}
		if _, status := server.audit("--eventstore", log, "--blobs", filepath.Join(data, "blobs"), "--read-models", "none"); status != 0 {
			t.Errorf("%s: the audit beside the server ends with %d", name, status)
		}
		account.expectHistory(t, first.RunID)
		newest := account.evaluate(t, "3+3", "")
		account.expectHistory(t, newest.RunID)
		awaitInclusion(newest.RunID)
		save(t, account, "/transparency/checkpoint", file("checkpoint-"+name))
		if output, verified := offline(t, file("checkpoint-"+name), "--grown", file("checkpoint"), "--log", file("log.json"), "--tiles", server.URL+"/transparency"); !verified {
			t.Errorf("%s: the tree does not continue the one before: %s", name, output)
		}
		if last := account.awaitJob(t, account.submit(t, jobBody{"expression": "5+5"}).JobID); last.Status != "succeeded" {
			t.Errorf("%s: a job: %+v", name, last)
		}
		if again := account.evaluate(t, "a = 8; a", "s"); again.Result != "8" {
			t.Errorf("%s: a session: %+v", name, again)
		}
		if output := server.Command("", "try", "1+1"); !strings.Contains(output, "verified") {
			t.Errorf("%s: try: %s", name, output)
		}
		if output := server.Command("", "blobs", "collect", "--dry-run"); !strings.Contains(output, "0 blobs of 0 bytes that no event names") {
			t.Errorf("%s: blobs: %s", name, output)
		}
		if server.Interrupt() != 0 {
			t.Fatal(server.Output())
		}
		mustAudit()
		now := eventsOf(t, "--from", log)
		for id, e := range now { // reactions have seen every event again, and found what follows from it done
			if known[id] == nil && strings.HasPrefix(e.Metadata.Actor, "reaction:") && known[e.Metadata.Causation] != nil {
				t.Errorf("%s: %s has reacted once more: %+v", name, e.Metadata.Actor, e)
			}
		}
		known = now
	}
	check("node", plain)
	mustCommitToTheCopy(t, nodeFolder, filepath.Join(data, "blobs"), file("checkpoint"), file("checkpoint-node"))

	secure := startNode(t, []string{"RECKON_NODE_ADMIN_PASSWORD=password of admin"}, "--data", filepath.Join(t.TempDir(), "secure"), "--secure", "--listen", "127.0.0.1:0")
	target, err := url.Parse(secure)
	if err != nil {
		t.Fatal(err)
	}
	target.User = url.UserPassword("admin", "password of admin")
	server = Start(t, data, append(settings, "--eventstore", plain)...) // idle: it writes nothing, and ends itself
	account.URL = server.URL
	before = account.see(t, paths...)
	_, stderr := migrate(t, 0, "--from", plain, "--to", target.String())
	if strings.Contains(stderr, "password of admin") {
		t.Errorf("the password is printed: %s", stderr)
	}
	if status := server.Wait(); status == 0 || !strings.Contains(server.Output(), "this log was migrated to ") {
		t.Errorf("the server on the log that was migrated: %d\n%s", status, server.Output())
	}
	mustRefuse("serve", "--data", data, "--listen", "127.0.0.1:0", "--eventstore", plain)
	check("secure", target.String())
	if output, err := exec.Command(binary.Reckon(t), "audit", "--data", data).CombinedOutput(); err != nil || !bytes.Contains(output, []byte("tables.of_the_copy")) || !bytes.Contains(output, []byte("\nclean:")) {
		t.Errorf("the audit of the log that was left: %v\n%s", err, output)
	}
}

// mustCommitToTheCopy: a checkpoint that was signed before a migration commits to the log that was left, one behind it to the copy's files, and
// the audit of the copy accepts both and is anchored by the second.
func mustCommitToTheCopy(t *testing.T, folder, blobs, before, behind string) {
	t.Helper()
	logOf := func(file string) string {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(content), "\nchain ")
		log, _, _ := strings.Cut(line, " ")
		return log
	}
	if left, copied := logOf(before), logOf(behind); left == "" || copied == "" || left == copied {
		t.Errorf("the checkpoints commit to the logs %q and %q", left, copied)
	}
	output, err := exec.Command(binary.Reckon(t), "audit", "--json", "--data", folder, "--blobs", blobs, "--checkpoint", before, "--checkpoint", behind).Output()
	var answer auditAnswer
	if failed := json.Unmarshal(output, &answer); failed != nil || err != nil || answer.Transparency.Kept != 2 || answer.Transparency.Anchored == 0 || answer.Transparency.Chained == 0 {
		t.Errorf("the audit of the copy: %v, %v\n%s", err, failed, output)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestTakenBack: a log that was migrated, and on whose copy a server has run, is opened again, and a server builds its read models from it.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	folder := filepath.Join(data, "eventstore")
	server := Start(t, data)
	account := server.NewAccount("back@example.com")
	first := account.evaluate(t, "1+1", "")
	account.expectHistory(t, first.RunID)
	if server.Interrupt() != 0 {
		t.Fatal(server.Output())
	}
	node := startNode(t, nil, "--data", filepath.Join(t.TempDir(), "node"))
	migrate(t, 0, "--from", folder, "--to", node)
	server = Start(t, data, "--eventstore", node)
	account.URL = server.URL
	account.expectHistory(t, first.RunID)
	account.expectHistory(t, account.evaluate(t, "2+2", "").RunID)
	if server.Interrupt() != 0 {
		t.Fatal(server.Output())
	}
	migrate(t, 0, "--from", folder, "--take-back", "--yes")
	server = Start(t, data)
	account.URL = server.URL
	account.expectHistory(t, first.RunID)
}

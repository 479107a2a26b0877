package e2e

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/test/binary"
	"reckon/test/locked"
	"reckon/test/python"
	"reckon/test/wait"
)

const transparencyOrigin = "reckon.example/transparency"

// witness is a running `reckon witness`.
type witness struct {
	key, address string // its verifier key, and where it listens
	kill         func()
	said         *locked.Buffer // on its standard error
}

// startWitness runs `reckon witness` for a log with these keys until the test ends.
func startWitness(t *testing.T, folder string, logKeys ...string) *witness {
	t.Helper()
	arguments := []string{"witness", "--init", "--folder", folder, "--name", "witness.example/1", "--listen", "127.0.0.1:0"}
	for _, key := range logKeys {
		arguments = append(arguments, "--log", key)
	}
	command := exec.Command(binary.Reckon(t), arguments...)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{said: &locked.Buffer{}, kill: func() { _, _ = command.Process.Kill(), command.Wait() }} // it may have been killed before
	command.Stderr = w.said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kill)
	line, err := bufio.NewReader(output).ReadString('\n')
	key, address, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if err != nil || !ok {
		t.Fatalf("witness: %q %v\n%s", line, err, w.said.String())
	}
	w.key, w.address = key, address
	return w
}

// setting is how a server is told of the witness.
func (w *witness) setting() string { return w.key + " " + w.address }

// save writes the newest checkpoint that the witness has cosigned to a file.
func (w *witness) save(t *testing.T, file string) {
	t.Helper()
	response, err := http.Get(fmt.Sprintf("%s/%x/checkpoint", w.address, sha256.Sum256([]byte(transparencyOrigin))))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %v\n%s", response.Status, err, content)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// offline is what reckon verify prints, and whether it verifies; docs/verify.py must print the same.
func offline(t *testing.T, arguments ...string) (output string, verified bool) {
	t.Helper()
	ours, err := exec.Command(binary.Reckon(t), append([]string{"verify"}, arguments...)...).CombinedOutput()
	program := filepath.Join("..", "..", "docs", "verify.py")
	theirs, failed := exec.Command(python.With(t, cryptography), append([]string{program}, arguments...)...).CombinedOutput()
	if string(theirs) != string(ours) || (failed == nil) != (err == nil) {
		t.Errorf("%q:\nreckon verify: %v %s\nverify.py:     %v %s", arguments, err, ours, failed, theirs)
	}
	return string(ours), err == nil
}

// TestTransparency: a receipt of the real service is in its log, whose checkpoints a witness of another process cosigns; who has nothing but
// files and keys verifies that, and finds what was changed; a log that was rolled back signs nothing, and the audit derives every checkpoint again.
func TestTransparency(t *testing.T) {
	t.Parallel()
	data, folder, kept := DataFolder(t), filepath.Join(t.TempDir(), "witness"), t.TempDir()
	settings := []string{"--transparency-origin", transparencyOrigin, "--checkpoint-interval", "1s"}
	server := Start(t, data, settings...)
	account := server.NewAccount("transparent@example.com")
	var log struct {
		Origin string
		Keys   []struct{ Key string }
	}
	if err := account.JSON("GET", "/.well-known/transparency-log.json", nil, &log); err != nil || len(log.Keys) != 1 || log.Origin != transparencyOrigin {
		t.Fatalf("%+v %v", log, err)
	}
	first := account.evaluate(t, "1+1", "")
	awaitInclusion := func(run int64) {
		wait.Until(t, "the receipt is in the transparency log", func() bool {
			err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d/inclusion", run), nil, nil)
			if refused := (*StatusError)(nil); errors.As(err, &refused) && refused.Code == "not_yet_in_transparency_log" {
				return false
			}
			return err == nil
		})
	}
	awaitInclusion(first.RunID)
	file := func(name string) string { return filepath.Join(kept, name) }
	save(t, account, "/transparency/checkpoint", file("older"))
	save(t, account, "/.well-known/service-keys.json", file("keys.json"))
	save(t, account, "/.well-known/transparency-log.json", file("log.json"))
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("%d\n%s", status, server.Output())
	}

	cosigning := startWitness(t, folder, log.Keys[0].Key)
	key := cosigning.key
	server = Start(t, data, append(settings, "--witness", cosigning.setting(), "--witness-quorum", "1")...)
	account.URL = server.URL
	second := account.evaluate(t, "Integrate[x, x]", "")
	awaitInclusion(second.RunID)
	cosigning.kill()
	again := startWitness(t, folder, log.Keys[0].Key)
	if again.key != key {
		t.Errorf("the witness has the key %s, and had %s", again.key, key)
	}
	for _, run := range []int64{first.RunID, second.RunID} {
		save(t, account, fmt.Sprintf("/api/receipts/%d", run), file(fmt.Sprintf("receipt-%d.json", run)))
		save(t, account, fmt.Sprintf("/api/receipts/%d/inclusion", run), file(fmt.Sprintf("inclusion-%d.json", run)))
		output, verified := offline(t, file(fmt.Sprintf("receipt-%d.json", run)), "--inclusion", file(fmt.Sprintf("inclusion-%d.json", run)), "--keys", file("keys.json"), "--log", file("log.json"), "--witness", key)
		if !verified || !strings.HasPrefix(output, "verified: receipt\n") || !strings.Contains(output, "log.witnesses: 1\n") {
			t.Fatalf("run %d: %s", run, output)
		}
	}
	save(t, account, "/transparency/checkpoint", file("newer"))
	if output, verified := offline(t, file("newer"), "--grown", file("older"), "--log", file("log.json"), "--tiles", server.URL+"/transparency"); !verified || !strings.Contains(output, "newer.size: 2\n") || !strings.Contains(output, "older.size: 1\n") {
		t.Fatal(output)
	}
	mustDiffer(t, file, first.RunID, second.RunID, key)

	// A checkpoint that no witness has cosigned is not served: the proof of a third run has to wait for the witness's return.
	third := account.evaluate(t, "2+2", "")
	if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d/inclusion", third.RunID), nil, nil); err == nil {
		t.Error("a proof without a witness, where one is wanted")
	}
	again.kill()
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("%d\n%s", status, server.Output())
	}
	server = Start(t, data, append(settings, "--witness", startWitness(t, folder, log.Keys[0].Key).setting(), "--witness-quorum", "1")...)
	account.URL = server.URL
	awaitInclusion(third.RunID)

	// While the tables of which proofs are made stand still, that is said, and the witness is not blamed.
	figures := func() (behind, failing string) {
		server.askAdmin(t, "/metrics", func(line string) {
			switch name, value, _ := strings.Cut(line, " "); name {
			case "reckon_transparency_behind":
				behind = value
			case "reckon_transparency_failing":
				failing = value
			}
		})
		return behind, failing
	}
	server.operate("projections", "pause", "transparency")
	fourth := account.evaluate(t, "3+3", "")
	wait.Until(t, "the figures say that the tables are behind", func() bool { behind, _ := figures(); return behind == "1" })
	if _, failing := figures(); failing != "0" {
		t.Errorf("the witness is said to fail: %s\n%s", failing, server.Output())
	}
	server.operate("projections", "resume", "transparency")
	awaitInclusion(fourth.RunID)
	if behind, failing := figures(); behind+failing != "00" {
		t.Errorf("behind %s, failing %s", behind, failing)
	}
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("%d\n%s", status, server.Output())
	}
	outside := []string{"--checkpoint", file("older"), "--checkpoint", file("newer"), "--witness-key", key, "--keys", file("keys.json")}
	audited := server.mustBeClean(outside...).Transparency
	if audited.Leaves != 4 || audited.Signed != 4 || audited.Kept != 2 || audited.Chained != 4 || audited.Anchored == 0 || len(audited.Cosigned) != 1 || !audited.Cosigned[0].Verified || audited.Cosigned[0].Size != 4 {
		t.Errorf("the audit says %+v", audited)
	}
	answer, status := server.audit("--checkpoint", changed(t, file("newer"), "\n2\n", "\n9\n"))
	if status != 1 || !slices.ContainsFunc(answer.Findings, func(f auditFinding) bool { return f.Kind == "checkpoint.kept_differs" }) {
		t.Errorf("a checkpoint of more leaves than the log has: status %d, %+v", status, answer.Findings)
	}
	mustAnchor(t, server, file, audited.Anchored)
	mustVerifyAccount(t, server, account, file, key)
}

// mustVerifyAccount: by an export, keys and one cosigned checkpoint a program of others finds all that the log has of an account up to there.
func mustVerifyAccount(t *testing.T, server *Server, account *Account, file func(string) string, witness string) {
	t.Helper()
	exported := file("log.ndjson")
	if output, err := exec.Command(binary.Reckon(t), "node", "export", exported, "--data", filepath.Join(server.Data, "eventstore")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	run := func(export string) (string, error) {
		program := filepath.Join("..", "..", "docs", "verify_account.py")
		output, err := exec.Command(python.With(t, cryptography), program, export, account.ID, file("newer"), "--keys", file("keys.json"), "--log", file("log.json"), "--witness", witness).CombinedOutput()
		return string(output), err
	}
	if output, err := run(exported); err != nil || !strings.Contains(output, "receipt.sealed: 2\n") || !strings.Contains(output, "account.registered: 1\n") {
		t.Errorf("verify_account.py: %v: %s", err, output)
	}
	if output, err := run(changed(t, exported, `"actor":"`, `"actor":"an`)); err == nil || !strings.Contains(output, "is not the one that the checkpoint commits to") {
		t.Errorf("verify_account.py on another actor: %v: %s", err, output)
	}
}

// mustAnchor: a checkpoint is an anchor of all events of the log's files up to its last leaf, to the audit and to a program of others.
func mustAnchor(t *testing.T, server *Server, file func(string) string, anchored uint64) {
	t.Helper()
	if output, verified := offline(t, file("newer"), "--log", file("log.json")); !verified || !strings.Contains(output, fmt.Sprintf("chain.position: %d\n", anchored)) {
		t.Errorf("anchored up to %d: %s", anchored, output)
	}
	program := filepath.Join("..", "..", "docs", "verify_log.py")
	run := func(checkpoints ...string) (string, error) {
		output, err := exec.Command(python.With(t, cryptography), append([]string{program, filepath.Join(server.Data, "eventstore")}, checkpoints...)...).CombinedOutput()
		return string(output), err
	}
	if output, err := run(file("older"), file("newer")); err != nil {
		t.Errorf("verify_log.py: %v: %s", err, output)
	}
	shorter := changed(t, file("newer"), fmt.Sprintf(" %d ", anchored), fmt.Sprintf(" %d ", anchored-1))
	if output, err := run(shorter); err == nil || !strings.Contains(output, "is not that of") {
		t.Errorf("verify_log.py on a checkpoint of another log: %v: %s", err, output)
	}
	answer, status := server.audit("--checkpoint", shorter)
	if status != 1 || !slices.ContainsFunc(answer.Findings, func(f auditFinding) bool { return f.Kind == "checkpoint.kept_differs" && f.Position == anchored-1 }) {
		t.Errorf("the audit on a checkpoint of another log: status %d, %+v", status, answer.Findings)
	}
}

// TestAForkIsNoOutage: a data folder that was put back, signed-tree and all, is signed on from an earlier state. The witness says so, and
// from then on nothing is signed and the forked checkpoint is not served; the log, /readyz, the figures and the audit say why, at once.
func TestAForkIsNoOutage(t *testing.T) {
	t.Parallel()
	data, folder := DataFolder(t), filepath.Join(t.TempDir(), "witness")
	settings := []string{"--transparency-origin", transparencyOrigin, "--checkpoint-interval", "1s"}
	server := Start(t, data, settings...)
	account := server.NewAccount("forked@example.com")
	var log struct{ Keys []struct{ Key string } }
	if err := account.JSON("GET", "/.well-known/transparency-log.json", nil, &log); err != nil {
		t.Fatal(err)
	}
	cosigning := startWitness(t, folder, log.Keys[0].Key)
	size := func() string {
		var shown string
		if response, err := account.Do("GET", "/transparency/checkpoint", nil, nil); err == nil {
			content, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			shown = string(content)
		}
		lines := strings.Split(shown, "\n")
		return lines[min(1, len(lines)-1)]
	}
	served := func(n string) {
		t.Helper()
		wait.Until(t, n+" leaves are served", func() bool { return size() == n })
	}
	account.evaluate(t, "1+1", "")
	served("1")
	copied := t.TempDir()
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("%d\n%s", status, server.Output())
	}
	copyOf := func(from, to string) {
		if err := exec.Command("cp", "-a", from+"/.", to).Run(); err != nil {
			t.Fatal(err)
		}
	}
	copyOf(data, copied)

	settings = append(settings, "--witness", cosigning.setting())
	server = Start(t, data, settings...)
	account.URL = server.URL
	account.evaluate(t, "2+2", "")
	served("2")
	wait.Until(t, "the witness has cosigned two leaves", func() bool {
		response, err := account.Do("GET", "/transparency/checkpoint", nil, nil)
		if err != nil {
			return false
		}
		defer func() { _ = response.Body.Close() }()
		content, _ := io.ReadAll(response.Body)
		return strings.Count(string(content), "— ") == 2
	})
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("%d\n%s", status, server.Output())
	}

	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	copyOf(copied, data)
	server = Start(t, data, settings[:len(settings)-2]...) // nobody asks the witness
	account.URL = server.URL
	account.evaluate(t, "3+3", "")
	served("2")
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("%d\n%s", status, server.Output())
	}
	server = Start(t, data, settings...)
	account.URL = server.URL
	conflict := func() (value string) {
		server.askAdmin(t, "/metrics", func(line string) {
			if after, is := strings.CutPrefix(line, "reckon_transparency_conflict "); is {
				value = after
			}
		})
		return value
	}
	wait.Until(t, "the figures say that there is a conflict", func() bool { return conflict() == "1" })
	served("1") // the last that is not contradicted
	if said := server.Output(); strings.Count(said, "a witness contradicts the transparency log") != 1 || !strings.Contains(said, "ERROR") {
		t.Errorf("the log says\n%s", said)
	}
	var ready struct {
		Parts []struct{ Name, Detail string }
	}
	if err := account.JSON("GET", "/readyz", nil, &ready); err != nil || !slices.ContainsFunc(ready.Parts, func(p struct{ Name, Detail string }) bool { return strings.Contains(p.Detail, "another history") }) {
		t.Errorf("%+v %v", ready, err)
	}
	account.evaluate(t, "4+4", "") // goes on
	if answer, status := server.audit("--witness-key", cosigning.key); status != 1 || !slices.ContainsFunc(answer.Findings, func(f auditFinding) bool { return f.Kind == "checkpoint.conflict" }) {
		t.Errorf("audit: status %d, %+v", status, answer.Findings)
	}
}

// TestWitnessedAcrossKeysAndCopies: a witness cosigns checkpoints that commit to the event log while the log's key is rotated, then another key
// of the witness does, and that one goes on behind a migration, which it warns of. What either of them shows anchors an audit. A copy by way of
// an export is another log that nothing names: each checkpoint of before is found.
func TestWitnessedAcrossKeysAndCopies(t *testing.T) {
	t.Parallel()
	data, kept := DataFolder(t), t.TempDir()
	file := func(name string) string { return filepath.Join(kept, name) }
	settings := []string{"--transparency-origin", transparencyOrigin, "--checkpoint-interval", "1s"}
	server := Start(t, data, settings...)
	account := server.NewAccount("witnessed@example.com")
	next := PublishedEarlier(t, server.Log, filepath.Join(data, "keys"))
	var log struct{ Keys []struct{ Key string } }
	wait.Until(t, "both keys of the log are published", func() bool {
		return account.JSON("GET", "/.well-known/transparency-log.json", nil, &log) == nil && len(log.Keys) == 2
	})
	end := func() {
		t.Helper()
		if status := server.Interrupt(); status != 0 {
			t.Fatalf("%d\n%s", status, server.Output())
		}
	}
	start := func(w *witness, more ...string) {
		t.Helper()
		server = Start(t, data, slices.Concat(settings, []string{"--witness", w.setting(), "--witness-quorum", "1"}, more)...)
		account.URL = server.URL
	}
	// leaf has a receipt cosigned, and returns the id of the key that sealed it.
	leaf := func() (kid string) {
		t.Helper()
		run := account.evaluate(t, "1+1", "").RunID
		wait.Until(t, "the receipt is in a cosigned tree", func() bool {
			return account.JSON("GET", fmt.Sprintf("/api/receipts/%d/inclusion", run), nil, nil) == nil
		})
		var receipt struct{ KID string }
		if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d", run), nil, &receipt); err != nil {
			t.Fatal(err)
		}
		return receipt.KID
	}
	end()

	first := startWitness(t, filepath.Join(kept, "first"), log.Keys[0].Key, log.Keys[1].Key)
	start(first)
	before := leaf()
	server.Command("", "keys", "rotate")
	wait.Until(t, "the new key seals", func() bool { return leaf() == next })
	if before == next {
		t.Error("the key was not rotated")
	}
	first.save(t, file("of the first"))
	end()

	second := startWitness(t, filepath.Join(kept, "second"), log.Keys[0].Key, log.Keys[1].Key)
	if second.key == first.key {
		t.Fatal("the witness has the same key")
	}
	start(second)
	leaf()
	second.save(t, file("of the second"))
	end()
	keys := []string{"--checkpoint", file("of the first"), "--checkpoint", file("of the second"), "--witness-key", second.key}
	whole := server.mustBeClean(append(keys, "--witness-key", first.key)...).Transparency
	if whole.Kept != 2 || whole.Chained != whole.Leaves || whole.Signed != whole.Leaves || whole.Anchored == 0 || len(whole.Cosigned) != 1 || !whole.Cosigned[0].Verified || whole.Cosigned[0].Size != whole.Leaves {
		t.Errorf("the audit says %+v", whole)
	}
	mustFindEachCheckpoint(t, filepath.Join(data, "eventstore"), file("log.ndjson"), filepath.Join(kept, "imported"), int(whole.Checkpoints))

	copied := filepath.Join(kept, "copied")
	node := startNode(t, nil, "--data", copied)
	migrate(t, 0, "--from", filepath.Join(data, "eventstore"), "--to", node)
	if said := second.said.String(); strings.Contains(said, "another event log") {
		t.Errorf("before the migration the witness says\n%s", said)
	}
	start(second, "--eventstore", node)
	leaf()
	second.save(t, file("of the copy"))
	end()
	if said := second.said.String(); strings.Count(said, "another event log than before") != 1 {
		t.Errorf("behind the migration the witness says\n%s", said)
	}
	answer, status := (&Server{Data: copied, t: t}).audit(append(keys, "--blobs", filepath.Join(data, "blobs"), "--read-models", "none", "--checkpoint", file("of the copy"))...)
	now := answer.Transparency
	if status != 0 || now.Kept != 3 || now.Leaves != whole.Leaves+1 || now.Chained != 1 || now.Anchored == 0 || len(now.Cosigned) != 1 || !now.Cosigned[0].Verified || now.Cosigned[0].Size != now.Leaves {
		t.Errorf("the audit of the copy ends with %d: %+v", status, answer)
	}
}

// mustFindEachCheckpoint: a log that was made anew of an export commits to nothing: the audit finds each of its checkpoints, and nothing else.
func mustFindEachCheckpoint(t *testing.T, folder, file, imported string, checkpoints int) {
	t.Helper()
	for _, arguments := range [][]string{{"export", file, "--data", folder}, {"import", file, "--data", imported}} {
		if output, err := exec.Command(binary.Reckon(t), append([]string{"node"}, arguments...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, output)
		}
	}
	command := exec.Command(binary.Reckon(t), "audit", "--json", "--data", imported, "--blobs", "none", "--read-models", "none")
	output, _ := command.Output() // its status is compared
	var answer auditAnswer
	if err := json.Unmarshal(output, &answer); err != nil || command.ProcessState.ExitCode() != 1 {
		t.Fatalf("the audit of the import: %v, %v\n%s", err, command.ProcessState, output)
	}
	found := 0
	for _, f := range answer.Findings {
		if f.Kind == "checkpoint.chain" {
			found++
		} else if f.Severity != "note" {
			t.Errorf("the audit of the import finds %+v", f)
		}
	}
	if found != checkpoints || checkpoints == 0 {
		t.Errorf("%d of %d checkpoints are found", found, checkpoints)
	}
}

// mustDiffer has the offline check refuse what was changed.
func mustDiffer(t *testing.T, file func(string) string, first, second int64, witness string) {
	t.Helper()
	receipt, inclusion := fmt.Sprintf("receipt-%d.json", first), fmt.Sprintf("inclusion-%d.json", first)
	for name, arguments := range map[string][]string{
		"another receipt": {file(fmt.Sprintf("receipt-%d.json", second)), "--inclusion", file(inclusion), "--keys", file("keys.json"), "--log", file("log.json")},
		"another witness": {file(receipt), "--inclusion", file(inclusion), "--keys", file("keys.json"), "--log", file("log.json"), "--witness", strings.Replace(witness, "witness.example/1", "witness.example/2", 1)},
		"a size":          {file(receipt), "--inclusion", changed(t, file(inclusion), `\n2\n`, `\n3\n`), "--keys", file("keys.json"), "--log", file("log.json")},
		"an index":        {file(receipt), "--inclusion", changed(t, file(inclusion), `\nindex 0\n`, `\nindex 1\n`), "--keys", file("keys.json"), "--log", file("log.json")},
	} {
		if output, verified := offline(t, arguments...); verified || !strings.HasPrefix(output, "not verified: ") {
			t.Errorf("%s: %s", name, output)
		}
	}
}

// changed is a file with one text in place of another.
func changed(t *testing.T, file, old, with string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(content), old) {
		t.Fatalf("%s has no %q: %v", file, old, err)
	}
	name := fmt.Sprintf("%s.%x", file, with)
	if err := os.WriteFile(name, []byte(strings.Replace(string(content), old, with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

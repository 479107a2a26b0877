package processes

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"reckon/commands"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/test/binary"
	"reckon/test/e2e"
	"reckon/test/wait"
)

// setting is the value of a flag that all processes share.
func (in *installation) setting(flag string) string {
	return in.shared[slices.Index(in.shared, flag)+1]
}

// serve is api on a data folder of the test's, with flags of its own.
func (in *installation) serve(data, roles string, flags ...string) *e2e.Server {
	return e2e.Start(in.t, data, slices.Concat(in.shared, []string{"--roles", roles}, flags)...)
}

// shell is an operator's shell: no setting is in its environment, and commands get no other flags than the test gives.
func shell(t *testing.T, stdin string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	command := exec.Command(binary.Reckon(t), arguments...)
	command.Env, command.Dir = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, t.TempDir()
	var out, errs bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errs
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), errs.String()
}

// operate is shell that wants an exit status, and returns standard output.
func operate(t *testing.T, want int, stdin string, arguments ...string) string {
	t.Helper()
	status, stdout, stderr := shell(t, stdin, arguments...)
	if status != want {
		t.Fatalf("reckon %v: status %d, want %d\n%s%s", arguments, status, want, stdout, stderr)
	}
	return stdout
}

// readJSON sends a request without a credential and decodes the answer, whatever its status.
func readJSON(t *testing.T, method, url, body string, answer any) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	if answer != nil {
		must(t, json.Unmarshal(content, answer))
	}
	return response.StatusCode
}

// publishedKeys are the keys that a server publishes, by kid.
func publishedKeys(t *testing.T, s *e2e.Server) map[string]ed25519.PublicKey {
	t.Helper()
	var set struct {
		Keys []struct{ KID, X string }
	}
	readJSON(t, "GET", s.URL+"/.well-known/service-keys.json", "", &set)
	published := map[string]ed25519.PublicKey{}
	for _, k := range set.Keys {
		public, err := keys.DecodeX(k.X)
		must(t, err)
		published[k.KID] = public
	}
	return published
}

// sealedWith evaluates, verifies the receipt with the keys that the server publishes, and returns the kid.
func sealedWith(t *testing.T, a *e2e.Account, s *e2e.Server) string {
	t.Helper()
	var e evaluated
	must(t, at(a, s).JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, &e))
	var envelope receipt.Envelope
	must(t, at(a, s).JSON("GET", fmt.Sprint("/api/receipts/", e.RunID), nil, &envelope))
	if err := receipt.Check(envelope, publishedKeys(t, s)); err != nil {
		t.Fatalf("the receipt of run %d does not verify: %v", e.RunID, err)
	}
	return *envelope.KID
}

// readyz is a server's status and the dependencies that are not ready. Each says what is wrong, without a path.
func readyz(t *testing.T, s *e2e.Server) (status int, away []string) {
	t.Helper()
	var body struct {
		Dependencies []struct {
			Name, Detail string
			Ready        bool
		}
	}
	status = readJSON(t, "GET", s.URL+"/readyz", "", &body)
	for _, d := range body.Dependencies {
		if d.Ready != (d.Detail == "") || strings.Contains(d.Detail, "/") {
			t.Errorf("readyz says of %s: ready %v, %q", d.Name, d.Ready, d.Detail)
		}
		if !d.Ready {
			away = append(away, d.Name)
		}
	}
	return status, away
}

// rotate runs `reckon keys rotate` with nothing but --data.
func rotate(t *testing.T, wantStatus int, data string, wantStep commands.KeyStep) (done commands.KeyRotation) {
	t.Helper()
	must(t, json.Unmarshal([]byte(operate(t, wantStatus, "", "keys", "rotate", "--data", data, "--json")), &done))
	if done.Step != wantStep {
		t.Fatalf("%+v, want %s", done, wantStep)
	}
	return done
}

// publishedEarlier puts a key where the servers look, published ten minutes ago: the first half of a rotation.
func (in *installation) publishedEarlier(t *testing.T) (kid string) {
	t.Helper()
	return e2e.PublishedEarlier(t, in.log, in.setting("--keys"))
}

// TestKeysAreRotatedForEveryServer: the operator's shell knows nothing but one server's data folder. The private half comes to where all servers
// look, every server seals with the new key without a restart, and every receipt verifies with the published keys all the while. A server that
// has another folder of keys says that it is not ready and evaluates nothing, until the key is copied there.
func TestKeysAreRotatedForEveryServer(t *testing.T) {
	t.Parallel()
	in := install(t)
	folder := in.setting("--keys")
	dataOne, dataTwo, dataThree := e2e.DataFolder(t), e2e.DataFolder(t), e2e.DataFolder(t)
	one, two := in.serve(dataOne, "api,project,react"), in.serve(dataTwo, "api")
	alice := one.NewAccount("alice@example.com")
	first := sealedWith(t, alice, one)
	if again := sealedWith(t, alice, two); again != first {
		t.Errorf("two servers seal with %s and %s", first, again)
	}
	ownKeys := filepath.Join(t.TempDir(), "keys")
	three := in.serve(dataThree, "api", "--keys", ownKeys, "--peer-secret", "a secret of this test's")

	published := rotate(t, 0, dataOne, commands.KeyPublished)
	if waiting := rotate(t, 1, dataTwo, commands.KeyWaiting); waiting.KID != published.KID || !waiting.SealsAt.Equal(published.SealsAt) {
		t.Errorf("%+v waits, %+v was published", waiting, published)
	}
	if _, err := os.Stat(filepath.Join(folder, published.KID+".pem")); err != nil {
		t.Errorf("the private half is not where the servers look: %v", err)
	}
	for _, data := range []string{dataOne, dataTwo} {
		if _, err := os.Stat(filepath.Join(data, "keys")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there are keys in %s: %v", data, err)
		}
	}
	second := in.publishedEarlier(t)
	var group sync.WaitGroup
	kids := make([]string, 2)
	for i, data := range []string{dataOne, dataTwo} { // two operators at once
		group.Go(func() {
			var done commands.KeyRotation
			status, stdout, stderr := shell(t, "", "keys", "rotate", "--data", data, "--json")
			if err := json.Unmarshal([]byte(stdout), &done); err != nil {
				t.Errorf("status %d: %s%s", status, stdout, stderr)
			}
			kids[i] = done.KID // the later one finds the other key, which waits
		})
	}
	group.Wait()
	if !slices.Contains(kids, second) {
		t.Fatalf("keys %v, want %s activated", kids, second)
	}
	for _, s := range []*e2e.Server{one, two} {
		wait.Until(t, "both seal with the new key", func() bool { return sealedWith(t, alice, s) == second })
		if status, away := readyz(t, s); status != 200 || len(away) > 0 {
			t.Errorf("readyz: %d, away %v", status, away)
		}
	}

	// The third server cannot sign.
	if status, away := readyz(t, three); status != 503 || !slices.Equal(away, []string{"signing_key"}) {
		t.Errorf("readyz of a server without the private half: %d, away %v", status, away)
	}
	var refused *e2e.StatusError
	if err := at(alice, three).JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, nil); !errors.As(err, &refused) || refused.Status != 503 || refused.Code != "unavailable" || !strings.Contains(refused.Detail, "key that signs receipts") {
		t.Errorf("it evaluates: %v", err)
	}
	if status, _, stderr := shell(t, "", "keys", "rotate", "--data", dataThree); status != 2 || !strings.Contains(stderr, second) || !strings.Contains(stderr, ownKeys) {
		t.Errorf("it rotates: status %d\n%s", status, stderr)
	}
	if report := operate(t, 1, "", "keys", "list", "--data", dataThree); !strings.Contains(report, "its private half is not in "+ownKeys) {
		t.Errorf("keys list:\n%s", report)
	}
	if kid := sealedWith(t, alice, one); kid != second {
		t.Errorf("%s seals after the refusal", kid)
	}
	private, err := os.ReadFile(filepath.Join(folder, second+".pem"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(ownKeys, second+".pem"), private, 0o600))
	wait.Until(t, "the third server is ready", func() bool { status, _ := readyz(t, three); return status == 200 })
	if kid := sealedWith(t, alice, three); kid != second {
		t.Errorf("it seals with %s", kid)
	}

	// Beside no server, the last one's settings tell where the keys are.
	third := in.publishedEarlier(t)
	for _, s := range []*e2e.Server{one, three} {
		if status := s.Interrupt(); status != 0 {
			t.Errorf("exit status %d\n%s", status, s.Output())
		}
	}
	if done := rotate(t, 0, dataOne, commands.KeyActivated); done.KID != third {
		t.Errorf("%+v, want %s", done, third)
	}
	wait.Until(t, "the server that runs follows", func() bool { return sealedWith(t, alice, two) == third })
	if report := operate(t, 0, "", "keys", "list", "--data", dataOne); strings.Contains(report, "not in") || strings.Count(report, "active") != 1 {
		t.Errorf("keys list:\n%s", report)
	}
}

const password = "correct horse battery"

func credentials(email string) string {
	return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
}

// TestAccountsOfCommandsAreThoseOfServers: one store of people, found with nothing but one server's data folder, beside running servers and
// without; and it outlives every read model.
func TestAccountsOfCommandsAreThoseOfServers(t *testing.T) {
	t.Parallel()
	in := install(t)
	dataOne, dataTwo := e2e.DataFolder(t), e2e.DataFolder(t)
	one, two := in.serve(dataOne, "api,project,react"), in.serve(dataTwo, "api")
	create := func(want int, data, email string) string {
		t.Helper()
		return strings.TrimSpace(operate(t, want, password+"\n", "account", "create", email, "--password-stdin", "--data", data))
	}
	signIn := func(s *e2e.Server, email string) int {
		t.Helper()
		return readJSON(t, "POST", s.URL+"/auth/login", credentials(email), nil)
	}
	anna := create(0, dataOne, "anna@example.com")
	for _, s := range []*e2e.Server{one, two} {
		if status := signIn(s, "anna@example.com"); status != 200 {
			t.Errorf("who was created by a command signs in: %d", status)
		}
		if status := readJSON(t, "POST", s.URL+"/auth/register", credentials("Anna@example.com"), nil); status != 409 {
			t.Errorf("her address again: %d", status)
		}
	}
	create(2, dataTwo, "ANNA@example.com")
	bert := one.NewAccount("bert@example.com")
	create(2, dataTwo, "bert@example.com")
	byCommand := *bert
	byCommand.Token = strings.TrimSpace(operate(t, 0, "", "account", "token", "bert@example.com", "--name", "laptop", "--data", dataTwo))
	for _, s := range []*e2e.Server{one, two} {
		var e evaluated
		must(t, at(&byCommand, s).JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, &e))
	}

	// Four commands at once: one of them registers the address.
	var group sync.WaitGroup
	var statuses [4]int
	for i := range statuses {
		group.Go(func() {
			statuses[i], _, _ = shell(t, password+"\n", "account", "create", "carl@example.com", "--password-stdin", "--data", []string{dataOne, dataTwo}[i%2])
		})
	}
	group.Wait()
	if slices.Sort(statuses[:]); statuses != [4]int{0, 2, 2, 2} {
		t.Errorf("exit statuses %v", statuses)
	}

	// Without servers: the last one's settings tell where people are. A setting that contradicts them is refused.
	for _, s := range []*e2e.Server{one, two} {
		if status := s.Interrupt(); status != 0 {
			t.Errorf("exit status %d\n%s", status, s.Output())
		}
	}
	create(0, dataTwo, "dora@example.com")
	create(2, dataTwo, "anna@example.com")
	if status, _, stderr := shell(t, password+"\n", "account", "create", "eve@example.com", "--password-stdin", "--data", dataTwo, "--database", "sqlite:"+filepath.Join(t.TempDir(), "other.db")); status != 2 || !strings.Contains(stderr, "--database") {
		t.Errorf("another database: status %d\n%s", status, stderr)
	}

	// Every read model is thrown away: nobody and nothing is lost.
	database, err := sql.Open("pgx", in.setting("--database"))
	must(t, err)
	_, err = database.Exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	must(t, errors.Join(err, database.Close()))
	one = in.serve(dataOne, "api,project,react")
	for _, email := range []string{"anna@example.com", "bert@example.com", "carl@example.com", "dora@example.com"} {
		if status := signIn(one, email); status != 200 {
			t.Errorf("%s signs in once the read models are gone: %d", email, status)
		}
	}
	var history struct{ Runs []json.RawMessage }
	must(t, at(&byCommand, one).JSON("GET", "/api/history", nil, &history))
	if len(history.Runs) != 2 {
		t.Errorf("%d runs in the history, want 2", len(history.Runs))
	}
	sealedWith(t, bert, one)
	if again := create(2, dataOne, "anna@example.com"); again != "" || anna == "" {
		t.Errorf("anna is %s and %s", anna, again)
	}
}

// TestTheFileOfReadModelsIsThrownAway: everything embedded in one server; and a server that is stopped is not taken to be absent.
func TestTheFileOfReadModelsIsThrownAway(t *testing.T) {
	t.Parallel()
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data)
	anna := server.NewAccount("anna@example.com")
	kid := sealedWith(t, anna, server)
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("exit status %d\n%s", status, server.Output())
	}
	files, err := filepath.Glob(filepath.Join(data, "readmodels.db*"))
	must(t, err)
	for _, file := range files {
		must(t, os.Remove(file))
	}
	if len(files) == 0 {
		t.Error("there is no file of read models")
	}
	server = e2e.Start(t, data)
	if status := readJSON(t, "POST", server.URL+"/auth/login", credentials("anna@example.com"), nil); status != 200 {
		t.Errorf("sign-in: %d", status)
	}
	var history struct{ Runs []json.RawMessage }
	must(t, at(anna, server).JSON("GET", "/api/history", nil, &history))
	if len(history.Runs) != 1 {
		t.Errorf("%d runs in the history, want 1", len(history.Runs))
	}
	if again := sealedWith(t, anna, server); again != kid {
		t.Errorf("sealed with %s and %s", kid, again)
	}

	stopped, err := os.FindProcess(server.PID())
	must(t, errors.Join(err, stopped.Signal(syscall.SIGSTOP)))
	var group sync.WaitGroup
	for _, command := range [][]string{{"keys", "rotate"}, {"account", "create", "bert@example.com", "--password-stdin"}, {"projections", "status"}} {
		group.Go(func() {
			if status, _, stderr := shell(t, password+"\n", append(command, "--data", data)...); status != 2 || !strings.Contains(stderr, "does not answer") {
				t.Errorf("reckon %v beside a stopped server: status %d\n%s", command, status, stderr)
			}
		})
	}
	group.Wait()
	must(t, stopped.Signal(syscall.SIGCONT))
	operate(t, 0, password+"\n", "account", "create", "bert@example.com", "--password-stdin", "--data", data)
}

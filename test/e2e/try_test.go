package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/uptrace/bun/driver/sqliteshim"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/test/binary"
	"reckon/test/locked"
	"reckon/test/need"
	"reckon/test/wait"
)

// try runs `reckon try` on a data folder.
func try(t testing.TB, data, stdin string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	command := exec.Command(binary.Reckon(t), append([]string{"try", "--init", "--data", data}, arguments...)...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errs
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestTry: what is shown of every kind of answer, with which exit status; and nothing of it stays but one account and the runs.
func TestTry(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", GenerousPlans(t, data))
	plot := filepath.Join(t.TempDir(), "plot.svg")
	for _, c := range []struct {
		stdin     string
		arguments []string
		status    int
		shows     []string
	}{
		{"", []string{"Integrate[x^2 Sin[x], x]"}, 0, []string{
			"2*(Cos[x] + x*Sin[x]) - x^2*Cos[x]\n\nverified    by exact", "verification.md#integrate_residual)", "receipt     verified here: the record of run ", " has signed it\n",
		}},
		{"Integrate[2 x, x]\n", []string{"-"}, 0, []string{"x^2\n\nverified"}},
		{"", []string{"--", "-x"}, 0, []string{"-x\n\n"}},
		{"", []string{"Simplify[Sqrt[E^x]]"}, 1, []string{"E^(x/2)\n\nREFUTED     this answer is wrong", " is expected, the answer gives ", "receipt     verified here"}},
		{"", []string{"1 + sin(x)"}, 0, []string{"hint        did you mean Sin[x]?", "            1 + sin(x)\n                ^^^^^^\n"}},
		{"", []string{`StringMatchQ["ab", RegularExpression["a."]]`}, 0, []string{"True\n\nunchecked   no rule covers this"}},
		{"", []string{"Print[5]; 1/0"}, 0, []string{"ComplexInfinity\n\nprinted     5\nwarning     Power::infy", "receipt     verified here"}},
		{"", []string{"f[1"}, 1, []string{"no answer   ", "            f[1\n               ^\n", "run  "}},
		{"", []string{"x²"}, 1, []string{"hint        did you mean ^2?", "            x²\n             ^\n"}},
		{"", []string{"While[True]"}, 1, []string{"no answer   ", "compute budget of 3s"}},
		{"", []string{`StringRepeat["a", 3*10^6]`}, 1, []string{"no answer   ", "end the line with ;"}},
		{"", []string{""}, 1, []string{"no answer   An expression is needed"}},
		{"", []string{"FromCharacterCode[27]"}, 0, []string{`\u001b`}},
		{"", []string{"a = 41", "--session", "notebook"}, 0, []string{"41\n"}},
		{"", []string{"a + 1", "--session", "notebook"}, 0, []string{"42\n"}},
		{"", []string{"1", "--session", "not a name"}, 1, []string{"no answer   "}},
		{"", []string{"Plot[Sin[x], {x, 0, 10}]", "--plot", plot}, 0, []string{"graphic     written to " + plot}},
	} {
		status, stdout, stderr := try(t, data, c.stdin, c.arguments...)
		if status != c.status || stderr != "" {
			t.Errorf("%q: status %d, %s", c.arguments, status, stderr)
		}
		for _, text := range c.shows {
			if !strings.Contains(stdout, text) {
				t.Errorf("%q: no %q in\n%s", c.arguments, text, stdout)
			}
		}
		if strings.ContainsRune(stdout, '\x1b') {
			t.Errorf("%q: a terminal would obey %q", c.arguments, stdout)
		}
	}
	if svg, err := os.ReadFile(plot); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("%.100s %v", svg, err)
	}
	tryJSON(t, data)
	if status, _, stderr := try(t, data, "", "1", "--keys", t.TempDir()); status != 2 || !strings.Contains(stderr, "--keys") {
		t.Errorf("a setting that is not the server's: status %d, %s", status, stderr)
	}
	if status, _, stderr := try(t, data, ""); status != 2 || !strings.Contains(stderr, "expression") {
		t.Errorf("nothing to try: status %d, %s", status, stderr)
	}
	leavesNothing(t, server)
}

// tryJSON: an answer and a problem, for programs.
func tryJSON(t *testing.T, data string) {
	t.Helper()
	var report struct {
		Evaluation struct {
			Result string `json:"result"`
		} `json:"evaluation"`
		Problem struct {
			Code string `json:"code"`
		} `json:"problem"`
		Receipt struct {
			Record struct {
				Answer string `json:"answer"`
			} `json:"record"`
		} `json:"receipt"`
		Verified bool `json:"receipt_verified"`
	}
	status, stdout, stderr := try(t, data, "", "2+3", "--json")
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || status != 0 || report.Evaluation.Result != "5" || report.Receipt.Record.Answer != "5" || !report.Verified {
		t.Errorf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
	status, stdout, stderr = try(t, data, "", "2+", "--json")
	report.Verified = true
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || status != 1 || report.Problem.Code != "syntax_error" || report.Verified {
		t.Errorf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
}

// leavesNothing: no sessions in the identity tables, no token and one account in the log.
func leavesNothing(t *testing.T, server *Server) {
	t.Helper()
	db, err := sql.Open(sqliteshim.ShimName, "file:"+filepath.Join(server.Data, "identity.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	wait.Until(t, "the session has ended", func() bool { // a session ends with its connection, which the server may notice a moment later
		sessions := -1
		if err := db.QueryRow("SELECT count(*) FROM identity_sessions").Scan(&sessions); err != nil {
			t.Fatal(err)
		}
		return sessions == 0
	})
	log, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: server.Log, Catalogue: domain.Catalogue(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	accounts := 0
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range log.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.Stream, "token-") {
			t.Errorf("%s in the log", r.Stream)
		}
		if strings.HasPrefix(r.Stream, "account-") {
			accounts++
		}
		if r.Position == head {
			break
		}
	}
	if accounts != 1 {
		t.Errorf("%d events of accounts", accounts)
	}
}

// TestTryWithoutAServer: several at once on an empty folder are all answered, by servers that they start and end in order. A session
// needs a server that stays.
func TestTryWithoutAServer(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			status, stdout, stderr := try(t, data, "", fmt.Sprintf("Integrate[%d x^%d, x]", i+1, i))
			if status != 0 || !strings.Contains(stdout, "verified    by exact") || !strings.Contains(stdout, "receipt     verified here") {
				t.Errorf("status %d\n%s%s", status, stdout, stderr)
			}
		})
	}
	group.Wait()
	if status, _, stderr := try(t, data, "", "1", "--session", "s"); status != 2 || !strings.Contains(stderr, "`reckon serve`") {
		t.Errorf("a session without a server: status %d, %s", status, stderr)
	}
	for _, name := range []string{"admin.sock", "eventstore/node.sock"} {
		if _, err := os.Stat(filepath.Join(data, name)); err == nil {
			t.Errorf("%s was left", name)
		}
	}
	server := Start(t, data)
	leavesNothing(t, server)
}

// TestTryEndsWithItsServer: an interrupted try ends the server that it has started.
func TestTryEndsWithItsServer(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	command := exec.Command(binary.Reckon(t), "try", "--init", "While[True]", "--data", data)
	var stderr locked.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it serves", func() bool { _, err := os.Stat(filepath.Join(data, "settings.json")); return err == nil }) // it serves
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // the status tells
	if status := command.ProcessState.ExitCode(); status != 2 || !strings.Contains(stderr.String(), "given up") {
		t.Errorf("status %d\n%s", status, &stderr)
	}
	if status, stdout, stderr := try(t, data, "", "1+1"); status != 0 || !strings.HasPrefix(stdout, "2\n") {
		t.Errorf("afterwards: status %d\n%s%s", status, stdout, stderr)
	}
}

// TestTryIsTheOwners: another user of the machine is let in neither by a running server nor by the folder.
func TestTryIsTheOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		need.Root(t)
	}
	data := DataFolder(t)
	server := Start(t, data)
	for _, folder := range []string{filepath.Dir(data), filepath.Dir(filepath.Dir(data))} { // so that what keeps them out is not the test's doing
		if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // the other user has to come as far as this
			t.Fatal(err)
		}
	}
	for _, running := range []bool{true, false} {
		command := asStranger(t, binary.Reckon(t), "try", "--init", "1+1", "--data", data)
		output, _ := command.CombinedOutput() // the status tells
		if status := command.ProcessState.ExitCode(); status != 2 || !strings.Contains(string(output), data) {
			t.Errorf("server running: %v: status %d\n%s", running, status, output)
		}
		if running {
			if status := server.Interrupt(); status != 0 {
				t.Errorf("exit status %d\n%s", status, server.Output())
			}
		}
	}
}

package processes

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/eventstore"
	"reckon/test/e2e"
	"reckon/test/wait"
)

// TestAClosedAccountEnds: from the answer on no credential is accepted, in any process. What the account had ends although the first
// process that ends it is killed, and its address can be registered again.
func TestAClosedAccountEnds(t *testing.T) {
	t.Parallel()
	in := install(t)
	one, two := in.api("api,project"), in.api("api")
	in.with("--job-slots", "3").headless("run") // the last one is for quick jobs
	a := one.NewAccount("anna@example.com")
	cookie, other := cookieOf(t, one, a.Email, password), cookieOf(t, two, a.Email, password)
	_, err := inSession(at(a, two), "x = 1")
	must(t, err)
	for range 4 { // two run, two wait
		must(t, a.JSON("POST", "/api/jobs", map[string]any{"expression": "While[True]", "timeout_ms": 50_000}, nil))
	}
	log := connect(t, in.log)
	wait.Until(t, "two jobs run", func() bool {
		running := 0
		for _, of := range read(t, log).jobs {
			if of.state.Status == job.Running {
				running++
			}
		}
		return running == 2
	})

	body := `{"current_password":"` + password + `"}`
	if status := asked(t, two, "POST", "/auth/close", strings.Replace(body, password, "wrong horse", 1), "Cookie", cookie); status != http.StatusForbidden {
		t.Errorf("a wrong password: %d", status)
	}
	if status := asked(t, two, "POST", "/auth/close", body, "Cookie", cookie); status != http.StatusOK {
		t.Fatalf("close: %d", status)
	}
	for i, s := range []*e2e.Server{one, two} {
		for credential, value := range map[string]string{"Authorization": "Bearer " + a.Token, "Cookie": other} {
			if status := asked(t, s, "GET", "/api/history", "", credential, value); status != http.StatusUnauthorized {
				t.Errorf("server %d, %s of the closed account: %d", i, credential, status)
			}
		}
	}

	in.headless("react").kill()
	in.headless("react")
	var ended *leftovers
	wait.Until(t, "everything has ended", func() bool {
		ended = leftoversOf(t, log)
		return ended.jobs == 0 && ended.sessions == 0 && ended.tokens == 0 && cookieOf(t, one, a.Email, password) == ""
	})
	books := read(t, log)
	refunded := 0
	for id, of := range books.jobs {
		if of.state.Status != job.Cancelled {
			t.Errorf("job %s is %s", id, of.state.Status)
		}
		if refunded += books.refunds[id]; books.refunds[id] > 1 || of.state.Refunded != (books.refunds[id] == 1) {
			t.Errorf("job %s, early %t, was refunded %d times", id, of.state.Refunded, books.refunds[id])
		}
	}
	if len(books.jobs) != 4 || refunded != 2 {
		t.Errorf("%d jobs, %d refunded, want 4 and 2", len(books.jobs), refunded)
	}
	if again := one.NewAccount(a.Email); again.ID == a.ID {
		t.Error("the address has the closed account again")
	}
}

// TestAClosedAccountsStateVectorsGo: the process that ends what the account had is killed as it is about to remove its files; the next one
// removes them, and nobody else's.
func TestAClosedAccountsStateVectorsGo(t *testing.T) {
	t.Parallel()
	in := install(t)
	one := in.api("api,project")
	in.headless("run")
	anna, bert := one.NewAccount("anna@example.com"), one.NewAccount("bert@example.com")
	folder := filepath.Join(strings.TrimPrefix(in.setting("--blobs"), "file://"), "statevectors")
	filesOf := func(a *e2e.Account) []string {
		paths, err := filepath.Glob(filepath.Join(folder, a.ID, "*"))
		must(t, err)
		return paths
	}
	for _, a := range []*e2e.Account{anna, anna, bert} {
		var submitted jobView
		must(t, a.JSON("POST", "/api/jobs", map[string]any{"kind": "qsim", "circuit": map[string]any{"qubits": 12, "npy": true, "gates": []any{}}}, &submitted))
		if ended := await(t, a, submitted.JobID); ended.Status != job.Succeeded {
			t.Fatalf("%+v", ended)
		}
		if status := asked(t, one, "GET", "/api/jobs/"+submitted.JobID+"/statevector.npy", "", "Authorization", "Bearer "+a.Token); status != http.StatusOK {
			t.Fatalf("the file of %s: %d", a.Email, status)
		}
	}
	if len(filesOf(anna)) != 2 || len(filesOf(bert)) != 1 {
		t.Fatalf("%v, %v", filesOf(anna), filesOf(bert))
	}

	lock, err := os.OpenFile(filepath.Join(folder, ".lock"), os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = lock.Close() }()
	must(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX)) // whoever removes files waits
	cookie := cookieOf(t, one, anna.Email, password)
	if status := asked(t, one, "POST", "/auth/close", `{"current_password":"`+password+`"}`, "Cookie", cookie); status != http.StatusOK {
		t.Fatalf("close: %d", status)
	}
	ending := in.headless("react")
	log := connect(t, in.log)
	wait.Until(t, "only his token lives", func() bool { return leftoversOf(t, log).tokens == 1 })
	ending.kill()
	if len(filesOf(anna)) != 2 {
		t.Error("files went although somebody held their lock")
	}
	must(t, unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	in.headless("react")
	wait.Until(t, "her files and her address are gone", func() bool { return len(filesOf(anna)) == 0 && cookieOf(t, one, anna.Email, password) == "" })
	if len(filesOf(bert)) != 1 {
		t.Error("his file went with hers")
	}
}

// leftovers counts what lives, as the log tells it.
type leftovers struct{ jobs, sessions, tokens int }

func leftoversOf(t *testing.T, log *eventstore.Store) *leftovers {
	t.Helper()
	l, live := &leftovers{}, map[string]*int{}
	for r, err := range log.ReadAll(t.Context(), event.Position{}) {
		must(t, err)
		var begins *int
		switch r.Event.(type) {
		case job.WasQueued:
			begins = &l.jobs
		case session.Opened:
			begins = &l.sessions
		case token.Minted:
			begins = &l.tokens
		case job.WasCancelled, job.HasTimedOut, job.HasFailed, session.Cleared, session.Expired, token.Revoked:
			delete(live, r.Stream)
			continue
		}
		if begins != nil {
			live[r.Stream] = begins
		}
	}
	for _, kind := range live {
		*kind++
	}
	return l
}

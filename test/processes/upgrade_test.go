package processes

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/domain/audit/audittest"
	"reckon/domain/run"
	"reckon/eventstore/node/eventlog"
	"reckon/projections/pgtest"
	"reckon/test/binary"
	"reckon/test/e2e"
	"reckon/test/need"
	"reckon/test/sweep"
	"reckon/test/wait"
)

const (
	upgradeClients = 3
	roundsBetween  = 5 // rounds of the clients before each step
)

// nextBinary builds the binary of a release in which history has a new version, with tables of its own: the sources of today, with other
// names for tables and indexes, and another number.
func nextBinary(t *testing.T) string {
	t.Helper()
	changed := map[string][]byte{}
	for _, name := range []string{"history.go", "history_query.go"} {
		source, err := filepath.Abs(filepath.Join("../../projections", name))
		must(t, err)
		content, err := os.ReadFile(source)
		must(t, err)
		next := strings.NewReplacer("history_v3", "history_v4", "history_days_v3", "history_days_v4", `Name: "history", Version: 3`, `Name: "history", Version: 4`).Replace(string(content))
		if next == string(content) {
			t.Fatalf("%s: history is not version 3 any more: say in this test what the next version is", name)
		}
		changed[source] = []byte(next)
	}
	return binary.Changed(t, "next", changed)
}

// TestUpgradeUnderLoad: a new version of a read model is built beside the old one, and servers of the new release take over behind a balancer that
// asks /readyz, while clients write and read. No request fails, and no read that is not marked stale lacks what its client wrote before.
func TestUpgradeUnderLoad(t *testing.T) {
	t.Parallel()
	next := nextBinary(t)
	past := sweep.Size(t, "RECKON_UPGRADE_RUNS", 200, 8000) // runs in the log before: the new version takes a while to be built
	in := installOn(t, plans, pgtest.Database(t), func(log string) { writeUpgradeLog(t, log, int64(past)) })
	in.shared = append(in.shared, "--unready-grace", unreadyGrace.String())
	oldProjector := in.headless("project,react")
	old := []*e2e.Server{in.api("api"), in.api("api")}
	b, front := newBalancer(t)
	for _, s := range old {
		b.add(t, s.URL)
	}
	wait.Until(t, "both old servers are ready", func() bool { return b.ready() == 2 })

	l := &load{t: t, front: front, pause: thinking(t), ended: make(chan struct{})}
	alice := old[0].NewAccount("alice@example.com")
	for n := range upgradeClients {
		l.clients.Go(func() { l.client(at(alice, old[0]), n) })
	}
	l.rounds(roundsBetween)

	// Servers of the new release start where nobody has built their tables yet.
	other := func(roles string) []string {
		return append([]string{"serve", "--data", e2e.DataFolder(t), "--roles", roles}, in.shared...)
	}
	data := e2e.DataFolder(t)
	var young []*process
	for _, folder := range []string{data, e2e.DataFolder(t)} {
		host := need.Address(t)
		s, _, err := spawnOther(t, next, append([]string{"serve", "--data", folder, "--listen", host, "--roles", "api"}, in.shared...)...)
		must(t, err)
		young = append(young, s)
		there := *alice
		there.URL = "http://" + host
		wait.Until(t, "a new server answers", func() bool { return readyStatus(there.URL) != 0 })
		b.add(t, there.URL)
		if status := readyStatus(there.URL); status != http.StatusServiceUnavailable {
			t.Errorf("a new server is ready (%d) before its tables are there", status)
		}
		response, err := there.Do("GET", "/api/history", nil, nil)
		must(t, err)
		content, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != http.StatusOK || response.Header.Get("Consistency") != "stale" {
			t.Errorf("a list whose tables are not there: %d, Consistency %q: %s", response.StatusCode, response.Header.Get("Consistency"), content)
		}
	}
	l.rounds(roundsBetween)
	if n := b.ready(); n != 2 {
		t.Errorf("%d servers are ready while the new version has no writer", n)
	}
	newProjector, err := launchOther(t, next, other("project,react")...)
	must(t, err)
	wait.Until(t, "old and new servers are ready", func() bool { return b.ready() == 4 })
	l.rounds(roundsBetween)
	for i, s := range old {
		signal(t, s, syscall.SIGTERM)
		if status := s.Wait(); status != 0 {
			t.Errorf("old server %d ends with %d:\n%s", i, status, s.Output())
		}
		b.remove(s.URL)
		l.rounds(roundsBetween)
	}
	if status, err := oldProjector.interrupt(); err != nil || status != 0 {
		t.Errorf("the old projector ends with %d, %v:\n%s", status, err, oldProjector.output)
	}
	command := func(arguments ...string) string {
		output, err := exec.Command(next, append(arguments, "--data", data)...).CombinedOutput()
		if err != nil {
			t.Errorf("reckon %v: %v\n%s", arguments, err, output)
		}
		return string(output)
	}
	command("projections", "teardown", "history", "3")
	l.rounds(roundsBetween)
	close(l.ended)
	l.clients.Wait()
	if versions := command("projections", "versions"); strings.Contains(versions, "history_v3") || !strings.Contains(versions, "history_v4") {
		t.Errorf("after the teardown:\n%s", versions)
	}
	t.Logf("%d writes and %d reads, %d of them marked stale and %d asked again, while both servers were replaced; %d failed in the balancer",
		l.writes.Load(), l.reads.Load(), l.stale.Load(), l.again.Load(), b.failed.Load())
	if b.failed.Load() > 0 || l.reads.Load() == 0 || l.stale.Load() == l.reads.Load() {
		t.Error("requests failed, or no read was fresh")
	}
	for _, p := range append(young, newProjector) {
		if status, err := p.interrupt(); err != nil || status != 0 {
			t.Errorf("a new process ends with %d, %v:\n%s", status, err, p.output)
		}
	}
}

// load is clients that write and read.
type load struct {
	pause   time.Duration // of a client between two requests
	t       *testing.T
	front   string
	ended   chan struct{}
	clients sync.WaitGroup

	writes, reads, stale, again atomic.Int64
}

// attempts is how often a client asks for a list of which a part does not answer.
const attempts = 3

// client evaluates, and then lists with the token of its write: what it wrote is the newest of its runs there, unless the answer says that it is stale.
func (l *load) client(a *e2e.Account, n int) {
	a.URL = l.front
	for i := 0; ; i++ {
		select {
		case <-l.ended:
			return
		default:
		}
		expression := fmt.Sprintf("%d + %d", 1000+n, i)
		response, err := a.Do("POST", "/api/evaluate", map[string]string{"expression": expression}, nil)
		if err != nil {
			l.t.Errorf("client %d, write %d: %v", n, i, err)
			return
		}
		content, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // it is read
		if err != nil || response.StatusCode != http.StatusOK {
			l.t.Errorf("client %d, write %d: %d %s, %v", n, i, response.StatusCode, content, err)
			return
		}
		l.writes.Add(1)
		token := response.Header.Get("Consistency-Token")
		for attempt := range attempts { // a part that a busy machine keeps from answering in time is asked again, as the answer says
			if response, err = a.Do("GET", "/api/history?limit=20", nil, http.Header{"Consistency-Token": {token}}); err != nil {
				l.t.Errorf("client %d, read %d: %v", n, i, err)
				return
			}
			content, err = io.ReadAll(response.Body)
			_ = response.Body.Close() // it is read
			if attempt+1 == attempts || response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(content), "try again in a moment") {
				break
			}
			l.again.Add(1)
		}
		switch stale := response.Header.Get("Consistency") == "stale"; {
		case err != nil || response.StatusCode != http.StatusOK || token == "":
			l.t.Errorf("client %d, read %d: %d %s, %v", n, i, response.StatusCode, content, err)
			return
		case stale:
			l.stale.Add(1)
		case !strings.Contains(string(content), `"`+expression+`"`):
			l.t.Errorf("client %d: a list that is not marked stale lacks %s: %s", n, expression, content)
			return
		}
		l.reads.Add(1)
		wait.Pace(l.pause)
	}
}

// rounds waits until the clients have read so many times more.
func (l *load) rounds(n int64) {
	l.t.Helper()
	before := l.reads.Load()
	wait.Until(l.t, "clients are answered", func() bool { return l.reads.Load() >= before+n || l.t.Failed() })
}

// writeUpgradeLog writes runs of the past below the node.
func writeUpgradeLog(t *testing.T, folder string, runs int64) {
	t.Helper()
	log, err := eventlog.Open(eventlog.Options{Dir: folder})
	must(t, err)
	l := audittest.New("the key of a past server")
	var last *eventlog.Pending
	for n := int64(1); n <= runs; n++ {
		if n%run.BlockSize == 1 {
			l.Add("runids", "", run.Reserved{Process: audittest.Process})
		}
		if n%rebuildJobs != 0 {
			addRun(l, n)
		}
		for _, s := range l.Stored(t) {
			last, err = log.Submit(t.Context(), s.Stream, eventlog.Any(), []eventlog.Proposed{{ID: uuid.MustParse(s.ID), Type: s.Name, JSON: true, Data: s.Data, Metadata: s.Metadata}})
			must(t, err)
		}
		l.Events = l.Events[:0]
	}
	_, err = last.Wait(t.Context())
	must(t, err)
	must(t, log.Close())
}

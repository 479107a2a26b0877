package processes

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/projections/pgtest"
	"reckon/test/binary"
	"reckon/test/e2e"
	"reckon/test/proxy"
	"reckon/test/wait"
)

// installation is what several processes share: a log served by `reckon node`,
// one PostgreSQL, one folder of blobs and one of keys.
type installation struct {
	t        testing.TB
	log      string // connection string
	shared   []string
	through  []string // a command that becomes the processes started from then on, as env with variables; nil: none
	node     *process
	logData  string       // folder of the node
	database *proxy.Proxy // between the processes and PostgreSQL
	postgres string       // its own address
}

// plans lets a test submit as fast as it can; accounts may run two jobs at once.
const plans = `[[plans]]
plan = "free"
evaluation_budget_ms = 5000
per_minute = 100000
concurrent_evaluations = 64
jobs_per_day = 1000
job_budget_ms = 60000
concurrent_jobs = 2
qubits = 20
proof_export_bytes = 1048576
proofs = true
live_sessions = 5
denied_heads = ["Run", "Import"]
`

// install starts the node and makes what is shared.
func install(t testing.TB) *installation {
	t.Helper()
	return installWith(t, plans)
}

// installWith is install with other plans.
func installWith(t testing.TB, plans string) *installation {
	t.Helper()
	return installOn(t, plans, pgtest.Database(t), func(string) {})
}

// installOn is installWith a database and a log that is written first.
func installOn(t testing.TB, plans, database string, writeLog func(folder string)) *installation {
	t.Helper()
	return installIn(t, t.TempDir(), plans, database, writeLog)
}

// installIn is installOn with the folder in which the log lies, and what else is shared.
func installIn(t testing.TB, folder, plans, database string, writeLog func(folder string)) *installation {
	t.Helper()
	way, address := pgtest.Behind(t, database)
	config := filepath.Join(folder, "reckon.toml")
	if err := os.WriteFile(config, []byte(plans), 0o600); err != nil {
		t.Fatal(err)
	}
	in := &installation{t: t, logData: filepath.Join(folder, "log"), database: way, postgres: database}
	writeLog(in.logData)
	in.startNode()
	in.log = in.node.ready
	in.shared = append([]string{
		"--config", config, "--eventstore", in.log, "--database", address, "--beat", "2s", "--job-slots", "2", "--grace", "1s",
		"--blobs", "file://" + filepath.Join(folder, "blobs"), "--keys", filepath.Join(folder, "keys"),
	}, e2e.FirstEngine...)
	return in
}

// startNode starts the node, anew after it was killed.
func (in *installation) startNode() {
	in.t.Helper()
	node, err := launch(in.t, "node", "--init", "--data", in.logData)
	if err != nil {
		in.t.Fatal(err)
	}
	in.node = node
}

// with is the installation for processes that have these settings, too, the last of each in force.
func (in *installation) with(settings ...string) *installation {
	other := *in
	other.shared = append(slices.Clone(in.shared), settings...)
	return &other
}

// api starts a process that answers HTTP.
func (in *installation) api(roles string) *e2e.Server {
	return e2e.StartThrough(in.t, in.through, e2e.DataFolder(in.t), append(in.shared, "--roles", roles)...)
}

// headless starts a process that does not.
func (in *installation) headless(roles string) *process {
	in.t.Helper()
	p, err := in.tryHeadless(roles)
	if err != nil {
		in.t.Fatal(err)
	}
	return p
}

// tryHeadless is headless for goroutines, which must not end the test.
func (in *installation) tryHeadless(roles string) (*process, error) {
	data := e2e.DataFolder(in.t)
	command := append(slices.Clone(in.through), binary.Reckon(in.t), "serve", "--data", data, "--roles", roles)
	return launchOther(in.t, command[0], append(command[1:], in.shared...)...)
}

// process is a running reckon.
type process struct {
	ready   string // what it printed behind "ready"
	command *exec.Cmd
	output  *bytes.Buffer
	exited  chan struct{}
}

// launch starts a process and waits until it is ready.
func launch(t testing.TB, arguments ...string) (*process, error) {
	return launchOther(t, binary.Reckon(t), arguments...)
}

// launchOther is launch of another binary.
func launchOther(t testing.TB, binary string, arguments ...string) (*process, error) {
	p, ready, err := spawnOther(t, binary, arguments...)
	if err != nil {
		return nil, err
	}
	select {
	case p.ready = <-ready:
	case <-p.exited:
		return nil, fmt.Errorf("reckon %v ended before it was ready:\n%s", arguments, p.output)
	case <-time.After(wait.Longest):
		p.kill()
		return nil, fmt.Errorf("reckon %v is not ready after %v:\n%s", arguments, wait.Longest, p.output)
	}
	return p, nil
}

// spawn starts a process. What it prints behind "ready" is sent once.
func spawn(t testing.TB, arguments ...string) (*process, <-chan string, error) {
	return spawnOther(t, binary.Reckon(t), arguments...)
}

func spawnOther(t testing.TB, binary string, arguments ...string) (*process, <-chan string, error) {
	p := &process{command: exec.Command(binary, arguments...), output: &bytes.Buffer{}, exited: make(chan struct{})}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	p.command.Stderr = p.output
	if err := p.command.Start(); err != nil {
		return nil, nil, err
	}
	ready := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if what, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- what
			}
		}
	})
	go func() {
		reading.Wait()
		_ = p.command.Wait()
		close(p.exited)
	}()
	t.Cleanup(p.kill)
	return p, ready, nil
}

// kill ends the process at once, as kill -9 does.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

// interrupt asks the process to stop, and returns its exit status.
func (p *process) interrupt() (int, error) {
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		return 0, err
	}
	select {
	case <-p.exited:
		return p.command.ProcessState.ExitCode(), nil
	case <-time.After(wait.Longest):
		return 0, fmt.Errorf("still running after an interrupt")
	}
}

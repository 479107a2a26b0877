package processes

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/test/binary"
	"reckon/test/e2e"
	"reckon/test/need"
	"reckon/test/proxy"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// chaos is an installation of which everything fails in turn: two processes that answer, two that run jobs, each behind ways of its own to the log,
// PostgreSQL and a bucket; and a witness.
type chaos struct {
	t       *testing.T
	in      bucketed
	random  *rand.Rand
	places  []*place // the processes that answer first
	witness *proxy.Proxy
	longest int // milliseconds that an outage lasts

	happened map[string]int // incidents by what they were
}

// place is where a process runs; a new one takes the place of one that has ended.
type place struct {
	name   string
	behind *installation
	ways   ways
	host   string      // of a process that answers
	server *e2e.Server // of a place with a host
	runner *process    // of another
}

func (p *place) start(t *testing.T) {
	t.Helper()
	if p.host == "" {
		p.runner = p.behind.headless("run")
		return
	}
	p.server = p.behind.with("--listen", p.host).api("api,project,react")
}

// kill ends the process as kill -9 does, and starts another.
func (p *place) kill(t *testing.T) {
	t.Helper()
	if p.host == "" {
		p.runner.kill()
	} else {
		p.server.Kill()
	}
	p.start(t)
}

// stop ends the process as an operator does, and starts another.
func (p *place) stop(t *testing.T) {
	t.Helper()
	status, err, output := 0, error(nil), ""
	if p.host == "" {
		status, err = p.runner.interrupt()
		output = p.runner.output.String()
	} else {
		status = p.server.Interrupt()
		output = p.server.Output()
	}
	if err != nil || status != 0 {
		t.Errorf("%s ends with %d, %v:\n%s", p.name, status, err, output)
	}
	p.start(t)
}

// startChaos starts everything, with the accounts that will ask.
func startChaos(t *testing.T, accounts int) (c *chaos, people []*e2e.Account) {
	t.Helper()
	c = &chaos{t: t, in: installWithBucket(t), random: rand.New(rand.NewPCG(35, 1)), happened: map[string]int{}}
	c.in.installation = c.in.with("--beat", "1s", "--transparency-origin", "reckon.example/transparency", "--checkpoint-interval", "1s", "--unready-grace", "0s")
	first := c.in.api("api,project,react") // tells the witness which log it is
	for i := range accounts {
		people = append(people, first.NewAccount(fmt.Sprintf("user-%d@example.com", i)))
	}
	var log struct{ Keys []struct{ Key string } }
	must(t, people[0].JSON("GET", "/.well-known/transparency-log.json", nil, &log))
	first.Interrupt()
	key, address := startWitness(t, log.Keys[0].Key)
	c.witness = proxy.Start(t, "tcp", address)
	c.in.installation = c.in.with("--witness", key+" http://"+c.witness.Address(), "--witness-quorum", "1")
	for _, name := range []string{"api-1", "api-2", "run-1", "run-2"} {
		p := &place{name: name}
		if strings.HasPrefix(name, "api") {
			p.host = need.Address(t)
		}
		p.behind, p.ways = c.in.behind(t)
		p.start(t)
		c.places = append(c.places, p)
	}
	return c, people
}

// startWitness runs a witness of a log until the test ends.
func startWitness(t *testing.T, log string) (key, address string) {
	t.Helper()
	command := exec.Command(binary.Reckon(t), "witness", "--init", "--folder", filepath.Join(t.TempDir(), "witness"), "--name", "witness.example/1", "--log", log, "--listen", "127.0.0.1:0")
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() { _, _ = command.Process.Kill(), command.Wait() })
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	key, address, _ = strings.Cut(strings.TrimSpace(line), " http://")
	return key, address
}

// way takes one way of a place away, or all of them, for a while.
func (c *chaos) way() (what string) {
	p := c.places[c.random.IntN(len(c.places))]
	named := []struct {
		name string
		ways []*proxy.Proxy
	}{{"log", []*proxy.Proxy{p.ways.log}}, {"read models", []*proxy.Proxy{p.ways.database}}, {"identities", []*proxy.Proxy{p.ways.identity}}, {"bucket", []*proxy.Proxy{p.ways.blobs}}, {"everything", p.ways.all()}}
	of := named[c.random.IntN(len(named))]
	state := c.state(of.ways...)
	return p.name + " without " + of.name + ", " + state
}

// state has ways refuse, be silent or be slow for a while.
func (c *chaos) state(ways ...*proxy.Proxy) (state string) {
	states := []string{"refusing", "silent", "slow"}
	state = states[c.random.IntN(len(states))]
	for _, way := range ways {
		map[string]func(*proxy.Proxy){"refusing": refuse, "silent": swallow, "slow": slow}[state](way)
	}
	c.lasts()
	for _, way := range ways {
		way.Mend()
	}
	return state
}

// inTransactions are texts at which a process has a transaction of PostgreSQL that others wait for.
var inTransactions = []string{"pg_advisory_xact_lock", `"queue_`, `UPDATE "projection_state"`, "copy ", "commit"}

// lose has a place lose single connections in the middle of transactions, or all that it has to a part: they are silent for good, and others pass.
func (c *chaos) lose() (what string) {
	p := c.places[c.random.IntN(len(c.places))]
	if ways := p.ways.all(); c.random.IntN(2) == 0 {
		ways[c.random.IntN(len(ways))].Lose()
		return p.name + " lost its connections to a part"
	}
	defer p.ways.database.LoseOn("")
	before := p.ways.database.Lost()
	for range 3 {
		p.ways.database.LoseOn(inTransactions[c.random.IntN(len(inTransactions))])
		c.lasts()
	}
	return fmt.Sprintf("%s lost %d connections in transactions", p.name, p.ways.database.Lost()-before)
}

// freeze stops a process as SIGSTOP does, for a while.
func (c *chaos) freeze(name string, pid int) (what string) {
	must(c.t, syscall.Kill(pid, syscall.SIGSTOP))
	c.lasts()
	must(c.t, syscall.Kill(pid, syscall.SIGCONT))
	return name + " frozen"
}

func (p *place) pid() int {
	if p.host == "" {
		return p.runner.command.Process.Pid
	}
	return p.server.PID()
}

func (c *chaos) lasts() { wait.Pace(time.Duration(300+c.random.IntN(c.longest)) * time.Millisecond) }

// incident does the nth; every kind comes in turn, and every second is a way.
func (c *chaos) incident(n int) {
	kinds := []func() string{
		c.lose,
		func() string { p := c.places[2+n/2%2]; p.kill(c.t); return p.name + " killed" },
		func() string { p := c.places[c.random.IntN(2)]; return c.freeze(p.name, p.pid()) },
		func() string { c.in.node.kill(); c.lasts(); c.in.startNode(); return "node killed" },
		func() string { p := c.places[2+c.random.IntN(2)]; return c.freeze(p.name, p.pid()) },
		func() string { return c.freeze("node", c.in.node.command.Process.Pid) },
		func() string { return "witness " + c.state(c.witness) },
		func() string { c.witness.Lose(); c.lasts(); return "connections to the witness lost" },
		func() string { c.in.bucket.Stop(); c.lasts(); c.in.bucket.Restart(); return "bucket killed" },
		func() string { p := c.places[2+c.random.IntN(2)]; p.stop(c.t); return p.name + " stopped" },
		func() string { p := c.places[c.random.IntN(2)]; p.kill(c.t); return p.name + " killed" },
		func() string { p := c.places[c.random.IntN(2)]; p.stop(c.t); return p.name + " stopped" },
	}
	what := ""
	if n%2 == 1 {
		what = c.way()
	} else {
		what = kinds[n/2%len(kinds)]()
	}
	c.happened[what]++
	wait.Pace(time.Duration(c.random.IntN(1000)) * time.Millisecond)
}

// caller is a client that evaluates and submits jobs, and keeps what it was told.
type caller struct {
	*e2e.Account
	random *rand.Rand
	hosts  []string

	jobs map[string]string // by id, the answer that each must have
	runs []int64           // that were acknowledged
	told map[string]int    // answers by their code
	n    int
}

// ask sends one request to one of the processes that answer.
func (c *caller) ask(method, path string, body, answer any) error {
	there := *c.Account
	there.URL = "http://" + c.hosts[c.random.IntN(len(c.hosts))]
	err := there.JSON(method, path, body, answer)
	code, refused := "200", (*e2e.StatusError)(nil)
	switch {
	case errors.As(err, &refused):
		code = fmt.Sprintf("%d %s", refused.Status, refused.Code)
	case err != nil:
		code = "no answer"
	}
	c.told[code]++
	return err
}

// round is an evaluation and a job; a third of the jobs' expressions are blobs. What is refused is asked again, jobs by the same key.
func (c *caller) round(t *testing.T) {
	c.n++
	sum, expression := fmt.Sprint(c.n+1), fmt.Sprintf("%d + 1", c.n)
	var e evaluated
	if err := c.ask("POST", "/api/evaluate", map[string]any{"expression": expression}, &e); err == nil {
		if c.runs = append(c.runs, e.RunID); e.Result != sum {
			t.Errorf("%s is answered %+v", expression, e)
		}
	}
	if c.n%3 == 0 {
		expression, sum = fmt.Sprintf("%d + StringLength[%q]", c.n, strings.Repeat("x", event.MaxInlineBytes)), fmt.Sprint(c.n+event.MaxInlineBytes)
	}
	var submitted jobView
	for c.ask("POST", "/api/jobs", map[string]any{"expression": expression, "idempotency_key": fmt.Sprint("job-", c.n)}, &submitted) != nil {
		wait.Pace(time.Duration(100+c.random.IntN(400)) * time.Millisecond)
		if t.Failed() {
			return
		}
	}
	if other, twice := c.jobs[submitted.JobID]; twice {
		t.Errorf("job %s is that of another key, whose answer is %s", submitted.JobID, other)
	}
	c.jobs[submitted.JobID] = sum
	_ = c.ask("GET", "/api/history", nil, nil) // counted
}

// TestChaos: processes are killed, stopped and frozen, the node and the bucket too, every process is cut off from every part that it needs, and loses connections
// in the middle of transactions, while clients
// evaluate and submit jobs. Nothing but time is lost: each job succeeds once, slots agree with jobs, each receipt verifies and is in the transparency log,
// which the witness has cosigned, and the audit is clean.
func TestChaos(t *testing.T) {
	t.Parallel()
	incidents, clients := sweep.Size(t, "RECKON_CHAOS_INCIDENTS", 5, 24), sweep.Size(t, "RECKON_CHAOS_CLIENTS", 2, 6)
	c, people := startChaos(t, clients)
	c.longest = sweep.Size(t, "RECKON_CHAOS_OUTAGE_MS", 1500, 12000) // longer than a lease and than a call to a database
	pause := thinking(t)
	var calling sync.WaitGroup
	var ended atomic.Bool
	callers := make([]*caller, clients)
	for i, a := range people {
		callers[i] = &caller{Account: a, random: rand.New(rand.NewPCG(35, uint64(i))), hosts: []string{c.places[0].host, c.places[1].host}, jobs: map[string]string{}, told: map[string]int{}}
		calling.Go(func() {
			for !ended.Load() && !t.Failed() {
				callers[i].round(t)
				wait.Pace(pause + time.Duration(callers[i].random.IntN(200))*time.Millisecond)
			}
		})
	}
	begun := time.Now()
	func() {
		defer calling.Wait() // also where an incident ends the test
		defer ended.Store(true)
		for n := range incidents {
			c.incident(n)
		}
	}()
	books := settle(t, connect(t, c.in.log))
	lasted := time.Since(begun)
	books.check(t)
	told, runs, jobs := map[string]int{}, 0, 0
	for _, who := range callers {
		runs += c.checkReceipts(who, who.runs)
		jobs += c.checkJobs(who, books)
		for code, n := range who.told {
			told[code] += n
			if !slices.Contains([]string{"200", "503 unavailable", "503 saturated", "no answer"}, code) {
				t.Errorf("callers were told %s", code)
			}
		}
	}
	spent, attempts := 0, 0
	for _, of := range books.jobs {
		spent += len(of.state.Spent)
		attempts += of.state.Attempt
	}
	if len(books.jobs) != jobs {
		t.Errorf("%d jobs were queued, and %d submitted", len(books.jobs), jobs)
	}
	if output, err := exec.Command(binary.Reckon(t), "audit", "--data", c.places[0].server.Data, "--eventstore", c.in.log).CombinedOutput(); err != nil || !strings.Contains(string(output), "\nclean:") {
		t.Errorf("audit: %v\n%s", err, output)
	}
	t.Logf("%d incidents in %v: %v", incidents, lasted.Round(time.Second), c.happened)
	t.Logf("%d jobs succeeded, in %d attempts of which %d counted; %d receipts verified; answers %v", jobs, attempts, spent, runs+jobs, told)
}

// checkJobs compares what the log says of a caller's jobs with what the caller was told, and verifies the receipts of their runs.
func (c *chaos) checkJobs(who *caller, books *books) int {
	c.t.Helper()
	var runs []int64
	for _, id := range slices.Sorted(maps.Keys(who.jobs)) {
		of := books.jobs[id]
		if of == nil || of.state.Status != job.Succeeded || evaluatedTo(c.t, of.state.Outcome) != who.jobs[id] {
			c.t.Errorf("job %s, whose answer is %s: %+v", id, who.jobs[id], of)
			continue
		}
		runs = append(runs, of.state.Queued.RunID)
	}
	c.checkReceipts(who, runs)
	return len(who.jobs)
}

// evaluatedTo is the short answer of the run that a job publishes.
func evaluatedTo(t *testing.T, o job.Outcome) string {
	t.Helper()
	if len(o.Publish) == 0 {
		return "nothing is published"
	}
	published, err := domain.Catalogue().Decode(o.Publish[0].Name, o.Publish[0].Version, o.Publish[0].Data)
	must(t, err)
	e, _ := published.(run.Evaluated)
	return e.Answer.Inline
}

// checkReceipts verifies the receipts of runs, and waits until each is in the transparency log.
func (c *chaos) checkReceipts(who *caller, runs []int64) int {
	c.t.Helper()
	who.URL = "http://" + c.places[0].host
	published := publishedKeys(c.t, c.places[0].server)
	for _, run := range runs {
		var sealed receipt.Envelope
		path := fmt.Sprint("/api/receipts/", run)
		must(c.t, who.JSON(http.MethodGet, path, nil, &sealed))
		if err := receipt.Check(sealed, published); err != nil {
			c.t.Errorf("receipt of run %d: %v", run, err)
		}
		wait.Until(c.t, "the receipt is in the transparency log", func() bool {
			err := who.JSON(http.MethodGet, path+"/inclusion", nil, nil)
			refused, is := errors.AsType[*e2e.StatusError](err)
			if err != nil && (!is || refused.Code != "not_yet_in_transparency_log") {
				c.t.Fatalf("inclusion of run %d: %v", run, err)
			}
			return err == nil
		})
	}
	return len(runs)
}

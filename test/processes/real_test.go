package processes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/eventstore"
	"reckon/runners"
	"reckon/runners/kinds"
	"reckon/test/e2e"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// jobView is what a test looks at of a job.
type jobView struct {
	JobID    string          `json:"job_id"`
	Status   job.Status      `json:"status"`
	Attempt  int             `json:"attempt"`
	RunID    int64           `json:"run_id"`
	Output   string          `json:"output"`
	Error    string          `json:"error"`
	Result   json.RawMessage `json:"result"`
	Resubmit bool            `json:"resubmit"`
}

type evaluated struct {
	Result   string   `json:"result"`
	Status   string   `json:"status"`
	Warnings []string `json:"warnings"`
	RunID    int64    `json:"run_id"`
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// connect connects to a log until the test's end.
func connect(t *testing.T, connection string) *eventstore.Store {
	t.Helper()
	log, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: connection, Catalogue: domain.Catalogue(), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(log.Close)
	return log
}

func at(a *e2e.Account, s *e2e.Server) *e2e.Account {
	there := *a
	there.URL = s.URL
	return &there
}

func await(t *testing.T, a *e2e.Account, id string) (j jobView) {
	t.Helper()
	wait.Until(t, "job "+id+" ends", func() bool {
		must(t, a.JSON("GET", "/api/jobs/"+id+"?wait_ms=20000", nil, &j))
		return j.Status != job.Queued && j.Status != job.Running
	})
	return j
}

// TestSessionsAcrossProcesses: what is sent to one API process for a session that
// lives in another finds its variables; killing the owner ends the session, and
// the next answer says so.
func TestSessionsAcrossProcesses(t *testing.T) {
	t.Parallel()
	in := install(t)
	in.headless("project,react")
	one, two := in.api("api"), in.api("api")
	alice := one.NewAccount("alice@example.com")
	here, there := alice, at(alice, two)
	evaluate := func(a *e2e.Account, expression string) (e evaluated) {
		t.Helper()
		must(t, a.JSON("POST", "/api/evaluate", map[string]string{"expression": expression, "session_id": "notebook"}, &e))
		return e
	}
	evaluate(here, "x = 5")
	if e := evaluate(there, "x + 1"); e.Result != "6" || len(e.Warnings) > 0 {
		t.Errorf("the other process answers %+v", e)
	}
	var refused *e2e.StatusError
	err := there.JSON("POST", "/api/evaluate", map[string]string{"expression": "While[True]", "session_id": "doomed"}, nil)
	if !errors.As(err, &refused) || refused.Status != 408 {
		t.Errorf("over budget: %v", err)
	}
	var submitted jobView
	must(t, there.JSON("POST", "/api/jobs", map[string]string{"expression": "x = x + 2", "session_id": "notebook"}, &submitted))
	inSession := await(t, there, submitted.JobID)
	if inSession.Status != job.Succeeded || inSession.Output != "7" {
		t.Errorf("job in the session: %+v", inSession)
	}
	if e := evaluate(there, "x"); e.Result != "7" {
		t.Errorf("after the job: %+v", e)
	}
	var cleared struct {
		Existed bool `json:"existed"`
	}
	evaluate(here, "y = 1")
	must(t, there.JSON("DELETE", "/api/sessions/notebook", nil, &cleared))
	if !cleared.Existed {
		t.Error("the session did not exist")
	}
	if e := evaluate(there, "{x, y}"); e.Result != "{x, y}" || len(e.Warnings) > 0 {
		t.Errorf("after clearing: %+v", e)
	}

	evaluate(there, "z = 9") // now the other one owns it
	if e := evaluate(here, "z"); e.Result != "9" {
		t.Errorf("forwarded back: %+v", e)
	}
	two.Kill()
	e := evaluate(here, "z")
	if e.Result != "z" || !strings.Contains(strings.Join(e.Warnings, " "), "was lost") {
		t.Errorf("after its owner was killed: %+v", e)
	}
	sameFields(t, here, inSession)
}

// sameFields compares the structured result of a job with an evaluate response.
func sameFields(t *testing.T, a *e2e.Account, j jobView) {
	t.Helper()
	var response, result map[string]any
	must(t, a.JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, &response))
	must(t, json.Unmarshal(j.Result, &result))
	if got, want := slices.Sorted(maps.Keys(result)), slices.Sorted(maps.Keys(response)); !slices.Equal(got, want) {
		t.Errorf("result of a job has fields %v, an evaluate response %v", got, want)
	}
}

// TestJobsSurviveKilledRunners submits jobs of many accounts to two API
// processes, some twice, cancels some, and kills runners with kill -9 all the
// while. Then the log must agree with every rule.
func TestJobsSurviveKilledRunners(t *testing.T) {
	t.Parallel()
	accounts := sweep.Size(t, "RECKON_JOB_ACCOUNTS", 5, 50)
	each := sweep.Size(t, "RECKON_JOBS_EACH", 8, 16)
	in := install(t)
	apis := []*e2e.Server{in.api("api,project,react"), in.api("api,react")}
	fleet := make([]*process, 3)
	for i := range fleet {
		fleet[i] = in.headless("run")
	}
	people := make([]*e2e.Account, accounts)
	for i := range people {
		people[i] = apis[0].NewAccount(fmt.Sprintf("user-%d@example.com", i))
	}
	log := connect(t, in.log)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	killed := make(chan int)
	go func() { killed <- killRunners(ctx, t, log, in, fleet) }()
	begun := time.Now()
	var clients sync.WaitGroup
	for i, a := range people {
		clients.Go(func() { submitAll(t, i, []*e2e.Account{at(a, apis[0]), at(a, apis[1])}, each) })
	}
	clients.Wait()
	submitted := time.Since(begun)
	books := settle(t, log)
	elapsed := time.Since(begun)
	stop()
	kills := <-killed
	if len(books.jobs) != accounts*each {
		t.Errorf("%d jobs were queued, want %d", len(books.jobs), accounts*each)
	}
	books.check(t)
	books.checkFairness(t)
	t.Logf("%d jobs of %d accounts: submitted in %v, ended in %v, %d runners killed; ends %v; worst wait of an account %.2f of the mean",
		len(books.jobs), accounts, submitted.Round(time.Millisecond), elapsed.Round(time.Millisecond), kills, books.ends(), books.unfairness())
}

// settle reads the books until nothing is open in them.
func settle(t *testing.T, log *eventstore.Store) *books {
	t.Helper()
	for least, since := math.MaxInt, time.Now(); ; wait.Pace(500 * time.Millisecond) { // each look reads the whole log
		b := read(t, log)
		open := b.open()
		if len(open) == 0 {
			return b
		}
		if len(open) < least {
			least, since = len(open), time.Now()
		}
		if time.Since(since) > wait.Longest {
			t.Fatalf("%d are not settled:\n%s", len(open), strings.Join(open, "\n"))
		}
	}
}

// claimsPerKill is how many attempts begin between two kills: a slow machine has no more kills for its jobs than a fast one.
const claimsPerKill = 12

// killRunners kills one runner after another, each when jobs have just been claimed, and starts a new one in its place.
func killRunners(ctx context.Context, t *testing.T, log *eventstore.Store, in *installation, fleet []*process) (kills int) {
	claims := 0
	for r, err := range log.SubscribeAll(ctx, event.Position{}, job.WasClaimed{}.EventName()) {
		if ctx.Err() != nil {
			return kills
		}
		if err != nil {
			t.Error(err)
			return kills
		}
		if _, claimed := r.Event.(job.WasClaimed); !claimed {
			continue // a position only
		}
		if claims++; claims%claimsPerKill != 0 {
			continue
		}
		fleet[kills%len(fleet)].kill()
		next, err := in.tryHeadless("run")
		if err != nil {
			t.Error(err)
			return kills
		}
		fleet[kills%len(fleet)] = next
		kills++
	}
	return kills
}

// withoutRun is a submission of a kind that writes no run; empty where no kind is such a one.
func withoutRun(t *testing.T) (body map[string]any) {
	for _, kind := range runners.Submittable(kinds.All(kinds.Parts{})) {
		if kind.Publishes == job.PublishesNothing && kind.Example != "" {
			if err := json.Unmarshal([]byte(kind.Example), &body); err != nil {
				t.Error(err)
			}
			body["expression"] = nil // the same as none
			return body
		}
	}
	return nil
}

// submitAll is one account's client: every fifth job is sent to both processes at
// once under one key, and every seventh is cancelled.
func submitAll(t *testing.T, seed int, clients []*e2e.Account, each int) {
	random := rand.New(rand.NewPCG(uint64(seed), 4))
	for i := range each {
		body := map[string]any{"idempotency_key": fmt.Sprint("job-", i), "expression": fmt.Sprintf("%d + %d", seed, i)}
		switch {
		case i%4 == 1:
			body["expression"] = "Length[Table[Sin[k] + k, {k, 20000}]]"
		case i%4 == 3:
			for field, value := range withoutRun(t) {
				body[field] = value
			}
		}
		answers := make([]jobView, 2)
		send := func(n int) {
			for { // a key makes it safe to send again
				err := clients[n].JSON("POST", "/api/jobs", body, &answers[n])
				var refused *e2e.StatusError
				if err == nil {
					return
				}
				if errors.As(err, &refused) && refused.Status != 503 {
					t.Error(err)
					return
				}
				wait.Pace(100 * time.Millisecond)
			}
		}
		if i%5 == 0 {
			var both sync.WaitGroup
			both.Go(func() { send(0) })
			both.Go(func() { send(1) })
			both.Wait()
			if answers[0].JobID != answers[1].JobID || answers[0].Resubmit == answers[1].Resubmit {
				t.Errorf("one key, two submissions: %+v", answers)
			}
		} else {
			n := random.IntN(2)
			send(n)
			answers[0] = answers[n]
		}
		if i%7 == 0 {
			wait.Pace(time.Duration(random.IntN(300)) * time.Millisecond) // some still wait, some run, some have ended
			if err := clients[random.IntN(2)].JSON("DELETE", "/api/jobs/"+answers[0].JobID, nil, nil); err != nil {
				t.Errorf("cancel: %v", err)
			}
		}
	}
}

// books are the rules of jobs as the log alone tells them.
type books struct {
	jobs    map[string]*entry
	running map[string]map[string]bool // account → jobs
	over    []string                   // accounts that ran more than they may
	net     map[string]int             // job → slots spent and not refunded
	refunds map[string]int
	runs    map[string][]event.Event // job → events of its run
	claims  int
}

// entry is one job in the books.
type entry struct {
	state   job.State
	ends    int
	waited  time.Duration // until the first claim
	queued  time.Time
	place   int // of its first claim among all
	claimed bool
}

func read(t *testing.T, log *eventstore.Store) *books {
	t.Helper()
	b := &books{jobs: map[string]*entry{}, running: map[string]map[string]bool{}, net: map[string]int{}, refunds: map[string]int{}, runs: map[string][]event.Event{}}
	slot := map[string]string{} // slot → job
	for r, err := range log.ReadAll(t.Context(), event.Position{}) {
		must(t, err)
		switch e := r.Event.(type) {
		case slots.Spent:
			slot[e.SlotID] = e.Submission.JobID
			b.net[e.Submission.JobID]++
		case slots.Refunded:
			b.net[slot[e.SlotID]]--
			b.refunds[slot[e.SlotID]]++
		case run.Evaluated:
			b.runs[e.JobID] = append(b.runs[e.JobID], e)
		case run.TimedOut:
			b.runs[e.JobID] = append(b.runs[e.JobID], e)
		case run.Failed:
			b.runs[e.JobID] = append(b.runs[e.JobID], e)
		}
		if id, ok := strings.CutPrefix(r.Stream, "job-"); ok {
			b.job(id, r)
		}
	}
	return b
}

func (b *books) job(id string, r event.Recorded) {
	of := b.jobs[id]
	if of == nil {
		of = &entry{queued: r.Metadata.At}
		b.jobs[id] = of
	}
	before := of.state
	of.state = job.Decider.Evolve(before, r.Event)
	owner := of.state.Queued.Account
	if b.running[owner] == nil {
		b.running[owner] = map[string]bool{}
	}
	delete(b.running[owner], id)
	switch {
	case of.state.Status == job.Running:
		b.running[owner][id] = true
		if len(b.running[owner]) > of.state.Queued.Concurrent {
			b.over = append(b.over, owner)
		}
		if !of.claimed {
			b.claims++
			of.claimed, of.place, of.waited = true, b.claims, r.Metadata.At.Sub(of.queued)
		}
	case of.state.Terminal():
		of.ends++
		if of.state.Status == job.Lost && len(before.Spent)+1 < job.MaxAbandoned {
			of.ends = -1000 // lost while attempts remained
		}
	}
}

// open is what has not ended yet.
func (b *books) open() (open []string) {
	for id, of := range b.jobs {
		switch {
		case !of.state.Terminal():
			open = append(open, fmt.Sprintf("job %s is %s after %d attempts", id, of.state.Status, of.state.Attempt))
		case of.state.Outcome.PublishTo != "" && len(b.runs[id]) == 0:
			open = append(open, "job "+id+" has ended and its run is not there")
		case of.state.Refunded && b.net[id] != 0:
			open = append(open, "job "+id+" was cancelled early and is not refunded")
		}
	}
	return open
}

func (b *books) check(t *testing.T) {
	t.Helper()
	for _, owner := range b.over {
		t.Errorf("account %s ran more jobs at once than it may", owner)
	}
	for id, of := range b.jobs {
		want := 1
		if of.state.Refunded {
			want = 0
		}
		switch s := of.state; {
		case of.ends != 1:
			t.Errorf("job %s: %d ends (a number below 0: lost while attempts remained)", id, of.ends)
		case b.net[id] != want:
			t.Errorf("job %s, %s, early %t, holds %d slots, want %d", id, s.Status, s.Refunded, b.net[id], want)
		case b.refunds[id] > 1 && s.Refunded: // a duplicate's refund is another slot's
			t.Errorf("job %s was refunded %d times", id, b.refunds[id])
		case s.Queued.RunID != 0 && s.Status == job.Succeeded && len(b.runs[id]) != 1:
			t.Errorf("job %s succeeded and has %d runs", id, len(b.runs[id]))
		case (s.Status == job.Cancelled || s.Status == job.Lost) && len(b.runs[id]) != 0:
			t.Errorf("job %s is %s and has a run", id, s.Status)
		}
	}
	for id := range b.net {
		if b.jobs[id] == nil {
			t.Errorf("a slot was spent for job %s, which does not exist", id)
		}
	}
}

func (b *books) checkFairness(t *testing.T) {
	t.Helper()
	if u := b.unfairness(); u > 2 {
		t.Errorf("an account waited %.2f times as long as accounts do on average", u)
	}
}

func (b *books) ends() map[job.Status]int {
	ends := map[job.Status]int{}
	for _, of := range b.jobs {
		ends[of.state.Status]++
	}
	return ends
}

// unfairness is the longest mean wait of an account as a ratio to the mean of all.
func (b *books) unfairness() float64 {
	waits, jobs := map[string]time.Duration{}, map[string]int{}
	var total time.Duration
	n := 0
	for _, of := range b.jobs {
		if of.claimed {
			waits[of.state.Queued.Account] += of.waited
			jobs[of.state.Queued.Account]++
			total += of.waited
			n++
		}
	}
	worst := 0.0
	for owner, wait := range waits {
		worst = max(worst, wait.Seconds()/float64(jobs[owner]))
	}
	return worst / (total.Seconds() / float64(n))
}

// TestOperatorStopsARunner: a runner told to stop finishes or hands back what it
// has, ends with status 0, and leaves nothing to recover.
func TestOperatorStopsARunner(t *testing.T) {
	t.Parallel()
	in := install(t)
	api := in.api("api,project,react")
	first := in.headless("run")
	alice := api.NewAccount("alice@example.com")
	var submitted jobView
	must(t, alice.JSON("POST", "/api/jobs", map[string]any{"expression": "While[True]", "timeout_ms": 30_000}, &submitted))
	wait.Until(t, "the job runs", func() bool {
		var j jobView
		must(t, alice.JSON("GET", "/api/jobs/"+submitted.JobID, nil, &j))
		return j.Status == job.Running
	})
	second := in.headless("run")
	status, err := first.interrupt()
	if err != nil || status != 0 {
		t.Errorf("the runner ended with status %d, %v:\n%s", status, err, first.output)
	}
	wait.Until(t, "another runner has it", func() bool {
		var j jobView
		must(t, alice.JSON("GET", "/api/jobs/"+submitted.JobID, nil, &j))
		return j.Status == job.Running && j.Attempt == 2
	})
	must(t, alice.JSON("DELETE", "/api/jobs/"+submitted.JobID, nil, nil))
	if j := await(t, alice, submitted.JobID); j.Status != job.Cancelled {
		t.Errorf("%+v", j)
	}
	if status, err := second.interrupt(); err != nil || status != 0 {
		t.Errorf("the idle runner ended with status %d, %v:\n%s", status, err, second.output)
	}
}

package processes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/receipt"
	"reckon/eventstore/memory"
	"reckon/projections"
	"reckon/projections/projectiontest"
	"reckon/runners"
	"reckon/test/processes/fleet"
	"reckon/test/wait"
)

const (
	alice = "0198a1b2-0000-7000-8000-00000000000a"
	beat  = 125 * time.Millisecond
	// patientBeat is of tests in which no process may take itself for cut off: it ends its work after two beats without processor time.
	patientBeat = 2 * time.Second
)

func newFleet(t *testing.T) *fleet.Fleet {
	db := projectiontest.Open(t, projections.Open, projectiontest.SQLite(t))
	f := fleet.New(t, memory.New(domain.Catalogue()), db)
	t.Cleanup(func() { checkCauses(t, f) })
	return f
}

// checkCauses reads off the whole log that each event of a job after the one that queued it follows from an earlier one of the job, in
// its correlation and its trace: a claim from the event that queued the job or put it back, what ends an attempt from its claim. A cancellation is
// a request of its own.
func checkCauses(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	streams := map[string][]event.Recorded{}
	for r, err := range f.Log.ReadAll(context.WithoutCancel(t.Context()), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.Stream, "job-") {
			streams[r.Stream] = append(streams[r.Stream], r)
		}
	}
	for stream, events := range streams {
		first, before := events[0].Metadata, events[0]
		for _, r := range events[1:] {
			m := r.Metadata // a cancelled job has no further event, so that the one before is a claim or was made by a runner
			if _, cancelled := r.Event.(job.WasCancelled); cancelled {
				continue
			}
			cause := before.ID
			if excused, is := r.Event.(job.WasExcused); is { // others may have taken the job meanwhile
				cause = claimOf(events, excused.Nonce)
			} else {
				before = r
			}
			if m.Causation != cause || m.Correlation != first.Correlation || m.Traceparent != first.Traceparent || m.Traceparent == "" {
				t.Errorf("%s of %s after %s is %+v", r.Event.EventName(), stream, cause, m)
			}
		}
	}
}

// claimOf is the id of the event that began an attempt.
func claimOf(events []event.Recorded, nonce string) string {
	for _, r := range events {
		if claimed, is := r.Event.(job.WasClaimed); is && claimed.Nonce == nonce {
			return r.ID
		}
	}
	return ""
}

func done(output string) (runners.End, error) {
	return runners.End{Status: job.Succeeded, Outcome: job.Outcome{Output: event.Inline(output)}}, nil
}

func submit(t *testing.T, f *fleet.Fleet, account, payload string, concurrent int) string {
	t.Helper()
	id, err := f.Submit(t.Context(), account, payload, concurrent)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func state(t *testing.T, f *fleet.Fleet, id string) job.State {
	t.Helper()
	s, err := f.Jobs.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func untilStatus(t *testing.T, f *fleet.Fleet, id string, status job.Status) job.State {
	t.Helper()
	wait.Until(t, "job "+string(status), func() bool { return state(t, f, id).Status == status })
	return state(t, f, id)
}

// TestEveryJobOnceWithinLimits runs many jobs on several runners of which one is
// killed in the middle, and reads from the log that no account ever ran more than
// it may, and that every job succeeded once.
func TestEveryJobOnceWithinLimits(t *testing.T) {
	t.Parallel()
	const accounts, each = 6, 15
	f := newFleet(t)
	var ran atomic.Int64
	options := fleet.Options{Beat: beat, Slots: 4, Run: func(context.Context, runners.Work) (runners.End, error) {
		ran.Add(1)
		return done("ok")
	}}
	var doomed *fleet.Process
	var kill sync.Once
	fatal := options
	fatal.Run = func(ctx context.Context, _ runners.Work) (runners.End, error) {
		kill.Do(func() { doomed.Log.Cut() }) // in the middle of its first jobs
		<-ctx.Done()
		return runners.End{}, ctx.Err()
	}
	var ids []string
	for i := range each {
		for a := range accounts {
			ids = append(ids, submit(t, f, fmt.Sprint("account-", a), fmt.Sprint(i), 1+a%3))
		}
	}
	doomed = f.Start(fatal)
	wait.Until(t, "the doomed runner has jobs", func() bool { return claims(t, f) > 0 })
	f.Start(options)
	f.Start(options)
	for _, id := range ids {
		if s := untilStatus(t, f, id, job.Succeeded); s.Outcome.Output.Inline != "ok" {
			t.Errorf("job %s: %+v", id, s)
		}
	}
	checkLog(t, f)
	if n := ran.Load(); n != int64(len(ids)) {
		t.Errorf("%d jobs were computed %d times", len(ids), n)
	}
}

func claims(t *testing.T, f *fleet.Fleet) (n int) {
	t.Helper()
	for r, err := range f.Log.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, claimed := r.Event.(job.WasClaimed); claimed {
			n++
		}
	}
	return n
}

// checkLog reads the rules of jobs off the whole log.
func checkLog(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	queued := map[string]job.WasQueued{}
	running := map[string]map[string]bool{} // account → jobs
	ends := map[string]int{}
	for r, err := range f.Log.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		end := func(id string) {
			ends[id]++
			delete(running[queued[id].Account], id)
		}
		switch e := r.Event.(type) {
		case job.WasQueued:
			queued[e.JobID] = e
			if running[e.Account] == nil {
				running[e.Account] = map[string]bool{}
			}
		case job.WasClaimed:
			of := queued[e.JobID]
			running[of.Account][e.JobID] = true
			if n := len(running[of.Account]); n > of.Concurrent {
				t.Errorf("%s runs %d jobs at once, and may run %d", of.Account, n, of.Concurrent)
			}
		case job.WasReleased:
			delete(running[queued[e.JobID].Account], e.JobID)
		case job.HasSucceeded:
			end(e.JobID)
		case job.HasFailed:
			end(e.JobID)
		case job.HasTimedOut:
			end(e.JobID)
		case job.WasCancelled:
			end(e.JobID)
		case job.WasLost:
			end(e.JobID)
		}
	}
	for id := range queued {
		if ends[id] != 1 {
			t.Errorf("job %s ended %d times", id, ends[id])
		}
	}
}

// blocking is a job that runs until it is stopped, and says when it starts and stops.
type blocking struct {
	started, stopped chan string
}

func newBlocking() blocking { return blocking{make(chan string, 100), make(chan string, 100)} }

func (b blocking) run(ctx context.Context, w runners.Work) (runners.End, error) {
	b.started <- w.JobID
	<-ctx.Done()
	b.stopped <- w.JobID
	return runners.End{}, ctx.Err()
}

func TestCancellingKillsWhatRuns(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := newBlocking()
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: b.run})
	running := submit(t, f, alice, "1", 1)
	waiting := submit(t, f, alice, "2", 1)
	if got := <-b.started; got != running {
		t.Fatalf("%s runs before %s", got, running)
	}
	c, err := f.Cancel(t.Context(), alice, waiting)
	if err != nil || !c.Cancelled || !c.Refunded {
		t.Errorf("cancelling a queued job: %+v, %v", c, err)
	}
	c, err = f.Cancel(t.Context(), alice, running)
	if err != nil || !c.Cancelled || c.Refunded {
		t.Errorf("cancelling a running job: %+v, %v", c, err)
	}
	<-b.stopped
	if s := state(t, f, running); s.Status != job.Cancelled || len(s.Outcome.Publish) > 0 {
		t.Errorf("cancelled: %+v", s)
	}
	checkLog(t, f)
}

// TestCutOffRunnerStopsBeforeItsWorkIsTaken: a process that cannot report kills
// its work; only then does another one begin it.
func TestCutOffRunnerStopsBeforeItsWorkIsTaken(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := newBlocking()
	cutOff := f.Start(fleet.Options{Beat: beat, Slots: 1, Run: b.run})
	id := submit(t, f, alice, "1", 1)
	<-b.started
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) {
		select {
		case <-b.stopped:
			return done("after")
		default:
			return done("while the other still runs")
		}
	}})
	cutOff.Log.Cut()
	if s := untilStatus(t, f, id, job.Succeeded); s.Outcome.Output.Inline != "after" || s.Attempt != 2 || len(s.Spent) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestARunnerThatWasCutOffIsNotADeadOne: what was counted against the job while nobody heard of its runner is taken back, and what
// nobody has taken goes back into the queue at once.
func TestARunnerThatWasCutOffIsNotADeadOne(t *testing.T) {
	f := newFleet(t)
	b := newBlocking()
	cutOff := f.Start(fleet.Options{Beat: beat, Slots: 1, Run: b.run})
	id := submit(t, f, alice, "1", 1)
	<-b.started
	cutOff.Log.Cut()
	<-b.stopped
	other := f.Start(fleet.Options{Beat: beat, Slots: 1, Run: b.run})
	<-b.started
	if s := state(t, f, id); s.Attempt != 2 || len(s.Spent) != 1 {
		t.Errorf("taken over: %+v", s)
	}
	cutOff.Log.Mend()
	wait.Until(t, "the first attempt does not count any more", func() bool { return len(state(t, f, id).Spent) == 0 })
	other.Log.Cut()
	<-b.stopped
	other.Log.Mend() // before anybody has taken it over, or after
	wait.Until(t, "a third attempt", func() bool { return state(t, f, id).Attempt == 3 })
	wait.Until(t, "nothing counts", func() bool { return len(state(t, f, id).Spent) == 0 })
}

// away is an error of a part that cannot be reached.
type away struct{}

func (away) Error() string           { return "bucket.example:443: connection refused" }
func (away) UnavailablePart() string { return "the store of large bytes" }

// TestWhatCannotBeTriedCostsNoAttempt: it is tried again after a pause, and its owner reads why it waits.
func TestWhatCannotBeTriedCostsNoAttempt(t *testing.T) {
	f := newFleet(t)
	var tries atomic.Int64
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) {
		if tries.Add(1) <= 2 {
			return runners.End{}, away{}
		}
		return done("at last")
	}})
	id := submit(t, f, alice, "1", 1)
	wait.Until(t, "it waits", func() bool {
		s := state(t, f, id)
		return s.Untried == 1 && strings.Contains(s.Words(), "the store of large bytes could not be reached")
	})
	if s := untilStatus(t, f, id, job.Succeeded); s.Attempt != 3 || len(s.Spent) != 0 || s.Words() != "" {
		t.Errorf("%+v", s)
	}
}

// TestTheEnginesEndCostsNoAttempt: a job whose engine ended under it is done again after a pause; one in a session has begun, and is lost without its
// slot.
func TestTheEnginesEndCostsNoAttempt(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var tries atomic.Int64
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) {
		if tries.Add(1) == 1 {
			return runners.End{}, commands.ErrEngineLost
		}
		return done("at last")
	}})
	id := submit(t, f, alice, "1", 1)
	if s := untilStatus(t, f, id, job.Succeeded); s.Attempt != 2 || len(s.Spent) != 0 {
		t.Errorf("%+v", s)
	}
	checkLog(t, f)
}

// TestAQueueThatWasBehindIsAskedAgain: a job is claimed that a runner was awakened for while the queue was behind the log, though no event follows.
func TestAQueueThatWasBehindIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) { return done("ok") }})
	must(t, f.Projector.Pause(t.Context(), "queue"))
	id := submit(t, f, "account", "", 2)
	wait.Pace(time.Second) // the runner asks
	if s := untilStatus(t, f, id, job.Queued); s.Attempt != 0 {
		t.Errorf("%+v while the queue is behind", s)
	}
	must(t, f.Projector.Resume(t.Context(), "queue"))
	untilStatus(t, f, id, job.Succeeded)
	checkLog(t, f)
}

// TestASickRunnerClaimsNoMoreThanAFew: of two runners one cannot try any job. The other does them all, and none is lost.
func TestASickRunnerClaimsNoMoreThanAFew(t *testing.T) {
	f := newFleet(t)
	const slots = 2
	var mu sync.Mutex
	var claimed []time.Time // by the sick one
	claims := func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(claimed)
	}
	f.Start(fleet.Options{Beat: beat, Slots: slots, Run: func(context.Context, runners.Work) (runners.End, error) {
		mu.Lock()
		defer mu.Unlock()
		claimed = append(claimed, time.Now())
		return runners.End{}, away{}
	}})
	var ids []string
	for i := range 30 {
		ids = append(ids, submit(t, f, fmt.Sprint("account-", i%6), fmt.Sprint(i), 2))
	}
	wait.Until(t, "the sick one has jobs", func() bool { return len(claims()) > 0 })
	f.Start(fleet.Options{Beat: beat, Slots: slots, Run: func(context.Context, runners.Work) (runners.End, error) { return done("ok") }})
	for _, id := range ids {
		if s := untilStatus(t, f, id, job.Succeeded); len(s.Spent) != 0 {
			t.Errorf("%+v", s)
		}
	}
	earliest := claims()[0]
	for i, at := range claims() {
		if i > 0 && i%slots == 0 {
			earliest = earliest.Add(min(job.PauseAfter(i/slots), 30*time.Second)) // they double, up to that
		}
		if at.Before(earliest) {
			t.Errorf("claim %d of the sick runner is %v too early", i+1, earliest.Sub(at))
		}
	}
	checkLog(t, f)
}

func TestDrainHandsBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := newBlocking()
	leaving := f.Start(fleet.Options{Beat: beat, Slots: 1, Run: b.run})
	id := submit(t, f, alice, "1", 1)
	<-b.started
	leaving.Stop() // no grace
	if s := state(t, f, id); s.Status != job.Queued || len(s.Spent) != 0 {
		t.Errorf("after the drain: %+v", s)
	}
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) { return done("2") }})
	if s := untilStatus(t, f, id, job.Succeeded); s.Attempt != 2 {
		t.Errorf("%+v", s)
	}
}

func TestDrainLetsWorkFinish(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	started, finish := make(chan struct{}), make(chan struct{})
	leaving := f.Start(fleet.Options{Beat: beat, Slots: 1, Grace: time.Minute, Run: func(ctx context.Context, _ runners.Work) (runners.End, error) {
		close(started)
		<-finish
		return done("finished")
	}})
	id := submit(t, f, alice, "1", 1)
	<-started
	stopped := make(chan struct{})
	go func() { leaving.Stop(); close(stopped) }()
	other := submit(t, f, alice, "2", 1)
	close(finish)
	<-stopped
	if s := state(t, f, id); s.Status != job.Succeeded || s.Outcome.Output.Inline != "finished" {
		t.Errorf("%+v", s)
	}
	if s := state(t, f, other); s.Status != job.Queued {
		t.Errorf("claimed while draining: %+v", s)
	}
}

// TestLostAfterThreeAttempts: work that ends its attempts does not go round for ever.
func TestLostAfterThreeAttempts(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.Start(fleet.Options{Beat: beat, Slots: 2, Run: func(ctx context.Context, w runners.Work) (runners.End, error) {
		if w.Content == "panic" {
			panic("a bug")
		}
		commands.AfterWork(ctx)
		return runners.End{}, errors.New("what was computed cannot be written down")
	}})
	failing, panicking := submit(t, f, alice, "fail", 1), submit(t, f, alice, "panic", 1)
	for _, id := range []string{failing, panicking} {
		if s := untilStatus(t, f, id, job.Lost); s.Attempt != job.MaxAbandoned || s.Refunded || s.Why != job.SpentAttempts {
			t.Errorf("%+v", s)
		}
	}
	checkLog(t, f)
}

// TestForgottenAttemptIsRescued: a runner that lives and beats but has forgotten
// an attempt does not keep it, and the attempt is not spent.
func TestForgottenAttemptIsRescued(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := newBlocking()
	p := f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(ctx context.Context, w runners.Work) (runners.End, error) {
		if w.Content == "forgotten" {
			return done("again")
		}
		return b.run(ctx, w)
	}})
	submit(t, f, alice, "keeps it beating", 1)
	<-b.started
	id := submit(t, f, "bob", "forgotten", 1)
	queued, err := f.Log.Read(t.Context(), job.Stream(id))
	if err != nil {
		t.Fatal(err)
	}
	m := queued.Events[0].Metadata
	in := commands.Intent{ID: uuid.New(), At: time.Now(), Correlation: m.Correlation, Causation: queued.Events[0].ID, Traceparent: m.Traceparent}
	if _, _, err := f.Jobs.ClaimJob(t.Context(), in, id, p.ID, "a nonce it does not know"); err != nil {
		t.Fatal(err)
	}
	f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) { return done("again") }})
	if s := untilStatus(t, f, id, job.Succeeded); len(s.Spent) != 0 || s.Attempt != 2 {
		t.Errorf("%+v", s)
	}
}

// TestAProcessThatCannotSignClaimsNothing: the job waits for one that can; a key that is away in the middle of a job hands it back.
func TestAProcessThatCannotSignClaimsNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	able, ran := make(chan struct{}), make(chan struct{}, 10)
	f.Start(fleet.Options{
		Beat: beat, Slots: 2,
		AwaitAble: func(ctx context.Context) error {
			select {
			case <-able:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Run: func(context.Context, runners.Work) (runners.End, error) {
			if ran <- struct{}{}; len(ran) == 1 {
				return runners.End{}, receipt.ErrCannotSign
			}
			return done("signed")
		},
	})
	id := submit(t, f, alice, "1", 1)
	other := f.Start(fleet.Options{Beat: beat, Slots: 1, Run: func(context.Context, runners.Work) (runners.End, error) { return done("by the other") }})
	if s := untilStatus(t, f, id, job.Succeeded); s.Outcome.Output.Inline != "by the other" || len(ran) != 0 {
		t.Errorf("%+v; the process that cannot sign ran %d jobs", s, len(ran))
	}
	other.Stop()
	id = submit(t, f, alice, "2", 1)
	close(able)
	if s := untilStatus(t, f, id, job.Succeeded); s.Outcome.Output.Inline != "signed" || len(s.Spent) != 0 || s.Attempt != 2 {
		t.Errorf("%+v", s)
	}
}

// oneLarge is room for one job at a time whose content begins with "large"; others need none.
func oneLarge() func(content string) (release func(), ok bool) {
	var taken atomic.Bool
	return func(content string) (func(), bool) {
		if !strings.HasPrefix(content, "large") {
			return nil, true
		}
		return func() { taken.Store(false) }, taken.CompareAndSwap(false, true)
	}
}

// TestWhatHasNoRoomStaysQueued: a large job that waits for room is queued and holds no slot, the small ones behind it go past, and
// it runs once the room is given back, however the job before it ended.
func TestWhatHasNoRoomStaysQueued(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fleet.Fleet, p *fleet.Process, first string, finish chan struct{}){
		"finished": func(_ *fleet.Fleet, _ *fleet.Process, _ string, finish chan struct{}) { finish <- struct{}{} },
		"cancelled": func(f *fleet.Fleet, _ *fleet.Process, first string, _ chan struct{}) {
			if _, err := f.Cancel(t.Context(), alice, first); err != nil {
				t.Error(err)
			}
		},
		"killed": func(f *fleet.Fleet, p *fleet.Process, _ string, _ chan struct{}) {
			p.Kill()
			f.Start(fleet.Options{Beat: patientBeat, Slots: 2, Reserve: oneLarge(), Run: func(context.Context, runners.Work) (runners.End, error) { return done("elsewhere") }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			started, finish := make(chan string, 10), make(chan struct{})
			var large atomic.Int64
			p := f.Start(fleet.Options{Beat: patientBeat, Slots: 2, Reserve: oneLarge(), Run: func(ctx context.Context, w runners.Work) (runners.End, error) {
				if !strings.HasPrefix(w.Content, "large") {
					return done("small")
				}
				if large.Add(1) > 1 {
					t.Error("two large jobs run at once")
				}
				defer large.Add(-1)
				started <- w.JobID
				select {
				case <-finish:
					return done("large")
				case <-ctx.Done():
					return runners.End{}, ctx.Err()
				}
			}})
			first := submit(t, f, alice, "large 1", 1)
			<-started
			var waiting, small []string
			for _, account := range []string{"bob", "carol", "dave"} {
				waiting = append(waiting, submit(t, f, account, "large", 2))
			}
			for i := range 50 {
				small = append(small, submit(t, f, []string{"bob", "erin"}[i%2], "small", 2))
			}
			for _, id := range small {
				untilStatus(t, f, id, job.Succeeded)
			}
			for _, id := range waiting {
				if s := state(t, f, id); s.Status != job.Queued || s.Attempt != 0 {
					t.Errorf("without room: %+v", s)
				}
			}
			end(f, p, first, finish)
			go func() { // the others, one after the other
				for t.Context().Err() == nil {
					select {
					case finish <- struct{}{}:
					case <-t.Context().Done():
					}
				}
			}()
			for _, id := range waiting {
				untilStatus(t, f, id, job.Succeeded)
			}
			wait.Until(t, "the end of the first", func() bool { return state(t, f, first).Terminal() })
			checkLog(t, f)
		})
	}
}

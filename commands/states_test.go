package commands_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/domain/slots"
)

const aDay = "2026-08-01"

func spend(jobID string, allowance int) slots.Command {
	slotID := "slot-" + jobID
	return slots.Spend{SlotID: slotID, Day: aDay, Submission: job.Submission{JobID: jobID, Account: anna}, Allowance: allowance}
}

// TestACommandReadsWhatIsNew: what a command reads does not depend on how many came before it.
func TestACommandReadsWhatIsNew(t *testing.T) {
	l := newLog(t)
	command := func(i int) int {
		before := l.eventsRead
		if _, _, err := commands.Handle(t.Context(), l, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), spend(fmt.Sprint(i), 1000)); err != nil {
			t.Fatal(err)
		}
		return l.eventsRead - before
	}
	command(0)
	for i := 1; i < 300; i++ {
		if n := command(i); n > 2 { // the last event that was read before, and the one that was appended then
			t.Fatalf("command %d read %d events", i, n)
		}
	}
	history, err := l.Read(t.Context(), slots.Stream(anna, aDay))
	if err != nil || len(history.Events) != 300 {
		t.Errorf("%d events, %v", len(history.Events), err)
	}
}

// TestARefusalKnowsTheLatest: another process gives a slot back, ends a session, closes an account; the process that
// knew otherwise decides on what is so now.
func TestARefusalKnowsTheLatest(t *testing.T) {
	l := newLog(t)
	other := l.elsewhere()
	slot := func(store *log, c slots.Command) error {
		_, _, err := commands.Handle(t.Context(), store, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), c)
		return err
	}
	for range 3 { // the second time round all is known from before
		if err := slot(l, spend("a", 1)); err != nil {
			t.Fatal(err)
		}
		if err := slot(l, spend("b", 1)); !errors.Is(err, slots.ErrAllowanceSpent) {
			t.Fatalf("over the allowance: %v", err)
		}
		if err := slot(other, slots.Refund{SlotID: "slot-a", JobID: "a", Reason: slots.CancelledEarly}); err != nil {
			t.Fatal(err)
		}
	}
	register(t, l, anna)
	if s, err := commands.ReadAccount(t.Context(), l, anna); err != nil || s.Closed {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := commands.CloseAccount(t.Context(), other, intentOf(anna)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := changePlan(t.Context(), l, intentOf(anna), "pro"); !errors.Is(err, account.ErrClosed) {
		t.Errorf("a closed account: %v", err)
	}
	if s, err := commands.ReadAccount(t.Context(), l, anna); err != nil || !s.Closed {
		t.Errorf("%+v, %v", s, err)
	}
}

// used is how many slots a process finds held, by a command that appends nothing.
func used(t *testing.T, store commands.Store) int {
	t.Helper()
	state, _, err := commands.Handle(t.Context(), store, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), slots.Command(slots.Refund{}))
	if err != nil {
		t.Fatal(err)
	}
	return state.SlotsUsed()
}

// TestAKeptStateNeverAnswersAlone: the process appends nothing after it knows the stream, so that no conflict could tell it
// what others have appended since.
func TestAKeptStateNeverAnswersAlone(t *testing.T) {
	l := newLog(t)
	elsewhere := func(c slots.Command) {
		t.Helper()
		if _, _, err := commands.Handle(t.Context(), l.elsewhere(), slots.Decider, slots.Stream(anna, aDay), intentOf(anna), c); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		elsewhere(spend(fmt.Sprint(i), 9))
		if n := used(t, l); n != i+1 {
			t.Errorf("%d slots, want %d", n, i+1)
		}
	}
	elsewhere(slots.Refund{SlotID: "slot-0", JobID: "0", Reason: slots.CancelledEarly})
	if n := used(t, l); n != 2 {
		t.Errorf("%d slots after one was given back, want 2", n)
	}
	if _, _, err := commands.Handle(t.Context(), l, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), spend("new", 2)); !errors.Is(err, slots.ErrAllowanceSpent) {
		t.Errorf("over the allowance: %v", err)
	}
	state, err := commands.ReadAccount(t.Context(), l, anna)
	if err != nil || state.Exists {
		t.Fatalf("%+v, %v", state, err)
	}
	register(t, l.elsewhere(), anna)
	for _, plan := range []string{"pro", "free", "pro"} {
		if _, _, err := changePlan(t.Context(), l.elsewhere(), intentOf(anna), plan); err != nil {
			t.Fatal(err)
		}
		if state, err := commands.ReadAccount(t.Context(), l, anna); err != nil || state.Plan != plan {
			t.Errorf("%+v, %v, want plan %s", state, err, plan)
		}
	}
}

// process is one whose log can change under it.
type process struct {
	*log
	next   *log // takes the place of log before the second page of a read
	states commands.States
}

func (p *process) States() *commands.States { return &p.states }

func (p *process) ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	if p.next != nil && from > 0 {
		p.log, p.next = p.next, nil
	}
	return p.log.ReadFrom(ctx, stream, from, count)
}

// TestARewrittenStreamIsReadWhole: a log that was put back from a copy, and written since, has other events at the revisions
// that a process knows.
func TestARewrittenStreamIsReadWhole(t *testing.T) {
	const known = 3
	for _, written := range []int{0, 1, known - 1, known, known + 1, known + 5} {
		p := &process{log: filledAtOnce(t, "before", known)}
		for range 2 {
			if n := used(t, p); n != known {
				t.Fatalf("%d slots, want %d", n, known)
			}
		}
		p.log = filledAtOnce(t, "after", written)
		state, _, err := commands.Handle(t.Context(), p, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), spend("over", written))
		if !errors.Is(err, slots.ErrAllowanceSpent) || state.SlotsUsed() != written {
			t.Errorf("%d events instead: %d slots, %v", written, state.SlotsUsed(), err)
		}
		for i := range known {
			if _, holds := state.HeldBy(fmt.Sprint("before", i)); holds {
				t.Errorf("%d events instead: a job of the log before holds a slot", written)
			}
		}
		if _, _, err := commands.Handle(t.Context(), p, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), spend("next", written+1)); err != nil {
			t.Errorf("%d events instead: %v", written, err)
		}
		if n := used(t, p); n != written+1 {
			t.Errorf("%d events instead: %d slots after one more", written, n)
		}
	}
	for _, written := range []int{1, long, long + 1} { // while it is read
		p := &process{log: filledAtOnce(t, "before", long), next: filledAtOnce(t, "after", written)}
		for range 2 {
			if n := used(t, p); n != written {
				t.Errorf("%d slots, want %d", n, written)
			}
		}
	}
}

// long is more events than are read at once.
const long = 600

// filledAtOnce is a log with a day of n slots.
func filledAtOnce(t *testing.T, name string, n int) *log {
	t.Helper()
	l := newLog(t)
	var spent []event.Event
	for i := range n {
		id := fmt.Sprint(name, i)
		spent = append(spent, slots.Spent{SlotID: id, Day: aDay, Submission: job.Submission{JobID: id, Account: anna}})
	}
	if n == 0 {
		return l
	}
	if _, err := l.Append(t.Context(), slots.Stream(anna, aDay), event.NoStream, intentOf(anna).Propose(slots.Stream(anna, aDay), spent)); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestATruncatedStreamIsReadWhole: the event that a kept state ends with is gone.
func TestATruncatedStreamIsReadWhole(t *testing.T) {
	l := newLog(t)
	stream := slots.Stream(anna, aDay)
	for i := range 4 {
		if _, _, err := commands.Handle(t.Context(), l, slots.Decider, stream, intentOf(anna), spend(fmt.Sprint(i), 9)); err != nil {
			t.Fatal(err)
		}
	}
	other := l.elsewhere()
	for i := 4; i < 7; i++ {
		if _, _, err := commands.Handle(t.Context(), other, slots.Decider, stream, intentOf(anna), spend(fmt.Sprint(i), 9)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.KeepNewest(t.Context(), stream, 2); err != nil {
		t.Fatal(err)
	}
	// The process knows events 0 to 2; the stream has 5 and 6, as for a process that knows nothing.
	for _, store := range []*log{l, l.elsewhere()} {
		state, _, err := commands.Handle(t.Context(), store, slots.Decider, stream, intentOf(anna), spend("5", 9))
		if err != nil || state.SlotsUsed() != 2 {
			t.Errorf("%d slots, %v", state.SlotsUsed(), err)
		}
	}
}

// TestKeptStatesAreShared: goroutines fold onto one kept state at once, with commands that append, that change nothing
// and that are refused; the race detector and the counts find one that changes it.
func TestKeptStatesAreShared(t *testing.T) {
	const writers, each = 6, 25
	const allowance = writers*each + 1
	l := newLog(t)
	stores := []*log{l, l.elsewhere()}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			store := stores[w%2]
			for i := range each {
				c := spend(fmt.Sprint(w, "-", i), allowance)
				for range 2 { // the second time it holds a slot
					state, _, err := commands.Handle(t.Context(), store, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), c)
					if _, holds := state.HeldBy(fmt.Sprint(w, "-", i)); err != nil || !holds {
						t.Errorf("%d-%d: %v %v", w, i, holds, err)
					}
				}
				refused := spend("late", 0)
				if state, _, err := commands.Handle(t.Context(), store, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), refused); !errors.Is(err, slots.ErrAllowanceSpent) || state.SlotsUsed() <= i {
					t.Errorf("%d slots, %v", state.SlotsUsed(), err)
				}
			}
		})
	}
	group.Wait()
	for _, store := range append(stores, l.elsewhere()) {
		state, _, err := commands.Handle(t.Context(), store, slots.Decider, slots.Stream(anna, aDay), intentOf(anna), slots.Command(slots.Refund{}))
		if err != nil || state.SlotsUsed() != writers*each {
			t.Errorf("%d slots, %v; want %d", state.SlotsUsed(), err, writers*each)
		}
	}
}

// TestOneReadsForMany: of many calls that know nothing of a stream, one reads it whole and the others what came since; a
// call whose context ends meanwhile does not wait.
func TestOneReadsForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, events = 20, 50
		l := newLog(t)
		register(t, l, anna)
		for i := range events {
			if _, _, err := changePlan(t.Context(), l.elsewhere(), intentOf(anna), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		fresh := l.elsewhere()
		whole := make(chan struct{})
		fresh.beforeRead = func(from event.Revision) error {
			if from == 0 {
				<-whole
			}
			return nil
		}
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				if s, err := commands.ReadAccount(t.Context(), fresh, anna); err != nil || s.Plan != fmt.Sprint(events-1) {
					t.Errorf("%+v, %v", s, err)
				}
			})
		}
		synctest.Wait() // one reads, the others wait for it
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := commands.ReadAccount(hurried, fresh, anna); !errors.Is(err, commands.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that could not wait: %v", err)
		}
		close(whole)
		group.Wait()
		if want := events + 1 + callers - 1; fresh.eventsRead != want {
			t.Errorf("%d events were read, want %d", fresh.eventsRead, want)
		}
	})
}

// TestALongStreamIsReadInPages: and a read that failed goes on where it failed.
func TestALongStreamIsReadInPages(t *testing.T) {
	const held = 1234
	l := newLog(t)
	stream, at := slots.Stream(anna, aDay), event.NoStream
	for i := range held {
		spent := slots.Spent{SlotID: fmt.Sprint(i), Day: aDay, Submission: job.Submission{JobID: fmt.Sprint(i), Account: anna}}
		appended, err := l.Append(t.Context(), stream, at, intentOf(anna).Propose(stream, []event.Event{spent}))
		if err != nil {
			t.Fatal(err)
		}
		at = appended.Revision
	}
	var from []event.Revision
	failed := false
	l.beforeRead = func(revision event.Revision) error {
		from = append(from, revision)
		if revision > 600 && !failed {
			failed = true
			return commands.ErrUnavailable
		}
		return nil
	}
	count := func() error {
		state, _, err := commands.Handle(t.Context(), l, slots.Decider, stream, intentOf(anna), slots.Command(slots.Refund{}))
		if err == nil && state.SlotsUsed() != held {
			t.Errorf("%d slots, want %d", state.SlotsUsed(), held)
		}
		return err
	}
	if err := count(); !errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("a read that failed: %v", err)
	}
	for range 2 {
		if err := count(); err != nil {
			t.Error(err)
		}
	}
	// Each page begins with the last event of the one before.
	if want := []event.Revision{0, 499, 998, 998, held - 1}; !slices.Equal(from, want) {
		t.Errorf("read from %v, want %v", from, want)
	}
}

// answer is what a command came to.
type answer struct {
	state any
	at    event.Position
	err   string
}

// order is a command of some kind on a store.
type order func(store commands.Store, in commands.Intent) answer

func handled[S any](state S, at event.Position, err error) answer {
	if err != nil {
		return answer{state, at, err.Error()}
	}
	return answer{state, at, ""}
}

// drawOrder draws a command of a stream that is written often.
func drawOrder(t *rapid.T) order {
	n := rapid.IntRange(0, 4).Draw(t, "which")
	name := fmt.Sprint(n)
	onDay := func(c slots.Command) order {
		return func(store commands.Store, in commands.Intent) answer {
			return handled(commands.Handle(t.Context(), store, slots.Decider, slots.Stream(anna, aDay), in, c))
		}
	}
	onSession := func(c session.Command) order {
		return func(store commands.Store, in commands.Intent) answer {
			return handled(commands.Handle(t.Context(), store, session.Decider, session.Stream(anna, "n"), in, c))
		}
	}
	onAccount := func(c account.Command) order {
		return func(store commands.Store, in commands.Intent) answer {
			return handled(commands.Handle(t.Context(), store, account.Decider, account.Stream(anna), in, c))
		}
	}
	switch rapid.IntRange(0, 7).Draw(t, "command") {
	case 0, 1:
		return onDay(spend(name, 3))
	case 2:
		return onDay(slots.Refund{SlotID: "slot-" + name, JobID: name, Reason: slots.CancelledEarly})
	case 3:
		return onSession(session.Open{Account: anna, SessionID: "n", Owner: name, LostOwner: fmt.Sprint(n - 1)})
	case 4:
		return onSession(session.Clear{Account: anna, SessionID: "n"})
	case 5:
		return onSession(session.Expire{Account: anna, SessionID: "n", Epoch: n, Reason: session.EndIdle})
	case 6:
		return onAccount(account.Register{Account: anna, Plan: name})
	}
	return onAccount(account.ChangePlan{Account: anna, Plan: name})
}

// TestKeptStatesDecideAlike: two processes that keep states answer every command, and leave a log, as processes do that
// read every stream from its beginning. Any command may be overtaken, between its reads and its append, by one of the
// other process.
func TestKeptStatesDecideAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		warm, cold := newBareLog(t), newBareLog(t)
		processes := []*log{warm.elsewhere(), warm.elsewhere()}
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			p := rapid.IntRange(0, 1).Draw(t, "process")
			first, second := drawOrder(t), drawOrder(t)
			overtaken := rapid.Bool().Draw(t, "overtaken")
			ids := []uuid.UUID{uuid.New(), uuid.New()}
			run := func(store, rival *log) (answers []answer) {
				if overtaken {
					store.before = func(string) error {
						store.before = nil
						in := intentOf(anna)
						in.ID = ids[1]
						answers = append(answers, second(rival, in))
						return nil
					}
				}
				in := intentOf(anna)
				in.ID = ids[0]
				answers = append(answers, first(store, in))
				store.before = nil
				return answers
			}
			got, want := run(processes[p], processes[1-p]), run(cold.elsewhere(), cold.elsewhere())
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("answered %+v, want %+v", got, want)
			}
		}
		if got, want := everything(t, warm), everything(t, cold); got != want {
			t.Fatalf("the log is %s, want %s", got, want)
		}
	})
}

func everything(t *rapid.T, l *log) string {
	var all strings.Builder
	for r, err := range l.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %d %s %+v\n", r.Stream, r.Revision, r.ID, r.Event)
	}
	return all.String()
}

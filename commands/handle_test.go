package commands_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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
)

// changePlan is a command that leads to one event for every new name.
func changePlan(ctx context.Context, store commands.Store, in commands.Intent, plan string) (account.State, event.Position, error) {
	return commands.Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.ChangePlan{Account: in.Account, Plan: plan}))
}

func register(t testing.TB, store commands.Store, accountID string) {
	t.Helper()
	if _, err := commands.RegisterAccount(context.Background(), store, account.DefaultPlans(), intentOf(accountID)); err != nil {
		t.Fatal(err)
	}
}

func TestHandleAppendsWhatWasDecided(t *testing.T) {
	l := newLog(t)
	register(t, l, anna)
	state, at, err := changePlan(t.Context(), l, intentOf(anna), "pro")
	if err != nil || state.Plan != "pro" {
		t.Fatalf("%+v, %v", state, err)
	}
	if head, _ := l.Head(t.Context()); at != head {
		t.Errorf("answered position %v, the log's head is %v", at, head)
	}
	appends := l.count()
	again, where, err := changePlan(t.Context(), l, intentOf(anna), "pro")
	if err != nil || again != state || where != at || l.count() != appends {
		t.Errorf("already so: %+v at %v, %v, %d appends; want %+v at %v", again, where, err, l.count()-appends, state, at)
	}
}

func TestARefusalAppendsNothing(t *testing.T) {
	l := newLog(t)
	if _, _, err := changePlan(t.Context(), l, intentOf(anna), "pro"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("an account that does not exist: %v", err)
	}
	if n := l.count(); n != 0 {
		t.Errorf("%d appends", n)
	}
}

// TestAConflictIsDecidedAgain: another process appends between read and append,
// and the command is judged by the state it left.
func TestAConflictIsDecidedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t)
		register(t, l, anna)
		rival, rivals := l.elsewhere(), []string{"one", "two", "three"}
		l.before = func(string) error {
			if len(rivals) == 0 {
				return nil
			}
			_, _, err := changePlan(t.Context(), rival, intentOf(anna), rivals[0])
			rivals = rivals[1:]
			return err
		}
		state, _, err := changePlan(t.Context(), l, intentOf(anna), "mine")
		if err != nil || state.Plan != "mine" {
			t.Errorf("%+v, %v", state, err)
		}
		if got := l.names(account.Stream(anna)); got != "account.registered account.plan_changed account.plan_changed account.plan_changed account.plan_changed" {
			t.Errorf("stream: %s", got)
		}

		l.before = func(string) error {
			l.before = nil
			_, err := commands.CloseAccount(t.Context(), rival, intentOf(anna))
			return err
		}
		if _, _, err := changePlan(t.Context(), l, intentOf(anna), "late"); !errors.Is(err, account.ErrClosed) {
			t.Errorf("closed meanwhile: %v", err)
		}
	})
}

func TestConflictsEndWithTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t)
		register(t, l, anna)
		rival, n := l.elsewhere(), 0
		l.before = func(string) error {
			n++
			_, _, err := changePlan(context.Background(), rival, intentOf(anna), fmt.Sprint(n))
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		_, _, err := changePlan(ctx, l, intentOf(anna), "mine")
		if !errors.Is(err, commands.ErrUnavailable) || !errors.Is(err, commands.ErrConflict) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		var failed *commands.StreamError
		if !errors.As(err, &failed) || failed.Stream != account.Stream(anna) || failed.Attempts != n {
			t.Errorf("%+v after %d attempts", failed, n)
		}
		if want := fmt.Sprintf("stream account-%s, after %d append attempts: %v: %v: context deadline exceeded", anna, n, commands.ErrUnavailable, commands.ErrConflict); err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		if time.Since(begun) != 10*time.Second { // the bubble's clock
			t.Errorf("gave up after %v", time.Since(begun))
		}
		if n < 100 || n > 10_000 {
			t.Errorf("%d attempts in ten seconds", n)
		}
	})
}

func TestHandleSaysWhenTheLogIsAway(t *testing.T) {
	l := newLog(t)
	register(t, l, anna)
	l.before = func(string) error { return commands.ErrUnavailable }
	if _, _, err := changePlan(t.Context(), l, intentOf(anna), "pro"); !errors.Is(err, commands.ErrUnavailable) ||
		err.Error() != fmt.Sprintf("stream account-%s, after 1 append attempts: %v", anna, commands.ErrUnavailable) {
		t.Errorf("away: %v", err)
	}
	gone, giveUp := context.WithCancel(t.Context())
	giveUp()
	var failed *commands.StreamError
	if _, _, err := changePlan(gone, l, intentOf(anna), "pro"); !errors.Is(err, commands.ErrCancelled) || commands.IsAway(err) || !errors.As(err, &failed) || failed.Attempts != 0 || strings.Contains(err.Error(), "\n") {
		t.Errorf("gave up before an append: %v", err)
	}
	leave, err := l.Enter(t.Context(), account.Stream(anna))
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := changePlan(ctx, l, intentOf(anna), "pro"); !errors.Is(err, commands.ErrCancelled) || commands.IsAway(err) {
		t.Errorf("gave up in the queue: %v", err)
	}
	late, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	if _, _, err := changePlan(late, l, intentOf(anna), "pro"); !errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("ran out of time in the queue: %v", err)
	}
}

// TestEveryWriterIsHeard: commands of many writers in two processes are all
// appended once, whatever the order.
func TestEveryWriterIsHeard(t *testing.T) {
	const writers = 24
	l := newLog(t)
	register(t, l, anna)
	other := l.elsewhere()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			store := l
			if w%2 == 1 {
				store = other
			}
			if _, _, err := changePlan(context.Background(), store, intentOf(anna), fmt.Sprint("plan ", w)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	history, err := l.Read(t.Context(), account.Stream(anna))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range history.Events[1:] {
		seen[r.Event.(account.PlanChanged).Plan]++
	}
	if len(history.Events) != writers+1 || len(seen) != writers {
		t.Errorf("%d events of %d plans", len(history.Events), len(seen))
	}
}

func TestARepeatedCommandIsOneAppend(t *testing.T) {
	l := newLog(t)
	in := intentOf(anna)
	create := func() (account.State, event.Position, error) {
		return commands.Create(t.Context(), l, account.Decider, account.Stream(anna), in,
			account.Command(account.Register{Account: anna, Plan: "free"}))
	}
	_, first, err := create()
	if err != nil {
		t.Fatal(err)
	}
	// The answer was lost; the same command proposes the same ids.
	state, second, err := create()
	if err != nil || second != first || state.Plan != "free" {
		t.Errorf("replayed: %+v at %v, %v; want %v", state, second, err, first)
	}
	if got := l.names(account.Stream(anna)); got != "account.registered" {
		t.Errorf("stream: %s", got)
	}
}

func TestCreateFallsBackToWhatIsThere(t *testing.T) {
	l := newLog(t)
	register(t, l, anna)
	state, at, err := commands.Create(t.Context(), l, account.Decider, account.Stream(anna), intentOf(anna),
		account.Command(account.Register{Account: anna, Plan: "pro"}))
	if head, _ := l.Head(t.Context()); err != nil || state.Plan != "free" || at != head {
		t.Errorf("registered again: %+v at %v, %v", state, at, err)
	}
	if _, _, err := commands.Create(t.Context(), l, account.Decider, account.Stream(bert), intentOf(bert),
		account.Command(account.Close{Account: bert})); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("refused by the empty state: %v", err)
	}
	l.before = func(string) error { return commands.ErrUnavailable }
	if _, _, err := commands.Create(t.Context(), l, account.Decider, account.Stream(bert), intentOf(bert),
		account.Command(account.Register{Account: bert, Plan: "pro"})); !errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("away: %v", err)
	}
	if got := l.names(account.Stream(bert)); got != "" {
		t.Errorf("refusals appended %s", got)
	}
}

func TestProposeSetsAllMetadata(t *testing.T) {
	in := commands.Intent{
		ID: uuid.MustParse("6f1c1a60-4b1e-4c50-8a37-2f2f9e0d6a11"), At: time.Date(2026, 8, 1, 14, 0, 0, 1_999_999, time.FixedZone("", 7200)),
		Account: anna, Actor: "token:t", Source: "mcp", Agent: "a", Traceparent: "tp", Build: "b", Causation: "c",
	}
	proposed := in.Propose(account.Stream(anna), []event.Event{account.Closed{Account: anna}, account.Closed{Account: bert}})
	want := event.Metadata{Correlation: in.ID.String(), Causation: "c", At: noon.Add(time.Millisecond), Account: anna, Actor: "token:t", Source: "mcp", Agent: "a", Traceparent: "tp", Build: "b"}
	for i, p := range proposed {
		if !reflect.DeepEqual(p.Metadata, want) || p.ID != commands.EventID(in.ID, account.Stream(anna), i) {
			t.Errorf("event %d: %+v", i, p)
		}
	}
	if proposed[0].Event != event.Event(account.Closed{Account: anna}) || proposed[1].Event != event.Event(account.Closed{Account: bert}) {
		t.Errorf("the events changed places: %+v", proposed)
	}
	in.Correlation = "older"
	if got := in.Propose(account.Stream(anna), []event.Event{account.Closed{}})[0].Metadata.Correlation; got != "older" {
		t.Errorf("correlation %q", got)
	}
}

// TestEventIDs: they depend on command, stream and index, and on nothing else.
func TestEventIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.Custom(func(t *rapid.T) uuid.UUID {
			return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
		})
		a, b := command.Draw(t, "a"), command.Draw(t, "b")
		i, j := rapid.IntRange(0, 1<<16-1).Draw(t, "i"), rapid.IntRange(0, 1<<16-1).Draw(t, "j")
		stream := rapid.SampledFrom([]string{"run-1", "run-2", "run-11"})
		here, there := stream.Draw(t, "here"), stream.Draw(t, "there")
		x, y := commands.EventID(a, here, i), commands.EventID(b, there, j)
		if same := a == b && here == there && i == j; (x == y) != same {
			t.Fatalf("%s %s %d is %s, %s %s %d is %s", a, here, i, x, b, there, j, y)
		}
		if parsed, err := uuid.Parse(x); err != nil || parsed.Version() != 5 || parsed.String() != x {
			t.Fatalf("%s is no UUIDv5", x)
		}
	})
}

package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/run"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/wait"
)

func inSession(t *testing.T, e *engine.Engine, key, code string) (engine.Outcome, error) {
	t.Helper()
	account, _, _ := strings.Cut(key, "/")
	return e.Evaluate(t.Context(), engine.Request{Code: code, Account: account, Session: key, Budget: 20 * time.Second, QueueWait: time.Minute})
}

func TestSessionKeepsDefinitionsAndHistory(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for i, c := range [][2]string{
		{"x=5", "5"}, {"x+1", "6"}, {"%+1", "7"}, {`"lit"`, `"lit"`}, {"%", `"lit"`}, {"5", "5"}, {"%", "5"},
		{"f[n_]:=n^2", "Null"}, {"f[12]", "144"}, {"1+", ""}, {"x", "5"}, {"Factor[y^4+4]", "(2 - 2*y + y^2)*(2 + 2*y + y^2)"},
	} {
		outcome, err := inSession(t, e, "ann/one", c[0])
		if (err != nil) != (c[1] == "") || outcome.Result != c[1] || outcome.SessionOpened != (i == 0) {
			t.Errorf("%s: %+v, %v", c[0], outcome, err)
		}
	}
	if outcome, err := inSession(t, e, "ann/two", "x"); err != nil || outcome.Result != "x" || !outcome.SessionOpened {
		t.Errorf("another session: %+v, %v", outcome, err)
	}
	if outcome, err := inSession(t, e, "bob/one", "x"); err != nil || outcome.Result != "x" {
		t.Errorf("another account: %+v, %v", outcome, err)
	}
}

func TestSessionsAreListedPerAccount(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, key := range []string{"ann/one", "ann/two", "anna/one", "ann/one"} {
		if _, err := inSession(t, e, key, "1"); err != nil {
			t.Fatal(err)
		}
	}
	list := e.Sessions("ann")
	if len(list) != 2 || list[0].Key != "ann/one" || list[0].Evaluations != 2 || list[1].Key != "ann/two" || list[0].Busy {
		t.Errorf("%+v", list)
	}
	for _, s := range list {
		if s.ExpiresAt.Sub(s.LastUsedAt) != engine.DefaultSessionIdle || s.LastUsedAt.Before(s.CreatedAt) {
			t.Errorf("%+v", s)
		}
	}
	if !e.CloseSession("ann/one") || e.CloseSession("ann/one") || e.CloseSession("nobody/x") {
		t.Error("a close says whether the session was there")
	}
	wantEnded(t, e, "ann/one", engine.ExpiredClosed)
}

// TestKilledSessionsAreNeverTakenForNew: what they held is gone, and each evaluation under their keys says so, also after the
// caller heard of it; a session that had no worker has lost nothing.
func TestKilledSessionsAreNeverTakenForNew(t *testing.T) {
	t.Parallel()
	var x expiries
	e := enginetest.Start(t, engine.Options{OnSessionExpired: x.tell})
	running := make(chan error, 1)
	go func() {
		_, err := e.Evaluate(t.Context(), engine.Request{Code: "While[True]", Session: "ann/s", Budget: time.Minute, QueueWait: time.Minute})
		running <- err
	}()
	wait.Until(t, "a busy session", func() bool { list := e.Sessions("ann"); return len(list) == 1 && list[0].Busy })
	e.KillSessions()
	if err := <-running; !errors.Is(err, engine.ErrSessionClosed) {
		t.Errorf("the one that ran: %v", err)
	}
	wait.Until(t, "an expiry", x.has("ann/s killed"))
	wantEnded(t, e, "ann/s", engine.ExpiredKilled)
	if e.CloseSession("ann/s") {
		t.Error("it was there")
	}
	var ended *engine.SessionEndedError
	if outcome, err := inSession(t, e, "ann/s", "x"); !errors.As(err, &ended) || ended.Reason != engine.ExpiredKilled {
		t.Errorf("after its end is known: %+v, %v", outcome, err)
	}
}

// expiries records what OnSessionExpired was told.
type expiries struct {
	mu   sync.Mutex
	told []string
}

func (x *expiries) tell(key string, reason engine.ExpiryReason) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told = append(x.told, key+" "+string(reason))
}

func (x *expiries) has(what string) func() bool {
	return func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return slices.Contains(x.told, what)
	}
}

func TestIdleSessionExpires(t *testing.T) {
	t.Parallel()
	var x expiries
	e := enginetest.Start(t, engine.Options{SessionIdle: 50 * time.Millisecond, OnSessionExpired: x.tell})
	if _, err := inSession(t, e, "ann/s", "x=1"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "an expiry", x.has("ann/s idle"))
	if list := e.Sessions("ann"); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	wantEnded(t, e, "ann/s", engine.ExpiredIdle)
}

// wantEnded wants a session to have ended for a reason, to stay so, and to be no obstacle to one of another key.
func wantEnded(t *testing.T, e *engine.Engine, key string, reason engine.ExpiryReason) {
	t.Helper()
	for range 2 {
		var ended *engine.SessionEndedError
		if outcome, err := inSession(t, e, key, "x"); !errors.As(err, &ended) || ended.Reason != reason {
			t.Errorf("%s: %+v, %v; want it to have ended: %s", key, outcome, err, reason)
		}
	}
	if outcome, err := inSession(t, e, key+"/next", "x"); err != nil || outcome.Result != "x" || !outcome.SessionOpened {
		t.Errorf("%s under another key: %+v, %v", key, outcome, err)
	}
}

// TestATooLargeResultDoesNotEndTheSession: the answer says what to do, and the variables are still there.
func TestATooLargeResultDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for code, advice := range map[string]string{"x=Range[10^6]": "end the line with ;", `x=Range[10^6];Print[StringRepeat["a",2*10^6]]`: "print less"} {
		var failed *engine.FailedError
		if _, err := inSession(t, e, "ann/s", code); !errors.As(err, &failed) || failed.Reason != run.FailureOutputTooLarge || !strings.Contains(failed.Detail, advice) {
			t.Fatalf("%s: %v", code, err)
		}
		if outcome, err := inSession(t, e, "ann/s", "Length[x]"); err != nil || outcome.Result != "1000000" || outcome.SessionOpened || outcome.SessionEnded != "" {
			t.Errorf("after %s: %+v, %v", code, outcome, err)
		}
	}
}

func TestASessionWhoseWorkerDiedHasEnded(t *testing.T) {
	t.Parallel()
	var x expiries
	e := enginetest.Start(t, engine.Options{OnSessionExpired: x.tell})
	for i, code := range []string{"Quit[]", `ToExpression[StringRepeat["(",10^5]]`, "While[True]"} {
		key := fmt.Sprintf("ann/%d", i)
		if _, err := inSession(t, e, key, "x=1"); err != nil {
			t.Fatal(err)
		}
		_, err := e.Evaluate(t.Context(), engine.Request{Code: code, Session: key, Budget: time.Second, QueueWait: time.Minute})
		if err == nil {
			t.Fatalf("%s did not fail", code)
		}
		reason := engine.ExpiredDied
		if errors.Is(err, engine.ErrBudgetExhausted) {
			reason = engine.ExpiredBudget
		}
		wait.Until(t, "an expiry", x.has(key+" "+string(reason)))
		wantEnded(t, e, key, reason)
	}
}

func TestOneEvaluationAtATime(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	if _, err := inSession(t, e, "ann/s", "n=0"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 10 {
				if _, err := inSession(t, e, "ann/s", "n=n+1"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if outcome, err := inSession(t, e, "ann/s", "n"); err != nil || outcome.Result != "80" {
		t.Errorf("%q, %v", outcome.Result, err)
	}
}

func TestWaitingForASessionIsWithinTheBudget(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	running := make(chan error, 1)
	go func() {
		_, err := e.Evaluate(t.Context(), engine.Request{Code: "While[True]", Session: "ann/s", Budget: time.Minute, QueueWait: time.Minute})
		running <- err
	}()
	wait.Until(t, "a busy session", func() bool { list := e.Sessions("ann"); return len(list) == 1 && list[0].Busy })
	_, err := e.Evaluate(t.Context(), engine.Request{Code: "1", Session: "ann/s", Budget: 50 * time.Millisecond, QueueWait: time.Minute})
	if !errors.Is(err, engine.ErrBudgetExhausted) {
		t.Errorf("the one that waited: %v", err)
	}
	if !e.CloseSession("ann/s") {
		t.Error("the session was not there")
	}
	if err := <-running; !errors.Is(err, engine.ErrSessionClosed) {
		t.Errorf("the one that ran: %v", err)
	}
}

// TestIterationsInSessions: what keeps the engine from ending iterations is there in every line, also when a line cleared it, and
// changes neither the past lines nor what the session defined itself.
func TestIterationsInSessions(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, line := range []struct{ code, want string }{
		{"7", "7"},
		{"NestWhile[# + 1 &, 1, # < 12000 &]", "12000"},
		{"%%", "7"},
		{"ClearAll[NestWhile, FixedPoint]", "Null"},
		{"FixedPoint[Min[# + 1, 12000] &, 1]", "12000"},
		{"% + 1", "12001"},
		{"Unprotect[FixedPoint]; FixedPoint[a_, b_] := 5;", "Null"},
		{"FixedPoint[Floor, 2.5]", "5"},
	} {
		outcome, err := inSession(t, e, "a/iterations", line.code)
		if err != nil || outcome.Result != line.want {
			t.Errorf("%s: %+v, %v", line.code, outcome, err)
		}
	}
}

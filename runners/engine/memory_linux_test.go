package engine_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"context"

	"reckon/domain/run"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// fill makes a session hold tens of megabytes.
func fill(t *testing.T, e *engine.Engine, key string) {
	t.Helper()
	for _, code := range []string{"x=Range[2*10^5];", "y=Range[2*10^5];", "z=Range[2*10^5];"} {
		if _, err := inSession(t, e, key, code); err != nil {
			t.Fatal(err)
		}
	}
}

// heldBy is what a session holds that has just been filled, and what it holds after its next evaluation, when the engine has
// given back what only the computing took.
func heldBy(t *testing.T) (filled, atRest int64) {
	t.Helper()
	e := enginetest.Start(t, engine.Options{SessionMemoryBytes: 1 << 50})
	look := func() int64 {
		wait.Until(t, "a measurement", e.MeasuredForTest)
		held, _ := e.SessionMemory()
		return held
	}
	fill(t, e, "ann/one")
	filled = look()
	if _, err := inSession(t, e, "ann/one", "1"); err != nil {
		t.Fatal(err)
	}
	if atRest = look(); atRest < 32<<20 {
		t.Fatalf("a session with many numbers holds %d bytes", atRest)
	}
	return filled, atRest
}

// TestSessionMemoryIsBounded: of sessions that together hold too much, the largest idle one of the account with the most ends, with
// the reason; another account's live on although it was not used for longest.
func TestSessionMemoryIsBounded(t *testing.T) {
	t.Parallel()
	filled, atRest := heldBy(t)
	var x expiries
	limit := filled + 2*atRest + atRest/2 // two at rest and one just filled have room, one more has not
	e := enginetest.Start(t, engine.Options{SessionMemoryBytes: limit, OnSessionExpired: x.tell})
	for _, key := range []string{"bob/0", "ann/1", "ann/2"} {
		fill(t, e, key)
		if _, err := inSession(t, e, key, "1"); err != nil {
			t.Fatal(err)
		}
		wait.Until(t, "a measurement", e.MeasuredForTest)
	}
	fill(t, e, "ann/3")
	first, second := x.has("ann/1 memory"), x.has("ann/2 memory") // which is larger is the engine's affair
	wait.Until(t, "an end for want of memory", func() bool { return first() || second() })
	wait.Until(t, "room", func() bool { held, most := e.SessionMemory(); return held <= most && most == limit })
	ended, left := "ann/1", "ann/2"
	if second() {
		ended, left = left, ended
	}
	wantEnded(t, e, ended, engine.ExpiredMemory)
	for _, key := range []string{left, "ann/3", "bob/0"} {
		if outcome, err := inSession(t, e, key, "Length[x]"); err != nil || outcome.Result != "200000" {
			t.Errorf("%s: %q, %v", key, outcome.Result, err)
		}
	}
}

// TestASessionAloneIsBounded: without another to end, the one that evaluates is killed before it has an answer.
func TestASessionAloneIsBounded(t *testing.T) {
	t.Parallel()
	_, atRest := heldBy(t)
	var x expiries
	e := enginetest.Start(t, engine.Options{SessionMemoryBytes: atRest, OnSessionExpired: x.tell})
	if _, err := inSession(t, e, "ann/idle", "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := inSession(t, e, "ann/s", "y=Table[Range[1000],{1000}];While[True]"); failure(err) != run.FailureMemory {
		t.Errorf("got %v", err)
	}
	wantEnded(t, e, "ann/idle", engine.ExpiredMemory) // the idle one first
	wantEnded(t, e, "ann/s", engine.ExpiredMemory)
}

// counts are what a leak would add to.
type counts struct{ goroutines, descriptors, processes int }

func countAll(t *testing.T) (c counts) {
	t.Helper()
	c.goroutines = runtime.NumGoroutine()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	c.descriptors = len(descriptors)
	// Every process below this one, in whatever namespace.
	parents := map[string]string{}
	numbers, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range numbers {
		stat, err := os.ReadFile("/proc/" + number.Name() + "/stat")
		if err != nil {
			continue // no process, or one that just ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" {
			parents[number.Name()] = fields[1]
		}
	}
	self := fmt.Sprint(os.Getpid())
	for number := range parents {
		for parent := parents[number]; parent != ""; parent = parents[parent] {
			if parent == self {
				c.processes++
				break
			}
		}
	}
	return c
}

// TestNothingIsLeftBehind: 32 callers who leave in the middle, run over their budgets, kill their workers, print too much and
// close their sessions. When they are done there are as many goroutines, descriptors and processes as before.
func TestNothingIsLeftBehind(t *testing.T) {
	rounds := sweep.Size(t, "RECKON_LEAK_ROUNDS", 12, 200)
	e := enginetest.Start(t, engine.Options{Concurrency: 4, SessionMemoryBytes: 1 << 30})
	calm := func() counts {
		var last counts
		settled := 0
		wait.Until(t, "calm", func() bool {
			now := countAll(t)
			if now == last {
				settled++
			} else {
				settled = 0
			}
			last = now
			return settled > 20 && e.Usage() == fair.Usage{}
		})
		return last
	}
	if _, err := evaluate(t, e, "1+1"); err != nil {
		t.Fatal(err)
	}
	before := calm()
	codes := []string{"1+1", "While[True]", "Quit[]", `StringRepeat["a",3*10^6]`, `Print[StringRepeat["a",3*10^6]]`, `ToExpression[StringRepeat["(",10^5]]`, "Pause[5]", "Range[10^5]"}
	var calls atomic.Int64
	var group sync.WaitGroup
	for caller := range 32 {
		group.Go(func() {
			for n := 0; n < rounds; n++ {
				ctx, leave := context.WithCancel(t.Context())
				request := engine.Request{Code: codes[(caller+n)%len(codes)], Account: fmt.Sprint(caller % 5), Budget: 50 * time.Millisecond, QueueWait: 200 * time.Millisecond}
				if (caller+n)%3 == 0 {
					request.Session = fmt.Sprintf("%d/%d/%d", caller%5, caller, n)
				}
				if n%2 == 0 {
					timer := time.AfterFunc(time.Duration(n%7)*5*time.Millisecond, leave)
					defer timer.Stop()
				}
				_, _ = e.Evaluate(ctx, request) // whatever it answers
				if request.Session != "" {
					e.CloseSession(request.Session)
				}
				leave()
				calls.Add(1)
			}
		})
	}
	group.Wait()
	after := calm()
	t.Logf("%d calls: %+v before, %+v after", calls.Load(), before, after)
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.processes > before.processes {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if live := slices.Concat(e.Sessions("0"), e.Sessions("1"), e.Sessions("2"), e.Sessions("3"), e.Sessions("4")); len(live) != 0 {
		t.Errorf("%d sessions are left", len(live))
	}
}

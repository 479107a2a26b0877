// Package wait is how tests wait: for a condition, never for an amount of time.
//
// TestTestsDoNotSleep in package test allows time.Sleep in tests only where a synctest bubble makes it virtual, and in this package.
package wait

import (
	"context"
	"testing"
	"time"
)

// Longest is how long anything may take on the slowest machine with most else to do, where a test is not about the time.
const Longest = 10 * time.Minute

const (
	margin = 10 * time.Second       // before the test run's deadline, so that the failure names the condition
	finest = time.Millisecond       // pause between the first looks
	widest = 100 * time.Millisecond // pause between later looks, which may be requests
)

// Until returns once holds does, and fails the test if that does not come about. It looks again after 1 ms, then after pauses that grow to 100 ms.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	latest := time.Now().Add(Longest)
	if ends, set := runEnds(t); set && ends.Before(latest) {
		latest = ends
	}
	for pause := finest; !holds(); pause = min(pause*5/4, widest) {
		if time.Now().After(latest) {
			t.Fatalf("this did not come about: %s", what)
		}
		time.Sleep(pause)
	}
}

// Whole is the context of a program that does its work in as long as it takes: it ends shortly before the test run does.
func Whole(t testing.TB) (context.Context, context.CancelFunc) {
	if ends, set := runEnds(t); set {
		return context.WithDeadline(t.Context(), ends)
	}
	return context.WithCancel(t.Context())
}

// runEnds is shortly before the test run's deadline; false where it has none.
func runEnds(t testing.TB) (ends time.Time, set bool) {
	limited, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return time.Time{}, false
	}
	deadline, set := limited.Deadline()
	return deadline.Add(-margin), set
}

// Pace spends the time that a simulated person, client or fault takes between two of its acts. No assertion may depend on it.
func Pace(d time.Duration) { time.Sleep(d) }

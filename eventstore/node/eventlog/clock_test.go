package eventlog

import (
	"testing"
	"time"
)

// handClock is a system clock and a monotonic one that a test sets.
type handClock struct {
	testClock
	elapsed time.Duration
}

func newHandClock() *handClock {
	return &handClock{testClock: testClock{now: time.Unix(1_700_000_000, 0)}}
}

// pass lets time pass on both clocks.
func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.elapsed = c.now.Add(d), c.elapsed+d
}

func (c *handClock) monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

const years = 365 * 24 * time.Hour

func stampOf(t *testing.T, l *Log) time.Duration {
	t.Helper()
	result := mustAppend(t, l, "stamped", Any(), event("x"))
	r, err := l.record(l.index, result.Position)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.CreatedTicks-1_700_000_000*TicksPerSecond) * 100
}

func firstVisible(t *testing.T, l *Log, stream string) uint64 {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	info, err := view.Stream(stream)
	if err != nil {
		t.Fatal(err)
	}
	return info.First
}

// A clock that is wrong for a moment stamps no event years ahead, and expires nothing.
func TestClockThatJumpsForAMoment(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{10 * years, -10 * years, 2 * time.Hour, -2 * time.Hour} {
		clock := newHandClock()
		l := openLog(t, Options{Clock: clock.Now, elapsed: clock.monotonic})
		mustAppend(t, l, "s", Any(), event("a"))
		setMaxAge(t, l, "s", 3600)
		clock.advance(jump)
		clock.pass(time.Minute)
		if got := stampOf(t, l); got != time.Minute {
			t.Errorf("jump of %s: stamped at %s", jump, got)
		}
		if first := firstVisible(t, l, "s"); first != 0 {
			t.Errorf("jump of %s: the first visible revision is %d", jump, first)
		}
		clock.advance(-jump)
		clock.pass(time.Minute)
		if got := stampOf(t, l); got != 2*time.Minute {
			t.Errorf("after a jump of %s: stamped at %s", jump, got)
		}
	}
}

// A clock that keeps to what it jumped to is believed.
func TestClockThatWasSet(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	l := openLog(t, Options{Clock: clock.Now, elapsed: clock.monotonic})
	stampOf(t, l)
	clock.advance(2 * years)
	stampOf(t, l)
	clock.pass(clockTrial)
	if got := stampOf(t, l); got != 2*years+clockTrial {
		t.Errorf("stamped at %s", got)
	}
}

// Small steps, as of a time server, are followed; stamps do not decrease.
func TestClockThatIsCorrected(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	l := openLog(t, Options{Clock: clock.Now, elapsed: clock.monotonic})
	clock.advance(30 * time.Minute)
	if got := stampOf(t, l); got != 30*time.Minute {
		t.Errorf("stamped at %s", got)
	}
	clock.advance(-20 * time.Minute)
	if got := stampOf(t, l); got != 30*time.Minute {
		t.Errorf("stamped at %s", got)
	}
	clock.pass(25 * time.Minute)
	if got := stampOf(t, l); got != 35*time.Minute {
		t.Errorf("stamped at %s", got)
	}
}

// A log that was started with a clock ten years ahead stamps events so. Once the clock was
// set right, streams with $maxAge show what is young, and events are stamped rightly again.
func TestEventStampedYearsAhead(t *testing.T) {
	t.Parallel()
	options := inMemory(Options{Dir: t.TempDir()})
	run := func(clock *handClock, use func(l *Log)) {
		t.Helper()
		options.Clock, options.elapsed = clock.Now, clock.monotonic
		l, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		use(l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	run(newHandClock(), func(l *Log) {
		mustAppend(t, l, "s", Any(), event("a"))
		setMaxAge(t, l, "s", 86_400)
	})
	ahead := newHandClock()
	ahead.advance(10 * years)
	run(ahead, func(l *Log) {
		if got := stampOf(t, l); got != 10*years {
			t.Errorf("stamped at %s", got)
		}
		if first := firstVisible(t, l, "s"); first != 1 {
			t.Errorf("ten years later the first visible revision is %d", first)
		}
	})
	right := newHandClock()
	right.advance(time.Hour)
	run(right, func(l *Log) {
		if first := firstVisible(t, l, "s"); first != 0 {
			t.Errorf("the first visible revision is %d", first)
		}
		if got := stampOf(t, l); got != 10*years { // the clock may be the wrong one: it has only begun
			t.Errorf("stamped at %s", got)
		}
		right.pass(clockTrial)
		if got := stampOf(t, l); got != time.Hour+clockTrial {
			t.Errorf("stamped at %s", got)
		}
		mustAppend(t, l, "s", Any(), event("b"))
		right.pass(48 * time.Hour)
		mustAppend(t, l, "s", Any(), event("c"))
		if first := firstVisible(t, l, "s"); first != 2 {
			t.Errorf("two days later the first visible revision is %d", first)
		}
	})
}

// $maxAge follows the clock, not the newest stamp.
func TestMaxAge(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	l := openLog(t, Options{Clock: clock.Now, elapsed: clock.monotonic})
	mustAppend(t, l, "s", Any(), event("a"), event("b"))
	setMaxAge(t, l, "s", 10)
	for _, step := range []struct {
		pass  time.Duration
		first uint64
	}{{10 * time.Second, 0}, {time.Second, 2}} {
		clock.pass(step.pass)
		if first := firstVisible(t, l, "s"); first != step.first {
			t.Errorf("first visible %d, want %d", first, step.first)
		}
	}
	clock.advance(-5 * time.Second)
	if first := firstVisible(t, l, "s"); first != 0 {
		t.Errorf("the clock was set back: first visible %d", first)
	}
}

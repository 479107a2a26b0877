package eventlog

import (
	"sync"
	"time"
)

const (
	// maxClockStep is how far the system clock may jump and be believed at once.
	maxClockStep = time.Hour
	// clockTrial is how long a clock that jumped further must run steadily before it is believed.
	clockTrial = 10 * time.Minute
)

// steadyClock is the system clock without its jumps. A jump of more than maxClockStep is
// believed only when the clock has kept to it for clockTrial: one wrong reading must not
// stamp an event years ahead, and a clock that was set right must not be ignored.
type steadyClock struct {
	system  func() time.Time
	elapsed func() time.Duration // monotonic time

	mu      sync.Mutex
	offset  time.Duration // believed time - monotonic time, since the Unix epoch
	trial   time.Duration // offset of a clock that jumped, on trial
	onTrial bool
	since   time.Duration // monotonic time at which the trial began
	started time.Duration // monotonic time at which the clock was first read
}

func newSteadyClock(system func() time.Time, elapsed func() time.Duration) *steadyClock {
	c := &steadyClock{system: system, elapsed: elapsed}
	c.started = elapsed()
	c.offset = sinceEpoch(system()) - c.started
	return c
}

// sinceEpoch saturates at the ends of a Duration, 292 years from the epoch.
func sinceEpoch(t time.Time) time.Duration { return t.Sub(time.Unix(0, 0)) }

// now returns the believed time, and whether the clock has been steady for clockTrial:
// then it is to be believed even against what was stamped before.
func (c *steadyClock) now() (believed time.Time, steady bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed := c.elapsed()
	read := sinceEpoch(c.system()) - elapsed
	switch {
	case (read - c.offset).Abs() <= maxClockStep:
		c.offset, c.onTrial = read, false
	case !c.onTrial || (read-c.trial).Abs() > maxClockStep:
		c.trial, c.onTrial, c.since = read, true, elapsed
	case elapsed-c.since >= clockTrial:
		c.offset, c.onTrial, c.started = read, false, c.since
	}
	return time.Unix(0, 0).Add(c.offset + elapsed), !c.onTrial && elapsed-c.started >= clockTrial
}

// stamp returns the creation stamp of an event after one that was stamped newest, in ticks.
// Stamps never decrease, but for once after a clock that was more than maxClockStep ahead
// was set right: a stamp years ahead would else be given to every event for years.
func (c *steadyClock) stamp(newest int64) int64 {
	now, steady := c.now()
	stamp := ticks(now)
	if stamp < newest && (!steady || newest-stamp <= int64(maxClockStep/100)) {
		return newest
	}
	return stamp
}

// TimeOf is the time of a stamp, in UTC.
func TimeOf(ticks int64) time.Time {
	return time.Unix(ticks/TicksPerSecond, ticks%TicksPerSecond*100).UTC()
}

func ticks(t time.Time) int64 { return t.Unix()*TicksPerSecond + int64(t.Nanosecond())/100 }

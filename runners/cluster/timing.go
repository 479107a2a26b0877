package cluster

import "time"

// DefaultHeartbeatInterval is the time between two heartbeats of a process that holds something.
const DefaultHeartbeatInterval = 5 * time.Second

// What is derived from the interval. killAfterIntervals is for how many intervals a process may
// fail to write a heartbeat before it kills its work; leaseIntervals is for how many others hear
// nothing of it before they take its work over. The difference is time to kill, and for the
// delay with which others see a heartbeat. unlistedHeartbeats is how many heartbeats that do not
// list an attempt give it to others.
const (
	killAfterIntervals = 2
	leaseIntervals     = 4
	unlistedHeartbeats = 2
)

// Timing is every time that rests on the interval of heartbeats. It is the same in all
// processes of an installation.
type Timing struct{ Interval time.Duration }

// newTiming is the timing of an interval; 0: DefaultHeartbeatInterval.
func newTiming(interval time.Duration) Timing {
	if interval <= 0 {
		interval = DefaultHeartbeatInterval
	}
	return Timing{interval}
}

// KillAfter is how long after its last heartbeat a process kills what it holds.
func (t Timing) KillAfter() time.Duration { return killAfterIntervals * t.Interval }

// Lease is for how long nothing may be heard of a process that counts as alive.
func (t Timing) Lease() time.Duration { return leaseIntervals * t.Interval }

// Package supervision is the one table of times on which a process and who starts, asks and stops it must agree.
//
// The processes take their times from here; docs/restarting.md has the table (go test ./test -run TestTimesPage -update), and the tests of
// test/deploy compare docs/deploy with it.
package supervision

import "time"

// Times of a process.
const (
	AnswersUnready = 5 * time.Second  // default of --unready-grace: a server that stops still answers
	JobsEnd        = 10 * time.Second // default of --grace: running jobs may end
	WorkerWait     = 10 * time.Second // default of --queue-wait: an evaluation waits for a worker
	Publish        = 5 * time.Second  // an evaluation's answer is logged and sent, once it is computed
	PartsEnd       = 15 * time.Second // the parts of a server end, beside the time that work in progress gets
	NodeEnds       = 10 * time.Second // calls in flight end when a node is told to stop, or ends over damage
	ReadinessLooks = 2 * time.Second  // /readyz waits for what it asks
	Silence        = 8 * time.Second  // a dependency that answered is away once it has been silent for so long: one slow look takes no server out
)

// Probe is how a supervisor or a balancer asks a process.
type Probe struct {
	Path     string
	Every    time.Duration
	Timeout  time.Duration
	Failures int // in a row, until it acts
}

// Readiness decides whether a process gets requests, Liveness whether it is started anew.
var (
	Readiness = Probe{Path: "/readyz", Every: 2 * time.Second, Timeout: 3 * time.Second, Failures: 2}
	Liveness  = Probe{Path: "/livez", Every: 10 * time.Second, Timeout: 5 * time.Second, Failures: 3}
)

// Evaluation is how long the evaluation of a request that has just come may take.
func Evaluation(workerWait, budget time.Duration) time.Duration { return workerWait + budget + Publish }

// Drain is how long a server that was told to stop may work on: it answers unready, then its jobs and evaluations end at the same time.
func Drain(answersUnready, jobsEnd, longestEvaluation time.Duration) time.Duration {
	return answersUnready + max(PartsEnd, jobsEnd, longestEvaluation)
}

// ServerStops is how long a server may take from the signal to its end.
func ServerStops(drain time.Duration) time.Duration { return drain + PartsEnd }

// Killed is when a supervisor may kill a process that should have ended by itself after so long: a whole number of ten seconds, at least five
// seconds later.
func Killed(ends time.Duration) time.Duration {
	const step, spare = 10 * time.Second, 5 * time.Second
	return (ends + spare + step - 1).Truncate(step)
}

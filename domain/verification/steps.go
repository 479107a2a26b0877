package verification

import "time"

// Steps is work of a check as the checker counts it: an evaluation of a node, a turn of a long loop, more for what takes longer.
// Work is counted and not timed, so that a verdict does not depend on what else the machine does.
type Steps int64

// A step takes some 5 microseconds of processor time. What it may take leaves room for slow steps and for a busy machine, whose
// processors take up to twice as long for the same work.
const (
	usualStep   = 5 * time.Microsecond
	longestStep = 4 * usualStep
	startSlack  = 200 * time.Millisecond // for decoding the task, and for a call that is longer than its steps
)

// Processor is processor time within which so many steps are taken: a check that is not through by then is ended, whatever it does.
func (s Steps) Processor() time.Duration { return startSlack + time.Duration(s)*longestStep }

// StepsWithin is how many steps end within a time, at least one.
func StepsWithin(limit time.Duration) Steps {
	return max(Steps((limit-startSlack)/longestStep), 1)
}

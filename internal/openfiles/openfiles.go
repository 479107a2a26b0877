// Package openfiles divides the files that a process may have open (RLIMIT_NOFILE, getrlimit(2)) among
// those who open many: the event log, and listeners, whose clients decide how many connections there are.
//
// It promises that the log can open its next segment however many connect: the parts of all together are
// less than the limit, and each keeps to its part. It opens nothing itself.
package openfiles

import (
	"fmt"
	"syscall"
)

// Minimum is the limit below which a process that holds an event log does not start.
const Minimum = 512

// unlimited stands for a limit that is none, and for larger ones.
const unlimited = 1 << 20

// Limit is how many files the process may have open. Go has raised the soft limit to the hard one at its start.
func Limit() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return Minimum // as little as can be
	}
	return int(min(uint64(r.Cur), unlimited)) //nolint:unconvert // the type differs between systems
}

// TooFewError is returned by Check.
type TooFewError struct{ Limit int }

func (e *TooFewError) Error() string {
	return fmt.Sprintf("this process may have %d files open, and needs %d for the event log and its clients: raise the limit (ulimit -n, LimitNOFILE of systemd)", e.Limit, Minimum)
}

// Check returns a *TooFewError where the limit is below Minimum.
func Check() error {
	if limit := Limit(); limit < Minimum {
		return &TooFewError{limit}
	}
	return nil
}

// Part is a part of the limit, in 32nds.
type Part int

// The parts. A process has one port that strangers reach, of the API or of a node, one owner's socket, and
// up to three listeners for operators and other processes. What is left, 5/32, is for all else.
const (
	Segments  Part = 8 // that a log keeps open
	Index     Part = 4
	Port      Part = 8
	Socket    Part = 4
	Processes Part = 1 // for each of their listeners
)

// whole is the sum of the parts, and what is left.
const whole = 32

// AtMost returns how many files a part has: so many, or fewer where the limit gives no more.
func (p Part) AtMost(files int) int { return p.of(Limit(), files) }

func (p Part) of(limit, files int) int { return min(files, max(1, limit*int(p)/whole)) }

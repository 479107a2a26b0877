package simulation

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"reckon/commands"
)

// process is one actor: a submitter, a runner, a delivery of a reaction.
type process struct {
	name string
	run  func(store commands.Store)
}

// scenario is a start, the processes that interleave, and what must hold.
type scenario struct {
	start     func(*log)
	unacked   bool // the reactions have not seen what the log holds at the start
	processes []process
	recover   func(l *log, acked int) error // all reactions, to quiescence; acked entries of $all were dealt with before
	check     func(*log) error              // of the log after recovery
}

// world is one execution, re-made from a schedule.
type world struct {
	log   *log
	procs []*actor
}

// actor is a process as a coroutine that stops before each of its operations.
type actor struct {
	next    func() (struct{}, bool)
	stop    func()
	answers []string
	ended   bool
}

// advance makes the operation the process stands before and goes on to the next one.
func (a *actor) advance() {
	_, more := a.next()
	a.ended = !more
}

// replay runs the scenario's processes through a schedule: at each step the
// process named makes exactly one operation.
func (s scenario) replay(schedule []int) *world {
	w := &world{log: newLog()}
	s.start(w.log)
	for _, p := range s.processes {
		a := &actor{}
		a.next, a.stop = iter.Pull(func(yield func(struct{}) bool) {
			crashed := false
			p.run(steppedStore{log: w.log, states: &commands.States{}, note: func(answer string) { a.answers = append(a.answers, answer) }, yield: func(struct{}) bool {
				crashed = crashed || !yield(struct{}{})
				return !crashed
			}})
		})
		w.procs = append(w.procs, a)
		a.advance()
	}
	for _, i := range schedule {
		w.procs[i].advance()
	}
	return w
}

// crash ends every process where it stands.
func (w *world) crash() {
	for _, a := range w.procs {
		a.stop()
	}
}

func (w *world) key() string {
	var b strings.Builder
	b.WriteString(w.log.key())
	for i, a := range w.procs {
		fmt.Fprintf(&b, "|%d:%s", i, strings.Join(a.answers, ","))
	}
	return b.String()
}

// result counts what an exploration saw.
type result struct {
	states  int
	endings map[string]int // how the job ended, for the test that endings differ
}

// explore visits every state of the scenario. In each it lets everything crash,
// recovers, and checks; the first violation ends it with the schedule that led
// there. Whatever the log holds at the start has been reacted to and
// acknowledged, unless the scenario says otherwise.
//
// It runs in a bubble of made-up time, so that a writer that lost a race backs
// off in no time at all.
func (s scenario) explore(t *testing.T, describe func(*log) string) (r result, err error) {
	synctest.Test(t, func(*testing.T) { r, err = s.visitAll(describe) })
	return r, err
}

func (s scenario) visitAll(describe func(*log) string) (result, error) {
	r := result{endings: map[string]int{}}
	seen, recovered := map[string]bool{}, map[string]bool{}
	var visit func(schedule []int) error
	visit = func(schedule []int) error {
		w := s.replay(schedule)
		key, logKey := w.key(), w.log.key()
		var enabled []int
		for i, a := range w.procs {
			if !a.ended {
				enabled = append(enabled, i)
			}
		}
		w.crash()
		if seen[key] {
			return nil
		}
		seen[key] = true
		r.states++
		if !recovered[logKey] { // recovery knows nothing of the processes that crashed
			recovered[logKey] = true
			after := w.log
			if err := s.recover(after, s.acked()); err != nil {
				return s.explain(schedule, err)
			}
			if err := s.check(after); err != nil {
				return s.explain(schedule, fmt.Errorf("%w\nlog after recovery: %v", err, after.order))
			}
			r.endings[describe(after)]++
		}
		for _, i := range enabled {
			if err := visit(append(schedule[:len(schedule):len(schedule)], i)); err != nil {
				return err
			}
		}
		return nil
	}
	return r, visit(nil)
}

// acked counts the entries of the start that have been dealt with.
func (s scenario) acked() int {
	if s.unacked {
		return 0
	}
	l := newLog()
	s.start(l)
	return len(l.order)
}

func (s scenario) explain(schedule []int, err error) error {
	names := make([]string, len(schedule))
	for i, p := range schedule {
		names[i] = s.processes[p].name
	}
	return fmt.Errorf("after %s: %w", strings.Join(names, ", "), err)
}

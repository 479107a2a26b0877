package runners

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// modelJob is a job of the model.
type modelJob struct {
	id, account    string
	budget, length time.Duration // it ends after the shorter
	since          time.Time     // when it got a slot
	by             *modelAccount
}

// modelAccount has so many jobs at any time, of these budgets and lengths in turn.
type modelAccount struct {
	name             string
	at, asked        int
	budgets, lengths []time.Duration
}

// slotsModel is a runner with its queue, in a time of its own.
type slotsModel struct {
	*slots
	now              time.Time
	accounts         []*modelAccount
	waiting, running []*modelJob
}

func (m *slotsModel) ask(j *modelJob) {
	j.id = fmt.Sprint(j.account, "/", m.now.UnixNano(), "/", len(m.waiting), "/", len(m.running))
	m.waiting = append(m.waiting, j)
}

// load is how many slots an account has.
func (m *slotsModel) load(account string) (n int) {
	for _, j := range m.running {
		if j.account == account {
			n++
		}
	}
	return n
}

// fill gives slots to waiting jobs in the order of the queue: of the account that runs fewest, then the one that has waited longest.
func (m *slotsModel) fill() {
	for free := m.number - len(m.running); free > 0; free = m.number - len(m.running) {
		wanted := m.demand(free, m.now)
		best := -1
		for i, j := range m.waiting {
			if (wanted.budget == 0 || j.budget <= wanted.budget) && !wanted.except[j.account] && (best < 0 || m.load(j.account) < m.load(m.waiting[best].account)) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		j := m.waiting[best]
		m.waiting = slices.Delete(m.waiting, best, best+1)
		j.since = m.now
		m.running = append(m.running, j)
		m.take(j.id, j.account, m.now)
	}
}

// pass lets time pass: what is done gives its slot back, and accounts ask again.
func (m *slotsModel) pass(step time.Duration) {
	m.now = m.now.Add(step)
	m.running = slices.DeleteFunc(m.running, func(j *modelJob) bool {
		done := m.now.Sub(j.since) >= min(j.budget, j.length)
		if done {
			m.give(j.id, true, m.now)
		}
		return done
	})
	for _, a := range m.accounts {
		open := 0
		for _, j := range slices.Concat(m.waiting, m.running) {
			if j.by == a {
				open++
			}
		}
		for range a.at - open {
			m.ask(&modelJob{account: a.name, budget: a.budgets[a.asked%len(a.budgets)], length: a.lengths[a.asked%len(a.lengths)], by: a})
			a.asked++
		}
	}
	m.fill()
}

// check tells what must hold at any time.
func (m *slotsModel) check(t *rapid.T) {
	long := 0
	for _, j := range m.running {
		if j.budget > QuickBudget {
			long++
		}
	}
	if m.number > 1 && long >= m.number {
		t.Fatalf("all %d slots have jobs of more than %v", m.number, QuickBudget)
	}
}

// TestLongJobsLeaveASlot: up to 25 accounts have jobs of any budget and length at all times. A quick job of an account that is not known waits
// for QuickBudget at most for each account that is not known either, and for none whose jobs are known to be long.
func TestLongJobsLeaveASlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const step = 5 * time.Second
		m := &slotsModel{slots: newSlots(rapid.IntRange(2, 6).Draw(t, "slots"))}
		lengths := rapid.SampledFrom([]time.Duration{step, 2 * longJob, QuickBudget, QuickBudget, time.Hour})
		budgets := rapid.SampledFrom([]time.Duration{QuickBudget - step, QuickBudget, QuickBudget + step, 15 * time.Minute, time.Hour})
		known := rapid.Bool().Draw(t, "known")
		for i := range rapid.IntRange(1, 25).Draw(t, "accounts") {
			a := &modelAccount{
				name: fmt.Sprint("attacker ", i), at: rapid.IntRange(1, 4).Draw(t, "at a time"),
				budgets: rapid.SliceOfN(budgets, 1, 3).Draw(t, "budgets"), lengths: rapid.SliceOfN(lengths, 1, 3).Draw(t, "lengths"),
			}
			m.accounts = append(m.accounts, a)
			if known {
				m.beyond[a.name] = excess{QuickBudget, m.now}
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "steps before") {
			m.pass(step)
			m.check(t)
		}
		small := &modelJob{account: "small", budget: QuickBudget, length: step}
		m.ask(small)
		m.fill()
		bound := time.Duration(len(m.accounts)) * QuickBudget
		if known {
			bound = 0
		}
		for waited := time.Duration(0); small.since.IsZero() && !slices.Contains(m.running, small); waited += step {
			if waited >= bound {
				t.Fatalf("it waits for %v of at most %v", waited, bound)
			}
			m.pass(step)
			m.check(t)
		}
	})
}

// TestASlotIsEnough: a runner with one slot takes any job.
func TestASlotIsEnough(t *testing.T) {
	if d := newSlots(1).demand(1, time.Now()); d.most != 1 || d.budget != 0 || len(d.except) > 0 {
		t.Errorf("%+v", d)
	}
}

// TestQuickJobsHaveAllSlots: an account whose jobs have been short may have the last slot too; one that is not known, once its first is done.
func TestQuickJobsHaveAllSlots(t *testing.T) {
	now := time.Now()
	s := newSlots(2)
	s.take("1", "ann", now)
	if d := s.demand(1, now); !d.except["ann"] || d.except["bob"] {
		t.Errorf("beside its first: %+v", d)
	}
	s.give("1", true, now.Add(time.Second))
	s.take("2", "ann", now.Add(time.Second))
	if d := s.demand(1, now.Add(2*time.Second)); d.except["ann"] {
		t.Errorf("after a short one: %+v", d)
	}
	if d := s.demand(1, now.Add(time.Minute)); !d.except["ann"] {
		t.Errorf("beside a long one: %+v", d)
	}
	s.give("2", true, now.Add(time.Minute))
	if d := s.demand(1, now.Add(2*time.Minute)); !d.except["ann"] {
		t.Errorf("after a long one: %+v", d)
	}
	s.take("3", "ann", now.Add(2*time.Minute))
	s.give("3", true, now.Add(2*time.Minute+time.Second))
	if d := s.demand(1, now.Add(3*time.Minute)); !d.except["ann"] {
		t.Errorf("after a long one and a quick one: %+v", d)
	}
	if d := s.demand(1, now.Add(time.Hour)); d.except["ann"] {
		t.Errorf("much later: %+v", d)
	}
}

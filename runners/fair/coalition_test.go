package fair

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	step     = 50 * time.Millisecond // of the model's time
	patience = 10 * time.Second      // of whoever waits for a place
)

// attacker is an account that works with others to hold all places.
type attacker struct {
	account string
	at      int             // requests of it at a time
	lengths []time.Duration // of its requests, in turn: what one ran when it is done
	asked   int
}

// model runs a schedule in a time of its own, as a pool does whose work can all be paused.
type model struct {
	*schedule
	attackers []*attacker
	length    map[*ticket]time.Duration // of requests that have not ended
	asked     map[*ticket]time.Time
	stood     map[*ticket]time.Time // since when they are paused
	by        map[*ticket]*attacker
	order     []*ticket // of all these, oldest first
}

func newModel(places int) *model {
	return &model{
		schedule: newSchedule(places), length: map[*ticket]time.Duration{}, asked: map[*ticket]time.Time{}, stood: map[*ticket]time.Time{},
		by: map[*ticket]*attacker{},
	}
}

// note follows what the schedule has changed.
func (m *model) note(changes []change) {
	for _, c := range changes {
		switch c.to {
		case paused:
			m.stood[c.ticket] = m.now
		case gone:
			m.forget(c.ticket)
		}
	}
}

func (m *model) forget(t *ticket) {
	delete(m.length, t)
	m.order = without(m.order, t)
}

func (m *model) ask(account string, length time.Duration, by *attacker) *ticket {
	t, changes := m.request(account)
	m.length[t], m.asked[t], m.by[t] = length, m.now, by
	m.order = append(m.order, t)
	m.note(changes)
	return t
}

// pass lets a step of time pass: what is done gives its place back, what has run for long enough becomes long, and what has waited too long ends.
func (m *model) pass() {
	m.now = m.now.Add(step)
	for _, t := range append([]*ticket{}, m.order...) {
		_, is := m.length[t]
		switch ran := t.ran + m.now.Sub(t.since); {
		case !is:
		case t.state == running && ran >= m.length[t]:
			m.forget(t)
			m.note(m.release(t))
		case t.state == running && !t.long && ran >= t.short:
			m.note(m.lapse(t))
		case t.state == paused && m.now.Sub(m.stood[t]) >= patience:
			m.forget(t)
			m.end(t)
		case t.state == waiting && m.now.Sub(m.asked[t]) >= patience:
			m.forget(t)
			m.abandon(t)
		}
	}
	open := map[*attacker]int{}
	for _, t := range m.order {
		open[m.by[t]]++
	}
	for _, a := range m.attackers {
		for range a.at - open[a] {
			m.ask(a.account, a.lengths[a.asked%len(a.lengths)], a)
			a.asked++
		}
	}
}

// check tells what must hold at any time.
func (m *model) check(t *rapid.T) {
	held := 0
	for _, x := range m.order {
		if x.state == running {
			held++
		}
		if waits := x.state == waiting || x.state == paused; waits && (m.free > 1 || m.free == 1 && x.of.running == 0) {
			t.Fatalf("%s waits beside %d free places and holds %d", x.of.account, m.free, x.of.running)
		}
		if x.state == waiting && len(x.of.begun) == 0 && m.recently(x.of.account) == 0 && len(m.running) > m.longPart() {
			t.Fatalf("%s waits beside %d long ones of %d places", x.of.account, len(m.running), m.places)
		}
		if x.state == paused && !x.long {
			t.Fatalf("%s is paused and short", x.of.account)
		}
	}
	if held != m.places-m.free || len(m.paused) > m.places {
		t.Fatalf("%d run, %d are paused, %d of %d places are free", held, len(m.paused), m.free, m.places)
	}
}

// TestACoalitionHoldsUpNobody: up to 25 accounts ask for all that they may, endless and short in any mixture, and ask again
// whenever one has ended. An account that has not computed recently has a place within Short for each round of accounts alike
// that came before it.
func TestACoalitionHoldsUpNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(2, 8).Draw(t, "places")
		m := newModel(places)
		lengths := rapid.SampledFrom([]time.Duration{step, Short / 2, Short - step, Short, 3 * Short, time.Hour, time.Hour})
		for i := range rapid.IntRange(1, 25).Draw(t, "attackers") {
			m.attackers = append(m.attackers, &attacker{
				account: fmt.Sprint("attacker ", i), at: rapid.IntRange(1, 4).Draw(t, "at a time"), lengths: rapid.SliceOfN(lengths, 1, 3).Draw(t, "lengths"),
			})
		}
		for i, pause := range rapid.SliceOfN(rapid.IntRange(0, 100), 1, 6).Draw(t, "steps before each") {
			for range pause {
				m.pass()
				m.check(t)
			}
			account, ahead := fmt.Sprint("small ", i), m.fresh()
			small := m.ask(account, step, nil)
			rounds := 1 + ahead/(m.places-m.longPart())
			for waited := time.Duration(0); small.state == waiting; waited += step {
				if waited > time.Duration(rounds)*Short {
					t.Fatalf("%s waits for more than %v, %d were before it", account, waited, ahead)
				}
				m.pass()
				m.check(t)
			}
		}
	})
}

// TestACoalitionThatReturnsIsBrief: up to 25 accounts that have each computed for more than nine times Short lately keep asking for
// work without an end, and one that works in small pieces asks again and again. Each time it has a place within Brief, although the
// others ask again whenever something of theirs has ended.
func TestACoalitionThatReturnsIsBrief(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.IntRange(2, 8).Draw(t, "places"))
		lengths := rapid.SampledFrom([]time.Duration{Brief, Brief + step, Short, 3 * Short, time.Hour, time.Hour})
		for i := range rapid.IntRange(1, 25).Draw(t, "attackers") {
			a := &attacker{account: fmt.Sprint("attacker ", i), at: rapid.IntRange(1, 4).Draw(t, "at a time"), lengths: rapid.SliceOfN(lengths, 1, 3).Draw(t, "lengths")}
			m.attackers = append(m.attackers, a)
			m.spent[a.account] = spent{time.Duration(rapid.IntRange(15, 100).Draw(t, "computed")) * Short, m.now}
		}
		for i, pause := range rapid.SliceOfN(rapid.IntRange(0, 20), 1, 12).Draw(t, "steps before each") {
			for range pause {
				m.pass()
				m.check(t)
			}
			small := m.ask("small", step, nil)
			for waited := time.Duration(0); small.state == waiting; waited += step {
				if waited > Brief {
					t.Fatalf("request %d waits for more than %v", i, waited)
				}
				m.pass()
				m.check(t)
			}
			for small.state == running {
				m.pass()
				m.check(t)
			}
		}
	})
}

// TestAccountsAlikeAreNotEnded: twenty accounts have each computed as much lately and ask for work of ten times Short. What has begun is
// not ended for what waits.
func TestAccountsAlikeAreNotEnded(t *testing.T) {
	m := newModel(4)
	for i := range 20 {
		a := &attacker{account: fmt.Sprint(i), at: 2, lengths: []time.Duration{10 * Short}}
		m.attackers = append(m.attackers, a)
		m.spent[a.account] = spent{17 * Short, m.now}
	}
	m.pass()
	first := append([]*ticket{}, m.order...)
	for range 10*Short/step + 1 {
		m.pass()
	}
	done := 0
	for _, t := range first {
		if t.state == gone && t.ran >= 10*Short {
			done++
		}
	}
	if done != 4 {
		t.Errorf("%d of 4 are done", done)
	}
}

// fresh counts the waiting accounts that have begun nothing and have not computed recently.
func (m *model) fresh() (n int) {
	for _, of := range m.shares {
		if len(of.waiting) > 0 && len(of.begun) == 0 && m.recently(of.account) == 0 {
			n++
		}
	}
	return n
}

// TestWhoCameFirstGoesOn: five accounts have a long request each, on four places. The one that came last is paused after its
// first second, not one of those before it, and goes on when one of them is done.
func TestWhoCameFirstGoesOn(t *testing.T) {
	s := newSchedule(4)
	var asked []*ticket
	for i := range 4 {
		asked = append(asked, ask(s, fmt.Sprint(i)))
	}
	s.now = s.now.Add(Short)
	for _, each := range asked {
		s.lapse(each)
	}
	asked = append(asked, ask(s, "last"))
	if asked[3].state != paused || asked[4].state != running {
		t.Fatalf("the youngest is %d, the new one %d", asked[3].state, asked[4].state)
	}
	s.now = s.now.Add(Short)
	s.lapse(asked[4])
	if asked[3].state != running || asked[4].state != paused {
		t.Fatalf("the older is %d, the younger %d", asked[3].state, asked[4].state)
	}
	s.release(asked[0])
	if asked[4].state != running {
		t.Errorf("with room it is %d", asked[4].state)
	}
}

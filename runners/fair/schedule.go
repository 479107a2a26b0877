package fair

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// state is where a request is in its life.
type state int

const (
	waiting state = iota // for its first place
	running              // it holds a place
	paused               // it held one, and another has it
	gone                 // given back, given up or ended
)

// ticket is one request for a place.
type ticket struct {
	of    *share
	state state
	short time.Duration // how long it runs before it is long
	long  bool          // it has, and may be paused
	began uint64        // in the order in which tickets got their first place
	since time.Time     // when it last got a place
	ran   time.Duration // before that
}

// share is what one account holds and waits for.
type share struct {
	account string
	running int
	begun   []*ticket // those that run or are paused, in no order
	waiting []*ticket // oldest first
	turn    uint64    // when the account came to the end of the line: the lower, the sooner it is served among equals
}

// spent is what ended requests of an account have run beyond Brief, as of a time.
type spent struct {
	ran time.Duration
	at  time.Time
}

// change is what became of a ticket by a call. A place is given to a paused ticket as to a waiting one.
type change struct {
	ticket *ticket
	to     state
}

// schedule decides who gets a place. It is neither safe for concurrent use nor waits for anything.
type schedule struct {
	places  int
	free    int
	now     time.Time         // set before each call
	shares  map[string]*share // of the accounts that hold a place or wait for one
	spent   map[string]spent  // of accounts that have computed recently
	swept   time.Time         // when spent last lost what is long past
	running []*ticket         // the long ones of those that hold a place
	paused  []*ticket
	turns   uint64 // given out so far
	begun   uint64 // tickets so far
}

func newSchedule(places int) *schedule {
	return &schedule{places: places, free: places, shares: map[string]*share{}, spent: map[string]spent{}}
}

// longPart is how many places long tickets keep while short ones wait.
func (s *schedule) longPart() int { return max(1, s.places/2) }

// request adds a request and returns its ticket, and what changes by it.
func (s *schedule) request(account string) (*ticket, []change) {
	of := s.shares[account]
	if of == nil {
		of = &share{account: account}
		s.shares[account] = of
	}
	if len(of.waiting) == 0 {
		s.toTheEnd(of)
	}
	t := &ticket{of: of}
	of.waiting = append(of.waiting, t)
	return t, s.settle()
}

// release gives back the place of a ticket, or takes back one that is paused.
func (s *schedule) release(t *ticket) []change {
	switch t.state {
	case running:
		s.stop(t)
	case paused:
		s.takeUp(t)
	default:
		return nil
	}
	s.conclude(t)
	return s.settle()
}

// abandon takes back a ticket that waits. Nothing else changes: no place comes free.
func (s *schedule) abandon(t *ticket) {
	t.of.waiting = without(t.of.waiting, t)
	s.conclude(t)
}

// lapse makes a running ticket long, which has run for as long as a short one may. Where a paused one goes before it, that one gets the place.
func (s *schedule) lapse(t *ticket) (changes []change) {
	t.long = true
	s.running = append(s.running, t)
	if next := s.bestPaused(1); s.free == 0 && next != nil && s.order(next, t) < 0 {
		s.pause(t)
		s.start(next)
		changes = []change{{t, paused}, {next, running}}
	}
	return append(changes, s.settle()...)
}

// end ends a paused ticket, whose work is lost.
func (s *schedule) end(t *ticket) {
	s.takeUp(t)
	s.conclude(t)
}

// settle gives out places as long as the rule allows it, and ends what is paused beyond its bound.
func (s *schedule) settle() (changes []change) {
	for {
		if next := s.next(); next != nil {
			s.start(next)
			changes = append(changes, change{next, running})
			continue
		}
		victim := s.victim()
		if victim == nil {
			break
		}
		s.pause(victim)
		changes = append(changes, change{victim, paused})
	}
	for len(s.paused) > s.places {
		worst := slices.MaxFunc(s.paused, s.order)
		s.end(worst)
		changes = append(changes, change{worst, gone})
	}
	return changes
}

// next is the ticket that gets the next free place; nil: none may have it.
func (s *schedule) next() *ticket {
	if s.free == 0 {
		return nil
	}
	first, begun := s.bestWaiting(s.free), s.bestPaused(s.free)
	if first == nil || begun != nil && len(s.running) < s.longPart() {
		return begun
	}
	return first
}

// bestWaiting is the waiting ticket that goes before all others when so many places are free; nil: none may have one.
func (s *schedule) bestWaiting(free int) *ticket {
	var best *share
	for _, of := range s.shares {
		if len(of.waiting) > 0 && mayTake(of, free) && (best == nil || s.before(of, best)) {
			best = of
		}
	}
	if best == nil {
		return nil
	}
	return best.waiting[0]
}

// bestPaused is the paused ticket that goes before all others when so many places are free; nil: none may have one.
func (s *schedule) bestPaused(free int) *ticket {
	var best *ticket
	for _, t := range s.paused {
		if mayTake(t.of, free) && (best == nil || s.order(t, best) < 0) {
			best = t
		}
	}
	return best
}

// mayTake tells whether an account may take one of so many free places: who holds one leaves the last.
func mayTake(of *share, free int) bool { return of.running == 0 || free > 1 }

// victim is the long ticket whose place a short one gets; nil: none does.
func (s *schedule) victim() (worst *ticket) {
	if s.free > 0 || len(s.running) <= s.longPart() {
		return nil
	}
	next := s.bestWaiting(1)
	if next == nil {
		return nil
	}
	for _, t := range s.running {
		if s.yields(t.of, next.of) && (worst == nil || s.order(t, worst) > 0) {
			worst = t
		}
	}
	return worst
}

// yields tells whether long tickets of an account give way to the first short one of another: the other has begun less, and has computed
// less than half as much. Among accounts alike each would otherwise take the places of the others in turn, and no long work would be done.
func (s *schedule) yields(of, to *share) bool {
	return len(to.begun) < len(of.begun) && 2*s.attained(to)+Short/2 <= s.attained(of)
}

// attained is what an account has recently computed, with what has not ended.
func (s *schedule) attained(of *share) time.Duration {
	sum := s.recently(of.account)
	for _, t := range of.begun {
		sum += t.hasRun(s.now)
	}
	return sum
}

// hasRun is how long a ticket that has begun has run until now.
func (t *ticket) hasRun(now time.Time) time.Duration {
	if t.state == running {
		return t.ran + now.Sub(t.since)
	}
	return t.ran
}

// shortFor is how long a request of an account runs before it is long: the less, the more the account has recently computed.
func (s *schedule) shortFor(account string) time.Duration {
	return max(Brief, time.Duration(float64(Short)/(1+s.recently(account).Seconds()/Short.Seconds())))
}

// before tells whether an account's first request is served before another's.
func (s *schedule) before(a, b *share) bool {
	return cmp.Or(s.compare(a, b), cmp.Compare(a.turn, b.turn)) < 0
}

// order is that of long tickets: the older goes before the younger of an account alike.
func (s *schedule) order(a, b *ticket) int {
	return cmp.Or(s.compare(a.of, b.of), cmp.Compare(a.began, b.began))
}

// compare puts the account first that has begun less, then the one that has recently computed less.
func (s *schedule) compare(a, b *share) int {
	return cmp.Or(cmp.Compare(len(a.begun), len(b.begun)), cmp.Compare(s.recently(a.account), s.recently(b.account)))
}

// recently is what ended requests of an account have run beyond Brief; it counts half after each halfLife.
func (s *schedule) recently(account string) time.Duration {
	of, has := s.spent[account]
	if !has {
		return 0
	}
	return time.Duration(float64(of.ran) * math.Exp2(-float64(s.now.Sub(of.at))/float64(halfLife)))
}

// start gives a free place to a ticket that waits or is paused.
func (s *schedule) start(t *ticket) {
	s.free--
	if t.state == paused {
		s.takeUp(t)
		s.running = append(s.running, t)
	} else {
		t.of.waiting = t.of.waiting[1:]
		s.toTheEnd(t.of)
		s.begun++
		t.began, t.short = s.begun, s.shortFor(t.of.account)
		t.of.begun = append(t.of.begun, t)
	}
	t.of.running++
	t.state, t.since = running, s.now
}

// pause takes the place of a long ticket.
func (s *schedule) pause(t *ticket) {
	s.stop(t)
	t.state = paused
	s.paused = append(s.paused, t)
}

// stop frees the place of a running ticket.
func (s *schedule) stop(t *ticket) {
	s.free++
	t.of.running--
	t.ran = t.hasRun(s.now)
	s.running = without(s.running, t)
}

// takeUp takes a ticket out of those that are paused.
func (s *schedule) takeUp(t *ticket) {
	s.paused = without(s.paused, t)
}

// conclude notes what a ticket has run that holds nothing any more.
func (s *schedule) conclude(t *ticket) {
	t.state = gone
	t.of.begun = without(t.of.begun, t)
	account := t.of.account
	if t.ran > Brief {
		s.spent[account] = spent{s.recently(account) + t.ran - Brief, s.now}
	}
	if len(t.of.begun) == 0 && len(t.of.waiting) == 0 {
		delete(s.shares, account)
	}
	s.sweep()
}

// sweep forgets, once each halfLife, what counts no more.
func (s *schedule) sweep() {
	if s.now.Sub(s.swept) < halfLife {
		return
	}
	s.swept = s.now
	for account := range s.spent {
		if s.recently(account) < negligible {
			delete(s.spent, account)
		}
	}
}

// ahead counts the waiting accounts that are served before this one.
func (s *schedule) ahead(mine *share) int {
	n := 0
	for _, of := range s.shares {
		if of != mine && len(of.waiting) > 0 && s.before(of, mine) {
			n++
		}
	}
	return n
}

func (s *schedule) toTheEnd(of *share) {
	s.turns++
	of.turn = s.turns
}

// without is the list without one ticket.
func without(list []*ticket, t *ticket) []*ticket {
	return slices.DeleteFunc(list, func(other *ticket) bool { return other == t })
}

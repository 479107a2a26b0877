package fair

// ticket is one request for a place.
type ticket struct {
	account string
	granted bool
}

// share is what one account holds and waits for.
type share struct {
	holds   int
	waiting []*ticket // oldest first
	turn    uint64    // when the account came to the end of the line: the lower, the sooner it is served among equals
}

// schedule decides who gets a place. It is neither safe for concurrent use nor waits for anything.
type schedule struct {
	free   int
	shares map[string]*share // of the accounts that hold a place or wait for one
	turns  uint64            // given out so far
}

func newSchedule(places int) *schedule { return &schedule{free: places, shares: map[string]*share{}} }

// request adds a request and returns its ticket, granted if there is a place for it. No other ticket is granted by it.
func (s *schedule) request(account string) *ticket {
	of := s.shares[account]
	if of == nil {
		of = &share{}
		s.shares[account] = of
	}
	if len(of.waiting) == 0 {
		s.toTheEnd(of)
	}
	t := &ticket{account: account}
	of.waiting = append(of.waiting, t)
	s.grant()
	return t
}

// release gives back a place that the account holds, and returns the tickets that are granted by it.
func (s *schedule) release(account string) []*ticket {
	of := s.shares[account]
	of.holds--
	s.free++
	s.dropIfUnused(account, of)
	return s.grant()
}

// abandon takes back a ticket that was not granted. No other ticket is granted by it: no place comes free.
func (s *schedule) abandon(t *ticket) {
	of := s.shares[t.account]
	for i, waiting := range of.waiting {
		if waiting == t {
			of.waiting = append(of.waiting[:i:i], of.waiting[i+1:]...)
			break
		}
	}
	s.dropIfUnused(t.account, of)
}

// grant gives out free places as long as the rule allows it.
func (s *schedule) grant() (granted []*ticket) {
	for s.free > 0 {
		next := s.next()
		if next == nil {
			break
		}
		t := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.holds++
		s.free--
		t.granted = true
		s.toTheEnd(next)
		granted = append(granted, t)
	}
	return granted
}

// next is the share whose oldest ticket gets the next free place; nil: none may have it.
func (s *schedule) next() *share {
	var best *share
	for _, of := range s.shares {
		if len(of.waiting) == 0 || of.holds > 0 && s.free == 1 {
			continue
		}
		if best == nil || of.before(best) {
			best = of
		}
	}
	return best
}

// before tells whether a share is served before another.
func (of *share) before(other *share) bool {
	if of.holds != other.holds {
		return of.holds < other.holds
	}
	return of.turn < other.turn
}

// ahead counts the waiting accounts that are served before this one.
func (s *schedule) ahead(account string) int {
	n, mine := 0, s.shares[account]
	for _, of := range s.shares {
		if of != mine && len(of.waiting) > 0 && of.before(mine) {
			n++
		}
	}
	return n
}

func (s *schedule) toTheEnd(of *share) {
	s.turns++
	of.turn = s.turns
}

func (s *schedule) dropIfUnused(account string, of *share) {
	if of.holds == 0 && len(of.waiting) == 0 {
		delete(s.shares, account)
	}
}

package runners

import (
	"math"
	"time"
)

const (
	// QuickBudget is the largest budget of a job that may have the last free slot of a runner: that of the first plan's jobs.
	QuickBudget = time.Minute
	// longJob is after how long a job is long: what it takes beyond counts against its account, which may not have the last slot where that is as much again.
	longJob = 10 * time.Second
	// longHalfLife is the time after which half of that counts no more, and lately the time after which an account is not known any more.
	longHalfLife = 10 * time.Minute
	lately       = time.Hour
	// maxAccounts is from how many accounts on those that are not known any more are forgotten.
	maxAccounts = 10_000
)

// slots shares a runner's slots by how long jobs are expected to take. Where there are several, the last free one is for quick jobs only: with a budget
// of at most QuickBudget, of an account that has lately had no long ones, or that has none here and is not known. So however many accounts
// have long jobs, a slot comes free within QuickBudget, and one is free where all of these have been seen before. Quick jobs, however many, do not
// make up for a long one.
type slots struct {
	number int
	held   map[string]holding // by job id
	beyond map[string]excess  // of accounts that have had jobs here
}

// holding is a slot in use.
type holding struct {
	account string
	since   time.Time
}

// excess is what jobs of an account took beyond longJob each, as of a time.
type excess struct {
	sum time.Duration
	at  time.Time
}

func newSlots(number int) *slots {
	return &slots{number: number, held: map[string]holding{}, beyond: map[string]excess{}}
}

// demand is what a runner may ask the queue for.
type demand struct {
	most   int             // jobs
	budget time.Duration   // of each at most; 0: any
	except map[string]bool // accounts
}

// demand is for so many free slots, at least one.
func (s *slots) demand(free int, now time.Time) demand {
	switch {
	case s.number == 1:
		return demand{most: 1}
	case free > 1:
		return demand{most: free - 1}
	}
	return demand{1, QuickBudget, s.long(now)}
}

// long are the accounts of which a job is expected to be long: those that have or lately had a long one, and those that have one here and are not known.
func (s *slots) long(now time.Time) map[string]bool {
	accounts := map[string]bool{}
	for account := range s.beyond {
		if e, known := s.recently(account, now); known && e > longJob {
			accounts[account] = true
		}
	}
	for _, h := range s.held {
		if _, known := s.recently(h.account, now); !known || now.Sub(h.since) > longJob {
			accounts[h.account] = true
		}
	}
	return accounts
}

// recently is what jobs of an account took lately beyond longJob each, if any was computed here.
func (s *slots) recently(account string, now time.Time) (sum time.Duration, known bool) {
	e, known := s.beyond[account]
	age := now.Sub(e.at)
	return time.Duration(float64(e.sum) * math.Exp2(-float64(age)/float64(longHalfLife))), known && age < lately
}

// take notes that a job of an account has a slot.
func (s *slots) take(job, account string, now time.Time) { s.held[job] = holding{account, now} }

// give notes that a job has its slot no more. What it took is known of its account from now on, if it was computed.
func (s *slots) give(job string, computed bool, now time.Time) {
	h := s.held[job]
	delete(s.held, job)
	if !computed {
		return
	}
	before, _ := s.recently(h.account, now)
	s.beyond[h.account] = excess{before + max(0, now.Sub(h.since)-longJob), now}
	if len(s.beyond) > maxAccounts {
		for account := range s.beyond {
			if _, known := s.recently(account, now); !known {
				delete(s.beyond, account)
			}
		}
	}
}

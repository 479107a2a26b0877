package projections

import (
	"context"
	"database/sql"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/job"
)

// order is the queue as a process keeps it in memory: the jobs of queue_v4 that have not ended, by account and age.
//
// The queue serves by load, then by age: a job's load is the number of jobs of its account that are held (running, or reserved
// for a runner) or wait and are older. In SQL that is a window over the whole queue; here a place costs one step for each
// account with jobs, and what has changed since the last question is read by the index on the column changed.
type order struct {
	once   sync.Once
	locked chan struct{} // full while the order is in use

	seen     int64 // greatest value of the column changed that is applied
	jobs     map[string]*queuedJob
	accounts map[string]*accountQueue
	list     []*accountQueue       // the same accounts, in no order
	sessions map[string]int        // streams of sessions → number of their jobs
	paused   map[string]*queuedJob // jobs that wait for a time of their own

	reserving []*accountQueue // accounts with reserved jobs
}

// queuedJob is a job that is queued or running.
type queuedJob struct {
	id, session                     string
	correlation, cause, traceparent string
	kind                            job.Kind
	position                        int64
	budget                          time.Duration
	notBeforeMS                     int64 // Unix time in milliseconds from which it may be proposed; 0: at once
	concurrent, attempt             int
	known                           time.Time // when this process learned of its present state
	running                         bool
	account                         *accountQueue
}

// accountQueue is the jobs of one account.
type accountQueue struct {
	name       string
	index      int // in order.list
	concurrent int // no job of the account may run beside more than so many less one
	running    []*queuedJob
	waiting    []waitingJob // oldest first
	reserved   []int        // indexes in waiting of the jobs that are reserved for a runner, in order
}

// waitingJob has the position beside the pointer, so that counting reads no other memory.
type waitingJob struct {
	position int64
	job      *queuedJob
}

// maxChangesApplied bounds the rows that are read to bring the order up to date; with more the queue is read again.
const maxChangesApplied = 10_000

// use returns once no one else uses the order, or the context has ended.
func (o *order) use(ctx context.Context) (done func(), err error) {
	o.once.Do(func() { o.locked = make(chan struct{}, 1) })
	select {
	case o.locked <- struct{}{}:
		return func() { <-o.locked }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refresh applies what has changed in queue_v4. Who calls it uses the order.
func (o *order) refresh(ctx context.Context, db bun.IDB) error {
	var newest sql.NullInt64
	if err := db.NewSelect().Model((*QueueRow)(nil)).ColumnExpr("MAX(changed)").Scan(ctx, &newest); err != nil {
		return err
	}
	if o.jobs == nil || newest.Int64 < o.seen { // never read, or the table is being built anew
		return o.load(ctx, db, newest.Int64)
	}
	if newest.Int64 == o.seen {
		return nil
	}
	var changed []QueueRow
	if err := db.NewSelect().Model(&changed).Where("changed > ?", o.seen).Order("changed").Limit(maxChangesApplied + 1).Scan(ctx); err != nil {
		return err
	}
	if len(changed) > maxChangesApplied {
		return o.load(ctx, db, newest.Int64)
	}
	for i := range changed {
		o.put(&changed[i])
		o.seen = changed[i].Changed
	}
	return nil
}

// load reads the queue anew. Rows may be newer than newest: they are applied again with the next changes.
func (o *order) load(ctx context.Context, db bun.IDB, newest int64) error {
	o.jobs = nil // until the queue is read
	var open []QueueRow
	for _, status := range []job.Status{job.Queued, job.Running} {
		var part []QueueRow
		if err := db.NewSelect().Model(&part).Where("status = ?", status).Order("position").Scan(ctx); err != nil {
			return err
		}
		open = append(open, part...)
	}
	o.seen, o.jobs, o.accounts, o.list, o.sessions = newest, make(map[string]*queuedJob, len(open)), map[string]*accountQueue{}, nil, map[string]int{}
	o.paused = map[string]*queuedJob{}
	for i := range open {
		o.put(&open[i])
	}
	return nil
}

// put makes the order hold a job as its row says.
func (o *order) put(row *QueueRow) {
	if known := o.jobs[row.JobID]; known != nil {
		o.remove(known)
	}
	if row.Status != job.Queued && row.Status != job.Running {
		return
	}
	a := o.accounts[row.Account]
	if a == nil {
		a = &accountQueue{name: row.Account, index: len(o.list)}
		o.accounts[row.Account] = a
		o.list = append(o.list, a)
	}
	j := &queuedJob{
		id: row.JobID, correlation: row.Correlation, cause: row.Cause, traceparent: row.Traceparent, session: row.Session, kind: row.Kind, budget: time.Duration(row.TimeoutMS) * time.Millisecond, position: row.Position,
		concurrent: row.Concurrent, notBeforeMS: row.NotBeforeMS, attempt: row.Attempt, running: row.Status == job.Running, account: a, known: time.Now(),
	}
	o.jobs[j.id] = j
	a.concurrent = max(a.concurrent, j.concurrent)
	if j.session != "" {
		o.sessions[j.session]++
	}
	if j.running {
		a.running = append(a.running, j)
		return
	}
	if j.notBeforeMS > 0 {
		o.paused[j.id] = j
	}
	a.waiting = slices.Insert(a.waiting, olderThan(a.waiting, j.position), waitingJob{j.position, j})
}

func (o *order) remove(j *queuedJob) {
	a := j.account
	delete(o.jobs, j.id)
	delete(o.paused, j.id)
	if j.session != "" {
		if o.sessions[j.session]--; o.sessions[j.session] == 0 {
			delete(o.sessions, j.session)
		}
	}
	if j.running {
		a.running = slices.DeleteFunc(a.running, func(other *queuedJob) bool { return other == j })
	} else if i := olderThan(a.waiting, j.position); i == 0 {
		a.waiting[0].job = nil
		a.waiting = a.waiting[1:] // jobs leave from the front: nothing is moved
	} else {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
	if len(a.running) == 0 && len(a.waiting) == 0 {
		last := o.list[len(o.list)-1]
		o.list[a.index], last.index = last, a.index
		o.list = o.list[:len(o.list)-1]
		delete(o.accounts, a.name)
	}
}

// olderThan is how many of the waiting jobs are older than a position.
func olderThan(waiting []waitingJob, position int64) int {
	return sort.Search(len(waiting), func(i int) bool { return waiting[i].position >= position })
}

// liveProposal is a proposal that has not expired.
type liveProposal struct {
	JobID   string
	Attempt int
	LeftMS  int64 // until it expires
}

// reserve marks the waiting jobs whose present attempt live proposals are about, and no others. It returns the time until the first
// of these expires, 0 without any.
func (o *order) reserve(live []liveProposal) (expiry time.Duration) {
	for _, a := range o.reserving {
		a.reserved = nil
	}
	o.reserving = nil
	for _, p := range live {
		j := o.jobs[p.JobID]
		if j == nil || j.running || j.attempt != p.Attempt {
			continue
		}
		if j.account.reserved == nil {
			o.reserving = append(o.reserving, j.account)
		}
		j.account.reserved = append(j.account.reserved, olderThan(j.account.waiting, j.position))
		if left := time.Duration(p.LeftMS+1) * time.Millisecond; expiry == 0 || left < expiry {
			expiry = left
		}
	}
	for _, a := range o.reserving {
		slices.Sort(a.reserved)
	}
	return expiry
}

// unreserved is the index in an account's waiting jobs of the one that has so many before it that are not reserved.
func unreserved(indexes []int, before int) int {
	for _, i := range indexes {
		if i <= before {
			before++
		}
	}
	return before
}

// place returns the place of a job in the order over all accounts, from 1, which is also that of a job that is held. A job that
// the order does not hold has none.
func (o *order) place(jobID string) (place int, known bool) {
	j := o.jobs[jobID]
	if j == nil {
		return 0, false
	}
	index := olderThan(j.account.waiting, j.position)
	older, held := slices.BinarySearch(j.account.reserved, index)
	if j.running || held {
		return 1, true
	}
	load := len(j.account.running) + len(j.account.reserved) + index - older
	place = 1
	for _, a := range o.list {
		held, waiting := len(a.running)+len(a.reserved), len(a.waiting)-len(a.reserved)
		turn := load - held // place within the account, from 0, of its job that has the same load
		switch {
		case turn < 0:
		case turn >= waiting:
			place += waiting
		case a.waiting[unreserved(a.reserved, turn)].position < j.position:
			place += turn + 1
		default:
			place += turn
		}
	}
	return place, true
}

// candidate is a job that may be proposed.
type candidate struct {
	load     int
	position int64
	job      *queuedJob
}

func (c candidate) before(other candidate) bool {
	return c.load < other.load || c.load == other.load && c.position < other.position
}

// maxPauseMS bounds for how long a job that could not be tried is kept back: a runner whose clock is ahead says a later time.
const maxPauseMS = int64(2 * job.MaxPause / time.Millisecond)

// pausedAt tells whether a job is still kept back, and for how long, on the database's clock.
func (j *queuedJob) pausedAt(nowMS int64) (left time.Duration, paused bool) {
	leftMS := j.notBeforeMS - nowMS
	return time.Duration(leftMS) * time.Millisecond, leftMS > 0 && leftMS <= maxPauseMS
}

// readyFor tells whether any runner could have claimed the job for so long.
func (j *queuedJob) readyFor(d time.Duration, nowMS int64) bool {
	return d <= 0 || time.Since(j.known) >= d && time.Duration(nowMS-j.notBeforeMS)*time.Millisecond >= d
}

// pauseEnds is the time until the first job that is kept back may be proposed; 0: none is kept back.
func (o *order) pauseEnds(nowMS int64) (first time.Duration) {
	for _, j := range o.paused {
		if left, paused := j.pausedAt(nowMS); paused && (first == 0 || left < first) {
			first = left
		}
	}
	return first
}

// propose returns up to n jobs for a claimant in the order of the queue. owners names the process that owns each live session,
// nowMS is the database's clock.
func (o *order) propose(c Claimant, n int, owners map[string]string, nowMS int64) []*queuedJob {
	var best []candidate // in the order of the queue, at most n
	for _, a := range o.list {
		skip := a.reserved
		load, busy := len(a.running)+len(skip), o.sessionsHeld(a)
		for i, w := range a.waiting {
			if len(skip) > 0 && skip[0] == i {
				skip = skip[1:]
				continue
			}
			next := candidate{load, w.position, w.job}
			if load >= a.concurrent || len(best) == n && !next.before(best[n-1]) {
				break // those that follow have no smaller load and are younger
			}
			if _, paused := w.job.pausedAt(nowMS); !c.eligible(w.job, busy, owners) || paused || !w.job.readyFor(c.ReadyFor, nowMS) {
				continue
			}
			load++
			if next.load >= w.job.concurrent {
				continue
			}
			i, _ := slices.BinarySearchFunc(best, next, func(a, b candidate) int {
				if a.before(b) {
					return -1
				}
				return 1
			})
			best = slices.Insert(best, i, next)
			best = best[:min(n, len(best))]
		}
	}
	found := make([]*queuedJob, len(best))
	for i, b := range best {
		found[i] = b.job
	}
	return found
}

// sessionsHeld are the sessions of an account in which a job is held; nil when no job of its is in a session.
func (o *order) sessionsHeld(a *accountQueue) map[string]bool {
	if len(o.sessions) == 0 {
		return nil
	}
	busy := map[string]bool{}
	for _, j := range a.running {
		busy[j.session] = true
	}
	for _, i := range a.reserved {
		busy[a.waiting[i].job.session] = true
	}
	return busy
}

// eligible tells whether a claimant may have a waiting job. It is asked for an account's jobs from the oldest: busy holds the
// sessions in which a job is held or an older one waits.
func (c Claimant) eligible(j *queuedJob, busy map[string]bool, owners map[string]string) bool {
	takes := (c.Budget == 0 || j.budget <= c.Budget) && !c.ExceptAccounts[j.account.name]
	if j.session == "" {
		return takes && !c.OwnSessionsOnly && slices.Contains(c.Kinds, j.kind) && !c.Except[j.id]
	}
	if busy[j.session] {
		return false
	}
	busy[j.session] = true
	owner, live := owners[j.session]
	return takes && slices.Contains(c.Kinds, j.kind) && (live && owner == c.Runner || !live && !c.OwnSessionsOnly)
}

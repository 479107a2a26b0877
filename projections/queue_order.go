package projections

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"sort"
	"sync"

	"github.com/uptrace/bun"

	"reckon/domain/job"
)

// order is the queue as a process keeps it in memory: the jobs of queue_v2 that have not ended, by account and age.
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
	list     []*accountQueue // the same accounts, in no order
	sessions map[string]int  // streams of sessions → number of their jobs
}

// queuedJob is a job that is queued or running.
type queuedJob struct {
	id, correlation, session string
	kind                     job.Kind
	position                 int64
	concurrent, attempt      int
	running                  bool
	account                  *accountQueue
}

// accountQueue is the jobs of one account.
type accountQueue struct {
	name    string
	index   int // in order.list
	running []*queuedJob
	waiting []waitingJob // oldest first
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

// refresh applies what has changed in queue_v2. Who calls it uses the order.
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
	if err := db.NewSelect().Model(&open).Where("status IN (?)", bun.List([]job.Status{job.Queued, job.Running})).Scan(ctx); err != nil {
		return err
	}
	slices.SortFunc(open, func(a, b QueueRow) int { return cmp.Compare(a.Position, b.Position) })
	o.seen, o.jobs, o.accounts, o.list, o.sessions = newest, make(map[string]*queuedJob, len(open)), map[string]*accountQueue{}, nil, map[string]int{}
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
		id: row.JobID, correlation: row.Correlation, session: row.Session, kind: row.Kind, position: row.Position,
		concurrent: row.Concurrent, attempt: row.Attempt, running: row.Status == job.Running, account: a,
	}
	o.jobs[j.id] = j
	if j.session != "" {
		o.sessions[j.session]++
	}
	if j.running {
		a.running = append(a.running, j)
		return
	}
	a.waiting = slices.Insert(a.waiting, olderThan(a.waiting, j.position), waitingJob{j.position, j})
}

func (o *order) remove(j *queuedJob) {
	a := j.account
	delete(o.jobs, j.id)
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

// reserved are the waiting jobs that are reserved for a runner, by account.
type reserved map[*accountQueue]map[*queuedJob]bool

// reservations are those of the live proposals that are about a waiting job's present attempt.
func (o *order) reservations(live []proposalRow) reserved {
	r := reserved{}
	for _, p := range live {
		if j := o.jobs[p.JobID]; j != nil && !j.running && j.attempt == p.Attempt {
			if r[j.account] == nil {
				r[j.account] = map[*queuedJob]bool{}
			}
			r[j.account][j] = true
		}
	}
	return r
}

// of returns how many jobs of an account are held, and those that wait.
func (r reserved) of(a *accountQueue) (held int, waiting []waitingJob) {
	mine := r[a]
	if len(mine) == 0 {
		return len(a.running), a.waiting
	}
	waiting = slices.DeleteFunc(slices.Clone(a.waiting), func(w waitingJob) bool { return mine[w.job] })
	return len(a.running) + len(mine), waiting
}

// place returns the place of a job in the order over all accounts, from 1, which is also that of a job that is held. A job that
// the order does not hold has none.
func (o *order) place(jobID string, r reserved) (place int, known bool) {
	j := o.jobs[jobID]
	if j == nil {
		return 0, false
	}
	if j.running || r[j.account][j] {
		return 1, true
	}
	held, waiting := r.of(j.account)
	load := held + olderThan(waiting, j.position)
	place = 1
	for _, a := range o.list {
		held, waiting := len(a.running), a.waiting
		if len(r) > 0 {
			held, waiting = r.of(a)
		}
		turn := load - held // place within the account, from 0, of its job that has the same load
		switch {
		case turn < 0:
		case turn >= len(waiting):
			place += len(waiting)
		case waiting[turn].position < j.position:
			place += turn + 1
		default:
			place += turn
		}
	}
	return place, true
}

// candidate is a job that may be proposed.
type candidate struct {
	load int
	job  *queuedJob
}

func (c candidate) before(other candidate) bool {
	return c.load < other.load || c.load == other.load && c.job.position < other.job.position
}

// propose returns up to n jobs for a claimant in the order of the queue. owners names the process that owns each live session.
func (o *order) propose(c Claimant, n int, r reserved, owners map[string]string) []*queuedJob {
	var best []candidate // in the order of the queue, at most n
	for _, a := range o.list {
		held, waiting := r.of(a)
		load, busy := held, o.sessionsHeld(a, r)
		for _, w := range waiting {
			next := candidate{load, w.job}
			if len(best) == n && !next.before(best[n-1]) {
				break // those that follow have no smaller load and are younger
			}
			if !c.eligible(w.job, busy, owners) {
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
func (o *order) sessionsHeld(a *accountQueue, r reserved) map[string]bool {
	if len(o.sessions) == 0 {
		return nil
	}
	busy := map[string]bool{}
	for _, j := range a.running {
		busy[j.session] = true
	}
	for j := range r[a] {
		busy[j.session] = true
	}
	return busy
}

// eligible tells whether a claimant may have a waiting job. It is asked for an account's jobs from the oldest: busy holds the
// sessions in which a job is held or an older one waits.
func (c Claimant) eligible(j *queuedJob, busy map[string]bool, owners map[string]string) bool {
	if j.session == "" {
		return !c.OwnSessionsOnly && slices.Contains(c.Kinds, j.kind)
	}
	if busy[j.session] {
		return false
	}
	busy[j.session] = true
	owner, live := owners[j.session]
	return slices.Contains(c.Kinds, j.kind) && (live && owner == c.Runner || !live && !c.OwnSessionsOnly)
}

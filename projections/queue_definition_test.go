package projections_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/projections"
	"reckon/projections/projectiontest"
)

// The order of the queue as plain SQL: what Place and ProposeJobs are compared with. held is what runs or is
// proposed to a runner; waiting is the rest, with each job's turn within its session; ranked gives each job its load: how many
// jobs of its account run or are to run before it. The queue serves by load, then by age.
const (
	plainHeldAndWaiting = `
WITH open AS (SELECT * FROM queue_v4 WHERE status IN ('queued', 'running')), held AS (
	SELECT q.job_id, q.account, q.session FROM open AS q
	LEFT JOIN queue_proposals AS p ON p.job_id = q.job_id AND p.attempt = q.attempt AND p.until_ms > %s
	WHERE q.status = 'running' OR p.job_id IS NOT NULL
), waiting AS (
	SELECT q.*, ROW_NUMBER() OVER (PARTITION BY q.session ORDER BY q.position) AS turn
	FROM open AS q LEFT JOIN held AS h ON h.job_id = q.job_id WHERE h.job_id IS NULL
)`
	plainRanked = `, ranked AS (
	SELECT e.job_id, e.position, e.concurrent,
		COALESCE(b.running, 0) + ROW_NUMBER() OVER (PARTITION BY e.account ORDER BY e.position) - 1 AS load
	FROM %s AS e LEFT JOIN (SELECT account, COUNT(*) AS running FROM held GROUP BY account) AS b ON b.account = e.account
)`
	plainEligible = `, eligible AS (
	SELECT w.* FROM waiting AS w LEFT JOIN sessions_v1 AS s ON s.stream = w.session
	WHERE w.kind IN (?) AND (? OR w.timeout_ms <= ?) AND w.account <> ? AND (w.session = '' AND ? OR w.session <> '' AND w.turn = 1
		AND w.session NOT IN (SELECT session FROM held) AND (s.owner = ? OR s.owner IS NULL AND ?))
		AND w.not_before_ms NOT BETWEEN %[1]s + 1 AND %[1]s + 600000
)`
)

func clockOf(db *bun.DB) string {
	if db.Dialect().Name() == dialect.PG {
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
	}
	return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

// plainPlaces are the places of all jobs in the queue by the definition.
func plainPlaces(ctx context.Context, db *bun.DB) (map[string]int, error) {
	statement := fmt.Sprintf(plainHeldAndWaiting, clockOf(db)) + fmt.Sprintf(plainRanked, "waiting") + `
SELECT job_id, 1 AS place FROM held UNION ALL
SELECT job_id, ROW_NUMBER() OVER (ORDER BY load, position) AS place FROM ranked`
	var rows []struct {
		JobID string
		Place int
	}
	if err := db.NewRaw(statement).Scan(ctx, &rows); err != nil {
		return nil, err
	}
	places := map[string]int{}
	for _, r := range rows {
		places[r.JobID] = r.Place
	}
	return places, nil
}

// plainProposals are the jobs that a claimant would be proposed by the definition.
func plainProposals(ctx context.Context, db *bun.DB, c projections.Claimant, n int) (ids []string, err error) {
	statement := fmt.Sprintf(plainHeldAndWaiting, clockOf(db)) + fmt.Sprintf(plainEligible, clockOf(db)) + fmt.Sprintf(plainRanked, "eligible") +
		" SELECT job_id FROM ranked WHERE load < concurrent ORDER BY load, position LIMIT ?"
	err = db.NewRaw(statement, bun.List(c.Kinds), c.Budget == 0, c.Budget.Milliseconds(), slices.Collect(maps.Keys(c.ExceptAccounts))[0], !c.OwnSessionsOnly, c.Runner, !c.OwnSessionsOnly, n).Scan(ctx, &ids)
	return ids, err
}

// TestQueueOrderIsItsDefinition: through random lives of many jobs, every place and every proposal is what the plain query
// says, in a process that has followed the queue from its beginning and in one that has just started.
func TestQueueOrderIsItsDefinition(t *testing.T) {
	t.Parallel()
	const rounds, steps = 4, 60
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		for round := range uint64(rounds) {
			random := rand.New(rand.NewPCG(round, 15))
			life := newQueueLife(q, random, fmt.Sprint("round", round))
			for range steps {
				life.step()
				q.feed()
				fresh := projections.New(db, nil)
				for name, models := range map[string]*projections.ReadModels{"followed": q.models, "fresh": fresh} {
					life.checkPlaces(name, models.Queue)
				}
				life.checkProposals([]*projections.Queue{q.models.Queue, fresh.Queue}[random.IntN(2)])
			}
			life.endAll()
			q.feed()
		}
	})
}

// queueLife makes random events of jobs that are possible in a log.
type queueLife struct {
	*queueTest
	random  *rand.Rand
	prefix  string
	made    int
	waiting []string
	running map[string]int // attempt
	attempt map[string]int
	ended   []string
	live    map[string]bool
}

func newQueueLife(q *queueTest, random *rand.Rand, prefix string) *queueLife {
	return &queueLife{queueTest: q, random: random, prefix: prefix, running: map[string]int{}, attempt: map[string]int{}, live: map[string]bool{}}
}

var queueAccounts = []string{alice, bob, carol}

func (l *queueLife) step() {
	switch dice := l.random.IntN(10); {
	case dice < 4:
		for range 1 + l.random.IntN(4) {
			l.submit()
		}
	case dice < 6 && len(l.waiting) > 0:
		l.start(l.random.IntN(len(l.waiting)))
	case dice == 6 && len(l.waiting) > 0:
		l.start(0)
	case dice == 7 && len(l.running) > 0:
		id := l.anyRunning()
		if after := []time.Duration{0, -time.Hour, time.Minute, time.Hour}[l.random.IntN(4)]; after == 0 {
			l.release(id, nonce(id, l.running[id]))
		} else { // an hour is no pause: it is a clock that is ahead
			l.untried(id, nonce(id, l.running[id]), time.Now().Add(after))
		}
		delete(l.running, id)
		l.waiting = append(l.waiting, id)
	case dice == 8 && len(l.running) > 0:
		id := l.anyRunning()
		l.succeed(id, nonce(id, l.running[id]))
		delete(l.running, id)
		l.ended = append(l.ended, id)
	case dice == 9 && len(l.waiting) > 0:
		i := l.random.IntN(len(l.waiting))
		id := l.waiting[i]
		l.waiting = slices.Delete(l.waiting, i, i+1)
		l.add(job.Stream(id), job.WasCancelled{JobID: id})
		l.ended = append(l.ended, id)
	}
	if l.random.IntN(5) == 0 {
		l.session()
	}
}

func nonce(id string, attempt int) string { return fmt.Sprint(id, "-", attempt) }

func (l *queueLife) submit() {
	id := fmt.Sprint(l.prefix, "-", l.made)
	l.made++
	change := []func(*job.Submission){of([]job.Kind{one, two, three}[l.random.IntN(3)]), concurrent(1 + l.random.IntN(3)), within(time.Duration(1+l.random.IntN(3)) * time.Second)}
	if l.random.IntN(3) == 0 {
		change = append(change, inSession(fmt.Sprint("s", l.random.IntN(2))))
	}
	l.queue(id, queueAccounts[l.random.IntN(len(queueAccounts))], change...)
	l.waiting = append(l.waiting, id)
}

func (l *queueLife) start(i int) {
	id := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.attempt[id]++
	l.running[id] = l.attempt[id]
	l.claim(id, nonce(id, l.attempt[id]), l.attempt[id])
}

func (l *queueLife) anyRunning() string {
	ids := make([]string, 0, len(l.running))
	for id := range l.running {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids[l.random.IntN(len(ids))]
}

func (l *queueLife) eventsOf(stream string) (events []event.Recorded) {
	for _, r := range l.Events {
		if r.Stream == stream {
			events = append(events, r)
		}
	}
	return events
}

// session opens or ends a session that jobs may be in.
func (l *queueLife) session() {
	account, id := queueAccounts[l.random.IntN(len(queueAccounts))], fmt.Sprint("s", l.random.IntN(2))
	stream := session.Stream(account, id)
	if l.live[stream] {
		l.add(stream, session.Expired{Account: account, SessionID: id, Epoch: len(l.Events)})
	} else {
		l.add(stream, session.Opened{Account: account, SessionID: id, Owner: []string{"one", "two"}[l.random.IntN(2)], Epoch: len(l.Events)})
	}
	l.live[stream] = !l.live[stream]
}

func (l *queueLife) endAll() {
	for len(l.waiting) > 0 {
		l.start(0)
	}
	for len(l.running) > 0 {
		id := l.anyRunning()
		l.succeed(id, nonce(id, l.running[id]))
		delete(l.running, id)
	}
}

func (l *queueLife) checkPlaces(name string, queue *projections.Queue) {
	l.t.Helper()
	want, err := plainPlaces(l.t.Context(), l.db)
	if err != nil {
		l.t.Fatal(err)
	}
	for id, place := range want {
		if got, known, err := queue.Place(l.t.Context(), id); err != nil || !known || got != place {
			l.t.Fatalf("%s: place of %s: %d %t %v, want %d", name, id, got, known, err, place)
		}
	}
	for _, id := range append([]string{"unknown"}, l.ended...) {
		if got, known, err := queue.Place(l.t.Context(), id); err != nil || known {
			l.t.Fatalf("%s: place of %s: %d %t %v, want none", name, id, got, known, err)
		}
	}
}

// checkProposals claims some of what it is proposed: the rest stays reserved.
func (l *queueLife) checkProposals(queue *projections.Queue) {
	l.t.Helper()
	c := projections.Claimant{Runner: []string{"one", "two", "three"}[l.random.IntN(3)], OwnSessionsOnly: l.random.IntN(4) == 0, Kinds: []job.Kind{one, two, three}[:1+l.random.IntN(3)]}
	c.Budget = time.Duration(l.random.IntN(3)) * time.Second
	c.ExceptAccounts = map[string]bool{append([]string{"nobody"}, queueAccounts...)[l.random.IntN(4)]: true}
	n := 1 + l.random.IntN(5)
	want, err := plainProposals(l.t.Context(), l.db, c, n)
	if err != nil {
		l.t.Fatal(err)
	}
	found, _, err := queue.ProposeJobs(l.t.Context(), c, n)
	if err != nil {
		l.t.Fatal(err)
	}
	var got []string
	for _, p := range found {
		got = append(got, p.JobID)
		queued := l.eventsOf(job.Stream(p.JobID)) // the last of them is the one that made it wait
		if first, last := queued[0], queued[len(queued)-1]; p.Correlation != "c-job-"+p.JobID || p.Attempt != l.attempt[p.JobID] || p.Cause != last.ID || p.Traceparent != first.Metadata.Traceparent {
			l.t.Errorf("%+v", p)
		}
	}
	if !slices.Equal(got, want) {
		l.t.Fatalf("%+v is proposed %v, want %v", c, got, want)
	}
	l.expireProposals()
	for _, id := range got {
		if i := slices.Index(l.waiting, id); i >= 0 && l.random.IntN(2) == 0 {
			l.start(i)
		}
	}
}

// expireProposals ends some proposals and keeps all others from ending: how long a step takes decides nothing.
func (l *queueLife) expireProposals() {
	l.t.Helper()
	const never = 1 << 60
	_, err := l.db.ExecContext(l.t.Context(), "UPDATE queue_proposals SET until_ms = ?", never)
	if err == nil && len(l.waiting) > 0 && l.random.IntN(3) == 0 {
		_, err = l.db.ExecContext(l.t.Context(), "UPDATE queue_proposals SET until_ms = 1 WHERE job_id = ?", l.waiting[l.random.IntN(len(l.waiting))])
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

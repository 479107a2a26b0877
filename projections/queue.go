package projections

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/projections/engine"
)

// Queue holds the jobs that have not ended and proposes them to runners. Which runner has a
// job is decided by the append of job.claimed.
type Queue struct{ from source }

// QueueRow is a job that is queued or running.
type QueueRow struct {
	bun.BaseModel `bun:"table:queue_v1,alias:q"`

	JobID       string     `bun:"job_id,pk"`
	Position    int64      `bun:"position,notnull"` // of job.queued in the log: a job handed back keeps its age
	Revision    int64      `bun:"revision,notnull"` // of the last event applied
	Account     string     `bun:"account,notnull"`
	Kind        job.Kind   `bun:"kind,notnull"`
	Session     string     `bun:"session,notnull"` // stream of the session that the job runs in; empty: no session
	Status      job.Status `bun:"status,notnull"`
	Concurrent  int        `bun:"concurrent,notnull"` // how many jobs of the account may run at once
	TimeoutMS   int64      `bun:"timeout_ms,notnull"`
	Attempt     int        `bun:"attempt,notnull"`
	Runner      string     `bun:"runner,notnull"` // of the present attempt; empty while queued
	Nonce       string     `bun:"nonce,notnull"`
	Correlation string     `bun:"correlation,notnull"` // of the submission
}

// proposalRow reserves a job for one runner until the claim shows in queue_v1. It
// is no part of the log: without the row another runner may try to claim the job
// too, and one of the two is refused.
type proposalRow struct {
	bun.BaseModel `bun:"table:queue_proposals,alias:p"`

	JobID   string `bun:"job_id,pk"`
	Attempt int    `bun:"attempt,pk"`
	Runner  string `bun:"runner,notnull"`
	UntilMS int64  `bun:"until_ms,notnull"` // Unix time in milliseconds on the database's clock
}

// proposalLease is how long a job stays reserved for a runner. It is longer than a claim
// takes to reach queue_v1; a runner that crashes before its claim delays the job by as much.
const proposalLease = 10 * time.Second

// proposalLock serializes proposals on PostgreSQL (SQLite has one writer anyway).
const proposalLock = 0x7175657565 // "queue"

var queueRows = engine.TableOf("job_id", func(r *QueueRow) string { return r.JobID },
	engine.Index{Name: "queue_v1_account", Columns: "account, position"},
	engine.Index{Name: "queue_v1_status", Columns: "status"})

// Projection declares the table queue_v1 and its handlers.
func (*Queue) Projection() engine.Projection {
	p := engine.Projection{Name: "queue", Version: 1, Tables: []engine.Table{queueRows}}
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasQueued, r event.Recorded) error {
		known, err := queueRows.Row(ctx, tx, e.JobID)
		if err != nil || known != nil {
			return err
		}
		row := &QueueRow{
			JobID: e.JobID, Position: int64(r.Position.Commit), Revision: int64(r.Revision), Account: e.Account, Kind: e.Kind,
			Status: job.Queued, Concurrent: e.Concurrent, TimeoutMS: e.TimeoutMS, Correlation: r.Metadata.Correlation,
		}
		if e.SessionID != "" {
			row.Session = session.Stream(e.Account, e.SessionID)
		}
		queueRows.Upsert(tx, row)
		return nil
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasClaimed, r event.Recorded) error {
		return changeQueued(ctx, tx, e.JobID, r, func(row *QueueRow) {
			row.Status, row.Runner, row.Nonce, row.Attempt = job.Running, e.Runner, e.Nonce, e.Attempt
		})
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasReleased, r event.Recorded) error {
		return changeQueued(ctx, tx, e.JobID, r, func(row *QueueRow) { row.Status, row.Runner, row.Nonce = job.Queued, "", "" })
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e job.HasSucceeded, _ event.Recorded) error {
		return leaveQueue(tx, e.JobID)
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e job.HasFailed, _ event.Recorded) error {
		return leaveQueue(tx, e.JobID)
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e job.HasTimedOut, _ event.Recorded) error {
		return leaveQueue(tx, e.JobID)
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e job.WasCancelled, _ event.Recorded) error {
		return leaveQueue(tx, e.JobID)
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e job.WasLost, _ event.Recorded) error {
		return leaveQueue(tx, e.JobID)
	})
	return p
}

func changeQueued(ctx context.Context, tx *engine.Tx, jobID string, r event.Recorded, change func(*QueueRow)) error {
	row, err := queueRows.Row(ctx, tx, jobID)
	if err != nil || row == nil || row.Revision >= int64(r.Revision) {
		return err
	}
	change(row)
	row.Revision = int64(r.Revision)
	queueRows.Upsert(tx, row)
	return nil
}

func leaveQueue(tx *engine.Tx, jobID string) error {
	queueRows.Delete(tx, jobID)
	return nil
}

// CreateProposalsTable creates the table of proposals if it is missing.
func (q *Queue) CreateProposalsTable(ctx context.Context) error {
	return engine.CreateTables(ctx, q.from.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewCreateTable().Model((*proposalRow)(nil)).IfNotExists().Exec(ctx)
		return err
	})
}

// The order of the queue, as SQL in parts. held is what runs or is proposed to a
// runner; waiting is the rest, with each job's turn within its session; ranked
// gives what is eligible its load: how many jobs of its account run or are to
// run before it. The queue serves by load, then by age: the account that runs
// least first, then the job that has waited longest.
const (
	heldAndWaiting = `
WITH held AS (
	SELECT q.job_id, q.account, q.session FROM queue_v1 AS q
	LEFT JOIN queue_proposals AS p ON p.job_id = q.job_id AND p.attempt = q.attempt AND p.until_ms > %s
	WHERE q.status = 'running' OR p.job_id IS NOT NULL
), waiting AS (
	SELECT q.*, ROW_NUMBER() OVER (PARTITION BY q.session ORDER BY q.position) AS turn
	FROM queue_v1 AS q LEFT JOIN held AS h ON h.job_id = q.job_id WHERE h.job_id IS NULL
)`
	ranked = `, ranked AS (
	SELECT e.job_id, e.attempt, e.correlation, e.position, e.concurrent,
		COALESCE(b.running, 0) + ROW_NUMBER() OVER (PARTITION BY e.account ORDER BY e.position) - 1 AS load
	FROM %s AS e LEFT JOIN (SELECT account, COUNT(*) AS running FROM held GROUP BY account) AS b ON b.account = e.account
)`
	eligible = `, eligible AS (
	SELECT w.* FROM waiting AS w LEFT JOIN sessions_v1 AS s ON s.stream = w.session
	WHERE w.kind IN (?) AND (w.session = '' AND ? OR w.session <> '' AND w.turn = 1
		AND w.session NOT IN (SELECT session FROM held) AND (s.owner = ? OR s.owner IS NULL AND ?))
)`
)

// Claimant is a runner that asks for jobs.
type Claimant struct {
	Runner string
	Kinds  []job.Kind // kinds of job that the runner can run
	// OwnSessionsOnly: the runner is proposed jobs in sessions that it owns, and no others.
	OwnSessionsOnly bool
}

// Proposal is a job that a runner may claim. It is proposed to no other runner for proposalLease.
type Proposal struct {
	JobID       string `bun:"job_id"`
	Attempt     int    `bun:"attempt"`     // number of claims so far
	Correlation string `bun:"correlation"` // of the submission
}

// ProposeJobs reserves up to n jobs for a runner, in the order of the queue, within
// every account's limit of concurrent jobs, one at a time of a session, and jobs
// of a live session for its owner only. Without a proposal, again is the time until
// one that another runner has not claimed expires, which no event tells; 0: none will.
func (q *Queue) ProposeJobs(ctx context.Context, c Claimant, n int) (proposals []Proposal, again time.Duration, err error) {
	err = q.from.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if tx.Dialect().Name() == dialect.PG {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", proposalLock); err != nil {
				return err
			}
		}
		now := databaseClock(tx)
		if _, err := tx.NewDelete().Model((*proposalRow)(nil)).Where("until_ms <= ?", now).Exec(ctx); err != nil {
			return err
		}
		statement := fmt.Sprintf(heldAndWaiting, now) + eligible + fmt.Sprintf(ranked, "eligible") +
			" SELECT job_id, attempt, correlation FROM ranked WHERE load < concurrent ORDER BY load, position LIMIT ?"
		if err := tx.NewRaw(statement, bun.List(c.Kinds), !c.OwnSessionsOnly, c.Runner, !c.OwnSessionsOnly, n).Scan(ctx, &proposals); err != nil {
			return err
		}
		if len(proposals) == 0 {
			again, err = untilFirstExpiry(ctx, tx, now)
			return err
		}
		return insertProposals(ctx, tx, c.Runner, proposals)
	})
	return proposals, again, err
}

// untilFirstExpiry is the time until the first proposal of a job that is still
// queued expires; 0 without any.
func untilFirstExpiry(ctx context.Context, tx bun.Tx, now bun.Safe) (time.Duration, error) {
	var left sql.NullInt64
	err := tx.NewSelect().TableExpr("queue_proposals AS p").ColumnExpr("MIN(p.until_ms) - ?", now).
		Join("JOIN queue_v1 AS q ON q.job_id = p.job_id AND q.attempt = p.attempt AND q.status = ?", job.Queued).Scan(ctx, &left)
	if err != nil || !left.Valid {
		return 0, err
	}
	return time.Duration(left.Int64+1) * time.Millisecond, nil
}

func insertProposals(ctx context.Context, tx bun.Tx, runner string, proposals []Proposal) error {
	rows := make([]proposalRow, len(proposals))
	for i, p := range proposals {
		rows[i] = proposalRow{JobID: p.JobID, Attempt: p.Attempt, Runner: runner}
	}
	_, err := tx.NewInsert().Model(&rows).Value("until_ms", "? + ?", databaseClock(tx), proposalLease.Milliseconds()).Exec(ctx)
	return err
}

// databaseClock is the one clock of proposals: Unix time in milliseconds.
func databaseClock(db bun.IDB) bun.Safe {
	if db.Dialect().Name() == dialect.PG {
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
	}
	return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

// ExtendProposals extends by proposalLease the proposals of jobs that a runner has claimed
// and whose claims are not in queue_v1 yet.
func (q *Queue) ExtendProposals(ctx context.Context, runner string, jobIDs []string) error {
	_, err := q.from.db.NewUpdate().Model((*proposalRow)(nil)).Set("until_ms = ? + ?", databaseClock(q.from.db), proposalLease.Milliseconds()).
		Where("runner = ? AND job_id IN (?)", runner, bun.List(jobIDs)).Exec(ctx)
	return err
}

// Place returns the place of a queued job in the order of the queue over all accounts, from
// 1. A job that is not in queue_v1 yet is placed after all that are. Jobs that wait for the
// plan's limit of concurrent jobs are counted too.
func (q *Queue) Place(ctx context.Context, jobID string) (int, error) {
	statement := fmt.Sprintf(heldAndWaiting, databaseClock(q.from.db)) + fmt.Sprintf(ranked, "waiting") + `
SELECT CASE
	WHEN EXISTS (SELECT 1 FROM held WHERE job_id = ?0) THEN 1
	ELSE 1 + (SELECT COUNT(*) FROM ranked AS r LEFT JOIN ranked AS me ON me.job_id = ?0
		WHERE me.job_id IS NULL OR r.load < me.load OR r.load = me.load AND r.position < me.position)
END`
	var place int
	err := q.from.db.NewRaw(statement, jobID).Scan(ctx, &place)
	return place, err
}

// Snapshot returns the running jobs and the live sessions, and the position up to which both
// tables have applied the log. A subscription that starts there completes the snapshot.
func (q *Queue) Snapshot(ctx context.Context, sessions *Sessions) (running []QueueRow, live []SessionRow, seen event.Position, err error) {
	err = q.from.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if seen, err = engine.Checkpoint(ctx, tx, q.Projection()); err != nil {
			return err
		}
		ofSessions, err := engine.Checkpoint(ctx, tx, sessions.Projection())
		if err != nil {
			return err
		}
		if ofSessions.Less(seen) {
			seen = ofSessions
		}
		if err := tx.NewSelect().Model(&running).Where("status = ?", job.Running).Order("position").Scan(ctx); err != nil {
			return err
		}
		return tx.NewSelect().Model(&live).Order("stream").Scan(ctx)
	})
	return running, live, seen, err
}

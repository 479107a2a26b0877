package projections

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/internal/database"
	"reckon/projections/engine"
)

// Queue holds the jobs that have not ended and proposes them to runners. Which runner has a
// job is decided by the append of job.claimed.
type Queue struct {
	from  source
	order order // the table as this process last read it
}

// QueueRow is a job. That of a job that has ended stays, without its fields, so that processes which keep the queue in
// memory learn of the end.
type QueueRow struct {
	bun.BaseModel `bun:"table:queue_v4,alias:q"`

	JobID       string     `bun:"job_id,pk"`
	Position    int64      `bun:"position,notnull"` // of job.queued in the log: a job handed back keeps its age
	Revision    int64      `bun:"revision,notnull"` // of the last event applied
	Changed     int64      `bun:"changed,notnull"`  // position in the log of that event
	Account     string     `bun:"account,notnull"`
	Kind        job.Kind   `bun:"kind,notnull"`
	Session     string     `bun:"session,notnull"` // stream of the session that the job runs in; empty: no session
	Status      job.Status `bun:"status,notnull"`
	Concurrent  int        `bun:"concurrent,notnull"` // how many jobs of the account may run at once
	TimeoutMS   int64      `bun:"timeout_ms,notnull"`
	Attempt     int        `bun:"attempt,notnull"`
	Runner      string     `bun:"runner,notnull"` // of the present attempt; empty while queued
	Nonce       string     `bun:"nonce,notnull"`
	Correlation string     `bun:"correlation,notnull"`   // of the submission
	Cause       string     `bun:"cause,notnull"`         // id of the last event applied: a claim follows from the one that queued the job
	Traceparent string     `bun:"traceparent,notnull"`   // W3C trace context of the submission; empty: it had none
	NotBeforeMS int64      `bun:"not_before_ms,notnull"` // Unix time in milliseconds from which it may be proposed; 0: at once
}

// proposalRow reserves a job for one runner until the claim shows in queue_v4. It
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
// takes to reach queue_v4; a runner that crashes before its claim delays the job by as much.
const proposalLease = 10 * time.Second

var queueRows = engine.TableOf("job_id", func(r *QueueRow) string { return r.JobID },
	engine.Index{Name: "queue_v4_changed", Columns: "changed"},
	engine.Index{Name: "queue_v4_status", Columns: "status, position"})

// ended is the status of every job in queue_v4 that has ended.
const ended = "ended"

// Projection declares the table queue_v4 and its handlers.
func (*Queue) Projection() engine.Projection {
	p := engine.Projection{Name: "queue", Version: 4, Tables: []engine.Table{queueRows}}
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasQueued, r event.Recorded) error {
		known, err := queueRows.Row(ctx, tx, e.JobID)
		if err != nil || known != nil {
			return err
		}
		row := &QueueRow{
			JobID: e.JobID, Position: int64(r.Position.Commit), Revision: int64(r.Revision), Changed: int64(r.Position.Commit), Account: e.Account, Kind: e.Kind,
			Status: job.Queued, Concurrent: e.Concurrent, TimeoutMS: e.TimeoutMS, Correlation: r.Metadata.Correlation, Cause: r.ID, Traceparent: r.Metadata.Traceparent,
		}
		if e.SessionID != "" {
			row.Session = session.Stream(e.Account, e.SessionID)
		}
		queueRows.Upsert(tx, row)
		return nil
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasClaimed, r event.Recorded) error {
		return changeQueued(ctx, tx, e.JobID, r, func(row *QueueRow) {
			row.Status, row.Runner, row.Nonce, row.Attempt, row.NotBeforeMS = job.Running, e.Runner, e.Nonce, e.Attempt, 0
		})
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasReleased, r event.Recorded) error {
		return changeQueued(ctx, tx, e.JobID, r, func(row *QueueRow) {
			row.Status, row.Runner, row.Nonce = job.Queued, "", ""
			if again, err := event.ParseTimestamp(e.NotBefore); err == nil {
				row.NotBeforeMS = again.UnixMilli()
			}
		})
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.HasSucceeded, r event.Recorded) error {
		return leaveQueue(ctx, tx, e.JobID, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.HasFailed, r event.Recorded) error {
		return leaveQueue(ctx, tx, e.JobID, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.HasTimedOut, r event.Recorded) error {
		return leaveQueue(ctx, tx, e.JobID, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasCancelled, r event.Recorded) error {
		return leaveQueue(ctx, tx, e.JobID, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasLost, r event.Recorded) error {
		return leaveQueue(ctx, tx, e.JobID, r)
	})
	return p
}

func changeQueued(ctx context.Context, tx *engine.Tx, jobID string, r event.Recorded, change func(*QueueRow)) error {
	row, err := queueRows.Row(ctx, tx, jobID)
	if err != nil || row == nil || row.Revision >= int64(r.Revision) {
		return err
	}
	change(row)
	row.Revision, row.Changed, row.Cause = int64(r.Revision), int64(r.Position.Commit), r.ID
	queueRows.Upsert(tx, row)
	return nil
}

func leaveQueue(ctx context.Context, tx *engine.Tx, jobID string, r event.Recorded) error {
	return changeQueued(ctx, tx, jobID, r, func(row *QueueRow) { *row = QueueRow{JobID: row.JobID, Position: row.Position, Status: ended} })
}

// CreateProposalsTable creates the table of proposals if it is missing.
func (q *Queue) CreateProposalsTable(ctx context.Context) error {
	return engine.CreateTables(ctx, q.from.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewCreateTable().Model((*proposalRow)(nil)).IfNotExists().Exec(ctx)
		return err
	})
}

// Claimant is a runner that asks for jobs.
type Claimant struct {
	Runner string
	Kinds  []job.Kind // kinds of job that the runner can run
	// OwnSessionsOnly: the runner is proposed jobs in sessions that it owns, and no others.
	OwnSessionsOnly bool
	// Except are jobs in no session that the runner has no room for now, by id.
	Except map[string]bool
	// ReadyFor: only jobs that any runner could have claimed for as long, to the knowledge of this process.
	ReadyFor time.Duration
	// Budget is that of a job at most; 0: any.
	Budget time.Duration
	// ExceptAccounts are accounts of which the runner is proposed nothing.
	ExceptAccounts map[string]bool
}

// Proposal is a job that a runner may claim. It is proposed to no other runner for proposalLease.
type Proposal struct {
	JobID       string
	Account     string
	Kind        job.Kind
	Attempt     int    // number of claims so far
	Correlation string // of the submission
	Cause       string // id of the event that queued the job, or put it back into the queue
	Traceparent string // W3C trace context of the submission; empty: it had none
}

// ProposeJobs reserves up to n jobs for a runner, in the order of the queue, within
// every account's limit of concurrent jobs, one at a time of a session, jobs
// of a live session for its owner only, and one that could not be tried not before its pause is over. Without a proposal, again
// is the time until one that another runner has not claimed expires, the pause of a job is over or one may be ready for ReadyFor, which no event tells; 0: none will.
func (q *Queue) ProposeJobs(ctx context.Context, c Claimant, n int) (proposals []Proposal, again time.Duration, err error) {
	done, err := q.order.use(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	err = q.from.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if err := database.Lock(ctx, tx, "queue"); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*proposalRow)(nil)).Where("until_ms <= ?", databaseClock(tx)).Exec(ctx); err != nil {
			return err
		}
		now, err := databaseTime(ctx, tx)
		if err != nil {
			return err
		}
		expiry, err := q.refreshOrder(ctx, tx)
		if err != nil {
			return err
		}
		owners, err := sessionOwners(ctx, tx, slices.Sorted(maps.Keys(q.order.sessions)))
		if err != nil {
			return err
		}
		for _, j := range q.order.propose(c, n, owners, now) {
			proposals = append(proposals, Proposal{JobID: j.id, Account: j.account.name, Kind: j.kind, Attempt: j.attempt, Correlation: j.correlation, Cause: j.cause, Traceparent: j.traceparent})
		}
		if len(proposals) == 0 {
			again = expiry
			if ends := q.order.pauseEnds(now); again == 0 || ends > 0 && ends < again {
				again = ends
			}
			if c.ReadyFor > 0 && (again == 0 || c.ReadyFor < again) {
				again = c.ReadyFor
			}
			return nil
		}
		return insertProposals(ctx, tx, c.Runner, proposals)
	})
	if err != nil {
		return nil, 0, err
	}
	return proposals, again, nil
}

// refreshOrder brings the order up to date with the queue and the live proposals, and returns the time until the first of these
// that are about a waiting job expires, 0 without any. Who calls it uses the order.
func (q *Queue) refreshOrder(ctx context.Context, db bun.IDB) (expiry time.Duration, err error) {
	var live []liveProposal
	now := databaseClock(db)
	err = db.NewSelect().Model((*proposalRow)(nil)).Column("job_id", "attempt").ColumnExpr("until_ms - ? AS left_ms", now).Where("until_ms > ?", now).Scan(ctx, &live)
	if err != nil {
		return 0, err
	}
	if err := q.order.refresh(ctx, db); err != nil { // after the proposals: a claim that ended one is seen
		return 0, err
	}
	return q.order.reserve(live), nil
}

// ownersPerQuery bounds the sessions that one statement names.
const ownersPerQuery = 500

// sessionOwners returns the process that owns each of the sessions that are live.
func sessionOwners(ctx context.Context, db bun.IDB, streams []string) (map[string]string, error) {
	owners := map[string]string{}
	for part := range slices.Chunk(streams, ownersPerQuery) {
		var live []SessionRow
		if err := db.NewSelect().Model(&live).Column("stream", "owner").Where("stream IN (?)", bun.List(part)).Scan(ctx); err != nil {
			return nil, err
		}
		for _, s := range live {
			owners[s.Stream] = s.Owner
		}
	}
	return owners, nil
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

// databaseTime is that clock's time.
func databaseTime(ctx context.Context, db bun.IDB) (unixMS int64, err error) {
	err = db.NewSelect().ColumnExpr("?", databaseClock(db)).Scan(ctx, &unixMS)
	return unixMS, err
}

// ExtendProposals extends by proposalLease the proposals of jobs that a runner has claimed
// and whose claims are not in queue_v4 yet.
func (q *Queue) ExtendProposals(ctx context.Context, runner string, jobIDs []string) error {
	_, err := q.from.db.NewUpdate().Model((*proposalRow)(nil)).Set("until_ms = ? + ?", databaseClock(q.from.db), proposalLease.Milliseconds()).
		Where("runner = ? AND job_id IN (?)", runner, bun.List(jobIDs)).Exec(ctx)
	return err
}

// WithdrawProposals ends the proposals of jobs that a runner does not claim: any runner may have them now.
func (q *Queue) WithdrawProposals(ctx context.Context, runner string, jobIDs []string) error {
	_, err := q.from.db.NewDelete().Model((*proposalRow)(nil)).Where("runner = ? AND job_id IN (?)", runner, bun.List(jobIDs)).Exec(ctx)
	return err
}

// Place returns the place of a queued job in the order of the queue over all accounts, from
// 1; known is false for a job that is not in queue_v4 yet, or has left the queue. Jobs that wait for the
// plan's limit of concurrent jobs are counted too.
func (q *Queue) Place(ctx context.Context, jobID string) (place int, known bool, err error) {
	done, err := q.order.use(ctx)
	if err != nil {
		return 0, false, err
	}
	defer done()
	if _, err := q.refreshOrder(ctx, q.from.db); err != nil {
		return 0, false, err
	}
	place, known = q.order.place(jobID)
	return place, known, nil
}

// QueueCount is how many jobs of a kind have a status.
type QueueCount struct {
	Kind   job.Kind
	Status job.Status
	Jobs   int64
}

// Counts returns how many jobs of each kind wait and run, and the id of the oldest that waits; empty: none does.
func (q *Queue) Counts(ctx context.Context) (counts []QueueCount, oldest string, err error) {
	open := []job.Status{job.Queued, job.Running}
	err = q.from.db.NewSelect().Model((*QueueRow)(nil)).Column("kind", "status").ColumnExpr("COUNT(*) AS jobs").
		Where("status IN (?)", bun.List(open)).Group("kind", "status").Order("kind", "status").Scan(ctx, &counts)
	if err != nil {
		return nil, "", err
	}
	var first []string
	err = q.from.db.NewSelect().Model((*QueueRow)(nil)).Column("job_id").Where("status = ?", job.Queued).Order("position").Limit(1).Scan(ctx, &first)
	if err != nil || len(first) == 0 {
		return counts, "", err
	}
	return counts, first[0], nil
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

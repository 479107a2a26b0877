package projections

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/projections/engine"
)

// PreviewBytes is the most bytes of a job's preview that its row holds.
const PreviewBytes = 200

// Jobs lists all jobs of an account. The result of a job is in the job's stream.
type Jobs struct{ from source }

// JobRow is a job as lists show it.
type JobRow struct {
	bun.BaseModel `bun:"table:jobs_v3,alias:j"`

	JobID         string     `bun:"job_id,pk"`
	Position      int64      `bun:"position,notnull"` // of job.queued in the log: what "newest" means
	Revision      int64      `bun:"revision,notnull"` // of the last event applied; events up to it are skipped
	Account       string     `bun:"account,notnull"`
	Kind          job.Kind   `bun:"kind,notnull"`
	Status        job.Status `bun:"status,notnull"`
	SessionID     string     `bun:"session_id,nullzero"`
	RunID         int64      `bun:"run_id,nullzero"`           // evaluate: fixed at submission, written once the job has run
	CertificateID string     `bun:"certificate_id,nullzero"`   // proof: likewise
	Preview       Text       `bun:"preview,type:text,notnull"` // at most PreviewBytes of what was submitted
	Verdict       string     `bun:"verdict,nullzero"`          // of the check that its run or certificate was published with
	TimeoutMS     int64      `bun:"timeout_ms,notnull"`
	Attempt       int        `bun:"attempt,notnull"` // claims so far
	Error         Text       `bun:"error,type:text,notnull"`
	Published     bool       `bun:"published,notnull"` // the job ended with a run or a certificate
	CreatedMS     int64      `bun:"created_ms,notnull"`
	StartedMS     int64      `bun:"started_ms,nullzero"`  // of the latest attempt
	FinishedMS    int64      `bun:"finished_ms,nullzero"` // Unix times in milliseconds
}

// CreatedAt returns when the job was queued, UTC.
func (r JobRow) CreatedAt() time.Time { return time.UnixMilli(r.CreatedMS).UTC() }

// StartedAt returns when the latest attempt began, UTC; the zero time before the first.
func (r JobRow) StartedAt() time.Time { return timeFromMillis(r.StartedMS) }

// FinishedAt returns when the job ended, UTC; the zero time while it has not.
func (r JobRow) FinishedAt() time.Time { return timeFromMillis(r.FinishedMS) }

func timeFromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

var jobRows = engine.TableOf("job_id", func(r *JobRow) string { return r.JobID },
	engine.Index{Name: "jobs_v3_newest", Columns: "account, position DESC"},
	engine.Index{Name: "jobs_v3_status", Columns: "account, status, position DESC"},
	engine.Index{Name: "jobs_v3_kind", Columns: "account, kind, status, position DESC"}) // by kind alone: one branch for each status

// Projection declares the table jobs_v3 and its handlers.
func (*Jobs) Projection() engine.Projection {
	p := engine.Projection{Name: "jobs", Version: 3, Tables: []engine.Table{jobRows}}
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasQueued, r event.Recorded) error {
		known, err := jobRows.Row(ctx, tx, e.JobID)
		if err != nil || known != nil {
			return err
		}
		jobRows.Upsert(tx, &JobRow{
			JobID: e.JobID, Position: int64(r.Position.Commit), Revision: int64(r.Revision), Account: e.Account, Kind: e.Kind, Status: job.Queued,
			Preview: Text(beginning(e.Preview(), PreviewBytes)), SessionID: e.SessionID, RunID: e.RunID, CertificateID: e.CertificateID, TimeoutMS: e.TimeoutMS, CreatedMS: eventMillis(e.SubmittedAt, r),
		})
		return nil
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasClaimed, r event.Recorded) error {
		return changeJob(ctx, tx, e.JobID, r, func(row *JobRow) {
			row.Status, row.Attempt, row.StartedMS = job.Running, e.Attempt, eventMillis(e.StartedAt, r)
		})
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasReleased, r event.Recorded) error {
		return changeJob(ctx, tx, e.JobID, r, func(row *JobRow) { row.Status, row.StartedMS = job.Queued, 0 })
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.HasSucceeded, r event.Recorded) error {
		return endJob(ctx, tx, job.Succeeded, e.Outcome, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.HasFailed, r event.Recorded) error {
		return endJob(ctx, tx, job.Failed, e.Outcome, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.HasTimedOut, r event.Recorded) error {
		return endJob(ctx, tx, job.TimedOut, e.Outcome, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasCancelled, r event.Recorded) error {
		return endJob(ctx, tx, job.Cancelled, job.Outcome{JobID: e.JobID, FinishedAt: e.FinishedAt}, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e job.WasLost, r event.Recorded) error {
		return endJob(ctx, tx, job.Lost, job.Outcome{JobID: e.JobID, Error: e.Why.Words(e.Lacked), FinishedAt: e.FinishedAt}, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e run.Evaluated, _ event.Recorded) error {
		if e.JobID == "" || e.Check == nil {
			return nil
		}
		return judgeJob(ctx, tx, e.JobID, string(e.Check.Verdict))
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e certificate.Issued, _ event.Recorded) error {
		return judgeJob(ctx, tx, e.JobID, string(e.Verdict))
	})
	return p
}

// judgeJob writes the verdict that a job's run or certificate was published with.
func judgeJob(ctx context.Context, tx *engine.Tx, jobID, verdict string) error {
	row, err := jobRows.Row(ctx, tx, jobID)
	if err != nil || row == nil {
		return err
	}
	row.Verdict = verdict
	jobRows.Upsert(tx, row)
	return nil
}

// changeJob applies an event to its job's row, unless the row has that revision already.
func changeJob(ctx context.Context, tx *engine.Tx, jobID string, r event.Recorded, change func(*JobRow)) error {
	row, err := jobRows.Row(ctx, tx, jobID)
	if err != nil || row == nil || row.Revision >= int64(r.Revision) {
		return err
	}
	change(row)
	row.Revision = int64(r.Revision)
	jobRows.Upsert(tx, row)
	return nil
}

func endJob(ctx context.Context, tx *engine.Tx, status job.Status, o job.Outcome, r event.Recorded) error {
	return changeJob(ctx, tx, o.JobID, r, func(row *JobRow) {
		row.Status, row.Error, row.Published, row.FinishedMS = status, Text(o.Error), o.PublishTo != "", eventMillis(o.FinishedAt, r)
	})
}

// eventMillis returns the time at in Unix milliseconds, as GET of the job shows it. For an
// event without that time it returns the time of the metadata.
func eventMillis(at string, r event.Recorded) int64 {
	t, err := event.ParseTimestamp(at)
	if err != nil {
		t = r.Metadata.At
	}
	return t.UnixMilli()
}

// JobsQuery asks for a page of an account's jobs, newest first.
type JobsQuery struct {
	Page
	Status job.Status // empty: any
	Kind   job.Kind   // empty: any; no job is of a kind that nobody declared
}

// List answers a query; next is empty on the last page. A bad parameter is a *QueryError.
func (j *Jobs) List(ctx context.Context, account string, q JobsQuery) (rows []JobRow, next string, err error) {
	statuses, err := valuesOf("status", q.Status, job.Statuses())
	if err != nil {
		return nil, "", err
	}
	before, err := q.before()
	if err != nil {
		return nil, "", err
	}
	branches := []branch{{"account = ?", []any{account}}}
	switch {
	case q.Kind != "":
		branches = nil
		for _, status := range statuses {
			branches = append(branches, branch{"account = ? AND kind = ? AND status = ?", []any{account, q.Kind, status}})
		}
	case q.Status != "":
		branches = []branch{{"account = ? AND status = ?", []any{account, q.Status}}}
	}
	positions, err := mergedPositions(ctx, j.from.db, "jobs_v3", branches, branch{"position < ?", []any{before}}, q.Limit+1, 0)
	if err != nil {
		return nil, "", err
	}
	if len(positions) > q.Limit {
		positions = positions[:q.Limit]
		next = cursor(positions[q.Limit-1])
	}
	rows, err = rowsAt(ctx, j.from.db, account, positions, func(r JobRow) int64 { return r.Position })
	return rows, next, err
}

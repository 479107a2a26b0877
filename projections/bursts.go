package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/burst"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/projections/engine"
)

// What of the past selects the bursts of a list. A burst that it selects is shown whole.
const (
	BurstDays       = 7
	BurstActivities = 5000
)

// Bursts are the bursts of every account, and their activities.
type Bursts struct{ from source }

// activityRow is an activity (domain/burst).
type activityRow struct {
	bun.BaseModel `bun:"table:burst_activities_v1,alias:a"`

	ID       string       `bun:"id,pk"`            // burst.Activity.Key
	Position int64        `bun:"position,notnull"` // in the log
	AtMS     int64        `bun:"at_ms,notnull"`
	AgentID  string       `bun:"agent_id,notnull"`
	Account  string       `bun:"account,notnull"`
	Source   event.Source `bun:"source,notnull"`
	Client   Text         `bun:"client,type:text,notnull"`

	Type          burst.Type    `bun:"type,notnull"`
	RunID         int64         `bun:"run_id,nullzero"`
	JobID         string        `bun:"job_id,nullzero"`
	CertificateID string        `bun:"certificate_id,nullzero"`
	Label         Text          `bun:"label,type:text,notnull"`
	Status        burst.Status  `bun:"status,notnull"`
	DurationMS    int64         `bun:"duration_ms,notnull"`
	Verdict       burst.Verdict `bun:"verdict,notnull"`
	Failed        bool          `bun:"failed,notnull"`
}

// burstRow is a burst. Its key is that of the bucket that stands for its tree (see bucketRow), which stays
// while the burst's first activity and with it the burst's id may change.
type burstRow struct {
	bun.BaseModel `bun:"table:bursts_v1,alias:b"`

	ID      string       `bun:"id,pk"`
	BurstID string       `bun:"burst_id,notnull"`
	AgentID string       `bun:"agent_id,notnull"`
	Account string       `bun:"account,notnull"`
	Source  event.Source `bun:"source,notnull"`
	Client  Text         `bun:"client,type:text,notnull"`

	StartedMS     int64  `bun:"started_ms,notnull"`
	StartPosition int64  `bun:"start_position,notnull"`
	EndedMS       int64  `bun:"ended_ms,notnull"`
	EndPosition   int64  `bun:"end_position,notnull"`
	FirstKey      string `bun:"first_key,notnull"`
	Preview       Text   `bun:"preview,type:text,notnull"`

	Activities  int64 `bun:"activities,notnull"`
	Evaluations int64 `bun:"evaluations,notnull"`
	Jobs        int64 `bun:"jobs,notnull"`
	Checks      int64 `bun:"checks,notnull"`
	Failures    int64 `bun:"failures,notnull"`
	Verified    int64 `bun:"verified,notnull"`
	Refuted     int64 `bun:"refuted,notnull"`

	FirstRun         int64 `bun:"first_run,notnull"`
	FirstRunMS       int64 `bun:"first_run_ms,notnull"`
	FirstRunPosition int64 `bun:"first_run_position,notnull"`
	LastRun          int64 `bun:"last_run,notnull"`
	LastRunMS        int64 `bun:"last_run_ms,notnull"`
	LastRunPosition  int64 `bun:"last_run_position,notnull"`
}

// bucketRow is a stretch of an agent's time as long as the gap: [Bucket·gap, (Bucket+1)·gap). The activities in one are of one
// burst, and those of two that are not neighbours never follow each other within the gap, so that a burst is a chain of
// neighbours. The buckets of a chain are a tree (union-find, by size, with its paths halved: Tarjan and van Leeuwen, 1984):
// an activity finds its burst, and one between two bursts joins them, in a few rows, however long the bursts are.
type bucketRow struct {
	bun.BaseModel `bun:"table:burst_buckets_v1,alias:k"`

	ID      string `bun:"id,pk"` // agent, a slash and the bucket
	AgentID string `bun:"agent_id,notnull"`
	Bucket  int64  `bun:"bucket,notnull"`
	FirstMS int64  `bun:"first_ms,notnull"`
	LastMS  int64  `bun:"last_ms,notnull"`
	Parent  int64  `bun:"parent,notnull"` // bucket; its own: it stands for the tree
	Size    int64  `bun:"size,notnull"`   // buckets of the tree that it stands for
}

var (
	activityRows = engine.TableOf("id", func(r *activityRow) string { return r.ID },
		engine.Index{Name: "burst_activities_v1_newest", Columns: "account, at_ms DESC"},
		engine.Index{Name: "burst_activities_v1_agent", Columns: "agent_id, at_ms, position"})
	bucketRows = engine.TableOf("id", func(r *bucketRow) string { return r.ID })
	burstRows  = engine.TableOf("id", func(r *burstRow) string { return r.ID },
		engine.Index{Name: "bursts_v1_newest", Columns: "account, ended_ms DESC, end_position DESC"},
		engine.Index{Name: "bursts_v1_agent", Columns: "agent_id, started_ms DESC"},
		engine.Index{Name: "bursts_v1_burst", Columns: "burst_id"})
)

// Projection declares the tables burst_activities_v1, burst_buckets_v1 and bursts_v1 and their handlers.
func (*Bursts) Projection() engine.Projection {
	p := engine.Projection{Name: "bursts", Version: 1, Tables: []engine.Table{activityRows, bucketRows, burstRows}}
	onActivity[run.Evaluated](&p)
	onActivity[run.TimedOut](&p)
	onActivity[run.Failed](&p)
	onActivity[run.Verified](&p)
	onActivity[job.WasQueued](&p)
	onActivity[job.HasSucceeded](&p)
	onActivity[job.HasFailed](&p)
	onActivity[job.HasTimedOut](&p)
	onActivity[job.WasCancelled](&p)
	onActivity[job.WasLost](&p)
	onActivity[certificate.Issued](&p)
	return p
}

// onActivity adds the handler of an event that burst.Read knows.
func onActivity[E event.Event](p *engine.Projection) {
	engine.On(p, func(ctx context.Context, tx *engine.Tx, e E, r event.Recorded) error {
		var submitted *burst.Activity
		if jobID := burst.JobOf(e); jobID != "" {
			row, err := activityRows.Row(ctx, tx, burst.JobKey(jobID))
			if err != nil {
				return err
			}
			if row != nil {
				known := row.activity()
				submitted = &known
			}
		}
		a, ok := burst.Read(r, submitted)
		if !ok {
			return nil
		}
		return addActivity(ctx, tx, a)
	})
}

// addActivity writes an activity that is new, and its burst.
func addActivity(ctx context.Context, tx *engine.Tx, a burst.Activity) error {
	known, err := activityRows.Row(ctx, tx, a.Key)
	if err != nil || known != nil {
		return err
	}
	activityRows.Upsert(tx, newActivityRow(a))
	number := bucketOf(a.AtMS)
	bucket, err := bucketRows.Row(ctx, tx, bucketID(a.AgentID, number))
	if err != nil {
		return err
	}
	earliest, latest := true, true
	if bucket == nil {
		bucket = &bucketRow{ID: bucketID(a.AgentID, number), AgentID: a.AgentID, Bucket: number, FirstMS: a.AtMS, LastMS: a.AtMS, Parent: number, Size: 1}
	} else {
		earliest, latest = a.AtMS < bucket.FirstMS, a.AtMS > bucket.LastMS
		bucket.FirstMS, bucket.LastMS = min(bucket.FirstMS, a.AtMS), max(bucket.LastMS, a.AtMS)
	}
	bucketRows.Upsert(tx, bucket)
	joined := burst.Of(a)
	root, err := rootOf(ctx, tx, a.AgentID, number)
	if err != nil {
		return err
	}
	if joined, err = joinBurst(ctx, tx, root.ID, joined); err != nil {
		return err
	}
	if earliest {
		if root, joined, err = joinNeighbour(ctx, tx, root, joined, a, number-1); err != nil {
			return err
		}
	}
	if latest {
		if root, joined, err = joinNeighbour(ctx, tx, root, joined, a, number+1); err != nil {
			return err
		}
	}
	burstRows.Upsert(tx, newBurstRow(root.ID, joined))
	return nil
}

// joinNeighbour joins the tree of root, whose burst is joined, with that of a neighbouring bucket, if a's own is within the gap of it.
func joinNeighbour(ctx context.Context, tx *engine.Tx, root *bucketRow, joined burst.Burst, a burst.Activity, neighbour int64) (*bucketRow, burst.Burst, error) {
	beside, err := bucketRows.Row(ctx, tx, bucketID(a.AgentID, neighbour))
	if err != nil || beside == nil || a.AtMS-beside.LastMS > burst.GapMS || beside.FirstMS-a.AtMS > burst.GapMS {
		return root, joined, err
	}
	other, err := rootOf(ctx, tx, a.AgentID, neighbour)
	if err != nil || other.ID == root.ID {
		return root, joined, err
	}
	if joined, err = joinBurst(ctx, tx, other.ID, joined); err != nil {
		return root, joined, err
	}
	if root.Size < other.Size {
		root, other = other, root
	}
	root.Size += other.Size
	other.Parent = root.Bucket
	bucketRows.Upsert(tx, root)
	bucketRows.Upsert(tx, other)
	burstRows.Delete(tx, other.ID)
	return root, joined, nil
}

// joinBurst is b with the burst in the row of this key, if there is one.
func joinBurst(ctx context.Context, tx *engine.Tx, id string, b burst.Burst) (burst.Burst, error) {
	row, err := burstRows.Row(ctx, tx, id)
	if err != nil || row == nil {
		return b, err
	}
	return row.burst().Join(b), nil
}

// rootOf is the bucket that stands for the tree of an agent's bucket, which exists. It halves the path.
func rootOf(ctx context.Context, tx *engine.Tx, agentID string, number int64) (*bucketRow, error) {
	row, err := bucketAt(ctx, tx, agentID, number)
	for err == nil && row.Parent != row.Bucket {
		var parent *bucketRow
		if parent, err = bucketAt(ctx, tx, agentID, row.Parent); err != nil {
			break
		}
		if parent.Parent == parent.Bucket {
			return parent, nil
		}
		row.Parent = parent.Parent
		bucketRows.Upsert(tx, row)
		row, err = bucketAt(ctx, tx, agentID, row.Parent)
	}
	return row, err
}

// bucketAt is a bucket that a row of the table names.
func bucketAt(ctx context.Context, tx *engine.Tx, agentID string, number int64) (*bucketRow, error) {
	row, err := bucketRows.Row(ctx, tx, bucketID(agentID, number))
	if err == nil && row == nil {
		err = fmt.Errorf("bursts: agent %s has no bucket %d, which another one names", agentID, number)
	}
	return row, err
}

// bucketOf is the bucket of a time.
func bucketOf(atMS int64) int64 {
	bucket := atMS / burst.GapMS
	if atMS%burst.GapMS < 0 {
		bucket--
	}
	return bucket
}

func bucketID(agentID string, bucket int64) string {
	return agentID + "/" + strconv.FormatInt(bucket, 10)
}

func newActivityRow(a burst.Activity) *activityRow {
	return &activityRow{
		ID: a.Key, Position: a.Position, AtMS: a.AtMS, AgentID: a.AgentID, Account: a.Account, Source: a.Source, Client: Text(a.Client),
		Type: a.Type, RunID: a.RunID, JobID: a.JobID, CertificateID: a.CertificateID, Label: Text(a.Label), Status: a.Status,
		DurationMS: a.DurationMS, Verdict: a.Verdict, Failed: a.Failed,
	}
}

func (r activityRow) activity() burst.Activity {
	return burst.Activity{
		Key: r.ID, Position: r.Position, AtMS: r.AtMS, AgentID: r.AgentID, Account: r.Account, Source: r.Source, Client: string(r.Client),
		Type: r.Type, RunID: r.RunID, JobID: r.JobID, CertificateID: r.CertificateID, Label: string(r.Label), Status: r.Status,
		DurationMS: r.DurationMS, Verdict: r.Verdict, Failed: r.Failed,
	}
}

func newBurstRow(id string, b burst.Burst) *burstRow {
	return &burstRow{
		ID: id, BurstID: b.ID(), AgentID: b.AgentID, Account: b.Account, Source: b.Source, Client: Text(b.Client),
		StartedMS: b.First.AtMS, StartPosition: b.First.Position, EndedMS: b.Last.AtMS, EndPosition: b.Last.Position, FirstKey: b.FirstKey, Preview: Text(b.Preview),
		Activities: b.Activities, Evaluations: b.Evaluations, Jobs: b.Jobs, Checks: b.Checks, Failures: b.Failures, Verified: b.Verified, Refuted: b.Refuted,
		FirstRun: b.FirstRun, FirstRunMS: b.FirstRunAt.AtMS, FirstRunPosition: b.FirstRunAt.Position,
		LastRun: b.LastRun, LastRunMS: b.LastRunAt.AtMS, LastRunPosition: b.LastRunAt.Position,
	}
}

func (r burstRow) burst() burst.Burst {
	return burst.Burst{
		AgentID: r.AgentID, Account: r.Account, Source: r.Source, Client: string(r.Client),
		First: burst.Place{AtMS: r.StartedMS, Position: r.StartPosition}, Last: burst.Place{AtMS: r.EndedMS, Position: r.EndPosition}, FirstKey: r.FirstKey, Preview: string(r.Preview),
		Activities: r.Activities, Evaluations: r.Evaluations, Jobs: r.Jobs, Checks: r.Checks, Failures: r.Failures, Verified: r.Verified, Refuted: r.Refuted,
		FirstRun: r.FirstRun, FirstRunAt: burst.Place{AtMS: r.FirstRunMS, Position: r.FirstRunPosition},
		LastRun: r.LastRun, LastRunAt: burst.Place{AtMS: r.LastRunMS, Position: r.LastRunPosition},
	}
}

// BurstPage is a page of the bursts that the window selects.
type BurstPage struct {
	Bursts    []burst.Burst // the one with the latest activity first
	Next      string        // cursor of the next page; empty on the last
	Since     time.Time     // beginning of the window
	Scanned   int           // activities in it
	Truncated bool          // it begins later than BurstDays ago, because BurstActivities were found
}

// List returns a page of an account's recent bursts: those with an activity among the newest BurstActivities of the BurstDays
// before now. A bad parameter is a *QueryError.
func (m *Bursts) List(ctx context.Context, account string, now time.Time, p Page) (page BurstPage, err error) {
	if err := validLimit(p.Limit); err != nil {
		return page, err
	}
	before, err := parsePlace("before", p.Before, burst.Place{AtMS: math.MaxInt64, Position: math.MaxInt64})
	if err != nil {
		return page, err
	}
	since := now.Add(-BurstDays * 24 * time.Hour).UnixMilli()
	if since, err = m.window(ctx, account, since, &page); err != nil {
		return page, err
	}
	page.Since = time.UnixMilli(since).UTC()
	var rows []burstRow
	err = m.from.db.NewSelect().Model(&rows).Where("account = ? AND ended_ms >= ?", account, since).
		Where("(ended_ms, end_position) < (?, ?)", before.AtMS, before.Position).
		OrderExpr("ended_ms DESC, end_position DESC").Limit(int64(p.Limit) + 1).Scan(ctx)
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		last := rows[p.Limit-1].burst().Last
		page.Next = placeCursor(last)
	}
	page.Bursts = make([]burst.Burst, len(rows))
	for i, row := range rows {
		page.Bursts[i] = row.burst()
	}
	return page, err
}

// window counts the activities since a time, at most BurstActivities of them, and returns the time of the earliest it counted when
// there are more.
func (m *Bursts) window(ctx context.Context, account string, since int64, page *BurstPage) (int64, error) {
	const newest = " FROM burst_activities_v1 WHERE account = ? AND at_ms >= ? ORDER BY at_ms DESC LIMIT ?"
	var last []int64 // the earliest that is counted, and the one before it
	if err := m.from.db.NewRaw("SELECT at_ms"+newest+" OFFSET ?", account, since, 2, BurstActivities-1).Scan(ctx, &last); err != nil {
		return since, err
	}
	if len(last) == 2 {
		page.Scanned, page.Truncated = BurstActivities, true
		return last[0], nil
	}
	return since, m.from.db.NewRaw("SELECT COUNT(*) FROM (SELECT 1"+newest+") AS scanned", account, since, BurstActivities).Scan(ctx, &page.Scanned)
}

// BurstTimeline is a part of a burst's activities.
type BurstTimeline struct {
	burst.Burst
	Activities []burst.Activity
	Previous   int64  // time of the activity before the first of the part, Unix milliseconds; that of the first in the first part
	Next       string // cursor of the next part; empty on the last
}

// Timeline returns a part of an account's burst, its activities in order. after is a cursor that it returned, empty for the first
// part. ok is false when the account has no burst of this id. A bad parameter is a *QueryError.
func (m *Bursts) Timeline(ctx context.Context, account, burstID string, limit int, after string) (part BurstTimeline, ok bool, err error) {
	if err := validLimit(limit); err != nil {
		return part, false, err
	}
	from, err := parsePlace("after", after, burst.Place{AtMS: -math.MaxInt64})
	if err != nil {
		return part, false, err
	}
	var row burstRow
	err = m.from.db.NewSelect().Model(&row).Where("burst_id = ? AND account = ?", burstID, account).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return part, false, nil
	}
	if err != nil {
		return part, false, err
	}
	var rows []activityRow
	err = m.from.db.NewSelect().Model(&rows).Where("agent_id = ? AND at_ms BETWEEN ? AND ?", row.AgentID, row.StartedMS, row.EndedMS).
		Where("(at_ms, position) > (?, ?)", from.AtMS, from.Position).OrderExpr("at_ms, position").Limit(int64(limit) + 1).Scan(ctx)
	if err != nil {
		return part, false, err
	}
	if part.Burst = row.burst(); after == "" {
		from.AtMS = part.First.AtMS
	}
	part.Previous = from.AtMS
	if len(rows) > limit {
		rows = rows[:limit]
		part.Next = placeCursor(burst.Place{AtMS: rows[limit-1].AtMS, Position: rows[limit-1].Position})
	}
	part.Activities = make([]burst.Activity, len(rows))
	for i, r := range rows {
		part.Activities[i] = r.activity()
	}
	return part, true, nil
}

// OfRun returns the id of the burst in which a run of the account ended, empty where there is none.
func (m *Bursts) OfRun(ctx context.Context, account string, runID int64) (burstID string, err error) {
	return m.of(ctx, account, burst.RunKey(runID))
}

// OfJob returns the id of the burst in which a job of the account was submitted, empty where there is none.
func (m *Bursts) OfJob(ctx context.Context, account, jobID string) (burstID string, err error) {
	return m.of(ctx, account, burst.JobKey(jobID))
}

// of returns the id of an activity's burst. The bursts of an agent do not overlap: it is the last one that begins no later.
func (m *Bursts) of(ctx context.Context, account, key string) (burstID string, err error) {
	// A join would be sorted, with all of the agent's earlier bursts in it.
	err = m.from.db.NewRaw("SELECT COALESCE((SELECT burst_id FROM bursts_v1 WHERE agent_id = a.agent_id AND started_ms <= a.at_ms ORDER BY started_ms DESC LIMIT 1), '') "+
		"FROM burst_activities_v1 a WHERE a.id = ? AND a.account = ?", key, account).Scan(ctx, &burstID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return burstID, err
}

// placeCursor is the cursor of what comes after a place.
func placeCursor(p burst.Place) string {
	return strconv.FormatInt(p.AtMS, 10) + "." + strconv.FormatInt(p.Position, 10)
}

// parsePlace returns the place that a cursor names, or first for none. Its error is a *QueryError.
func parsePlace(parameter, cursor string, first burst.Place) (p burst.Place, err error) {
	if cursor == "" {
		return first, nil
	}
	at, position, _ := strings.Cut(cursor, ".")
	p.AtMS, err = strconv.ParseInt(at, 10, 64)
	if err == nil {
		p.Position, err = strconv.ParseInt(position, 10, 64)
	}
	if err != nil || p.Position < 0 {
		return p, &QueryError{parameter, "is not a next_" + parameter + " of this list"}
	}
	return p, nil
}

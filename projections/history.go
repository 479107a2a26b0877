package projections

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections/engine"
)

// History is the log of evaluations, one row a run.
type History struct{ from source }

// HistoryRow is a run as history shows it (API: interface §2.11, §4.2).
type HistoryRow struct {
	bun.BaseModel `bun:"table:history_v1,alias:h"`

	RunID       int64        `bun:"run_id,pk"`
	Position    int64        `bun:"position,notnull"` // in the log: what "newest" means
	Account     string       `bun:"account,notnull"`
	Expression  Text         `bun:"expression,type:text,notnull"`
	Result      Text         `bun:"result,type:text,notnull"`
	Status      run.Status   `bun:"status,notnull"`
	Source      event.Source `bun:"source,notnull"`
	SessionID   string       `bun:"session_id,nullzero"`
	JobID       string       `bun:"job_id,nullzero"`
	Agent       Text         `bun:"agent,type:text,notnull"`
	ExecutionMS int64        `bun:"execution_time_ms,notnull"`
	CreatedMS   int64        `bun:"created_ms,notnull"` // Unix time in milliseconds, from the event's metadata
	Warnings    []string     `bun:"warnings,type:text,nullzero"`
	HasPlot     bool         `bun:"has_plot,notnull"`
	HasReceipt  bool         `bun:"has_receipt,notnull"`

	Verdict   run.Verdict            `bun:"verdict,nullzero"` // of the best check so far; empty: none is stored
	Basis     run.Basis              `bun:"basis,nullzero"`
	Method    string                 `bun:"method,nullzero"`
	Reason    run.InconclusiveReason `bun:"reason,nullzero"`
	Automatic bool                   `bun:"automatic,notnull"` // that check ran unasked

	CertificateID      string              `bun:"certificate_id,nullzero"`
	CertificateVerdict certificate.Verdict `bun:"certificate_verdict,nullzero"`
}

// CreatedAt returns the time of the run, UTC.
func (r HistoryRow) CreatedAt() time.Time { return time.UnixMilli(r.CreatedMS).UTC() }

var historyRows = engine.TableOf("run_id", func(r *HistoryRow) int64 { return r.RunID },
	engine.Index{Name: "history_v1_newest", Columns: "account, position DESC"})

// Projection declares the table history_v1 and its handlers.
func (h *History) Projection() engine.Projection {
	p := engine.Projection{Name: "history", Version: 1, Tables: []engine.Table{historyRows}}
	engine.On(&p, h.evaluated)
	engine.On(&p, h.timedOut)
	engine.On(&p, h.failed)
	engine.On(&p, h.verified)
	engine.On(&p, h.certified)
	return p
}

func (h *History) evaluated(ctx context.Context, tx *engine.Tx, e run.Evaluated, r event.Recorded) error {
	row, err := h.newRow(ctx, e.Subject, r)
	if err != nil {
		return err
	}
	answer, err := e.Answer.Load(ctx, h.from.blobs)
	if err != nil {
		return err
	}
	row.Result = Text(answer)
	row.Status, row.ExecutionMS, row.Warnings = e.Status, e.ExecutionMS, e.Warnings
	row.HasPlot, row.HasReceipt = e.Plot != nil, true
	if e.Check != nil {
		row.setCheck(*e.Check)
	}
	historyRows.Upsert(tx, row)
	return nil
}

func (h *History) timedOut(ctx context.Context, tx *engine.Tx, e run.TimedOut, r event.Recorded) error {
	row, err := h.newRow(ctx, e.Subject, r)
	if err != nil {
		return err
	}
	row.Status, row.ExecutionMS = run.Timeout, e.BudgetMS
	historyRows.Upsert(tx, row)
	return nil
}

func (h *History) failed(ctx context.Context, tx *engine.Tx, e run.Failed, r event.Recorded) error {
	row, err := h.newRow(ctx, e.Subject, r)
	if err != nil {
		return err
	}
	row.Status, row.ExecutionMS = run.Error, e.ExecutionMS
	historyRows.Upsert(tx, row)
	return nil
}

func (h *History) verified(ctx context.Context, tx *engine.Tx, e run.Verified, _ event.Recorded) error {
	return historyRows.Update(ctx, tx, e.RunID, func(row *HistoryRow) { row.setCheck(e.Check) })
}

// certified stores the newest certificate about a run. An inconclusive one does not replace one with a verdict.
func (h *History) certified(ctx context.Context, tx *engine.Tx, e certificate.Issued, _ event.Recorded) error {
	if e.AboutRunID == 0 {
		return nil
	}
	return historyRows.Update(ctx, tx, e.AboutRunID, func(row *HistoryRow) {
		concluded := row.CertificateVerdict != "" && row.CertificateVerdict != certificate.Inconclusive
		if e.Verdict != certificate.Inconclusive || !concluded {
			row.CertificateID, row.CertificateVerdict = e.CertificateID, e.Verdict
		}
	})
}

func (h *History) newRow(ctx context.Context, s run.Subject, r event.Recorded) (*HistoryRow, error) {
	expression, err := s.Expression.Load(ctx, h.from.blobs)
	if err != nil {
		return nil, err
	}
	return &HistoryRow{
		RunID: s.RunID, Position: int64(r.Position.Commit), Account: s.Account, Expression: Text(expression),
		Source: s.Source, SessionID: s.SessionID, JobID: s.JobID, Agent: Text(r.Metadata.Agent), CreatedMS: r.Metadata.At.UnixMilli(),
	}, nil
}

// setCheck stores a check, unless it is inconclusive and the stored one is not.
func (r *HistoryRow) setCheck(c run.Check) {
	known := run.Check{Verdict: r.Verdict}
	if known.Conclusive() && !c.Conclusive() {
		return
	}
	r.Verdict, r.Basis, r.Method, r.Reason, r.Automatic = c.Verdict, c.Basis, c.Method, c.Reason, c.Automatic
}

// Bounds of a history query (interface §8 leaves them open).
const (
	HistoryDefaultLimit  = 50
	HistoryMaxQueryRunes = 200
)

// HistoryQuery is a history request as it arrived; the zero value lists the newest.
type HistoryQuery struct {
	Limit   int // 0: HistoryDefaultLimit; at most MaxLimit
	Offset  int
	Status  run.Status   // empty: any
	Source  event.Source // empty: any
	Query   string       // literal, case-sensitive substring of the expression; trimmed
	From    string       // YYYY-MM-DD: runs on or after this UTC day
	To      string       // YYYY-MM-DD: runs on or before this UTC day, the whole day included
	Verdict run.Verdict  // of the stored check; empty: any, or none
}

// HistoryPage is one page, newest first.
type HistoryPage struct {
	Rows    []HistoryRow
	Limit   int
	Offset  int
	HasMore bool
}

// List answers a query for one account; a bad parameter is a *QueryError.
func (h *History) List(ctx context.Context, account string, q HistoryQuery) (HistoryPage, error) {
	if err := q.normalise(); err != nil {
		return HistoryPage{}, err
	}
	page := HistoryPage{Limit: q.Limit, Offset: q.Offset}
	query := h.from.db.NewSelect().Model(&page.Rows).Where("account = ?", account)
	if err := q.filter(query, h.from.db.Dialect().Name()); err != nil {
		return HistoryPage{}, err
	}
	if err := query.OrderBy("position", bun.OrderDesc).Limit(int64(q.Limit) + 1).Offset(int64(q.Offset)).Scan(ctx); err != nil {
		return HistoryPage{}, err
	}
	if len(page.Rows) > q.Limit {
		page.Rows, page.HasMore = page.Rows[:q.Limit], true
	}
	return page, nil
}

func (q *HistoryQuery) normalise() error {
	if q.Limit == 0 {
		q.Limit = HistoryDefaultLimit
	}
	q.Query = strings.TrimSpace(q.Query)
	if err := validLimit(q.Limit); err != nil {
		return err
	}
	switch {
	case q.Offset < 0:
		return &QueryError{"offset", "must not be negative"}
	case utf8.RuneCountInString(q.Query) > HistoryMaxQueryRunes:
		return &QueryError{"query", fmt.Sprintf("is longer than %d characters", HistoryMaxQueryRunes)}
	}
	return nil
}

func (q *HistoryQuery) filter(query *bun.SelectQuery, on dialect.Name) error {
	if err := whereOneOf(query, "status", q.Status, run.Statuses()); err != nil {
		return err
	}
	if err := whereOneOf(query, "source", q.Source, event.Sources()); err != nil {
		return err
	}
	if err := whereOneOf(query, "verdict", q.Verdict, run.Verdicts()); err != nil {
		return err
	}
	if q.Query != "" {
		contains := "instr(expression, ?) > 0" // LIKE would fold case and read % and _
		if on == dialect.PG {
			contains = "strpos(expression, ?) > 0"
		}
		query.Where(contains, Text(q.Query))
	}
	from, err := parseDay("from", q.From)
	if err != nil {
		return err
	}
	to, err := parseDay("to", q.To)
	if err != nil {
		return err
	}
	if q.From != "" {
		query.Where("created_ms >= ?", from.UnixMilli())
	}
	if q.To != "" {
		query.Where("created_ms < ?", to.AddDate(0, 0, 1).UnixMilli())
	}
	return nil
}

// parseDay parses YYYY-MM-DD as the start of that UTC day; the zero time for the empty
// string. The error is a *QueryError.
func parseDay(parameter, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, &QueryError{parameter, "must be a date as YYYY-MM-DD"}
	}
	return t, nil
}

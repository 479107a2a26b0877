package projections

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections/engine"
)

// ResultBytes is the most bytes of a run's result that history holds. The whole result is in the run's receipt.
const ResultBytes = 4096

// History is the log of evaluations, one row a run.
type History struct{ from source }

// HistoryRow is a run as history shows it (API: interface §2.11, §4.2).
type HistoryRow struct {
	bun.BaseModel `bun:"table:history_v3,alias:h"`

	RunID       int64        `bun:"run_id,pk"`
	Position    int64        `bun:"position,notnull"` // in the log: what "newest" means
	Account     string       `bun:"account,notnull"`
	Expression  Text         `bun:"expression,type:text,notnull"`
	Result      Text         `bun:"result,type:text,notnull"` // at most ResultBytes of it
	ResultBytes int64        `bun:"result_bytes,notnull"`     // length of the whole result
	Status      run.Status   `bun:"status,notnull"`
	Source      event.Source `bun:"source,notnull"`
	SessionID   string       `bun:"session_id,nullzero"`
	JobID       string       `bun:"job_id,nullzero"`
	Agent       Text         `bun:"agent,type:text,notnull"`
	ExecutionMS int64        `bun:"execution_time_ms,notnull"`
	CreatedMS   int64        `bun:"created_ms,notnull"` // Unix time in milliseconds, from the event's metadata
	TextID      int64        `bun:"text_id,notnull"`    // textID of account and position
	Warnings    []string     `bun:"warnings,type:text,nullzero"`
	Engines     []run.Asked  `bun:"engines,type:text,nullzero"` // all that were asked, where more than one was
	HasPlot     bool         `bun:"has_plot,notnull"`
	HasReceipt  bool         `bun:"has_receipt,notnull"`

	Verdict   run.Verdict            `bun:"verdict,notnull"` // of the best check so far; empty: none is stored
	Basis     run.Basis              `bun:"basis,nullzero"`
	Method    string                 `bun:"method,nullzero"`
	Reason    run.InconclusiveReason `bun:"reason,nullzero"`
	Automatic bool                   `bun:"automatic,notnull"` // that check ran unasked

	CertificateID      string              `bun:"certificate_id,nullzero"`
	CertificateVerdict certificate.Verdict `bun:"certificate_verdict,nullzero"`
}

// CreatedAt returns the time of the run, UTC.
func (r HistoryRow) CreatedAt() time.Time { return time.UnixMilli(r.CreatedMS).UTC() }

// ResultTruncated tells whether the row has the beginning of its result only.
func (r HistoryRow) ResultTruncated() bool { return r.ResultBytes > int64(len(r.Result)) }

// historyDay is where the runs of an account and UTC day lie in the log, so that a filter by days is a range of positions.
type historyDay struct {
	bun.BaseModel `bun:"table:history_days_v3,alias:d"`

	ID      string `bun:"id,pk"` // account, a slash and the day
	Account string `bun:"account,notnull"`
	Day     int64  `bun:"day,notnull"` // since 1970-01-01
	First   int64  `bun:"first,notnull"`
	Last    int64  `bun:"last,notnull"` // positions
}

// historyText is the index of trigrams of expressions.
const historyText = "history_v3_text"

// Every query of a page is a walk along one of these indexes from its newest row: filtered columns come before the position, and a
// filter that is not given stands for each of its values (historyBranches).
var (
	historyRows = engine.TableOf("run_id", func(r *HistoryRow) int64 { return r.RunID },
		engine.Index{Name: "history_v3_newest", Columns: "account, position DESC, created_ms"},
		engine.Index{Name: "history_v3_filtered", Columns: "account, status, source, verdict, position DESC, created_ms"},
		engine.Index{Name: historyText, TextColumn: "expression", RowIDColumn: "text_id", WindowBits: windowBits})
	historyDays = engine.TableOf("id", func(d *historyDay) string { return d.ID },
		engine.Index{Name: "history_days_v3_account", Columns: "account, day, first, last"})
)

// Projection declares the tables history_v3 and history_days_v3 and their handlers.
func (h *History) Projection() engine.Projection {
	p := engine.Projection{Name: "history", Version: 3, Tables: []engine.Table{historyRows, historyDays}}
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
	row.Result, row.ResultBytes = Text(beginning(answer, ResultBytes)), int64(len(answer))
	row.Status, row.ExecutionMS, row.Warnings = e.Status, e.ExecutionMS, e.Warnings
	row.Engines = e.Asked
	row.HasPlot, row.HasReceipt = e.Plot != nil, true
	if e.Check != nil {
		row.setCheck(*e.Check)
	}
	return addRun(ctx, tx, row)
}

func (h *History) timedOut(ctx context.Context, tx *engine.Tx, e run.TimedOut, r event.Recorded) error {
	row, err := h.newRow(ctx, e.Subject, r)
	if err != nil {
		return err
	}
	row.Status, row.ExecutionMS, row.Engines = run.Timeout, e.BudgetMS, e.Asked
	return addRun(ctx, tx, row)
}

func (h *History) failed(ctx context.Context, tx *engine.Tx, e run.Failed, r event.Recorded) error {
	row, err := h.newRow(ctx, e.Subject, r)
	if err != nil {
		return err
	}
	row.Status, row.ExecutionMS, row.Engines = run.Error, e.ExecutionMS, e.Asked
	return addRun(ctx, tx, row)
}

// addRun writes a run's row, and counts its position to its day.
func addRun(ctx context.Context, tx *engine.Tx, row *HistoryRow) error {
	historyRows.Upsert(tx, row)
	day := daysSinceEpoch(row.CreatedMS)
	id := fmt.Sprintf("%s/%d", row.Account, day)
	known, err := historyDays.Row(ctx, tx, id)
	switch {
	case err != nil:
		return err
	case known == nil:
		known = &historyDay{ID: id, Account: row.Account, Day: day, First: row.Position, Last: row.Position}
	case known.First <= row.Position && row.Position <= known.Last:
		return nil
	}
	known.First, known.Last = min(known.First, row.Position), max(known.Last, row.Position)
	historyDays.Upsert(tx, known)
	return nil
}

const dayMS = 24 * 60 * 60 * 1000

// daysSinceEpoch is the UTC day of a time in Unix milliseconds.
func daysSinceEpoch(ms int64) int64 {
	if ms < 0 {
		return (ms - dayMS + 1) / dayMS
	}
	return ms / dayMS
}

// beginning is the longest beginning of a text of at most n bytes that ends with a whole character.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// positionBits are the bits of a textID that hold the position in the log, in bytes: 140 TB.
const positionBits = 47

// windowBits are the lower bits of the textIDs of a window: 128 MiB of the log, some 50,000 evaluations.
const windowBits = 27

// firstTextID is the textID of the position 0 of an account: 16 bits of the account's hash, so that the runs of an account lie
// together and those of few other accounts among them.
func firstTextID(account string) int64 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(account)) // never fails
	return int64(hash.Sum32()>>16) << positionBits
}

// textID orders runs by account and position in the index of trigrams.
func textID(account string, position int64) int64 {
	return firstTextID(account) | position&(1<<positionBits-1)
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
	position := int64(r.Position.Commit)
	return &HistoryRow{
		RunID: s.RunID, Position: position, TextID: textID(s.Account, position), Account: s.Account, Expression: Text(expression),
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

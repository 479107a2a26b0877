package projections

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/database"
	"reckon/projections/engine"
)

// Bounds of a history query (interface §8 leaves them open; docs/adr/0020).
const (
	HistoryDefaultLimit  = 50
	HistoryMaxOffset     = 10_000
	HistoryMaxQueryRunes = 200
	// HistoryScannedRuns is how many runs one page looks for a text without trigrams in.
	HistoryScannedRuns = 5_000
	// HistorySearchTime bounds the search of an index of trigrams. It takes milliseconds, but for texts whose trigrams, or words on
	// PostgreSQL, stand in most runs and which themselves do not.
	HistorySearchTime = time.Second
	// trigramRunes is the length of the shortest text that an index of trigrams finds.
	trigramRunes = 3
)

// HistoryQuery is a history request as it arrived; the zero value lists the newest.
type HistoryQuery struct {
	Limit   int          // 0: HistoryDefaultLimit; at most MaxLimit
	Offset  int          // at most HistoryMaxOffset
	Before  string       // cursor that List returned with the previous page; empty: the first page
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
	HasMore bool   // Next is given. After a truncated search whether older runs have the text is not known
	Next    string // cursor of the next page; empty on the last
	// SearchTruncated: the page ends where the search for the text did, after HistoryScannedRuns runs; the next begins there.
	SearchTruncated bool
}

// List answers a query for one account; a bad parameter is a *QueryError. A page has fewer rows than its limit, and more follow,
// when their texts are longer than maxPageBytes.
func (h *History) List(ctx context.Context, account string, q HistoryQuery) (HistoryPage, error) {
	page, s, err := h.selection(ctx, account, &q)
	if err != nil || s.empty() {
		return page, err
	}
	found, searched, err := h.find(ctx, s, q)
	if err != nil {
		return HistoryPage{}, err
	}
	full := len(found) > q.Limit
	found = found[:min(q.Limit, len(found))]
	positions, err := fitting(ctx, h.from.db.NewSelect().Model((*HistoryRow)(nil)), account, found,
		"octet_length(expression) + octet_length(result) + octet_length(agent) + COALESCE(octet_length(warnings), 0)")
	if err != nil {
		return HistoryPage{}, err
	}
	full = full || len(positions) < len(found)
	if page.Rows, err = rowsAt(ctx, h.from.db, account, positions, func(r HistoryRow) int64 { return r.Position }); err != nil {
		return HistoryPage{}, err
	}
	page.SearchTruncated = !full && searched != searchedAll
	switch {
	case full:
		page.Next = cursor(positions[len(positions)-1])
	case page.SearchTruncated && (len(found) > 0 || q.Offset == 0): // else offset may have left out fewer runs than it says
		page.Next = cursor(searched)
	}
	page.HasMore = page.Next != ""
	return page, nil
}

// historySelection is the runs of an account that satisfy the filters of a query, but for its text.
type historySelection struct {
	account         string
	branches        []historyBranch
	first, last     int64 // positions of runs on the days asked for, both included
	fromMS, untilMS int64 // start of the first of these days and end of the last; anyTimeFrom and anyTimeUntil: no bound
}

const (
	anyTimeFrom  = math.MinInt64
	anyTimeUntil = math.MaxInt64
)

// historyBranch is one combination of the columns that history_v3_filtered begins with.
type historyBranch struct {
	status  run.Status
	source  event.Source
	verdict run.Verdict
}

func (s historySelection) empty() bool { return s.last < s.first }

// selection validates a query and returns the page to fill and the runs that its filters select.
func (h *History) selection(ctx context.Context, account string, q *HistoryQuery) (HistoryPage, historySelection, error) {
	s := historySelection{account: account, last: math.MaxInt64, fromMS: anyTimeFrom, untilMS: anyTimeUntil}
	days, err := q.normalise(&s)
	if err != nil {
		return HistoryPage{}, s, err
	}
	page := HistoryPage{Limit: q.Limit, Offset: q.Offset}
	if !days {
		return page, s, nil
	}
	var first, last sql.NullInt64
	query := h.from.db.NewSelect().Model((*historyDay)(nil)).ColumnExpr("MIN(first), MAX(last)").Where("account = ?", account)
	if s.fromMS != anyTimeFrom {
		query.Where("day >= ?", daysSinceEpoch(s.fromMS))
	}
	if s.untilMS != anyTimeUntil {
		query.Where("day < ?", daysSinceEpoch(s.untilMS))
	}
	if err := query.Scan(ctx, &first, &last); err != nil {
		return HistoryPage{}, s, err
	}
	if !first.Valid {
		s.last = -1
		return page, s, nil
	}
	s.first, s.last = max(s.first, first.Int64), min(s.last, last.Int64)
	return page, s, nil
}

// normalise fills in defaults and writes the filters into the selection; days tells whether it is bounded by days, whose positions
// are not known yet. Its error is a *QueryError.
func (q *HistoryQuery) normalise(s *historySelection) (days bool, err error) {
	if q.Limit == 0 {
		q.Limit = HistoryDefaultLimit
	}
	given := q.Query != ""
	q.Query = strings.TrimSpace(q.Query)
	if err := validLimit(q.Limit); err != nil {
		return false, err
	}
	switch {
	case q.Offset < 0:
		return false, &QueryError{"offset", "must not be negative"}
	case q.Offset > HistoryMaxOffset:
		return false, &QueryError{"offset", fmt.Sprintf("must not be over %d: go on with before, the next_before of the page before", HistoryMaxOffset)}
	case given && q.Query == "":
		return false, &QueryError{"query", "is empty; leave it out to say nothing"}
	case utf8.RuneCountInString(q.Query) > HistoryMaxQueryRunes:
		return false, &QueryError{"query", fmt.Sprintf("is longer than %d characters", HistoryMaxQueryRunes)}
	}
	before, err := parseCursor(q.Before)
	if err != nil {
		return false, err
	}
	s.last = before - 1
	if s.branches, err = historyBranches(*q); err != nil {
		return false, err
	}
	from, err := parseDay("from", q.From)
	if err != nil {
		return false, err
	}
	to, err := parseDay("to", q.To)
	if err != nil {
		return false, err
	}
	if q.From != "" {
		s.fromMS = from.UnixMilli()
	}
	if q.To != "" {
		s.untilMS = to.AddDate(0, 0, 1).UnixMilli()
	}
	return q.From != "" || q.To != "", nil
}

// historyBranches are the combinations of status, source and verdict that a query asks for: one index then serves each filter and
// all of them together. They are none when it asks for any of each.
func historyBranches(q HistoryQuery) (branches []historyBranch, err error) {
	statuses, err := valuesOf("status", q.Status, run.Statuses())
	if err != nil {
		return nil, err
	}
	sources, err := valuesOf("source", q.Source, event.Sources())
	if err != nil {
		return nil, err
	}
	verdicts, err := valuesOf("verdict", q.Verdict, run.Verdicts())
	if err != nil {
		return nil, err
	}
	if q.Status == "" && q.Source == "" && q.Verdict == "" {
		return nil, nil
	}
	if q.Verdict == "" {
		verdicts = append(slices.Clone(verdicts), "") // runs without a check
	}
	for _, status := range statuses {
		for _, source := range sources {
			for _, verdict := range verdicts {
				branches = append(branches, historyBranch{status, source, verdict})
			}
		}
	}
	return branches, nil
}

// filtered tells whether a selection leaves out runs of its account.
func (s historySelection) filtered() bool {
	return s.branches != nil || s.fromMS != anyTimeFrom || s.untilMS != anyTimeUntil
}

// walk returns up to limit of the selection's positions from one on, newest first, after leaving out offset; where is a condition more.
func (h *History) walk(ctx context.Context, s historySelection, limit, offset int, from int64, where string, args ...any) ([]int64, error) {
	common := branch{"account = ? AND position BETWEEN ? AND ?", []any{s.account, max(s.first, from), s.last}}
	and := func(condition string, args ...any) {
		common = branch{common.where + " AND " + condition, append(common.args, args...)}
	}
	if s.fromMS != anyTimeFrom {
		and("created_ms >= ?", s.fromMS)
	}
	if s.untilMS != anyTimeUntil {
		and("created_ms < ?", s.untilMS)
	}
	if where != "" {
		and(where, args...)
	}
	branches := []branch{{"true", nil}}
	if s.branches != nil {
		branches = nil
	}
	for _, b := range s.branches {
		branches = append(branches, branch{"status = ? AND source = ? AND verdict = ?", []any{b.status, b.source, b.verdict}})
	}
	return mergedPositions(ctx, h.from.db, "history_v3", branches, common, limit, offset)
}

// searchedAll is the end of a search that left out no run, or found more than the page holds.
const searchedAll int64 = 0

// find returns the positions of the page's runs and of the one after it, and the position that the search for the text ended at:
// older runs were not searched.
func (h *History) find(ctx context.Context, s historySelection, q HistoryQuery) (found []int64, searched int64, err error) {
	if q.Query == "" {
		found, err = h.walk(ctx, s, q.Limit+1, q.Offset, 0, "")
		return found, searchedAll, err
	}
	indexed := utf8.RuneCountInString(q.Query) >= trigramRunes
	if indexed {
		if indexed, err = engine.HasTrigrams(ctx, h.from.db, historyText); err != nil {
			return nil, searchedAll, err
		}
	}
	onSQLite := h.from.db.Dialect().Name() == dialect.SQLite
	if indexed && onSQLite && !s.filtered() { // its index is in the order of the page: no scan is needed to bound it
		found, truncated, err := h.findByTrigrams(ctx, s, q)
		if err != nil || !truncated {
			return found, searchedAll, err
		}
		indexed = false
	}
	oldest, more, err := h.scanned(ctx, s)
	if err != nil {
		return nil, searchedAll, err
	}
	matches, err := h.walk(ctx, s, q.Offset+q.Limit+1, 0, oldest, contains(onSQLite), Text(q.Query))
	found = matches[min(q.Offset, len(matches)):]
	if err != nil || !more || len(found) > q.Limit {
		return found, searchedAll, err
	}
	if !indexed {
		return found, oldest, nil
	}
	search := h.findByTrigrams
	if !onSQLite {
		search = func(ctx context.Context, s historySelection, q HistoryQuery) ([]int64, bool, error) {
			return h.findInWindows(ctx, s, q, matches, oldest)
		}
	}
	all, truncated, err := search(ctx, s, q)
	if truncated {
		return found, oldest, nil
	}
	return all, searchedAll, err
}

// scanned returns the position of the oldest of the newest HistoryScannedRuns of a selection, and whether there are older ones.
func (h *History) scanned(ctx context.Context, s historySelection) (oldest int64, more bool, err error) {
	last, err := h.walk(ctx, s, 2, HistoryScannedRuns-1, 0, "")
	if err != nil || len(last) < 2 {
		return 0, false, err
	}
	return last[0], true, nil
}

// contains is the condition that an expression has a text in it as it is: LIKE would fold case on SQLite, and read % and _.
func contains(onSQLite bool) string {
	if onSQLite {
		return "instr(expression, ?) > 0"
	}
	return "strpos(expression, ?) > 0"
}

// conditions are those of a selection and of the filters of a query, for the table history_v3 AS h.
func (s historySelection) conditions(q HistoryQuery) (where string, args []any) {
	where, args = "h.account = ? AND h.position BETWEEN ? AND ?", []any{s.account, s.first, s.last}
	for _, c := range []struct {
		condition string
		value     any
		given     bool
	}{
		{"h.status = ?", q.Status, q.Status != ""}, {"h.source = ?", q.Source, q.Source != ""}, {"h.verdict = ?", q.Verdict, q.Verdict != ""},
		{"h.created_ms >= ?", s.fromMS, s.fromMS != anyTimeFrom}, {"h.created_ms < ?", s.untilMS, s.untilMS != anyTimeUntil},
	} {
		if c.given {
			where, args = where+" AND "+c.condition, append(args, c.value)
		}
	}
	return where, args
}

// findByTrigrams is find by SQLite's index of trigrams, which proposes runs, and the literal check after it. truncated: it took longer
// than HistorySearchTime and found nothing.
func (h *History) findByTrigrams(ctx context.Context, s historySelection, q HistoryQuery) (found []int64, truncated bool, err error) {
	conditions, args := s.conditions(q)
	text, base := storedText.Replace(q.Query), firstTextID(s.account)
	statement := "SELECT h.position FROM history_v3_text AS t CROSS JOIN history_v3 AS h INDEXED BY history_v3_newest WHERE t.history_v3_text MATCH ? AND t.rowid BETWEEN ? AND ?" +
		" AND h.position = t.rowid - ? AND instr(h.expression, ?) > 0 AND " + conditions + " ORDER BY t.rowid DESC LIMIT ? OFFSET ?"
	args = slices.Concat([]any{trigramMatch(text), textID(s.account, s.first), base | min(s.last, 1<<positionBits-1), base, text}, args, []any{q.Limit + 1, q.Offset})
	bounded, cancel := context.WithTimeout(ctx, HistorySearchTime)
	defer cancel()
	if err = h.from.db.NewRaw(statement, args...).Scan(bounded, &found); err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, true, nil
	}
	return found, false, err
}

// searchedWindows is how many windows of PostgreSQL's index of trigrams are searched one by one before all older runs together.
const searchedWindows = 4

// findInWindows is find by PostgreSQL's index of trigrams, which knows no order: it proposes every run of the account before the newest of them are
// known. So the windows below the position oldest come first, from the newest. matches are the runs with the text from there on. truncated: it
// took longer than HistorySearchTime and found nothing.
func (h *History) findInWindows(ctx context.Context, s historySelection, q HistoryQuery, matches []int64, oldest int64) (found []int64, truncated bool, err error) {
	wanted, until := q.Offset+q.Limit+1, time.Now().Add(HistorySearchTime)
	s.last = oldest - 1
	err = h.from.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		ask := func(window string) error {
			if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = ?", max(1, time.Until(until).Milliseconds())); err != nil {
				return err
			}
			older, err := proposed(ctx, tx, s, q, window, wanted-len(matches))
			matches = append(matches, older...)
			return err
		}
		window, lowest := textID(s.account, s.last)>>windowBits, textID(s.account, s.first)>>windowBits
		for range searchedWindows {
			if err := ask(fmt.Sprintf("(h.text_id >> %d) = %d::bigint AND ", windowBits, window)); err != nil || len(matches) >= wanted || window == lowest {
				return err
			}
			window--
			s.last = min(s.last, (window+1)<<windowBits-1-firstTextID(s.account))
		}
		return ask("")
	})
	if database.Canceled(err) && ctx.Err() == nil {
		return nil, true, nil
	}
	return matches[min(q.Offset, len(matches)):], false, err
}

// proposed returns up to limit positions of a selection's runs with the text of a query, newest first; window is a condition more.
func proposed(ctx context.Context, tx bun.Tx, s historySelection, q HistoryQuery, window string, limit int) (positions []int64, err error) {
	conditions, args := s.conditions(q)
	text := storedText.Replace(q.Query)
	// Materialized: in the order of positions the planner would walk along all runs to avoid a sort of few.
	statement := "WITH m AS MATERIALIZED (SELECT h.position FROM history_v3 AS h WHERE " + window + "h.expression LIKE ? AND strpos(h.expression, ?) > 0 AND " + conditions +
		") SELECT position FROM m ORDER BY position DESC LIMIT ?"
	args = slices.Concat([]any{"%" + likeLiteral.Replace(text) + "%", text}, args, []any{limit})
	err = tx.NewRaw(statement, args...).Scan(ctx, &positions)
	return positions, err
}

// likeLiteral escapes what LIKE reads in a pattern.
var likeLiteral = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// trigramTerms bounds the trigrams of a text that are looked for: so many select few runs, and the literal check does the rest.
const trigramTerms = 64

// trigramMatch is the expression of FTS5 for rows that have the trigrams of a text of at least trigramRunes.
func trigramMatch(text string) string {
	runes := []rune(text)
	var terms []string
	for i := 0; i+trigramRunes <= len(runes) && len(terms) < trigramTerms; i++ {
		term := `"` + strings.ReplaceAll(string(runes[i:i+trigramRunes]), `"`, `""`) + `"`
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return strings.Join(terms, " AND ")
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

package projections

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// MaxLimit is the most rows a page of any list has (interface §8).
const MaxLimit = 200

// Page asks for a part of a list that goes from its newest row to its oldest.
type Page struct {
	Limit  int    // rows, 1 to MaxLimit
	Before string // cursor that List returned with the previous page; empty: the first page
}

// QueryError is returned for a query with a bad parameter.
type QueryError struct{ Parameter, Problem string }

func (e *QueryError) Error() string { return e.Parameter + " " + e.Problem }

// before returns the position that every row of the page lies before. A limit or a cursor that is out of bounds is a *QueryError.
func (p Page) before() (int64, error) {
	if err := validLimit(p.Limit); err != nil {
		return 0, err
	}
	return parseCursor(p.Before)
}

// newestPage reads a page of the rows that query selects, in descending order of their
// column position. next is the cursor of the next page, empty on the last. A limit or a
// cursor that is out of bounds is a *QueryError.
func newestPage[R any](ctx context.Context, query *bun.SelectQuery, p Page, position func(R) int64) (rows []R, next string, err error) {
	before, err := p.before()
	if err != nil {
		return nil, "", err
	}
	if err := query.Where("position < ?", before).OrderBy("position", bun.OrderDesc).Limit(int64(p.Limit)+1).Scan(ctx, &rows); err != nil {
		return nil, "", err
	}
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		next = cursor(position(rows[p.Limit-1]))
	}
	return rows, next, nil
}

// cursor returns the cursor of the page that begins after the row with this position.
func cursor(position int64) string { return strconv.FormatInt(position, 10) }

// parseCursor returns the position that a cursor names; that of the first page, which is empty, lies after every row. Its error is
// a *QueryError.
func parseCursor(s string) (int64, error) {
	if s == "" {
		return math.MaxInt64, nil
	}
	before, err := strconv.ParseInt(s, 10, 64)
	if err != nil || before < 0 {
		return 0, &QueryError{"before", "is not a next_before of this list"}
	}
	return before, nil
}

// branch is a condition with its arguments.
type branch struct {
	where string
	args  []any
}

// mergedPositions returns up to limit positions of a table's rows, newest first, after leaving out offset. Each branch is a walk along
// one index, and no row is in two branches; the database merges them without a sort. Every branch has the common condition too.
func mergedPositions(ctx context.Context, db bun.IDB, table string, branches []branch, common branch, limit, offset int) (positions []int64, err error) {
	const order = " ORDER BY position DESC"
	begin, end := "SELECT position FROM "+table+" WHERE ", ""
	if db.Dialect().Name() == dialect.PG { // it merges only branches that are sorted; SQLite takes no sorted ones and sorts by the index
		begin, end = "("+begin, fmt.Sprintf(order+" LIMIT %d)", limit+offset)
	}
	parts, args := make([]string, len(branches)), []any(nil)
	for i, b := range branches {
		parts[i] = begin + b.where + " AND " + common.where + end
		args = append(append(args, b.args...), common.args...)
	}
	statement := "SELECT position FROM (" + strings.Join(parts, " UNION ALL ") + ") AS branches" + order + " LIMIT ? OFFSET ?"
	err = db.NewRaw(statement, append(args, limit, offset)...).Scan(ctx, &positions)
	return positions, err
}

// rowsAt returns an account's rows with these positions, newest first.
func rowsAt[R any](ctx context.Context, db bun.IDB, account string, positions []int64, position func(R) int64) (rows []R, err error) {
	if len(positions) == 0 {
		return nil, nil
	}
	err = db.NewSelect().Model(&rows).Where("account = ? AND position IN (?)", account, bun.List(positions)).Scan(ctx)
	slices.SortFunc(rows, func(a, b R) int { return cmp.Compare(position(b), position(a)) })
	return rows, err
}

// maxPageBytes is the most bytes of texts on a page of more than one row.
const maxPageBytes = 1 << 20

// fitting returns the first of the positions whose rows' texts are together no longer than maxPageBytes, at least one. bytes is the
// length of a row's texts as SQL: databases keep it beside the text and do not read the text for it.
func fitting(ctx context.Context, query *bun.SelectQuery, account string, positions []int64, bytes string) ([]int64, error) {
	if len(positions) == 0 {
		return nil, nil
	}
	var lengths []struct{ Position, Bytes int64 }
	err := query.Column("position").ColumnExpr(bytes+" AS bytes").Where("account = ? AND position IN (?)", account, bun.List(positions)).Scan(ctx, &lengths)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]int64, len(lengths))
	for _, l := range lengths {
		of[l.Position] = l.Bytes
	}
	total := int64(0)
	for i, position := range positions {
		if total += of[position]; total > maxPageBytes && i > 0 {
			return positions[:i], nil
		}
	}
	return positions, nil
}

// valuesOf returns the values of a closed set that a parameter asks for: all when it is empty. A value outside the set is a *QueryError.
func valuesOf[S ~string](parameter string, value S, of []S) ([]S, error) {
	switch {
	case value == "":
		return of, nil
	case slices.Contains(of, value):
		return []S{value}, nil
	}
	names := make([]string, len(of))
	for i, one := range of {
		names[i] = string(one)
	}
	return nil, &QueryError{parameter, "must be one of " + strings.Join(names, ", ")}
}

func validLimit(limit int) error {
	if limit < 1 || limit > MaxLimit {
		return &QueryError{"limit", fmt.Sprintf("must be 1 to %d", MaxLimit)}
	}
	return nil
}

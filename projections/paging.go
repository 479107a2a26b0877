package projections

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
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

// newestPage reads a page of the rows that query selects, in descending order of their
// column position. next is the cursor of the next page, empty on the last. A limit or a
// cursor that is out of bounds is a *QueryError.
func newestPage[R any](ctx context.Context, query *bun.SelectQuery, p Page, position func(R) int64) (rows []R, next string, err error) {
	if err := validLimit(p.Limit); err != nil {
		return nil, "", err
	}
	if p.Before != "" {
		before, err := strconv.ParseInt(p.Before, 10, 64)
		if err != nil {
			return nil, "", &QueryError{"before", "is not a next_before of this list"}
		}
		query.Where("position < ?", before)
	}
	if err := query.OrderBy("position", bun.OrderDesc).Limit(int64(p.Limit)+1).Scan(ctx, &rows); err != nil {
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

// whereOneOf filters rows by a column, named as the parameter of the query is, that
// holds one of a closed set of values; an empty value filters nothing, and one
// outside the set is a *QueryError.
func whereOneOf[S ~string](query *bun.SelectQuery, column string, value S, of []S) error {
	if value == "" {
		return nil
	}
	if _, err := valuesOf(column, value, of); err != nil {
		return err
	}
	query.Where("? = ?", bun.Ident(column), value)
	return nil
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

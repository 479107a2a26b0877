package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// On SQLite rows are written by prepared statements with bound values: parsing the statements
// that bun writes, each value a literal, took half of the time of building a table. On PostgreSQL the same
// values are copied (copyNew). The stored bytes are those that bun writes.

// rowsPerStatement is how many rows one prepared statement writes; the rest go one by one. The
// driver looks for each value among all of a statement's: 32 rows took 9 µs a row for that alone.
const rowsPerStatement = 4

// upsert writes the rows of one table.
type upsert struct {
	one, many string // statements for one row and for rowsPerStatement rows
	columns   []column
}

type column struct {
	index []int
	value func(reflect.Value) (any, error)
	null  func(reflect.Value) bool // whether NULL is stored
}

var errNUL = errors.New("U+0000 in a text column whose type is not Text")

// newUpsert returns nil for a table with a column of a type it cannot bind.
func newUpsert(table *schema.Table, key string) *upsert {
	u := &upsert{columns: make([]column, len(table.Fields))}
	names, updates := make([]string, len(table.Fields)), make([]string, 0, len(table.DataFields))
	for i, field := range table.Fields {
		value := binderOf(field.StructField.Type)
		if value == nil || len(field.Index) == 0 {
			return nil
		}
		u.columns[i] = column{index: field.Index, value: value, null: func(reflect.Value) bool { return false }}
		if field.NullZero {
			u.columns[i].null = field.IsZero
		}
		names[i] = string(field.SQLName)
	}
	for _, field := range table.DataFields {
		updates = append(updates, string(field.SQLName)+" = EXCLUDED."+string(field.SQLName))
	}
	conflict := ` ON CONFLICT ("` + key + `") DO NOTHING`
	if len(updates) > 0 {
		conflict = ` ON CONFLICT ("` + key + `") DO UPDATE SET ` + strings.Join(updates, ", ")
	}
	into := "INSERT INTO " + string(table.SQLName) + " (" + strings.Join(names, ", ") + ") VALUES "
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
	u.one = into + row + conflict
	u.many = into + strings.TrimSuffix(strings.Repeat(row+", ", rowsPerStatement), ", ") + conflict
	return u
}

var valuerType = reflect.TypeFor[driver.Valuer]()

// binderOf returns the function that makes a column's value of a field, nil for types it does not know.
func binderOf(t reflect.Type) func(reflect.Value) (any, error) {
	if t.Implements(valuerType) && t.Kind() != reflect.Pointer {
		return func(v reflect.Value) (any, error) {
			value, err := v.Interface().(driver.Valuer).Value()
			if text, is := value.(string); is && err == nil {
				return storable(text)
			}
			return value, err
		}
	}
	if reflect.PointerTo(t).Implements(valuerType) {
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value) (any, error) { return storable(v.String()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(v reflect.Value) (any, error) { return v.Int(), nil }
	case reflect.Bool:
		return func(v reflect.Value) (any, error) { return v.Bool(), nil }
	case reflect.Slice:
		if t.Elem().Kind() != reflect.String {
			return nil
		}
		return func(v reflect.Value) (any, error) {
			text, err := json.Marshal(v.Interface())
			return strings.ReplaceAll(string(text), `\u0000`, `\\u0000`), err // as bun writes it, for PostgreSQL cannot hold it
		}
	}
	return nil
}

// storable is a text as PostgreSQL can hold it too.
func storable(text string) (any, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, errNUL
	}
	if !utf8.ValidString(text) {
		return string([]rune(text)), nil // U+FFFD for each byte that is none
	}
	return text, nil
}

// write writes rows, in order.
func (u *upsert) write(ctx context.Context, tx *Tx, count int, row func(int) reflect.Value) error {
	arguments := make([]any, 0, rowsPerStatement*len(u.columns))
	for next := 0; next < count; {
		query, rows := u.one, 1
		if count-next >= rowsPerStatement {
			query, rows = u.many, rowsPerStatement
		}
		arguments = arguments[:0]
		for i := range rows {
			var err error
			if arguments, err = u.appendValues(arguments, row(next+i)); err != nil {
				return err
			}
		}
		statement, err := tx.prepare(ctx, query)
		if err != nil {
			return err
		}
		// A context that can end costs a goroutine a statement; a batch is short.
		if _, err := statement.ExecContext(context.WithoutCancel(ctx), arguments...); err != nil {
			return err
		}
		next += rows
	}
	return ctx.Err()
}

func (u *upsert) appendValues(to []any, row reflect.Value) ([]any, error) {
	for _, c := range u.columns {
		field := row.FieldByIndex(c.index)
		if c.null(field) {
			to = append(to, nil)
			continue
		}
		value, err := c.value(field)
		if err != nil {
			return nil, fmt.Errorf("column %d of %s: %w", len(to)%len(u.columns), row.Type(), err)
		}
		to = append(to, value)
	}
	return to, nil
}

// prepare returns the statement, prepared once for as long as the transaction's connection is kept.
func (tx *Tx) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, known := tx.statements[query]; known {
		return s, nil
	}
	var s *sql.Stmt
	var err error
	if tx.conn != nil {
		s, err = tx.conn.PrepareContext(context.WithoutCancel(ctx), query)
	} else {
		s, err = tx.tx.PrepareContext(ctx, query) // closed with the transaction
	}
	if err == nil {
		tx.statements[query] = s
	}
	return s, err
}

// writer is the one connection on which an engine writes a SQLite database. It is opened when it is
// needed, keeps its prepared statements, and is replaced after an error.
type writer struct {
	db *bun.DB

	mu         sync.Mutex // held for the length of a transaction
	conn       *bun.Conn
	statements map[string]*sql.Stmt
}

// writerCacheKiB is the page cache of the writing connection; SQLite's default of 2 MB reads and
// writes pages of a large index again and again.
const writerCacheKiB = 32 << 10

func (w *writer) inTx(ctx context.Context, f func(context.Context, *Tx) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		conn, err := w.db.Conn(ctx)
		if err != nil {
			return err
		}
		w.conn, w.statements = &conn, map[string]*sql.Stmt{}
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA cache_size = -%d", writerCacheKiB)); err != nil {
			w.disconnect()
			return err
		}
	}
	err := w.conn.RunInTx(ctx, nil, func(ctx context.Context, sqlTx bun.Tx) error {
		tx := &Tx{tx: sqlTx, buffers: map[any]any{}, conn: w.conn, statements: w.statements}
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.flush(ctx)
	})
	if err != nil {
		w.disconnect()
	}
	return err
}

func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disconnect()
}

// disconnect closes the statements and gives the connection back.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	for _, s := range w.statements {
		_ = s.Close() // the connection may be gone
	}
	_ = w.conn.Close() // likewise
	w.conn, w.statements = nil, nil
}

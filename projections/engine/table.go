package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"

	"reckon/internal/database"
)

// rowsPerInsert bounds one INSERT statement.
const rowsPerInsert = 250

// Table is a table of a projection. TableOf makes one.
type Table interface {
	tableName(db *bun.DB) string
	create(ctx context.Context, db bun.IDB) error
	createIndexes(ctx context.Context, db bun.IDB) error
	indexNames() []string
	compare(ctx context.Context, fresh, have *bun.DB, read bun.IDB, report func(Difference) error) error
}

// Rows is a table with rows of type R (a bun model) under one key column of type K.
//
// Handlers read and write rows with it. Within a batch a changed row is held in memory and
// written once, up to rowsPerInsert rows per statement, so that building a table takes
// about as long as inserting its rows.
type Rows[K comparable, R any] struct {
	column  string
	key     func(*R) K
	indexes []Index

	prepared sync.Once
	upsert   *upsert // nil where a column has a type that only bun knows
}

// TableOf declares a table by its key column, the function that returns a row's key, and its indexes.
func TableOf[K comparable, R any](column string, key func(*R) K, indexes ...Index) *Rows[K, R] {
	return &Rows[K, R]{column: column, key: key, indexes: indexes}
}

// Row returns a copy of the row under a key, nil when there is none.
func (t *Rows[K, R]) Row(ctx context.Context, tx *Tx, key K) (*R, error) {
	b := t.buffer(tx)
	row, known := b.rows[key]
	if !known {
		row, known = t.recent(tx).get(key)
	}
	if known {
		if row == nil {
			return nil, nil
		}
		copied := *row
		return &copied, nil
	}
	if exists, err := t.mayExist(ctx, tx, key); err != nil || !exists {
		return nil, err
	}
	row = new(R)
	err := tx.tx.NewSelect().Model(row).Where("? = ?", bun.Ident(t.column), key).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

// mayExist is false when there is no row under a key. It costs a tenth of a bun query, and on PostgreSQL nothing while the
// projection is built: most lookups of a boot are of keys that are new.
func (t *Rows[K, R]) mayExist(ctx context.Context, tx *Tx, key K) (bool, error) {
	if tx.tx.Dialect().Name() != dialect.SQLite {
		keys, err := t.keysOf(ctx, tx)
		return keys == nil || keys.has(key), err
	}
	table := tx.tx.Dialect().Tables().Get(reflect.TypeFor[R]())
	s, err := tx.prepare(ctx, "SELECT 1 FROM "+string(table.SQLName)+` WHERE "`+t.column+`" = ?`)
	if err != nil {
		return false, err
	}
	var one int
	err = s.QueryRowContext(context.WithoutCancel(ctx), key).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Upsert inserts the row or replaces the one under its key.
func (t *Rows[K, R]) Upsert(tx *Tx, row *R) {
	tx.bytes += textBytes(reflect.ValueOf(row).Elem())
	t.buffer(tx).set(t.key(row), row)
}

// textBytes is the length of a row's texts.
func textBytes(row reflect.Value) (n int) {
	for i := range row.NumField() {
		if field := row.Field(i); field.Kind() == reflect.String {
			n += field.Len()
		}
	}
	return n
}

// Delete removes the row under a key, if there is one.
func (t *Rows[K, R]) Delete(tx *Tx, key K) { t.buffer(tx).set(key, nil) }

// Update applies change to the row with a key. Without such a row it does nothing.
func (t *Rows[K, R]) Update(ctx context.Context, tx *Tx, key K, change func(*R)) error {
	row, err := t.Row(ctx, tx, key)
	if err != nil || row == nil {
		return err
	}
	change(row)
	t.Upsert(tx, row)
	return nil
}

// pending is what a transaction will write to one table: nil is a deletion.
type pending[K comparable, R any] struct {
	table *Rows[K, R]
	rows  map[K]*R
	order []K
}

func (b *pending[K, R]) set(key K, row *R) {
	if _, known := b.rows[key]; !known {
		b.order = append(b.order, key)
	}
	b.rows[key] = row
}

func (t *Rows[K, R]) buffer(tx *Tx) *pending[K, R] {
	if b, ok := tx.buffers[t]; ok {
		return b.(*pending[K, R])
	}
	b := &pending[K, R]{table: t, rows: map[K]*R{}}
	tx.buffers[t] = b
	tx.order = append(tx.order, b)
	return b
}

func (b *pending[K, R]) flush(ctx context.Context, tx *Tx) error {
	var put []*R
	var gone []K
	for _, key := range b.order {
		if row := b.rows[key]; row != nil {
			put = append(put, row)
		} else {
			gone = append(gone, key)
		}
	}
	if len(gone) > 0 {
		_, err := tx.tx.NewDelete().Model((*R)(nil)).Where("? IN (?)", bun.Ident(b.table.column), bun.List(gone)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return b.table.write(ctx, tx, put)
}

// write inserts or replaces rows.
func (t *Rows[K, R]) write(ctx context.Context, tx *Tx, put []*R) error {
	table := tx.tx.Dialect().Tables().Get(reflect.TypeFor[R]())
	if tx.tx.Dialect().Name() == dialect.SQLite {
		t.prepared.Do(func() { t.upsert = newUpsert(table, t.column) })
		if t.upsert != nil {
			return t.upsert.write(ctx, tx, len(put), func(i int) reflect.Value { return reflect.ValueOf(put[i]).Elem() })
		}
	}
	put, err := t.copyNew(ctx, tx, table, put)
	if err != nil {
		return err
	}
	onConflict := "CONFLICT (?) DO UPDATE" // bun adds every column but the key
	if len(table.DataFields) == 0 {
		onConflict = "CONFLICT (?) DO NOTHING"
	}
	for len(put) > 0 {
		part := put[:min(rowsPerInsert, len(put))]
		put = put[len(part):]
		// Without Returning bun reads every empty nullable column back.
		_, err := tx.tx.NewInsert().Model(&part).On(onConflict, bun.Ident(t.column)).Returning("NULL").Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// copyNew writes the rows whose keys are known to be new with COPY, on PostgreSQL, and returns the others.
func (t *Rows[K, R]) copyNew(ctx context.Context, tx *Tx, table *schema.Table, put []*R) (others []*R, err error) {
	if tx.postgres == nil || t.recent(tx) == nil {
		return put, nil
	}
	t.prepared.Do(func() { t.upsert = newUpsert(table, t.column) })
	keys, err := t.keysOf(ctx, tx)
	if err != nil || t.upsert == nil {
		return put, err
	}
	var added []*R
	for _, row := range put {
		if keys.has(t.key(row)) {
			others = append(others, row)
		} else {
			added = append(added, row)
		}
	}
	if len(added) == 0 {
		return others, nil
	}
	columns := make([]string, len(table.Fields))
	for i, field := range table.Fields {
		columns[i] = field.Name
	}
	var values []any
	next := 0
	return others, database.Copy(ctx, tx.postgres, table.Name, columns, func() ([]any, error) {
		if next == len(added) {
			return nil, nil
		}
		next++
		var err error
		values, err = t.upsert.appendValues(values[:0], reflect.ValueOf(added[next-1]).Elem())
		return values, err
	})
}

func (t *Rows[K, R]) tableName(db *bun.DB) string {
	return db.Table(reflect.TypeFor[R]()).Name
}

func (t *Rows[K, R]) create(ctx context.Context, db bun.IDB) error {
	_, err := db.NewCreateTable().Model((*R)(nil)).IfNotExists().Exec(ctx)
	return err
}

func (t *Rows[K, R]) indexNames() []string {
	names := make([]string, len(t.indexes))
	for i, index := range t.indexes {
		names[i] = index.Name
	}
	return names
}

func (t *Rows[K, R]) createIndexes(ctx context.Context, db bun.IDB) error {
	for _, index := range t.indexes {
		if err := index.create(ctx, db, (*R)(nil)); err != nil {
			return fmt.Errorf("index %s: %w", index.Name, err)
		}
	}
	return nil
}

// Tx is the transaction of one batch. Handlers use it through Rows only.
type Tx struct {
	tx         bun.Tx
	conn       *bun.Conn            // of the writer, on SQLite; nil: statements end with the transaction
	postgres   *bun.Conn            // that the transaction is on; nil on SQLite
	statements map[string]*sql.Stmt // prepared on conn, or in tx
	buffers    map[any]any
	order      []flusher
	bytes      int       // of the texts in the buffers
	recents    recentMap // nil: nothing is remembered
}

type flusher interface {
	flush(ctx context.Context, tx *Tx) error
	remember(tx *Tx)
}

// InTx runs f in a transaction and writes the rows that it changed.
func InTx(ctx context.Context, db *bun.DB, f func(context.Context, *Tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	return conn.RunInTx(ctx, nil, func(ctx context.Context, sqlTx bun.Tx) error {
		tx := &Tx{tx: sqlTx, buffers: map[any]any{}, statements: map[string]*sql.Stmt{}}
		if db.Dialect().Name() == dialect.PG {
			tx.postgres = &conn
		}
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.flush(ctx)
	})
}

func (tx *Tx) flush(ctx context.Context) error {
	for _, b := range tx.order {
		if err := b.flush(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

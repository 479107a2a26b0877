package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"
)

// rowsPerInsert bounds one INSERT statement.
const rowsPerInsert = 250

// Table is a table of a projection. TableOf makes one.
type Table interface {
	tableName(db *bun.DB) string
	create(ctx context.Context, db bun.IDB) error
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
}

// TableOf declares a table by its key column, the function that returns a row's key, and its indexes.
func TableOf[K comparable, R any](column string, key func(*R) K, indexes ...Index) *Rows[K, R] {
	return &Rows[K, R]{column: column, key: key, indexes: indexes}
}

// Row returns a copy of the row under a key, nil when there is none.
func (t *Rows[K, R]) Row(ctx context.Context, tx *Tx, key K) (*R, error) {
	b := t.buffer(tx)
	if row, known := b.rows[key]; known {
		if row == nil {
			return nil, nil
		}
		copied := *row
		return &copied, nil
	}
	row := new(R)
	err := tx.tx.NewSelect().Model(row).Where("? = ?", bun.Ident(t.column), key).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

// Upsert inserts the row or replaces the one under its key.
func (t *Rows[K, R]) Upsert(tx *Tx, row *R) { t.buffer(tx).set(t.key(row), row) }

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

func (b *pending[K, R]) flush(ctx context.Context, tx bun.Tx) error {
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
		_, err := tx.NewDelete().Model((*R)(nil)).Where("? IN (?)", bun.Ident(b.table.column), bun.List(gone)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	onConflict := "CONFLICT (?) DO UPDATE" // bun adds every column but the key
	if len(tx.Dialect().Tables().Get(reflect.TypeFor[R]()).DataFields) == 0 {
		onConflict = "CONFLICT (?) DO NOTHING"
	}
	for len(put) > 0 {
		part := put[:min(rowsPerInsert, len(put))]
		put = put[len(part):]
		// Without Returning bun reads every empty nullable column back.
		_, err := tx.NewInsert().Model(&part).On(onConflict, bun.Ident(b.table.column)).Returning("NULL").Exec(ctx)
		if err != nil {
			return err
		}
	}
	b.rows, b.order = map[K]*R{}, nil
	return nil
}

func (t *Rows[K, R]) tableName(db *bun.DB) string {
	return db.Table(reflect.TypeFor[R]()).Name
}

func (t *Rows[K, R]) create(ctx context.Context, db bun.IDB) error {
	if _, err := db.NewCreateTable().Model((*R)(nil)).IfNotExists().Exec(ctx); err != nil {
		return err
	}
	for _, index := range t.indexes {
		if err := index.create(ctx, db, (*R)(nil)); err != nil {
			return fmt.Errorf("index %s: %w", index.Name, err)
		}
	}
	return nil
}

// Tx is the transaction of one batch. Handlers use it through Rows only.
type Tx struct {
	tx      bun.Tx
	buffers map[any]any
	order   []flusher
}

type flusher interface {
	flush(ctx context.Context, tx bun.Tx) error
}

// InTx runs f in a transaction and writes the rows that it changed.
func InTx(ctx context.Context, db *bun.DB, f func(context.Context, *Tx) error) error {
	return db.RunInTx(ctx, nil, func(ctx context.Context, sqlTx bun.Tx) error {
		tx := &Tx{tx: sqlTx, buffers: map[any]any{}}
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.flush(ctx)
	})
}

func (tx *Tx) flush(ctx context.Context) error {
	for _, b := range tx.order {
		if err := b.flush(ctx, tx.tx); err != nil {
			return err
		}
	}
	return nil
}

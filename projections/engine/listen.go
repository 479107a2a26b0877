package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// channel is where PostgreSQL tells other processes that a checkpoint moved.
const channel = "reckon_projections"

// relistenAfter is the pause before listening again when the connection failed.
const relistenAfter = time.Second

// bell wakes whoever waits for another process's progress.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

// notify tells other processes, once the transaction has committed.
func notify(ctx context.Context, tx bun.IDB) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil
	}
	_, err := tx.ExecContext(ctx, "NOTIFY "+channel)
	return err
}

// listen rings the bell whenever a checkpoint moves, where the database can
// tell; whoever waits looks by itself now and then too.
func listen(ctx context.Context, db *bun.DB, b *bell, logger *slog.Logger) {
	if db.Dialect().Name() != dialect.PG {
		return
	}
	for ctx.Err() == nil {
		if err := listenOnce(ctx, db, b); err != nil && ctx.Err() == nil {
			logger.Debug("listening for other processes' progress", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(relistenAfter):
		}
	}
}

func listenOnce(ctx context.Context, db *bun.DB, b *bell) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it listens no more either way
	return conn.Raw(func(driver any) error {
		pg := driver.(*stdlib.Conn).Conn()
		if _, err := pg.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
		for {
			if _, err := pg.WaitForNotification(ctx); err != nil {
				return err // the connection is closed with the context
			}
			b.ring()
		}
	})
}

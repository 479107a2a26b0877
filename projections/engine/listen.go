package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/internal/database"
)

// channel is the PostgreSQL notification channel on which processes report that a checkpoint moved.
const channel = "reckon_projections"

// relistenAfter is the pause before listening again after the connection has failed.
const relistenAfter = time.Second

// wakeUp wakes everyone who waits on next, each time it is sent.
type wakeUp struct {
	mu   sync.Mutex
	sent chan struct{}
}

func newWakeUp() *wakeUp { return &wakeUp{sent: make(chan struct{})} }

func (s *wakeUp) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.sent)
	s.sent = make(chan struct{})
}

func (s *wakeUp) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// notifyOtherProcesses tells the other processes that a checkpoint has moved, once tx commits.
func notifyOtherProcesses(ctx context.Context, tx bun.IDB) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil
	}
	_, err := tx.ExecContext(ctx, "NOTIFY "+channel)
	return err
}

// forwardNotifications sends moved whenever another process commits a checkpoint, until the
// context ends. Only PostgreSQL can tell; on SQLite it does nothing, and whoever
// waits reads the checkpoint every standbyPollInterval as well.
func forwardNotifications(ctx context.Context, db *bun.DB, moved *wakeUp, logger *slog.Logger) {
	if db.Dialect().Name() != dialect.PG {
		return
	}
	for ctx.Err() == nil {
		if err := forwardUntilDisconnected(ctx, db, moved); err != nil && ctx.Err() == nil {
			logger.Debug("listening for other processes' progress", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(relistenAfter):
		}
	}
}

func forwardUntilDisconnected(ctx context.Context, db *bun.DB, moved *wakeUp) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it listens no more either way
	return conn.Raw(func(raw any) error {
		pg := database.Unwrapped(raw).(*stdlib.Conn).Conn()
		if _, err := pg.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
		for {
			if _, err := pg.WaitForNotification(ctx); err != nil {
				return err // the connection is closed with the context
			}
			moved.send()
		}
	})
}

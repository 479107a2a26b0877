package database

import (
	"time"

	"github.com/uptrace/bun"
)

// WithBackgroundLimit is a pool whose calls in the background have another limit.
func WithBackgroundLimit(db *bun.DB, part string, limit time.Duration) *bun.DB {
	return db.WithQueryHook(limitCalls{part, limit})
}

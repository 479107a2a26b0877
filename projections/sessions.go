package projections

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/projections/engine"
)

// Sessions holds the owner and the use of each session that has not ended. Whether a
// session is evaluating is known to its owner only.
type Sessions struct{ from source }

// SessionRow is a session that has not ended.
type SessionRow struct {
	bun.BaseModel `bun:"table:sessions_v1,alias:s"`

	Stream      string `bun:"stream,pk"`
	Position    int64  `bun:"position,notnull"` // of the last event counted; events up to it are skipped
	Account     string `bun:"account,notnull"`
	SessionID   string `bun:"session_id,notnull"`
	Epoch       int    `bun:"epoch,notnull"`
	Owner       string `bun:"owner,notnull"`
	Address     string `bun:"address,notnull"`
	CreatedMS   int64  `bun:"created_ms,notnull"`   // Unix time in milliseconds
	LastUsedMS  int64  `bun:"last_used_ms,notnull"` // Unix time in milliseconds
	Evaluations int64  `bun:"evaluations,notnull"`
}

// CreatedAt is when the session was opened, UTC.
func (r SessionRow) CreatedAt() time.Time { return time.UnixMilli(r.CreatedMS).UTC() }

// LastUsedAt is when its last evaluation was logged, UTC.
func (r SessionRow) LastUsedAt() time.Time { return time.UnixMilli(r.LastUsedMS).UTC() }

var sessionRows = engine.TableOf("stream", func(r *SessionRow) string { return r.Stream },
	engine.Index{Name: "sessions_v1_account", Columns: "account, session_id"})

// Projection declares the table sessions_v1 and its handlers.
func (s *Sessions) Projection() engine.Projection {
	p := engine.Projection{Name: "sessions", Version: 1, Tables: []engine.Table{sessionRows}}
	engine.On(&p, s.opened)
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e session.Cleared, r event.Recorded) error {
		return s.ended(ctx, tx, e.Account, e.SessionID, e.Epoch)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e session.Expired, r event.Recorded) error {
		return s.ended(ctx, tx, e.Account, e.SessionID, e.Epoch)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e run.Evaluated, r event.Recorded) error {
		return s.used(ctx, tx, e.Subject, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e run.TimedOut, r event.Recorded) error {
		return s.used(ctx, tx, e.Subject, r)
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e run.Failed, r event.Recorded) error {
		return s.used(ctx, tx, e.Subject, r)
	})
	return p
}

func (*Sessions) opened(ctx context.Context, tx *engine.Tx, e session.Opened, r event.Recorded) error {
	stream, at := session.Stream(e.Account, e.SessionID), r.Metadata.At.UnixMilli()
	known, err := sessionRows.Row(ctx, tx, stream)
	if err != nil || known != nil && known.Epoch >= e.Epoch {
		return err
	}
	sessionRows.Upsert(tx, &SessionRow{
		Stream: stream, Position: int64(r.Position.Commit), Account: e.Account, SessionID: e.SessionID,
		Epoch: e.Epoch, Owner: e.Owner, Address: e.Address, CreatedMS: at, LastUsedMS: at,
	})
	return nil
}

func (*Sessions) ended(ctx context.Context, tx *engine.Tx, account, sessionID string, epoch int) error {
	stream := session.Stream(account, sessionID)
	known, err := sessionRows.Row(ctx, tx, stream)
	if err == nil && known != nil && known.Epoch <= epoch {
		sessionRows.Delete(tx, stream)
	}
	return err
}

func (*Sessions) used(ctx context.Context, tx *engine.Tx, s run.Subject, r event.Recorded) error {
	if s.SessionID == "" {
		return nil
	}
	return sessionRows.Update(ctx, tx, session.Stream(s.Account, s.SessionID), func(row *SessionRow) {
		if position := int64(r.Position.Commit); row.Position < position {
			row.Position, row.LastUsedMS = position, r.Metadata.At.UnixMilli()
			row.Evaluations++
		}
	})
}

// List returns an account's sessions that have not ended, by name. The plan bounds their number.
func (s *Sessions) List(ctx context.Context, account string) ([]SessionRow, error) {
	var rows []SessionRow
	err := s.from.db.NewSelect().Model(&rows).Where("account = ?", account).Order("session_id").Scan(ctx)
	return rows, err
}

package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/ratelimit"
)

// Rules bound how often clients may register and sign in.
type Rules struct {
	Registrations ratelimit.Rule // per client address
	SignIns       ratelimit.Rule // per client address, and per email address
}

// DefaultRules are the built-in ones: 5 registrations per address and
// hour, 10 sign-ins a minute per address and per account.
func DefaultRules() Rules {
	return Rules{
		Registrations: ratelimit.Rule{Requests: 5, Window: time.Hour},
		SignIns:       ratelimit.Rule{Requests: 10, Window: time.Minute},
	}
}

// RegistrationsLeft is the allowance of a client address, without counting an attempt.
func (s *Store) RegistrationsLeft(ctx context.Context, address string) (ratelimit.Allowance, error) {
	return s.windows.Peek(ctx, "register:"+address, s.rules.Registrations, s.now())
}

// SignInsLeft is the allowance of a client address, without counting an attempt.
func (s *Store) SignInsLeft(ctx context.Context, address string) (ratelimit.Allowance, error) {
	return s.windows.Peek(ctx, "sign-in:"+address, s.rules.SignIns, s.now())
}

// CountRegistration counts an attempt to register from a client address.
func (s *Store) CountRegistration(ctx context.Context, address string) (ratelimit.Allowance, error) {
	return s.windows.Count(ctx, "register:"+address, s.rules.Registrations, s.now())
}

// CountSignIn counts an attempt to sign in for the client address and for the e-mail
// address, registered or not, and returns the allowance with fewer requests left.
func (s *Store) CountSignIn(ctx context.Context, address, email string) (ratelimit.Allowance, error) {
	now := s.now()
	ofAddress, err := s.windows.Count(ctx, "sign-in:"+address, s.rules.SignIns, now)
	if err != nil || !ofAddress.Allowed {
		return ofAddress, err
	}
	key, ok := emailKey(email)
	if !ok {
		return ofAddress, nil
	}
	ofAccount, err := s.windows.Count(ctx, "sign-in:"+hashOf(key), s.rules.SignIns, now)
	if err != nil || ofAccount.Remaining < ofAddress.Remaining || !ofAccount.Allowed {
		return ofAccount, err
	}
	return ofAddress, nil
}

// Windows is a ratelimit.Limiter that several processes share.
type Windows struct {
	db    *bun.DB
	taken atomic.Int64
}

// NewWindows counts in the identity tables of a database.
func NewWindows(db *bun.DB) *Windows { return &Windows{db: db} }

// sweepEvery is how many requests pass between two removals of ended windows.
const sweepEvery = 1000

// Count is ratelimit.Limiter: one statement, so that concurrent requests are all counted.
func (w *Windows) Count(ctx context.Context, key string, rule ratelimit.Rule, now time.Time) (ratelimit.Allowance, error) {
	if w.taken.Add(1)%sweepEvery == 0 {
		if _, err := w.db.NewDelete().Model((*windowRow)(nil)).Where("ends_at <= ?", now.UnixMilli()).Exec(ctx); err != nil {
			return ratelimit.Allowance{}, fmt.Errorf("identity: windows: %w", err)
		}
	}
	var row windowRow
	err := w.db.NewRaw(`INSERT INTO identity_windows (key, started_at, ends_at, used) VALUES (?, ?, ?, 1)
		ON CONFLICT (key) DO UPDATE SET
			used = CASE WHEN identity_windows.ends_at <= excluded.started_at THEN 1 ELSE identity_windows.used + 1 END,
			started_at = CASE WHEN identity_windows.ends_at <= excluded.started_at THEN excluded.started_at ELSE identity_windows.started_at END,
			ends_at = CASE WHEN identity_windows.ends_at <= excluded.started_at THEN excluded.ends_at ELSE identity_windows.ends_at END
		RETURNING key, started_at, ends_at, used`,
		key, now.UnixMilli(), now.Add(rule.Window).UnixMilli()).Scan(ctx, &row)
	if err != nil {
		return ratelimit.Allowance{}, fmt.Errorf("identity: windows: %w", err)
	}
	return ratelimit.NewAllowance(rule, time.UnixMilli(row.StartedAt), row.Used), nil
}

// Peek is ratelimit.Limiter.
func (w *Windows) Peek(ctx context.Context, key string, rule ratelimit.Rule, now time.Time) (ratelimit.Allowance, error) {
	var row windowRow
	err := w.db.NewSelect().Model(&row).Where("key = ? AND ends_at > ?", key, now.UnixMilli()).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ratelimit.NewAllowance(rule, now, 0), nil
	case err != nil:
		return ratelimit.Allowance{}, fmt.Errorf("identity: windows: %w", err)
	}
	return ratelimit.NewAllowance(rule, time.UnixMilli(row.StartedAt), row.Used), nil
}

// GiveBack is ratelimit.Limiter.
func (w *Windows) GiveBack(ctx context.Context, key string, counted ratelimit.Allowance) (ratelimit.Allowance, error) {
	var row windowRow
	err := w.db.NewRaw(`UPDATE identity_windows SET used = CASE WHEN used > ? THEN ? ELSE used END - 1
		WHERE key = ? AND ends_at = ? AND used > 0 RETURNING key, started_at, ends_at, used`,
		counted.Limit, counted.Limit, key, counted.ResetAt.UnixMilli()).Scan(ctx, &row)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return counted, nil
	case err != nil:
		return counted, fmt.Errorf("identity: windows: %w", err)
	}
	return counted.Restored(row.Used), nil
}

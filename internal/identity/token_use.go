package identity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"
)

// usedToday holds the tokens whose use on the current UTC day is stored.
type usedToday struct {
	mu     sync.Mutex
	day    string
	tokens map[string]bool
	after  time.Time // nothing is stored before: the database was away
}

// usePause is how long after a failure uses are not stored, so that an outage does not cost, or log, every request.
const usePause = 30 * time.Second

// useLimit is how long a request waits for its token's use to be stored.
const useLimit = time.Second

// firstUse reports whether this is the token's first call on a day, in this process.
func (u *usedToday) firstUse(token, day string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Before(u.after) {
		return false
	}
	if u.day != day {
		u.day, u.tokens = day, map[string]bool{}
	}
	if u.tokens[token] {
		return false
	}
	u.tokens[token] = true
	return true
}

// failed makes the token's next use, after a pause, its first one again.
func (u *usedToday) failed(token string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.tokens, token)
	u.after = now.Add(usePause)
}

// TokenUsed stores the UTC day of a token's last use: one row per token, written at most
// once a day by each process. After an error nothing is stored for a pause, without an error. It is shown to the token's owner and decides nothing.
func (s *Store) TokenUsed(ctx context.Context, tokenID string) error {
	now := s.now()
	day := now.UTC().Format(time.DateOnly)
	if !s.used.firstUse(tokenID, day, now) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, useLimit)
	defer cancel()
	row := tokenUseRow{TokenID: tokenID, LastUsedOn: day}
	if _, err := s.db.NewInsert().Model(&row).On("CONFLICT (token_id) DO UPDATE").Set("last_used_on = excluded.last_used_on").Exec(ctx); err != nil {
		s.used.failed(tokenID, now)
		return fmt.Errorf("identity: token use: %w", err)
	}
	return nil
}

// LastUsed returns the UTC day (YYYY-MM-DD) of each token's last use, by token id; a token
// that was never used is absent.
func (s *Store) LastUsed(ctx context.Context, tokenIDs []string) (map[string]string, error) {
	days := map[string]string{}
	if len(tokenIDs) == 0 {
		return days, nil
	}
	var rows []tokenUseRow
	if err := s.db.NewSelect().Model(&rows).Where("token_id IN ?", bun.Tuple(tokenIDs)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("identity: token use: %w", err)
	}
	for _, row := range rows {
		days[row.TokenID] = row.LastUsedOn
	}
	return days, nil
}

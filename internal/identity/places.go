package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/database"
)

// Places counts the evaluation sessions of accounts over all processes of an installation: a session that is opened takes a place.
// The log says which sessions live; a place is given up when somebody needs it and its session has ended.
type Places struct {
	store *Store
	own   func(accountID string) int
	away  func(error)
}

// NewPlaces counts in the tables of a store. While these are away each process counts the sessions that it holds itself, which own
// returns, and away is called.
func NewPlaces(store *Store, own func(accountID string) int, away func(error)) *Places {
	return &Places{store: store, own: own, away: away}
}

// placeGrace is how long a place is held for a session that the log does not have yet: longer than the append that opens it takes,
// with the minute by which clocks may differ.
const placeGrace = 2 * time.Minute

// Take is commands.Places.
func (p *Places) Take(ctx context.Context, accountID, sessionID string, most int, ended func(ctx context.Context, sessionID string) (bool, error)) (taken bool, err error) {
	holders, err := p.take(ctx, accountID, sessionID, most, nil)
	if err == nil && len(holders) > 0 {
		var free []placeRow
		for _, h := range holders {
			if !h.Opened && p.store.now().Sub(time.UnixMilli(h.TakenAt)) < placeGrace {
				continue // it may be about to be opened
			}
			over, err := ended(ctx, h.SessionID)
			if err != nil {
				return false, err
			}
			if over {
				free = append(free, h)
			}
		}
		if len(free) == 0 {
			return false, nil
		}
		holders, err = p.take(ctx, accountID, sessionID, most, free)
	}
	if _, gone := errors.AsType[*database.UnavailableError](err); gone {
		p.away(err)
		return p.own(accountID) < most, nil
	}
	return len(holders) == 0, err
}

// take removes free places that nobody has taken anew, and takes one for the session; when none is left it returns who has them.
func (p *Places) take(ctx context.Context, accountID, sessionID string, most int, free []placeRow) (holders []placeRow, err error) {
	err = p.store.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if err := database.Lock(ctx, tx, "places of "+accountID); err != nil {
			return err
		}
		for _, row := range free {
			if _, err := tx.NewDelete().Model((*placeRow)(nil)).Where("account = ? AND session_id = ? AND taken_at = ?", accountID, row.SessionID, row.TakenAt).Exec(ctx); err != nil {
				return err
			}
		}
		if err := tx.NewSelect().Model(&holders).Where("account = ? AND session_id <> ?", accountID, sessionID).Scan(ctx); err != nil {
			return err
		}
		if len(holders) >= most {
			return nil
		}
		holders = nil
		mine := placeRow{Account: accountID, SessionID: sessionID, TakenAt: p.store.now().UnixMilli()}
		_, err := tx.NewInsert().Model(&mine).On("CONFLICT (account, session_id) DO UPDATE").Set("taken_at = excluded.taken_at, opened = excluded.opened").Exec(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("identity: places: %w", err)
	}
	return holders, nil
}

// Opened is commands.Places.
func (p *Places) Opened(ctx context.Context, accountID, sessionID string) error {
	_, err := p.store.db.NewUpdate().Model((*placeRow)(nil)).Set("opened = ?", true).Where("account = ? AND session_id = ?", accountID, sessionID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("identity: places: %w", err)
	}
	return nil
}

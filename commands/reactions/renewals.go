package reactions

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
)

// DueSubscriptions proposes accounts; it may be behind the log.
type DueSubscriptions interface {
	// DueSubscriptions returns up to limit accounts, in the order in which something became due for them until now, after one
	// of them; the zero Due is before all.
	DueSubscriptions(ctx context.Context, now time.Time, after billing.Due, limit int) ([]billing.Due, error)
}

// RenewalInterval is the time between two looks for subscriptions that are due.
const RenewalInterval = time.Minute

// duePage is the number of due accounts read at once.
const duePage = 100

// Renewals renews subscriptions and ends them when it is time. Several processes may do so at once, and a process may die at any
// moment: each account's stream decides what is due of it, and what was decided is due no longer. All fields are required.
type Renewals struct {
	Store  commands.Store
	Plans  account.Plans
	Due    DueSubscriptions
	Clock  commands.Clock
	Logger *slog.Logger
	Build  string // revision of this binary, for metadata
}

// Run looks once per RenewalInterval until the context ends, and then returns nil.
func (r *Renewals) Run(ctx context.Context) error {
	ticker := time.NewTicker(RenewalInterval)
	defer ticker.Stop()
	for {
		if _, err := r.Look(ctx); err != nil && ctx.Err() == nil {
			r.Logger.Warn("subscriptions that are due could not be looked up or renewed; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Look does what is due of every account that is proposed, and returns how many were. An account whose renewal fails is left
// for the next look; the error is the first one.
func (r *Renewals) Look(ctx context.Context) (looked int, err error) {
	now, after := r.Clock.Now(), billing.Due{}
	for {
		page, failed := r.Due.DueSubscriptions(ctx, now, after, duePage)
		if failed != nil {
			return looked, failed
		}
		for _, due := range page {
			looked++
			if failed := r.advance(ctx, due.Account); failed != nil && err == nil {
				err = failed
			}
			if ctx.Err() != nil {
				return looked, err
			}
		}
		if len(page) < duePage {
			return looked, err
		}
		after = page[len(page)-1]
	}
}

func (r *Renewals) advance(ctx context.Context, accountID string) error {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	in := commands.Intent{ID: uuid.New(), At: r.Clock.Now(), Account: accountID, Actor: "reaction:renew_subscriptions", Build: r.Build}
	return commands.AdvanceSubscription(ctx, r.Store, r.Plans, in)
}

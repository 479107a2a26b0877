package projections

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/domain/token"
	"reckon/projections/engine"
)

// Tokens lists an account's API tokens that were not revoked. Authentication does not read
// it: it folds the token's stream.
type Tokens struct{ from source }

// TokenRow is a token that was not revoked.
type TokenRow struct {
	bun.BaseModel `bun:"table:tokens_v2,alias:t"`

	TokenID   string `bun:"token_id,pk"`
	Position  int64  `bun:"position,notnull"`
	Account   string `bun:"account,notnull"`
	Name      Text   `bun:"name,type:text,notnull"`
	Last4     string `bun:"last4,notnull"`
	Scopes    string `bun:"scopes,notnull"`     // names with spaces between them; empty: full access
	CreatedMS int64  `bun:"created_ms,notnull"` // Unix time in milliseconds
	ExpiresAt string `bun:"expires_at,nullzero"`
}

// ScopeSet is what the token may do; the empty set is everything that the account may.
func (r TokenRow) ScopeSet() scope.Set { return scope.Known(strings.Fields(r.Scopes)) }

// CreatedAt is when the token was minted, UTC.
func (r TokenRow) CreatedAt() time.Time { return time.UnixMilli(r.CreatedMS).UTC() }

// ExpiredAt reports whether the token has expired at a time.
func (r TokenRow) ExpiredAt(now time.Time) bool {
	if r.ExpiresAt == "" {
		return false
	}
	expires, err := event.ParseTimestamp(r.ExpiresAt)
	return err != nil || !now.Before(expires)
}

var tokenRows = engine.TableOf("token_id", func(r *TokenRow) string { return r.TokenID },
	engine.Index{Name: "tokens_v2_newest", Columns: "account, position DESC"})

// Projection declares the table tokens_v2 and its handlers.
func (*Tokens) Projection() engine.Projection {
	p := engine.Projection{Name: "tokens", Version: 2, Tables: []engine.Table{tokenRows}}
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e token.Minted, r event.Recorded) error {
		tokenRows.Upsert(tx, &TokenRow{
			TokenID: e.TokenID, Position: int64(r.Position.Commit), Account: e.Account, Name: Text(e.Name), Last4: e.Last4, Scopes: scope.Known(e.Scopes).String(),
			CreatedMS: r.Metadata.At.UnixMilli(), ExpiresAt: e.ExpiresAt,
		})
		return nil
	})
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e token.Revoked, _ event.Recorded) error {
		tokenRows.Delete(tx, e.TokenID)
		return nil
	})
	return p
}

// List returns a page of an account's tokens, newest first, and the cursor of the next
// page, which is empty on the last. A bad parameter is a *QueryError.
func (t *Tokens) List(ctx context.Context, account string, p Page) (rows []TokenRow, next string, err error) {
	query := t.from.db.NewSelect().Model((*TokenRow)(nil)).Where("account = ?", account)
	return newestPage(ctx, query, p, func(r TokenRow) int64 { return r.Position })
}

package identity

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/internal/auth"
	"reckon/internal/database"
	"reckon/internal/passwords"
)

const (
	// SessionLifetime is how long a browser session lasts.
	SessionLifetime = 14 * 24 * time.Hour
	// maxSignIns is how many browser sessions an account has at a time: one more ends the oldest.
	maxSignIns = 100
	// maxSignInAgentBytes is what is kept of the name of the client that signed in.
	maxSignInAgentBytes = 100
)

// Client is who signs in, as its request says.
type Client struct {
	Address string   // IPv4 or IPv6 address, or a network of addresses
	Agent   string   // its name, as text
	Devices []string // what it shows of what NewDevice makes, of this address, of others, or of nobody's making
}

// network is the IPv4 /24 or IPv6 /48 of the client: enough for a person to know a place, and no address. It is empty for an
// address that cannot be read.
func (c Client) network() string {
	bare, _, _ := strings.Cut(c.Address, "/")
	address, err := netip.ParseAddr(bare)
	if err != nil {
		return ""
	}
	bits := 48
	if address = address.Unmap().WithZone(""); address.Is4() {
		bits = 24
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return ""
	}
	return network.String()
}

func (c Client) agent() string {
	if len(c.Agent) <= maxSignInAgentBytes {
		return c.Agent
	}
	return strings.ToValidUTF8(c.Agent[:maxSignInAgentBytes], "")
}

// Session is a new browser session. Its secret is not stored and cannot be read again.
type Session struct {
	Account   string
	Secret    string // the cookie's value
	ExpiresAt time.Time
}

// OpenSession opens a browser session for an account without asking for its password, which the caller has made sure of otherwise.
func (s *Store) OpenSession(ctx context.Context, account string, lifetime time.Duration, from Client) (Session, error) {
	return s.openSession(ctx, account, lifetime, from, "")
}

// openSession opens a session; with a password's hash, only while that is the account's. It ends sessions that have expired, and the
// account's oldest beyond maxSignIns.
func (s *Store) openSession(ctx context.Context, account string, lifetime time.Duration, from Client, passwordHash string) (Session, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	now := s.now()
	opened := Session{Account: account, Secret: base64.RawURLEncoding.EncodeToString(secret), ExpiresAt: now.Add(lifetime)}
	row := sessionRow{Hash: hashOf(opened.Secret), Account: account, CreatedAt: now.UnixMilli(), ExpiresAt: opened.ExpiresAt.UnixMilli(), Agent: from.agent(), Network: from.network()}
	err := s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if passwordHash != "" {
			// The row is locked: a change of the password comes before, and is seen here, or after, and ends this session.
			if err := wantOne(tx.NewUpdate().Model((*accountRow)(nil)).Set("state = state").Where("id = ? AND password_hash = ?", account, passwordHash).Exec(ctx)); err != nil {
				return err
			}
		}
		if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("expires_at <= ?", now.UnixMilli()).Exec(ctx); err != nil {
			return err
		}
		newest := tx.NewSelect().Model((*sessionRow)(nil)).Column("hash").Where("account = ?", account).OrderExpr("created_at DESC, hash").Limit(maxSignIns)
		_, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("account = ? AND hash NOT IN (?)", account, newest).Exec(ctx)
		return err
	})
	switch {
	case errors.Is(err, errNotOne):
		return Session{}, ErrWrongCredentials
	case err != nil:
		return Session{}, fmt.Errorf("identity: sign in: %w", err)
	}
	return opened, nil
}

// errNotOne means that a statement changed no row, or several.
var errNotOne = errors.New("the row is another one now")

func wantOne(changed sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errNotOne, err)
	}
	return nil
}

// SessionAccount is auth.Sessions. It stores the UTC day of the session's last use, once a day.
func (s *Store) SessionAccount(ctx context.Context, secret string) (string, error) {
	var row sessionRow
	err := s.db.NewSelect().Model(&row).Where("hash = ? AND expires_at > ?", hashOf(secret), s.now().UnixMilli()).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", auth.ErrSessionNotFound
	}
	if err != nil {
		return "", fmt.Errorf("identity: session: %w", err)
	}
	if today := s.now().UTC().Format(time.DateOnly); row.LastUsedOn != today {
		limited, cancel := context.WithTimeout(ctx, useLimit)
		defer cancel()
		_, _ = s.db.NewUpdate().Model((*sessionRow)(nil)).Set("last_used_on = ?", today).Where("hash = ?", row.Hash).Exec(limited) // shown to its owner, decides nothing; the next request tries again
	}
	return row.Account, nil
}

// SignOut ends a browser session. It is no error when the session has ended.
func (s *Store) SignOut(ctx context.Context, secret string) error {
	if _, err := s.db.NewDelete().Model((*sessionRow)(nil)).Where("hash = ?", hashOf(secret)).Exec(ctx); err != nil {
		return fmt.Errorf("identity: sign out: %w", err)
	}
	return nil
}

// SignedIn is a browser session as its account's owner sees it.
type SignedIn struct {
	ID         string // auth.SignInID of its secret
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedOn string // UTC day, YYYY-MM-DD; empty: not since it was opened
	Agent      string // empty: the client did not say
	Network    string // of addresses; empty: not known
	Current    bool   // the one that asks
}

// SignIns lists an account's browser sessions, newest first, at most maxSignIns. secret is that of the one that asks.
func (s *Store) SignIns(ctx context.Context, account, secret string) ([]SignedIn, error) {
	var rows []sessionRow
	err := s.db.NewSelect().Model(&rows).Where("account = ? AND expires_at > ?", account, s.now().UnixMilli()).OrderExpr("created_at DESC, hash").Limit(maxSignIns).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("identity: sign-ins: %w", err)
	}
	list, current := make([]SignedIn, len(rows)), hashOf(secret)
	for i, row := range rows {
		list[i] = SignedIn{
			ID: row.Hash[:auth.SignInIDDigits], CreatedAt: time.UnixMilli(row.CreatedAt).UTC(), ExpiresAt: time.UnixMilli(row.ExpiresAt).UTC(),
			LastUsedOn: row.LastUsedOn, Agent: row.Agent, Network: row.Network, Current: row.Hash == current,
		}
	}
	return list, nil
}

// EndSignIn ends a browser session of an account by its id, or returns ErrSignInNotFound.
func (s *Store) EndSignIn(ctx context.Context, account, id string) error {
	err := wantOne(s.db.NewDelete().Model((*sessionRow)(nil)).Where("account = ? AND substr(hash, 1, ?) = ?", account, auth.SignInIDDigits, id).Exec(ctx))
	switch {
	case errors.Is(err, errNotOne):
		return ErrSignInNotFound
	case err != nil:
		return fmt.Errorf("identity: end a sign-in: %w", err)
	}
	return nil
}

// EndSignIns ends all browser sessions of an account and counts them.
func (s *Store) EndSignIns(ctx context.Context, account string) (ended int64, err error) {
	result, err := s.db.NewDelete().Model((*sessionRow)(nil)).Where("account = ?", account).Exec(ctx)
	if err == nil {
		ended, err = result.RowsAffected()
	}
	if err != nil {
		return 0, fmt.Errorf("identity: end sign-ins: %w", err)
	}
	return ended, nil
}

// IsPassword reports whether a text is the password of an account. An account without one has none that is right.
func (s *Store) IsPassword(ctx context.Context, account, password string) (bool, error) {
	row, known, err := s.accountByID(ctx, account)
	if err != nil {
		return false, err
	}
	return s.matches(ctx, password, row, known)
}

func (s *Store) accountByID(ctx context.Context, account string) (row accountRow, known bool, err error) {
	err = s.db.NewSelect().Model(&row).Where("id = ?", account).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return accountRow{}, false, nil
	}
	if err != nil {
		return accountRow{}, false, fmt.Errorf("identity: %w", err)
	}
	return row, true, nil
}

// ChangePassword replaces the password of an account and ends its browser sessions but the one of secret. A sign-in with the old
// password that is under way fails. Errors: ErrInvalidPassword for the new one, ErrWrongPassword for the present one, passwords.ErrBusy.
func (s *Store) ChangePassword(ctx context.Context, account, present, replacement, secret string) error {
	if !passwords.Valid(replacement) {
		return ErrInvalidPassword
	}
	row, known, err := s.accountByID(ctx, account)
	if err != nil {
		return err
	}
	switch same, err := s.matches(ctx, present, row, known); {
	case err != nil:
		return err
	case !same:
		return ErrWrongPassword
	}
	return s.setPassword(ctx, row, replacement, hashOf(secret))
}

// SetPassword replaces the password of an account, whatever it is now, and ends all its browser sessions. Errors: ErrInvalidPassword,
// ErrAccountNotFound, passwords.ErrBusy.
func (s *Store) SetPassword(ctx context.Context, account, replacement string) error {
	if !passwords.Valid(replacement) {
		return ErrInvalidPassword
	}
	row, known, err := s.accountByID(ctx, account)
	if err != nil {
		return err
	}
	if !known {
		return ErrAccountNotFound
	}
	return s.setPassword(ctx, row, replacement, "")
}

// setPassword replaces the password that a row holds, unless another has replaced it since, and ends the sessions but one.
func (s *Store) setPassword(ctx context.Context, row accountRow, replacement, keptSession string) error {
	hash, err := s.hasher.Hash(ctx, replacement)
	if err != nil {
		return err
	}
	err = s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if err := wantOne(tx.NewUpdate().Model((*accountRow)(nil)).Set("password_hash = ?", hash).Where("id = ? AND password_hash = ?", row.ID, row.PasswordHash).Exec(ctx)); err != nil {
			return err
		}
		_, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("account = ? AND hash <> ?", row.ID, keptSession).Exec(ctx)
		return err
	})
	switch {
	case errors.Is(err, errNotOne):
		return ErrWrongPassword
	case err != nil:
		return fmt.Errorf("identity: password: %w", err)
	}
	return nil
}

// Forget removes everything of an account, and the use of its tokens: from the files of SQLite too, when it returns. It may be repeated. A
// sign-in that is under way fails.
func (s *Store) Forget(ctx context.Context, account string, tokens []string) error {
	err := s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for _, removed := range []*bun.DeleteQuery{
			tx.NewDelete().Model((*accountRow)(nil)).Where("id = ?", account),
			tx.NewDelete().Model((*sessionRow)(nil)).Where("account = ?", account),
			tx.NewDelete().Model((*placeRow)(nil)).Where("account = ?", account),
		} {
			if _, err := removed.Exec(ctx); err != nil {
				return err
			}
		}
		for some := range slices.Chunk(tokens, forgottenAtOnce) {
			if _, err := tx.NewDelete().Model((*tokenUseRow)(nil)).Where("token_id IN ?", bun.Tuple(some)).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("identity: forget: %w", err)
	}
	return s.emptyJournal(ctx)
}

// emptyJournal moves what SQLite's write-ahead log holds into the file and cuts the log to nothing: it has older states of every page that
// was written. Other connections are waited for as for any lock.
func (s *Store) emptyJournal(ctx context.Context) error {
	if s.db.Dialect().Name() != dialect.SQLite {
		return nil
	}
	var busy, frames, moved int
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return fmt.Errorf("identity: write-ahead log: %w", err)
	}
	if busy != 0 {
		return &database.UnavailableError{Part: part, Err: errJournalBusy}
	}
	return nil
}

// errJournalBusy means that somebody has read an older state of the tables for as long as a lock is waited for.
var errJournalBusy = errors.New("the write-ahead log is in use")

// forgottenAtOnce is how many tokens one statement names.
const forgottenAtOnce = 500

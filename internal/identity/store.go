package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/internal/auth"
)

// SessionLifetime is how long a browser session lasts.
const SessionLifetime = 14 * 24 * time.Hour

var (
	// ErrInvalidEmail is returned for a text that is no e-mail address.
	ErrInvalidEmail = errors.New("this is not an email address")
	// ErrInvalidPassword means that a password is too short or too long.
	ErrInvalidPassword = fmt.Errorf("a password has %d to %d characters", MinPasswordRunes, MaxPasswordRunes)
	// ErrEmailTaken means that the address is registered already.
	ErrEmailTaken = errors.New("this address is already registered; sign in instead")
	// ErrWrongCredentials is returned for an unknown address and for a wrong password alike.
	ErrWrongCredentials = errors.New("wrong email or password")
	// ErrAccountNotFound is returned for an address that is not registered.
	ErrAccountNotFound = errors.New("no account has this address")
)

// Store reads and writes the identity tables. Its methods may be called concurrently.
type Store struct {
	db      *bun.DB
	now     func() time.Time
	hasher  hasher
	rules   Rules
	windows *Windows
	used    usedToday
	salt    atomic.Pointer[string] // of the windows' keys; nil: not read yet
}

// New returns a Store over a database that Open returned.
func New(db *bun.DB, now func() time.Time, rules Rules) *Store {
	return &Store{db: db, now: now, hasher: newHasher(), rules: rules, windows: NewWindows(db)}
}

// LogRegistration appends account.registered to the log. It is idempotent.
type LogRegistration func(ctx context.Context, account string) error

// Register inserts a pending row for the address, calls announce, and makes the row
// active. After a crash in between SignIn does the rest. Errors: ErrInvalidEmail,
// ErrInvalidPassword, ErrEmailTaken, or that of announce.
func (s *Store) Register(ctx context.Context, email, password string, announce LogRegistration) (account string, err error) {
	key, ok := emailKey(email)
	switch {
	case !ok:
		return "", ErrInvalidEmail
	case !validPassword(password):
		return "", ErrInvalidPassword
	}
	// Hashed before the address is looked up, so that the time does not show whether it is registered.
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return "", err
	}
	row := accountRow{ID: uuid.NewString(), Email: email, EmailKey: key, PasswordHash: hash, State: accountPending, CreatedAt: s.now().UnixMilli()}
	inserted, err := s.db.NewInsert().Model(&row).On("CONFLICT (email_key) DO NOTHING").Exec(ctx)
	if err != nil {
		return "", fmt.Errorf("identity: register: %w", err)
	}
	if n, err := inserted.RowsAffected(); err != nil || n == 0 {
		return "", errors.Join(ErrEmailTaken, err)
	}
	return row.ID, s.activate(ctx, row.ID, announce)
}

func (s *Store) activate(ctx context.Context, account string, announce LogRegistration) error {
	if err := announce(ctx, account); err != nil {
		return err
	}
	_, err := s.db.NewUpdate().Model((*accountRow)(nil)).Set("state = ?", accountActive).Where("id = ?", account).Exec(ctx)
	if err != nil {
		return fmt.Errorf("identity: activate: %w", err)
	}
	return nil
}

// Session is a new browser session. Its secret is not stored and cannot be read again.
type Session struct {
	Account   string
	Secret    string // the cookie's value
	ExpiresAt time.Time
}

// SignIn checks a password and opens a browser session of SessionLifetime. It completes a
// registration that was interrupted. Errors: ErrWrongCredentials, or that of announce.
func (s *Store) SignIn(ctx context.Context, email, password string, announce LogRegistration) (Session, error) {
	row, err := s.findAccount(ctx, email)
	known := err == nil
	if err != nil && !errors.Is(err, ErrAccountNotFound) {
		return Session{}, err
	}
	if !known {
		row.PasswordHash = unknownAccountHash
	}
	if !validPassword(password) { // a password of any length is not hashed, but something is, so that it takes as long
		known, password = false, "not a password"
	}
	matches, err := s.hasher.matches(ctx, password, row.PasswordHash)
	switch {
	case err != nil:
		return Session{}, err
	case !matches || !known:
		return Session{}, ErrWrongCredentials
	}
	if row.State == accountPending {
		if err := s.activate(ctx, row.ID, announce); err != nil {
			return Session{}, err
		}
	}
	return s.OpenSession(ctx, row.ID, SessionLifetime)
}

// OpenSession opens a browser session for an account without asking for its password, which the caller has made sure of otherwise.
func (s *Store) OpenSession(ctx context.Context, account string, lifetime time.Duration) (Session, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	now := s.now()
	opened := Session{Account: account, Secret: base64.RawURLEncoding.EncodeToString(secret), ExpiresAt: now.Add(lifetime)}
	row := sessionRow{Hash: hashOf(opened.Secret), Account: account, CreatedAt: now.UnixMilli(), ExpiresAt: opened.ExpiresAt.UnixMilli()}
	if _, err := s.db.NewInsert().Model(&row).Exec(ctx); err != nil {
		return Session{}, fmt.Errorf("identity: sign in: %w", err)
	}
	if _, err := s.db.NewDelete().Model((*sessionRow)(nil)).Where("expires_at <= ?", now.UnixMilli()).Exec(ctx); err != nil {
		return Session{}, fmt.Errorf("identity: sign in: %w", err)
	}
	return opened, nil
}

// SessionAccount is auth.Sessions.
func (s *Store) SessionAccount(ctx context.Context, secret string) (string, error) {
	var row sessionRow
	err := s.db.NewSelect().Model(&row).Where("hash = ? AND expires_at > ?", hashOf(secret), s.now().UnixMilli()).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", auth.ErrSessionNotFound
	}
	if err != nil {
		return "", fmt.Errorf("identity: session: %w", err)
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

// AccountOf returns the id of the account with an address, or ErrAccountNotFound.
func (s *Store) AccountOf(ctx context.Context, email string) (account string, err error) {
	row, err := s.findAccount(ctx, email)
	return row.ID, err
}

// Ready returns an error when the tables cannot be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.db.NewSelect().Model((*accountRow)(nil)).Limit(1).Count(ctx)
	return err
}

func (s *Store) findAccount(ctx context.Context, email string) (accountRow, error) {
	var row accountRow
	key, ok := emailKey(email)
	if !ok {
		return row, ErrAccountNotFound
	}
	err := s.db.NewSelect().Model(&row).Where("email_key = ?", key).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return accountRow{}, ErrAccountNotFound
	}
	if err != nil {
		return row, fmt.Errorf("identity: %w", err)
	}
	return row, nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

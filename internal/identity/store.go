package identity

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/internal/passwords"
)

var (
	// ErrInvalidEmail is returned for a text that is no e-mail address.
	ErrInvalidEmail = errors.New("this is not an email address")
	// ErrInvalidPassword means that a password is too short or too long.
	ErrInvalidPassword = fmt.Errorf("a password has %d to %d characters of UTF-8", passwords.MinRunes, passwords.MaxRunes)
	// ErrEmailTaken means that the address is registered already.
	ErrEmailTaken = errors.New("this address is already registered; sign in instead")
	// ErrWrongPassword means that the password given with a request of a signed-in person is not the account's.
	ErrWrongPassword = errors.New("this is not the account's password")
	// ErrSignInNotFound means that the account has no such sign-in.
	ErrSignInNotFound = errors.New("no such sign-in")
	// ErrWrongCredentials is returned for an unknown address and for a wrong password alike.
	ErrWrongCredentials = errors.New("wrong email or password")
	// ErrAccountNotFound is returned for an address that is not registered.
	ErrAccountNotFound = errors.New("no account has this address")
)

// Store reads and writes the identity tables. Its methods may be called concurrently.
type Store struct {
	db      *bun.DB
	now     func() time.Time
	hasher  passwords.Hasher
	rules   Rules
	windows *Windows
	used    usedToday
	clients atomic.Int64           // registered by this process
	salt    atomic.Pointer[string] // of the windows' keys; nil: not read yet
}

// New returns a Store over a database that Open returned.
func New(db *bun.DB, now func() time.Time, rules Rules, hasher passwords.Hasher) *Store {
	return &Store{db: db, now: now, hasher: hasher, rules: rules, windows: NewWindows(db)}
}

// LogRegistration appends account.registered to the log. It is idempotent.
type LogRegistration func(ctx context.Context, account string) error

// Register inserts a pending row for the address, calls announce, and makes the row
// active. After a crash in between SignIn does the rest. Errors: ErrInvalidEmail,
// ErrInvalidPassword, ErrEmailTaken, passwords.ErrBusy, or that of announce.
func (s *Store) Register(ctx context.Context, email, password string, announce LogRegistration) (account string, err error) {
	key, ok := emailKey(email)
	switch {
	case !ok:
		return "", ErrInvalidEmail
	case !passwords.Valid(password):
		return "", ErrInvalidPassword
	}
	// Hashed before the address is looked up, so that the time does not show whether it is registered.
	hash, err := s.hasher.Hash(ctx, password)
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

// SignIn checks a password and opens a browser session of SessionLifetime. It completes a
// registration that was interrupted. Errors: ErrWrongCredentials, passwords.ErrBusy, or that of announce.
func (s *Store) SignIn(ctx context.Context, email, password string, from Client, announce LogRegistration) (Session, error) {
	row, err := s.findAccount(ctx, email)
	known := err == nil
	if err != nil && !errors.Is(err, ErrAccountNotFound) {
		return Session{}, err
	}
	matches, err := s.matches(ctx, password, row, known)
	switch {
	case err != nil:
		return Session{}, err
	case !matches:
		return Session{}, ErrWrongCredentials
	}
	if row.State == accountPending {
		if err := s.activate(ctx, row.ID, announce); err != nil {
			return Session{}, err
		}
	}
	return s.openSession(ctx, row.ID, SessionLifetime, from, row.PasswordHash)
}

// matches compares a password with that of an account. It takes as long for one that is not known, and for a text that cannot be a
// password, which is not hashed however long it is.
func (s *Store) matches(ctx context.Context, password string, row accountRow, known bool) (bool, error) {
	if !known {
		row.PasswordHash = s.hasher.OfNobody()
	}
	if !passwords.Valid(password) {
		known, password = false, "not a password"
	}
	same, err := s.hasher.Matches(ctx, password, row.PasswordHash)
	return same && known, err
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

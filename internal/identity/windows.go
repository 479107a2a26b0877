package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/ratelimit"
)

// Rules bound how often clients may register and sign in.
type Rules struct {
	Registrations ratelimit.Rule // per client address
	SignIns       ratelimit.Rule // as CountSignIn says; and attempts of who is signed in to give the password, per account
}

// failedSignIns bounds the wrong passwords for an e-mail address that come from devices that have not signed in to it before, all together.
func (r Rules) failedSignIns() ratelimit.Rule {
	return ratelimit.Rule{Requests: strangersFactor * r.SignIns.Requests, Window: time.Hour}
}

// strangersFactor makes the default 100 an hour: NIST SP 800-63B section 5.2.2 has at most 100 wrong passwords in a row.
const strangersFactor = 10

// DefaultRules are the built-in ones: 5 registrations per address and
// hour, 10 sign-ins a minute per address, per network and account, and per known device.
func DefaultRules() Rules {
	return Rules{
		Registrations: ratelimit.Rule{Requests: 5, Window: time.Hour},
		SignIns:       ratelimit.Rule{Requests: 10, Window: time.Minute},
	}
}

// RegistrationsLeft is the allowance of a client address, without counting an attempt.
func (s *Store) RegistrationsLeft(ctx context.Context, address string) (ratelimit.Allowance, error) {
	return s.peek(ctx, "register", address, s.rules.Registrations)
}

// SignInsLeft is the allowance of a client address, without counting an attempt.
func (s *Store) SignInsLeft(ctx context.Context, address string) (ratelimit.Allowance, error) {
	return s.peek(ctx, "sign-in", address, s.rules.SignIns)
}

// CountRegistration counts an attempt to register from a client address.
func (s *Store) CountRegistration(ctx context.Context, address string) (ratelimit.Allowance, error) {
	return s.count(ctx, "register", address, s.rules.Registrations)
}

// SignInAttempt is an attempt to sign in that was counted.
type SignInAttempt struct {
	ratelimit.Allowance // of all that it was counted in the one with the fewest requests left

	strangers   string // key of the window of the e-mail address's unknown devices; empty: it is not counted there
	ofStrangers ratelimit.Allowance
}

// CountSignIn counts an attempt to sign in to an e-mail address, registered or not (docs/adr/0032):
//   - of a device that has signed in to this address before, by the device alone, so that nobody else can use its attempts up;
//   - of any other by the client address, by the client's network together with the e-mail address, and as one of all unknown devices
//     that try this e-mail address, which SignedIn takes back for a right password.
func (s *Store) CountSignIn(ctx context.Context, from Client, email string) (SignInAttempt, error) {
	key, ok := emailKey(email)
	if !ok {
		ofAddress, err := s.count(ctx, "sign-in", from.Address, s.rules.SignIns)
		return SignInAttempt{Allowance: ofAddress}, err
	}
	device, err := s.deviceOf(ctx, key, from.Devices)
	if err != nil {
		return SignInAttempt{}, err
	}
	if device != "" {
		ofDevice, err := s.count(ctx, "sign-in-device", device, s.rules.SignIns)
		return SignInAttempt{Allowance: ofDevice}, err
	}
	least, err := s.count(ctx, "sign-in", from.Address, s.rules.SignIns)
	if err != nil || !least.Allowed {
		return SignInAttempt{Allowance: least}, err
	}
	ofNetwork, err := s.count(ctx, "sign-in-from", from.network()+"\x00"+key, s.rules.SignIns)
	if err != nil || !ofNetwork.Allowed {
		return SignInAttempt{Allowance: ofNetwork}, err
	}
	strangers, err := s.windowKey(ctx, "sign-in-to", key)
	if err != nil {
		return SignInAttempt{}, err
	}
	ofStrangers, err := s.windows.Count(ctx, strangers, s.rules.failedSignIns(), s.now())
	if err != nil {
		return SignInAttempt{}, err
	}
	for _, other := range []ratelimit.Allowance{ofNetwork, ofStrangers} {
		if !other.Allowed || other.Remaining < least.Remaining {
			least = other
		}
	}
	return SignInAttempt{Allowance: least, strangers: strangers, ofStrangers: ofStrangers}, nil
}

// SignedIn says that an attempt was right: it is not counted with the wrong ones of unknown devices.
func (s *Store) SignedIn(ctx context.Context, a SignInAttempt) error {
	if a.strangers == "" {
		return nil
	}
	_, err := s.windows.GiveBack(ctx, a.strangers, a.ofStrangers)
	return err
}

// Stranger names a client address in an hour by what tells nothing of it and is another one in every hour: the key of counters that
// are kept elsewhere.
func (s *Store) Stranger(ctx context.Context, address string, hour time.Time) (string, error) {
	return s.windowKey(ctx, "stranger-"+strconv.FormatInt(hour.Unix()/3600, 36), address)
}

// PasswordsLeft is the allowance of an account's signed-in people to give its password, without counting an attempt.
func (s *Store) PasswordsLeft(ctx context.Context, account string) (ratelimit.Allowance, error) {
	return s.windows.Peek(ctx, "password:"+account, s.rules.SignIns, s.now())
}

// CountPassword counts an attempt of an account's signed-in people to give its password.
func (s *Store) CountPassword(ctx context.Context, account string) (ratelimit.Allowance, error) {
	return s.windows.Count(ctx, "password:"+account, s.rules.SignIns, s.now())
}

func (s *Store) count(ctx context.Context, what, whose string, rule ratelimit.Rule) (ratelimit.Allowance, error) {
	key, err := s.windowKey(ctx, what, whose)
	if err != nil {
		return ratelimit.Allowance{}, err
	}
	return s.windows.Count(ctx, key, rule, s.now())
}

func (s *Store) peek(ctx context.Context, what, whose string, rule ratelimit.Rule) (ratelimit.Allowance, error) {
	key, err := s.windowKey(ctx, what, whose)
	if err != nil {
		return ratelimit.Allowance{}, err
	}
	return s.windows.Peek(ctx, key, rule, s.now())
}

// windowsOfStrangers is how many windows there are of each kind that whoever asks may name as they like, by client or e-mail address.
// Two that share one share its limit: with 10,000 addresses at a time one in a hundred does.
const windowsOfStrangers = 1 << 20

// windowKey is the key of a client's or e-mail address: a number below windowsOfStrangers that tells nothing of the address, and that
// nobody can find another address for who does not know the salt.
func (s *Store) windowKey(ctx context.Context, what, whose string) (string, error) {
	salt, err := s.windowSalt(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(what + "\x00" + whose))
	return fmt.Sprintf("%s:%05x", what, binary.BigEndian.Uint32(mac.Sum(nil))%windowsOfStrangers), nil
}

// windowSalt is the same in every process of an installation; the first one makes it.
func (s *Store) windowSalt(ctx context.Context) (string, error) {
	if known := s.salt.Load(); known != nil {
		return *known, nil
	}
	var salt string
	err := s.db.NewRaw(`INSERT INTO identity_salts (name, salt) VALUES ('windows', ?) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING salt`, rand.Text()).Scan(ctx, &salt)
	if err != nil {
		return "", fmt.Errorf("identity: salt: %w", err)
	}
	s.salt.Store(&salt)
	return salt, nil
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

// Windows are the counters of the store, which other limits of accounts may use too.
func (s *Store) Windows() *Windows { return s.windows }

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

package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"

	"reckon/eventstore/node/eventlog"
	"reckon/internal/passwords"
)

const (
	maxCredentialBytes = 2048             // of the authorization header
	knownFor           = 10 * time.Minute // since a verified password was last used
	maxKnown           = 4096             // verified passwords
)

// Errors of Authenticate and of Session.Principal: the caller is not who they say, or not any more.
var (
	ErrCredentials    = errors.New("the user does not exist, is disabled, or has another password")
	ErrMalformed      = errors.New("the authorization header is not one Basic credential (RFC 7617)")
	ErrTooManyGuesses = errors.New("too many wrong passwords: try again in some minutes")
	ErrEnded          = errors.New("the user was deleted or disabled, or has a new password")
)

// Principal is who calls: a user, by name and groups.
type Principal struct {
	Name   string
	groups []string
}

// Is reports whether the principal has a role: their name, a group of theirs, or $all.
func (p *Principal) Is(role string) bool {
	return role == Everyone || role == p.Name || slices.Contains(p.groups, role)
}

// Authenticator verifies credentials by the users in a log.
type Authenticator struct {
	log     *eventlog.Log
	clock   func() time.Time
	hasher  passwords.Hasher
	guesses *guesses
	secret  [32]byte           // of the keys in known
	flights singleflight.Group // one verification for calls that come together with the same password

	mu    sync.Mutex
	known map[[32]byte]knownPassword
}

// knownPassword is a password that was verified against a version of a user's record.
type knownPassword struct {
	version uint64
	used    time.Time
}

// NewAuthenticator returns one for a log; clock is for the windows of wrong passwords.
func NewAuthenticator(log *eventlog.Log, hasher passwords.Hasher, clock func() time.Time) *Authenticator {
	a := &Authenticator{log: log, clock: clock, hasher: hasher, guesses: newGuesses(), known: map[[32]byte]knownPassword{}}
	_, _ = rand.Read(a.secret[:]) // it never fails
	return a
}

// Session is the use of one verified password.
type Session struct {
	log  *eventlog.Log
	name string
	hash string // of the password that was verified

	mu        sync.Mutex
	version   uint64
	principal *Principal
}

// Login returns the name of the session's user.
func (s *Session) Login() string { return s.name }

// Stream returns the stream that holds the session's user.
func (s *Session) Stream() string { return userStreamPrefix + s.name }

// Authenticate returns the session of the credentials in the values of the authorization
// header. from is the client's address, by which wrong passwords are counted. Errors:
// ErrMalformed, ErrCredentials, ErrTooManyGuesses, passwords.ErrBusy, the context's, the log's.
func (a *Authenticator) Authenticate(ctx context.Context, header []string, from string) (*Session, error) {
	name, password, err := parseBasic(header)
	if err != nil {
		return nil, err
	}
	user, version, found, err := a.user(name)
	if err != nil {
		return nil, err
	}
	key := a.key(name, password)
	if !found || !a.isKnown(key, version) {
		if err := a.verify(ctx, key, password, name, from, user.Hash, found); err != nil {
			return nil, err
		}
		a.remember(key, version)
	}
	return &Session{log: a.log, name: name, hash: user.Hash, version: version, principal: &Principal{name, user.Groups}}, nil
}

// CheckPassword returns the enabled user whose password this is; wrong ones are counted as those of
// Authenticate are. Errors: ErrCredentials, ErrTooManyGuesses, passwords.ErrBusy, the log's.
func (a *Authenticator) CheckPassword(ctx context.Context, name, password, from string) (User, error) {
	user, _, found, err := a.user(name)
	if err != nil {
		return User{}, err
	}
	return user, a.verify(ctx, a.key(name, password), password, name, from, user.Hash, found)
}

// verify compares a password with a user's, or with nobody's where there is no such user, and counts those that are wrong.
func (a *Authenticator) verify(ctx context.Context, key [32]byte, password, name, from, hash string, found bool) error {
	_, err, _ := a.flights.Do(string(key[:])+from, func() (any, error) {
		if !a.guesses.take(a.clock(), from, name) {
			return nil, ErrTooManyGuesses
		}
		if !found {
			hash = a.hasher.OfNobody()
		}
		// not ctx: who shares this flight must not fail because the first caller left
		same, err := a.hasher.Matches(context.WithoutCancel(ctx), password, hash)
		switch {
		case err == nil && (!same || !found):
			return nil, ErrCredentials
		case err != nil && !errors.Is(err, passwords.ErrBusy):
			return nil, ErrCredentials // a record that cannot be read lets nobody in
		}
		a.guesses.giveBack(from, name) // it was right, or not tried
		return nil, err
	})
	return err
}

// user returns an enabled user and the version of their record.
func (a *Authenticator) user(name string) (User, uint64, bool, error) {
	view, err := a.log.View()
	if err != nil {
		return User{}, 0, false, err
	}
	defer view.Close()
	return findUser(view, name)
}

func findUser(view *eventlog.View, name string) (user User, version uint64, found bool, err error) {
	if !loginName.MatchString(name) {
		return User{}, 0, false, nil
	}
	record, found, err := newest(view, userStreamPrefix+name)
	if err != nil || !found {
		return User{}, 0, false, err
	}
	user, found = parseUser(record.Data, name)
	return user, record.Position, found && !user.Disabled, nil
}

func (a *Authenticator) key(name, password string) (key [32]byte) {
	mac := hmac.New(sha256.New, a.secret[:])
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(name))))
	mac.Write([]byte(name))
	mac.Write([]byte(password))
	mac.Sum(key[:0])
	return key
}

func (a *Authenticator) isKnown(key [32]byte, version uint64) bool {
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.known[key]
	if !ok || k.version != version || now.Sub(k.used) > knownFor {
		delete(a.known, key)
		return false
	}
	a.known[key] = knownPassword{version, now}
	return true
}

func (a *Authenticator) remember(key [32]byte, version uint64) {
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for old, k := range a.known {
		if len(a.known) < maxKnown {
			break
		}
		if now.Sub(k.used) > knownFor || len(a.known) >= maxKnown {
			delete(a.known, old)
		}
	}
	a.known[key] = knownPassword{version, now}
}

// Principal returns who the session's user is in the log as the view shows it. Errors: ErrEnded, or the log's.
func (s *Session) Principal(view *eventlog.View) (*Principal, error) {
	user, version, found, err := findUser(view, s.name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !found || user.Hash != s.hash:
		return nil, ErrEnded
	case version != s.version:
		s.version, s.principal = version, &Principal{s.name, user.Groups}
	}
	return s.principal, nil
}

// parseBasic returns the name and password of exactly one Basic credential (RFC 7617).
func parseBasic(header []string) (name, password string, err error) {
	if len(header) != 1 || len(header[0]) > maxCredentialBytes {
		return "", "", ErrMalformed
	}
	scheme, encoded, found := strings.Cut(header[0], " ")
	if !found || !strings.EqualFold(scheme, "Basic") {
		return "", "", ErrMalformed
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || !utf8.Valid(plain) {
		return "", "", ErrMalformed
	}
	name, password, found = strings.Cut(string(plain), ":")
	if !found {
		return "", "", ErrMalformed
	}
	return name, password, nil
}

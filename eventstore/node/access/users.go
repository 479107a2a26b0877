package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"reckon/eventstore/node/eventlog"
	"reckon/internal/passwords"
)

// Types of the events that hold users.
const (
	userCreatedType = "$UserCreated"
	userUpdatedType = "$UserUpdated"
	userNamedType   = "$User" // in UsersStream: the data is a login name
)

// Bounds of a user's record.
const (
	maxGroups     = 64
	maxGroupBytes = 128
	maxFullName   = 256 // bytes
)

// maxNames bounds the names that users were ever created with: each creation reads them.
const maxNames = 10_000

// maxUpdates is how often a change of a user is tried again that another change came before.
const maxUpdates = 3

// loginName is what a user can be called. It begins with no $, so that no user has a role's name.
var loginName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}$`)

// User is the record of a user: the newest event of the stream $user-NAME has it whole.
type User struct {
	LoginName string   `json:"loginName"`
	FullName  string   `json:"fullName"`
	Groups    []string `json:"groups"`
	Disabled  bool     `json:"disabled"`
	Hash      string   `json:"hash"` // argon2id of the password

	Updated time.Time `json:"-"` // when this record was written
}

// Errors of the directory.
var (
	ErrNoSuchUser      = errors.New("there is no such user")
	ErrUserExists      = errors.New("a user of this name exists")
	ErrInvalidLogin    = errors.New("a login name has 1 to 64 of A-Z a-z 0-9 . _ @ + -, and begins with a letter, a digit or _")
	ErrInvalidGroups   = fmt.Errorf("a user is in at most %d groups, whose names have 1 to %d bytes and are not $all", maxGroups, maxGroupBytes)
	ErrInvalidFullName = fmt.Errorf("a full name has at most %d bytes", maxFullName)
	ErrTooManyUsers    = fmt.Errorf("users were created with %d names, and there can be no more", maxNames)
	ErrChanged         = errors.New("the user's password was changed at the same time")
	ErrInvalidPassword = fmt.Errorf("a password has %d to %d characters of UTF-8", passwords.MinRunes, passwords.MaxRunes)
)

// Store is the log, as the directory of users needs it.
type Store interface {
	// Newest returns the newest event of a stream; found is false when a read shows none.
	Newest(ctx context.Context, stream string) (newest Stored, found bool, err error)
	// All returns the data of a stream's events.
	All(ctx context.Context, stream string) ([][]byte, error)
	// Append appends an event of JSON. A stream that is not as expected is *eventlog.WrongExpectedRevisionError.
	Append(ctx context.Context, stream string, expected eventlog.Expected, eventType string, data []byte) error
	// Delete soft-deletes a stream that exists.
	Delete(ctx context.Context, stream string) error
}

// Stored is an event of a stream.
type Stored struct {
	Data     []byte
	Revision uint64
	Written  time.Time
}

// Directory manages users in a log.
type Directory struct {
	Store  Store
	Hasher passwords.Hasher
}

// Create makes a user. Errors: ErrUserExists, ErrInvalidLogin, ErrInvalidGroups, ErrInvalidFullName,
// ErrInvalidPassword, ErrTooManyUsers, passwords.ErrBusy, or the store's.
func (d Directory) Create(ctx context.Context, login, fullName string, groups []string, password string) error {
	switch {
	case !loginName.MatchString(login):
		return ErrInvalidLogin
	case len(fullName) > maxFullName:
		return ErrInvalidFullName
	case !validGroups(groups):
		return ErrInvalidGroups
	}
	names, err := d.Names(ctx)
	switch {
	case err != nil:
		return err
	case len(names) >= maxNames && !names[login]:
		return ErrTooManyUsers
	}
	hash, err := d.hash(ctx, password)
	if err != nil {
		return err
	}
	record, err := json.Marshal(User{LoginName: login, FullName: fullName, Groups: slices.Clone(groups), Hash: hash})
	if err != nil {
		return err
	}
	err = d.Store.Append(ctx, userStreamPrefix+login, eventlog.NoStream(), userCreatedType, record)
	exists := errors.As(err, new(*eventlog.WrongExpectedRevisionError))
	if err != nil && !exists {
		return err
	}
	// also for one who exists: a crash may have come before their name was written
	if err := d.name(ctx, login); err != nil {
		return err
	}
	if exists {
		return ErrUserExists
	}
	return nil
}

// name writes a user's name where List finds it, once.
func (d Directory) name(ctx context.Context, login string) error {
	names, err := d.Names(ctx)
	if err != nil || names[login] {
		return err
	}
	named, err := json.Marshal(login)
	if err != nil {
		return err
	}
	return d.Store.Append(ctx, UsersStream, eventlog.Any(), userNamedType, named)
}

// SetPassword replaces a user's password; what runs with the old one ends.
// Errors: ErrNoSuchUser, ErrInvalidPassword, passwords.ErrBusy, or the store's.
func (d Directory) SetPassword(ctx context.Context, login, password string) error {
	if _, _, err := d.find(ctx, login); err != nil {
		return err
	}
	hash, err := d.hash(ctx, password)
	if err != nil {
		return err
	}
	return d.update(ctx, login, func(u *User) error { u.Hash = hash; return nil })
}

// ReplacePassword is SetPassword for a user whose password was verified against a hash. Errors: also
// ErrChanged, when that is the user's no more.
func (d Directory) ReplacePassword(ctx context.Context, login, verified, password string) error {
	hash, err := d.hash(ctx, password)
	if err != nil {
		return err
	}
	return d.update(ctx, login, func(u *User) error {
		if u.Hash != verified {
			return ErrChanged
		}
		u.Hash = hash
		return nil
	})
}

// Update replaces the full name and groups of a user, and the password unless it is empty.
// Errors: ErrNoSuchUser, ErrInvalidFullName, ErrInvalidGroups, ErrInvalidPassword, passwords.ErrBusy, or the store's.
func (d Directory) Update(ctx context.Context, login, fullName string, groups []string, password string) error {
	switch {
	case len(fullName) > maxFullName:
		return ErrInvalidFullName
	case !validGroups(groups):
		return ErrInvalidGroups
	}
	if _, _, err := d.find(ctx, login); err != nil {
		return err
	}
	hash := ""
	if password != "" {
		var err error
		if hash, err = d.hash(ctx, password); err != nil {
			return err
		}
	}
	return d.update(ctx, login, func(u *User) error {
		u.FullName, u.Groups = fullName, slices.Clone(groups)
		if hash != "" {
			u.Hash = hash
		}
		return nil
	})
}

// SetGroups replaces the groups that a user is in. Errors: ErrNoSuchUser, ErrInvalidGroups, or the store's.
func (d Directory) SetGroups(ctx context.Context, login string, groups []string) error {
	if !validGroups(groups) {
		return ErrInvalidGroups
	}
	return d.update(ctx, login, func(u *User) error { u.Groups = slices.Clone(groups); return nil })
}

// SetDisabled disables or enables a user; what a disabled one runs ends. Errors: ErrNoSuchUser, or the store's.
func (d Directory) SetDisabled(ctx context.Context, login string, disabled bool) error {
	return d.update(ctx, login, func(u *User) error { u.Disabled = disabled; return nil })
}

// Delete deletes a user; what they run ends. Errors: ErrNoSuchUser, or the store's.
func (d Directory) Delete(ctx context.Context, login string) error {
	if _, _, err := d.find(ctx, login); err != nil {
		return err
	}
	return d.Store.Delete(ctx, userStreamPrefix+login)
}

// Find returns a user. Errors: ErrNoSuchUser, or the store's.
func (d Directory) Find(ctx context.Context, login string) (User, error) {
	user, _, err := d.find(ctx, login)
	return user, err
}

// List returns the users by name, without those deleted.
func (d Directory) List(ctx context.Context) ([]User, error) {
	users := []User{}
	err := d.Each(ctx, func(u User) error { users = append(users, u); return nil })
	return users, err
}

// Each calls f with each user by name, without those deleted, until it returns an error.
func (d Directory) Each(ctx context.Context, f func(User) error) error {
	names, err := d.Names(ctx)
	if err != nil {
		return err
	}
	for _, login := range slices.Sorted(maps.Keys(names)) {
		user, _, err := d.find(ctx, login)
		switch {
		case err == nil:
			err = f(user)
		case errors.Is(err, ErrNoSuchUser):
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Names returns the names that users were ever created with.
func (d Directory) Names(ctx context.Context) (map[string]bool, error) {
	events, err := d.Store.All(ctx, UsersStream)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, raw := range events {
		var login string
		if json.Unmarshal(raw, &login) == nil {
			names[login] = true
		}
	}
	return names, nil
}

// find returns a user and the revision of their record.
func (d Directory) find(ctx context.Context, login string) (User, uint64, error) {
	if !loginName.MatchString(login) {
		return User{}, 0, ErrNoSuchUser
	}
	newest, found, err := d.Store.Newest(ctx, userStreamPrefix+login)
	if err != nil {
		return User{}, 0, err
	}
	if !found {
		return User{}, 0, ErrNoSuchUser
	}
	user, ok := parseUser(newest.Data, login)
	if !ok {
		return User{}, 0, fmt.Errorf("the newest event of stream %s%s is no user's record: delete the user and make another", userStreamPrefix, login)
	}
	user.Updated = newest.Written
	return user, newest.Revision, nil
}

// update changes a user's record as it is when the change is written.
func (d Directory) update(ctx context.Context, login string, change func(*User) error) (err error) {
	for range maxUpdates {
		if err = d.updateOnce(ctx, login, change); !errors.As(err, new(*eventlog.WrongExpectedRevisionError)) {
			break
		}
	}
	return err
}

func (d Directory) updateOnce(ctx context.Context, login string, change func(*User) error) error {
	user, revision, err := d.find(ctx, login)
	if err != nil {
		return err
	}
	if err := change(&user); err != nil {
		return err
	}
	record, err := json.Marshal(user)
	if err != nil {
		return err
	}
	return d.Store.Append(ctx, userStreamPrefix+login, eventlog.Revision(revision), userUpdatedType, record)
}

func (d Directory) hash(ctx context.Context, password string) (string, error) {
	if !passwords.Valid(password) {
		return "", ErrInvalidPassword
	}
	return d.Hasher.Hash(ctx, password)
}

func validGroups(groups []string) bool {
	return len(groups) <= maxGroups && !slices.ContainsFunc(groups, func(g string) bool { return g == "" || g == Everyone || len(g) > maxGroupBytes })
}

// parseUser reads a user's record. It is nobody's unless it names the user whose stream it is in.
func parseUser(data []byte, login string) (User, bool) {
	var user User
	if json.Unmarshal(data, &user) != nil || user.LoginName != login || !loginName.MatchString(login) {
		return User{}, false
	}
	return user, true
}

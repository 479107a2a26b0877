// Package passwords hashes passwords and compares them with their hashes.
//
// It promises that at most one hash per core is computed at a time, that few wait, and that
// a comparison takes as long when there is nothing to compare with. It stores nothing and
// never logs.
package passwords

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// Cost is what an argon2id hash takes: memory in KiB and passes over it, in one lane (RFC 9106 names the parameters).
type Cost struct{ MemoryKiB, Passes uint32 }

// Standard is what every hash of a service takes: 19 MiB, two passes (OWASP Password Storage Cheat Sheet).
var Standard = Cost{19 * 1024, 2}

const (
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// Bounds of a password in characters (interface §8).
const (
	MinRunes = 8
	MaxRunes = 128
)

// Hasher computes at most one hash per core at a time: each takes a core, and 19 MiB at the standard cost. As many more wait as are computed
// in about a second; whoever comes then is told to come again.
type Hasher struct {
	cost         Cost
	slots, queue chan struct{}
}

// waitingPerCore is how many passwords wait for each core.
const waitingPerCore = 32

// ErrBusy means that too many passwords wait to be checked.
var ErrBusy = errors.New("too many people sign in at this moment; try again in a moment")

// NewHasher returns an idle one, for hashes of this cost only.
func NewHasher(cost Cost) Hasher {
	cores := runtime.GOMAXPROCS(0)
	return Hasher{cost: cost, slots: make(chan struct{}, cores), queue: make(chan struct{}, cores*(1+waitingPerCore))}
}

// AtMost returns one that computes so many hashes at a time, for who needs the other cores.
func (h Hasher) AtMost(atATime int) Hasher {
	h.slots = make(chan struct{}, atATime)
	return h
}

// deriveKey is the argon2id of a password in NFC, so that the same characters typed on
// another system are the same password (RFC 8265 §4.2).
func (h Hasher) deriveKey(ctx context.Context, password string, salt []byte) ([]byte, error) {
	select {
	case h.queue <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	defer func() { <-h.queue }()
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	return argon2.IDKey(norm.NFC.AppendString(nil, password), salt, h.cost.Passes, h.cost.MemoryKiB, lanes, hashBytes), nil
}

// Hash is the encoded form of a new password. Errors: ErrBusy, or the context's.
func (h Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	key, err := h.deriveKey(ctx, password, salt)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, h.parameters(), encode(salt), encode(key)), nil
}

// parameters is how an encoded hash names the cost.
func (h Hasher) parameters() string {
	return fmt.Sprintf("m=%d,t=%d,p=%d", h.cost.MemoryKiB, h.cost.Passes, lanes)
}

// OfNobody is a hash to compare with when there is no such user, so that the answer takes as long.
func (h Hasher) OfNobody() string {
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, h.parameters(),
		strings.Repeat("A", base64.RawStdEncoding.EncodedLen(saltBytes)), strings.Repeat("A", base64.RawStdEncoding.EncodedLen(hashBytes)))
}

// Matches compares a password with an encoded hash in constant time. Errors: ErrBusy, the
// context's, or that of a hash that is none of this package's.
func (h Hasher) Matches(ctx context.Context, password, encoded string) (bool, error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[3] != h.parameters() {
		return false, fmt.Errorf("a stored password hash has parameters this binary does not know")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("stored salt: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("stored hash: %w", err)
	}
	got, err := h.deriveKey(ctx, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// Valid refuses what is not UTF-8 too: JSON cannot carry it, and so nobody could sign in with it.
func Valid(password string) bool {
	n := utf8.RuneCountInString(password)
	return utf8.ValidString(password) && n >= MinRunes && n <= MaxRunes
}

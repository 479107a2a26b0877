package keys

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// MinPublished is the time that a key is published before it may seal, so that
// every cache of the key set (max-age 300 s) has it. The first key of a
// deployment seals at once: nothing can have been sealed before it.
const MinPublished = 10 * time.Minute

// Key is one key as the log tells it.
type Key struct {
	KID         string
	X           string
	PublishedAt time.Time
	ActiveFrom  time.Time // zero until activated
	RetiredAt   time.Time // zero until retired
	number      int       // of the key, in the order in which they were published
}

// State is all keys.
type State struct {
	byKID  decider.Map[Key]
	Active string // KID of the key that seals; empty without one
}

// Keys returns the keys in the order in which they were published.
func (s State) Keys() []Key {
	keys := make([]Key, 0, s.byKID.Len())
	for _, k := range s.byKID.All() {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return a.number - b.number })
	return keys
}

// Find returns the key with this kid.
func (s State) Find(kid string) (Key, bool) { return s.byKID.Get(kid) }

// Command is one of Publish, Activate.
type Command interface{ keysCommand() }

// Publish makes a public key known; X is its JWK member x. A key that is known stays as it is.
type Publish struct {
	KID, X string
	Now    time.Time
}

// Activate lets a published key seal from now on and retires the key that did. It is
// refused with ErrNotPublished, ErrRetired, ErrNoPrivateHalf and ErrPublishedTooRecently.
type Activate struct {
	KID   string
	Proof []byte // signature of ActivationProof(KID) by the key: proves that the activator holds its private half
	Now   time.Time

	logged bool // it has been decided: the proof is not kept
}

// ActivationProof is the text that a key's private half signs for Activate. It is no JSON, so that it is never
// the canonical form of anything sealed.
func ActivationProof(kid string) []byte { return []byte("reckon key.activated " + kid) }

// retire ends the sealing of the key that sealed before the active one.
type retire struct {
	KID string
	Now time.Time
}

func (Publish) keysCommand()  {}
func (Activate) keysCommand() {}
func (retire) keysCommand()   {}

var (
	// ErrNotPublished means that a key was to seal before it was published.
	ErrNotPublished = errors.New("the key is not published")
	// ErrRetired means that a retired key was to seal again.
	ErrRetired = errors.New("the key is retired")
	// ErrNoPrivateHalf means that an activation has no signature by the key's private half. Without that half the key
	// could seal nothing.
	ErrNoPrivateHalf = errors.New("a key is activated only with its private half")
	// ErrPublishedTooRecently means that the key has not been published for MinPublished.
	ErrPublishedTooRecently = fmt.Errorf("the key must be published for %v before it seals", MinPublished)
)

// Decider is the write model of Stream.
var Decider = decider.Decider[Command, State]{
	Initial: func() State { return State{} },
	Decide:  decide,
	Evolve:  evolve,
}

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Publish:
		if _, known := s.Find(c.KID); known {
			return nil, nil
		}
		return []event.Event{Published{KID: c.KID, X: c.X, At: event.Timestamp(c.Now)}}, nil
	case Activate:
		return activate(c, s)
	case retire:
		if key, known := s.Find(c.KID); !known || key.ActiveFrom.IsZero() || !key.RetiredAt.IsZero() || s.Active == c.KID {
			return nil, nil
		}
		return []event.Event{Retired{KID: c.KID, At: event.Timestamp(c.Now)}}, nil
	}
	return nil, fmt.Errorf("keys: unknown command %T", c)
}

func activate(c Activate, s State) ([]event.Event, error) {
	key, known := s.Find(c.KID)
	switch {
	case !known:
		return nil, ErrNotPublished
	case !key.RetiredAt.IsZero():
		return nil, ErrRetired
	case s.Active == c.KID:
		return nil, nil
	case !c.logged && !proven(key, c.Proof):
		return nil, ErrNoPrivateHalf
	case s.Active == "":
		return []event.Event{Activated{KID: c.KID, At: event.Timestamp(c.Now)}}, nil
	case c.Now.Sub(key.PublishedAt) < MinPublished:
		return nil, ErrPublishedTooRecently
	}
	return []event.Event{Activated{KID: c.KID, At: event.Timestamp(c.Now)}, Retired{KID: s.Active, At: event.Timestamp(c.Now)}}, nil
}

func proven(key Key, proof []byte) bool {
	public, err := DecodeX(key.X)
	return err == nil && ed25519.Verify(public, ActivationProof(key.KID), proof)
}

func evolve(s State, e event.Event) State {
	update := func(kid string, f func(*Key)) {
		if key, known := s.Find(kid); known {
			f(&key)
			s.byKID = s.byKID.With(kid, key)
		}
	}
	switch e := e.(type) {
	case Published:
		s.byKID = s.byKID.With(e.KID, Key{KID: e.KID, X: e.X, PublishedAt: parseOrZero(e.At), number: s.byKID.Len()})
	case Activated:
		s.Active = e.KID
		update(e.KID, func(k *Key) { k.ActiveFrom = parseOrZero(e.At) })
	case Retired:
		if s.Active == e.KID {
			s.Active = ""
		}
		update(e.KID, func(k *Key) { k.RetiredAt = parseOrZero(e.At) })
	}
	return s
}

// parseOrZero is the time that an event holds. Only event.Timestamp writes it, so that it
// always parses; the zero time otherwise.
func parseOrZero(s string) time.Time {
	t, _ := event.ParseTimestamp(s)
	return t
}

package commands

import (
	"context"
	"crypto/ed25519"
	"time"

	"reckon/domain/keys"
)

// PublishKey makes a public key known; it seals nothing yet. A key that is known
// already stays as it is. It returns the keys after the command; its errors are Handle's.
func PublishKey(ctx context.Context, store Store, in Intent, public ed25519.PublicKey) (keys.State, error) {
	s, _, err := Handle(ctx, store, keys.Decider, keys.Stream, in,
		keys.Command(keys.Publish{KID: keys.Thumbprint(public), X: keys.EncodeX(public), Now: in.At}))
	return s, err
}

// PrivateKeys are the private halves of signing keys that this process can read.
type PrivateKeys interface {
	// Generate makes a pair, keeps its private half durably and returns the public one.
	Generate() (ed25519.PublicKey, error)
	// Sign signs with the private half of a key; an error when it is not there.
	Sign(kid string, message []byte) ([]byte, error)
	// Holds reports whether the private half of a key is there and can be used.
	Holds(kid string) bool
}

// ActivateKey lets a published key seal from now on and retires the one that did; own must hold its private half.
// It returns the keys after the command, keys.ErrNotPublished for a key that is not known,
// keys.ErrPublishedTooRecently for one that was published less than keys.MinPublished ago, or
// an error of Handle or own.
func ActivateKey(ctx context.Context, store Store, in Intent, own PrivateKeys, kid string) (keys.State, error) {
	proof, err := own.Sign(kid, keys.ActivationProof(kid))
	if err != nil {
		return keys.State{}, err
	}
	s, _, err := Handle(ctx, store, keys.Decider, keys.Stream, in,
		keys.Command(keys.Activate{KID: kid, Proof: proof, Now: in.At}))
	return s, err
}

// ActivatableAt is when a published key may seal: at once when there is no active
// key, else keys.MinPublished after its publication. false: the key is not known.
func ActivatableAt(s keys.State, kid string) (time.Time, bool) {
	key, known := s.Find(kid)
	if !known {
		return time.Time{}, false
	}
	if s.Active == "" {
		return key.PublishedAt, true
	}
	return key.PublishedAt.Add(keys.MinPublished), true
}

// KeyRotation is the result of RotateKey.
type KeyRotation struct {
	KID     string    `json:"kid"`
	Step    KeyStep   `json:"step"`
	SealsAt time.Time `json:"seals_at"` // from when the key may seal, or seals
}

// KeyStep is one step of a rotation.
type KeyStep string

// The steps of a rotation.
const (
	KeyPublished KeyStep = "published" // a new key is known to who verifies, and seals nothing yet
	KeyWaiting   KeyStep = "waiting"   // the published key must be known for longer; nothing was done
	KeyActivated KeyStep = "activated" // the key seals from now on
)

// ForeignKeysError means that the private half of the key that seals is not among those of the process
// that was to rotate it: a key made there could not be read by those that seal.
type ForeignKeysError struct{ Active string }

func (e *ForeignKeysError) Error() string {
	return "the private half of the key that seals now, " + e.Active + ", is not among these keys"
}

// RotateKey does the next step of a rotation: it publishes a new key, or activates the one of own that has
// been published longest. It touches no key whose private half own does not hold. A ForeignKeysError
// means that own does not hold the active key's, unless lost says that no copy is left.
func RotateKey(ctx context.Context, store Store, in Intent, own PrivateKeys, lost bool) (KeyRotation, error) {
	history, err := store.Read(ctx, keys.Stream)
	if err != nil {
		return KeyRotation{}, err
	}
	state := keys.Decider.Fold(history.Domain())
	if state.Active != "" && !lost && !own.Holds(state.Active) {
		return KeyRotation{}, &ForeignKeysError{Active: state.Active}
	}
	if next, found := nextKey(state, own); found {
		if at, _ := ActivatableAt(state, next.KID); in.At.Before(at) {
			return KeyRotation{KID: next.KID, Step: KeyWaiting, SealsAt: at}, nil
		}
		_, err := ActivateKey(ctx, store, in, own, next.KID)
		return KeyRotation{KID: next.KID, Step: KeyActivated, SealsAt: in.At}, err
	}
	public, err := own.Generate()
	if err != nil {
		return KeyRotation{}, err
	}
	if state, err = PublishKey(ctx, store, in, public); err != nil {
		return KeyRotation{}, err
	}
	at, _ := ActivatableAt(state, keys.Thumbprint(public))
	return KeyRotation{KID: keys.Thumbprint(public), Step: KeyPublished, SealsAt: at}, nil
}

// nextKey is the key of own that has waited longest since it was published.
func nextKey(s keys.State, own PrivateKeys) (next keys.Key, found bool) {
	for _, k := range s.Keys() {
		waits := k.ActiveFrom.IsZero() && k.RetiredAt.IsZero()
		if waits && (!found || k.PublishedAt.Before(next.PublishedAt)) && own.Holds(k.KID) {
			next, found = k, true
		}
	}
	return next, found
}

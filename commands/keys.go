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

// ActivateKey lets a published key seal from now on and retires the one that did.
// It returns the keys after the command, keys.ErrNotPublished for a key that is not known,
// keys.ErrPublishedTooRecently for one that was published less than keys.MinPublished ago, or
// an error of Handle.
func ActivateKey(ctx context.Context, store Store, in Intent, kid string) (keys.State, error) {
	s, _, err := Handle(ctx, store, keys.Decider, keys.Stream, in,
		keys.Command(keys.Activate{KID: kid, Now: in.At}))
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

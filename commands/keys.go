package commands

import (
	"context"
	"crypto/ed25519"
	"time"

	"reckon/domain/keys"
)

// PublishKey makes a public key known without letting it seal.
func PublishKey(ctx context.Context, store Store, in Intent, public ed25519.PublicKey) (keys.State, error) {
	s, _, err := Handle(ctx, store, keys.Decider, keys.Stream, in,
		keys.Command(keys.Publish{KID: keys.Thumbprint(public), X: keys.EncodeX(public), Now: in.At}))
	return s, err
}

// ActivateKey lets a published key seal from now on and retires the one before it.
func ActivateKey(ctx context.Context, store Store, in Intent, kid string) (keys.State, error) {
	s, _, err := Handle(ctx, store, keys.Decider, keys.Stream, in,
		keys.Command(keys.Activate{KID: kid, Now: in.At}))
	return s, err
}

// ActivatableAt is when a published key may seal.
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

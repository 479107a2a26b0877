package commands_test

import (
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/keys"
)

func TestKeysArePublishedBeforeTheySeal(t *testing.T) {
	l := newLog(t)
	first, second := publicKey(1), publicKey(2)
	at := func(after time.Duration) commands.Intent {
		in := intentOf("")
		in.At = noon.Add(after)
		return in
	}
	if _, err := commands.ActivateKey(t.Context(), l, at(0), keys.Thumbprint(first)); !errors.Is(err, keys.ErrNotPublished) || l.count() != 0 {
		t.Errorf("never published: %v", err)
	}
	state, err := commands.PublishKey(t.Context(), l, at(0), first)
	if err != nil || len(state.Keys()) != 1 || state.Active != "" {
		t.Fatalf("%+v, %v", state, err)
	}
	if public, err := keys.DecodeX(state.Keys()[0].X); err != nil || !first.Equal(public) {
		t.Errorf("published %s, %v", state.Keys()[0].X, err)
	}
	if when, known := commands.ActivatableAt(state, keys.Thumbprint(first)); !known || !when.Equal(noon) {
		t.Errorf("the first key may seal from %v, %v", when, known)
	}
	if state, err = commands.ActivateKey(t.Context(), l, at(0), keys.Thumbprint(first)); err != nil || state.Active != keys.Thumbprint(first) {
		t.Fatalf("%+v, %v", state, err)
	}

	for range 2 { // again is fine
		if state, err = commands.PublishKey(t.Context(), l, at(time.Hour), second); err != nil || len(state.Keys()) != 2 {
			t.Fatalf("%+v, %v", state, err)
		}
	}
	when, known := commands.ActivatableAt(state, keys.Thumbprint(second))
	if !known || !when.Equal(noon.Add(time.Hour+keys.MinPublished)) {
		t.Errorf("the second key may seal from %v, %v", when, known)
	}
	if _, known := commands.ActivatableAt(state, "nosuch"); known {
		t.Error("a key nobody published may seal")
	}
	appends := l.count()
	if _, err := commands.ActivateKey(t.Context(), l, at(time.Hour+keys.MinPublished-time.Millisecond), keys.Thumbprint(second)); !errors.Is(err, keys.ErrPublishedTooRecently) || l.count() != appends {
		t.Errorf("too early: %v", err)
	}
	if state, err = commands.ActivateKey(t.Context(), l, at(time.Hour+keys.MinPublished), keys.Thumbprint(second)); err != nil || state.Active != keys.Thumbprint(second) {
		t.Errorf("%+v, %v", state, err)
	}
	if old, _ := state.Find(keys.Thumbprint(first)); old.RetiredAt.IsZero() {
		t.Errorf("the first key is not retired: %+v", old)
	}
	if _, err := commands.ActivateKey(t.Context(), l, at(2*time.Hour), keys.Thumbprint(first)); !errors.Is(err, keys.ErrRetired) {
		t.Errorf("a retired key: %v", err)
	}
	if got := l.names(keys.Stream); got != "key.published key.activated key.published key.activated key.retired" {
		t.Errorf("stream: %s", got)
	}
}

func publicKey(seed byte) ed25519.PublicKey {
	var bytes [ed25519.SeedSize]byte
	bytes[0] = seed
	return ed25519.NewKeyFromSeed(bytes[:]).Public().(ed25519.PublicKey)
}

package commands_test

import (
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/keys"
)

// ring is the private halves that one process can read, by kid.
type ring struct {
	keys map[string]ed25519.PrivateKey
	next byte // seed of the next key
}

func newRing(next byte) *ring { return &ring{map[string]ed25519.PrivateKey{}, next} }

func (r *ring) Generate() (ed25519.PublicKey, error) {
	private := privateKey(r.next)
	r.next++
	public := private.Public().(ed25519.PublicKey)
	r.keys[keys.Thumbprint(public)] = private
	return public, nil
}

var errNotHere = errors.New("not here")

func (r *ring) Sign(kid string, message []byte) ([]byte, error) {
	if !r.Holds(kid) {
		return nil, errNotHere
	}
	return ed25519.Sign(r.keys[kid], message), nil
}

func (r *ring) Holds(kid string) bool { return r.keys[kid] != nil }

func privateKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(append([]byte{seed}, make([]byte, ed25519.SeedSize-1)...))
}

// after is an intent of a time after noon.
func after(d time.Duration) commands.Intent {
	in := intentOf("")
	in.At = noon.Add(d)
	return in
}

func TestKeysArePublishedBeforeTheySeal(t *testing.T) {
	l, own := newLog(t), newRing(1)
	first, _ := own.Generate()
	second, _ := own.Generate()
	if _, err := commands.ActivateKey(t.Context(), l, after(0), own, keys.Thumbprint(first)); !errors.Is(err, keys.ErrNotPublished) || l.count() != 0 {
		t.Errorf("never published: %v", err)
	}
	state, err := commands.PublishKey(t.Context(), l, after(0), first)
	if err != nil || len(state.Keys()) != 1 || state.Active != "" {
		t.Fatalf("%+v, %v", state, err)
	}
	if public, err := keys.DecodeX(state.Keys()[0].X); err != nil || !first.Equal(public) {
		t.Errorf("published %s, %v", state.Keys()[0].X, err)
	}
	if when, known := commands.ActivatableAt(state, keys.Thumbprint(first)); !known || !when.Equal(noon) {
		t.Errorf("the first key may seal from %v, %v", when, known)
	}
	if _, err := commands.ActivateKey(t.Context(), l, after(0), newRing(9), keys.Thumbprint(first)); !errors.Is(err, errNotHere) {
		t.Errorf("without its private half: %v", err)
	}
	if state, err = commands.ActivateKey(t.Context(), l, after(0), own, keys.Thumbprint(first)); err != nil || state.Active != keys.Thumbprint(first) {
		t.Fatalf("%+v, %v", state, err)
	}

	for range 2 { // again is fine
		if state, err = commands.PublishKey(t.Context(), l, after(time.Hour), second); err != nil || len(state.Keys()) != 2 {
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
	if _, err := commands.ActivateKey(t.Context(), l, after(time.Hour+keys.MinPublished-time.Millisecond), own, keys.Thumbprint(second)); !errors.Is(err, keys.ErrPublishedTooRecently) || l.count() != appends {
		t.Errorf("too early: %v", err)
	}
	if state, err = commands.ActivateKey(t.Context(), l, after(time.Hour+keys.MinPublished), own, keys.Thumbprint(second)); err != nil || state.Active != keys.Thumbprint(second) {
		t.Errorf("%+v, %v", state, err)
	}
	if old, _ := state.Find(keys.Thumbprint(first)); old.RetiredAt.IsZero() {
		t.Errorf("the first key is not retired: %+v", old)
	}
	if _, err := commands.ActivateKey(t.Context(), l, after(2*time.Hour), own, keys.Thumbprint(first)); !errors.Is(err, keys.ErrRetired) {
		t.Errorf("a retired key: %v", err)
	}
	if got := l.names(keys.Stream); got != "key.published key.activated key.published key.activated key.retired" {
		t.Errorf("stream: %s", got)
	}
}

// TestRotation: a rotation touches no key whose private half it does not hold, and is refused to who does not hold the
// one that seals, so that it is never done in a folder where the servers do not look.
func TestRotation(t *testing.T) {
	l, servers, elsewhere := newLog(t), newRing(1), newRing(100)
	rotate := func(by *ring, at time.Duration, lost bool) (commands.KeyRotation, error) {
		return commands.RotateKey(t.Context(), l, after(at), by, lost)
	}
	expect := func(by *ring, at time.Duration, step commands.KeyStep, sealsAt time.Duration) string {
		t.Helper()
		done, err := rotate(by, at, false)
		if err != nil || done.Step != step || !done.SealsAt.Equal(noon.Add(sealsAt)) || !by.Holds(done.KID) {
			t.Fatalf("%+v, %v; want %s", done, err, step)
		}
		return done.KID
	}
	const wait = keys.MinPublished
	first := expect(servers, 0, commands.KeyPublished, 0)
	if expect(servers, 0, commands.KeyActivated, 0) != first {
		t.Error("another key was activated")
	}
	appends := l.count()
	var foreign *commands.ForeignKeysError
	if done, err := rotate(elsewhere, time.Hour, false); !errors.As(err, &foreign) || foreign.Active != first || l.count() != appends || len(elsewhere.keys) != 0 {
		t.Errorf("in another folder: %+v, %v", done, err)
	}
	second := expect(servers, time.Hour, commands.KeyPublished, time.Hour+wait)
	if expect(servers, time.Hour+time.Minute, commands.KeyWaiting, time.Hour+wait) != second {
		t.Error("another key waits")
	}
	// A key that somebody else published, and whose private half is not here, is left alone.
	stranger, _ := elsewhere.Generate()
	if _, err := commands.PublishKey(t.Context(), l, after(time.Minute), stranger); err != nil {
		t.Fatal(err)
	}
	if expect(servers, time.Hour+wait, commands.KeyActivated, time.Hour+wait) != second {
		t.Error("another key was activated")
	}
	expect(servers, 2*time.Hour, commands.KeyPublished, 2*time.Hour+wait)

	// All private halves are lost: a new key seals after as long a wait as any.
	fresh := newRing(50)
	done, err := rotate(fresh, 3*time.Hour, true)
	if err != nil || done.Step != commands.KeyPublished || !done.SealsAt.Equal(noon.Add(3*time.Hour+wait)) {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err = rotate(fresh, 3*time.Hour+wait, true); err != nil || done.Step != commands.KeyActivated || !fresh.Holds(done.KID) {
		t.Fatalf("%+v, %v", done, err)
	}
}

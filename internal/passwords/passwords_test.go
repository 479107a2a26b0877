package passwords

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// TestPasswordsAreHashedOnePerCore: of a flood of sign-ins as many are hashed at a time as there are cores, as many wait as the queue
// holds, and the rest are told to come again.
func TestPasswordsAreHashedOnePerCore(t *testing.T) {
	h, cores := NewHasher(Standard), runtime.GOMAXPROCS(0)
	queue := cap(h.queue)
	if cap(h.slots) != cores || queue != cores*33 {
		t.Fatalf("%d at a time, %d in all, on %d cores", cap(h.slots), queue, cores)
	}
	for range cores { // every core computes
		h.slots <- struct{}{}
	}
	derive := func(ctx context.Context) error {
		_, err := h.deriveKey(ctx, "a password", make([]byte, saltBytes))
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, queue)
	for range queue {
		go func() { failed <- derive(ctx) }()
	}
	for len(h.queue) < queue {
		runtime.Gosched()
	}
	if err := derive(ctx); !errors.Is(err, ErrBusy) {
		t.Errorf("one more than the queue holds: %v", err)
	}
	cancel()
	for range queue {
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	for range cores {
		<-h.slots
	}
	if err := derive(t.Context()); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}

// TestMatches: only the same password, of any spelling in Unicode, has the hash.
func TestMatches(t *testing.T) {
	h := NewHasher(Standard)
	encoded, err := h.Hash(t.Context(), "caf\u00e9 at nine")
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"caf\u00e9 at nine": true, "cafe\u0301 at nine": true, "cafe at nine": false, "": false} {
		if same, err := h.Matches(t.Context(), password, encoded); err != nil || same != want {
			t.Errorf("%q: %v, %v", password, same, err)
		}
	}
	if same, err := h.Matches(t.Context(), "", h.OfNobody()); err != nil || same {
		t.Errorf("nobody: %v, %v", same, err)
	}
	if !strings.HasPrefix(encoded, "$argon2id$v=19$m=19456,t=2,p=1$") || !strings.HasPrefix(h.OfNobody(), "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the standard cost is %.40s, of nobody %.40s", encoded, h.OfNobody())
	}
	for _, foreign := range []string{"", "secret", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA", "$2b$12$abcdefghijklmnopqrstuv"} {
		if same, err := h.Matches(t.Context(), "secret", foreign); err == nil || same {
			t.Errorf("%q is taken as a hash", foreign)
		}
	}
}

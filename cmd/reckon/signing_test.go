package main

import (
	"path/filepath"
	"sync"
	"testing"

	"reckon/domain"
	"reckon/domain/keys"
	"reckon/eventstore/memory"
	"reckon/internal/keyring"
)

// TestProcessesThatStartAtOnceShareAKey: each finds a deployment without a key
// and makes one; all go on with the one that was activated first.
func TestProcessesThatStartAtOnceShareAKey(t *testing.T) {
	ring, err := keyring.Open(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(domain.Catalogue())
	const processes = 4
	states := make([]keys.State, processes)
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			var err error
			if states[i], err = firstKey(t.Context(), store, ring); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, s := range states {
		if s.Active == "" || s.Active != states[0].Active {
			t.Errorf("keys %q and %q seal", s.Active, states[0].Active)
		}
	}
	if signer, err := ring.Signer(states[0].Active); err != nil || signer.KID != states[0].Active {
		t.Errorf("%+v, %v", signer, err)
	}
}

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/eventstore/memory"
	"reckon/internal/keyring"
	"reckon/test/locked"
	"reckon/test/wait"
)

// TestProcessesThatStartAtOnceShareAKey: each finds a deployment without a key
// and makes one; all go on with the one that was activated first.
func TestProcessesThatStartAtOnceShareAKey(t *testing.T) {
	t.Parallel()
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

// TestSigningFollowsTheKeys: a process seals with the key that was activated, and with none while the private half is not here; it warns once.
func TestSigningFollowsTheKeys(t *testing.T) {
	t.Parallel()
	folder, otherFolder := filepath.Join(t.TempDir(), "keys"), filepath.Join(t.TempDir(), "keys")
	elsewhere, err := keyring.Open(otherFolder)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(domain.Catalogue())
	var printed locked.Buffer
	p := process{logger: slog.New(slog.NewTextHandler(&printed, nil))}
	p.config.Keys = folder
	s, err := openSigning(t.Context(), p, store)
	if err != nil || s.Ready(t.Context()) != nil {
		t.Fatalf("the first start: %v, %v", err, s.Ready(t.Context()))
	}
	first, err := s.Signer()
	if err != nil {
		t.Fatal(err)
	}
	// activate makes a key in a folder and activates it, ten minutes after it was published.
	activate := func(by keyring.Ring) (kid string) {
		t.Helper()
		public, err := by.Generate()
		if err != nil {
			t.Fatal(err)
		}
		kid = keys.Thumbprint(public)
		published := operatorIntent()
		published.At = published.At.Add(-keys.MinPublished)
		if _, err := commands.PublishKey(t.Context(), store, published, public); err != nil {
			t.Fatal(err)
		}
		if _, err := commands.ActivateKey(t.Context(), store, operatorIntent(), by, kid); err != nil {
			t.Fatal(err)
		}
		return kid
	}
	kid := activate(s.ring)
	if err := s.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if second, err := s.Signer(); err != nil || second.KID != kid || second.KID == first.KID {
		t.Errorf("after a rotation: %+v, %v", second, err)
	}

	kid = activate(elsewhere)
	for range 3 {
		if err := s.load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if signer, err := s.Signer(); !errors.Is(err, receipt.ErrCannotSign) || s.Ready(t.Context()) == nil {
		t.Errorf("a key whose private half is elsewhere: %+v, %v", signer, err)
	}
	if strings.Count(printed.String(), "nothing is evaluated here") != 1 || !strings.Contains(printed.String(), kid) {
		t.Errorf("logged:\n%s", printed.String())
	}

	// Once the private half is copied here the process finds it by itself.
	private, err := os.ReadFile(filepath.Join(otherFolder, kid+".pem"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, kid+".pem"), private, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.part().Run(running) }()
	wait.Until(t, "it can sign", func() bool { return s.Ready(t.Context()) == nil })
	if signer, err := s.Signer(); err != nil || signer.KID != kid {
		t.Errorf("copied here: %+v, %v", signer, err)
	}
	// And follows what Observe tells.
	kid = activate(s.ring)
	s.Observe(event.Recorded{Event: keys.Activated{KID: kid}})
	wait.Until(t, "the new key signs", func() bool {
		signer, err := s.Signer()
		return err == nil && signer.KID == kid
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestAKeyThatIsTakenAwayIsNoticed: a private half that is moved away under a running process, which has it in memory, is told of and seals
// nothing until it is back.
func TestAKeyThatIsTakenAwayIsNoticed(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "keys")
	var printed locked.Buffer
	p := process{logger: slog.New(slog.NewTextHandler(&printed, nil))}
	p.config.Keys = folder
	s, err := openSigning(t.Context(), p, memory.New(domain.Catalogue()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.part().Run(ctx) }()
	files, err := filepath.Glob(filepath.Join(folder, "*.pem"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(files[0], aside); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it is told of", func() bool { return s.Ready(t.Context()) != nil })
	if _, err := s.Signer(); !errors.Is(err, receipt.ErrCannotSign) || strings.Count(printed.String(), "level=ERROR") != 1 {
		t.Errorf("%v\n%s", err, printed.String())
	}
	if err := os.Rename(aside, files[0]); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it seals again", func() bool { return s.Ready(t.Context()) == nil })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/internal/keyring"
	"reckon/internal/lifecycle"
	"reckon/internal/private"
	"reckon/readapi"
)

// signing holds the private half of the key that seals now. It follows the stream `keys`: a key that is
// activated anywhere seals here from then on. Its methods may be called concurrently.
type signing struct {
	ring    keyring.Ring
	folder  string
	store   commands.Store
	logger  *slog.Logger
	changed chan struct{} // holds one: the stream has a new event

	mu     sync.Mutex
	signer *receipt.Signer // nil: this process cannot sign
	active string          // the id of the key that seals
	warned map[string]bool // keys whose missing private half was logged
}

// keyLook is the time between two looks for the private half: whether it is still here, or is copied here.
const keyLook = 2 * time.Second

// openSigning loads the active key, which the first start of a deployment creates. Without its private half
// nothing is signed here; that is no error, so that the process can be told what to do about it.
func openSigning(ctx context.Context, p process, store commands.Store) (*signing, error) {
	ring, err := openKeys(p.config.KeyFolder(), p.logger)
	if err != nil {
		return nil, err
	}
	s := &signing{
		ring: ring, folder: p.config.KeyFolder(), store: store, logger: p.logger, changed: make(chan struct{}, 1),
		warned: map[string]bool{},
	}
	history, err := s.store.Read(ctx, keys.Stream)
	if err != nil {
		return nil, err
	}
	if keys.Decider.Fold(history.Domain()).Active == "" {
		if _, err := firstKey(ctx, s.store, ring); err != nil {
			return nil, err
		}
	}
	return s, s.load(ctx)
}

// load makes the active key the one that seals. While the log does not answer, the key before does.
func (s *signing) load(ctx context.Context) error {
	history, err := s.store.Read(ctx, keys.Stream)
	if err != nil {
		return err
	}
	state := keys.Decider.Fold(history.Domain())
	signer, err := s.ring.Signer(state.Active)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnOfMissing(state, err)
	if err == nil && (s.signer == nil || s.signer.KID != signer.KID) {
		s.logger.Info("receipts are signed", "kid", signer.KID)
		delete(s.warned, signer.KID)
	}
	s.signer, s.active = signer, state.Active
	return nil
}

// warnOfMissing logs, once for each, the keys that seal or are to seal and cannot be used here. mu is held.
func (s *signing) warnOfMissing(state keys.State, activeError error) {
	for _, k := range state.Keys() {
		active, waits := k.KID == state.Active, k.ActiveFrom.IsZero() && k.RetiredAt.IsZero()
		if s.warned[k.KID] || !active && !waits || active && activeError == nil || waits && s.ring.Holds(k.KID) {
			continue
		}
		s.warned[k.KID] = true
		if active {
			s.logger.Error("nothing is evaluated here: receipts could not be signed. Put the key's private half into the folder of keys, or run `reckon keys rotate --lost` if it is lost",
				"kid", k.KID, "folder", s.folder, "error", activeError)
		} else {
			s.logger.Warn("a key was published that cannot seal here: its private half is missing. Copy it here before the key is activated", "kid", k.KID, "folder", s.folder)
		}
	}
}

// Signer is the key that seals now, or receipt.ErrCannotSign.
func (s *signing) Signer() (*receipt.Signer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signer == nil {
		return nil, receipt.ErrCannotSign
	}
	return s.signer, nil
}

// Ready returns an error while this process cannot sign. It says what to do: whoever asks may read it.
func (s *signing) Ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signer != nil {
		return nil
	}
	return &readapi.PublicError{Problem: fmt.Sprintf("the private half of the signing key %s is missing here: put it into the folder of keys, or run `reckon keys rotate --lost` if it is lost", s.active)}
}

// Observe is called with every event in the log's order.
func (s *signing) Observe(r event.Recorded) {
	switch r.Event.(type) {
	case keys.Published, keys.Activated, keys.Retired:
		select {
		case s.changed <- struct{}{}:
		default: // one is pending
		}
	}
}

// part follows the stream of keys. It is started after the subscription that calls Observe.
func (s *signing) part() lifecycle.Part {
	return lifecycle.Part{Name: "signing key", Run: func(ctx context.Context) error {
		for failed := false; ; {
			if err := s.load(ctx); err != nil && ctx.Err() == nil && !failed {
				s.logger.Warn("the keys cannot be read; trying again", "error", err)
				failed = true
			} else if err == nil {
				failed = false
			}
			if !s.awaitChange(ctx, failed) {
				return nil
			}
		}
	}}
}

// awaitChange returns true once the keys are to be loaded again: the stream has a new event, it could not be read, or the private half is
// missing, or gone although it is in memory still: its last copy may be lost with this process. false: the context has ended.
func (s *signing) awaitChange(ctx context.Context, failed bool) bool {
	look := time.NewTicker(keyLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.changed:
			return true
		case <-look.C:
			if signer, err := s.Signer(); failed || err != nil || !s.ring.Holds(signer.KID) {
				return true
			}
		}
	}
}

func openKeys(folder string, logger *slog.Logger) (keyring.Ring, error) {
	if err := private.MakeFolder(folder, logger); err != nil {
		return keyring.Ring{}, err
	}
	return keyring.Open(folder)
}

func operatorIntent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: time.Now(), Actor: "operator", Build: buildRevision()}
}

// firstKey makes, publishes and activates the first key of a deployment. Where
// several processes start at once, the fastest one's key seals; the others stay
// published, for the next rotation.
func firstKey(ctx context.Context, store commands.Store, ring keyring.Ring) (keys.State, error) {
	public, err := ring.Generate()
	if err != nil {
		return keys.State{}, err
	}
	if _, err := commands.PublishKey(ctx, store, operatorIntent(), public); err != nil {
		return keys.State{}, err
	}
	state, err := commands.ActivateKey(ctx, store, operatorIntent(), ring, keys.Thumbprint(public))
	if errors.Is(err, keys.ErrPublishedTooRecently) {
		return state, nil
	}
	if err != nil {
		return state, fmt.Errorf("first signing key: %w", err)
	}
	return state, nil
}

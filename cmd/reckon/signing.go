package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/internal/keyring"
	"reckon/internal/private"
)

// loadSigner returns the active signing key, which the first start of a deployment creates.
// In a process without that key it returns nil and logs a warning: receipts are not signed.
func loadSigner(ctx context.Context, p process, log *eventLog) (*receipt.Signer, error) {
	ring, err := openKeys(p.config.KeyFolder(), p.logger)
	if err != nil {
		return nil, err
	}
	history, err := log.store.Read(ctx, keys.Stream)
	if err != nil {
		return nil, err
	}
	state := keys.Decider.Fold(history.Domain())
	if state.Active == "" {
		if state, err = firstKey(ctx, log.store, ring); err != nil {
			return nil, err
		}
	}
	signer, err := ring.Signer(state.Active)
	if errors.Is(err, keyring.ErrKeyNotFound) {
		p.logger.Warn("receipts will not be signed: " + err.Error())
		return nil, nil
	}
	return signer, err
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
	state, err := commands.ActivateKey(ctx, store, operatorIntent(), keys.Thumbprint(public))
	if errors.Is(err, keys.ErrPublishedTooRecently) {
		return state, nil
	}
	return state, err
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"reckon/commands"
	"reckon/domain/keys"
	"reckon/eventstore"
	"reckon/internal/config"
)

// keysCmd looks after the keys that seal receipts.
type keysCmd struct {
	List   keysListCmd   `cmd:"" help:"List all keys and which one seals."`
	Rotate keysRotateCmd `cmd:"" help:"Publish a new key; run it again after ten minutes to let the new key seal."`
}

type keysListCmd struct {
	installation
	JSON bool `help:"Print JSON." name:"json"`
}

type keyReport struct {
	KID         string     `json:"kid"`
	Status      string     `json:"status"` // published, active, retired
	PublishedAt time.Time  `json:"published_at"`
	ActiveFrom  *time.Time `json:"active_from,omitempty"`
	RetiredAt   *time.Time `json:"retired_at,omitempty"`
}

// Run lists the keys.
func (c *keysListCmd) Run() error {
	return withStore(c.openStore, func(ctx context.Context, store *eventstore.Store) error {
		state, err := readKeys(ctx, store)
		if err != nil {
			return err
		}
		reports := make([]keyReport, 0, len(state.Keys()))
		for _, k := range state.Keys() {
			reports = append(reports, keyReportOf(k, state.Active))
		}
		if c.JSON {
			return printJSON(reports)
		}
		for _, r := range reports {
			fmt.Printf("%s  %-9s  published %s\n", r.KID, r.Status, r.PublishedAt.Format(time.RFC3339))
		}
		return nil
	})
}

func keyReportOf(k keys.Key, active string) keyReport {
	r := keyReport{KID: k.KID, Status: "published", PublishedAt: k.PublishedAt}
	if !k.ActiveFrom.IsZero() {
		r.ActiveFrom = &k.ActiveFrom
	}
	switch {
	case k.KID == active:
		r.Status = "active"
	case !k.RetiredAt.IsZero():
		r.Status, r.RetiredAt = "retired", &k.RetiredAt
	}
	return r
}

type keysRotateCmd struct {
	installation
	Keys string `help:"Folder of the signing keys, when not in the data folder." env:"RECKON_KEYS" placeholder:"DIR"`
}

// Run publishes a key when none waits, or activates the one that has waited long
// enough. The server loads a new active key when it starts.
func (c *keysRotateCmd) Run() error {
	return withStore(c.createStore, func(ctx context.Context, store *eventstore.Store) error {
		state, err := readKeys(ctx, store)
		if err != nil {
			return err
		}
		for _, k := range state.Keys() {
			if k.ActiveFrom.IsZero() && k.RetiredAt.IsZero() {
				return c.activate(ctx, store, state, k.KID)
			}
		}
		ring, err := openKeys((&config.Serve{Data: c.Data, Keys: c.Keys}).KeyFolder(), slog.Default())
		if err != nil {
			return err
		}
		public, err := ring.Generate()
		if err != nil {
			return err
		}
		if _, err := commands.PublishKey(ctx, store, operatorIntent(), public); err != nil {
			return err
		}
		fmt.Printf("published %s\nRun `reckon keys rotate` again in %v, then restart the server.\n", keys.Thumbprint(public), keys.MinPublished)
		return nil
	})
}

func (c *keysRotateCmd) activate(ctx context.Context, store *eventstore.Store, state keys.State, kid string) error {
	if at, _ := commands.ActivatableAt(state, kid); time.Now().Before(at) {
		fmt.Printf("%s is published and may seal from %s\n", kid, at.Format(time.RFC3339))
		return exitStatus(1)
	}
	if _, err := commands.ActivateKey(ctx, store, operatorIntent(), kid); err != nil {
		return err
	}
	fmt.Printf("active %s\nRestart the server to seal with it.\n", kid)
	return nil
}

func readKeys(ctx context.Context, store commands.Store) (keys.State, error) {
	history, err := store.Read(ctx, keys.Stream)
	if err != nil {
		return keys.State{}, err
	}
	return keys.Decider.Fold(history.Domain()), nil
}

// storeOpener is installation.open or installation.make.
type storeOpener func(context.Context) (*eventstore.Store, func(), error)

func withStore(open storeOpener, f func(context.Context, *eventstore.Store) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, closeStore, err := open(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	return f(ctx, store)
}

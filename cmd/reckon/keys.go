package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"reckon/commands"
	"reckon/domain/keys"
	"reckon/eventstore"
	"reckon/internal/keyring"
)

// keysCmd looks after the keys that seal receipts.
type keysCmd struct {
	List   keysListCmd   `cmd:"" help:"List all keys, which one seals, and whether its private half is where the servers look."`
	Rotate keysRotateCmd `cmd:"" help:"Publish a new key; run it again after ten minutes to let the new key seal."`
}

type keysListCmd struct {
	installation
	JSON bool `help:"Print JSON." name:"json"`
}

type keyReport struct {
	KID         string     `json:"kid"`
	Status      string     `json:"status"` // published, active, retired
	PrivateHalf bool       `json:"private_half"`
	PublishedAt time.Time  `json:"published_at"`
	ActiveFrom  *time.Time `json:"active_from,omitempty"`
	RetiredAt   *time.Time `json:"retired_at,omitempty"`
}

// Run lists the keys. It exits 1 when the private half of the key that seals is missing.
func (c *keysListCmd) Run() error {
	return c.withLog((*settings).openLog, func(ctx context.Context, s *settings, store *eventstore.Store) error {
		history, err := store.Read(ctx, keys.Stream)
		if err != nil {
			return err
		}
		holds, err := s.heldKeys()
		if err != nil {
			return err
		}
		state, healthy := keys.Decider.Fold(history.Domain()), true
		reports := make([]keyReport, 0, len(state.Keys()))
		for _, k := range state.Keys() {
			r := keyReportOf(k, state.Active)
			r.PrivateHalf = holds(k.KID)
			healthy = healthy && (r.PrivateHalf || k.KID != state.Active)
			reports = append(reports, r)
		}
		if err := printKeys(reports, s.Keys, c.JSON); err != nil || healthy {
			return err
		}
		return exitStatus(1)
	})
}

func printKeys(reports []keyReport, folder string, asJSON bool) error {
	if asJSON {
		return printJSON(reports)
	}
	for _, r := range reports {
		missing := ""
		if !r.PrivateHalf && r.Status != "retired" {
			missing = "  its private half is not in " + folder
		}
		fmt.Printf("%s  %-9s  published %s%s\n", r.KID, r.Status, r.PublishedAt.Format(time.RFC3339), missing)
	}
	return nil
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
	newFlag
	Lost bool `help:"Go on although the private half of the key that seals is lost for good. No receipt is sealed until the new key seals." env:"-"`
	JSON bool `help:"Print JSON." name:"json"`
}

// Run has the running server do the next step, or does it where none runs. It exits 1 when the
// published key may not seal yet.
func (c *keysRotateCmd) Run() error {
	return c.withSettings(func(ctx context.Context, s *settings) error {
		var done commands.KeyRotation
		ok, err := askServer(ctx, s.Data, http.MethodPost, fmt.Sprintf("/keys/rotate?lost=%v", c.Lost), &done)
		if !ok && err == nil {
			done, err = c.rotateHere(ctx, s)
		}
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(done)
		} else {
			printRotation(done, s.Keys)
		}
		if err == nil && done.Step == commands.KeyWaiting {
			return exitStatus(1)
		}
		return err
	})
}

func (c *keysRotateCmd) rotateHere(ctx context.Context, s *settings) (commands.KeyRotation, error) {
	store, closeStore, err := c.createLog(s, ctx)
	if err != nil {
		return commands.KeyRotation{}, err
	}
	defer closeStore()
	ring, err := s.openKeys()
	if err != nil {
		return commands.KeyRotation{}, err
	}
	return rotateKey(ctx, store, ring, s.Keys, c.Lost)
}

// rotateKey is commands.RotateKey that tells an operator what to do about a ForeignKeysError.
func rotateKey(ctx context.Context, store commands.Store, ring keyring.Ring, folder string, lost bool) (commands.KeyRotation, error) {
	done, err := commands.RotateKey(ctx, store, operatorIntent(), ring, lost)
	var foreign *commands.ForeignKeysError
	if errors.As(err, &foreign) {
		return done, fmt.Errorf("%s: there is no %s.pem in %s. Name the --data of a server that seals, or copy the file there; "+
			"if it is lost for good, say --lost", foreign, foreign.Active, folder)
	}
	return done, err
}

func printRotation(done commands.KeyRotation, folder string) {
	at := done.SealsAt.Format(time.RFC3339)
	switch done.Step {
	case commands.KeyPublished:
		fmt.Printf("published %[1]s\nIt may seal from %[2]s: run `reckon keys rotate` again then. Servers that do not share %[3]s need %[1]s.pem from there before.\n", done.KID, at, folder)
	case commands.KeyWaiting:
		fmt.Printf("%s is published and may seal from %s: run `reckon keys rotate` again then.\n", done.KID, at)
	case commands.KeyActivated:
		fmt.Printf("active %s\nEvery server seals with it from now on; none needs a restart.\n", done.KID)
	}
}

// commandTimeout bounds the commands that do one thing and end.
const commandTimeout = time.Minute

// withSettings finds the settings and calls f. The whole command has commandTimeout.
func (i installation) withSettings(f func(context.Context, *settings) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	s, err := i.settings(ctx)
	if err != nil {
		return err
	}
	return f(ctx, s)
}

// logOpener is (*settings).openLog or newFlag.createLog.
type logOpener func(*settings, context.Context) (*eventstore.Store, func(), error)

// withLog is withSettings that opens the log too, and closes it.
func (i installation) withLog(open logOpener, f func(context.Context, *settings, *eventstore.Store) error) error {
	return i.withSettings(func(ctx context.Context, s *settings) error {
		store, closeStore, err := open(s, ctx)
		if err != nil {
			return err
		}
		defer closeStore()
		return f(ctx, s, store)
	})
}

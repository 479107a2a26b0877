package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/eventstore"
	"reckon/internal/blobs"
	"reckon/internal/config"
	"reckon/internal/identity"
	"reckon/internal/private"
	"reckon/internal/ratelimit"
)

// installation says where an operator's command finds the service's data.
type installation struct {
	Data       string      `help:"Folder of the installation." default:"reckon-data" env:"RECKON_DATA" placeholder:"DIR"`
	Eventstore string      `help:"The event log: embedded, unix:PATH of a node's socket, or esdb://user:password@host:port." default:"embedded" env:"RECKON_EVENTSTORE"`
	Insecure   bool        `help:"Accept an esdb:// address without TLS or without credentials." name:"insecure-eventstore" env:"RECKON_INSECURE_EVENTSTORE"`
	Identity   string      `help:"Accounts' addresses and passwords, when not in the data folder." env:"RECKON_IDENTITY" placeholder:"ADDRESS"`
	Config     config.File `help:"TOML file of the server." name:"config" placeholder:"FILE"`
}

// openStore connects to the log: through the node of the running server, or through a node
// that it starts when no server runs. It returns an error when there is no log.
func (i installation) openStore(ctx context.Context) (*eventstore.Store, func(), error) {
	return i.connect(ctx, func() error {
		return requireExists(i.logFolder(), "event log")
	})
}

// createStore is openStore that creates the data folder and the log if they are missing.
func (i installation) createStore(ctx context.Context) (*eventstore.Store, func(), error) {
	if err := private.MakeFolder(i.Data, slog.Default()); err != nil {
		return nil, nil, err
	}
	return i.connect(ctx, func() error { return nil })
}

func (i installation) logFolder() string { return filepath.Join(i.Data, "eventstore") }

func (i installation) connect(ctx context.Context, prepare func() error) (*eventstore.Store, func(), error) {
	if err := i.checkFolder(); err != nil {
		return nil, nil, err
	}
	connection, insecure, closeNode := i.Eventstore, i.Insecure, func() {}
	if connection == config.EmbeddedLog {
		var running connections
		ok, err := askServer(ctx, i.Data, "GET", "/connections", &running)
		if err != nil {
			return nil, nil, err
		}
		connection, insecure = running.Eventstore, running.Insecure
		if !ok {
			if err := prepare(); err != nil {
				return nil, nil, err
			}
			n, err := openNode(i.logFolder(), "", slog.Default())
			if err != nil {
				return nil, nil, err
			}
			connection = n.ConnectionString()
			closeNode = func() { _ = n.Close(context.WithoutCancel(ctx)) }
		}
	}
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: connection, Insecure: insecure, Catalogue: domain.Catalogue(), Logger: slog.Default()})
	if err != nil {
		closeNode()
		return nil, nil, err
	}
	return store, func() { store.Close(); closeNode() }, nil
}

// checkFolder refuses a data folder of another user's, in which a command would leave
// files that the server cannot open.
func (i installation) checkFolder() error {
	return checkData(i.Data)
}

// checkData is private.CheckFolder that accepts a missing folder.
func checkData(folder string) error {
	if err := private.CheckFolder(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// requireExists tells that there is nothing to read, where a command that reads would
// have to make what it reads.
func requireExists(path, what string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s at %s: `reckon serve` makes one; --data DIR names another installation", what, path)
	} else if err != nil {
		return err
	}
	return nil
}

// openIdentity opens the identity tables without limits on registrations and sign-ins.
func (i installation) openIdentity(ctx context.Context) (*identity.Store, func(), error) {
	serve := config.Serve{Data: i.Data, Identity: i.Identity}
	db, err := identity.Open(ctx, serve.IdentityAddress())
	if err != nil {
		return nil, nil, err
	}
	unlimited := ratelimit.Rule{Requests: 1 << 30, Window: time.Minute}
	return identity.New(db, time.Now, identity.Rules{Registrations: unlimited, SignIns: unlimited}), func() { _ = db.Close() }, nil
}

func (i installation) loadPlans() (account.Plans, error) {
	return config.LoadPlans(string(i.Config))
}

// openExistingBlobs opens the blobs of an installation; an error when their folder is missing.
func (i installation) openExistingBlobs(address string) (*blobs.Folder, error) {
	folder, err := (&config.Serve{Data: i.Data, Blobs: address}).BlobFolder()
	if err != nil {
		return nil, err
	}
	if err := requireExists(folder, "folder of blobs"); err != nil {
		return nil, err
	}
	return blobs.ExistingFolder(folder), private.MakeFolder(folder, slog.Default())
}

func openBlobs(folder string, logger *slog.Logger) (*blobs.Folder, error) {
	if err := private.MakeFolder(folder, logger); err != nil {
		return nil, err
	}
	return blobs.OpenFolder(folder)
}

package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/internal/auth/limit"
	"reckon/internal/config"
	"reckon/internal/identity"
)

// installation says where an operator's command finds the service's data.
type installation struct {
	Data       string      `help:"Folder of the installation." default:"reckon-data" env:"RECKON_DATA" placeholder:"DIR"`
	Eventstore string      `help:"The event log: embedded, or an esdb:// address." default:"embedded" env:"RECKON_EVENTSTORE"`
	Identity   string      `help:"Accounts' addresses and passwords, when not in the data folder." env:"RECKON_IDENTITY" placeholder:"ADDRESS"`
	Config     config.File `help:"TOML file of the server." name:"config" placeholder:"FILE"`
}

// open connects to the log: through the running server's node, or a node of our
// own when no server runs.
func (i installation) open(ctx context.Context) (*eventstore.Store, func(), error) {
	connection, closeNode := i.Eventstore, func() {}
	if connection == "embedded" {
		var running connections
		ok, err := askServer(ctx, i.Data, "GET", "/connections", &running)
		if err != nil {
			return nil, nil, err
		}
		connection = running.Eventstore
		if !ok {
			n, err := node.Open(node.Config{Dir: filepath.Join(i.Data, "eventstore"), Listen: "127.0.0.1:0", Logger: slog.Default()})
			if err != nil {
				return nil, nil, err
			}
			connection = n.ConnectionString()
			closeNode = func() { _ = n.Close(context.WithoutCancel(ctx)) }
		}
	}
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: connection, Catalogue: domain.Catalogue(), Logger: slog.Default()})
	if err != nil {
		closeNode()
		return nil, nil, err
	}
	return store, func() { store.Close(); closeNode() }, nil
}

// people opens the identity tables. An operator is not counted against the limits.
func (i installation) people(ctx context.Context) (*identity.Store, func(), error) {
	serve := config.Serve{Data: i.Data, Identity: i.Identity}
	db, err := identity.Open(ctx, serve.IdentityAddress())
	if err != nil {
		return nil, nil, err
	}
	unlimited := limit.Rule{Requests: 1 << 30, Window: time.Minute}
	return identity.New(db, time.Now, identity.Rules{Registrations: unlimited, SignIns: unlimited}), func() { _ = db.Close() }, nil
}

func (i installation) plans() (account.Plans, error) {
	if i.Config == "" {
		return account.DefaultPlans(), nil
	}
	return config.LoadPlans(string(i.Config))
}

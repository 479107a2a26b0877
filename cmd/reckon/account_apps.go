package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/eventstore"
	"reckon/internal/identity"
	"reckon/writeapi"
)

type accountAppsCmd struct {
	installation
	Email     string `arg:"" help:"Address of the account."`
	Revoke    string `help:"Id of a connection to end." placeholder:"ID" xor:"which"`
	RevokeAll bool   `help:"End all of them." name:"revoke-all" xor:"which"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

// connection is an app that may act for an account.
type connection struct {
	ConnectionID string        `json:"connection_id"`
	ClientName   string        `json:"client_name"`
	Resource     string        `json:"resource"`
	Scopes       []scope.Scope `json:"scopes"`
	CreatedAt    string        `json:"created_at"`
	LastUsedOn   string        `json:"last_used_on"` // UTC day; empty: never
}

// Run lists the account's connections, after those that it was told to end.
func (c *accountAppsCmd) Run() error {
	return c.withStores((*settings).openLog, (*settings).openIdentity, func(ctx context.Context, store *eventstore.Store, people *identity.Store, _ account.Plans) error {
		in := operatorIntent()
		var err error
		if in.Account, err = people.AccountOf(ctx, c.Email); err != nil {
			return err
		}
		switch {
		case c.RevokeAll:
			err = writeapi.EndConnections(ctx, store, people, in, grant.ByOperator)
		case c.Revoke != "":
			if _, err = commands.RevokeGrant(ctx, store, in, c.Revoke, grant.ByOperator); err == nil {
				err = people.ForgetOAuthGrant(ctx, c.Revoke)
			}
		}
		if err != nil {
			return err
		}
		list, err := connectionsOf(ctx, store, people, in.Account)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]any{"connections": list})
		}
		return printConnections(list)
	})
}

func connectionsOf(ctx context.Context, store *eventstore.Store, people *identity.Store, accountID string) ([]connection, error) {
	grants, err := people.OAuthGrants(ctx, accountID)
	if err != nil {
		return nil, err
	}
	list := []connection{}
	for _, g := range grants {
		state, err := commands.ReadGrant(ctx, store, g.ID)
		if err != nil {
			return nil, err
		}
		if state.InForce() && state.Account == accountID {
			list = append(list, connection{g.ID, state.ClientName, state.Resource, state.Scopes.Scopes(), event.Timestamp(g.CreatedAt), g.LastUsedOn})
		}
	}
	return list, nil
}

func printConnections(list []connection) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "CONNECTION\tAPP\tRESOURCE\tSCOPES\tSINCE\tLAST USED")
	for _, c := range list {
		names := scope.Of(c.Scopes...).Names()
		_, failed := fmt.Fprintf(table, "%s\t%q\t%s\t%s\t%s\t%s\n", c.ConnectionID, c.ClientName, c.Resource, strings.Join(names, ","), c.CreatedAt, c.LastUsedOn)
		err = errors.Join(err, failed)
	}
	return errors.Join(err, table.Flush())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/eventstore"
	"reckon/internal/identity"
	"reckon/projections"
	projecting "reckon/projections/engine"
)

// What an operator does about who can get at an account: its password, its sign-ins, its tokens.

type accountPasswordCmd struct {
	installation
	Email         string `arg:"" help:"Address of the account."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." required:""`
}

// Run replaces the password and ends all sign-ins.
func (c *accountPasswordCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, _ *eventstore.Store, people *identity.Store, _ account.Plans, in commands.Intent) error {
		replacement, err := readPassword()
		if err != nil {
			return err
		}
		return people.SetPassword(ctx, in.Account, replacement)
	})
}

type accountSignOutCmd struct {
	installation
	Email string `arg:"" help:"Address of the account."`
	JSON  bool   `help:"Print JSON." name:"json"`
}

// Run ends all sign-ins of the account.
func (c *accountSignOutCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, _ *eventstore.Store, people *identity.Store, _ account.Plans, in commands.Intent) error {
		ended, err := people.EndSignIns(ctx, in.Account)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]int64{"ended": ended})
		}
		fmt.Printf("%d sign-ins ended\n", ended)
		return nil
	})
}

type accountTokensCmd struct {
	installation
	Email string `arg:"" help:"Address of the account."`
	JSON  bool   `help:"Print JSON." name:"json"`
}

// tokenReport is a token as `account tokens` shows it.
type tokenReport struct {
	TokenID    string    `json:"token_id"`
	Name       string    `json:"name"`
	Last4      string    `json:"last4"`
	CreatedAt  time.Time `json:"created_at"`
	ExpiresAt  string    `json:"expires_at,omitempty"`
	LastUsedOn string    `json:"last_used_on,omitempty"`
}

// Run lists the tokens that were not revoked.
func (c *accountTokensCmd) Run() error {
	return c.withTokens(c.Email, func(ctx context.Context, _ *eventstore.Store, people *identity.Store, _ commands.Intent, rows []projections.TokenRow) error {
		reports, ids := make([]tokenReport, len(rows)), make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.TokenID
			reports[i] = tokenReport{TokenID: row.TokenID, Name: string(row.Name), Last4: row.Last4, CreatedAt: row.CreatedAt(), ExpiresAt: row.ExpiresAt}
		}
		used, err := people.LastUsed(ctx, ids)
		if err != nil {
			return err
		}
		for i := range reports {
			reports[i].LastUsedOn = used[reports[i].TokenID]
		}
		if c.JSON {
			return printJSON(reports)
		}
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "TOKEN ID\tNAME\tENDS IN\tCREATED\tEXPIRES\tLAST USED")
		for _, r := range reports {
			_, _ = fmt.Fprintf(table, "%s\t%s\t…%s\t%s\t%s\t%s\n", r.TokenID, r.Name, r.Last4, r.CreatedAt.Format(time.RFC3339), r.ExpiresAt, r.LastUsedOn)
		}
		return table.Flush()
	})
}

type accountRevokeCmd struct {
	installation
	Email string   `arg:"" help:"Address of the account."`
	Token []string `help:"Id of a token, as account tokens shows it; may be repeated." placeholder:"ID" xor:"which" required:""`
	All   bool     `help:"All tokens of the account." xor:"which" required:""`
}

// Run revokes the tokens.
func (c *accountRevokeCmd) Run() error {
	revoke := func(ctx context.Context, store *eventstore.Store, in commands.Intent, ids []string) error {
		for _, id := range ids {
			in := in
			in.ID = operatorIntent().ID // each is a command of its own
			if _, err := commands.RevokeToken(ctx, store, in, id); err != nil {
				return fmt.Errorf("token %s: %w", id, err)
			}
		}
		fmt.Printf("%d tokens revoked\n", len(ids))
		return nil
	}
	if !c.All {
		return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, _ account.Plans, in commands.Intent) error {
			return revoke(ctx, store, in, c.Token)
		})
	}
	return c.withTokens(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, in commands.Intent, rows []projections.TokenRow) error {
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.TokenID
		}
		return revoke(ctx, store, in, ids)
	})
}

// withTokens calls f with the tokens of an account that were not revoked, once the read model holds everything that the log does now.
func (i installation) withTokens(email string, f func(context.Context, *eventstore.Store, *identity.Store, commands.Intent, []projections.TokenRow) error) error {
	return i.withLog((*settings).openLog, func(ctx context.Context, s *settings, store *eventstore.Store) error {
		people, closePeople, err := s.openIdentity(ctx)
		if err != nil {
			return err
		}
		defer closePeople()
		in := operatorIntent()
		if in.Account, err = people.AccountOf(ctx, email); err != nil {
			return err
		}
		rows, err := s.tokensOf(ctx, store, in.Account)
		if err != nil {
			return err
		}
		return f(ctx, store, people, in, rows)
	})
}

// tokensOf reads the tokens of an account. Beside a server it waits for the server to apply the log to its end; where none runs it
// does that itself.
func (s *settings) tokensOf(ctx context.Context, store *eventstore.Store, accountID string) (all []projections.TokenRow, err error) {
	db, closeDatabase, err := s.openDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer closeDatabase()
	tokens := projections.New(db, nil).Tokens
	e, err := projecting.New(ctx, projecting.Config{DB: db, Log: store, Logger: slog.Default(), Process: processName("reckon account")}, tokens.Projection())
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended)
	}()
	head, err := store.Head(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.Wait(ctx, tokens.Projection().Name, head); err != nil {
		return nil, fmt.Errorf("the list of tokens is behind the log: %w", err)
	}
	return tokensOf(ctx, tokens, accountID)
}

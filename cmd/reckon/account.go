package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/domain/token"
	"reckon/eventstore"
	"reckon/internal/auth"
	"reckon/internal/identity"
)

// accountCmd is what an operator does for an account.
type accountCmd struct {
	Create   accountCreateCmd   `cmd:"" help:"Register an address with a password read from standard input."`
	Token    accountTokenCmd    `cmd:"" help:"Mint an API token and print it, once."`
	Tokens   accountTokensCmd   `cmd:"" help:"List the API tokens that were not revoked."`
	Revoke   accountRevokeCmd   `cmd:"" help:"Revoke API tokens: they authenticate nothing from now on."`
	Password accountPasswordCmd `cmd:"" help:"Replace the password by one read from standard input, and end all sign-ins."`
	SignOut  accountSignOutCmd  `cmd:"" name:"signout" help:"End all sign-ins."`
	Plan     accountPlanCmd     `cmd:"" help:"Put another plan in force."`
	Apps     accountAppsCmd     `cmd:"" help:"List the apps that an account has connected (OAuth), or disconnect one."`
	Close    accountCloseCmd    `cmd:"" help:"Close an account."`

	Subscribe   accountSubscribeCmd   `cmd:"" help:"Begin a subscription, or change its plan or period."`
	Unsubscribe accountUnsubscribeCmd `cmd:"" help:"Let a subscription end with its period."`
	Billing     accountBillingCmd     `cmd:"" help:"Show an account's subscription and invoices."`
	Invoice     accountInvoiceCmd     `cmd:"" help:"Issue an invoice for something else than a subscription."`
	Pay         accountPayCmd         `cmd:"" help:"Note that an invoice was paid, in full."`
	Void        accountVoidCmd        `cmd:"" help:"Make an open invoice void."`
}

type accountCreateCmd struct {
	installation
	newFlag
	Email         string `arg:"" help:"Address of the account."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." required:""`
	JSON          bool   `help:"Print JSON." name:"json"`
}

// maxPasswordLine is the most that is read of standard input, in bytes: a password over passwords.MaxRunes is refused.
const maxPasswordLine = 4096

// Run registers and prints the account's id.
func (c *accountCreateCmd) Run() error {
	return c.withStores(c.createLog, (*settings).createIdentity, func(ctx context.Context, store *eventstore.Store, people *identity.Store, plans account.Plans) error {
		password, err := readPassword()
		if err != nil {
			return err
		}
		id, err := people.Register(ctx, c.Email, password, func(ctx context.Context, id string) error {
			in := operatorIntent()
			in.Account = id
			_, err := commands.RegisterAccount(ctx, store, plans, in)
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]string{"user_id": id})
		}
		fmt.Println(id)
		return nil
	})
}

// readPassword reads the first line of standard input.
func readPassword() (string, error) {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "Type the password and Enter; it is visible.")
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, maxPasswordLine)).ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.Join(errors.New("no password on standard input"), err)
	}
	return line, nil
}

type accountTokenCmd struct {
	installation
	Email       string  `arg:"" help:"Address of the account."`
	Name        string  `help:"What the token is for." required:""`
	Scopes      *string `help:"What it may do: names of scopes with commas between them; left out for everything that the account may." name:"scopes"`
	ExpiresDays int     `help:"Days until it expires, up to 3650; 0 for never." name:"expires-in-days"`
	JSON        bool    `help:"Print JSON." name:"json"`
}

// maxExpiresDays is the longest life of a token in days, the same as in the API.
const maxExpiresDays = 3650

// Validate is called by kong.
func (c *accountTokenCmd) Validate() error {
	if c.ExpiresDays < 0 || c.ExpiresDays > maxExpiresDays {
		return fmt.Errorf("--expires-in-days must be 0 to %d", maxExpiresDays)
	}
	_, err := c.scopeSet()
	return err
}

// scopeSet is the set of --scopes; empty, for everything, only where the flag is not given: an empty value is refused.
func (c *accountTokenCmd) scopeSet() (scope.Set, error) {
	if c.Scopes == nil {
		return scope.Set{}, nil
	}
	return scope.Parse(strings.Split(*c.Scopes, ","))
}

// Run prints the token.
func (c *accountTokenCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, plans account.Plans, in commands.Intent) error {
		if _, err := commands.PlanOf(ctx, store, plans, in.Account); err != nil {
			return err // the token of a closed account would be refused
		}
		scopes, err := c.scopeSet()
		if err != nil {
			return err
		}
		name, err := token.CleanName(c.Name)
		if err != nil {
			return err
		}
		secret := auth.MintToken()
		var expires time.Time
		if c.ExpiresDays > 0 {
			expires = in.At.AddDate(0, 0, c.ExpiresDays)
		}
		id := auth.TokenID(secret)
		if _, err := commands.MintToken(ctx, store, in, id, name, auth.Last4(secret), scopes, expires); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]string{"token_id": id, "token": secret})
		}
		fmt.Println(secret)
		return nil
	})
}

type accountPlanCmd struct {
	installation
	Email string `arg:"" help:"Address of the account, or its id."`
	Plan  string `arg:"" help:"Name of the plan."`
}

// Run changes the plan.
func (c *accountPlanCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, plans account.Plans, in commands.Intent) error {
		return withoutPosition(commands.ChangePlan(ctx, store, plans, in, c.Plan))
	})
}

type accountCloseCmd struct {
	installation
	Email string `arg:"" help:"Address of the account."`
}

// Run closes the account.
func (c *accountCloseCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, _ account.Plans, in commands.Intent) error {
		return withoutPosition(commands.CloseAccount(ctx, store, in))
	})
}

func withoutPosition(_ event.Position, err error) error { return err }

// identityOpener is (*settings).openIdentity or (*settings).createIdentity.
type identityOpener func(*settings, context.Context) (*identity.Store, func(), error)

// withStores opens the log and the identity tables, calls f and closes them. The whole
// command has one minute.
func (i installation) withStores(openLog logOpener, openIdentity identityOpener, f func(context.Context, *eventstore.Store, *identity.Store, account.Plans) error) error {
	return i.withLog(openLog, func(ctx context.Context, s *settings, store *eventstore.Store) error {
		people, closePeople, err := openIdentity(s, ctx)
		if err != nil {
			return err
		}
		defer closePeople()
		return f(ctx, store, people, s.plans)
	})
}

// forAccount is withStores, for the account of an address or of an id.
func (i installation) forAccount(email string, f func(context.Context, *eventstore.Store, *identity.Store, account.Plans, commands.Intent) error) error {
	return i.withStores((*settings).openLog, (*settings).openIdentity, func(ctx context.Context, store *eventstore.Store, people *identity.Store, plans account.Plans) error {
		in := operatorIntent()
		in.Account = email
		if uuid.Validate(email) != nil { // an id has no @
			id, err := people.AccountOf(ctx, email)
			if err != nil {
				return err
			}
			in.Account = id
		}
		return f(ctx, store, people, plans, in)
	})
}

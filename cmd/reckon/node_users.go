package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
)

// nodeUsersTimeout bounds a command on users.
const nodeUsersTimeout = 2 * time.Minute

// nodeUsersCmd manages the users of a node, by its socket where it runs, and otherwise in its folder.
type nodeUsersCmd struct {
	List     nodeUserListCmd     `cmd:"" help:"List the users, their groups, and who is disabled."`
	Create   nodeUserCreateCmd   `cmd:"" help:"Make a user with a password read from standard input."`
	Password nodeUserPasswordCmd `cmd:"" help:"Replace a user's password by one read from standard input. What they have running with the old one ends."`
	Groups   nodeUserGroupsCmd   `cmd:"" help:"Replace the groups that a user is in."`
	Disable  nodeUserDisableCmd  `cmd:"" help:"Refuse a user, and end what they have running."`
	Enable   nodeUserEnableCmd   `cmd:"" help:"Let a disabled user in again."`
	Delete   nodeUserDeleteCmd   `cmd:"" help:"Delete a user, and end what they have running."`
}

// users calls f with the directory of the node's users.
func (n nodeFolder) users(f func(ctx context.Context, users access.Directory) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), nodeUsersTimeout)
	defer cancel()
	if !exists(n.Data) {
		return fmt.Errorf("there is no folder %s: name the node's with --data", n.Data)
	}
	connection := "unix:" + filepath.Join(n.Data, node.SocketName)
	own, err := openNode(ctx, node.Config{Dir: n.Data, Logger: slog.Default()})
	switch inUse := (*eventlog.FolderInUseError)(nil); {
	case err == nil:
		connection = own.ConnectionString()
		defer func() { _ = own.Close(ctx) }() // what was appended is durable
	case errors.As(err, &inUse) && !exists(filepath.Join(n.Data, node.SocketName)):
		return fmt.Errorf("%w; it has no socket, as with --insecure-listen: manage users there by a client, or stop the node", inUse)
	case !errors.As(err, &inUse):
		return err
	}
	users, err := eventstore.OpenUsers(connection, slog.Default())
	if err != nil {
		return err
	}
	defer users.Close()
	return f(ctx, users.Directory())
}

type nodeUserListCmd struct {
	nodeFolder
	JSON bool `help:"Print JSON." name:"json"`
}

// userRow is a user as the list prints them.
type userRow struct {
	Login    string   `json:"login"`
	FullName string   `json:"full_name"`
	Groups   []string `json:"groups"`
	Disabled bool     `json:"disabled"`
}

// Run prints the users.
func (c *nodeUserListCmd) Run() error {
	return c.users(func(ctx context.Context, users access.Directory) error {
		list, err := users.List(ctx)
		if err != nil {
			return err
		}
		rows := []userRow{}
		for _, u := range list {
			rows = append(rows, userRow{u.LoginName, u.FullName, append([]string{}, u.Groups...), u.Disabled})
		}
		if c.JSON {
			return printJSON(rows)
		}
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "LOGIN\tGROUPS\tDISABLED\tNAME")
		for _, r := range rows {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%t\t%s\n", r.Login, strings.Join(r.Groups, ","), r.Disabled, r.FullName)
		}
		return table.Flush()
	})
}

type nodeUserCreateCmd struct {
	nodeFolder
	Login         string   `arg:"" help:"Login name."`
	FullName      string   `help:"Full name."`
	Groups        []string `help:"Groups the user is in, such as $$ops." placeholder:"GROUP"`
	PasswordStdin bool     `help:"Read the password from the first line of standard input." required:""`
}

// Run makes the user.
func (c *nodeUserCreateCmd) Run() error {
	password, err := readPassword()
	if err != nil {
		return err
	}
	return c.users(func(ctx context.Context, users access.Directory) error {
		return users.Create(ctx, c.Login, c.FullName, c.Groups, password)
	})
}

type nodeUserPasswordCmd struct {
	nodeFolder
	Login         string `arg:"" help:"Login name."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." required:""`
}

// Run replaces the password.
func (c *nodeUserPasswordCmd) Run() error {
	password, err := readPassword()
	if err != nil {
		return err
	}
	return c.users(func(ctx context.Context, users access.Directory) error {
		return users.SetPassword(ctx, c.Login, password)
	})
}

type nodeUserGroupsCmd struct {
	nodeFolder
	Login  string   `arg:"" help:"Login name."`
	Groups []string `arg:"" optional:"" help:"All groups the user is in from now on; none are left out of all."`
}

// Run replaces the groups.
func (c *nodeUserGroupsCmd) Run() error {
	return c.users(func(ctx context.Context, users access.Directory) error {
		return users.SetGroups(ctx, c.Login, c.Groups)
	})
}

type nodeUserDisableCmd struct {
	nodeFolder
	Login string `arg:"" help:"Login name."`
}

// Run disables the user.
func (c *nodeUserDisableCmd) Run() error {
	return c.users(func(ctx context.Context, users access.Directory) error { return users.SetDisabled(ctx, c.Login, true) })
}

type nodeUserEnableCmd struct {
	nodeFolder
	Login string `arg:"" help:"Login name."`
}

// Run enables the user.
func (c *nodeUserEnableCmd) Run() error {
	return c.users(func(ctx context.Context, users access.Directory) error { return users.SetDisabled(ctx, c.Login, false) })
}

type nodeUserDeleteCmd struct {
	nodeFolder
	Login string `arg:"" help:"Login name."`
}

// Run deletes the user.
func (c *nodeUserDeleteCmd) Run() error {
	return c.users(func(ctx context.Context, users access.Directory) error { return users.Delete(ctx, c.Login) })
}

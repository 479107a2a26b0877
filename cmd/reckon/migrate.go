package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/migration"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/config"
	"reckon/internal/progress"
	"reckon/runners/cluster"
)

// migrateCmd copies a log to another server and hands the installation over to it.
type migrateCmd struct {
	From               string `help:"The log: its folder, which no node may have open, or its server, unix:PATH or esdb://…" default:"reckon-data/eventstore" env:"RECKON_MIGRATE_FROM" placeholder:"FOLDER|ADDRESS"`
	To                 string `help:"Server that gets the log, unix:PATH or esdb://…: it must be empty, or have the beginning of this copy." env:"RECKON_MIGRATE_TO" placeholder:"ADDRESS" xor:"direction"`
	InsecureEventstore bool   `help:"Accept servers without TLS or without credentials, which nobody else may reach."`
	WithoutGroups      bool   `help:"Do not copy the groups of persistent subscriptions that other programs have made, and do not ask for them."`
	DryRun             bool   `help:"Read the source, look at the target, and say what would be copied."`
	Ahead              bool   `help:"Copy what is there and end: servers may run on the log meanwhile (give its socket or server as --from). Run it again without --ahead when they have stopped: that has less to copy."`
	TakeBack           bool   `help:"Open the log at --from again, which was migrated. What has been written to its copy since is not in it." xor:"direction"`
	Yes                bool   `help:"Do not ask before --take-back."`
}

// Validate refuses a command that says neither.
func (c *migrateCmd) Validate() error {
	if c.To == "" && !c.TakeBack {
		return errors.New("say --to ADDRESS: the server that gets the log")
	}
	return nil
}

// quiet is for how long a source that other processes reach must not be written to: two heartbeats of a process that works.
const quiet = 2 * cluster.DefaultHeartbeatInterval

// Run prints the report as JSON; exit status 1 when the copy differs, or the source is damaged or was written to.
func (c *migrateCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	source, err := c.openSource(ctx)
	if err != nil {
		return reportMigration(err)
	}
	defer source.close()
	if c.TakeBack {
		return reportMigration(c.takeBack(ctx, source.Log))
	}
	if err := c.requireOwnServer(ctx); err != nil {
		return reportMigration(err)
	}
	target, err := c.openLog(c.To)
	if err != nil {
		return reportMigration(err)
	}
	defer func() { _ = target.Client.Close() }() // it never fails
	display, show := showPhases()
	report, err := migration.Run(ctx, migration.Config{
		Source: source.Log, Events: source.events, Target: target,
		WithoutGroups: c.WithoutGroups, DryRun: c.DryRun, Ahead: c.Ahead, Quiet: source.quiet, Progress: show,
	})
	display.Close()
	if err != nil {
		return reportMigration(err)
	}
	if report.Done {
		if err := c.recordLog(c.To); err != nil {
			return reportMigration(err)
		}
	}
	if err := printJSON(report); err != nil {
		return err
	}
	switch {
	case c.Ahead:
		fmt.Fprintln(os.Stderr, "reckon migrate: nothing has changed hands: stop the servers, and run it again without --ahead")
	case report.Before:
		fmt.Fprintln(os.Stderr, "reckon migrate: it is done already: the log is at", target.Address)
	case report.Done:
		fmt.Fprintln(os.Stderr, "reckon migrate: the log is at", target.Address, "now: start the servers with --eventstore; "+source.Address+" is refused by them")
	}
	return nil
}

// source is a log that is migrated.
type source struct {
	migration.Log
	events export.Source
	quiet  time.Duration
	close  func()
}

// openSource opens the folder of a log, which nobody else can open until close, or connects to a server.
func (c *migrateCmd) openSource(ctx context.Context) (*source, error) {
	if strings.HasPrefix(c.From, "unix:") || strings.Contains(c.From, "://") {
		if path, isSocket := strings.CutPrefix(c.From, "unix:"); isSocket && !exists(path) {
			return nil, fmt.Errorf("no server has the socket %s: where it has ended, give the folder: --from %s", path, filepath.Dir(path))
		}
		log, err := c.openLog(c.From)
		if err != nil {
			return nil, err
		}
		return &source{log, export.Server(log.Client), quiet, func() { _ = log.Client.Close() }}, nil
	}
	if !exists(filepath.Join(c.From, "segments")) {
		return nil, fmt.Errorf("there is no event log at %s: --from names the folder of one, eventstore in a data folder, or its server", c.From)
	}
	n, err := openNode(ctx, node.Config{Dir: c.From, Logger: slog.Default()})
	if err != nil {
		return nil, err
	}
	closeNode := func() { _ = n.Close(context.WithoutCancel(ctx)) } // everything that was acknowledged is durable
	log, err := c.openLog(n.ConnectionString())
	if err != nil {
		closeNode()
		return nil, err
	}
	log.Address = c.From
	return &source{log, export.Folder(c.From), 0, func() { _ = log.Client.Close(); closeNode() }}, nil
}

func (c *migrateCmd) openLog(address string) (migration.Log, error) {
	client, err := eventstore.OpenGuarded(address, c.InsecureEventstore, slog.Default())
	return migration.Log{Address: eventstore.Redacted(address), Client: client}, err
}

// requireOwnServer refuses to close a log that is embedded in a server of the installation, which ends with it before all is done.
func (c *migrateCmd) requireOwnServer(ctx context.Context) error {
	path, isSocket := strings.CutPrefix(c.From, "unix:")
	if !isSocket || c.Ahead || c.DryRun {
		return nil
	}
	folder := filepath.Dir(path)
	var server serverSettings
	running, err := askServer(ctx, filepath.Dir(folder), http.MethodGet, "/settings", &server)
	if err == nil && running && server.Installation.Eventstore == config.EmbeddedLog {
		err = fmt.Errorf("the server that runs on %s, process %d, has this log in it: --ahead copies while it runs; to hand the log over stop it, and give the folder: --from %s", filepath.Dir(folder), server.PID, folder)
	}
	return err
}

// recordLog notes where the log is, for commands on the data folder that the log at --from lies in. Passwords are left out.
func (c *migrateCmd) recordLog(address string) error {
	folder, err := filepath.Abs(c.From)
	if err != nil || !isFolder(folder) {
		return err
	}
	known, same, found, err := readServed(filepath.Dir(folder))
	if err != nil || !found || !same || known.LogFolder() != folder {
		return err
	}
	known.Eventstore = address
	known.InsecureEventstore = address != config.EmbeddedLog && c.InsecureEventstore
	if known, err = known.Absolute(); err != nil {
		return err
	}
	return recordServed(known)
}

// takeBack opens a migrated log again.
func (c *migrateCmd) takeBack(ctx context.Context, log migration.Log) error {
	if !c.Yes {
		if err := confirm("Nothing that has been written to the copy since the migration is in " + log.Address + ". Where a server there has signed a checkpoint of newer receipts, no checkpoint is signed on this log again. Stop every server on the copy first. Open this log again?"); err != nil {
			return err
		}
	}
	id, err := migration.TakeBack(ctx, log)
	if err == nil {
		err = c.recordLog(config.EmbeddedLog)
	}
	if err == nil {
		fmt.Println("opened as log", id)
	}
	return err
}

// showPhases shows how far a migration is.
func showPhases() (*progress.Display, func(phase migration.Phase, position, of uint64)) {
	display := progress.New(os.Stderr, slog.Default())
	var at migration.Phase
	var began time.Time
	return display, func(phase migration.Phase, position, of uint64) {
		if phase != at {
			at, began = phase, time.Now()
		}
		display.Show(func() []progress.Task {
			return []progress.Task{advance(string(phase), "positions", began, position, of)}
		})
	}
}

// reportMigration says what went wrong.
func reportMigration(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted: run the same command again, which goes on where it stopped")
	}
	fmt.Fprintln(os.Stderr, "reckon migrate:", err)
	var damage *eventlog.CorruptError
	var differs *migration.DifferenceError
	var conflict *export.ConflictError
	var written *migration.SourceWrittenError
	if errors.As(err, &damage) || errors.As(err, &differs) || errors.As(err, &conflict) || errors.As(err, &written) {
		return exitStatus(1)
	}
	return exitStatus(2)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"reckon/eventstore"
	"reckon/internal/blobs"
	"reckon/internal/progress"
	"reckon/projections"
	projecting "reckon/projections/engine"
)

// projectionsCmd looks after the read models.
type projectionsCmd struct {
	Status   projectionsStatusCmd   `cmd:"" help:"Show how far each read model is."`
	Versions projectionsVersionsCmd `cmd:"" help:"Show every version that has tables in the database."`
	Boot     projectionsBootCmd     `cmd:"" help:"Drop a read model's tables and build them again from the log."`
	Pause    projectionsPauseCmd    `cmd:"" help:"Stop a read model where it stands."`
	Resume   projectionsResumeCmd   `cmd:"" help:"Let a paused or halted read model go on."`
	Teardown projectionsTeardownCmd `cmd:"" help:"Remove a version that no server uses any more."`
}

// databaseOpener is (*settings).openDatabase or (*settings).createDatabase.
type databaseOpener func(*settings, context.Context) (*projections.DB, func(), error)

// withEngine runs the projections in this process while f runs, for commands without a running server.
func (s *settings) withEngine(ctx context.Context, open databaseOpener, f func(*projecting.Engine) error) error {
	store, closeStore, err := s.openLog(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	db, closeDatabase, err := open(s, ctx)
	if err != nil {
		return err
	}
	defer closeDatabase()
	content, err := s.createBlobs(ctx)
	if err != nil {
		return err
	}
	return withRunningEngine(ctx, db, store, content, f)
}

// processName names this process to operators who ask which one writes a read model.
func processName(what string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	return fmt.Sprintf("%s on %s, process %d", what, host, os.Getpid())
}

func withRunningEngine(ctx context.Context, db *projections.DB, store *eventstore.Store, content blobs.Store, f func(*projecting.Engine) error) error {
	e, err := projecting.New(ctx, projecting.Config{DB: db, Log: store, Logger: slog.Default(), Process: processName("reckon projections")}, projections.New(db, content).All()...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	err = f(e)
	cancel()
	if runErr := <-ended; err == nil {
		err = runErr
	}
	return err
}

// readStatus asks the running server, or reads the tables where none runs.
func (s *settings) readStatus(ctx context.Context) ([]projecting.Status, error) {
	var list []projecting.Status
	ok, err := askServer(ctx, s.Data, "GET", "/projections/", &list)
	if ok || err != nil {
		return list, err
	}
	store, closeStore, err := s.openLog(ctx)
	if err != nil {
		return nil, err
	}
	defer closeStore()
	db, closeDatabase, err := s.openDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer closeDatabase()
	return projecting.StoredStatus(ctx, db, store, projections.New(nil, nil).All()...)
}

// runAction sends an action on a projection to the running server, or runs do when there is none.
func (i installation) runAction(ctx context.Context, name, action string, do func(*projecting.Engine) error) error {
	s, err := i.settings(ctx)
	if err != nil {
		return err
	}
	ok, err := askServer(ctx, s.Data, "POST", "/projections/"+url.PathEscape(name)+"/"+action, &struct{}{})
	if ok || err != nil {
		return err
	}
	return s.withEngine(ctx, (*settings).openDatabase, do)
}

type projectionsStatusCmd struct {
	installation
	JSON bool `help:"Print JSON." name:"json"`
}

// Run shows the read models. It exits 1 when one is halted or has parked something.
func (c *projectionsStatusCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	list, err := where.readStatus(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(list)
	} else {
		err = printStatus(list)
	}
	for _, s := range list {
		if err == nil && (s.Phase == projecting.Halted || s.Parked > 0) {
			return exitStatus(1)
		}
	}
	return err
}

func printStatus(list []projecting.Status) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tPHASE\tWRITER\tPOSITION\tHEAD\tDONE\tRATE\tETA\tPARKED\tREASON")
	for _, s := range list {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%d\t%d\t%.1f %%\t%.0f/s\t%s\t%d\t%s\n", s.Name, s.Version, s.Phase, cmp.Or(s.Writer, "nobody"), s.Position.Commit, s.Head.Commit, s.Percent, s.Rate, formatETA(s), s.Parked, s.Reason)
	}
	return table.Flush()
}

func formatETA(s projecting.Status) string {
	switch {
	case s.ETA < 0:
		return "unknown"
	case s.Lag == 0:
		return "-"
	}
	return time.Duration(s.ETA * float64(time.Second)).Round(time.Second).String()
}

// buildingTasks is how far read models are, for people.
func buildingTasks(list []projecting.Status) []progress.Task {
	tasks := make([]progress.Task, len(list))
	for i, s := range list {
		tasks[i] = progress.Task{Name: s.Name, Done: s.Percent / 100, Rate: s.Rate, Unit: "events", Left: time.Duration(s.ETA * float64(time.Second))}
		if s.Phase != projecting.Running {
			tasks[i].Extra = string(s.Phase)
			switch {
			case s.Reason != "":
				tasks[i].Extra += ": " + s.Reason
			case s.Phase == projecting.Standby:
				tasks[i].Extra += ": written by " + s.Writer
			}
		}
	}
	return tasks
}

type projectionsVersionsCmd struct {
	installation
	JSON bool `help:"Print JSON." name:"json"`
}

// Run lists the versions of read models in the database, those of other binaries too.
func (c *projectionsVersionsCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	list, err := c.storedVersions(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(list)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tWRITER\tPOSITION\tPARKED\tTABLES")
	for _, v := range list {
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%d\t%s\n", v.Name, v.Version, cmp.Or(v.Writer, "nobody"), v.Position.Commit, v.Parked, strings.Join(v.Tables, ", "))
	}
	return table.Flush()
}

func (i installation) storedVersions(ctx context.Context) ([]projecting.StoredVersion, error) {
	s, err := i.settings(ctx)
	if err != nil {
		return nil, err
	}
	db, closeDatabase, err := s.openDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer closeDatabase()
	return projecting.StoredVersions(ctx, db)
}

// describeVersion says what the database has of a version, for --dry-run.
func (i installation) describeVersion(ctx context.Context, name string, version int) (string, error) {
	list, err := i.storedVersions(ctx)
	if err != nil {
		return "", err
	}
	for _, v := range list {
		if v.Name == name && v.Version == version {
			return fmt.Sprintf("the tables %s at position %d, and %d parked events", strings.Join(v.Tables, ", "), v.Position.Commit, v.Parked), nil
		}
	}
	return "", fmt.Errorf("%w: %s, version %d", projecting.ErrNotFound, name, version)
}

type projectionsBootCmd struct {
	installation
	Name   string `arg:"" help:"Read model."`
	DryRun bool   `help:"Only say what would be dropped and read."`
}

// dryRun says what boot would do.
func (c *projectionsBootCmd) dryRun(ctx context.Context, where *settings) error {
	list, err := where.readStatus(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Name != c.Name {
			continue
		}
		has, err := c.describeVersion(ctx, s.Name, s.Version)
		if errors.Is(err, projecting.ErrNotFound) {
			has, err = "nothing, since there are no tables yet", nil
		}
		if err != nil {
			return err
		}
		fmt.Printf("boot %s version %d would drop %s, and read the log from its beginning to position %d; until then its lists are marked stale\n", s.Name, s.Version, has, s.Head.Commit)
		return nil
	}
	return fmt.Errorf("%w: %s", projecting.ErrNotFound, c.Name)
}

// Run builds a read model again and says how far it is until it is there.
func (c *projectionsBootCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.dryRun(ctx, where)
	}
	ok, err := askServer(ctx, where.Data, "POST", "/projections/"+url.PathEscape(c.Name)+"/boot", &struct{}{})
	if err != nil {
		return err
	}
	if ok {
		return c.progress(ctx, func() ([]projecting.Status, error) { return where.readStatus(ctx) })
	}
	return where.withEngine(ctx, (*settings).createDatabase, func(e *projecting.Engine) error {
		if err := e.Boot(ctx, c.Name); err != nil {
			return err
		}
		return c.progress(ctx, func() ([]projecting.Status, error) { return e.Status(ctx) })
	})
}

func (c *projectionsBootCmd) progress(ctx context.Context, status func() ([]projecting.Status, error)) error {
	display := progress.New(os.Stderr, slog.Default())
	defer display.Close()
	for {
		list, err := status()
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.Name != c.Name {
				continue
			}
			display.Show(func() []progress.Task { return buildingTasks([]projecting.Status{s}) })
			switch {
			case s.Phase == projecting.Halted:
				display.Close()
				fmt.Fprintln(os.Stderr, s.Reason)
				return exitStatus(1)
			case s.Ready && (s.Phase == projecting.Running || s.Phase == projecting.Standby): // another process writes it
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

type projectionsPauseCmd struct {
	installation
	Name string `arg:"" help:"Read model."`
}

// Run stops a read model until it is resumed, over restarts too.
func (c *projectionsPauseCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	return c.runAction(ctx, c.Name, "pause", func(e *projecting.Engine) error { return e.Pause(ctx, c.Name) })
}

type projectionsResumeCmd struct {
	installation
	Name string `arg:"" help:"Read model."`
}

// Run lets a read model go on.
func (c *projectionsResumeCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	return c.runAction(ctx, c.Name, "resume", func(e *projecting.Engine) error { return e.Resume(ctx, c.Name) })
}

type projectionsTeardownCmd struct {
	installation
	Name    string `arg:"" help:"Read model."`
	Version int    `arg:"" help:"Its version."`
	DryRun  bool   `help:"Only say what would be removed."`
}

// Run removes tables, checkpoint and parked events of a version.
func (c *projectionsTeardownCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	var list []projecting.Status
	if _, err := askServer(ctx, where.Data, "GET", "/projections/", &list); err != nil {
		return err
	}
	for _, s := range list {
		if s.Name == c.Name && s.Version == c.Version {
			return fmt.Errorf("%s version %d is in use by the running server; `reckon projections boot %s` builds it again", c.Name, c.Version, c.Name)
		}
	}
	if c.DryRun {
		has, err := c.describeVersion(ctx, c.Name, c.Version)
		if err == nil {
			fmt.Printf("teardown would remove %s\n", has)
		}
		return err
	}
	db, closeDatabase, err := where.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer closeDatabase()
	return projecting.TearDown(ctx, db, c.Name, c.Version)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/progress"
)

// nodeScavengeCmd scavenges a log.
type nodeScavengeCmd struct {
	nodeFolder
}

// Run prints the report. Where a node has the log it is asked to scavenge, and goes on when
// the command is interrupted.
func (c *nodeScavengeCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if !exists(filepath.Join(c.log(), "segments")) {
		return fmt.Errorf("there is no log in %s: name its folder with --data", c.log())
	}
	report, err := c.inFolder(ctx)
	if inUse := (*eventlog.FolderInUseError)(nil); errors.As(err, &inUse) {
		report, err = c.byNode(ctx, inUse)
	}
	var damage *eventlog.CorruptError
	if errors.As(err, &damage) {
		fmt.Fprintf(os.Stderr, "reckon node scavenge: %v\n", err)
		sayHowFar(ctx, "scavenge", c.log(), err)
		return exitStatus(1)
	}
	if err != nil {
		if report.Removed > 0 {
			fmt.Fprintf(os.Stderr, "reckon node scavenge: up to position %d %d payloads were removed\n", report.Position, report.Removed)
		}
		return err
	}
	return printJSON(report)
}

// inFolder scavenges a log that no node has.
func (c *nodeScavengeCmd) inFolder(ctx context.Context) (eventlog.ScavengeReport, error) {
	log, err := eventlog.Open(eventlog.Options{Dir: c.log(), Logger: slog.Default()})
	if err != nil {
		return eventlog.ScavengeReport{}, err
	}
	display := progress.New(os.Stderr, slog.Default())
	defer display.Close()
	began, sealed := time.Now(), log.Health().Segments-1
	report, err := log.Scavenge(ctx, func(r eventlog.ScavengeReport) {
		display.Show(func() []progress.Task {
			task := advance("scavenge", "segments", began, uint64(r.Segments), uint64(sealed))
			task.Extra = fmt.Sprintf("%d payloads removed, %d bytes freed", r.Removed, r.Freed)
			return []progress.Task{task}
		})
	})
	return report, errors.Join(err, log.Close())
}

// byNode asks the node that has the log.
func (c *nodeScavengeCmd) byNode(ctx context.Context, inUse error) (eventlog.ScavengeReport, error) {
	socket := filepath.Join(c.log(), node.SocketName)
	if !exists(socket) {
		return eventlog.ScavengeReport{}, fmt.Errorf("%w; it has no socket, as with --insecure-listen: append an event of type %s to the stream %s there, or start it with --scavenge-every", inUse, node.ScavengeRequestedType, node.ScavengeStream)
	}
	fmt.Fprintln(os.Stderr, "the node that has the log scavenges it")
	result, err := eventstore.RequestScavenge(ctx, "unix:"+socket, slog.Default())
	if err == nil && result.Error != "" {
		err = errors.New(result.Error)
	}
	return result.ScavengeReport, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"reckon/eventstore"
	"reckon/internal/blobs"
	"reckon/internal/progress"
)

// blobsCmd looks after the store of large bytes.
type blobsCmd struct {
	Collect blobsCollectCmd `cmd:"" help:"Remove the blobs that no event of the log names, beside running servers."`
}

type blobsCollectCmd struct {
	installation
	OlderThan time.Duration `help:"Keep what was stored, or stored again, since then; at least 1h." default:"24h" placeholder:"D"`
	DryRun    bool          `help:"Only say what would be removed."`
	JSON      bool          `help:"Print JSON." name:"json"`
}

// Run collects and says what it found.
func (c *blobsCollectCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	store, closeStore, err := where.openLog(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	kept, err := where.openBlobs(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	collected, err := c.collect(ctx, store, kept)
	if err != nil && collected.Step == "" { // refused before it looked
		return err
	}
	if c.JSON {
		return errors.Join(err, printJSON(collected))
	}
	return errors.Join(err, printCollected(collected, c.DryRun))
}

func (c *blobsCollectCmd) collect(ctx context.Context, store *eventstore.Store, kept blobs.Store) (blobs.Collected, error) {
	named, err := store.Identity(ctx)
	if err != nil {
		return blobs.Collected{}, err
	}
	head, err := store.Head(ctx)
	if err != nil {
		return blobs.Collected{}, err
	}
	display := progress.New(os.Stderr, slog.Default())
	defer display.Close()
	task := progress.Task{Name: "collecting", Done: -1, Left: -1, Unit: "events"}
	return kept.Collect(ctx, blobs.Collection{
		LogID: named.Origin, OlderThan: c.OlderThan, DryRun: c.DryRun,
		ReadLog: func(ctx context.Context, visit func([]byte)) error {
			begun, events := time.Now(), 0
			defer func() { task.Done, task.Rate, task.Left = -1, 0, -1 }()
			return store.VisitAll(ctx, func(raw eventstore.Raw) {
				events++
				passed := time.Since(begun)
				task.Done = min(1, float64(raw.Position.Commit)/float64(max(1, head.Commit)))
				task.Rate, task.Left = float64(events)/passed.Seconds(), time.Duration(float64(passed)*(1/task.Done-1))
				visit(raw.Data)
				visit(raw.Metadata)
			})
		},
		Progress: func(now blobs.Collected) {
			display.Show(func() []progress.Task {
				task.Extra = fmt.Sprintf("%s: %d blobs, %d that no event names", now.Step, now.Blobs, now.Unnamed)
				return []progress.Task{task}
			})
		},
	})
}

func printCollected(c blobs.Collected, dryRun bool) error {
	did := "removed"
	if dryRun {
		did = "would be removed"
	}
	_, err := fmt.Printf("%d blobs of %d bytes, %d of them too young to be judged\n%s: %d blobs of %d bytes that no event names, %d temporary files of %d bytes\n",
		c.Blobs, c.Bytes, c.Young, did, c.Unnamed, c.UnnamedBytes, c.Abandoned, c.AbandonedBytes)
	return err
}

package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/projections"
	projecting "reckon/projections/engine"
)

// parkedCmd looks after events that could not be applied or reacted to.
type parkedCmd struct {
	List  parkedListCmd  `cmd:"" default:"withargs" help:"List what read models and reactions have set aside."`
	Retry parkedRetryCmd `cmd:"" help:"Try again what was set aside."`
	Drop  parkedDropCmd  `cmd:"" help:"Give up what a read model set aside of one stream."`
}

type parkedReport struct {
	Projections []projecting.Parked          `json:"projections"`
	Reactions   []projections.ParkedReaction `json:"reactions"`
}

type parkedListCmd struct {
	installation
	JSON bool `help:"Print JSON." name:"json"`
}

// Run lists what is parked. It exits 1 when there is something.
func (c *parkedListCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	db, closeDatabase, err := where.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer closeDatabase()
	var report parkedReport
	if report.Projections, err = projecting.ListParked(ctx, db); err != nil {
		return err
	}
	state, err := projections.NewReactionState(ctx, db)
	if err != nil {
		return err
	}
	if report.Reactions, err = state.Parked(ctx); err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(report)
	} else {
		err = report.print()
	}
	if err == nil && len(report.Projections)+len(report.Reactions) > 0 {
		return exitStatus(1)
	}
	return err
}

func (r parkedReport) print() error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BY\tSTREAM\tREVISION\tEVENT\tSINCE\tREASON")
	for _, p := range r.Projections {
		fmt.Fprintf(table, "projection %s_v%d\t%s\t%d\t%s\t%s\t%s\n", p.Projection, p.Version, p.Stream, p.Revision, p.EventName, p.ParkedAt.Format(time.RFC3339), p.Reason)
	}
	for _, p := range r.Reactions {
		fmt.Fprintf(table, "reaction %s\t%s\t%d\t%s\t%s\t%s\n", p.Reaction, p.Stream, p.Revision, p.EventName, p.ParkedAt.UTC().Format(time.RFC3339), p.Reason)
	}
	return table.Flush()
}

type parkedRetryCmd struct {
	installation
	Name string `arg:"" help:"Read model or reaction."`
}

// Run tries again what a read model or a reaction of that name set aside.
func (c *parkedRetryCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	models := projections.New(nil, nil)
	for _, p := range models.All() {
		if p.Name == c.Name {
			return c.runAction(ctx, c.Name, "retry", func(e *projecting.Engine) error { return e.RetryParked(ctx, c.Name) })
		}
	}
	for _, r := range reactions.All(nil, nil, nil, reactions.Actor{}) {
		if r.Name == c.Name {
			return c.retryReaction(ctx)
		}
	}
	return fmt.Errorf("there is no read model and no reaction %q", c.Name)
}

func (c *parkedRetryCmd) retryReaction(ctx context.Context) error {
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	db, closeDatabase, err := where.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer closeDatabase()
	store, closeStore, err := where.openLog(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	content, err := where.openBlobs()
	if err != nil {
		return err
	}
	state, err := projections.NewReactionState(ctx, db)
	if err != nil {
		return err
	}
	parked, err := state.Parked(ctx)
	if err != nil {
		return err
	}
	parked = slices.DeleteFunc(parked, func(p projections.ParkedReaction) bool { return p.Reaction != c.Name })
	if len(parked) == 0 {
		return nil
	}
	people, closePeople, err := where.openIdentity(ctx)
	if err != nil {
		return err
	}
	defer closePeople()
	states, err := where.openStates()
	if err != nil {
		return err
	}
	jobs := &commands.Jobs{Store: store, Runs: commands.NewRunIDs(store, "operator"), Blobs: content}
	return withRunningEngine(ctx, db, store, content, func(e *projecting.Engine) error {
		list := reactions.All(jobs, newClosing(jobs, projections.New(db, content), e, people, states), where.plans, reactions.Actor{Clock: systemClock{}, Build: buildRevision()})
		return c.retryAll(ctx, store, state, list, parked)
	})
}

// retryAll has the reaction handle its parked events once more.
func (c *parkedRetryCmd) retryAll(ctx context.Context, store *eventstore.Store, state *projections.ReactionState, list []reactions.Reaction, parked []projections.ParkedReaction) error {
	failed := 0
	for _, p := range parked {
		recorded, err := store.Event(ctx, p.Stream, event.Revision(p.Revision))
		if err == nil {
			err = reactions.Retry(ctx, list, p.Reaction, recorded)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s, revision %d: %v\n", p.Stream, p.Revision, err)
			failed++
			continue
		}
		if err := state.Unpark(ctx, p.Reaction, p.EventID); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exitStatus(1)
	}
	return nil
}

type parkedDropCmd struct {
	installation
	Name   string `arg:"" help:"Read model."`
	Stream string `arg:"" help:"Stream whose parked events are never to be applied."`
}

// Run gives up the parked events of one stream; its later ones are applied again.
func (c *parkedDropCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	return c.runAction(ctx, c.Name, "drop?stream="+url.QueryEscape(c.Stream), func(e *projecting.Engine) error {
		return e.DropParked(ctx, c.Name, c.Stream)
	})
}

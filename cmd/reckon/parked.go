package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/projections"
	projecting "reckon/projections/engine"
)

// parkedCmd looks after events that could not be applied or reacted to.
type parkedCmd struct {
	List  parkedListCmd  `cmd:"" default:"withargs" help:"List what read models and reactions have set aside."`
	Show  parkedShowCmd  `cmd:"" help:"Show the events that were set aside of one stream, and why."`
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
	report, err := readParked(ctx, where)
	if err != nil {
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

// readParked reads what read models and reactions have set aside.
func readParked(ctx context.Context, where *settings) (report parkedReport, err error) {
	db, closeDatabase, err := where.openDatabase(ctx)
	if err != nil {
		return report, err
	}
	defer closeDatabase()
	if report.Projections, err = projecting.ListParked(ctx, db); err != nil {
		return report, err
	}
	state, err := projections.NewReactionState(ctx, db)
	if err != nil {
		return report, err
	}
	report.Reactions, err = state.Parked(ctx)
	return report, err
}

type parkedShowCmd struct {
	installation
	Name   string `arg:"" help:"Read model or reaction."`
	Stream string `arg:"" help:"Stream of the parked events."`
	Full   bool   `help:"Print long texts whole."`
}

// Run prints each parked event of the stream with the reason, as it is in the log.
func (c *parkedShowCmd) Run() error {
	return c.readLog(func(ctx context.Context, where *settings, store *eventstore.Store) error {
		report, err := readParked(ctx, where)
		if err != nil {
			return err
		}
		of, err := report.of(c.Name, c.Stream)
		if err != nil {
			return err
		}
		for _, p := range of {
			e, found, err := p.read(ctx, store)
			switch {
			case err != nil:
			case !found:
				_, err = fmt.Printf("%s@%d is not in the log any more\n", shownName(p.stream), p.revision)
			default:
				_, err = fmt.Printf("parked since %s: %s\n%s", p.since.UTC().Format(time.RFC3339), shownReason(p.reason), e.paragraph(c.Full))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// parkedEvent is an event that a read model or a reaction has set aside.
type parkedEvent struct {
	by       string
	version  int // of the read model; 0: by a reaction
	stream   string
	revision event.Revision
	name     string // of the event
	since    time.Time
	reason   string
}

// all are the parked events, those of read models first.
func (r parkedReport) all() (list []parkedEvent) {
	for _, p := range r.Projections {
		list = append(list, parkedEvent{p.Projection, p.Version, p.Stream, p.Revision, p.EventName, p.ParkedAt, p.Reason})
	}
	for _, p := range r.Reactions {
		list = append(list, parkedEvent{p.Reaction, 0, p.Stream, event.Revision(p.Revision), p.EventName, p.ParkedAt, string(p.Reason)})
	}
	return list
}

// of are the events that one has parked of a stream.
func (r parkedReport) of(name, stream string) ([]parkedEvent, error) {
	list := slices.DeleteFunc(r.all(), func(p parkedEvent) bool { return p.by != name || p.stream != stream })
	if len(list) == 0 {
		return nil, nothingParked(name, stream)
	}
	return list, nil
}

func nothingParked(name, stream string) error {
	return fmt.Errorf("%w: %s has parked nothing of the stream %s; `reckon parked` lists what is parked", errNotFound, name, shownName(stream))
}

// read is the event as it is in the log; false where it is not there.
func (p parkedEvent) read(ctx context.Context, store *eventstore.Store) (e shownEvent, found bool, err error) {
	page, err := store.RawStream(ctx, p.stream, p.revision, 1)
	if err != nil || len(page) == 0 || page[0].Revision != p.revision {
		return e, false, err
	}
	return decodeShown(domain.Catalogue(), page[0]), true, nil
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
	err := c.retryParked(ctx, c.Name)
	if parkedAgain, is := errors.AsType[*parkedAgainError](err); is {
		fmt.Fprintln(os.Stderr, parkedAgain)
		return exitStatus(1)
	}
	return err
}

// parkedAgainError says which parked events a reaction could not handle this time either.
type parkedAgainError struct{ reasons []string }

func (e *parkedAgainError) Error() string { return strings.Join(e.reasons, "\n") }

// retryParked tries again what a read model or a reaction of that name set aside.
func (i installation) retryParked(ctx context.Context, name string) error {
	models := projections.New(nil, nil)
	for _, p := range models.All() {
		if p.Name == name {
			return i.runAction(ctx, name, "retry", func(e *projecting.Engine) error { return e.RetryParked(ctx, name) })
		}
	}
	for _, r := range reactions.All(nil, nil, nil, reactions.Actor{}) {
		if r.Name == name {
			return i.retryReaction(ctx, name)
		}
	}
	return fmt.Errorf("%w: there is no read model and no reaction %q", errNotFound, name)
}

func (i installation) retryReaction(ctx context.Context, name string) error {
	where, err := i.settings(ctx)
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
	content, err := where.openBlobs(ctx)
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
	parked = slices.DeleteFunc(parked, func(p projections.ParkedReaction) bool { return p.Reaction != name })
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
		return retryAll(ctx, store, state, list, parked)
	})
}

// retryAll has the reaction handle its parked events once more.
func retryAll(ctx context.Context, store *eventstore.Store, state *projections.ReactionState, list []reactions.Reaction, parked []projections.ParkedReaction) error {
	var failed []string
	for _, p := range parked {
		recorded, err := store.Event(ctx, p.Stream, event.Revision(p.Revision))
		if err == nil {
			err = reactions.Retry(ctx, list, p.Reaction, recorded)
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s, revision %d: %v", p.Stream, p.Revision, err))
			continue
		}
		if err := state.Unpark(ctx, p.Reaction, p.EventID); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return &parkedAgainError{failed}
	}
	return nil
}

type parkedDropCmd struct {
	installation
	Name   string `arg:"" help:"Read model."`
	Stream string `arg:"" help:"Stream whose parked events are never to be applied."`
	DryRun bool   `help:"Only say how many events would be given up." xor:"ask"`
	Yes    bool   `help:"Do not ask." xor:"ask"`
}

// Run gives up the parked events of one stream, once it has been told to; its later ones are applied again.
func (c *parkedDropCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	where, err := c.settings(ctx)
	if err != nil {
		return err
	}
	report, err := readParked(ctx, where)
	if err != nil {
		return err
	}
	count := 0
	for _, p := range report.Projections {
		if p.Projection == c.Name && p.Stream == c.Stream {
			count++
		}
	}
	switch {
	case count == 0:
		return nothingParked(c.Name, c.Stream)
	case c.DryRun:
		_, err = fmt.Printf("%d parked events of %s would be given up\n", count, shownName(c.Stream))
		return err
	case !c.Yes:
		if err := confirm(fmt.Sprintf("Give up %d parked events of %s? %s will never apply them.", count, shownName(c.Stream), c.Name)); err != nil {
			return err
		}
	}
	err = c.dropParked(ctx, c.Name, c.Stream)
	if err == nil {
		_, err = fmt.Printf("%d parked events of %s are given up\n", count, shownName(c.Stream))
	}
	return err
}

// dropParked gives up what a read model has parked of a stream.
func (i installation) dropParked(ctx context.Context, name, stream string) error {
	return i.runAction(ctx, name, "drop?stream="+url.QueryEscape(stream), func(e *projecting.Engine) error { return e.DropParked(ctx, name, stream) })
}

// confirm asks on standard error and reads the answer from standard input; anything but yes is an error.
func confirm(question string) error {
	fmt.Fprint(os.Stderr, question+" [yes/no] ")
	answer, err := bufio.NewReader(io.LimitReader(os.Stdin, 64)).ReadString('\n')
	if strings.TrimSpace(answer) == "yes" {
		return nil
	}
	fmt.Fprintln(os.Stderr)
	if errors.Is(err, io.EOF) && answer == "" {
		return errors.New("nobody answers: give --yes, or --dry-run to see what would be done")
	}
	return errors.New("nothing was done")
}

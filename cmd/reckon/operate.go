package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/internal/httpserver"
	"reckon/internal/identity"
	projecting "reckon/projections/engine"
	"reckon/readapi/operator"
)

// operateCmd serves the operator's pages to one browser of this machine.
type operateCmd struct {
	installation
	Port uint16 `help:"Port of 127.0.0.1; 0 takes a free one." default:"0" env:"-"`
}

// Run prints the link that opens the pages once, and serves them until Ctrl-C.
func (c *operateCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if _, err := c.settings(ctx); err != nil { // rather than on the first page
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(c.Port))))
	if err != nil {
		return err
	}
	door, link := operator.NewDoor(listener.Addr().String(), operator.Pages(operatorSource{c.installation, make(chan struct{}, 1)}))
	if _, err := fmt.Printf("%s\nThe address opens the pages once, in one browser. Ctrl-C ends them.\n", link); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveUntil(ctx, httpserver.New(door, httpserver.ClientLimits(), slog.Default()), listener)
}

// operatorSource answers the pages as the commands tail, show, trace, projections and parked do. It asks anew for each page where
// everything is, so that a server may start and end meanwhile, and one page at a time: without a server the log's files are opened.
type operatorSource struct {
	installation
	turn chan struct{} // holds one value while a page is made
}

// take waits for the turn of a page.
func (o operatorSource) take(ctx context.Context) (leave func(), err error) {
	select {
	case o.turn <- struct{}{}:
		return func() { <-o.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// withSettings is one turn with the settings of the installation.
func (o operatorSource) withSettings(ctx context.Context, f func(*settings) error) error {
	leave, err := o.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := o.settings(ctx)
	if err == nil {
		err = f(s)
	}
	return asPage(err)
}

// withLog is one turn with the log.
func (o operatorSource) withLog(ctx context.Context, f func(*settings, *eventstore.Store) error) error {
	return o.withSettings(ctx, func(s *settings) error { return readingLog(ctx, s, f) })
}

// readingLog opens the log while f runs.
func readingLog(ctx context.Context, s *settings, f func(*settings, *eventstore.Store) error) error {
	store, closeStore, err := s.openLog(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	return f(s, store)
}

// asPage maps not-found errors to the status 404 of the pages.
func asPage(err error) error {
	if errors.Is(err, errNotFound) || errors.Is(err, projecting.ErrNotFound) || errors.Is(err, identity.ErrAccountNotFound) {
		return fmt.Errorf("%w: %w", operator.ErrNotFound, err)
	}
	return err
}

// Projections is operator.Source.
func (o operatorSource) Projections(ctx context.Context, renewal bool) (list []projecting.Status, live bool, err error) {
	err = o.withSettings(ctx, func(s *settings) error {
		if live = !s.ownsLog(); renewal && !live {
			return operator.ErrNoServer
		}
		list, err = s.readStatus(ctx)
		return err
	})
	return list, live, err
}

// Log is operator.Source.
func (o operatorSource) Log(ctx context.Context, filter operator.Filter, renewal bool) (log operator.Log, err error) {
	read := func(s *settings, store *eventstore.Store) error {
		wanted := selection{account: filter.Account}
		if filter.Type != "" {
			wanted.types = []string{filter.Type}
		}
		if filter.Kind != "" {
			wanted.categories = []string{filter.Kind}
		}
		if wanted, err = wanted.resolve(ctx, s); err != nil {
			return err
		}
		newest, err := searchNewest(ctx, store, wanted, operator.LogEvents, operator.LogLookBack)
		if err != nil {
			return err
		}
		catalogue := domain.Catalogue()
		log.Searched, log.Whole = newest.searched, newest.whole
		for _, raw := range newest.found {
			e := decodeShown(catalogue, raw)
			shown := pageEvent(e)
			shown.Data = cutData(e.Data, longestData)
			log.Events = append(log.Events, shown)
		}
		return nil
	}
	err = o.withSettings(ctx, func(s *settings) error {
		if log.Live = !s.ownsLog(); renewal && !log.Live {
			return operator.ErrNoServer
		}
		return readingLog(ctx, s, read)
	})
	return log, err
}

// Stream is operator.Source.
func (o operatorSource) Stream(ctx context.Context, name string, from int64) (stream operator.Stream, err error) {
	err = o.withLog(ctx, func(_ *settings, store *eventstore.Store) error {
		state, last, err := readShown(ctx, store, name, nil, func(e shownEvent) error {
			if int64(e.Revision) >= from && len(stream.Events) < operator.StreamEvents {
				stream.Events = append(stream.Events, pageEvent(e))
			}
			return nil
		})
		if err != nil {
			return err
		}
		stream.Last, stream.Missing = int64(last), shownReason(state.missing)
		if state.missing != "" {
			return nil
		}
		text, err := event.Marshal(state.state())
		stream.State = indented(text, false)
		return err
	})
	return stream, err
}

// Correlation is operator.Source.
func (o operatorSource) Correlation(ctx context.Context, of string, since uint64) (tree operator.Tree, err error) {
	err = o.withLog(ctx, func(_ *settings, store *eventstore.Store) error {
		sought, err := resolveTraced(ctx, store, of)
		if err != nil {
			return err
		}
		events, truncated, err := correlated(ctx, store, sought, event.Position{Commit: since, Prepare: since}, operator.TreeEvents)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return fmt.Errorf("%w: no event after the position %d has the %s", errNotFound, since, sought)
		}
		first := events[0].meta
		tree.Correlation, tree.Traces = sought.correlation, traceIDs(events)
		tree.At, tree.Actor, tree.Source, tree.Truncated = first.At, shownReason(first.Actor), shownReason(string(first.Source)), truncated
		for _, row := range (traceReport{Correlation: tree.Correlation, Events: traced(events)}).rows() {
			tree.Rows = append(tree.Rows, operator.Row{
				Event: pageEvent(row.shownEvent), Branch: row.branch, Level: row.level + 1, After: row.meta.At.Sub(first.At), Guessed: row.Because == byStream,
			})
		}
		return nil
	})
	return tree, err
}

// Parked is operator.Source.
func (o operatorSource) Parked(ctx context.Context) (list []operator.Parked, err error) {
	err = o.withSettings(ctx, func(s *settings) error {
		report, err := readParked(ctx, s)
		for _, p := range report.all() {
			list = append(list, p.page())
		}
		return err
	})
	return list, err
}

// ParkedEvents is operator.Source.
func (o operatorSource) ParkedEvents(ctx context.Context, by, stream string) (list []operator.Parked, err error) {
	err = o.withLog(ctx, func(s *settings, store *eventstore.Store) error {
		report, err := readParked(ctx, s)
		if err != nil {
			return err
		}
		of, err := report.of(by, stream)
		if err != nil {
			return err
		}
		for _, p := range of {
			shown := p.page()
			e, found, err := p.read(ctx, store)
			if err != nil {
				return err
			}
			if shown.Gone = !found; found {
				shown.Event = pageEvent(e)
			}
			list = append(list, shown)
		}
		return nil
	})
	return list, err
}

// Retry is operator.Source.
func (o operatorSource) Retry(ctx context.Context, by string) error {
	return o.withSettings(ctx, func(*settings) error { return o.retryParked(ctx, by) })
}

// Drop is operator.Source.
func (o operatorSource) Drop(ctx context.Context, by, stream string) error {
	return o.withSettings(ctx, func(s *settings) error {
		report, err := readParked(ctx, s)
		if err != nil {
			return err
		}
		if _, err := report.of(by, stream); err != nil {
			return err
		}
		return o.dropParked(ctx, by, stream)
	})
}

// page is a parked event without its data.
func (p parkedEvent) page() operator.Parked {
	return operator.Parked{
		By: p.by, Reaction: p.version == 0, Version: p.version, Since: p.since, Reason: shownReason(p.reason),
		Event: operator.Event{Stream: p.stream, Revision: int64(p.revision), Name: p.name},
	}
}

// pageEvent is an event as pages show it: the stream and the correlation whole, to link to them.
func pageEvent(e shownEvent) operator.Event {
	shown := operator.Event{
		Position: e.Position, Stream: e.Stream, Revision: int64(e.Revision), Name: e.Event, Version: e.Version, At: e.meta.At, Correlation: e.meta.Correlation,
		Data: indented(e.Data, false), Unreadable: shownReason(e.Unreadable),
	}
	for _, fact := range e.facts() {
		if fact.value != "" {
			shown.Facts = append(shown.Facts, operator.Fact{Name: fact.name, Value: shownReason(fact.value)})
		}
	}
	return shown
}

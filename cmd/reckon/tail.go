package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
)

// tailCmd prints events as they are appended.
type tailCmd struct {
	installation
	Stream      []string `help:"Only events of this stream; may be repeated." placeholder:"NAME"`
	Category    []string `help:"Only streams of this kind: job takes job-…, keys takes keys. May be repeated." placeholder:"KIND"`
	Type        []string `help:"Only events of this type (job.queued), or of all whose names begin so (job.). May be repeated." placeholder:"TYPE"`
	Account     string   `help:"Only events about this account." placeholder:"EMAIL"`
	Correlation string   `help:"Only events of this correlation: all that one request led to." placeholder:"ID"`
	Since       *uint64  `help:"Begin after this position in the log; 0 is the beginning." placeholder:"POSITION" xor:"begin"`
	Last        *int     `help:"Begin with so many of the newest events that match (10)." placeholder:"N" xor:"begin"`
	Once        bool     `help:"End at the end of the log instead of waiting for more."`
	JSON        bool     `help:"Print each event as a line of JSON, whole." name:"json"`
}

const (
	lookBack    = 100_000 // events that --last searches at most
	defaultLast = 10
	mostLast    = 1000 // held in memory
)

func (c *tailCmd) last() int {
	if c.Last == nil {
		return defaultLast
	}
	return *c.Last
}

// Run prints events until Ctrl-C or until nobody reads its output.
func (c *tailCmd) Run() error {
	return c.readLog(func(ctx context.Context, s *settings, store *eventstore.Store) error {
		wanted, err := c.selection(ctx, s)
		if err != nil {
			return err
		}
		after, err := c.printOlder(ctx, store, wanted)
		if err != nil || c.Once && c.Since == nil {
			return err
		}
		if s.ownsLog() && !c.Once {
			fmt.Fprintf(os.Stderr, "no server runs on %s: this is all that its log holds\n", s.Data)
			if c.Since == nil {
				return nil
			}
			c.Once = true
		}
		return c.follow(ctx, store, after, wanted)
	})
}

// printOlder prints what --last asks for and returns the position after which to go on.
func (c *tailCmd) printOlder(ctx context.Context, store *eventstore.Store, wanted selection) (event.Position, error) {
	if c.Since != nil {
		return event.Position{Commit: *c.Since, Prepare: *c.Since}, nil
	}
	older, err := searchNewest(ctx, store, wanted, c.last(), lookBack)
	if err != nil {
		return older.head, err
	}
	if c.Once && len(older.found) == 0 && older.whole {
		fmt.Fprintln(os.Stderr, "no event of the log matches")
	}
	if older.searched == lookBack {
		fmt.Fprintf(os.Stderr, "%d of the newest %d events match; --since POSITION looks further back\n", len(older.found), lookBack)
	}
	for _, raw := range slices.Backward(older.found) {
		if err := c.print(raw); err != nil {
			return older.head, err
		}
	}
	return older.head, nil
}

// newestEvents are events from the end of the log, newest first.
type newestEvents struct {
	found    []eventstore.Raw
	head     event.Position // of the log's last event
	searched int            // events that were looked at
	whole    bool           // to the beginning of the log
}

// searchNewest searches the newest events, at most mostSearched, for at most most that are wanted.
func searchNewest(ctx context.Context, store *eventstore.Store, wanted selection, most, mostSearched int) (newest newestEvents, err error) {
	for raw, err := range store.RawBackwards(ctx) {
		if err != nil {
			return newest, err
		}
		if newest.searched == 0 {
			newest.head = raw.Position
		}
		if len(newest.found) == most || newest.searched == mostSearched {
			return newest, nil
		}
		newest.searched++
		if wanted.has(raw) {
			newest.found = append(newest.found, raw)
		}
	}
	newest.whole = true
	return newest, nil
}

func (c *tailCmd) follow(ctx context.Context, store *eventstore.Store, after event.Position, wanted selection) error {
	events := store.RawAll(ctx, after)
	if !c.Once {
		events = store.RawLive(ctx, after, wanted.narrow())
	}
	for raw, err := range events {
		if err == nil && wanted.has(raw) {
			err = c.print(raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *tailCmd) print(raw eventstore.Raw) error {
	e := decodeShown(domain.Catalogue(), raw)
	line := e.line()
	if c.JSON {
		var err error
		if line, err = e.json(); err != nil {
			return err
		}
	}
	_, err := fmt.Println(line)
	return err
}

// selection is which events are wanted. A field that is empty takes all.
type selection struct {
	streams     []string // names
	categories  []string
	types       []string // names, and beginnings of names that end in a dot
	account     string   // id
	correlation string
}

// selection resolves the flags.
func (c *tailCmd) selection(ctx context.Context, s *settings) (selection, error) {
	chosen := selection{streams: c.Stream, categories: c.Category, types: c.Type, account: c.Account, correlation: c.Correlation}
	if c.last() < 0 || c.last() > mostLast {
		return chosen, fmt.Errorf("--last %d: say 0 to %d; --since POSITION has no limit", c.last(), mostLast)
	}
	return chosen.resolve(ctx, s)
}

// resolve finds the account by its address, and refuses types that no event has.
func (s selection) resolve(ctx context.Context, where *settings) (selection, error) {
	names := slices.Sorted(maps.Keys(domain.Catalogue()))
	for _, name := range s.types {
		if !slices.ContainsFunc(names, func(known string) bool {
			return known == name || strings.HasSuffix(name, ".") && strings.HasPrefix(known, name)
		}) {
			return s, fmt.Errorf("%w: --type %s: no event has that name; there are %s", errNotFound, name, strings.Join(names, ", "))
		}
	}
	if s.account == "" || uuid.Validate(s.account) == nil {
		return s, nil
	}
	people, closePeople, err := where.openIdentity(ctx)
	if err != nil {
		return s, err
	}
	defer closePeople()
	s.account, err = people.AccountOf(ctx, s.account)
	return s, err
}

// has tells whether an event is wanted. The store's own are only where their stream is named.
func (s selection) has(raw eventstore.Raw) bool {
	switch {
	case len(s.streams) > 0 && !slices.Contains(s.streams, raw.Stream):
		return false
	case len(s.streams) == 0 && strings.HasPrefix(raw.Stream, "$"):
		return false
	case len(s.categories) > 0 && !slices.ContainsFunc(s.categories, func(c string) bool { return raw.Stream == c || strings.HasPrefix(raw.Stream, c+"-") }):
		return false
	case len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool {
		return raw.Name == t || strings.HasSuffix(t, ".") && strings.HasPrefix(raw.Name, t)
	}):
		return false
	case s.account == "" && s.correlation == "":
		return true
	}
	meta, ok := metadataOf(raw)
	return ok && (s.account == "" || meta.Account == s.account) && (s.correlation == "" || meta.Correlation == s.correlation)
}

// narrow is what the server may leave out.
func (s selection) narrow() eventstore.Narrow {
	streams := s.streams
	if len(streams) == 0 {
		streams = s.categories
	}
	return eventstore.Narrow{Streams: streams, Types: s.types}
}

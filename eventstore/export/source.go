package export

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// Selection says which events are exported.
type Selection struct {
	Since    uint64 // only events at later positions
	Stream   string // only of this stream; empty: of all
	Category string // only of streams whose name has this text before its first "-"; empty: of all

	SkipDamaged bool // of a folder: damaged records are left out and named, instead of ending the export
}

// selected reports whether a stream is one of those that are named.
func selected(stream, category, name string) bool {
	if stream != "" && name != stream {
		return false
	}
	before, _, found := strings.Cut(name, "-")
	return category == "" || found && before == category
}

// Sink takes what a source has.
type Sink struct {
	Begin func(Header) error              // once, before the first event
	Event func(*Event) error              // the event's memory may be reused afterwards
	Gap   func(eventlog.Gap) error        // for what is left out, with Selection.SkipDamaged
	Pass  func(position, of uint64) error // after each event of the source, selected or not; of is 0 when it is not known
}

// Reached is the newest record that a source had.
type Reached struct {
	Position uint64
	Link     [32]byte // when the source has links
}

// Source calls the sink for every selected event of a log in its order.
type Source func(ctx context.Context, s Selection, to Sink) (Reached, error)

// Folder is the log in a folder. A node may have it open. Errors: those of
// eventlog.ScanFolder, with Selection.SkipDamaged of eventlog.SalvageFolder, and of the sink.
func Folder(dir string) Source {
	return func(ctx context.Context, s Selection, to Sink) (Reached, error) {
		var head uint64
		begin := func(start eventlog.FolderStart) error {
			head = start.Head
			if s.Since > start.Head {
				return fmt.Errorf("the log in %s ends at position %d, before %d", dir, start.Head, s.Since)
			}
			return to.Begin(Header{LogID: start.LogID, After: s.Since, Link: start.Link, Stream: s.Stream, Category: s.Category, Gaps: s.SkipDamaged})
		}
		visit := func(l *eventlog.Linked) error {
			if selected(s.Stream, s.Category, l.Stream) {
				e := eventOf(l)
				if err := to.Event(&e); err != nil {
					return err
				}
			}
			return to.Pass(l.Position, head)
		}
		scan := eventlog.ScanFolder
		if s.SkipDamaged {
			scan = func(ctx context.Context, dir string, after uint64, begin func(eventlog.FolderStart) error, visit func(*eventlog.Linked) error) (eventlog.Anchor, error) {
				return eventlog.SalvageFolder(ctx, dir, after, begin, visit, to.Gap)
			}
		}
		end, err := scan(ctx, dir, s.Since, begin, visit)
		if err != nil {
			return Reached{}, err
		}
		reached := Reached{Position: end.Position}
		_, err = hex.Decode(reached.Link[:], []byte(end.Link))
		return reached, err
	}
}

// Server is what a server has in $all, up to the event that was its newest when it was
// asked. What it removed is missing. Errors: those of the client, and of the sink.
func Server(client *esdb.Client) Source {
	return func(ctx context.Context, s Selection, to Sink) (Reached, error) {
		if s.SkipDamaged {
			return Reached{}, errors.New("a server says itself which of its events are damaged: damaged records are left out of the folder of a log only")
		}
		newest, err := newestOf(ctx, client)
		if err != nil {
			return Reached{}, err
		}
		if err := to.Begin(Header{After: s.Since, Stream: s.Stream, Category: s.Category}); err != nil {
			return Reached{}, err
		}
		reached := Reached{Position: max(newest, s.Since)}
		if newest <= s.Since {
			return reached, nil
		}
		var from esdb.AllPosition = esdb.Start{}
		if s.Since > 0 {
			from = esdb.Position{Commit: s.Since, Prepare: s.Since}
		}
		return reached, readAll(ctx, client, esdb.ReadAllOptions{From: from}, math.MaxInt64, func(e *esdb.RecordedEvent) error {
			position := e.Position.Commit
			if position <= s.Since {
				return nil
			}
			if position > newest {
				return io.EOF
			}
			if selected(s.Stream, s.Category, e.StreamID) {
				event := fromServer(e)
				if err := to.Event(&event); err != nil {
					return err
				}
			}
			return to.Pass(position, newest)
		})
	}
}

// newestOf returns the position of the newest event of a server; 0 when it has none.
func newestOf(ctx context.Context, client *esdb.Client) (position uint64, err error) {
	err = readAll(ctx, client, esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1, func(e *esdb.RecordedEvent) error {
		position = e.Position.Commit
		return nil
	})
	return position, err
}

// readAll calls visit for events of $all until it returns io.EOF.
func readAll(ctx context.Context, client *esdb.Client, o esdb.ReadAllOptions, count uint64, visit func(*esdb.RecordedEvent) error) error {
	reading, err := client.ReadAll(ctx, o, count)
	if err != nil {
		return err
	}
	defer reading.Close()
	for {
		e, err := reading.Recv()
		if err == nil {
			err = visit(e.OriginalEvent())
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func fromServer(e *esdb.RecordedEvent) Event {
	return Event{Record: eventlog.Record{
		Position: e.Position.Commit, Stream: e.StreamID, Revision: e.EventNumber, ID: uuid.UUID(e.EventID), Type: e.EventType, JSON: e.ContentType == jsonType,
		CreatedTicks: e.CreatedDate.Unix()*eventlog.TicksPerSecond + int64(e.CreatedDate.Nanosecond())/100, Data: e.Data, Metadata: e.UserMetadata,
	}}
}

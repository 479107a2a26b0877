package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"reckon/eventstore/node/eventlog"
)

// Imported is what an import did.
type Imported struct {
	Events  uint64          `json:"events"`
	LeftOut uint64          `json:"left_out"` // not imported: what belongs to the server or log itself
	Present uint64          `json:"present"`  // of events, those that were there already
	Gaps    uint64          `json:"gaps"`     // of the export: where it lacks what was damaged
	Log     eventlog.Report `json:"log"`      // of a new folder; not of a server
}

// ToFolder makes a new log of an export in a folder that is empty or absent. Revisions, ids,
// stamps, order and bytes are those of the export; positions are the new log's own, and so
// are its id, links, and the stream that names it. Nothing is left of an import that does
// not end. Errors: *FormatError, those of eventlog.Builder, that of ctx and of pass.
func ToFolder(ctx context.Context, from *Reader, dir string, pass func(bytes int64) error) (_ Imported, err error) {
	builder, err := eventlog.NewBuilder(dir)
	if err != nil {
		return Imported{}, err
	}
	done := Imported{}
	chained := from.Header().Chained() // otherwise the end of an append may be missing
	for err == nil {
		var e Event
		if e, err = from.Next(); err != nil {
			break
		}
		if err = errors.Join(ctx.Err(), pass(from.Bytes())); err != nil {
			break
		}
		if e.Stream == eventlog.IdentityStream || eventlog.IsIndexStream(e.Stream) {
			done.LeftOut++
			continue
		}
		l := &eventlog.Linked{Record: e.Record}
		if e.Chain != nil {
			l = e.linked()
		}
		l.LastOfAppend = l.LastOfAppend || !chained
		if err = builder.Add(l); err != nil {
			err = fmt.Errorf("position %d of the export: %w", e.Position, err)
			break
		}
		done.Events++
	}
	if !errors.Is(err, io.EOF) {
		return Imported{}, errors.Join(err, builder.Abort())
	}
	done.Gaps = from.Gaps()
	done.Log, err = builder.Finish(ctx)
	return done, err
}

// Check reads an export to its end. Errors: *FormatError, that of ctx and of pass.
func Check(ctx context.Context, from *Reader, pass func(bytes int64) error) error {
	for {
		_, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err == nil {
			err = pass(from.Bytes())
		}
		if err != nil {
			return err
		}
	}
}

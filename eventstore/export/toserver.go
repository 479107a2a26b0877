package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/eventstore/node/eventlog"
)

// ToServer appends the events of an export to a server, each at its revision, so that it can
// be called again after an interruption: what is there already is compared with the export, by id, type and bytes.
// Revisions, ids and bytes are those of the export, and the order of streams and of all
// events; positions and stamps are the server's. System streams (names that begin with "$")
// are left out, but for the metadata of other streams. Errors: *FormatError, *ConflictError,
// those of the client, that of ctx and of pass.
func ToServer(ctx context.Context, from *Reader, client *esdb.Client, pass func(bytes int64) error) (Imported, error) {
	t := &transfer{client: client, streams: map[string]*there{}}
	for {
		e, err := from.Next()
		if errors.Is(err, io.EOF) {
			t.done.Gaps = from.Gaps()
			err = t.flush(ctx)
			return t.done, err
		}
		if err == nil {
			err = errors.Join(ctx.Err(), pass(from.Bytes()))
		}
		if err == nil {
			err = t.add(ctx, &e)
		}
		if err != nil {
			return t.done, err
		}
	}
}

// there is what the server has of a stream.
type there struct {
	last       int64 // revision, -1 without events that a read shows
	tombstoned bool
}

// transfer appends to a server. Events of one stream that follow each other go together.
type transfer struct {
	client  *esdb.Client
	streams map[string]*there
	done    Imported

	held    Batch
	present bool // the server has events at the revisions of held: they are compared
}

func (t *transfer) add(ctx context.Context, e *Event) error {
	if IsOfServer(e.Stream) {
		t.done.LeftOut++
		return nil
	}
	if e.Redacted {
		return fmt.Errorf("event %d of stream %q has no payload: it was removed", e.Revision, e.Stream)
	}
	proposed, isTombstone := e.Proposed(), e.Revision == eventlog.TombstoneRevision
	if !t.held.Takes(e.Stream, proposed) || isTombstone {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	s, err := t.look(ctx, e.Stream)
	if err != nil {
		return err
	}
	t.done.Events++
	switch {
	case isTombstone:
		return t.tombstone(ctx, e.Stream, s)
	case s.tombstoned:
		t.done.Present++ // nobody can read it any more
		return nil
	}
	present := s.last >= 0 && e.Revision <= uint64(s.last)
	if len(t.held.Events) > 0 && present != t.present {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	next := uint64(s.last+1) + uint64(len(t.held.Events))
	switch {
	case present:
		t.done.Present++
	case e.Revision != next:
		return &ConflictError{e.Stream, e.Revision, fmt.Sprintf("revision %d must come first: the export has not all events of the stream, or its source removed some", next)}
	}
	if len(t.held.Events) == 0 {
		t.present = present
	}
	t.held.Add(e.Stream, e.Revision, proposed)
	return nil
}

// compare refuses a stream whose events are not those of the run. Those that a truncation
// hides are not compared.
func (t *transfer) compare(ctx context.Context, stream string, first uint64, events []esdb.EventData) error {
	reading, err := t.client.ReadStream(ctx, stream, esdb.ReadStreamOptions{From: esdb.Revision(first)}, uint64(len(events)))
	if err != nil {
		return err
	}
	defer reading.Close()
	for {
		read, err := reading.Recv()
		var failed *esdb.Error
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeResourceNotFound:
			return nil
		case err != nil:
			return err
		}
		has := read.OriginalEvent()
		at := has.EventNumber - first
		if at >= uint64(len(events)) {
			return nil
		}
		if reason := Difference(has, stream, events[at]); reason != "" {
			return &ConflictError{stream, has.EventNumber, reason}
		}
	}
}

// look returns what the server has of a stream.
func (t *transfer) look(ctx context.Context, stream string) (*there, error) {
	if s := t.streams[stream]; s != nil {
		return s, nil
	}
	s := &there{last: -1}
	newest, found, err := newestEvent(ctx, t.client, stream)
	var failed *esdb.Error
	switch {
	case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeStreamDeleted:
		s.tombstoned = true
	case err != nil:
		return nil, err
	case found:
		s.last = int64(newest.EventNumber)
	}
	t.streams[stream] = s
	return s, nil
}

// flush appends the events that are held. A server that has them already, behind a
// truncation or deletion that hides them, recognises them.
func (t *transfer) flush(ctx context.Context) error {
	held := t.held
	t.held = Batch{}
	switch {
	case len(held.Events) == 0:
		return nil
	case t.present:
		return t.compare(ctx, held.Stream, held.First, held.Events)
	}
	if err := held.Append(ctx, t.client); err != nil {
		return err
	}
	t.streams[held.Stream].last = int64(held.First) + int64(len(held.Events)) - 1
	return nil
}

func (t *transfer) tombstone(ctx context.Context, stream string, s *there) error {
	if s.tombstoned {
		t.done.Present++
		return nil
	}
	s.tombstoned = true
	return Tombstone(ctx, t.client, stream, s.last)
}

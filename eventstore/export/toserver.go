package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/eventstore/node/eventlog"
)

// Bounds of one append to a server, which takes 1 MiB by default.
const (
	appendEvents = 512
	appendBytes  = 512 << 10
)

// ConflictError is returned by ToServer when a stream of the server is not the one of the export.
type ConflictError struct {
	Stream   string
	Revision uint64
	Reason   string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("stream %q of the server is not that of the export, at revision %d: %s", e.Stream, e.Revision, e.Reason)
}

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
			return t.done, t.flush(ctx)
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

	// the run that is held
	stream  string
	present bool // the server has events at these revisions: they are compared
	events  []esdb.EventData
	first   uint64 // revision of the first of events
	bytes   int
}

func (t *transfer) add(ctx context.Context, e *Event) error {
	if strings.HasPrefix(e.Stream, "$") && (!eventlog.IsMetaStream(e.Stream) || strings.HasPrefix(e.Stream, "$$$")) {
		t.done.LeftOut++
		return nil
	}
	if e.Redacted {
		return fmt.Errorf("event %d of stream %q has no payload: it was removed", e.Revision, e.Stream)
	}
	size := len(e.Data) + len(e.Metadata) + 2*len(e.Type)
	isTombstone := e.Revision == eventlog.TombstoneRevision
	if e.Stream != t.stream || len(t.events) == appendEvents || t.bytes+size > appendBytes || isTombstone {
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
	if len(t.events) > 0 && present != t.present {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	next := uint64(s.last+1) + uint64(len(t.events))
	switch {
	case present:
		t.done.Present++
	case e.Revision != next:
		return &ConflictError{e.Stream, e.Revision, fmt.Sprintf("revision %d must come first: the export has not all events of the stream, or its source removed some", next)}
	}
	if len(t.events) == 0 {
		t.stream, t.first, t.present = e.Stream, e.Revision, present
	}
	contentType := esdb.ContentTypeBinary
	if e.JSON {
		contentType = esdb.ContentTypeJson
	}
	t.events = append(t.events, esdb.EventData{EventID: e.ID, EventType: e.Type, ContentType: contentType, Data: e.Data, Metadata: e.Metadata})
	t.bytes += size
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
		if reason := differs(has, events[at]); reason != "" && !rewritten(stream, has, events[at]) {
			return &ConflictError{stream, has.EventNumber, reason}
		}
	}
}

// differs says what of an event of the server is not what the export has; nothing where it is the same event. An id alone proves
// nothing: a server takes whatever bytes come with it.
func differs(has *esdb.RecordedEvent, want esdb.EventData) string {
	switch {
	case has.EventID != want.EventID:
		return fmt.Sprintf("its event has id %s, that of the export %s", has.EventID, want.EventID)
	case has.EventType != want.EventType:
		return fmt.Sprintf("its event is of type %q, that of the export of type %q", has.EventType, want.EventType)
	case (has.ContentType == jsonType) != (want.ContentType == esdb.ContentTypeJson):
		return fmt.Sprintf("its event is %s, that of the export is not", has.ContentType)
	case !bytes.Equal(has.Data, want.Data):
		return "the data of its event are other bytes"
	case !bytes.Equal(has.UserMetadata, want.Metadata):
		return "the metadata of its event are other bytes"
	}
	return ""
}

// rewritten reports whether an event is metadata that the server wrote itself, with an id of
// its own, when a deleted stream was written again.
func rewritten(stream string, has *esdb.RecordedEvent, want esdb.EventData) bool {
	return eventlog.IsMetaStream(stream) && has.EventType == want.EventType && sameJSON(has.Data, want.Data)
}

func sameJSON(a, b []byte) bool {
	x, errX := plainJSON(a)
	y, errY := plainJSON(b)
	return bytes.Equal(a, b) || errX == nil && errY == nil && bytes.Equal(x, y)
}

// plainJSON is JSON without spaces and with its members in order.
func plainJSON(b []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
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

// newestEvent returns the newest event of a stream; false when a read shows none.
func newestEvent(ctx context.Context, client *esdb.Client, stream string) (*esdb.RecordedEvent, bool, error) {
	reading, err := client.ReadStream(ctx, stream, esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1)
	if err != nil {
		return nil, false, err
	}
	defer reading.Close()
	e, err := reading.Recv()
	var failed *esdb.Error
	switch {
	case errors.Is(err, io.EOF):
		return nil, false, nil
	case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeResourceNotFound:
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return e.OriginalEvent(), true, nil
}

// expected is the revision that a stream must have before an event at this one.
func expected(revision uint64) esdb.ExpectedRevision {
	if revision == 0 {
		return esdb.NoStream{}
	}
	return esdb.Revision(revision - 1)
}

// flush appends the events that are held. A server that has them already, behind a
// truncation or deletion that hides them, recognises them.
func (t *transfer) flush(ctx context.Context) error {
	if len(t.events) == 0 {
		return nil
	}
	events, stream, first := t.events, t.stream, t.first
	t.events, t.bytes, t.stream = nil, 0, ""
	if t.present {
		return t.compare(ctx, stream, first, events)
	}
	_, err := t.client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: expected(first)}, events...)
	var failed *esdb.Error
	switch {
	case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeWrongExpectedVersion:
		return t.appendOneByOne(ctx, stream, first, events)
	case err != nil:
		return fmt.Errorf("append to stream %q at revision %d: %w", stream, first, err)
	}
	t.streams[stream].last = int64(first) + int64(len(events)) - 1
	return nil
}

// appendOneByOne finds which of the events the server has.
func (t *transfer) appendOneByOne(ctx context.Context, stream string, first uint64, events []esdb.EventData) error {
	s := t.streams[stream]
	for i, e := range events {
		revision := first + uint64(i)
		_, err := t.client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: expected(revision)}, e)
		var failed *esdb.Error
		switch {
		case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeWrongExpectedVersion:
			newest, found, err := newestEvent(ctx, t.client, stream)
			if err != nil {
				return err
			}
			if !found || newest.EventNumber != revision || !rewritten(stream, newest, e) {
				return &ConflictError{stream, revision, "the server has other events there"}
			}
		case err != nil:
			return fmt.Errorf("append to stream %q at revision %d: %w", stream, revision, err)
		}
		s.last = int64(revision)
	}
	return nil
}

func (t *transfer) tombstone(ctx context.Context, stream string, s *there) error {
	if s.tombstoned {
		t.done.Present++
		return nil
	}
	var at esdb.ExpectedRevision = esdb.NoStream{}
	if s.last >= 0 {
		at = esdb.Revision(uint64(s.last))
	}
	if _, err := t.client.TombstoneStream(ctx, stream, esdb.TombstoneStreamOptions{ExpectedRevision: at}); err != nil {
		return fmt.Errorf("tombstone stream %q: %w", stream, err)
	}
	s.tombstoned = true
	return nil
}

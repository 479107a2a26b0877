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

// IsOfServer reports whether a stream belongs to the server itself, and is not copied to another: its name begins with "$", and it is
// not the metadata of another stream.
func IsOfServer(stream string) bool {
	return strings.HasPrefix(stream, "$") && (!eventlog.IsMetaStream(stream) || strings.HasPrefix(stream, "$$$"))
}

// Proposed is the event as it is appended to a server.
func (e *Event) Proposed() esdb.EventData {
	contentType := esdb.ContentTypeBinary
	if e.JSON {
		contentType = esdb.ContentTypeJson
	}
	return esdb.EventData{EventID: e.ID, EventType: e.Type, ContentType: contentType, Data: e.Data, Metadata: e.Metadata}
}

// Batch is events of one stream that follow each other, to be appended together.
type Batch struct {
	Stream string
	First  uint64 // revision of the first event
	Events []esdb.EventData
	bytes  int
}

func sizeOf(e esdb.EventData) int { return len(e.Data) + len(e.Metadata) + 2*len(e.EventType) }

// Takes reports whether the next event of a stream may be added.
func (b *Batch) Takes(stream string, e esdb.EventData) bool {
	return len(b.Events) == 0 || stream == b.Stream && len(b.Events) < appendEvents && b.bytes+sizeOf(e) <= appendBytes
}

// Add adds an event, which Takes has let in.
func (b *Batch) Add(stream string, revision uint64, e esdb.EventData) {
	if len(b.Events) == 0 {
		b.Stream, b.First = stream, revision
	}
	b.Events, b.bytes = append(b.Events, e), b.bytes+sizeOf(e)
}

// Append appends the events at their revisions; a server that has some of them already recognises these. Errors: *ConflictError, or of
// the client.
func (b *Batch) Append(ctx context.Context, client *esdb.Client) error {
	_, err := client.AppendToStream(ctx, b.Stream, esdb.AppendToStreamOptions{ExpectedRevision: expected(b.First)}, b.Events...)
	var failed *esdb.Error
	switch {
	case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeWrongExpectedVersion:
		return b.appendOneByOne(ctx, client)
	case err != nil:
		return fmt.Errorf("append to stream %q at revision %d: %w", b.Stream, b.First, err)
	}
	return nil
}

// appendOneByOne finds which of the events the server has.
func (b *Batch) appendOneByOne(ctx context.Context, client *esdb.Client) error {
	for i, e := range b.Events {
		revision := b.First + uint64(i)
		_, err := client.AppendToStream(ctx, b.Stream, esdb.AppendToStreamOptions{ExpectedRevision: expected(revision)}, e)
		var failed *esdb.Error
		switch {
		case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeWrongExpectedVersion:
			newest, found, err := newestEvent(ctx, client, b.Stream)
			if err != nil {
				return err
			}
			if !found || newest.EventNumber != revision || !rewritten(b.Stream, newest, e) {
				return &ConflictError{b.Stream, revision, "the server has other events there"}
			}
		case err != nil:
			return fmt.Errorf("append to stream %q at revision %d: %w", b.Stream, revision, err)
		}
	}
	return nil
}

// expected is the revision that a stream must have before an event at this one.
func expected(revision uint64) esdb.ExpectedRevision {
	if revision == 0 {
		return esdb.NoStream{}
	}
	return esdb.Revision(revision - 1)
}

// Tombstone ends a stream for good, at the revision of its newest event; -1 for a stream that has none.
func Tombstone(ctx context.Context, client *esdb.Client, stream string, last int64) error {
	if _, err := client.TombstoneStream(ctx, stream, esdb.TombstoneStreamOptions{ExpectedRevision: expected(uint64(last + 1))}); err != nil {
		return fmt.Errorf("tombstone stream %q: %w", stream, err)
	}
	return nil
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

// Difference says what of an event of the server is not what it should be in its stream; nothing where it is the same event. An id
// alone proves nothing: a server takes whatever bytes come with it.
func Difference(has *esdb.RecordedEvent, stream string, want esdb.EventData) string {
	switch {
	case has.StreamID != stream:
		return fmt.Sprintf("its event is of stream %q", has.StreamID)
	case rewritten(stream, has, want):
		return ""
	case has.EventID != want.EventID:
		return fmt.Sprintf("its event has id %s, the copied one %s", has.EventID, want.EventID)
	case has.EventType != want.EventType:
		return fmt.Sprintf("its event is of type %q, the copied one of type %q", has.EventType, want.EventType)
	case (has.ContentType == jsonType) != (want.ContentType == esdb.ContentTypeJson):
		return fmt.Sprintf("its event is %s, the copied one is not", has.ContentType)
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

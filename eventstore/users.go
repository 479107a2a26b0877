package eventstore

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/passwords"
)

// Users manages the users of an embedded node through its socket.
type Users struct{ client *esdb.Client }

// OpenUsers connects to the node's socket, an address unix:PATH. Errors: an *UnguardedError,
// or that of an address that cannot be parsed.
func OpenUsers(address string, logger *slog.Logger) (*Users, error) {
	client, err := OpenGuarded(address, false, logger)
	if err != nil {
		return nil, err
	}
	return &Users{client}, nil
}

// Close closes the connection.
func (u *Users) Close() { _ = u.client.Close() } // it never fails

// Directory returns the users.
func (u *Users) Directory() access.Directory {
	return access.Directory{Store: u, Hasher: passwords.NewHasher(passwords.Standard)}
}

// Newest is access.Store.
func (u *Users) Newest(ctx context.Context, stream string) (newest access.Stored, found bool, err error) {
	events, err := u.read(ctx, stream, esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1)
	if err != nil || len(events) == 0 {
		return access.Stored{}, false, err
	}
	return access.Stored{Data: events[0].Data, Revision: events[0].EventNumber, Written: events[0].CreatedDate}, true, nil
}

// All is access.Store.
func (u *Users) All(ctx context.Context, stream string) ([][]byte, error) {
	events, err := u.read(ctx, stream, esdb.ReadStreamOptions{From: esdb.Start{}}, math.MaxUint64)
	all := make([][]byte, len(events))
	for i, e := range events {
		all[i] = e.Data
	}
	return all, err
}

// read returns the events of a stream; none when there is no such stream.
func (u *Users) read(ctx context.Context, stream string, o esdb.ReadStreamOptions, count uint64) (events []*esdb.RecordedEvent, err error) {
	reading, err := u.client.ReadStream(ctx, stream, o, count)
	if err != nil {
		return nil, err
	}
	defer reading.Close()
	for {
		e, err := reading.Recv()
		var failed *esdb.Error
		switch {
		case errors.Is(err, io.EOF):
			return events, nil
		case errors.As(err, &failed) && (failed.Code() == esdb.ErrorCodeResourceNotFound || failed.Code() == esdb.ErrorCodeStreamDeleted):
			return nil, nil
		case err != nil:
			return nil, err
		}
		events = append(events, e.OriginalEvent())
	}
}

// Append is access.Store.
func (u *Users) Append(ctx context.Context, stream string, expected eventlog.Expected, eventType string, data []byte) error {
	var revision esdb.ExpectedRevision = esdb.Any{}
	switch expected.Kind {
	case eventlog.ExpectNoStream:
		revision = esdb.NoStream{}
	case eventlog.ExpectRevision:
		revision = esdb.Revision(expected.Revision)
	}
	_, err := u.client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: revision},
		esdb.EventData{EventID: uuid.New(), EventType: eventType, ContentType: esdb.ContentTypeJson, Data: data})
	if failed := (*esdb.Error)(nil); errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeWrongExpectedVersion {
		return &eventlog.WrongExpectedRevisionError{Stream: stream, Expected: expected}
	}
	return err
}

// Delete is access.Store.
func (u *Users) Delete(ctx context.Context, stream string) error {
	_, err := u.client.DeleteStream(ctx, stream, esdb.DeleteStreamOptions{ExpectedRevision: esdb.StreamExists{}})
	return err
}

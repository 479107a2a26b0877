package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/commands"
	"reckon/domain/event"
)

// Patience is how long one call is retried while the server does not answer,
// unless its context ends sooner.
const Patience = 30 * time.Second

const (
	firstRetryPause = 5 * time.Millisecond
	maxRetryPause   = 500 * time.Millisecond
)

// ErrDeleted is returned for a stream that was tombstoned; it can be neither
// read nor written ever again.
var ErrDeleted = errors.New("the stream was tombstoned")

// Config says which log and which events.
type Config struct {
	Connection string // unix:PATH of a node's socket, or esdb://user:password@host:port
	Insecure   bool   // connect to an esdb:// server without TLS or without credentials all the same
	Catalogue  event.Catalogue
	Logger     *slog.Logger // discards if nil
}

// Store is the log behind an EventStoreDB-compatible server.
type Store struct {
	Queues
	connection *connection
	codec      Codec
}

var (
	_ commands.Store    = (*Store)(nil)
	_ commands.Reserver = (*Store)(nil)
)

// Connect waits until the server answers or the context ends. Errors: *UnguardedError,
// commands.ErrUnavailable, or of an address that is none.
func Connect(ctx context.Context, config Config) (*Store, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	connection, err := newConnection(config)
	if err != nil {
		return nil, err
	}
	client, err := connection.acquire(ctx)
	if err != nil {
		connection.close()
		return nil, fmt.Errorf("%w: %s: %w", commands.ErrUnavailable, Redacted(config.Connection), err)
	}
	connection.release(client)
	return &Store{connection: connection, codec: NewCodec(config.Catalogue)}, nil
}

// Close ends every subscription's connection once its user has left.
func (s *Store) Close() { s.connection.close() }

// Append writes all events or none at exactly the revision given.
func (s *Store) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	var expected esdb.ExpectedRevision = esdb.NoStream{}
	switch {
	case at >= 0:
		expected = esdb.Revision(uint64(at))
	case at != event.NoStream:
		return commands.Appended{}, fmt.Errorf("append to %s at revision %d: say a revision or event.NoStream", stream, at)
	}
	return s.append(ctx, stream, expected, events)
}

// Reserve writes one event at the stream's next revision, whatever that is, and
// returns it: for a stream where the revision itself is what is wanted and no
// two writers can contradict each other (run ids). When the server fails midway
// a second copy may be written; the revision returned is this caller's alone.
func (s *Store) Reserve(ctx context.Context, stream string, e event.Proposed) (event.Revision, error) {
	appended, err := s.append(ctx, stream, esdb.Any{}, []event.Proposed{e})
	return appended.Revision, err
}

func (s *Store) append(ctx context.Context, stream string, expected esdb.ExpectedRevision, events []event.Proposed) (commands.Appended, error) {
	if len(events) == 0 {
		return commands.Appended{}, fmt.Errorf("append to %s: no events", stream)
	}
	raws, err := s.codec.Encode(events)
	if err != nil {
		return commands.Appended{}, err
	}
	data := make([]esdb.EventData, len(raws))
	for i, raw := range raws {
		data[i] = esdb.EventData{
			EventID: raw.ID, EventType: raw.Name, ContentType: esdb.ContentTypeJson,
			Data: raw.Data, Metadata: raw.Metadata,
		}
	}
	return retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) (commands.Appended, error) {
		result, err := client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: expected}, data...)
		if err != nil {
			return commands.Appended{}, err
		}
		return commands.Appended{
			Revision: event.Revision(result.NextExpectedVersion),
			Position: event.Position{Commit: result.CommitPosition, Prepare: result.PreparePosition},
		}, nil
	})
}

// Read returns the whole stream, oldest first.
func (s *Store) Read(ctx context.Context, stream string) (commands.History, error) {
	events, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) ([]event.Recorded, error) {
		return s.readStream(ctx, client, stream, esdb.Start{}, math.MaxInt64)
	})
	if err != nil || len(events) == 0 {
		return commands.History{Revision: event.NoStream}, err
	}
	return commands.History{Events: events, Revision: events[len(events)-1].Revision}, nil
}

// Event returns one event by its stream and revision.
func (s *Store) Event(ctx context.Context, stream string, revision event.Revision) (event.Recorded, error) {
	events, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) ([]event.Recorded, error) {
		return s.readStream(ctx, client, stream, esdb.Revision(uint64(revision)), 1)
	})
	switch {
	case err != nil:
		return event.Recorded{}, err
	case len(events) == 0 || events[0].Revision != revision:
		return event.Recorded{}, fmt.Errorf("stream %s has no event %d", stream, revision)
	}
	return events[0], nil
}

func (s *Store) readStream(ctx context.Context, client *esdb.Client, stream string, from esdb.StreamPosition, count uint64) ([]event.Recorded, error) {
	raws, err := readRaw(ctx, client, stream, from, count)
	if err != nil {
		return nil, err
	}
	events := make([]event.Recorded, len(raws))
	for i, raw := range raws {
		if events[i], err = s.codec.Decode(raw); err != nil {
			return nil, err
		}
	}
	return events, nil
}

func readRaw(ctx context.Context, client *esdb.Client, stream string, from esdb.StreamPosition, count uint64) ([]Raw, error) {
	reader, err := client.ReadStream(ctx, stream, esdb.ReadStreamOptions{Direction: esdb.Forwards, From: from}, count)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var raws []Raw
	for {
		resolved, err := reader.Recv()
		var failure *esdb.Error
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &failure) && failure.IsErrorCode(esdb.ErrorCodeResourceNotFound):
			return raws, nil
		case err != nil:
			return nil, err
		}
		raws = append(raws, rawOf(resolved.OriginalEvent()))
	}
}

// ReadAll yields what the log holds after a position, up to its present end.
// The store's own events, foreign ones and, where names are given, all others
// come without an Event, an unreadable one with a *DecodeError; any other error
// is the last thing yielded.
func (s *Store) ReadAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		from := after
		s.follow(ctx, &from, s.codec.Only(only...), openRead, yield)
	}
}

// SubscribeAll is ReadAll that goes on with every event as it is appended. It
// survives a server's restart and ends with the context. Where names are given,
// the server leaves the others out of what is there already: then a position
// without an Event stands for all before it.
func (s *Store) SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		from, codec := after, s.codec.Only(only...)
		if len(only) > 0 && !s.follow(ctx, &from, codec, openPast(only), yield) {
			return
		}
		s.follow(ctx, &from, codec, openLive, yield)
	}
}

func openRead(ctx context.Context, client *esdb.Client, after event.Position) (source, error) {
	reader, err := client.ReadAll(ctx, esdb.ReadAllOptions{Direction: esdb.Forwards, From: allPosition(after)}, math.MaxInt64)
	if err != nil {
		return source{}, err
	}
	return source{
		next: func() (Raw, error) {
			resolved, err := reader.Recv()
			if err != nil {
				return Raw{}, err
			}
			return rawOf(resolved.OriginalEvent()), nil
		},
		close: reader.Close,
	}, nil
}

// openLive follows every event: whoever waits for the position of its own
// append must not wait until the server has passed by a window of others.
func openLive(ctx context.Context, client *esdb.Client, after event.Position) (source, error) {
	return subscribe(ctx, client, esdb.SubscribeToAllOptions{From: allPosition(after)})
}

// filterWindow is how many events the server passes by before it says where it is.
const filterWindow = 512

// openPast reads the events of these names up to the end the log has now. The
// protocol's client filters subscriptions only, so it is one that is left there.
func openPast(names []string) opener {
	return func(ctx context.Context, client *esdb.Client, after event.Position) (source, error) {
		head, err := readHead(ctx, client)
		if err != nil {
			return source{}, err
		}
		if !after.Less(head) {
			return source{next: func() (Raw, error) { return Raw{}, io.EOF }, close: func() {}}, nil
		}
		past, err := subscribe(ctx, client, esdb.SubscribeToAllOptions{
			From: allPosition(after), MaxSearchWindow: filterWindow,
			Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: names},
		})
		if err != nil {
			return source{}, err
		}
		at, following := after, past.next
		past.next = func() (Raw, error) {
			if !at.Less(head) {
				return Raw{}, io.EOF
			}
			raw, err := following()
			at = raw.Position
			return raw, err
		}
		return past, nil
	}
}

// subscribe yields events and, as nothing but positions, how far a filter has got.
func subscribe(ctx context.Context, client *esdb.Client, options esdb.SubscribeToAllOptions) (source, error) {
	subscription, err := client.SubscribeToAll(ctx, options)
	if err != nil {
		return source{}, err
	}
	return source{
		next: func() (Raw, error) {
			for {
				switch got := subscription.Recv(); {
				case got.SubscriptionDropped != nil:
					return Raw{}, subscriptionError(got.SubscriptionDropped.Error)
				case got.EventAppeared != nil:
					return rawOf(got.EventAppeared.OriginalEvent()), nil
				case got.CheckPointReached != nil:
					return Raw{Position: positionOf(*got.CheckPointReached)}, nil
				}
			}
		},
		close: func() { _ = subscription.Close() }, // it never fails
	}, nil
}

func allPosition(after event.Position) esdb.AllPosition {
	if after == (event.Position{}) {
		return esdb.Start{}
	}
	return esdb.Position{Commit: after.Commit, Prepare: after.Prepare}
}

// subscriptionError keeps a server that ends a live subscription from looking like the end of the log.
func subscriptionError(err error) error {
	if errors.Is(err, io.EOF) {
		return status.Error(codes.Unavailable, "the server ended the subscription")
	}
	return err
}

type source struct {
	next  func() (Raw, error)
	close func()
}

type opener func(ctx context.Context, client *esdb.Client, after event.Position) (source, error)

// follow yields from a source, moving after along, and opens it again there
// when the transport fails. It tells whether the source has ended by itself.
func (s *Store) follow(ctx context.Context, after *event.Position, codec Codec, open opener, yield func(event.Recorded, error) bool) (ended bool) {
	pause := doubling(firstRetryPause, maxRetryPause)
	for {
		before := *after
		wanted, err := s.followOnce(ctx, after, codec, open, yield)
		switch {
		case !wanted:
			return false
		case err == nil:
			return true
		case ctx.Err() != nil:
			yield(event.Recorded{}, ctx.Err())
			return false
		case verdict(err) != again:
			yield(event.Recorded{}, translate(ctx, err))
			return false
		}
		if before != *after {
			pause.Reset()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// followOnce returns when the source has ended or failed, or nobody wants more.
func (s *Store) followOnce(ctx context.Context, after *event.Position, codec Codec, open opener, yield func(event.Recorded, error) bool) (wanted bool, err error) {
	client, err := s.connection.acquire(ctx)
	if err != nil {
		return true, err
	}
	defer s.connection.release(client)
	defer func() {
		if isUnavailable(err) {
			s.connection.lost(client)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from := *after
	source, err := call(ctx, func() (source, error) { return open(ctx, client.Client, from) })
	if err != nil {
		return true, err
	}
	defer source.close()
	for {
		raw, err := source.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		if !after.Less(raw.Position) {
			continue // a read starts at its position, a subscription after it
		}
		r, err := codec.DecodeAny(raw)
		*after = raw.Position
		if !yield(r, err) {
			return false, nil
		}
	}
}

// Head is the position of the log's last event; the zero position when it has none.
func (s *Store) Head(ctx context.Context) (event.Position, error) {
	return retry(ctx, s.connection, readHead)
}

func readHead(ctx context.Context, client *esdb.Client) (event.Position, error) {
	reader, err := client.ReadAll(ctx, esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1)
	if err != nil {
		return event.Position{}, err
	}
	defer reader.Close()
	last, err := reader.Recv()
	if errors.Is(err, io.EOF) {
		return event.Position{}, nil
	}
	if err != nil {
		return event.Position{}, err
	}
	return rawOf(last.OriginalEvent()).Position, nil
}

// IdentityStream names a log: the id of its first event is the log's identity
// for as long as the log exists. It is written when the first store asks, by
// nobody twice, and holds nothing else. Its event is no domain event.
const IdentityStream = "reckon-log"

const identityEvent = "reckon.log_named"

// LogID is the identity of the log: what tells a position of one log from the
// same number in another.
func (s *Store) LogID(ctx context.Context) (string, error) {
	return retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) (string, error) {
		for {
			raws, err := readRaw(ctx, client, IdentityStream, esdb.Start{}, 1)
			if err != nil || len(raws) > 0 {
				return idOf(raws), err
			}
			named := esdb.EventData{EventID: uuid.New(), EventType: identityEvent, ContentType: esdb.ContentTypeJson, Data: []byte("{}")}
			_, err = client.AppendToStream(ctx, IdentityStream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}, named)
			if err != nil && verdict(err) != conflict {
				return "", err
			}
		}
	})
}

func idOf(raws []Raw) string {
	if len(raws) == 0 {
		return ""
	}
	return raws[0].ID.String()
}

func rawOf(e *esdb.RecordedEvent) Raw {
	return Raw{
		ID: e.EventID, Name: e.EventType, Data: e.Data, Metadata: e.UserMetadata,
		Stream: e.StreamID, Revision: event.Revision(e.EventNumber),
		Position: positionOf(e.Position),
	}
}

func positionOf(p esdb.Position) event.Position {
	return event.Position{Commit: p.Commit, Prepare: p.Prepare}
}

package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/transparency"
)

// RetryTimeout is how long one call is retried while the server does not answer. The
// end of the call's context ends the retries sooner.
const RetryTimeout = 30 * time.Second

const (
	firstRetryPause = 5 * time.Millisecond
	maxRetryPause   = 500 * time.Millisecond
)

// ErrDeleted is returned for a stream that was tombstoned: it can be neither read nor
// written again.
var ErrDeleted = errors.New("the stream was tombstoned")

// Config configures Connect. Connection and Catalogue are required.
type Config struct {
	Connection string          // unix:PATH of a node's socket, or esdb://user:password@host:port
	Insecure   bool            // accept an esdb:// server without TLS or without credentials; default: refuse it
	Catalogue  event.Catalogue // event types that can be written and read
	Logger     *slog.Logger    // nil: nothing is logged
	// Observe is called after every append with what it took, its repetitions included, and with its error; nil: nobody is.
	Observe func(events []event.Proposed, took time.Duration, err error)
}

// Validate returns an error that names the field of c that Connect cannot use, or nil.
func (c Config) Validate() error {
	if c.Connection == "" {
		return errors.New("eventstore.Config.Connection is empty: say unix:PATH or esdb://…")
	}
	if len(c.Catalogue) == 0 {
		return errors.New("eventstore.Config.Catalogue is empty: no event could be written or read")
	}
	if err := CheckAddress(c.Connection); err != nil {
		return fmt.Errorf("eventstore.Config.Connection: %w", err)
	}
	return nil
}

// Store reads and appends events on an EventStoreDB-compatible server. Its methods may
// be called concurrently.
type Store struct {
	Queues
	connection *connection
	codec      Codec
	states     commands.States
	usable     atomic.Bool // the log's name was read, and appends are taken
	observe    func(events []event.Proposed, took time.Duration, err error)
}

var (
	_ commands.Store    = (*Store)(nil)
	_ commands.Reserver = (*Store)(nil)
)

// Connect waits until the server answers or the context ends. Errors: that of
// Config.Validate, *UnguardedError, commands.ErrUnavailable.
func Connect(ctx context.Context, config Config) (*Store, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
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
		return nil, commands.Unanswered(ctx, fmt.Errorf("%s: %w", Redacted(config.Connection), err))
	}
	connection.release(client)
	return &Store{connection: connection, codec: NewCodec(config.Catalogue), observe: config.Observe}, nil
}

// Close makes every further call fail and closes the client when the last call in
// progress, subscriptions included, has returned.
func (s *Store) Close() { s.connection.close() }

// Append writes all events or none, directly after revision at (event.NoStream: as the
// stream's first). Errors: commands.ErrConflict when the stream is at another revision,
// ErrTooLarge, ErrDeleted, *MovedError, *UnfinishedError, and commands.ErrUnavailable when the outcome is unknown.
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

// Reserve writes one event at the stream's next revision and returns that revision: for
// a stream whose revisions are used as numbers (run ids), where appends of two writers
// cannot contradict each other. When the server fails during the call the event may be
// written twice; no other caller gets the revision returned.
func (s *Store) Reserve(ctx context.Context, stream string, e event.Proposed) (event.Revision, error) {
	appended, err := s.append(ctx, stream, esdb.Any{}, []event.Proposed{e})
	return appended.Revision, err
}

func (s *Store) append(ctx context.Context, stream string, expected esdb.ExpectedRevision, events []event.Proposed) (appended commands.Appended, err error) {
	ctx, span := beginAppend(ctx, stream, len(events))
	defer func() { endAppend(span, appended, err) }()
	if s.observe != nil {
		begun := time.Now()
		defer func() { s.observe(events, time.Since(begun), err) }()
	}
	if len(events) == 0 {
		return commands.Appended{}, fmt.Errorf("append to %s: no events", stream)
	}
	if err := s.CheckUsable(ctx); err != nil {
		return commands.Appended{}, err
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

// States are the states that commands keep between each other.
func (s *Store) States() *commands.States { return &s.states }

// Read returns the whole stream, oldest event first. A stream that was never written
// has no events and the revision event.NoStream.
func (s *Store) Read(ctx context.Context, stream string) (commands.History, error) {
	return s.ReadFrom(ctx, stream, 0, math.MaxInt)
}

// ReadFrom is Read of up to count events from the event of a revision on; what the stream does not hold is left out.
func (s *Store) ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	if from < 0 || count < 1 {
		return commands.History{Revision: event.NoStream}, fmt.Errorf("read %d events of %s from revision %d: say 1 or more, from 0 or more", count, stream, from)
	}
	events, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) ([]event.Recorded, error) {
		return s.readStream(ctx, client, stream, esdb.Revision(uint64(from)), uint64(count))
	})
	if err != nil || len(events) == 0 {
		return commands.History{Revision: event.NoStream}, err
	}
	return commands.History{Events: events, Revision: events[len(events)-1].Revision}, nil
}

// Event returns one event by its stream and revision, or an error when there is none.
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

// chainKey is the key under which a node says the log's id and the link of an event that is read alone.
const chainKey = "reckon-chain"

// Chain is the log's hash chain at an event; nil where the log is on a server that has none.
func (s *Store) Chain(ctx context.Context, stream string, revision event.Revision) (*transparency.Chain, error) {
	raws, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) ([]Raw, error) {
		return readRaw(ctx, client, stream, esdb.Revision(uint64(revision)), 1)
	})
	switch {
	case err != nil:
		return nil, err
	case len(raws) == 0 || raws[0].Revision != revision:
		return nil, fmt.Errorf("stream %s has no event %d", stream, revision)
	}
	log, link, said := strings.Cut(raws[0].Chain, " ")
	if !said {
		return nil, nil
	}
	return &transparency.Chain{Log: log, Position: raws[0].Position.Commit, Link: link}, nil
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

// ReadAll yields every event after a position, up to the end the log has when the read
// reaches it. Events of the store itself, events outside the catalogue and, where names
// are given, events of other names are yielded with a nil Event. An event that cannot be
// decoded is yielded with a *DecodeError; any other error ends the sequence:
// commands.ErrUnavailable when the server has given nothing for RetryTimeout.
func (s *Store) ReadAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		from := after
		s.follow(ctx, RetryTimeout, &from, openOnce, decodeAhead(s.codec.Only(only...)), yield)
	}
}

// SubscribeAll is ReadAll that continues with every event as it is appended, across
// restarts of the server, until the context ends. Where names are given, the server
// filters the events that are in the log already: a position yielded without an Event
// then covers every event up to it.
func (s *Store) SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		from, codec := after, s.codec.Only(only...)
		if len(only) > 0 && !s.follow(ctx, forEver, &from, openUpToHead(only), decodeAhead(codec), yield) {
			return
		}
		s.follow(ctx, forEver, &from, openLive, decodeEach(codec), yield)
	}
}

func openOnce(ctx context.Context, client *esdb.Client, after event.Position) (rawSource, error) {
	reader, err := client.ReadAll(ctx, esdb.ReadAllOptions{Direction: esdb.Forwards, From: allPosition(after)}, math.MaxInt64)
	if err != nil {
		return rawSource{}, err
	}
	return rawSource{
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

// openLive subscribes without a filter. A filtered subscription reports its position
// once per filterWindow events only, too late for a reader that waits for the position
// of its own append.
func openLive(ctx context.Context, client *esdb.Client, after event.Position) (rawSource, error) {
	return subscribe(ctx, client, esdb.SubscribeToAllOptions{From: allPosition(after)})
}

// filterWindow is how many events a filtered subscription skips before the server
// reports its position.
const filterWindow = 512

// openUpToHead yields the events of these names up to the head that the log has now. It
// is a subscription that is ended at the head, because the client filters subscriptions
// and not reads.
func openUpToHead(names []string) openSource {
	return func(ctx context.Context, client *esdb.Client, after event.Position) (rawSource, error) {
		head, err := readHead(ctx, client)
		if err != nil {
			return rawSource{}, err
		}
		if !after.Less(head) {
			return rawSource{next: func() (Raw, error) { return Raw{}, io.EOF }, close: func() {}}, nil
		}
		past, err := subscribe(ctx, client, esdb.SubscribeToAllOptions{
			From: allPosition(after), MaxSearchWindow: filterWindow,
			Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: names},
		})
		if err != nil {
			return rawSource{}, err
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

// subscribe yields events, and a Raw with only a Position for each checkpoint of a filter.
func subscribe(ctx context.Context, client *esdb.Client, options esdb.SubscribeToAllOptions) (rawSource, error) {
	subscription, err := client.SubscribeToAll(ctx, options)
	if err != nil {
		return rawSource{}, err
	}
	return rawSource{
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

type rawSource struct {
	next  func() (Raw, error)
	close func()
}

type openSource func(ctx context.Context, client *esdb.Client, after event.Position) (rawSource, error)

// forEver is the patience of subscriptions: they wait for the server until their context ends.
const forEver time.Duration = 0

// errSilent is why a source was not opened in time.
var errSilent = status.Error(codes.Unavailable, "the server does not answer")

// follow yields the events of a source and advances after with each; when the transport
// fails it opens the source again at after, for as long as patience without an event. It returns true
// when the source reached its end, and false when the consumer stopped or an error was yielded.
func (s *Store) follow(ctx context.Context, patience time.Duration, after *event.Position, open openSource, decode decoding, yield func(event.Recorded, error) bool) (ended bool) {
	pause, silent := newBackoff(firstRetryPause, maxRetryPause), time.Now()
	for {
		before := *after
		wanted, err := s.followOnce(ctx, patience, after, open, decode, yield)
		switch {
		case !wanted:
			return false
		case err == nil:
			return true
		case ctx.Err() != nil:
			yield(event.Recorded{}, commands.Unanswered(ctx, ctx.Err()))
			return false
		case classify(err) != outcomeUnknown:
			yield(event.Recorded{}, commandError(ctx, err))
			return false
		}
		if before != *after {
			pause.Reset()
			silent = time.Now()
		}
		if patience != forEver && time.Since(silent) >= patience {
			yield(event.Recorded{}, commands.Unanswered(ctx, err))
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// followOnce opens the source once and returns when it has ended or failed, or the
// consumer has stopped (wanted is false).
func (s *Store) followOnce(ctx context.Context, patience time.Duration, after *event.Position, open openSource, decode decoding, yield func(event.Recorded, error) bool) (wanted bool, err error) {
	opening := ctx
	if patience != forEver {
		var opened context.CancelFunc
		opening, opened = context.WithTimeout(ctx, patience)
		defer opened()
	}
	late := func(err error) error {
		if opening.Err() != nil && ctx.Err() == nil {
			return errSilent
		}
		return err
	}
	leave, err := s.connection.enter(opening)
	if err != nil {
		return true, late(err)
	}
	client, err := s.connection.acquire(opening)
	if err != nil {
		leave()
		return true, late(err)
	}
	defer s.connection.release(client)
	defer func() {
		if isUnavailable(err) {
			s.connection.replaceClient(client)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(client.lost, cancel)()
	from := *after
	s.connection.retain(client) // opening may outlive the context, and then this call
	source, err := callOver(opening, s.connection, client, func() (rawSource, error) {
		defer leave()
		defer s.connection.release(client)
		return open(ctx, client.Client, from)
	})
	if err != nil {
		return true, late(err)
	}
	var reading sync.WaitGroup
	defer source.close()
	defer reading.Wait()
	defer cancel() // ends the reading
	next := source.next
	if patience != forEver { // a subscription may have nothing to give; it begins again when any call finds that its connection is lost
		next = s.connection.watch(ctx, client, next)
	}
	wanted, err = decode(ctx, &reading, next, func(r event.Recorded, err error) bool {
		if !after.Less(r.Position) {
			return true // a read starts at its position, a subscription after it
		}
		*after = r.Position
		return yield(r, err)
	})
	switch {
	case errors.Is(err, io.EOF):
		return wanted, nil
	case client.lost.Err() != nil:
		return wanted, errLost
	}
	return wanted, err
}

// Head returns the position of the log's last event, the zero position for an empty log.
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

func rawOf(e *esdb.RecordedEvent) Raw {
	return Raw{
		ID: e.EventID, Name: e.EventType, Data: e.Data, Metadata: e.UserMetadata,
		Stream: e.StreamID, Revision: event.Revision(e.EventNumber), Created: e.CreatedDate,
		Position: positionOf(e.Position), Chain: e.SystemMetadata[chainKey],
	}
}

func positionOf(p esdb.Position) event.Position {
	return event.Position{Commit: p.Commit, Prepare: p.Prepare}
}

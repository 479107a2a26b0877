package eventstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
)

// IdentityStream is the stream that says which log this is (ADR 12, ADR 48). Its events are no domain events.
const IdentityStream = "reckon-log"

// Types of the events of IdentityStream.
const (
	NamedEvent   = "reckon.log_named"   // data: Named. Its id names the log's positions
	CopyingEvent = "reckon.log_copying" // data: Copying. A migration fills the log, and nobody else writes to it
	MovedEvent   = "reckon.log_moved"   // data: Moved. The log was migrated, and nobody writes to it any more
)

// RemovedEvent is the type that a migration gives to an event whose payload its source had removed. The event keeps its stream and
// its revision.
const RemovedEvent = "reckon.payload_removed"

// maxIdentityEvents bounds how much of IdentityStream is read; a log has one event there, and two or three more for each migration.
const maxIdentityEvents = 1024

// Named is the data of a NamedEvent. All fields are empty where a new log was named.
type Named struct {
	From     string `json:"from,omitempty"`     // id before, whose positions mean nothing any more
	Reopened bool   `json:"reopened,omitempty"` // after it had been migrated away
	*Copied
}

// Copied is what a migration copied and compared.
type Copied struct {
	Events   uint64 `json:"events"`
	Streams  uint64 `json:"streams"`
	Position uint64 `json:"source_position"` // of the source's newest event that was compared
	// Digested is how many events SHA256, in hex, is the hash of (migration.Digest).
	Digested uint64 `json:"digested"`
	SHA256   string `json:"sha256"`
	// ChainLog and Link are the node's log id and the link of its hash chain at Position; empty for a source that was no folder.
	ChainLog string `json:"source_chain_log,omitempty"`
	Link     string `json:"source_link,omitempty"`
}

// Copying is the data of a CopyingEvent.
type Copying struct {
	Copy string `json:"copy"` // id that the finished copy gets
	From string `json:"from"` // id of the log that is copied
}

// Moved is the data of a MovedEvent.
type Moved struct {
	Copy string `json:"copy"` // id of the copy
	To   string `json:"to"`   // address of the copy, without credentials
}

// MovedError is returned for a log that was migrated to another server.
type MovedError struct{ Moved }

func (e *MovedError) Error() string {
	return fmt.Sprintf("this log was migrated to %s, and nothing may be written to it here any more: give that server with --eventstore. "+
		"`reckon migrate --take-back` opens it again, without what has been written there since", e.To)
}

// UnfinishedError is returned for a log that a migration has not finished.
type UnfinishedError struct{ Copying }

func (e *UnfinishedError) Error() string {
	return "this log is the unfinished copy of another one: run `reckon migrate` again with the same --from and --to, which goes on where it stopped"
}

// Identity says which log it is.
type Identity struct {
	// Origin is the id of the first event: it stays the same when the log is migrated. Empty: nobody has used the log.
	Origin string
	// ID names the positions: those of logs with different ids cannot be compared.
	ID string
	// Former are the ids that the log had before, the oldest first, and Copies those of its copies before it was opened again.
	Former, Copies []string
	// Copying is set while a migration fills the log, Moved when the log was migrated.
	Copying *Copying
	Moved   *Moved
	// Events is how many events say that.
	Events int
}

// Usable returns a *MovedError or an *UnfinishedError for a log that must not be written to.
func (i Identity) Usable() error {
	switch {
	case i.Moved != nil:
		return &MovedError{*i.Moved}
	case i.Copying != nil:
		return &UnfinishedError{*i.Copying}
	}
	return nil
}

// IdentityOf folds the events of IdentityStream, from revision 0. Its error is data that does not parse.
func IdentityOf(events []Raw) (Identity, error) {
	i := Identity{Events: len(events)}
	if len(events) > 0 {
		i.Origin = events[0].ID.String()
	}
	for _, e := range events {
		var err error
		switch e.Name {
		case NamedEvent:
			if i.ID != "" {
				i.Former = append(i.Former, i.ID)
			}
			if i.Moved != nil {
				i.Copies = append(i.Copies, i.Moved.Copy)
			}
			i.ID, i.Copying, i.Moved = e.ID.String(), nil, nil
		case CopyingEvent:
			i.Copying, i.Moved = &Copying{}, nil
			err = json.Unmarshal(e.Data, i.Copying)
		case MovedEvent:
			i.Moved, i.Copying = &Moved{}, nil
			err = json.Unmarshal(e.Data, i.Moved)
		default:
			err = fmt.Errorf("it is of type %q", e.Name)
		}
		if err != nil {
			return i, fmt.Errorf("event %d of stream %s cannot be read by this binary: %w", e.Revision, IdentityStream, err)
		}
	}
	return i, nil
}

// ReadIdentity reads which log a server has.
func ReadIdentity(ctx context.Context, client *esdb.Client) (Identity, []Raw, error) {
	raws, err := readRaw(ctx, client, IdentityStream, esdb.Start{}, maxIdentityEvents)
	if err != nil {
		return Identity{}, nil, err
	}
	if len(raws) == maxIdentityEvents {
		return Identity{}, nil, fmt.Errorf("stream %s has %d events or more: no migration wrote these", IdentityStream, maxIdentityEvents)
	}
	i, err := IdentityOf(raws)
	return i, raws, err
}

// Identity returns which log it is. Errors: *MovedError, *UnfinishedError. The first call on a new log names it, expecting no stream,
// so that it is named once.
func (s *Store) Identity(ctx context.Context) (Identity, error) {
	identity, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) (Identity, error) {
		for {
			i, _, err := ReadIdentity(ctx, client)
			if err != nil || i.Events > 0 {
				return i, err
			}
			named := esdb.EventData{EventID: uuid.New(), EventType: NamedEvent, ContentType: esdb.ContentTypeJson, Data: []byte("{}")}
			_, err = client.AppendToStream(ctx, IdentityStream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}, named)
			if err != nil && classify(err) != outcomeConflict {
				return Identity{}, err
			}
		}
	})
	if err == nil {
		err = identity.Usable()
	}
	return identity, err
}

// LogID returns the id of the log's positions. Errors: those of Identity.
func (s *Store) LogID(ctx context.Context) (string, error) {
	i, err := s.Identity(ctx)
	return i.ID, err
}

// CheckUsable returns an *UnfinishedError or *MovedError for a log to which nothing may be appended. It reads once: AwaitMove tells a
// process that goes on when that changes.
func (s *Store) CheckUsable(ctx context.Context) error {
	if s.usable.Load() {
		return nil
	}
	identity, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) (Identity, error) {
		i, _, err := ReadIdentity(ctx, client)
		return i, err
	})
	if err == nil {
		err = identity.Usable()
	}
	s.usable.Store(err == nil)
	return err
}

// AwaitMove returns a *MovedError once the log is migrated to another server, however often that was away until then, and nil when the
// context ends.
func (s *Store) AwaitMove(ctx context.Context) error {
	pause := newBackoff(firstRetryPause, maxRetryPause)
	for {
		err := s.awaitMove(ctx)
		var moved *MovedError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &moved):
			s.usable.Store(false)
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
}

func (s *Store) awaitMove(ctx context.Context) error {
	from, err := s.Head(ctx)
	if err == nil {
		_, err = s.Identity(ctx) // after the position: nothing is missed
	}
	if err != nil {
		return err
	}
	for raw, err := range s.RawLive(ctx, from, Narrow{Streams: []string{IdentityStream}}) {
		if err == nil && raw.Stream == IdentityStream {
			_, err = s.Identity(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Expected is the revision that IdentityStream has.
func (i Identity) Expected() esdb.ExpectedRevision {
	if i.Events == 0 {
		return esdb.NoStream{}
	}
	return esdb.Revision(uint64(i.Events - 1))
}

package commands

import (
	"time"

	"github.com/google/uuid"

	"reckon/domain/event"
)

// Clock is the one source of time of the write side.
type Clock interface {
	// Now is the wall clock's time, in any zone.
	Now() time.Time
}

// Intent says who wants something, when and from where. It is made once per
// request or reaction and becomes the metadata of every event that follows.
type Intent struct {
	ID          uuid.UUID // of the command; event ids are derived from it
	At          time.Time // time of the request; events keep it in UTC, to the millisecond
	Account     string    // whose streams it is about; empty: no account's
	Actor       string    // as event.Metadata has it: session:<sign-in id>, token:<id>, oauth:<client>, reaction:<name>, runner:<id>, payments:<provider>, signer:transparency or operator
	Requester   string    // of a reaction: the actor whose request it finishes; empty: Actor's own
	Source      event.Source
	Agent       string // the client's name as it introduced itself
	Traceparent string // W3C trace context
	Build       string // revision of this binary
	Correlation string // id of the command that all this began with; empty: this command's own id
	Causation   string // id of the event that led to this command; empty: none did
}

// eventNamespace is the UUIDv5 namespace of event ids (RFC 9562 §5.5).
var eventNamespace = uuid.MustParse("5b1c7f0e-51b6-4f0c-9a64-2f8d1f5a7e11")

// EventID is the id (UUIDv5 of all three) of a command's event of this index, from 0 to 65535, in a stream:
// the same command always proposes the same ids to a stream, so that the store answers a
// repeated append as it answered the first; in two streams no id is the same.
func EventID(command uuid.UUID, stream string, index int) string {
	return uuid.NewSHA1(eventNamespace, append(append(command[:], byte(index>>8), byte(index)), stream...)).String()
}

// Propose gives the events of this command in a stream their ids and their metadata: no other
// place sets metadata. The schema version is filled in by the codec.
func (in Intent) Propose(stream string, events []event.Event) []event.Proposed {
	correlation := in.Correlation
	if correlation == "" {
		correlation = in.ID.String()
	}
	proposed := make([]event.Proposed, len(events))
	for i, e := range events {
		proposed[i] = event.Proposed{
			ID:    EventID(in.ID, stream, i),
			Event: e,
			Metadata: event.Metadata{
				Correlation: correlation,
				Causation:   in.Causation,
				At:          in.At.UTC().Truncate(time.Millisecond),
				Account:     in.Account,
				Actor:       in.Actor,
				Requester:   in.Requester,
				Source:      in.Source,
				Agent:       in.Agent,
				Traceparent: in.Traceparent,
				Build:       in.Build,
			},
		}
	}
	return proposed
}

// CausedBy is the intent of commands that follow from an event, by its id; that is an event of the same correlation.
func (in Intent) CausedBy(eventID string) Intent {
	if in.Correlation == "" {
		in.Correlation = in.ID.String()
	}
	in.Causation = eventID
	return in
}

// withNewID is the intent of one more command that the same request or event leads
// to: it has a random id, and the correlation of the first.
func (in Intent) withNewID() Intent {
	if in.Correlation == "" {
		in.Correlation = in.ID.String()
	}
	in.ID = newID()
	return in
}

// withID is withNewID with this command id, a UUID, instead of a random one. It is for
// appends that several processes may make: all of them propose the same event ids, and
// the log keeps the events once. An id that is no UUID is replaced by a random one.
func (in Intent) withID(id string) Intent {
	in = in.withNewID()
	if fixed, err := uuid.Parse(id); err == nil {
		in.ID = fixed
	}
	return in
}

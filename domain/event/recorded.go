package event

import "time"

// NoStream is the revision of a stream that has no events.
const NoStream Revision = -1

// Revision is the number of an event in its stream, from 0. There is no value
// that means "any": a writer always says what it read.
type Revision int64

// Position is the place of an event in the log's one order ($all). The zero
// position is before every event.
type Position struct {
	Commit  uint64 `json:"commit"`
	Prepare uint64 `json:"prepare"`
}

// Less orders positions as the log does.
func (p Position) Less(q Position) bool {
	return p.Commit < q.Commit || p.Commit == q.Commit && p.Prepare < q.Prepare
}

// Metadata is the metadata of an event. $correlationId and $causationId
// are the store's own keys.
type Metadata struct {
	Correlation string    `json:"$correlationId,omitempty"`
	Causation   string    `json:"$causationId,omitempty"`
	Version     int       `json:"v"`
	At          time.Time `json:"at"`                    // UTC, milliseconds; rows take their times from here
	Account     string    `json:"account,omitempty"`     // whose stream this is about
	Actor       string    `json:"actor,omitempty"`       // session:<sign-in id> (session in older events and where nobody is signed in yet), token:<id>, oauth:<client>, reaction:<name>, operator, runner:<id>, payments:<provider>, signer:transparency
	Requester   string    `json:"requester,omitempty"`   // of a reaction: the actor whose request it finishes; empty: Actor asked himself, or an older event
	Source      Source    `json:"source,omitempty"`      // where the command came from; empty: an operator or a process of the service
	Agent       string    `json:"agent,omitempty"`       // client name as it introduced itself
	Traceparent string    `json:"traceparent,omitempty"` // W3C trace context: the span that appended it, or the client's where none was recorded
	Build       string    `json:"build,omitempty"`       // revision of the binary that wrote it
}

// Source is where a command came from.
type Source string

// Sources of a command.
const (
	SourceWeb Source = "web" // a request to the HTTP API
	SourceMCP Source = "mcp" // a call of an MCP tool
	SourceJob Source = "job" // a job that a runner computed
)

// Sources lists them all.
func Sources() []Source { return []Source{SourceWeb, SourceMCP, SourceJob} }

// Proposed is an event on its way into the log. Its id makes a retried append
// idempotent in the store itself.
type Proposed struct {
	ID       string // UUID
	Event    Event
	Metadata Metadata
}

// Recorded is an event as the log holds it.
type Recorded struct {
	ID       string // UUID
	Stream   string
	Revision Revision
	Position Position
	Event    Event
	Metadata Metadata
}

// Events returns the events of a history alone, for a fold.
func Events(history []Recorded) []Event {
	events := make([]Event, len(history))
	for i, r := range history {
		events[i] = r.Event
	}
	return events
}

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
	Correlation string    `json:"$correlationId,omitempty" doc:"Id of the command that all this began with"`
	Causation   string    `json:"$causationId,omitempty" doc:"Id of the event, or of the command, that it was written because of"`
	Version     int       `json:"v" unit:"version" doc:"Version of the event's type in which it was written"`
	At          time.Time `json:"at" format:"date-time" doc:"When the command was given; rows of read models take their times from here"`
	Account     string    `json:"account,omitempty" doc:"The account that it is about; absent: of none"`
	Actor       string    `json:"actor,omitempty" doc:"Who did it: session:ID of a browser's sign-in (session alone in older events and where nobody is signed in yet), token:ID of an API token, oauth:CLIENT of an app, operator, or a part of the service (reaction:NAME, runner:ID, payments:PROVIDER, signer:transparency)"`
	Requester   string    `json:"requester,omitempty" doc:"Of a reaction: the actor whose request it finishes; absent: the actor asked itself, or an older event"`
	Source      Source    `json:"source,omitempty" doc:"Where the command came from: web, a request to the HTTP API; mcp, a call of an MCP tool; job, a job that a runner computed; absent: an operator or a process of the service"`
	Agent       string    `json:"agent,omitempty" doc:"Name of the client as it introduced itself: User-Agent, or an MCP client's name and version"`
	Traceparent string    `json:"traceparent,omitempty" doc:"W3C trace context: the span that appended it, or the client's where none was recorded"`
	Build       string    `json:"build,omitempty" doc:"Revision of the binary that wrote it, as reckon version prints it"`
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

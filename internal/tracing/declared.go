package tracing

import "go.opentelemetry.io/otel/trace"

// Name is what a span is about. Most names are followed by what of it: the name of a command, of a read model.
type Name string

// Names of spans.
const (
	Request  Name = "request"
	Forward  Name = "forward"
	Owner    Name = "forwarded"
	Command  Name = "command"
	Append   Name = "append"
	Evaluate Name = "evaluate"
	Check    Name = "check"
	Judge    Name = "judge"
	Job      Name = "job"
	React    Name = "react"
	Project  Name = "project"
)

// Key names an attribute.
type Key string

// Keys of attributes. Those of HTTP are OpenTelemetry's (semantic conventions for HTTP spans).
const (
	Method            Key = "http.request.method"
	Route             Key = "http.route"
	Status            Key = "http.response.status_code"
	RequestID         Key = "reckon.request_id"
	CommandKind       Key = "reckon.command"
	StreamCategory    Key = "reckon.stream_category"
	Events            Key = "reckon.events"
	Revision          Key = "reckon.revision"
	Outcome           Key = "reckon.outcome"
	JobID             Key = "reckon.job"
	JobKind           Key = "reckon.job_kind"
	Attempt           Key = "reckon.attempt"
	Session           Key = "reckon.session"
	Verdict           Key = "reckon.verdict"
	Basis             Key = "reckon.basis"
	Kernel            Key = "reckon.kernel"
	Reaction          Key = "reckon.reaction"
	EventName         Key = "reckon.event"
	Projection        Key = "reckon.projection"
	ProjectionVersion Key = "reckon.projection_version"
)

// Declaration is a kind of span.
type Declaration struct {
	Name       Name
	Example    string // of a whole name
	Kind       trace.SpanKind
	Attributes []Key
	Below      string // what it is below
	Meaning    string
}

// Declared are all spans, in the order of docs/traces.md.
var Declared = []Declaration{
	{Request, "POST /api/jobs", trace.SpanKindServer, []Key{Method, Route, Status, RequestID}, "what `traceparent` names; a tool's request, of `/mcp`", "An HTTP request to its answer's last byte, by route template. Failed: 500 and above."},
	{Command, "command job.Claim", trace.SpanKindInternal, []Key{CommandKind, StreamCategory, Outcome}, "a request, an attempt, a reaction", "One command on one stream: read, decided and appended, as often as other writers were first. `appended`, `unchanged`, `refused` (by a rule) or, failed, `unavailable`."},
	{Append, "append job", trace.SpanKindClient, []Key{StreamCategory, Events, Revision, Outcome}, "the same", "One append with its repetitions while the log is away, by the stream's category. `ok`, `conflict` or, failed, `unavailable` or `error`. The revision is that of its last event."},
	{Evaluate, "evaluate", trace.SpanKindInternal, []Key{Session, Outcome}, "a request, an attempt", "The evaluation engine, with the wait for a worker. `answered` or `ended` without an answer; failed: it could not be asked."},
	{Check, "check", trace.SpanKindInternal, []Key{Verdict, Basis}, "the same", "The independent check of an answer, with the wait for a place. Failed: it could not be made."},
	{Judge, "judge", trace.SpanKindInternal, []Key{Kernel, Verdict}, "the same", "The Lean kernel's check of an export, or without the kernel the reading of one, in a process of its own."},
	{Forward, "forward", trace.SpanKindClient, nil, "a request", "An evaluation that another process owns the session of, until its answer."},
	{Owner, "forwarded", trace.SpanKindServer, nil, "`forward`, of the other process", "The same in the process that owns the session."},
	{Job, "job evaluate", trace.SpanKindConsumer, []Key{JobID, JobKind, Attempt, Outcome}, "what queued the job", "An attempt at a job, from its claim to its end or its return to the queue; outcomes as those of `reckon_job_seconds`, and `not_claimed`: another runner was first, or the log was away. Failed: `untried`, `abandoned` and `unreported`."},
	{React, "react publish_outcome", trace.SpanKindConsumer, []Key{Reaction, EventName}, "what appended the event", "One attempt of a reaction at one event. Failed: it is tried again, and parked in the end."},
	{Project, "project jobs", trace.SpanKindConsumer, []Key{Projection, ProjectionVersion, Events}, "nothing; linked to what appended its events", "The transaction in which a read model applies a batch of new events. What it applies again while it is built anew has none."},
}

// declaration is that of a name.
func (n Name) declaration() *Declaration {
	for i := range Declared {
		if Declared[i].Name == n {
			return &Declared[i]
		}
	}
	return nil
}

// kind is the role of a span in its trace.
func (n Name) kind() trace.SpanKind {
	if d := n.declaration(); d != nil {
		return d.Kind
	}
	return trace.SpanKindInternal
}

// with is the whole name of a span. A request's is its method and route alone (semantic conventions for HTTP spans).
func (n Name) with(of string) string {
	switch {
	case n == Request:
		return of
	case of == "":
		return string(n)
	}
	return string(n) + " " + of
}

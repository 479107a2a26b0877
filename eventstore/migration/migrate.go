package migration

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore"
	"reckon/eventstore/export"
)

// Log is a log at a server.
type Log struct {
	Address string // for messages and for the event that names the target: without credentials
	Client  *esdb.Client
}

// Config is what is migrated. Source, Events and Target are required.
type Config struct {
	Source Log
	Events export.Source // of the source: of its folder, if that is there, else of its server
	Target Log

	WithoutGroups bool // the source's groups of persistent subscriptions need not be copied
	DryRun        bool // nothing is written
	// Ahead: only what the target has not is copied. The source may be written to meanwhile; a Run without Ahead copies the rest.
	Ahead bool
	// Quiet is for how long nothing may be written to the source before it is closed, and after: 0 where no other process can.
	Quiet time.Duration
	// Progress is called often with how far a phase is; of is 0 when that is not known.
	Progress func(phase Phase, position, of uint64)
}

// Phase is what a migration is at.
type Phase string

// Phases of a migration, in order.
const (
	Copy   Phase = "copy"   // what the target has is compared, what it has not is appended
	Verify Phase = "verify" // everything is compared
)

// Report is what a migration did.
type Report struct {
	Counts
	Present  uint64 `json:"present"`         // of Events, those that the target had already
	From     string `json:"from_log"`        // id of the source's positions
	To       string `json:"to_log"`          // id of the target's
	Position uint64 `json:"source_position"` // of the source's newest event
	Done     bool   `json:"done"`            // the target is in force
	Before   bool   `json:"done_before"`     // it was already, and nothing was read
}

// migration is one call of Run.
type migration struct {
	Config
	source, target eventstore.Identity
	names          []eventstore.Raw // events of the source's identity
	report         Report
}

// Run copies the source to the target, compares both, closes the source and puts the target in force. It can be called again after an
// interruption at any moment. Errors: *NoLogError, *TargetInUseError, *GroupsError, *DifferenceError, *SourceWrittenError,
// *eventstore.MovedError of a source that was migrated elsewhere, *eventstore.UnfinishedError of one that is a copy itself,
// *eventlog.CorruptError, those of the clients, and that of ctx.
func Run(ctx context.Context, c Config) (Report, error) {
	m := &migration{Config: c}
	if m.Progress == nil {
		m.Progress = func(Phase, uint64, uint64) {}
	}
	begun := time.Now()
	if err := m.begin(ctx); err != nil || m.report.Before {
		return m.report, err
	}
	if err := m.copy(ctx); err != nil || m.Ahead || m.DryRun {
		return m.report, err
	}
	verified, err := m.verify(ctx)
	if err != nil {
		return m.report, err
	}
	if err := m.close(ctx, verified.reached.Position, begun); err != nil {
		return m.report, err
	}
	return m.report, m.putInForce(ctx, verified)
}

func (m *migration) pass(phase Phase) func(position, of uint64) error {
	return func(position, of uint64) error {
		m.Progress(phase, position, of)
		return nil
	}
}

// begin reads what both logs are, and marks an empty target as an unfinished copy.
func (m *migration) begin(ctx context.Context) (err error) {
	if m.source, m.names, err = eventstore.ReadIdentity(ctx, m.Source.Client); err != nil {
		return fmt.Errorf("source %s: %w", m.Source.Address, err)
	}
	if m.target, _, err = eventstore.ReadIdentity(ctx, m.Target.Client); err != nil {
		return fmt.Errorf("target %s: %w", m.Target.Address, err)
	}
	m.report.From = m.source.ID
	switch moved := m.source.Moved; {
	case m.source.Events == 0:
		return &NoLogError{m.Source.Address}
	case m.source.Copying != nil:
		return &eventstore.UnfinishedError{Copying: *m.source.Copying}
	case moved != nil && m.target.ID == moved.Copy && m.target.Usable() == nil:
		m.report.To, m.report.Done, m.report.Before = moved.Copy, true, true
		return nil
	case moved != nil && (m.target.Copying == nil || m.target.Copying.Copy != moved.Copy):
		return &eventstore.MovedError{Moved: *moved}
	}
	if err := m.checkGroups(ctx); err != nil {
		return err
	}
	return m.beginTarget(ctx)
}

func (m *migration) beginTarget(ctx context.Context) error {
	switch copying := m.target.Copying; {
	case copying != nil && copying.From == m.source.ID:
		m.report.To = copying.Copy
		return nil
	case copying != nil:
		return &TargetInUseError{m.Target.Address, "it is the unfinished copy of another log"}
	case m.target.Events > 0:
		return &TargetInUseError{m.Target.Address, "it has the log of an installation"}
	}
	has, err := readCopied(ctx, m.Target.Client)
	if err != nil {
		return err
	}
	defer has.close()
	first, err := has.peek()
	switch {
	case err != nil:
		return fmt.Errorf("target %s: %w", m.Target.Address, err)
	case first != nil:
		return &TargetInUseError{m.Target.Address, fmt.Sprintf("it has events, such as in stream %q", first.StreamID)}
	case m.DryRun:
		return nil
	}
	return m.markTarget(ctx)
}

// markTarget writes the names that the log had and that this is an unfinished copy, in one append, before any other event: no process of
// the service takes the target for a log of its own.
func (m *migration) markTarget(ctx context.Context) error {
	events := make([]esdb.EventData, 0, len(m.names)+1)
	for _, raw := range m.names {
		events = append(events, esdb.EventData{EventID: raw.ID, EventType: raw.Name, ContentType: esdb.ContentTypeJson, Data: raw.Data, Metadata: raw.Metadata})
	}
	m.target = m.source
	m.target.Copying = &eventstore.Copying{Copy: uuid.NewString(), From: m.source.ID}
	mark, err := identityEvent(uuid.New(), eventstore.CopyingEvent, m.target.Copying)
	if err != nil {
		return err
	}
	options := esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}
	if _, err := m.Target.Client.AppendToStream(ctx, eventstore.IdentityStream, options, append(events, mark)...); err != nil {
		return fmt.Errorf("target %s: %w", m.Target.Address, err)
	}
	m.target.Events++
	m.report.To = m.target.Copying.Copy
	return nil
}

func identityEvent(id uuid.UUID, name string, data any) (esdb.EventData, error) {
	encoded, err := json.Marshal(data)
	return esdb.EventData{EventID: id, EventType: name, ContentType: esdb.ContentTypeJson, Data: encoded}, err
}

// checkGroups refuses a source with groups, which are the server's: they have no events.
func (m *migration) checkGroups(ctx context.Context) error {
	if m.WithoutGroups {
		return nil
	}
	list, err := m.Source.Client.ListAllPersistentSubscriptions(ctx, esdb.ListPersistentSubscriptionsOptions{})
	var failed *esdb.Error
	switch {
	case errors.As(err, &failed) && failed.Code() == esdb.ErrorCodeResourceNotFound:
		return nil
	case err != nil:
		return fmt.Errorf("groups of persistent subscriptions of %s (--without-groups does not ask for them): %w", m.Source.Address, err)
	case len(list) == 0:
		return nil
	}
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.EventSource + "::" + one.GroupName
	}
	return &GroupsError{names}
}

// copy appends what the target does not have, or only counts it.
func (m *migration) copy(ctx context.Context) error {
	has, err := readCopied(ctx, m.Target.Client)
	if err != nil {
		return err
	}
	defer has.close()
	var batch export.Batch
	flush := func() error {
		if len(batch.Events) == 0 {
			return nil
		}
		held := batch
		batch = export.Batch{}
		return held.Append(ctx, m.Target.Client)
	}
	endStream := func(w *wanted) error {
		if err := flush(); err != nil {
			return err
		}
		return export.Tombstone(ctx, m.Target.Client, w.stream, w.last)
	}
	var appended uint64
	c := comparison{has: has, missing: func(w *wanted) error {
		appended++
		if m.DryRun {
			return nil
		}
		if w.isTombstone() {
			return endStream(w)
		}
		if !batch.Takes(w.stream, w.event) {
			if err := flush(); err != nil {
				return err
			}
		}
		batch.Add(w.stream, w.revision, w.event)
		return nil
	}}
	r, err := read(ctx, m.Events, m.pass(Copy), c.take)
	if err == nil {
		err = c.end()
	}
	if err == nil {
		err = flush()
	}
	m.report.Counts, m.report.Present, m.report.Position = r.counts, r.counts.Events-appended, r.reached.Position
	return err
}

// verify compares all events of both, from the first on.
func (m *migration) verify(ctx context.Context) (*reading, error) {
	has, err := readCopied(ctx, m.Target.Client)
	if err != nil {
		return nil, err
	}
	defer has.close()
	copied := m.report.Position
	c := comparison{has: has, missing: func(w *wanted) error {
		if w.position > copied {
			return &SourceWrittenError{w.stream, w.position}
		}
		return different(w, "the target has it not")
	}}
	r, err := read(ctx, m.Events, m.pass(Verify), c.take)
	if err == nil {
		err = c.end()
	}
	m.report.Counts, m.report.Position = r.counts, r.reached.Position
	return r, err
}

// close makes every process of the service refuse the source, after it was seen that nothing was written to it, and looks again
// afterwards: a process that was running on it ends itself.
func (m *migration) close(ctx context.Context, position uint64, begun time.Time) error {
	if err := wait(ctx, m.Quiet-time.Since(begun)); err != nil {
		return err
	}
	if err := m.checkUnwritten(ctx, position); err != nil {
		return err
	}
	if m.source.Moved == nil {
		moved, err := identityEvent(uuid.New(), eventstore.MovedEvent, eventstore.Moved{Copy: m.report.To, To: m.Target.Address})
		if err != nil {
			return err
		}
		options := esdb.AppendToStreamOptions{ExpectedRevision: m.source.Expected()}
		if _, err := m.Source.Client.AppendToStream(ctx, eventstore.IdentityStream, options, moved); err != nil {
			return fmt.Errorf("close the source %s: %w", m.Source.Address, err)
		}
	}
	if err := wait(ctx, m.Quiet); err != nil {
		return err
	}
	return m.checkUnwritten(ctx, position)
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkUnwritten refuses a source that has an event after a position, other than the server's own and those that name the log.
func (m *migration) checkUnwritten(ctx context.Context, position uint64) error {
	reading, err := m.Source.Client.ReadAll(ctx, esdb.ReadAllOptions{From: esdb.Position{Commit: position, Prepare: position}}, math.MaxInt64)
	if err != nil {
		return err
	}
	defer reading.Close()
	for {
		e, err := reading.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		has := e.OriginalEvent()
		if has.Position.Commit > position && has.StreamID != eventstore.IdentityStream && !export.IsOfServer(has.StreamID) {
			return &SourceWrittenError{has.StreamID, has.Position.Commit}
		}
	}
}

// putInForce gives the target a name of its own: every position that was noted of the source is then one of another log.
func (m *migration) putInForce(ctx context.Context, verified *reading) error {
	id, err := uuid.Parse(m.report.To)
	if err != nil {
		return fmt.Errorf("target %s: the id of the copy is none: %w", m.Target.Address, err)
	}
	what := &eventstore.Copied{Events: verified.counts.Events, Streams: verified.counts.Streams, Position: verified.reached.Position, Digested: verified.counts.Digested, SHA256: verified.counts.SHA256}
	if verified.chain != uuid.Nil {
		what.ChainLog, what.Link = verified.chain.String(), hex.EncodeToString(verified.reached.Link[:])
	}
	named, err := identityEvent(id, eventstore.NamedEvent, eventstore.Named{From: m.source.ID, Copied: what})
	if err != nil {
		return err
	}
	options := esdb.AppendToStreamOptions{ExpectedRevision: m.target.Expected()}
	if _, err := m.Target.Client.AppendToStream(ctx, eventstore.IdentityStream, options, named); err != nil {
		return fmt.Errorf("put %s in force: %w", m.Target.Address, err)
	}
	m.report.Done = true
	return nil
}

// TakeBack opens a log again that was migrated, under a name of its own, and returns that. What has been written to the target since is
// not in it. Errors: *NoLogError, *NotMovedError, those of the client.
func TakeBack(ctx context.Context, source Log) (id string, err error) {
	identity, _, err := eventstore.ReadIdentity(ctx, source.Client)
	switch {
	case err != nil:
		return "", err
	case identity.Events == 0:
		return "", &NoLogError{source.Address}
	case identity.Moved == nil:
		return "", &NotMovedError{source.Address}
	}
	name := uuid.New()
	named, err := identityEvent(name, eventstore.NamedEvent, eventstore.Named{From: identity.ID, Reopened: true})
	if err != nil {
		return "", err
	}
	_, err = source.Client.AppendToStream(ctx, eventstore.IdentityStream, esdb.AppendToStreamOptions{ExpectedRevision: identity.Expected()}, named)
	return name.String(), err
}

package auditor

import (
	"context"
	"errors"
	"fmt"

	"reckon/domain/audit"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/node/eventlog"
)

// Source is where a log is read.
type Source interface {
	// Read calls visit with every event of the log, in its order, until visit fails, whose error it returns. What it finds wrong
	// with the log itself is in End; an error means that the log could not be read, and nothing is known of the rest.
	Read(ctx context.Context, visit func(audit.Stored) error) (End, error)
	// Head is the position of the newest event, for the progress; 0: not known.
	Head(ctx context.Context) (uint64, error)
}

// End is what a source knows when it has read the log.
type End struct {
	Position uint64          // of the newest event that was read
	Link     string          // of the hash chain there; empty: the source has no chain
	Chained  bool            // the hash chain was checked
	Anchored bool            // an anchor was compared
	Findings []audit.Finding // about the log as bytes
}

// Folder is the folder of a node's log: stopped, copied, or with a node writing it.
type Folder struct {
	Dir     string
	Anchors []eventlog.Anchor
}

// Head is Source: the folder does not say it cheaply.
func (f Folder) Head(context.Context) (uint64, error) { return 0, nil }

// Read is Source.
func (f Folder) Read(ctx context.Context, visit func(audit.Stored) error) (End, error) {
	report, err := eventlog.ReadFolder(ctx, f.Dir, f.Anchors, func(r *eventlog.Record) error {
		return visit(audit.Stored{
			ID: r.ID.String(), Stream: r.Stream, Revision: event.Revision(r.Revision), Position: event.Position{Commit: r.Position, Prepare: r.Position}, //nolint:gosec // revisions are below 2^63
			Name: r.Type, Data: append([]byte(nil), r.Data...), Metadata: append([]byte(nil), r.Metadata...), Removed: r.Redacted, Created: eventlog.TimeOf(r.CreatedTicks), Link: r.Link,
		})
	})
	end := End{Position: report.Records, Link: report.Chain, Chained: true, Anchored: len(f.Anchors) > 0}
	var damage *eventlog.CorruptError
	switch {
	case errors.As(err, &damage):
		position := damage.Position
		if position == 0 { // the head file: what it should name comes after what was read
			position = report.Records + 1
		}
		end.Findings = append(end.Findings, unreadable(audit.KindUnreadable, position, fmt.Sprintf("%s, byte %d: %s", damage.File, damage.Offset, damage.Reason)))
		err = nil
	default:
		err = end.anchored(err)
	}
	return end, err
}

// unreadable is the finding that a log cannot be read on from a position.
func unreadable(kind audit.Kind, position uint64, found string) audit.Finding {
	return audit.Complete(audit.CheckChain, kind, audit.Finding{Revision: -1, Position: position}, "the record that was appended", found)
}

// anchored makes a finding of an anchor that differs, and returns any other error.
func (e *End) anchored(err error) error {
	var other *eventlog.AnchorError
	if !errors.As(err, &other) {
		return err
	}
	place := audit.Finding{Revision: -1, Position: min(other.Anchor.Position, other.End+1)}
	agrees := "no older anchor was given that agrees"
	if other.Agrees > 0 {
		agrees = fmt.Sprintf("positions 1 to %d are those that were noted", other.Agrees)
	}
	e.Findings = append(e.Findings, audit.Complete(audit.CheckChain, audit.KindAnchor, place,
		fmt.Sprintf("the record that was noted at position %d, link %s", other.Anchor.Position, other.Anchor.Link),
		fmt.Sprintf("%s; %s", other.Reason, agrees)))
	return nil
}

// Store is a log that is reached through its server.
type Store struct{ Store *eventstore.Store }

// Head is Source.
func (s Store) Head(ctx context.Context) (uint64, error) {
	head, err := s.Store.Head(ctx)
	return head.Commit, err
}

// Read is Source. After the transport has failed the store may show events again, which are left out.
func (s Store) Read(ctx context.Context, visit func(audit.Stored) error) (End, error) {
	var end End
	var last event.Position
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := s.Store.VisitAll(ctx, func(raw eventstore.Raw) {
		if !last.Less(raw.Position) || context.Cause(ctx) != nil {
			return
		}
		last = raw.Position
		stored := audit.Stored{ID: raw.ID.String(), Stream: raw.Stream, Revision: raw.Revision, Position: raw.Position, Name: raw.Name, Data: raw.Data, Metadata: raw.Metadata, Created: raw.Created}
		if err := visit(stored); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	end.Position = last.Commit
	return end, err
}

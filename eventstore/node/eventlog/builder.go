package eventlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// Builder makes the folder of a new log from records that were written elsewhere: revisions,
// ids, stamps, order and bytes are kept; the log has an id and positions of its own. The
// folder is no log before Finish.
type Builder struct {
	dir string
	id  uuid.UUID

	segment *segment
	offset  int64 // of the next frame
	reached cursor
	group   []byte
	last    bool // the newest record is the last of its append
	streams map[string]nextRevision
}

// builderBytes is how much is written at once.
const builderBytes = 1 << 20

// NewBuilder begins a log in a folder that is empty, absent, or what a Builder or CopyFolder
// left that did not end. Errors: *NotEmptyError, *CopyError.
func NewBuilder(dir string) (*Builder, error) {
	if err := checkVacant(dir); err != nil {
		return nil, err
	}
	b := &Builder{dir: dir, streams: map[string]nextRevision{}, last: true}
	err := beginCopy(dir)
	if err == nil {
		b.id, err = uuid.NewRandom()
	}
	if err == nil {
		b.reached = cursor{link: genesisOf(b.id)}
		err = b.next(segmentFormat)
	}
	if err != nil {
		return nil, b.giveUp(err)
	}
	return b, nil
}

// giveUp removes what was made, and returns why.
func (b *Builder) giveUp(err error) error {
	removed := b.Abort()
	return &CopyError{Target: b.dir, Err: errors.Join(err, removed), Left: removed != nil}
}

// LogID is the id of the log that is made.
func (b *Builder) LogID() uuid.UUID { return b.id }

// next begins a segment.
func (b *Builder) next(format uint32) error {
	s, err := createSegmentAs(format, diskFiles{}, b.dir, b.id, b.reached.position, b.reached.link)
	if err != nil {
		return err
	}
	b.segment, b.offset = s, segmentHeader
	return nil
}

// Add adds a record behind those before it, with its payload where that was not removed. Its
// position and what ties it to another chain are not kept. Errors: *InvalidRequestError for a
// record that cannot follow, *AppendTooLargeError, or one of the file system.
func (b *Builder) Add(l *Linked) error {
	if err := b.addIdentity(l.CreatedTicks); err != nil {
		return err
	}
	if err := b.check(&l.Record); err != nil {
		return err
	}
	return b.add(*l)
}

// addIdentity adds the first event of the log, unless it is there. It is stamped like the
// first that is imported: stamps do not decrease.
func (b *Builder) addIdentity(ticks int64) error {
	if b.reached.position > 0 {
		return nil
	}
	first := Record{Stream: IdentityStream, ID: b.id, Type: IdentityType, JSON: true, CreatedTicks: ticks, Data: identityJSON(b.id, genesisOf(b.id))}
	return b.add(Linked{Record: first, LastOfAppend: true})
}

// check refuses what the log would not have taken from a client.
func (b *Builder) check(r *Record) error {
	of := fmt.Sprintf("event %d of stream %s", r.Revision, Quoted(r.Stream))
	next := b.streams[r.Stream]
	switch {
	case r.Stream == IdentityStream, IsIndexStream(r.Stream):
		return &InvalidRequestError{of + ": the log itself says what that stream holds"}
	case r.Stream == "", r.Stream == metaPrefix, r.Stream == AllStream, isTooLong(r.Stream):
		return &InvalidRequestError{of + ": the name is none that a stream may have"}
	case r.ID == uuid.Nil:
		return &InvalidRequestError{of + " has no id"}
	case r.Type == "":
		return &InvalidRequestError{of + " has no type"}
	case next.tombstoned:
		return &InvalidRequestError{of + " comes after the stream's tombstone"}
	case (r.Revision == TombstoneRevision) != (r.Type == TombstoneType):
		return &InvalidRequestError{of + ": a tombstone, and nothing else, has type " + TombstoneType + " and revision 2^63-1"}
	case r.Revision != TombstoneRevision && r.Revision != next.revision:
		return &InvalidRequestError{fmt.Sprintf("%s comes where revision %d belongs: a log has every revision of a stream, from 0", of, next.revision)}
	}
	event := Proposed{Type: r.Type, Data: r.Data, Metadata: r.Metadata}
	if event.SizeBytes() > MaxAppendBytes {
		return fmt.Errorf("%s: %w", of, &AppendTooLargeError{LimitBytes: MaxAppendBytes})
	}
	return nil
}

func (b *Builder) add(l Linked) error {
	if err := b.makeRoom(l.Redacted); err != nil {
		return err
	}
	l.Position = b.reached.position + 1
	if l.Redacted {
		b.group, b.reached.link = appendRemoved(b.group, b.segment.now.seed, b.segment.base, &l, b.reached.link)
	} else {
		var salt [saltBytes]byte
		if _, err := io.ReadFull(rand.Reader, salt[:]); err != nil {
			return err
		}
		b.group, b.reached.link = appendFrame(b.group, b.segment.now.seed, b.segment.base, &l.Record, l.LastOfAppend, salt, b.reached.link)
	}
	b.reached.position, b.last = l.Position, l.LastOfAppend
	next := b.streams[l.Stream]
	next.tombstoned, next.revision = l.Revision == TombstoneRevision, next.revision+1
	b.streams[l.Stream] = next
	if len(b.group) < builderBytes {
		return nil
	}
	return b.write()
}

// makeRoom begins another segment where this one is full, or may hold no record whose payload
// was removed.
func (b *Builder) makeRoom(removed bool) error {
	full := b.last && b.offset+int64(len(b.group)) >= segmentBytes
	if !full && (!removed || b.segment.now.scavenged) {
		return nil
	}
	format := uint32(segmentFormat)
	if removed {
		format = scavengedFormat
	}
	return errors.Join(b.seal(), b.next(format))
}

// write writes the frames of the group.
func (b *Builder) write() error {
	return b.segment.use(keep, func(f opened) error {
		if _, err := f.WriteAt(b.group, b.offset); err != nil {
			return err
		}
		b.offset += int64(len(b.group))
		b.group = b.group[:0]
		return nil
	})
}

// seal makes the newest segment durable.
func (b *Builder) seal() error {
	if err := b.write(); err != nil {
		return err
	}
	err := b.segment.use(keep, func(f opened) error { return f.sync() })
	return errors.Join(err, b.segment.close())
}

// Finish makes the log durable, and verifies it. After an error there is none. Errors:
// *InvalidRequestError when the newest append is cut, *CopyError, that of ctx.
func (b *Builder) Finish(ctx context.Context) (Report, error) {
	if !b.last {
		return Report{}, errors.Join(&InvalidRequestError{fmt.Sprintf("the append of the record at position %d is cut", b.reached.position)}, b.Abort())
	}
	report, err := b.finish(ctx)
	switch {
	case err == nil:
		return report, nil
	case ctx.Err() != nil:
		return Report{}, errors.Join(ctx.Err(), b.Abort())
	}
	return Report{}, b.giveUp(err)
}

func (b *Builder) finish(ctx context.Context) (Report, error) {
	if err := b.addIdentity(0); err != nil {
		return Report{}, err
	}
	if err := b.seal(); err != nil {
		return Report{}, err
	}
	if b.segment.now.scavenged { // the newest segment is written to
		if err := errors.Join(b.next(segmentFormat), b.segment.close()); err != nil {
			return Report{}, err
		}
	}
	return endCopy(ctx, b.dir, headMark{b.id, b.reached.position, b.reached.link})
}

// Abort removes what was made; the folder stays, empty.
func (b *Builder) Abort() error {
	var closed error
	if b.segment != nil {
		closed = b.segment.close()
	}
	return errors.Join(closed, removeCopy(b.dir))
}

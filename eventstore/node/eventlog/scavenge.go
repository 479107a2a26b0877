package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// A scavenge takes the payloads of records out of the sealed segments that no read of a
// stream shows any more: they were truncated, are older than $maxAge, or their stream was
// deleted. Positions, revisions, ids and the chain stay. Segments are done one after the
// other, oldest first, so that of a stream the oldest records lose their payloads first. Each
// is written anew beside the old one, synced, verified, and then takes its name: whenever the
// process ends, the folder has the one or the other whole. The index leads to where records
// were written (place), and does not change.

// ScavengeReport is what a scavenge did.
type ScavengeReport struct {
	LogID     uuid.UUID `json:"logId"`
	Position  uint64    `json:"position"`  // up to which all records were looked at: the end of the newest sealed segment
	Segments  int       `json:"segments"`  // that were looked at
	Rewritten int       `json:"rewritten"` // of these
	Removed   uint64    `json:"removed"`   // payloads
	Freed     int64     `json:"freedBytes"`
}

// ErrScavenging is returned by Scavenge while another one runs.
var ErrScavenging = errors.New("the log is being scavenged already: wait for its end")

// NoRoomError is returned by Scavenge when the disk has no room for a segment beside the old
// one. Nothing was changed in that segment; those before it are done.
type NoRoomError struct {
	Dir       string
	Need, Has int64 // bytes
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("scavenging the event log in %s needs %d bytes free on its disk for a while, and %d are: free some and scavenge again", e.Dir, e.Need, e.Has)
}

// ScavengeError is returned by Scavenge when the system refuses a call on the segment that is
// written anew. The segment is as it was, or scavenged; those before it are done.
type ScavengeError struct {
	Dir, File string
	Err       error
}

func (e *ScavengeError) Error() string {
	return fmt.Sprintf("event log in %s: cannot scavenge %s: %v; no record was lost, and appends go on: %s, then scavenge again", e.Dir, e.File, e.Err, remedyFor(e.Err))
}

func (e *ScavengeError) Unwrap() error { return e.Err }

// isRefusal reports whether the system refused a call.
func isRefusal(err error) bool {
	var refused *fs.PathError
	var linked *os.LinkError
	var storage *StorageError
	return errors.As(err, &refused) || errors.As(err, &linked) || errors.As(err, &storage)
}

// scavengeReserve stays free on the disk beside what a scavenge writes, for appends meanwhile.
const scavengeReserve = 32 << 20

// maxKnownFirsts bounds the streams whose first visible revision a scavenge remembers.
const maxKnownFirsts = 1 << 17

// Scavenge removes the payloads that no read of a stream shows any more. Readers and writers
// go on meanwhile. progress is called after each segment. After an error, or when ctx ends,
// the report says what was done; a later scavenge does the rest.
func (l *Log) Scavenge(ctx context.Context, progress func(ScavengeReport)) (ScavengeReport, error) {
	report := ScavengeReport{LogID: l.id}
	if !l.scavenging.TryLock() {
		return report, ErrScavenging
	}
	defer l.scavenging.Unlock()
	segments := *l.segments.Load()
	for i, s := range segments[:len(segments)-1] {
		if err := errors.Join(ctx.Err(), l.Err()); err != nil {
			return report, err
		}
		removed, freed, err := l.scavengeSegment(ctx, segments, i)
		if isRefusal(err) {
			err = &ScavengeError{Dir: l.dir, File: s.name(), Err: err}
		}
		if err != nil {
			return report, err
		}
		report.Segments++
		report.Position = segments[i+1].base
		report.Removed += removed
		report.Freed += freed
		if removed > 0 {
			report.Rewritten++
		}
		if progress != nil {
			progress(report)
		}
	}
	return report, nil
}

// scavengeSegment removes payloads from the segment with this number.
func (l *Log) scavengeSegment(ctx context.Context, segments segmentList, i int) (removed uint64, freed int64, err error) {
	s, next := segments[i], segments[i+1]
	hidden := hiddenRecords{log: l, firsts: map[string]uint64{}}
	from := cursor{s.base, s.link, segmentHeader}
	remove := make([]bool, 0, next.base-s.base)
	var size int64
	_, err = scanSegments(ctx, l.dir, segments[:i+2], once, from, next.base, func(r *stored, _ place) error {
		is, err := hidden.has(r)
		if is {
			removed++
			freed += int64(len(r.payload))
		}
		size += frameHeader + int64(len(r.header)+1+len(r.Link)+len(r.payload))
		remove = append(remove, is)
		return err
	})
	if err != nil || removed == 0 {
		return 0, 0, l.scavengeFailed(err)
	}
	if err := l.haveRoom(size - freed); err != nil {
		return 0, 0, err
	}
	draft := s.path + draftSuffix
	err = l.writeScavenged(ctx, s, draft, remove)
	if err == nil {
		err = l.verifyDraft(ctx, s, next, draft)
	}
	if err != nil {
		return 0, 0, errors.Join(l.scavengeFailed(err), l.files.remove(draft))
	}
	l.scavenged.Store(true) // before a reader meets it
	return removed, freed, l.scavengeFailed(s.replace(draft))
}

// scavengeFailed ends the taking of appends when a scavenge has met damage, and returns the error.
func (l *Log) scavengeFailed(err error) error {
	var damage *CorruptError
	if errors.As(err, &damage) {
		l.fail(damage)
	}
	return err
}

func (l *Log) haveRoom(bytes int64) error {
	free, err := l.files.free(filepath.Join(l.dir, segmentFolder))
	if err != nil {
		return l.storageError("ask for the free space of the disk", err)
	}
	if need := bytes + scavengeReserve; free < need {
		return &NoRoomError{Dir: l.dir, Need: need, Has: free}
	}
	return nil
}

// writeScavenged writes the segment without the payloads of the records that remove names, durably.
func (l *Log) writeScavenged(ctx context.Context, s *segment, draft string, remove []bool) error {
	const writeBytes = 1 << 20
	to, err := l.files.create(draft)
	if err != nil {
		return err
	}
	err = s.use(once, func(o opened) error {
		b := encodeSegmentHeader(scavengedFormat, s.id, s.base, s.link)
		seed := checksumOf(b)
		at := int64(0)
		flush := func() error {
			n, err := to.WriteAt(b, at)
			at += int64(n)
			b = b[:0]
			return errors.Join(err, ctx.Err())
		}
		scan := o.scanner(o.end.Load())
		for _, is := range remove {
			r, frame, err := scan.whole()
			if err != nil {
				return s.damage(l.dir, err)
			}
			if b = appendAgain(b, seed, &r, frame, is); len(b) >= writeBytes {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
	if err == nil {
		err = to.sync()
	}
	return errors.Join(err, to.Close())
}

// verifyDraft reads the segment that was written anew: it must be the same records.
func (l *Log) verifyDraft(ctx context.Context, s, next *segment, draft string) error {
	again := &segment{base: s.base, link: s.link, id: s.id, path: draft, files: l.files, now: &contents{}}
	return again.use(once, func(o opened) error {
		for scan := o.scanner(o.end.Load()); ; {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, _, err := scan.next()
			if errors.Is(err, io.EOF) && scan.position == next.base && scan.link == next.link {
				return nil
			}
			if err != nil {
				return l.storageError("write a segment without payloads", fmt.Errorf("what is read is not what was written: %w", err))
			}
		}
	})
}

// replace gives the segment's name to the file at draft, durably. Reads that have the old
// file go on in it.
func (s *segment) replace(draft string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.files.open(draft)
	if err != nil {
		return err
	}
	again, err := s.adopt(f)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), s.files.rename(draft, s.path)); err != nil {
		return err
	}
	old := s.now
	s.now = again
	if old.users == 0 && old.kept != nil {
		_ = old.kept.Close() // it was only read
		old.kept = nil
	}
	return s.files.syncFolder(filepath.Dir(s.path))
}

// hiddenRecords tells which records no read of their stream shows.
type hiddenRecords struct {
	log    *Log
	firsts map[string]uint64 // first revisions that reads may show
}

func (h *hiddenRecords) has(r *stored) (bool, error) {
	if r.Redacted || r.Revision == TombstoneRevision || r.Position == 1 { // the first names the log
		return false, nil
	}
	first, known := h.firsts[r.Stream]
	if !known {
		view, err := h.log.View()
		if err != nil {
			return false, err
		}
		defer view.Close()
		if first, err = view.firstToKeep(r.Stream); err != nil {
			return false, err
		}
		if len(h.firsts) >= maxKnownFirsts {
			clear(h.firsts)
		}
		h.firsts[r.Stream] = first
	}
	return r.Revision < first, nil
}

// firstToKeep returns the first revision of a stream whose payload a read may show; the
// payloads before it may go.
func (v *View) firstToKeep(stream string) (uint64, error) {
	info, err := v.Stream(stream)
	switch {
	case err != nil:
		return 0, err
	case IsMetaStream(stream): // the newest stays, also that of a tombstoned stream: it can be written on
		return info.First, nil
	case info.Tombstoned:
		return TombstoneRevision, nil
	case info.Last < 0:
		return 0, nil
	}
	s, err := v.log.state(v.snapshot, stream)
	if err != nil || s.metadata.MaxAgeSeconds == 0 {
		return info.First, err
	}
	first := firstByCount(s)
	if first > uint64(s.last) {
		return first, nil
	}
	oldest, err := v.oldestToKeep(s.metadata.MaxAgeSeconds)
	if err != nil {
		return 0, err
	}
	return v.firstByAge(stream, first, uint64(s.last), oldest)
}

// oldestToKeep is the stamp before which events of this age are removed. The clock counts up
// to maxClockStep after the newest event only: what a clock removes that is years ahead is gone for good.
func (v *View) oldestToKeep(maxAgeSeconds int64) (int64, error) {
	newest, err := v.log.record(v.snapshot, v.head)
	if err != nil {
		return 0, err
	}
	now, _ := v.log.clock.now()
	return min(ticks(now), newest.CreatedTicks+int64(maxClockStep/(time.Second/time.Duration(TicksPerSecond)))) - maxAgeSeconds*TicksPerSecond, nil
}

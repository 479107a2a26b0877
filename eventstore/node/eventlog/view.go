package eventlog

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// View is a snapshot of the log after a commit; everything in it is durable. Close it
// after one page of a read: an open view keeps storage from being freed.
type View struct {
	log      *Log
	snapshot *pebble.Snapshot // of the index
	head     uint64
	refs     atomic.Int64
}

func newView(l *Log, head uint64) *View {
	v := &View{log: l, snapshot: l.index.NewSnapshot(), head: head}
	v.refs.Store(1)
	return v
}

// publish makes v the view that View returns, and releases the one before.
func (l *Log) publish(v *View) {
	l.viewMu.Lock()
	old := l.view
	l.view = v
	l.viewMu.Unlock()
	if old != nil {
		old.Close()
	}
}

// View returns the newest view, or ErrClosed. Close it after use.
func (l *Log) View() (*View, error) {
	l.viewMu.Lock()
	defer l.viewMu.Unlock()
	if l.view == nil {
		return nil, ErrClosed
	}
	l.view.refs.Add(1)
	return l.view, nil
}

// currentView is the newest view without a claim on it; nil before Open returns and after Close.
func (l *Log) currentView() *View {
	l.viewMu.Lock()
	defer l.viewMu.Unlock()
	return l.view
}

// Close releases the view.
func (v *View) Close() {
	if v.refs.Add(-1) == 0 {
		_ = v.snapshot.Close() // fails only when closed twice
	}
}

// Head is the position of the newest event.
func (v *View) Head() uint64 { return v.head }

// StreamInfo is the part of a stream's state that decides what a read shows.
type StreamInfo struct {
	Last        int64  // last revision, -1 when there are no events; a tombstone does not count
	First       uint64 // first visible revision; above Last when none is visible
	SoftDeleted bool
	Tombstoned  bool
}

// Exists reports whether a read finds the stream, be it empty.
func (i StreamInfo) Exists() bool { return i.Last >= 0 && !i.SoftDeleted }

// Stream returns what a read of the stream shows, after $maxCount, $maxAge, $tb and deletions.
func (v *View) Stream(stream string) (StreamInfo, error) {
	if IsIndexStream(stream) {
		return v.indexStream(stream)
	}
	s, err := v.log.state(v.snapshot, stream)
	if err != nil {
		return StreamInfo{}, err
	}
	info := StreamInfo{Last: s.last, SoftDeleted: s.softDeleted(), Tombstoned: s.tombstoned}
	if IsMetaStream(stream) {
		base, err := v.log.head(v.snapshot, baseStream(stream))
		if err != nil {
			return StreamInfo{}, err
		}
		info.Tombstoned = info.Tombstoned || base.tombstoned
		info.First = uint64(max(0, s.last)) // as if $maxCount were 1
		return info, nil                    // a scavenge leaves the newest
	}
	if s.last < 0 {
		return info, nil
	}
	info.First = firstByCount(s)
	if s.metadata.MaxAgeSeconds > 0 && info.First <= uint64(s.last) {
		now, _ := v.log.clock.now()
		oldest := ticks(now) - s.metadata.MaxAgeSeconds*TicksPerSecond
		if info.First, err = v.firstByAge(stream, info.First, uint64(s.last), oldest); err != nil {
			return info, err
		}
	}
	info.First, err = v.firstKept(stream, info.First, uint64(s.last))
	return info, err
}

// firstKept returns the first of the revisions whose payload was not removed; last + 1 when
// all were. A scavenge takes the oldest first, so that they are the beginning of a stream;
// they are seen where metadata has made visible again what was hidden when it ran.
func (v *View) firstKept(stream string, first, last uint64) (uint64, error) {
	if first > last || !v.log.scavenged.Load() {
		return first, nil
	}
	segments := *v.log.segments.Load()
	var failed error
	removed := func(revision uint64) bool {
		value, err := v.log.readValue(v.snapshot, appendRevisionKey(nil, stream, revision))
		if err != nil {
			failed = err
			return false
		}
		if at, ok := parsePlace(value); !ok || !segments.find(at.position).current().scavenged {
			return false // an entry that is missing is found by the read
		}
		record, err := v.log.recordAt(v.snapshot, stream, revision)
		if err != nil {
			failed = err
		}
		return record.Redacted
	}
	if !removed(first) {
		return first, failed
	}
	n := sort.Search(int(min(last-first+1, math.MaxInt)), func(i int) bool { return failed != nil || !removed(first+uint64(i)) })
	return first + uint64(n), failed
}

// firstByCount returns the first revision that $tb and $maxCount leave visible.
func firstByCount(s *streamState) uint64 {
	first := s.metadata.TruncateBefore
	if s.metadata.MaxCount > 0 {
		first = max(first, s.last-s.metadata.MaxCount+1)
	}
	return uint64(max(0, first))
}

// firstByAge returns the first revision that was stamped at oldest or later, by bisection:
// creation stamps never decrease. Where a clock that was ahead was set right they do, once;
// then the result is still a revision that is young enough after one that is not.
func (v *View) firstByAge(stream string, first, last uint64, oldest int64) (uint64, error) {
	var failed error
	n := sort.Search(int(min(last-first+1, math.MaxInt)), func(i int) bool {
		record, err := v.log.recordAt(v.snapshot, stream, first+uint64(i))
		if err != nil {
			failed = err
			return true
		}
		return record.CreatedTicks >= oldest
	})
	return first + uint64(n), failed
}

// Page bounds what one read brings into memory: at most Records, and no further record
// once Bytes are reached.
type Page struct{ Records, Bytes int }

// ReadAll reads forwards the records at positions ≥ from, or backwards those < from. It
// checks that positions are consecutive and that each record continues the hash chain of
// the one before it on the page. Errors: *CorruptError, together with the records that come before
// the damaged one in the direction of the read; *IndexError, or that of ctx, alone.
func (v *View) ReadAll(ctx context.Context, from uint64, backwards bool, page Page) ([]Record, error) {
	lower, upper := max(from, 1), v.head+1
	if backwards {
		lower, upper = 1, min(from, v.head+1)
	}
	if lower >= upper {
		return nil, nil
	}
	iterator, err := v.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: positionKey(lower), UpperBound: positionKey(upper)})
	if err != nil {
		return nil, v.log.indexError(err)
	}
	expected := lower
	if backwards {
		expected = upper - 1
	}
	places, err := v.collect(iterator, backwards, page, func() (place, error) {
		at, ok := parsePositionPlace(positionOf(iterator.Key()), iterator.Value())
		if !ok || at.position != expected {
			return at, v.log.doubtIndex(fmt.Sprintf("it does not lead to position %d", expected), nil)
		}
		if backwards {
			expected--
		} else {
			expected++
		}
		return at, nil
	})
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		return nil, v.log.doubtIndex(fmt.Sprintf("it does not lead to position %d", expected), nil)
	}
	return v.log.readPlaces(ctx, places, backwards, checkChain)
}

// ReadStream reads the records with revisions first … last, in either direction, but for
// those whose payload was removed. It checks that revisions are consecutive. Errors: those of ReadAll.
func (v *View) ReadStream(ctx context.Context, stream string, first, last uint64, backwards bool, page Page) ([]Record, error) {
	for {
		records, err := v.readStream(ctx, stream, first, last, backwards, page)
		if len(records) == 0 {
			return nil, err
		}
		kept := slices.DeleteFunc(records, func(r Record) bool { return r.Redacted })
		if len(kept) > 0 || backwards { // what is before a removed payload is removed too
			return kept, err
		}
		if err != nil {
			return nil, err
		}
		if first, err = v.firstKept(stream, first, last); err != nil || first > last {
			return nil, err
		}
	}
}

func (v *View) readStream(ctx context.Context, stream string, first, last uint64, backwards bool, page Page) ([]Record, error) {
	if first > last || last > TombstoneRevision {
		return nil, nil
	}
	if IsIndexStream(stream) {
		return v.readIndexStream(ctx, stream, first, last, backwards, page)
	}
	h, err := v.log.head(v.snapshot, stream)
	if err != nil {
		return nil, err
	}
	revisions := newRevisionWalk(h, first, last, backwards)
	iterator, err := v.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{
		LowerBound: appendRevisionKey(nil, stream, first), UpperBound: appendRevisionKey(nil, stream, last+1),
	})
	if err != nil {
		return nil, v.log.indexError(err)
	}
	var read []uint64 // revisions of the places
	places, err := v.collect(iterator, backwards, page, func() (place, error) {
		at, ok := parsePlace(iterator.Value())
		revision := revisionOf(iterator.Key())
		if want, more := revisions.next(); !ok || !more || revision != want {
			return at, v.log.doubtIndex(fmt.Sprintf("it does not lead to revision %d of stream %s", want, Quoted(stream)), nil)
		}
		read = append(read, revision)
		return at, nil
	})
	if err != nil {
		return nil, err
	}
	if want, more := revisions.next(); more && len(places) == 0 {
		return nil, v.log.doubtIndex(fmt.Sprintf("it does not lead to revision %d of stream %s", want, Quoted(stream)), nil)
	}
	if backwards {
		slices.Reverse(read)
	}
	return v.log.readPlaces(ctx, places, backwards, func(i int, r, _ *stored) string {
		if r.Stream != stream || r.Revision != read[i] {
			return fmt.Sprintf("the index has revision %d of stream %s there", read[i], Quoted(stream))
		}
		return ""
	})
}

// revisionWalk yields the revisions that a stream must have in a range.
type revisionWalk struct {
	head      head
	at        uint64
	left      bool
	stop      uint64
	backwards bool
}

func newRevisionWalk(h head, first, last uint64, backwards bool) *revisionWalk {
	w := &revisionWalk{head: h, backwards: backwards}
	exists := func(revision uint64) bool { return w.exists(revision) }
	if !exists(last) { // the newest one in the range
		last = uint64(max(0, h.last))
	}
	if !exists(first) && h.tombstoned {
		first = TombstoneRevision
	}
	w.left = first <= last && exists(first) && exists(last)
	w.at, w.stop = first, last
	if backwards {
		w.at, w.stop = last, first
	}
	return w
}

func (w *revisionWalk) exists(revision uint64) bool {
	return w.head.last >= 0 && revision <= uint64(w.head.last) || w.head.tombstoned && revision == TombstoneRevision
}

// next returns the revision that must come next; false at the end.
func (w *revisionWalk) next() (uint64, bool) {
	if !w.left {
		return 0, false
	}
	revision := w.at
	w.left = revision != w.stop
	switch {
	case w.backwards && revision == TombstoneRevision:
		w.at = uint64(max(0, w.head.last))
	case w.backwards:
		w.at--
	case revision == uint64(w.head.last):
		w.at = TombstoneRevision
	default:
		w.at++
	}
	return revision, true
}

// collect returns the places that next reads from the iterator, in the order of the log,
// up to the bounds of the page, and closes the iterator.
func (v *View) collect(iterator *pebble.Iterator, backwards bool, page Page, next func() (place, error)) ([]place, error) {
	var places []place
	size := 0
	for valid := stepIterator(iterator, true, backwards); valid && len(places) < page.Records && (size < page.Bytes || len(places) == 0); valid = stepIterator(iterator, false, backwards) {
		at, err := next()
		if err != nil {
			_ = iterator.Close()
			return nil, err
		}
		size += int(at.length)
		places = append(places, at)
	}
	if err := iterator.Close(); err != nil {
		return nil, v.log.indexError(err)
	}
	if backwards {
		slices.Reverse(places)
	}
	return places, nil
}

// stepIterator steps an iterator in the direction of the read.
func stepIterator(i *pebble.Iterator, start, backwards bool) bool {
	switch {
	case start && backwards:
		return i.Last()
	case start:
		return i.First()
	case backwards:
		return i.Prev()
	default:
		return i.Next()
	}
}

// Event reads one event of a stream as a read would show it; false when it is hidden,
// deleted or absent.
func (v *View) Event(stream string, revision uint64) (Record, bool, error) {
	info, err := v.Stream(stream)
	if err != nil || info.Tombstoned || !info.Exists() || revision < info.First || revision > uint64(info.Last) {
		return Record{}, false, err
	}
	if IsIndexStream(stream) {
		records, err := v.readIndexStream(context.Background(), stream, revision, revision, false, Page{Records: 1, Bytes: 1})
		if err != nil || len(records) == 0 {
			return Record{}, false, err
		}
		return records[0], true, nil
	}
	record, err := v.log.recordAt(v.snapshot, stream, revision)
	return record, err == nil && !record.Redacted, err
}

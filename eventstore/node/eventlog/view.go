package eventlog

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// View is a snapshot of the log after a commit; everything in it is durable. Close it
// after one page of a read: an open view keeps storage from being freed.
type View struct {
	log          *Log
	snapshot     *pebble.Snapshot
	head         uint64
	createdTicks int64
	refs         atomic.Int64
}

func newView(l *Log, head uint64, createdTicks int64) *View {
	v := &View{log: l, snapshot: l.db.NewSnapshot(), head: head, createdTicks: createdTicks}
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
		return info, nil
	}
	if s.last < 0 {
		return info, nil
	}
	info.First = firstByCount(s)
	if s.metadata.MaxAgeSeconds > 0 && info.First <= uint64(s.last) {
		info.First, err = v.firstByAge(stream, info.First, uint64(s.last), s.metadata.MaxAgeSeconds)
	}
	return info, err
}

// firstByCount returns the first revision that $tb and $maxCount leave visible.
func firstByCount(s *streamState) uint64 {
	first := s.metadata.TruncateBefore
	if s.metadata.MaxCount > 0 {
		first = max(first, s.last-s.metadata.MaxCount+1)
	}
	return uint64(max(0, first))
}

// firstByAge returns the first revision that $maxAge leaves visible, by bisection:
// creation stamps never decrease.
func (v *View) firstByAge(stream string, first, last uint64, maxAge int64) (uint64, error) {
	oldest := max(ticks(v.log.clock()), v.createdTicks) - maxAge*TicksPerSecond
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

// ReadAll reads forwards the records at positions ≥ from, or backwards those < from.
func (v *View) ReadAll(ctx context.Context, from uint64, backwards bool, page Page) ([]Record, error) {
	lower, upper := from, v.head+1
	if backwards {
		lower, upper = 1, min(from, v.head+1)
	}
	if lower >= upper {
		return nil, nil
	}
	iterator, err := v.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: recordKey(lower), UpperBound: recordKey(upper)})
	if err != nil {
		return nil, v.log.readError(0, err)
	}
	var records []Record
	size := 0
	for valid := stepIterator(iterator, true, backwards); valid && len(records) < page.Records && (size < page.Bytes || len(records) == 0); valid = stepIterator(iterator, false, backwards) {
		record, err := v.parse(iterator)
		if err != nil {
			_ = iterator.Close()
			return nil, err
		}
		size += len(record.Data) + len(record.Metadata)
		records = append(records, record)
	}
	if err := iterator.Close(); err != nil {
		return nil, v.log.readError(0, err)
	}
	return records, nil
}

// ReadStream reads the records with revisions first … last, in either direction.
func (v *View) ReadStream(ctx context.Context, stream string, first, last uint64, backwards bool, page Page) ([]Record, error) {
	if first > last || last > TombstoneRevision {
		return nil, nil
	}
	index, err := v.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{
		LowerBound: appendRevisionKey(nil, stream, first), UpperBound: appendRevisionKey(nil, stream, last+1),
	})
	if err != nil {
		return nil, v.log.readError(0, err)
	}
	records, err := v.readIndexed(ctx, index, stream, backwards, page)
	if closeErr := index.Close(); err == nil && closeErr != nil {
		err = v.log.readError(0, closeErr)
	}
	return records, err
}

func (v *View) readIndexed(ctx context.Context, index *pebble.Iterator, stream string, backwards bool, page Page) ([]Record, error) {
	if !stepIterator(index, true, backwards) {
		return nil, nil
	}
	log, err := v.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: []byte{recordSpace}, UpperBound: recordKey(v.head + 1)})
	if err != nil {
		return nil, v.log.readError(0, err)
	}
	defer func() { _ = log.Close() }()
	var records []Record
	size := 0
	for valid := true; valid && len(records) < page.Records && (size < page.Bytes || len(records) == 0); valid = stepIterator(index, false, backwards) {
		if len(index.Value()) != 8 {
			return nil, &CorruptError{Dir: v.log.dir, Reason: fmt.Sprintf("the index of stream %q cannot be read", stream)}
		}
		position := binary.BigEndian.Uint64(index.Value())
		if !log.SeekGE(recordKey(position)) {
			if err := log.Error(); err != nil {
				return nil, v.log.readError(position, err)
			}
			return nil, &CorruptError{Dir: v.log.dir, Position: position, Reason: "the record is missing"}
		}
		record, err := v.parse(log)
		if err != nil {
			return nil, err
		}
		if record.Position != position {
			return nil, &CorruptError{Dir: v.log.dir, Position: position, Reason: "the record is missing"}
		}
		size += len(record.Data) + len(record.Metadata)
		records = append(records, record)
	}
	return records, nil
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

// parse returns a copy of the record at the iterator.
func (v *View) parse(i *pebble.Iterator) (Record, error) {
	position := binary.BigEndian.Uint64(i.Key()[1:])
	value, err := i.ValueAndErr()
	if err != nil {
		return Record{}, v.log.readError(position, err)
	}
	s, err := parseRecord(append(make([]byte, 0, len(value)), value...))
	if err != nil || s.Position != position {
		return Record{}, &CorruptError{Dir: v.log.dir, Position: position, Reason: "the record cannot be read", Err: err}
	}
	return s.Record, nil
}

// Event reads one event of a stream as a read would show it; false when it is hidden,
// deleted or absent.
func (v *View) Event(stream string, revision uint64) (Record, bool, error) {
	info, err := v.Stream(stream)
	if err != nil || info.Tombstoned || !info.Exists() || revision < info.First || revision > uint64(info.Last) {
		return Record{}, false, err
	}
	record, err := v.log.recordAt(v.snapshot, stream, revision)
	return record, err == nil, err
}

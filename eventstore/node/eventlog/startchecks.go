package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sort"

	"github.com/cockroachdb/pebble/v2"
)

// wrongEnds checks that every sealed segment is there and ends where the index has the
// end of its last record: a segment that was removed or cut while the log was closed would
// be met only by a read. It takes a look into the index for each segment.
func (l *Log) wrongEnds() iter.Seq[error] {
	return func(yield func(error) bool) {
		segments := *l.segments.Load()
		if err := l.findGone(segments, yield); err != nil {
			if errors.Is(err, errEnough) || !yield(err) {
				return
			}
		}
		for i, s := range segments[:len(segments)-1] {
			if err := l.checkEnd(segments, s, segments[i+1].base); err != nil && !yield(err) {
				return
			}
		}
	}
}

var errEnough = errors.New("no more is asked for")

// findGone yields the damage of each segment that the index knows of and that is not in the folder.
func (l *Log) findGone(segments segmentList, yield func(error) bool) (err error) {
	iterator, err := l.index.NewIter(&pebble.IterOptions{LowerBound: []byte{segmentSpace}, UpperBound: []byte{segmentSpace + 1}})
	if err != nil {
		return l.indexError(err)
	}
	defer func() {
		if closed := iterator.Close(); closed != nil && err == nil {
			err = l.indexError(closed)
		}
	}()
	for valid := iterator.First(); valid; valid = iterator.Next() {
		base := positionOf(iterator.Key())
		i := sort.Search(len(segments), func(i int) bool { return segments[i].base >= base })
		if i < len(segments) && segments[i].base == base {
			continue
		}
		gone := &segment{base: base, path: filepath.Join(l.dir, segmentFolder, segmentName(base))}
		if !yield(gone.gone(l.dir)) {
			return errEnough
		}
	}
	return nil
}

// checkEnd checks that a sealed segment ends with the position last.
func (l *Log) checkEnd(segments segmentList, s *segment, last uint64) error {
	value, err := l.readValue(l.index, positionKey(last))
	if err != nil {
		return err
	}
	c := s.current()
	at, ok := parsePositionPlace(last, value)
	if ok && last > s.base && (at.end() == c.end.Load() || c.scavenged) {
		return nil
	}
	_, err = scanSegments(context.Background(), l.dir, segments, once, cursor{s.base, s.link, segmentHeader}, last, func(*stored, place) error { return nil })
	return err
}

// probeBytes must be free on the disk at a start: as much as a group of appends takes.
const probeBytes = 256 << 10

// probeDisk writes and removes a file, so that a disk that is full ends the start, and not
// the first append.
func (l *Log) probeDisk() error {
	path := filepath.Join(l.dir, segmentFolder, "space"+draftSuffix) // one that is left is removed like other drafts
	f, err := l.files.create(path)
	if err == nil {
		_, err = f.WriteAt(make([]byte, probeBytes), 0)
		err = errors.Join(err, f.sync(), f.Close())
		err = errors.Join(err, l.files.remove(path))
	}
	return l.storageErrorOrNil(fmt.Sprintf("write a file of %d KiB", probeBytes>>10), err)
}

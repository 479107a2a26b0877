package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/google/uuid"
)

// segmentList is the segments of a log in order. It is never changed: a new tail makes a new list.
type segmentList []*segment

// find returns the segment that holds the position.
func (l segmentList) find(position uint64) *segment {
	i := sort.Search(len(l), func(i int) bool { return l[i].base >= position })
	return l[max(0, i-1)]
}

func (l segmentList) tail() *segment { return l[len(l)-1] }

// bytes is the size of all segments.
func (l segmentList) bytes() (n int64) {
	for _, s := range l {
		n += s.end.Load()
	}
	return n
}

// loadSegments reads the headers of all segments and checks that they belong together.
// drafts are files of a segment that was being made; they hold no record.
func loadSegments(files fileSystem, dir string) (id uuid.UUID, segments segmentList, drafts []string, err error) {
	names, err := files.list(filepath.Join(dir, segmentFolder))
	if err != nil {
		return id, nil, nil, fmt.Errorf("list the segments of the event log: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, segmentFolder, name)
		if strings.HasSuffix(name, draftSuffix) {
			drafts = append(drafts, path)
			continue
		}
		base, ok := segmentBase(name)
		if !ok {
			continue // not a file of the log
		}
		s, owner, err := loadSegment(files, dir, path)
		if err != nil {
			return id, nil, nil, errors.Join(err, segments.close())
		}
		segments = append(segments, s)
		if len(segments) == 1 {
			id = owner
		}
		damaged := func(reason string) error {
			position := base + 1
			if n := len(segments); n > 1 {
				position = min(position, segments[n-2].base+1)
			}
			return errors.Join(&CorruptError{Dir: dir, Position: max(1, position), File: s.name(), Reason: reason}, segments.close())
		}
		switch {
		case s.base != base:
			return id, nil, nil, damaged(fmt.Sprintf("the segment's header says base %d", s.base))
		case owner != id:
			return id, nil, nil, damaged("the segment is one of another log")
		case len(segments) == 1 && (base != 0 || s.link != genesisOf(id)):
			return id, nil, nil, errors.Join(&CorruptError{Dir: dir, Position: 1, File: s.name(), Reason: "the segments before this one are missing"}, segments.close())
		}
	}
	return id, segments, drafts, nil
}

func loadSegment(files fileSystem, dir, path string) (*segment, uuid.UUID, error) {
	s := &segment{path: path, files: files}
	named, _ := segmentBase(filepath.Base(path))
	var id uuid.UUID
	var reason string
	err := s.use(false, func(f file) error {
		size, err := f.size()
		if err != nil {
			return err
		}
		header := make([]byte, min(size, segmentHeader))
		if _, err := f.ReadAt(header, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s.end.Store(size)
		id, s.base, s.link, s.seed, reason = parseSegmentHeader(header)
		return nil
	})
	if err != nil {
		return nil, id, fmt.Errorf("read segment %s: %w", path, err)
	}
	if reason != "" {
		return nil, id, &CorruptError{Dir: dir, Position: named + 1, File: s.name(), Reason: reason}
	}
	return s, id, nil
}

func (l segmentList) close() error {
	var errs []error
	for _, s := range l {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// cursor is a place between two records.
type cursor struct {
	position uint64 // of the record before
	link     hash   // of the record before
	offset   int64  // where the record before ends, in the segment that holds it
}

// scanSegments calls visit for every record after the cursor, up to position last, in
// order, and checks each against the one before. Each segment must end where the next one
// begins. The record is overwritten by later calls. Damage is a *CorruptError.
func scanSegments(ctx context.Context, dir string, segments segmentList, from cursor, last uint64, visit func(*stored, place) error) (cursor, error) {
	for i, s := range segments {
		if i+1 < len(segments) && segments[i+1].base <= from.position || from.position >= last {
			continue
		}
		err := s.use(i < maxOpenSegments, func(f file) error {
			scan := s.scanner(f, s.end.Load())
			switch {
			case s.base != from.position:
				scan.offset, scan.position, scan.link = from.offset, from.position, from.link
			case s.link != from.link:
				return &badRecord{s.base + 1, 0, "the segment does not continue the hash chain"}
			}
			newest := scan.offset // of the newest record
			for scan.position < last {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, at, err := scan.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return err
				}
				newest = at.offset
				if err := visit(&r, at); err != nil {
					return err
				}
			}
			from = cursor{scan.position, scan.link, scan.offset}
			if i+1 < len(segments) && from.position == segments[i+1].base {
				switch {
				case scan.offset != scan.limit:
					return &badRecord{from.position + 1, scan.offset, "bytes follow the last record of a sealed segment"}
				case scan.link != segments[i+1].link:
					return &badRecord{from.position, newest, "the record is not the one that the next segment continues"}
				}
			}
			if from.position < last && i+1 < len(segments) && segments[i+1].base != from.position {
				return &badRecord{min(segments[i+1].base, from.position) + 1, from.offset, fmt.Sprintf("the segment ends with position %d; the next one begins after position %d", from.position, segments[i+1].base)}
			}
			return nil
		})
		var bad *badRecord
		if errors.As(err, &bad) {
			return from, s.damage(dir, err)
		}
		if err != nil {
			return from, err
		}
	}
	if from.position < last {
		tail := segments.tail()
		return from, &CorruptError{Dir: dir, Position: from.position + 1, File: tail.name(), Offset: tail.end.Load(), Reason: "acknowledged records are missing at the end of the log"}
	}
	return from, nil
}

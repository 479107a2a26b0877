package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
		n += s.current().end.Load()
	}
	return n
}

// loadSegments reads the headers of all segments and checks that they belong together.
// drafts are files of a segment that was being made; they hold no record.
func loadSegments(files fileSystem, dir string) (id uuid.UUID, segments segmentList, drafts []string, err error) {
	names, err := files.list(filepath.Join(dir, segmentFolder))
	if err != nil {
		return id, nil, nil, &StorageError{Dir: dir, Operation: "list the segments", Err: err, Opening: true}
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
		s, err := loadSegment(files, dir, path)
		if err != nil {
			return id, nil, nil, errors.Join(err, segments.close())
		}
		segments = append(segments, s)
		if len(segments) == 1 {
			id = s.id
		}
		damaged := func(reason string) error {
			return errors.Join(&CorruptError{Dir: dir, Position: base + 1, File: s.name(), Reason: reason}, segments.close())
		}
		switch {
		case s.base != base:
			return id, nil, nil, damaged(fmt.Sprintf("the segment's header says base %d", s.base))
		case s.id != id:
			return id, nil, nil, damaged("the segment is one of another log")
		case len(segments) == 1 && (base != 0 || s.link != genesisOf(id)):
			return id, nil, nil, errors.Join(&CorruptError{Dir: dir, Position: 1, File: s.name(), Reason: "the segments before this one are missing"}, segments.close())
		}
	}
	return id, segments, drafts, nil
}

// loadSegment reads the header of a segment.
func loadSegment(files fileSystem, dir, path string) (*segment, error) {
	named, _ := segmentBase(filepath.Base(path))
	s := &segment{path: path, files: files}
	f, err := files.open(path)
	if err != nil {
		return nil, &StorageError{Dir: dir, Operation: "open a segment", Err: err, Opening: true}
	}
	header := make([]byte, segmentHeader)
	n, err := f.ReadAt(header, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(&StorageError{Dir: dir, Operation: "read a segment", Err: err, Opening: true}, f.Close())
	}
	h, reason := parseSegmentHeader(header[:n])
	if reason != "" {
		return nil, errors.Join(&CorruptError{Dir: dir, Position: named + 1, File: s.name(), Reason: reason}, f.Close())
	}
	s.base, s.link, s.id = h.base, h.link, h.id
	if s.now, err = s.adopt(f); err != nil {
		return nil, s.damage(dir, err)
	}
	return s, f.Close()
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
	offset   int64  // where the record before ended when it was written, in the segment that holds it
}

// scanSegments calls visit for every record after the cursor, up to position last, in
// order, and checks each against the one before. how says how the segments are opened. Each
// segment must end where the next one begins. The record is overwritten by later calls. Damage is a *CorruptError.
func scanSegments(ctx context.Context, dir string, segments segmentList, how opening, from cursor, last uint64, visit func(*stored, place) error) (cursor, error) {
	for i, s := range segments {
		if i+1 < len(segments) && segments[i+1].base <= from.position || from.position >= last {
			continue
		}
		how := how
		if how == keep && i >= keptSegments() {
			how = once
		}
		err := s.use(how, func(o opened) error {
			scan := o.scanner(o.end.Load())
			after := from // visits begin behind it
			switch {
			case s.base == from.position && s.link != from.link:
				return &badRecord{position: s.base + 1, reason: "the segment does not continue the hash chain"}
			case s.base != from.position && !o.scavenged:
				scan.offset, scan.written, scan.position, scan.link = from.offset, from.offset, from.position, from.link
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
				newest = r.offset
				if r.Position <= after.position {
					if r.Position == after.position && r.Link != after.link {
						return &badRecord{position: r.Position, offset: r.offset, reason: "the record is not the one that was expected there"}
					}
					continue
				}
				if err := visit(&r, at); err != nil {
					return err
				}
			}
			from = cursor{scan.position, scan.link, scan.written}
			if i+1 < len(segments) && from.position == segments[i+1].base {
				switch {
				case scan.offset != scan.limit:
					return &badRecord{position: from.position + 1, offset: scan.offset, reason: "bytes follow the last record of a sealed segment"}
				case scan.link != segments[i+1].link:
					return &badRecord{position: from.position, offset: newest, reason: "the record is not the one that the next segment continues"}
				}
			}
			if from.position < last && i+1 < len(segments) && segments[i+1].base != from.position {
				return &badRecord{position: min(segments[i+1].base, from.position) + 1, offset: scan.offset, reason: fmt.Sprintf("the segment ends with position %d; the next one begins after position %d", from.position, segments[i+1].base)}
			}
			return nil
		})
		var bad *badRecord
		if errors.As(err, &bad) || errors.Is(err, fs.ErrNotExist) {
			return from, s.damage(dir, err)
		}
		if err != nil {
			return from, err
		}
	}
	if from.position < last {
		tail := segments.tail()
		return from, &CorruptError{Dir: dir, Position: from.position + 1, File: tail.name(), Offset: tail.current().end.Load(), Reason: "acknowledged records are missing at the end of the log"}
	}
	return from, nil
}

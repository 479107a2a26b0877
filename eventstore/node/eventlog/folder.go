package eventlog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

// What can be done with the folder of a log that is not open here. A running node may have
// it open, but for Reindex.

// folderState is what is on the disk at one moment, while a node may be writing.
type folderState struct {
	id       uuid.UUID
	segments segmentList
	mark     headMark
	markErr  error      // errNoHeadFile or errBadHeadFile
	indexed  indexState // zero when there is no index, or one of another log
}

// checkEnd checks that the log, which ends at end, lacks nothing that was acknowledged: what
// the head file names is there, and what the index holds.
func (s *folderState) checkEnd(dir string, end cursor) error {
	if err := checkHeadMark(dir, s.mark, s.markErr, s.id, s.segments); err != nil {
		return err
	}
	if s.indexed.id != s.id {
		return nil
	}
	return s.indexed.beyond(dir, end, s.segments)
}

// scanTail reads the newest segment, whatever the head file is worth: checkEnd says that.
func (s *folderState) scanTail(dir string, visit func(stored, place)) (tailScan, error) {
	tail, mark := s.segments.tail(), s.mark
	if s.markErr != nil || mark.id != s.id {
		mark = headMark{id: s.id, position: tail.base, link: tail.link}
	}
	return scanTail(dir, tail, mark, visit)
}

// readFolder reads how far the index reaches, the head file and the headers of the segments,
// these last, so that neither is ahead of the segments' end when a node writes meanwhile.
func readFolder(dir string) (s folderState, err error) {
	if err := refuseFolder(dir); err != nil {
		return s, err
	}
	indexed, _ := readIndexState(dir, vfs.Default)
	files := readOnlyFiles{}
	const looks = 10 // each meets a segment that is being sealed only by chance
	for look := range looks {
		s = folderState{indexed: indexed}
		if s.mark, s.markErr = readHeadMark(files, dir); s.markErr != nil && !errors.Is(s.markErr, errNoHeadFile) && !errors.Is(s.markErr, errBadHeadFile) {
			return s, &StorageError{Dir: dir, Operation: "read the head file", Err: s.markErr, Opening: true}
		}
		if s.id, s.segments, _, err = loadSegments(files, dir); err != nil {
			return s, err
		}
		if len(s.segments) == 0 {
			if whole, err := isWhole(vfs.Default, filepath.Join(dir, indexFolder)); !errors.Is(s.markErr, errNoHeadFile) || err == nil && whole {
				return s, segmentsGone(dir)
			}
			return s, noSegments(dir)
		}
		if s.markErr != nil || s.mark.position >= s.segments.tail().base || look == looks-1 {
			return s, nil
		}
		if err := s.segments.close(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// noSegments says of a folder without segments that it is no log, or that there is no such folder.
func noSegments(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return &FormatError{Dir: dir, Reason: "there is no such folder"}
	}
	return &FormatError{Dir: dir, Reason: "it has no segments: name the folder that holds " + headFileName + " and " + segmentFolder + "/"}
}

// VerifyFolder reads every record in the folder, recomputes the hash chain, and compares it
// with the head file, with the end of the index where there is one, and, if anchor is not nil,
// with the anchor. It changes nothing; the rest of the index is not read, for all of it can
// be built again. After an error the report says how
// far the log verifies. Errors: *CorruptError, *AnchorError, *FormatError, *StorageError, that
// of ctx, or one of the file system.
func VerifyFolder(ctx context.Context, dir string, anchor *Anchor) (Report, error) {
	var anchors []Anchor
	if anchor != nil {
		anchors = append(anchors, *anchor)
	}
	return ReadFolder(ctx, dir, anchors, func(*Record) error { return nil })
}

// ReadFolder is VerifyFolder that calls visit for every record, in order and once it has verified, and compares the log with
// several anchors. The record is overwritten by later calls; an error of visit ends the reading.
func ReadFolder(ctx context.Context, dir string, anchors []Anchor, visit func(*Record) error) (Report, error) {
	folder, err := readFolder(dir)
	if err != nil {
		return reportUpTo(ctx, dir, err)
	}
	defer func() { _ = folder.segments.close() }() // they were only read
	genesis := genesisOf(folder.id)
	v := folderVerification{segments: folder.segments, anchors: NewAnchors(anchors), visit: visit, report: Report{LogID: folder.id, Segments: len(folder.segments), Bytes: folder.segments.bytes()}, streams: map[string]nextRevision{}}
	v.reached(0, genesis)
	tail := folder.segments.tail()
	if _, err = scanSegments(ctx, dir, folder.segments, once, cursor{link: genesis}, tail.base, func(r *stored, _ place) error { return v.record(dir, r) }); err != nil {
		return v.report, err
	}
	var failed error
	found, err := folder.scanTail(dir, func(r stored, _ place) {
		if failed == nil {
			failed = v.record(dir, &r)
		}
	})
	v.report.Unfinished = found.torn
	if err = errors.Join(failed, err); err != nil {
		return v.report, err
	}
	if err := folder.checkEnd(dir, found.end); err != nil {
		return v.report, err
	}
	return v.report, v.anchors.Check(dir, v.report.LogID, v.report.Records)
}

// reportUpTo returns the error with a report of how far the log verifies, when the error is
// damage: every record up to the report's position is right.
func reportUpTo(ctx context.Context, dir string, err error) (Report, error) {
	var damage *CorruptError
	if !errors.As(err, &damage) {
		return Report{}, err
	}
	files := readOnlyFiles{}
	names, listErr := files.list(filepath.Join(dir, segmentFolder))
	if listErr != nil {
		return Report{}, err
	}
	slices.Sort(names)
	v := folderVerification{anchors: NewAnchors(nil), streams: map[string]nextRevision{}, visit: func(*Record) error { return nil }}
	var end hash
	for _, name := range names {
		if _, isSegment := segmentBase(name); !isSegment {
			continue
		}
		s, loadErr := loadSegment(files, dir, filepath.Join(dir, segmentFolder, name))
		if loadErr != nil {
			break
		}
		if len(v.segments) == 0 {
			v.report.LogID, end = s.id, genesisOf(s.id)
		}
		if s.base != v.report.Records || s.link != end || s.id != v.report.LogID {
			break
		}
		v.segments = append(v.segments, s)
		v.report.Segments, v.report.Bytes = len(v.segments), v.segments.bytes()
		stopped := s.use(once, func(o opened) error {
			for scan := o.scanner(o.end.Load()); ; {
				r, _, nextErr := scan.next()
				if errors.Is(nextErr, io.EOF) {
					return ctx.Err()
				}
				if nextErr == nil {
					nextErr = v.record(dir, &r)
				}
				if nextErr != nil {
					return nextErr
				}
				end = r.Link
			}
		})
		if stopped != nil {
			break
		}
	}
	return v.report, err
}

// nextRevision is what a stream may have next.
type nextRevision struct {
	revision   uint64
	tombstoned bool
}

type folderVerification struct {
	segments segmentList
	anchors  *Anchors
	visit    func(*Record) error
	report   Report
	streams  map[string]nextRevision
}

func (v *folderVerification) reached(position uint64, link hash) {
	v.report.Records, v.report.Chain = position, hex.EncodeToString(link[:])
	v.anchors.Reached(position, link)
}

// record takes a record that continues the chain, and checks that its revision is the next one.
func (v *folderVerification) record(dir string, r *stored) error {
	next := v.streams[r.Stream]
	switch {
	case next.tombstoned, r.Revision != TombstoneRevision && r.Revision != next.revision:
		return &CorruptError{Dir: dir, Position: r.Position, File: v.segments.find(r.Position).name(), Offset: r.offset,
			Reason: fmt.Sprintf("stream %s has revision %d where %d belongs", Quoted(r.Stream), r.Revision, next.revision)}
	case r.Revision == TombstoneRevision:
		next.tombstoned = true
	default:
		next.revision++
	}
	v.streams[r.Stream] = next
	v.report.Streams = uint64(len(v.streams))
	if r.Redacted {
		v.report.Redacted++
	}
	v.reached(r.Position, r.Link)
	return v.visit(&r.Record)
}

// Reindex builds the index of a log that no node has open from its segments, and verifies
// all of it. With acceptEnd it first makes the head file anew from the end of the segments:
// whatever is missing there is given up. Without, it refuses a log that ends before its index.
// After damage the report says how far the log verifies.
func Reindex(ctx context.Context, o Options, acceptEnd bool) (Report, error) {
	report, err := reindex(ctx, o.withDefaults(), acceptEnd)
	if err != nil {
		return reportUpTo(ctx, o.Dir, err)
	}
	return report, nil
}

func reindex(ctx context.Context, o Options, acceptEnd bool) (Report, error) {
	folder, err := readFolder(o.Dir)
	if err != nil {
		return Report{}, err
	}
	err = folder.segments.close()
	if err == nil && acceptEnd {
		err = acceptTail(o, folder)
	}
	if err != nil {
		return Report{}, err
	}
	o.verify = &verification{delay: 1 << 60, pause: 1 << 60, bytesPerSecond: 1}
	o.rebuild, o.acceptEnd = true, acceptEnd
	l, err := Open(o)
	if err != nil {
		return Report{}, err
	}
	report, err := l.Verify(ctx)
	closed := l.Close()
	if first := l.Err(); first != nil { // what came after it follows from it
		return report, first
	}
	return report, errors.Join(err, closed)
}

func withLock(dir string, do func() error) error {
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Close())
}

// acceptTail makes the head file name the newest whole append of the segments.
func acceptTail(o Options, folder folderState) error {
	return withLock(o.Dir, func() error {
		s := folder.segments.tail()
		found, err := scanTail(o.Dir, s, headMark{id: folder.id, position: s.base, link: s.link}, func(stored, place) {})
		if err != nil {
			return err
		}
		head, err := writeNew(o.files, filepath.Join(o.Dir, headFileName), headMark{folder.id, found.end.position, found.end.link}.encode())
		if err != nil {
			return &StorageError{Dir: o.Dir, Operation: "make the head file", Err: err, Opening: true}
		}
		return errors.Join(head.Close(), s.close())
	})
}

package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/uuid"
)

// tailState is what the writer must know of the log that was opened.
type tailState struct {
	end          cursor // after the newest record
	createdTicks int64  // of the newest record
	recent       *recentIDs
}

// openSegments opens the segments, or makes the first one, checks the end of the log
// against the head file, and removes the rest of a write that was never acknowledged.
func (l *Log) openSegments(o Options) (tailState, error) {
	id, segments, drafts, err := loadSegments(l.files, l.dir)
	if err != nil {
		return tailState{}, err
	}
	mark, err := readHeadMark(l.files, l.dir)
	if err != nil && !errors.Is(err, errNoHeadFile) && !errors.Is(err, errBadHeadFile) {
		return tailState{}, errors.Join(l.storageError("read the head file", err), segments.close())
	}
	for _, draft := range drafts {
		if err := l.files.remove(draft); err != nil {
			return tailState{}, errors.Join(l.storageError("remove an unfinished segment", err), segments.close())
		}
	}
	if len(segments) == 0 {
		if !errors.Is(err, errNoHeadFile) {
			return tailState{}, segmentsGone(l.dir)
		}
		// the index of a new log is made after its first segment
		switch whole, err := isWhole(o.indexFiles, filepath.Join(l.dir, indexFolder)); {
		case err != nil:
			return tailState{}, l.storageError("look at the index", err)
		case whole:
			return tailState{}, segmentsGone(l.dir)
		}
		var failed error
		if segments, id, failed = l.createLog(o.Random); failed != nil {
			return tailState{}, failed
		}
	}
	l.id, l.genesis = id, genesisOf(id)
	l.segments.Store(&segments)
	for _, s := range segments {
		if s.current().scavenged {
			l.scavenged.Store(true)
		}
	}
	if errors.Is(err, errNoHeadFile) && len(segments) == 1 && segments[0].current().end.Load() == segmentHeader {
		// a log that is being made: the head file comes after its first segment
		mark = headMark{id: id, link: l.genesis}
		if l.headFile, err = writeNew(l.files, filepath.Join(l.dir, headFileName), mark.encode()); err != nil {
			return tailState{}, l.storageError("make the head file", err)
		}
	}
	if err := checkHeadMark(l.dir, mark, err, id, segments); err != nil {
		return tailState{}, err
	}
	if l.known, err = l.checkRemembered(segments); err != nil {
		return tailState{}, err
	}
	if l.headFile == nil {
		if l.headFile, err = l.files.open(filepath.Join(l.dir, headFileName)); err != nil {
			return tailState{}, l.storageError("open the head file", err)
		}
	}
	if l.headState, err = l.headFile.stat(); err != nil {
		return tailState{}, l.storageError("look at the head file", err)
	}
	// names that a sync of the folder was refused for are still seen, and would go with the power
	for _, folder := range []string{l.dir, filepath.Join(l.dir, segmentFolder)} {
		if err := l.files.syncFolder(folder); err != nil {
			return tailState{}, l.storageError("sync the folder of the log", err)
		}
	}
	return l.recoverTail(mark)
}

// createLog makes the first segment of a new log.
func (l *Log) createLog(random io.Reader) (segmentList, uuid.UUID, error) {
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return nil, id, fmt.Errorf("make a log id: %w", err)
	}
	if err := l.files.makeFolder(filepath.Join(l.dir, segmentFolder)); err != nil {
		return nil, id, l.storageError("make the folder of the segments", err)
	}
	s, err := createSegment(l.files, l.dir, id, 0, genesisOf(id))
	if err != nil {
		return nil, id, l.storageError("make the first segment", err)
	}
	return segmentList{s}, id, nil
}

const acceptEndAdvice = "keep a copy of the folder; restore it from a backup, or, if `reckon node verify` finds all that you expect, give up what may be missing at the end with `reckon node reindex --accept-end`"

// checkHeadMark checks what the head file says against the headers of the segments.
func checkHeadMark(dir string, mark headMark, read error, id uuid.UUID, segments segmentList) error {
	damaged := func(reason string) error {
		return &CorruptError{Dir: dir, File: headFileName, Reason: reason + ", so that nobody knows whether acknowledged records are missing at the end", Advice: acceptEndAdvice}
	}
	switch {
	case errors.Is(read, errNoHeadFile):
		return damaged("the file that names the newest record is missing")
	case errors.Is(read, errBadHeadFile):
		return damaged("the file that names the newest record has a wrong checksum")
	case mark.id != id:
		return damaged("the file names the newest record of another log")
	case mark.position == segments.tail().base && mark.link != segments.tail().link:
		return damaged("the file names another record than the newest segment continues")
	case mark.position < segments.tail().base:
		return damaged(fmt.Sprintf("the file names position %d as the newest record, older than the newest segment", mark.position))
	}
	return nil
}

// tailScan is what a scan of the newest segment found. Offsets are of the file.
type tailScan struct {
	end  cursor // after the newest whole append
	mark cursor // after the record that the head file names
	torn int64  // bytes after end: a write that was never finished
}

// scanTail reads the newest segment up to its end. A record that was acknowledged and does
// not verify is a *CorruptError. visit is called for the records of whole appends.
func scanTail(dir string, s *segment, mark headMark, visit func(stored, place)) (tailScan, error) {
	var result tailScan
	err := s.use(keep, func(f opened) error {
		state, err := f.stat()
		if err != nil {
			return s.damage(dir, s.readError(s.base+1, 0, err))
		}
		size := state.size
		scan := f.scanner(size)
		result.end = cursor{scan.position, scan.link, scan.offset}
		if mark.position == s.base {
			result.mark = result.end
		}
		type pending struct {
			record stored
			at     place
		}
		var unfinished []pending // of an append whose last record has not come
		for {
			r, at, err := scan.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if err := classifyTail(dir, s, f, size, mark, err); err != nil {
					return err
				}
				break
			}
			if r.Position == mark.position {
				if r.Link != mark.link || !r.last {
					return &CorruptError{Dir: dir, Position: r.Position, File: s.name(), Offset: r.offset, Reason: "the record is not the one that was acknowledged: the file " + headFileName + " names another"}
				}
				result.mark = cursor{r.Position, r.Link, scan.offset}
			}
			r.own()
			unfinished = append(unfinished, pending{r, at})
			if !r.last {
				continue
			}
			result.end = cursor{r.Position, r.Link, scan.offset}
			for _, p := range unfinished {
				visit(p.record, p.at)
			}
			unfinished = unfinished[:0]
		}
		if result.end.position < mark.position {
			return &CorruptError{Dir: dir, Position: result.end.position + 1, File: s.name(), Offset: result.end.offset, Reason: "acknowledged records are missing at the end of the log"}
		}
		result.torn = size - result.end.offset
		return nil
	})
	return result, err
}

// own drops or copies what refers to memory that the scanner overwrites.
func (s *stored) own() {
	s.header, s.payload, s.Metadata, s.Data = nil, nil, bytes.Clone(s.Metadata), bytes.Clone(s.Data)
}

// classifyTail returns nil when a bad record in the newest segment is the rest of a write
// that was never acknowledged.
func classifyTail(dir string, s *segment, f opened, size int64, mark headMark, err error) error {
	var bad *badRecord
	if !errors.As(err, &bad) {
		return s.damage(dir, err)
	}
	if bad.position <= mark.position || bad.cause != nil { // what cannot be read may have been acknowledged
		return s.damage(dir, bad)
	}
	rest := make([]byte, size-bad.offset)
	if _, err := f.ReadAt(rest, bad.offset); err != nil && !errors.Is(err, io.EOF) {
		return s.damage(dir, s.readError(bad.position, bad.offset, err))
	}
	if provesDurable(f.seed, rest, bad.position) {
		return s.damage(dir, bad)
	}
	return nil
}

// recoverTail brings the log to its last whole append and collects the ids of the recent window.
func (l *Log) recoverTail(mark headMark) (tailState, error) {
	segments := *l.segments.Load()
	state := tailState{recent: newRecentIDs(l.recentRecords)}
	type seen struct {
		record stored
		size   int
	}
	var tail []seen
	found, err := scanTail(l.dir, segments.tail(), mark, func(r stored, at place) {
		if len(tail) == 2*l.recentRecords { // the window is in the second half
			tail = append(tail[:0], tail[l.recentRecords:]...)
		}
		r.Metadata, r.Data = nil, nil // many records are kept
		tail = append(tail, seen{r, int(at.length) - frameHeader})
	})
	if err != nil {
		return state, err
	}
	if err := l.settle(segments.tail(), found); err != nil {
		return state, err
	}
	remember := func(r *stored, size int) {
		state.createdTicks = r.CreatedTicks
		state.recent.add(r.ID, r.Stream, recordedAt{r.Revision, r.Position}, size)
	}
	// the window may begin before the tail
	size := 0
	for i := range tail {
		size += tail[i].size
	}
	first := len(segments) - 1
	// without appends nobody asks for the window
	for records := uint64(len(tail)); l.known == nil && first > 0 && records < uint64(l.recentRecords) && size < recentBytes; {
		first--
		records += segments[first+1].base - segments[first].base
		size += int(segments[first].current().end.Load())
	}
	if first < len(segments)-1 {
		before := segments[first]
		from := cursor{before.base, before.link, segmentHeader}
		_, err := scanSegments(context.Background(), l.dir, segments, keep, from, segments.tail().base, func(r *stored, at place) error {
			remember(r, int(at.length)-frameHeader)
			return nil
		})
		if err != nil {
			return state, err
		}
	}
	for i := range tail {
		remember(&tail[i].record, tail[i].size)
	}
	state.end = found.end
	return state, nil
}

// settle removes the rest of an unfinished write and makes what follows the acknowledged
// records durable. It writes these records again: when a sync failed, the system may take
// pages for written that are not on the disk.
func (l *Log) settle(s *segment, found tailScan) error {
	return s.use(keep, func(f opened) error {
		if found.torn > 0 {
			l.logger.Warn("removing the rest of a write that was never acknowledged", "file", s.path, "after position", found.end.position, "bytes", found.torn)
			if err := f.truncate(found.end.offset); err != nil {
				return l.storageError("remove the rest of an unfinished write", err)
			}
		}
		if n := found.end.offset - found.mark.offset; n > 0 {
			again := make([]byte, n)
			if _, err := f.ReadAt(again, found.mark.offset); err != nil && !errors.Is(err, io.EOF) {
				return s.damage(l.dir, s.readError(found.mark.position+1, found.mark.offset, err))
			}
			if _, err := f.WriteAt(again, found.mark.offset); err != nil {
				return l.storageError("write the end of the log again", err)
			}
		}
		if err := f.sync(); err != nil {
			return l.storageError("sync the newest segment", err)
		}
		f.end.Store(found.end.offset)
		mark := headMark{l.id, found.end.position, found.end.link}
		if _, err := l.headFile.WriteAt(mark.encode(), 0); err != nil {
			return l.storageError("write the head file", err)
		}
		return nil
	})
}

// segmentsGone is the damage of a folder that has the head file or the index of a log, and no segment.
func segmentsGone(dir string) error {
	return &CorruptError{Dir: dir, Position: 1, File: segmentFolder, Reason: "the segments are gone from a folder that held a log; bring them back, or remove " + headFileName + " and the index to begin another log"}
}

package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
)

// A damaged record of an old segment would be met again only when it is read, and a start
// reads the newest segments alone. So the place is written down, and looked at by the next start.

// damageName is the file that names the damage that was found.
const damageName = "DAMAGE"

const maxDamageBytes = 4 << 10

// rememberDamage writes the place down, as well as it can: the log is ending over worse.
func (l *Log) rememberDamage(damage *CorruptError) {
	if filepath.Dir(damage.File) != segmentFolder || damage.Position == 0 || damage.Position > l.segments.Load().tail().base {
		return // every start looks at these files
	}
	text, _ := json.Marshal(map[string]any{"position": damage.Position, "file": damage.File, "byte": damage.Offset, "reason": damage.Reason}) // plain values always encode
	f, err := writeNew(l.files, filepath.Join(l.dir, damageName), append(text, '\n'))
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		l.logger.Warn("the damage could not be written down: verify the log before the next start", "file", filepath.Join(l.dir, damageName), "error", err)
	}
}

// checkRemembered reads the segment again that was found damaged before. Damage that is
// still there refuses the start; a segment that was restored is taken.
func (l *Log) checkRemembered(segments segmentList) error {
	path := filepath.Join(l.dir, damageName)
	f, err := l.files.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return l.storageError("read the file "+damageName, err)
	}
	b := make([]byte, maxDamageBytes)
	n, err := f.ReadAt(b, 0)
	if err = errors.Join(dropEOF(err), f.Close()); err != nil {
		return l.storageError("read the file "+damageName, err)
	}
	var was struct{ Position uint64 }
	if err := json.Unmarshal(b[:n], &was); err == nil && was.Position > 0 && was.Position <= segments.tail().base {
		s := segments.find(was.Position)
		next := segments[0].base
		for _, other := range segments {
			if next = other.base; next >= was.Position {
				break
			}
		}
		_, err := scanSegments(context.Background(), l.dir, segments, once, cursor{s.base, s.link, segmentHeader}, next, func(*stored, place) error { return nil })
		var damage *CorruptError
		if errors.As(err, &damage) {
			when := ""
			if damage.Err != nil {
				when = "start again when the disk gives the bytes, which takes nothing away; else "
			}
			damage.Advice = when + "restore the folder from a backup, or, to have the other records, remove the file " + damageName + " and start again: whoever reads that record is told, and the log then takes no more appends"
		}
		if err != nil {
			return err
		}
	}
	l.logger.Info("the place that was found damaged verifies again", "folder", l.dir, "position", was.Position)
	if err := l.files.remove(path); err != nil {
		return l.storageError("remove the file "+damageName, err)
	}
	return nil
}

func dropEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// checkSealedEnds checks that every sealed segment is there and ends where the index has the
// end of its last record: a segment that was removed or cut while the log was closed would
// be met only by a read. It takes a look into the index for each segment.
func (l *Log) checkSealedEnds() error {
	segments := *l.segments.Load()
	for i, s := range segments[:len(segments)-1] {
		last := segments[i+1].base
		value, err := l.readValue(l.index, positionKey(last))
		if err != nil {
			return err
		}
		c := s.current()
		at, ok := parsePositionPlace(last, value)
		if ok && last > s.base && (at.end() == c.end.Load() || c.scavenged) {
			continue
		}
		if _, err := scanSegments(context.Background(), l.dir, segments, once, cursor{s.base, s.link, segmentHeader}, last, func(*stored, place) error { return nil }); err != nil {
			return err
		}
	}
	return nil
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
	return l.storageErrorOrNil("write a file of 256 KiB", err)
}

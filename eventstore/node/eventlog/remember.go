package eventlog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// A damaged record of an old segment would be met again only when it is read, and a start
// reads the newest segments alone. So the place is written down, twice, and looked at by the
// next start: damageName refuses it until the operator removes that file, and after that
// knownDamageName has the log opened for reading only, for what its readers will meet is known.
const (
	damageName      = "DAMAGE"
	knownDamageName = "KNOWN-DAMAGE"
)

const maxDamageBytes = 4 << 10

// rememberFound is rememberDamage for damage that a start has met in a record of an old
// segment, as it does when it adds to the index or reads the window of known ids.
func (l *Log) rememberFound(damage *CorruptError) {
	if l.segments.Load() == nil || l.known != nil || damage.Advice != "" && damage.Err == nil || strings.Contains(damage.Advice, otherRecordsAdvice) {
		return
	}
	if l.rememberDamage(damage) {
		damage.Advice = cmp.Or(damage.Advice, usualAdvice) + "; " + otherRecordsAdvice
	}
}

// rememberDamage writes the place down, as well as it can: the log is ending over worse. It
// reports whether it is one that is written down.
func (l *Log) rememberDamage(damage *CorruptError) bool {
	if filepath.Dir(damage.File) != segmentFolder || damage.Position == 0 || damage.Position > l.segments.Load().tail().base {
		return false // every start looks at these files
	}
	text, _ := json.Marshal(map[string]any{"position": damage.Position, "file": damage.File, "byte": damage.Offset, "reason": damage.Reason}) // plain values always encode
	text = append(text, '\n')
	for _, name := range []string{damageName, knownDamageName} { // the second alone would be the operator's word
		l.writeDown(name, text)
	}
	return true
}

func (l *Log) writeDown(name string, text []byte) {
	path := filepath.Join(l.dir, name)
	f, err := writeNew(l.files, path, text)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		l.logger.Warn("the damage could not be written down: verify the log before the next start", "file", path, "error", err)
	}
}

// readRemembered reads a file that names damage; nil when there is none.
func (l *Log) readRemembered(name string) ([]byte, error) {
	f, err := l.files.open(filepath.Join(l.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, l.storageError("read the file "+name, err)
	}
	b := make([]byte, maxDamageBytes)
	n, err := f.ReadAt(b, 0)
	if err = errors.Join(dropEOF(err), f.Close()); err != nil {
		return nil, l.storageError("read the file "+name, err)
	}
	return b[:n], nil
}

// checkRemembered reads the segment again that was found damaged before. Damage that is
// still there refuses the start, or is returned when the operator has removed the file that
// refuses it; a segment that was restored is taken.
func (l *Log) checkRemembered(segments segmentList) (known *CorruptError, err error) {
	refusing, err := l.readRemembered(damageName)
	if err != nil {
		return nil, err
	}
	knowing, err := l.readRemembered(knownDamageName)
	if err != nil || refusing == nil && knowing == nil {
		return nil, err
	}
	text := refusing
	if text == nil {
		text = knowing
	}
	var was struct{ Position uint64 }
	if err := json.Unmarshal(text, &was); err == nil && was.Position > 0 && was.Position <= segments.tail().base {
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
			damage.Advice = when + "restore the folder from a backup; " + otherRecordsAdvice
			if refusing == nil {
				damage.Advice = when + "restore the folder from a backup; until then it is read only"
				return damage, nil
			}
			if knowing == nil {
				l.writeDown(knownDamageName, refusing)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	l.logger.Info("the place that was found damaged verifies again", "folder", l.dir, "position", was.Position)
	for _, name := range []string{knownDamageName, damageName} {
		if err := l.files.remove(filepath.Join(l.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, l.storageError("remove the file "+name, err)
		}
	}
	return nil, nil
}

const otherRecordsAdvice = "to have the other records, write them with `reckon node export --skip-damaged`, or remove the file " + damageName + " and start again: the log is then read only"

// serveKnown makes a log that is being opened one that is read only, over damage that the operator knows of.
func (l *Log) serveKnown() {
	l.failMu.Lock()
	defer l.failMu.Unlock()
	l.failure = l.known
	close(l.failed)
	l.logger.Error("the event log is damaged, and was opened for reading only", "error", l.known)
}

// errNoIndexOverDamage is what a damaged log without a whole index cannot be opened for.
func (l *Log) errNoIndexOverDamage(reason string) error {
	damage := *l.known
	damage.Reason += "; and the index, without which nothing can be read over it, cannot be used: " + reason
	damage.Advice = "restore the folder from a backup; to have the other records, write them with `reckon node export --skip-damaged`"
	return &damage
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

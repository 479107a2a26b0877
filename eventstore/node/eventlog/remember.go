package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A damaged record of an old segment would be met again only when it is read, and a start
// reads the newest segments alone. So every place that was found is written down, twice, and looked at by the
// next start: damageName refuses it until the operator removes that file, and after that
// knownDamageName has the log opened for reading only, for what its readers will meet is known.
const (
	damageName      = "DAMAGE"
	knownDamageName = "KNOWN-DAMAGE"
)

const (
	// maxDamagePlaces is how many places are written down: more tell an operator nothing.
	maxDamagePlaces = 1024
	maxDamageBytes  = 1 << 20
)

// damagedPlace is a line of the files that name damage.
type damagedPlace struct {
	Position uint64 `json:"position"`
	File     string `json:"file"`
	Byte     int64  `json:"byte"`
	Reason   string `json:"reason"`
}

// damageNotes are the damaged places that were found. The zero value is ready for use.
type damageNotes struct {
	mu     sync.Mutex
	places []damagedPlace  // of sealed segments, each position once
	others map[string]bool // files that every start reads, and that were logged
	full   bool
}

// rememberFound is remember for damage that a start has met in a record of an old
// segment, as it does when it adds to the index or reads the window of known ids.
func (l *Log) rememberFound(damage *CorruptError) {
	if l.segments.Load() == nil || l.known != nil || damage.Advice != "" && damage.Err == nil || strings.Contains(damage.Advice, otherRecordsAdvice) {
		return
	}
	if l.isRemembered(damage) {
		l.remember(damage)
		damage.Advice = cmp.Or(damage.Advice, usualAdvice) + "; " + otherRecordsAdvice
	}
}

// isRemembered reports whether the damage is in a place that not every start looks at.
func (l *Log) isRemembered(damage *CorruptError) bool {
	return filepath.Dir(damage.File) == segmentFolder && damage.Position > 0 && damage.Position <= l.segments.Load().tail().base
}

// remember writes the place down, as well as it can: the log is ending over worse, or is read
// only. It reports whether it was not known.
func (l *Log) remember(damage *CorruptError) bool {
	n := &l.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	if !l.isRemembered(damage) {
		was := n.others[damage.File]
		if n.others == nil {
			n.others = map[string]bool{}
		}
		n.others[damage.File] = true
		return !was
	}
	if slices.ContainsFunc(n.places, func(p damagedPlace) bool { return p.Position == damage.Position }) {
		return false
	}
	if len(n.places) == maxDamagePlaces {
		if !n.full {
			n.full = true
			l.logger.Error("more places of the event log are damaged than are written down: see all with `reckon node export --skip-damaged`", "folder", l.dir, "written", maxDamagePlaces)
		}
		return false
	}
	n.places = append(n.places, placeOfDamage(damage))
	if l.known == nil {
		l.writePlaces(damageName, n.places)
	}
	l.writePlaces(knownDamageName, n.places) // alone it would be the operator's word
	return true
}

func placeOfDamage(d *CorruptError) damagedPlace {
	return damagedPlace{d.Position, d.File, d.Offset, d.Reason}
}

func (l *Log) writePlaces(name string, places []damagedPlace) {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, p := range places {
		_ = lines.Encode(p) // plain values always encode
	}
	path := filepath.Join(l.dir, name)
	f, err := writeNew(l.files, path, text.Bytes())
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		l.logger.Warn("the damage could not be written down: verify the log before the next start", "file", path, "error", err)
	}
}

// readDamage reads a file that names damage. Of one that is not as it was written, whole is false.
func (l *Log) readDamage(name string) (there bool, places []damagedPlace, whole bool, err error) {
	f, err := l.files.open(filepath.Join(l.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, true, nil
	}
	if err != nil {
		return false, nil, false, l.storageError("read the file "+name, err)
	}
	whole = true
	lines := bufio.NewScanner(io.NewSectionReader(f, 0, maxDamageBytes))
	for lines.Scan() {
		var p damagedPlace
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil || p.Position == 0 {
			whole = false
			continue
		}
		places = append(places, p)
	}
	if err = errors.Join(lines.Err(), f.Close()); errors.Is(err, bufio.ErrTooLong) {
		return true, places, false, nil
	}
	if err != nil {
		return true, nil, false, l.storageError("read the file "+name, err)
	}
	return true, places, whole && len(places) > 0, nil
}

// checkRemembered reads the segments again that were found damaged before. Damage that is
// still there refuses the start, or the first of it is returned when the operator has removed the file that
// refuses it. When all of it was mended the rest of the log is read, too: what damaged a segment may have damaged others
// that nobody has read since.
func (l *Log) checkRemembered(segments segmentList) (known *CorruptError, err error) {
	refuses, refusing, wholeRefusing, err := l.readDamage(damageName)
	if err != nil {
		return nil, err
	}
	knows, knowing, wholeKnowing, err := l.readDamage(knownDamageName)
	if err != nil || !refuses && !knows {
		return nil, err
	}
	before := append(refusing, knowing...)
	suspects := suspected(segments, before)
	if !wholeRefusing || !wholeKnowing { // nobody knows what it said
		suspects = segments[:len(segments)-1]
	}
	found, err := l.damagesInAll(segments, suspects)
	if err == nil && len(found) == 0 && len(suspects) < len(segments)-1 {
		l.logger.Info("what was found damaged verifies again: all of the log is read once, before it takes appends", "folder", l.dir, "bytes", segments.bytes())
		found, err = l.damagesInAll(segments, segments[:len(segments)-1])
	}
	if err != nil {
		return nil, err
	}
	l.notes.places = nil
	for _, damage := range found[:min(len(found), maxDamagePlaces)] {
		l.notes.places = append(l.notes.places, placeOfDamage(damage))
	}
	l.logMended(before)
	if len(found) == 0 {
		for _, name := range []string{knownDamageName, damageName} {
			if err := l.files.remove(filepath.Join(l.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, l.storageError("remove the file "+name, err)
			}
		}
		return nil, nil
	}
	if !slices.Equal(knowing, l.notes.places) {
		l.writePlaces(knownDamageName, l.notes.places)
	}
	if refuses && !slices.Equal(refusing, l.notes.places) {
		l.writePlaces(damageName, l.notes.places)
	}
	return l.judgeKnown(found, refuses)
}

// damagesInAll reads sealed segments and returns their damage.
func (l *Log) damagesInAll(segments, suspects segmentList) (found []*CorruptError, err error) {
	said := time.Now()
	for i, s := range suspects {
		if since := time.Since(said); since > sayEvery {
			said = said.Add(since)
			l.logger.Info("segments are being read", "folder", l.dir, "read", i, "of", len(suspects))
		}
		damaged, err := damagesIn(context.Background(), l.dir, segments, s)
		if err != nil {
			return nil, err
		}
		found = append(found, damaged...)
	}
	return found, nil
}

// sayEvery is how often a start that reads many segments says how far it is.
const sayEvery = 10 * time.Second

// suspected returns the sealed segments that hold the places.
func suspected(segments segmentList, places []damagedPlace) segmentList {
	var suspects segmentList
	for _, p := range places {
		if p.Position > segments.tail().base { // every start reads the newest one
			continue
		}
		if s := segments.find(p.Position); !slices.Contains(suspects, s) {
			suspects = append(suspects, s)
		}
	}
	slices.SortFunc(suspects, func(a, b *segment) int { return cmp.Compare(a.base, b.base) })
	return suspects
}

// logMended names the places that are damaged no more.
func (l *Log) logMended(before []damagedPlace) {
	named := map[uint64]bool{}
	for _, p := range l.notes.places {
		named[p.Position] = true
	}
	for _, p := range before {
		if !named[p.Position] {
			named[p.Position] = true
			l.logger.Info("a place that was found damaged verifies again", "folder", l.dir, "position", p.Position)
		}
	}
}

// judgeKnown returns the first damage as what a log is opened over, or refuses it.
func (l *Log) judgeKnown(found []*CorruptError, refuses bool) (known *CorruptError, err error) {
	first, file := *found[0], knownDamageName
	if refuses {
		file = damageName
	}
	if first.Err != nil {
		first.Advice = "start again when the disk gives the bytes, which takes nothing away; else "
	} else {
		first.Advice = ""
	}
	if len(found) > 1 {
		first.Advice = fmt.Sprintf("%d places are damaged, which the file %s names: ", len(found), file) + first.Advice
	}
	if first.Advice += "restore the folder from a backup; "; refuses {
		first.Advice += otherRecordsAdvice
		return nil, &first
	}
	first.Advice += "until then it is read only"
	return &first, nil
}

const otherRecordsAdvice = "to have the other records, write them with `reckon node export --skip-damaged`, or remove the file " + damageName + " and start again: the log is then read only"

// serveKnown makes a log that is being opened one that is read only, over damage that the operator knows of.
func (l *Log) serveKnown() {
	l.failMu.Lock()
	l.failure = l.known
	close(l.failed)
	l.failMu.Unlock()
	l.logger.Error("the event log is damaged, and was opened for reading only", "error", l.known)
	for _, p := range l.notes.places {
		if p.Position != l.known.Position {
			l.logger.Error(anotherPlace, "folder", l.dir, "position", p.Position, "file", p.File, "byte", p.Byte, "reason", p.Reason)
		}
	}
	for err := range l.wrongEnds() {
		l.fail(err)
	}
}

const anotherPlace = "another place of the event log is damaged"

// errNoIndexOverDamage is what a damaged log without a whole index cannot be opened for.
func (l *Log) errNoIndexOverDamage(reason string) error {
	damage := *l.known
	damage.Reason += "; and the index, without which nothing can be read over it, cannot be used: " + reason
	damage.Advice = "restore the folder from a backup; to have the other records, write them with `reckon node export --skip-damaged`"
	return &damage
}

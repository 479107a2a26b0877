package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
)

// readRunBytes bounds what is read from a segment at once, but for a larger record.
const readRunBytes = 1 << 20

// readPlaces reads the records at places, which are in the order of the log, verifies each, and returns them in the direction
// of the read; check says what is wrong with that of place i beside the one before it, which is nil for the first that is
// read. Those that come before a damaged record, in that direction, are returned with its *CorruptError.
func (l *Log) readPlaces(ctx context.Context, places []place, backwards bool, check func(i int, r, before *stored) string) ([]Record, error) {
	first, end := 0, len(places) // of those that are read
	var met error
	for {
		records, err := l.readWhole(ctx, places[first:end], func(i int, r, before *stored) string { return check(first+i, r, before) })
		var damage *CorruptError
		if !errors.As(err, &damage) {
			if backwards {
				slices.Reverse(records)
			}
			return records, cmp.Or(err, met)
		}
		met = err
		was := end - first
		first, end = l.soundPlaces(places, first, end, damage, backwards)
		if first == end || end-first == was {
			return nil, met
		}
	}
}

// soundPlaces are those of the places first … end that come before a damaged record, in the direction of the read.
func (l *Log) soundPlaces(places []place, first, end int, damage *CorruptError, backwards bool) (int, int) {
	index := func(position uint64) int {
		return first + sort.Search(end-first, func(i int) bool { return places[first+i].position >= position })
	}
	if !backwards {
		return first, index(damage.Position)
	}
	newest := damage.Position
	l.notes.mu.Lock()
	defer l.notes.mu.Unlock()
	for _, p := range l.notes.places {
		if p.Position <= places[end-1].position {
			newest = max(newest, p.Position)
		}
	}
	return index(newest + 1), end
}

// readWhole reads all of the places or none.
func (l *Log) readWhole(ctx context.Context, places []place, check func(i int, r, before *stored) string) ([]Record, error) {
	segments := *l.segments.Load()
	read := make([]stored, 0, len(places))
	for len(read) < len(places) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run := adjacent(segments, places[len(read):])
		var err error
		if read, err = l.readRun(segments, run, read); err != nil {
			return nil, err
		}
		for i := len(read) - len(run); i < len(read); i++ {
			var before *stored
			if i > 0 {
				before = &read[i-1]
			}
			if reason := check(i, &read[i], before); reason != "" {
				return nil, l.explain(segments, places[i], reason)
			}
		}
	}
	records := make([]Record, len(read))
	for i := range read {
		records[i] = read[i].Record
	}
	return records, nil
}

// checkChain says whether a record continues the chain of the one before it.
func checkChain(_ int, r, before *stored) string {
	if before != nil && chainLink(before.Link, r.header) != r.Link {
		return "the hash chain breaks: this record or the one before it was changed"
	}
	return ""
}

// adjacent returns the first of the places that lie one after the other in one segment.
func adjacent(segments segmentList, places []place) []place {
	s := segments.find(places[0].position)
	size := int64(places[0].length)
	n := 1
	for n < len(places) && places[n].offset == places[n-1].end() && size+int64(places[n].length) <= readRunBytes && segments.find(places[n].position) == s {
		size += int64(places[n].length)
		n++
	}
	return places[:n]
}

// readRun reads adjacent records and appends them to read.
func (l *Log) readRun(segments segmentList, run []place, read []stored) ([]stored, error) {
	first := run[0]
	s := segments.find(first.position)
	how := once
	if s.base < segments[min(len(segments), keptSegments())-1].base || s == segments.tail() {
		how = keep
	}
	doubted := first
	reason, unplaced := "", false // the place of some record of the run is wrong
	err := s.use(how, func(o opened) error {
		frames, why, err := o.framesAt(run)
		if err != nil || why != "" {
			reason, unplaced = why, true
			return err
		}
		for i, at := range run {
			r, why := parseFrame(o.seed, frames[i])
			switch {
			case why != "":
			case r.Position != at.position:
				why = fmt.Sprintf("the record says position %d", r.Position)
			case r.Redacted && !o.scavenged:
				why = "the payload is missing from a segment that was not scavenged"
			case !r.payloadIntact():
				why = "the payload is not the one that was written"
			}
			if why != "" {
				doubted, reason = at, why
				return nil
			}
			read = append(read, r)
		}
		return nil
	})
	var bad *badRecord
	switch {
	case len(run) > 1 && (errors.As(err, &bad) || err == nil && unplaced):
		return l.readEach(segments, run, read)
	case errors.As(err, &bad) && bad.cause != nil:
		return nil, l.explainUnread(segments, first, bad)
	case errors.As(err, &bad):
		return nil, l.explain(segments, first, bad.reason)
	case errors.Is(err, fs.ErrNotExist):
		damage := s.damage(l.dir, err)
		l.fail(damage)
		return nil, damage
	case err != nil:
		return nil, err
	case reason != "":
		return nil, l.explain(segments, doubted, reason)
	}
	return read, nil
}

// readEach reads adjacent records one by one, after they could not all be read at once, as where the disk does not give
// a byte, or the segment was cut: those that can be read prove themselves, and the first that cannot is named.
func (l *Log) readEach(segments segmentList, run []place, read []stored) ([]stored, error) {
	for i := range run {
		var err error
		if read, err = l.readRun(segments, run[i:i+1], read); err != nil {
			return nil, err
		}
	}
	return read, nil
}

// explainUnread reads the segment of a record that the disk did not give, from its beginning.
// Where that meets bytes that are not given again, it ends the taking of appends; else the
// record is there and has proved itself, and its reader may ask again.
func (l *Log) explainUnread(segments segmentList, at place, bad *badRecord) error {
	s := segments.find(at.position)
	_, err := scanSegments(context.Background(), l.dir, segments, once, cursor{s.base, s.link, segmentHeader}, at.position, func(*stored, place) error { return nil })
	var damage *CorruptError
	switch {
	case errors.As(err, &damage):
		return l.damageOf(segments, at.position, damage)
	case err != nil:
		return err
	}
	return &StorageError{Dir: l.dir, Operation: fmt.Sprintf("read position %d (%s, byte %d)", at.position, s.name(), bad.offset), Err: bad.cause, Reading: true}
}

// framesAt reads the frames at adjacent places; a reason says why there are none.
func (o opened) framesAt(run []place) (frames [][]byte, reason string, err error) {
	if o.scavenged {
		return o.framesWrittenAt(run)
	}
	first, last := run[0], run[len(run)-1]
	if first.offset < segmentHeader || last.end() > o.end.Load() {
		return nil, "the index leads to no place in the segment", nil
	}
	b := make([]byte, last.end()-first.offset)
	if _, err := o.ReadAt(b, first.offset); errors.Is(err, io.EOF) {
		return nil, "the record is cut short", nil
	} else if err != nil {
		return nil, "", o.segment.readError(first.position, first.offset, err)
	}
	for _, at := range run {
		frames = append(frames, b[at.offset-first.offset:][:at.length:at.length])
	}
	return frames, "", nil
}

// explain tells a damaged record from an index that leads to a wrong place: it reads the
// segment from its beginning. Either ends the taking of appends.
func (l *Log) explain(segments segmentList, at place, reason string) error {
	s := segments.find(at.position)
	from := cursor{s.base, s.link, segmentHeader}
	intact := false
	reached, err := scanSegments(context.Background(), l.dir, segments, keep, from, at.position, func(r *stored, found place) error {
		intact = r.Position == at.position && found == at
		return nil
	})
	var damage *CorruptError
	switch {
	case errors.As(err, &damage):
		return l.damageOf(segments, at.position, damage)
	case err != nil:
		return err
	case !intact:
		return l.doubtIndex(fmt.Sprintf("it does not lead to position %d", at.position), errors.New(reason))
	}
	// the chain up to the record is right, and so the record is; what was expected of it is not
	return l.doubtIndex(fmt.Sprintf("it expects another record at position %d", reached.position), errors.New(reason))
}

// storedRecord reads and verifies the record at a position.
func (l *Log) storedRecord(from reader, position uint64) (stored, error) {
	value, err := l.readValue(from, positionKey(position))
	if err != nil {
		return stored{}, err
	}
	at, ok := parsePositionPlace(position, value)
	if !ok {
		return stored{}, l.doubtIndex(fmt.Sprintf("it does not lead to position %d", position), nil)
	}
	read, err := l.readRun(*l.segments.Load(), []place{at}, nil)
	if err != nil {
		return stored{}, err
	}
	return read[0], nil
}

// record reads the record at a position.
func (l *Log) record(from reader, position uint64) (Record, error) {
	s, err := l.storedRecord(from, position)
	return s.Record, err
}

// recordAt reads the record of a stream's revision.
func (l *Log) recordAt(from reader, stream string, revision uint64) (Record, error) {
	value, err := l.readValue(from, appendRevisionKey(nil, stream, revision))
	if err != nil {
		return Record{}, err
	}
	at, ok := parsePlace(value)
	if !ok {
		return Record{}, l.doubtIndex(fmt.Sprintf("it does not lead to revision %d of stream %s", revision, Quoted(stream)), nil)
	}
	segments := *l.segments.Load()
	read, err := l.readRun(segments, []place{at}, nil)
	if err != nil {
		return Record{}, err
	}
	if r := &read[0]; r.Stream != stream || r.Revision != revision {
		return Record{}, l.explain(segments, at, fmt.Sprintf("the index has revision %d of stream %s there", revision, Quoted(stream)))
	}
	return read[0].Record, nil
}

// head reads the head of a stream; a stream never written to has last = -1.
func (l *Log) head(from reader, stream string) (head, error) {
	value, err := l.readValue(from, headKey(stream))
	if err != nil {
		return head{}, err
	}
	if value == nil {
		return head{last: -1}, nil
	}
	h, ok := parseHead(value)
	if !ok {
		return head{}, l.doubtIndex(fmt.Sprintf("the head of stream %s cannot be read", Quoted(stream)), nil)
	}
	return h, nil
}

// state reads the state of a stream: head and metadata.
func (l *Log) state(from reader, stream string) (*streamState, error) {
	h, err := l.head(from, stream)
	if err != nil {
		return nil, err
	}
	s := &streamState{head: h}
	if IsMetaStream(stream) {
		return s, nil
	}
	metaHead, err := l.head(from, MetaStream(stream))
	if err != nil || metaHead.last < 0 {
		return s, err
	}
	record, err := l.record(from, metaHead.position)
	if err != nil {
		return nil, err
	}
	if record.Stream != MetaStream(stream) || record.Revision != uint64(metaHead.last) {
		return nil, l.doubtIndex(fmt.Sprintf("the head of stream %s does not lead to its newest record", Quoted(MetaStream(stream))), nil)
	}
	s.hasMetadata = true
	s.metadataPosition = metaHead.position
	s.metadata = parseMetadata(metadataBytes(record.Type, record.Data))
	return s, nil
}

// provenState is the newest state of a stream for a decision about a write: its head is
// compared with the stream's records, for a revision decided by a wrong head would be stored.
func (l *Log) provenState(stream string) (*streamState, error) {
	s, err := l.state(l.index, stream)
	if err != nil {
		return nil, err
	}
	if err := l.proveHead(l.index, stream, s.head); err != nil {
		return nil, err
	}
	if s.hasMetadata {
		metaHead, err := l.head(l.index, MetaStream(stream))
		if err != nil {
			return nil, err
		}
		return s, l.proveHead(l.index, MetaStream(stream), metaHead)
	}
	return s, l.proveHead(l.index, MetaStream(stream), head{last: -1})
}

// proveHead checks that the newest record of a stream is the one its head names.
func (l *Log) proveHead(from reader, stream string, h head) error {
	wrong := func() error {
		return l.doubtIndex(fmt.Sprintf("the head of stream %s is not its newest record", Quoted(stream)), nil)
	}
	next := uint64(h.last + 1)
	beyond, err := l.readValue(from, appendRevisionKey(nil, stream, next))
	if err != nil {
		return err
	}
	tombstone, err := l.readValue(from, appendRevisionKey(nil, stream, TombstoneRevision))
	if err != nil {
		return err
	}
	if beyond != nil || (tombstone != nil) != h.tombstoned {
		return wrong()
	}
	if h.last >= 0 {
		r, err := l.recordAt(from, stream, uint64(h.last))
		if err != nil {
			return err
		}
		if r.Position != h.position && !h.tombstoned {
			return wrong()
		}
	}
	if h.tombstoned {
		r, err := l.recordAt(from, stream, TombstoneRevision)
		if err != nil {
			return err
		}
		if r.Position != h.position {
			return wrong()
		}
	}
	return nil
}

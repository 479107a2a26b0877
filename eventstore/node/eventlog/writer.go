package eventlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

const (
	maxGroupRequests = 1024
	maxGroupBytes    = 4 << 20
	// maxKnownStreams bounds each of the two generations of the writer's cache of stream
	// states. It must exceed what one group can change (four streams for each that a request names, and
	// the last request of a group may name as many as all before it), because
	// the changes of a group that is not committed are in the cache only.
	maxKnownStreams = 8 * maxGroupRequests
	saltBufferBytes = 4096
	maxIdleBuffer   = 8 << 20 // a larger buffer of a group is given back
	sealAgainAfter  = time.Second
)

// operation is what a request does to its stream.
type operation uint8

const (
	opAppend operation = iota + 1
	opDelete
	opTombstone
	opAppendSeveral
)

// request is one write that was submitted.
type request struct {
	ctx      context.Context
	owner    any    // whose turn it takes; nil: the log's own
	cost     uint64 // of that
	op       operation
	stream   string
	expected Expected
	events   []Proposed
	several  *several     // of opAppendSeveral, which has no stream, expectation and events else
	done     chan outcome // capacity 1
	outcome  outcome      // set when decided, sent when durable
}

type outcome struct {
	result Result
	err    error
}

// Result is the result of a write.
type Result struct {
	LastRevision int64  // of the stream after the write (or after the original one, when repeated); -1: no events
	Position     uint64 // of the last event written; 0 for an append of no events
}

// Pending is a write that was submitted and may not be durable yet.
type Pending struct {
	log     *Log
	request *request
}

// Append writes the events to the stream, all or none, at consecutive revisions and
// positions. Errors: *WrongExpectedRevisionError, *StreamDeletedError, *AccessDeniedError,
// *AppendTooLargeError, *InvalidRequestError, ErrClosed, that of ctx: then the write
// may still take place, or that of Err: then it may be found after the log was opened again,
// and a repetition with the same event ids is recognised.
func (l *Log) Append(ctx context.Context, stream string, expected Expected, events []Proposed) (Result, error) {
	p, err := l.Submit(ctx, stream, expected, events)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

// Submit is Append that does not wait for the result. Writes of one owner (By) are decided in the order of
// their submission.
func (l *Log) Submit(ctx context.Context, stream string, expected Expected, events []Proposed) (*Pending, error) {
	if err := checkEvents(events); err != nil {
		return nil, err
	}
	return l.submit(ctx, opAppend, stream, expected, events)
}

// Delete soft-deletes the stream: its events disappear from stream reads, and the next
// append continues their numbering.
func (l *Log) Delete(ctx context.Context, stream string, expected Expected) (Result, error) {
	p, err := l.submit(ctx, opDelete, stream, expected, nil)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

// Tombstone closes the stream: it can never be written again.
func (l *Log) Tombstone(ctx context.Context, stream string, expected Expected) (Result, error) {
	p, err := l.submit(ctx, opTombstone, stream, expected, nil)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

func (l *Log) submit(ctx context.Context, op operation, stream string, expected Expected, events []Proposed) (*Pending, error) {
	if err := checkTarget(op, stream, expected); err != nil {
		return nil, err
	}
	return l.enqueue(&request{ctx: ctx, op: op, stream: stream, expected: expected, events: events, done: make(chan outcome, 1)})
}

func (l *Log) enqueue(r *request) (*Pending, error) {
	select {
	case <-l.closing:
		return nil, ErrClosed
	case <-l.failed:
		return nil, l.Err()
	default:
	}
	if err := l.requests.add(r, l.closing); err != nil {
		return nil, err
	}
	return &Pending{log: l, request: r}, nil
}

// Wait returns the outcome once it is durable.
func (p *Pending) Wait(ctx context.Context) (Result, error) {
	select {
	case o := <-p.request.done:
		return o.result, o.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-p.log.stopped:
	}
	select {
	case o := <-p.request.done:
		return o.result, o.err
	default:
		return Result{}, ErrClosed
	}
}

func checkTarget(op operation, stream string, expected Expected) error {
	switch {
	case stream == "" || stream == metaPrefix:
		return &InvalidRequestError{"the stream name is empty"}
	case isTooLong(stream):
		return &InvalidRequestError{fmt.Sprintf("the stream name is longer than %d bytes", MaxStreamNameBytes)}
	case stream == AllStream, IsIndexStream(stream):
		return &AccessDeniedError{Stream: stream, Operation: "write"}
	case op != opAppend && IsMetaStream(stream):
		return &AccessDeniedError{Stream: stream, Operation: "deletion"}
	case expected.Kind < ExpectAny || expected.Kind > ExpectRevision:
		return &InvalidRequestError{"the expected revision is missing"}
	}
	return nil
}

func checkEvents(events []Proposed) error {
	size := 0
	for i := range events {
		if events[i].ID == uuid.Nil {
			return &InvalidRequestError{"an event has no id"}
		}
		if events[i].Type == "" {
			return &InvalidRequestError{"an event has no type"}
		}
		if size += events[i].SizeBytes(); size > MaxAppendBytes {
			return &AppendTooLargeError{LimitBytes: MaxAppendBytes}
		}
	}
	return nil
}

// writer decides and numbers every write. Only its goroutine uses it after Open.
type writer struct {
	log          *Log
	salts        io.Reader
	position     uint64 // of the newest record, durable or in the group
	chain        hash   // link of the newest record that was encoded
	createdTicks int64  // of the newest record
	recent       *recentIDs
	// cache of stream states in two generations: when young is full it becomes old, and
	// states used since then are copied back
	young, old map[string]*streamState

	tail      *segment
	sealAgain time.Time // before which no segment is made, for it could not be; zero: none is missing
	durable   cursor    // after the newest durable record
	indexed   uint64    // position at which the index was last told to flush

	drafts  []Record // of the request being decided
	places  []place  // of the drafts
	group   []byte   // frames of the group
	batch   *pebble.Batch
	listed  indexStreams
	changed map[string]*streamState // streams the group writes to
	decided []*request
}

// errNeedsDurable is returned for a request that reads a record of the group that is not committed.
var errNeedsDurable = errors.New("commit the group first")

// run decides requests until the log closes, then those that are queued.
func (w *writer) run() {
	defer close(w.log.stopped)
	for {
		closing := false
		select {
		case <-w.log.requests.ready:
		case <-w.log.closing:
			closing = true
		}
		for w.decideAndCommit() {
		}
		if closing {
			return
		}
	}
}

// decideAndCommit decides requests that are queued, up to maxGroupRequests of one stream each, maxGroupBytes and what owners may
// have of each other's time, and makes them durable with one fsync. It reports whether there was one.
func (w *writer) decideAndCommit() bool {
	var cost uint64
	for streams := 0; streams < maxGroupRequests && len(w.group) < maxGroupBytes; {
		r := w.log.requests.take(cost)
		if r == nil {
			break
		}
		w.decideRequest(r)
		streams += r.streams()
		cost += r.cost
	}
	if cost == 0 {
		return false
	}
	w.commit()
	return true
}

// decideRequest decides one request. When it must read a record of the uncommitted group,
// the group is committed first.
func (w *writer) decideRequest(r *request) {
	result, err := w.decide(r)
	if errors.Is(err, errNeedsDurable) {
		w.commit()
		result, err = w.decide(r)
	}
	if encodeErr := w.encodeDrafts(); encodeErr != nil {
		result, err = Result{}, encodeErr
	}
	r.outcome = outcome{result, err}
	w.decided = append(w.decided, r)
}

func (w *writer) decide(r *request) (Result, error) {
	if err := w.log.Err(); err != nil {
		return Result{}, err
	}
	if err := r.ctx.Err(); err != nil {
		return Result{}, err
	}
	switch r.op {
	case opAppend:
		return w.append(r)
	case opDelete:
		return w.delete(r)
	case opAppendSeveral:
		return w.appendSeveral(r)
	default:
		return w.tombstone(r)
	}
}

// commit makes the group durable, publishes it to readers, and then answers every request
// of the group: a refusal too may depend on records of the group. When the disk refuses,
// every request of the group and every later one gets that error.
func (w *writer) commit() {
	var failure error
	if len(w.group) > 0 {
		failure = w.writeGroup()
	}
	for i, r := range w.decided {
		if failure != nil {
			r.outcome = outcome{err: failure}
		}
		r.done <- r.outcome
		w.decided[i] = nil
	}
	w.decided = w.decided[:0]
	if w.log.Err() == nil {
		if err := w.tidy(); err != nil {
			w.log.fail(err)
		}
	}
}

// tidy begins a new segment and lets the index write what it holds in memory, when it is time.
func (w *writer) tidy() error {
	if w.durable.position >= w.indexed+flushRecords {
		w.indexed = w.durable.position
		if _, err := w.log.index.AsyncFlush(); err != nil {
			return w.log.doubtIndex("it cannot be flushed", err)
		}
	}
	if w.durable.offset >= w.log.segmentBytes && !time.Now().Before(w.sealAgain) {
		return w.sealOrWait()
	}
	return nil
}

// sealOrWait seals the newest segment. When no more files can be open it goes on, for nothing is in doubt:
// connections end, and the next attempt is made after a while.
func (w *writer) sealOrWait() error {
	err := w.seal()
	if !isAny(err, syscall.EMFILE, syscall.ENFILE) || w.durable.offset >= lateSegments*w.log.segmentBytes || w.hasNext() {
		return err
	}
	if w.sealAgain.IsZero() {
		w.log.logger.Warn("the next segment waits for files that can be opened; appends go on", "error", err)
	}
	w.sealAgain = time.Now().Add(sealAgainAfter)
	return nil
}

// hasNext reports whether there is a segment after the newest record, or may be one.
func (w *writer) hasNext() bool {
	_, err := w.log.files.stat(filepath.Join(w.log.dir, segmentFolder, segmentName(w.durable.position)))
	return !errors.Is(err, fs.ErrNotExist)
}

// spareFiles returns why two more files cannot be open at a time, which is what making a segment takes: it
// must not fail when the segment has its name already.
func (w *writer) spareFiles() error {
	for range 2 {
		f, err := w.log.files.open(w.tail.path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only opened
	}
	return nil
}

// writeGroup writes the group's records with one sync, names the newest in the head file,
// checks that both files are still in the folder, indexes the records, and lets readers see
// them. An error ends the taking of appends.
func (w *writer) writeGroup() (failure error) {
	if err := w.log.Err(); err != nil {
		return err
	}
	w.log.writing.Lock()
	defer w.log.writing.Unlock()
	defer func() {
		if failure != nil {
			w.log.fail(failure)
		}
	}()
	if err := w.log.checkTail(); err != nil { // a write behind the end of a file that was cut would hide that
		return err
	}
	err := w.tail.use(keep, func(f opened) error {
		if _, err := f.WriteAt(w.group, w.durable.offset); err != nil {
			// what was written of the group would be found as a torn write; without it there is nothing to find
			_ = f.truncate(w.durable.offset)
			return w.log.storageError("write to the newest segment", err)
		}
		if err := f.sync(); err != nil {
			return w.log.storageError("sync the newest segment", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	reached := cursor{w.position, w.chain, w.durable.offset + int64(len(w.group))}
	mark := headMark{w.log.id, reached.position, reached.link}
	if _, err := w.log.headFile.WriteAt(mark.encode(), 0); err != nil {
		return w.log.storageError("write the head file", err)
	}
	w.tail.current().end.Store(reached.offset)
	if err := w.log.checkNewest(); err != nil {
		return err
	}
	for stream, state := range w.changed {
		if err := w.batch.Set(headKey(stream), state.encode(), nil); err != nil {
			return w.log.doubtIndex("it takes no entry", err)
		}
	}
	if err := w.listed.putHeads(w.batch); err != nil {
		return w.log.doubtIndex("it takes no entry", err)
	}
	if err := w.batch.Set(stateKey, indexState{w.log.id, reached}.encode(), nil); err != nil {
		return w.log.doubtIndex("it takes no entry", err)
	}
	if err := w.log.index.Apply(w.batch, pebble.NoSync); err != nil {
		return w.log.doubtIndex("it takes no entries", err)
	}
	_ = w.batch.Close() // only gives its memory back
	w.batch = w.log.index.NewBatch()
	w.durable = reached
	w.log.publish(newView(w.log, reached.position))
	w.log.topics.wake(w.changed, w.listed.touched)
	w.listed.applied()
	clear(w.changed)
	w.group = w.group[:0]
	if cap(w.group) > maxIdleBuffer {
		w.group = nil
	}
	return nil
}

// seal ends the newest segment and begins another. The head file is synced first, so that
// it never names a record before the newest segment.
func (w *writer) seal() error {
	if err := w.log.headFile.sync(); err != nil {
		return w.log.storageError("sync the head file", err)
	}
	if err := w.spareFiles(); err != nil {
		return w.log.storageError("make a segment", err)
	}
	next, err := createSegment(w.log.files, w.log.dir, w.log.id, w.durable.position, w.durable.link)
	if err != nil {
		return w.log.storageError("make a segment", err)
	}
	segments := append(slices.Clone(*w.log.segments.Load()), next)
	w.log.segments.Store(&segments)
	if len(segments) > keptSegments() {
		w.tail.shelve()
	}
	w.tail, w.sealAgain = next, time.Time{}
	w.durable.offset = segmentHeader
	return nil
}

func (w *writer) append(r *request) (Result, error) {
	s, err := w.state(r.stream)
	if err != nil {
		return Result{}, err
	}
	var base *streamState
	if IsMetaStream(r.stream) && !IsIndexStream(baseStream(r.stream)) {
		if base, err = w.state(baseStream(r.stream)); err != nil {
			return Result{}, err
		}
	}
	v := evaluateExpected(s, r.expected)
	if len(r.events) == 0 {
		return emptyAppend(r, s, v)
	}
	known, isKnown, err := w.findRepeated(Check{r.stream, r.expected}, r.events, s, v)
	if err != nil || isKnown {
		return known, err
	}
	switch {
	case base != nil:
		return w.appendMetadata(r, s, base), nil
	case s.softDeleted():
		return w.revive(r, s)
	}
	return w.writeAll(r.stream, s, r.events), nil
}

// emptyAppend returns the result of an append without events: only the expectation is tested.
func emptyAppend(r *request, s *streamState, v verdict) (Result, error) {
	switch v {
	case streamDeleted:
		return Result{}, &StreamDeletedError{r.stream}
	case wrongRevision, knownOrWrong:
		return Result{}, &WrongExpectedRevisionError{Stream: r.stream, Expected: r.expected, Actual: s.last}
	}
	return Result{LastRevision: s.last, Position: s.position}, nil
}

// findRepeated returns the stored result and true when the append repeats one that is
// stored, by its event ids. An error refuses the append.
func (w *writer) findRepeated(c Check, events []Proposed, s *streamState, v verdict) (Result, bool, error) {
	conflict := &WrongExpectedRevisionError{Stream: c.Stream, Expected: c.Expected, Actual: s.last}
	switch v {
	case accept:
		return Result{}, false, nil
	case streamDeleted:
		return Result{}, false, &StreamDeletedError{c.Stream}
	case acceptOrKnown:
		return w.findRepeatedInWindow(c.Stream, events, conflict)
	case knownOrWrong, knownOrRevive:
		result, ok, err := w.findRepeatedAtRevision(c, events, s)
		if err == nil && !ok && v == knownOrWrong {
			err = conflict
		}
		return result, ok, err
	default:
		return Result{}, false, conflict
	}
}

// findRepeatedInWindow looks for the ids in the recent window of the log. It returns
// conflict when only some of them are there.
func (w *writer) findRepeatedInWindow(stream string, events []Proposed, conflict error) (Result, bool, error) {
	var last recordedAt
	for i := range events {
		at, ok := w.recent.find(events[i].ID, stream)
		switch {
		case !ok && i == 0:
			return Result{}, false, nil
		case !ok:
			return Result{}, false, conflict
		}
		last = at
	}
	return Result{LastRevision: int64(last.revision), Position: last.position}, true, nil
}

// findRepeatedAtRevision compares the ids with those stored directly after the expected revision.
func (w *writer) findRepeatedAtRevision(c Check, events []Proposed, s *streamState) (Result, bool, error) {
	if s.position > w.durable.position {
		return Result{}, false, errNeedsDurable
	}
	first := uint64(0)
	if c.Expected.Kind == ExpectRevision {
		first = c.Expected.Revision + 1
	}
	if uint64(s.last)-first+1 < uint64(len(events)) {
		return Result{}, false, nil
	}
	var last Record
	for i := range events {
		record, err := w.log.recordAt(w.log.index, c.Stream, first+uint64(i))
		if err != nil || record.ID != events[i].ID {
			return Result{}, false, err
		}
		last = record
	}
	return Result{LastRevision: int64(last.Revision), Position: last.Position}, true, nil
}

// revive appends to a soft-deleted stream: the events, then metadata whose $tb hides the
// deleted events and keeps every other key.
func (w *writer) revive(r *request, s *streamState) (Result, error) {
	keep, metaState, err := w.keptMetadata(r.stream, s)
	if err != nil {
		return Result{}, err
	}
	truncateBefore := s.last + 1
	result := w.writeAll(r.stream, s, r.events)
	w.writeMetadata(r.stream, s, metaState, withTruncateBefore(keep, truncateBefore))
	return result, nil
}

// keptMetadata returns the metadata of a stream as it is stored, and the state of the meta-stream.
func (w *writer) keptMetadata(stream string, s *streamState) ([]byte, *streamState, error) {
	if s.metadataPosition > w.durable.position {
		return nil, nil, errNeedsDurable
	}
	newest, err := w.log.record(w.log.index, s.metadataPosition)
	if err != nil {
		return nil, nil, err
	}
	metaState, err := w.state(MetaStream(stream))
	return metadataBytes(newest.Type, newest.Data), metaState, err
}

// appendMetadata writes to a meta-stream.
func (w *writer) appendMetadata(r *request, s, base *streamState) Result {
	wasDeleted := base.softDeleted()
	result := w.writeAll(r.stream, s, r.events)
	w.adoptMetadata(r.stream, s, base, &r.events[len(r.events)-1], wasDeleted, base.last+1)
	return result
}

// adoptMetadata makes the newest event of a meta-stream the metadata of its base stream. If that was soft-deleted, the write
// revives it: a second metadata event, with $tb set, keeps the events below a revision hidden.
func (w *writer) adoptMetadata(stream string, s, base *streamState, newest *Proposed, wasDeleted bool, before int64) {
	keep := metadataBytes(newest.Type, newest.Data)
	base.hasMetadata = true
	base.metadataPosition = s.position
	base.metadata = parseMetadata(keep)
	if wasDeleted {
		w.writeMetadata(baseStream(stream), base, s, withTruncateBefore(keep, before))
	}
}

// delete appends metadata whose $tb hides every event of the stream.
func (w *writer) delete(r *request) (Result, error) {
	s, err := w.decideDeletion(r, false)
	if err != nil {
		return Result{}, err
	}
	metaState, err := w.state(MetaStream(r.stream))
	if err != nil {
		return Result{}, err
	}
	w.writeMetadata(r.stream, s, metaState, withTruncateBefore(nil, DeletedBefore))
	return Result{LastRevision: s.last, Position: w.position}, nil
}

func (w *writer) tombstone(r *request) (Result, error) {
	s, err := w.decideDeletion(r, true)
	if err != nil {
		return Result{}, err
	}
	w.write(r.stream, TombstoneRevision, &Proposed{ID: w.newID(), Type: TombstoneType})
	s.position = w.position
	s.tombstoned = true
	w.changed[r.stream] = s
	return Result{LastRevision: math.MaxInt64, Position: w.position}, nil
}

func (w *writer) decideDeletion(r *request, tombstone bool) (*streamState, error) {
	s, err := w.state(r.stream)
	if err != nil {
		return nil, err
	}
	switch evaluateExpectedDeletion(s, r.expected, tombstone) {
	case accept:
		return s, nil
	case streamDeleted:
		return nil, &StreamDeletedError{r.stream}
	default:
		return nil, &WrongExpectedRevisionError{Stream: r.stream, Expected: r.expected, Actual: s.last}
	}
}

// writeMetadata writes a $metadata event for stream, whose state is s.
func (w *writer) writeMetadata(stream string, s, metaState *streamState, data []byte) {
	w.writeAll(MetaStream(stream), metaState, []Proposed{{ID: w.newID(), Type: MetadataType, JSON: true, Data: data}})
	s.hasMetadata = true
	s.metadataPosition = metaState.position
	s.metadata = parseMetadata(data)
}

// writeAll adds the events to the group after the stream's last revision.
func (w *writer) writeAll(stream string, s *streamState, events []Proposed) Result {
	for i := range events {
		w.write(stream, uint64(s.last)+1, &events[i])
		s.last++
		s.position = w.position
	}
	w.changed[stream] = s
	return Result{LastRevision: s.last, Position: s.position}
}

// write adds one event to the request being decided, at the next position of the log.
func (w *writer) write(stream string, revision uint64, event *Proposed) {
	w.createdTicks = w.log.clock.stamp(w.createdTicks)
	w.position++
	w.drafts = append(w.drafts, Record{
		Position:     w.position,
		Stream:       stream,
		Revision:     revision,
		ID:           event.ID,
		Type:         event.Type,
		JSON:         event.JSON,
		CreatedTicks: w.createdTicks,
		Metadata:     event.Metadata,
		Data:         event.Data,
	})
}

// encodeDrafts adds the records of the decided request to the group. The last one is
// marked: after a crash, records behind the last mark are of an append that is not whole.
func (w *writer) encodeDrafts() error {
	defer func() { w.drafts, w.places = w.drafts[:0], w.places[:0] }()
	for i := range w.drafts {
		r := &w.drafts[i]
		var salt [saltBytes]byte
		if _, err := io.ReadFull(w.salts, salt[:]); err != nil {
			return w.giveUp(fmt.Errorf("read random bytes: %w", err))
		}
		start := len(w.group)
		w.group, w.chain = appendFrame(w.group, w.tail.current().seed, w.durable.position, r, i == len(w.drafts)-1, salt, w.chain)
		at := place{r.Position, w.durable.offset + int64(start), uint32(len(w.group) - start)}
		w.places = append(w.places, at)
		w.recent.add(r.ID, r.Stream, recordedAt{r.Revision, r.Position}, int(at.length)-frameHeader)
	}
	if err := putPlaces(w.batch, w.drafts, w.places); err != nil {
		return w.giveUp(err)
	}
	if err := w.listed.add(w.batch, w.drafts, w.places); err != nil {
		return w.giveUp(err)
	}
	clear(w.drafts)
	return nil
}

// giveUp ends the taking of appends: the writer's state is no longer that of the log.
func (w *writer) giveUp(err error) error {
	failure := w.log.storageError("encode an append", err)
	w.log.fail(failure)
	return failure
}

// state returns the state of the stream, including the writes of the uncommitted group.
func (w *writer) state(stream string) (*streamState, error) {
	if s := w.young[stream]; s != nil {
		return s, nil
	}
	s := w.old[stream]
	if s == nil {
		var err error
		if s, err = w.log.provenState(stream); err != nil {
			return nil, err
		}
	}
	if len(w.young) >= maxKnownStreams {
		w.old, w.young = w.young, make(map[string]*streamState, maxKnownStreams)
	}
	w.young[stream] = s
	return s, nil
}

// newID returns a random id for an event that the log itself writes.
func (w *writer) newID() uuid.UUID {
	id, err := uuid.NewRandomFromReader(w.salts)
	if err != nil {
		_ = w.giveUp(fmt.Errorf("read random bytes: %w", err)) // the group is refused
	}
	return id
}

// appendIdentity writes the first event of a new log.
func (w *writer) appendIdentity() error {
	s, err := w.state(IdentityStream)
	if err != nil {
		return err
	}
	first := Proposed{ID: w.log.id, Type: IdentityType, JSON: true, Data: identityJSON(w.log.id, w.log.genesis)}
	w.writeAll(IdentityStream, s, []Proposed{first})
	if err := w.encodeDrafts(); err != nil {
		return err
	}
	w.commit()
	return w.log.Err()
}

func newWriter(l *Log, random io.Reader, tail tailState) *writer {
	return &writer{
		log:          l,
		salts:        bufio.NewReaderSize(random, saltBufferBytes),
		position:     tail.end.position,
		chain:        tail.end.link,
		createdTicks: tail.createdTicks,
		recent:       tail.recent,
		young:        map[string]*streamState{},
		tail:         l.segments.Load().tail(),
		durable:      tail.end,
		indexed:      tail.end.position,
		batch:        l.index.NewBatch(),
		listed:       indexStreams{log: l},
		changed:      map[string]*streamState{},
	}
}

package eventlog

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// recoverWriter returns a writer at the end of the log. It verifies the hash chain over the
// recent window and fills recentIDs from it.
func recoverWriter(l *Log, random io.Reader) (*writer, error) {
	w := newWriter(l, random)
	iterator, err := l.db.NewIterWithContext(context.Background(), &pebble.IterOptions{
		LowerBound: []byte{recordSpace}, UpperBound: []byte{recordSpace + 1},
	})
	if err != nil {
		return nil, l.readError(0, err)
	}
	err = w.replayWindow(iterator)
	if closeErr := iterator.Close(); err == nil && closeErr != nil {
		err = l.readError(0, closeErr)
	}
	return w, err
}

func (w *writer) replayWindow(iterator *pebble.Iterator) error {
	if !iterator.Last() {
		return nil
	}
	// back to the start of the window, counting as recentIDs does
	for count, size := 1, len(iterator.Value()); count < recentRecords && size <= recentBytes; count++ {
		if !iterator.Prev() {
			iterator.First()
			break
		}
		size += len(iterator.Value())
	}
	first := binary.BigEndian.Uint64(iterator.Key()[1:])
	if first > 1 {
		before, err := w.log.storedRecord(w.log.db, first-1)
		if err != nil {
			return err
		}
		w.chain = before.chain
		w.position = first - 1
	}
	for ; iterator.Valid(); iterator.Next() {
		s, err := parseRecord(iterator.Value())
		if err != nil {
			return &CorruptError{Dir: w.log.dir, Position: w.position + 1, Reason: "the record cannot be read", Err: err}
		}
		if err := checkLink(w.log.dir, &s, w.position+1, w.chain); err != nil {
			return err
		}
		w.position, w.chain = s.Position, s.chain
		w.createdTicks = s.CreatedTicks
		w.recent.add(s.ID, s.Stream, recordedAt{s.Revision, s.Position}, len(iterator.Value()))
	}
	w.durable = w.position
	return nil
}

// checkLink verifies one record against the chain before it.
func checkLink(dir string, s *stored, position uint64, previous hash) error {
	switch {
	case s.Position != position:
		return &CorruptError{Dir: dir, Position: position, Reason: fmt.Sprintf("the record is missing; the next one says position %d", s.Position)}
	case chainLink(previous, s.header) != s.chain:
		return &CorruptError{Dir: dir, Position: position, Reason: "the hash chain breaks: this record or the one before it was changed"}
	case !s.payloadIntact():
		return &CorruptError{Dir: dir, Position: position, Reason: "the payload is not the one that was written"}
	}
	return nil
}

// storedRecord reads a record with its link; a missing one is a *CorruptError.
func (l *Log) storedRecord(from reader, position uint64) (stored, error) {
	value, err := l.readValue(from, recordKey(position))
	if err != nil {
		return stored{}, err
	}
	if value == nil {
		return stored{}, &CorruptError{Dir: l.dir, Position: position, Reason: "the record is missing"}
	}
	s, err := parseRecord(value)
	if err != nil || s.Position != position {
		return stored{}, &CorruptError{Dir: l.dir, Position: position, Reason: "the record cannot be read", Err: err}
	}
	return s, nil
}

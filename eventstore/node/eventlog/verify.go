package eventlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// verifyPage is how many records are verified under one snapshot, which keeps storage from being freed.
const verifyPage = 1024

// Report is the result of a verification that found nothing wrong.
type Report struct {
	LogID    uuid.UUID
	Records  uint64 // = the position of the newest record
	Redacted uint64 // records without payload
	Streams  uint64
	Chain    string // hex of the link of the newest record, or of the genesis
}

// Verify recomputes the hash chain over every record that was durable when it was called,
// and checks the indexes against the log. Readers and writers go on meanwhile. Damage is a
// *CorruptError.
func (l *Log) Verify(ctx context.Context) (Report, error) {
	report := Report{LogID: l.id}
	view, err := l.View()
	if err != nil {
		return report, err
	}
	report.Records = view.head
	view.Close()

	link := l.genesis
	for position := uint64(1); position <= report.Records; {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		if position, err = l.verifyRecords(ctx, position, report.Records, &link, &report); err != nil {
			return report, err
		}
	}
	report.Chain = hex.EncodeToString(link[:])
	return report, l.verifyIndex(ctx, &report)
}

// verifyRecords checks one page from position on and returns the next position.
func (l *Log) verifyRecords(ctx context.Context, position, last uint64, link *hash, report *Report) (uint64, error) {
	view, err := l.View()
	if err != nil {
		return 0, err
	}
	defer view.Close()
	end := min(position+verifyPage, last+1)
	iterator, err := view.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: recordKey(position), UpperBound: recordKey(end)})
	if err != nil {
		return 0, l.readError(position, err)
	}
	defer func() { _ = iterator.Close() }()
	for valid := iterator.First(); valid; valid = iterator.Next() {
		s, err := parseRecord(iterator.Value())
		if err != nil {
			return 0, &CorruptError{Dir: l.dir, Position: position, Reason: "the record cannot be read", Err: err}
		}
		if err := checkLink(l.dir, &s, position, *link); err != nil {
			return 0, err
		}
		indexed, err := l.readValue(view.snapshot, appendRevisionKey(nil, s.Stream, s.Revision))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(indexed, recordKey(position)[1:]) {
			return 0, &CorruptError{Dir: l.dir, Position: position, Reason: fmt.Sprintf("the index of stream %q does not lead to the record", s.Stream)}
		}
		*link = s.chain
		if s.Redacted {
			report.Redacted++
		}
		position++
	}
	if err := iterator.Error(); err != nil {
		return 0, l.readError(position, err)
	}
	if position != end {
		return 0, &CorruptError{Dir: l.dir, Position: position, Reason: "the record is missing"}
	}
	return end, nil
}

// indexWalk is the state of the pass over the stream index.
type indexWalk struct {
	entries uint64
	stream  []byte // key prefix of the current stream
	next    uint64 // revision that must come next
	last    uint64 // position of the newest record seen of the stream
}

// verifyIndex checks that the index holds every record once, that revisions have no gaps
// within a stream, and that the heads agree.
func (l *Log) verifyIndex(ctx context.Context, report *Report) error {
	walk := indexWalk{}
	for from := []byte{revisionSpace}; from != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if from, err = l.verifyIndexPage(ctx, from, report, &walk); err != nil {
			return err
		}
	}
	if walk.entries != report.Records {
		return &CorruptError{Dir: l.dir, Reason: fmt.Sprintf("the index holds %d records, the log %d", walk.entries, report.Records)}
	}
	return nil
}

func (l *Log) verifyIndexPage(ctx context.Context, from []byte, report *Report, walk *indexWalk) ([]byte, error) {
	view, err := l.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	iterator, err := view.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: []byte{revisionSpace + 1}})
	if err != nil {
		return nil, l.readError(0, err)
	}
	defer func() { _ = iterator.Close() }()
	n := 0
	for valid := iterator.First(); valid; valid = iterator.Next() {
		if n++; n > verifyPage {
			return append([]byte(nil), iterator.Key()...), nil
		}
		if err := l.verifyIndexEntry(view, iterator.Key(), iterator.Value(), report, walk); err != nil {
			return nil, err
		}
	}
	if err := iterator.Error(); err != nil {
		return nil, l.readError(0, err)
	}
	return nil, nil
}

func (l *Log) verifyIndexEntry(view *View, key, value []byte, report *Report, walk *indexWalk) error {
	if len(key) < 3+8 || len(value) != 8 {
		return &CorruptError{Dir: l.dir, Reason: "an entry of the stream index cannot be read"}
	}
	position := binary.BigEndian.Uint64(value)
	if position > report.Records {
		return nil // written after the verification began
	}
	prefix, revision := key[:len(key)-8], binary.BigEndian.Uint64(key[len(key)-8:])
	stream := string(prefix[3:])
	if !bytes.Equal(prefix, walk.stream) {
		*walk = indexWalk{entries: walk.entries, stream: append([]byte(nil), prefix...)}
		report.Streams++
	}
	if revision != walk.next && revision != TombstoneRevision || position <= walk.last {
		return &CorruptError{Dir: l.dir, Position: position, Reason: fmt.Sprintf("stream %q has revision %d where %d belongs", stream, revision, walk.next)}
	}
	walk.entries++
	walk.last = position
	if revision != TombstoneRevision {
		walk.next = revision + 1
	}
	h, err := l.head(view.snapshot, stream)
	if err != nil {
		return err
	}
	if revision != TombstoneRevision && h.last < int64(revision) || h.position < position || revision == TombstoneRevision && !h.tombstoned {
		return &CorruptError{Dir: l.dir, Position: position, Reason: fmt.Sprintf("the head of stream %q is behind its events", stream)}
	}
	return nil
}

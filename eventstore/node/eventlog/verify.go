package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// verifyPage is how many entries of the index are verified under one snapshot, which keeps
// storage from being freed.
const verifyPage = 1024

// Report is the result of a verification that found nothing wrong.
type Report struct {
	LogID    uuid.UUID `json:"logId"`
	Records  uint64    `json:"position"` // the position of the newest record
	Chain    string    `json:"link"`     // hex of the link of the newest record, or of the genesis
	Redacted uint64    `json:"redacted"` // records without payload
	Streams  uint64    `json:"streams"`
	Segments int       `json:"segments"`
	Bytes    int64     `json:"bytes"` // of the segments
	// Unfinished is how many of the bytes lie behind the newest record: a write that was
	// never acknowledged, or that a running node is at.
	Unfinished int64 `json:"unfinishedBytes"`
}

// Verify reads every record that was durable when it was called, recomputes the hash
// chain, and checks the index against the records. Readers and writers go on meanwhile.
// Damage is a *CorruptError, a wrong index an *IndexError; either ends the taking of appends.
// It goes on in the segments behind damage, all of which is remembered, and returns the first.
func (l *Log) Verify(ctx context.Context) (Report, error) {
	return l.verifyAll(ctx, func(uint64, int) error { return ctx.Err() })
}

// verifyAll calls pace after every record and every entry of the index, with the position
// that was reached and the bytes that were read.
func (l *Log) verifyAll(ctx context.Context, pace func(position uint64, bytes int) error) (Report, error) {
	report := Report{LogID: l.id}
	view, err := l.View()
	if err != nil {
		return report, err
	}
	report.Records = view.head
	view.Close()
	segments := *l.segments.Load()
	report.Segments, report.Bytes = len(segments), segments.bytes()

	listed := uint64(0) // entries that the records have in numbered index streams
	end, err := l.scanOverDamage(ctx, segments, report.Records, func(r *stored, at place) error {
		if r.Redacted {
			report.Redacted++
		}
		listed += r.indexMemberships()
		if err := l.verifyEntries(r, at); err != nil {
			return err
		}
		return pace(r.Position, int(at.length))
	})
	report.Chain = hex.EncodeToString(end.link[:])
	if err != nil {
		return report, err
	}
	if err := l.verifyRevisions(ctx, &report, pace); err != nil {
		return report, err
	}
	if err := l.verifyHeads(ctx, &report, pace); err != nil {
		return report, err
	}
	return report, l.verifyIndexStreams(ctx, &report, listed, pace)
}

// scanOverDamage is scanSegments of the whole log that goes on with the next segment when one is damaged. It remembers all
// damage, and returns the first.
func (l *Log) scanOverDamage(ctx context.Context, segments segmentList, last uint64, visit func(*stored, place) error) (cursor, error) {
	var first error
	from := cursor{link: l.genesis}
	for {
		end, err := scanSegments(ctx, l.dir, segments, afresh, from, last, visit)
		var damage *CorruptError
		if !errors.As(err, &damage) {
			return end, cmp.Or(first, err)
		}
		first = cmp.Or(first, err)
		l.fail(damage)
		i := sort.Search(len(segments), func(i int) bool { return segments[i].base >= max(damage.Position, from.position+1) })
		if i == len(segments) {
			return end, first
		}
		all, err := damagesIn(ctx, l.dir, segments, segments[i-1])
		if err != nil {
			return end, err
		}
		for _, damage := range all {
			l.fail(damage)
		}
		from = cursor{segments[i].base, segments[i].link, segmentHeader}
	}
}

// verifyEntries checks that both entries of the index lead to the record.
func (l *Log) verifyEntries(r *stored, at place) error {
	value := at.encode()
	byPosition, err := l.readValue(l.index, positionKey(r.Position))
	if err != nil {
		return err
	}
	byRevision, err := l.readValue(l.index, appendRevisionKey(nil, r.Stream, r.Revision))
	if err != nil {
		return err
	}
	if !bytes.Equal(byPosition, value[8:]) {
		return l.doubtIndex(fmt.Sprintf("it does not lead to position %d", r.Position), nil)
	}
	if !bytes.Equal(byRevision, value) {
		return l.doubtIndex(fmt.Sprintf("it does not lead from revision %d of stream %s to position %d", r.Revision, Quoted(r.Stream), r.Position), nil)
	}
	return nil
}

// walkIndex calls visit for every entry of a key space, page by page.
func (l *Log) walkIndex(ctx context.Context, space byte, visit func(view *View, key, value []byte) error) error {
	for from := []byte{space}; from != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if from, err = l.walkPage(ctx, from, space, visit); err != nil {
			return err
		}
	}
	return nil
}

// walkPage visits one page and returns the key of the next one, nil at the end.
func (l *Log) walkPage(ctx context.Context, from []byte, space byte, visit func(view *View, key, value []byte) error) ([]byte, error) {
	view, err := l.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	iterator, err := view.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: []byte{space + 1}})
	if err != nil {
		return nil, l.indexError(err)
	}
	defer func() { _ = iterator.Close() }()
	n := 0
	for valid := iterator.First(); valid; valid = iterator.Next() {
		if n++; n > verifyPage {
			return append([]byte(nil), iterator.Key()...), nil
		}
		if err := visit(view, iterator.Key(), iterator.Value()); err != nil {
			return nil, err
		}
	}
	if err := iterator.Error(); err != nil {
		return nil, l.indexError(err)
	}
	return nil, nil
}

// walkRevisions calls visit for every entry of a key space of streams and revisions that leads to a position up to a last one.
func (l *Log) walkRevisions(ctx context.Context, space byte, last uint64, pace func(uint64, int) error, visit func(view *View, stream string, revision, position uint64) error) error {
	return l.walkIndex(ctx, space, func(view *View, key, value []byte) error {
		at, ok := parsePlace(value)
		if !ok || len(key) < 3+8 {
			return l.doubtIndex("an entry of it cannot be read", nil)
		}
		if at.position > last {
			return nil // written after the verification began
		}
		if err := visit(view, string(key[3:len(key)-8]), revisionOf(key), at.position); err != nil {
			return err
		}
		return pace(last, len(key)+len(value))
	})
}

// verifyRevisions checks that the index holds every record once and that revisions have no
// gaps within a stream.
func (l *Log) verifyRevisions(ctx context.Context, report *Report, pace func(uint64, int) error) error {
	var (
		entries uint64
		stream  string // the current one
		next    uint64 // revision that must come next
		last    uint64 // position of the newest record seen of the stream
	)
	err := l.walkRevisions(ctx, revisionSpace, report.Records, pace, func(view *View, name string, revision, position uint64) error {
		if name != stream || entries == 0 {
			stream, next, last = name, 0, 0
			report.Streams++
		}
		if revision != next && revision != TombstoneRevision || position <= last {
			return l.doubtIndex(fmt.Sprintf("stream %s has revision %d at position %d where %d belongs", Quoted(name), revision, position, next), nil)
		}
		entries++
		last = position
		if revision != TombstoneRevision {
			next = revision + 1
		}
		h, err := l.head(view.snapshot, name)
		if err != nil {
			return err
		}
		if h.position < position || revision == TombstoneRevision && !h.tombstoned || revision != TombstoneRevision && h.last < int64(revision) {
			return l.doubtIndex(fmt.Sprintf("the head of stream %s is behind its events", Quoted(name)), nil)
		}
		return nil
	})
	if err == nil && entries != report.Records {
		return l.doubtIndex(fmt.Sprintf("it holds %d records, the log %d", entries, report.Records), nil)
	}
	return err
}

// verifyHeads checks that every head names the newest record of its stream.
func (l *Log) verifyHeads(ctx context.Context, report *Report, pace func(uint64, int) error) error {
	return l.walkIndex(ctx, headSpace, func(view *View, key, value []byte) error {
		stream := string(key[1:])
		h, ok := parseHead(value)
		if !ok {
			return l.doubtIndex(fmt.Sprintf("the head of stream %s cannot be read", Quoted(stream)), nil)
		}
		if err := l.proveHead(view.snapshot, stream, h); err != nil {
			return err
		}
		return pace(report.Records, len(key)+len(value))
	})
}

package eventlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// An index stream lists events of other streams as links, in the order of the log. Nobody writes to it, and its links are
// not in the log: an entry of the index leads to the event, and the link is made from the event when it is read.
//
// What decides that an event is listed, but for its correlation id, is in the part of a record that is never removed. So
// the n-th link is the same for ever, also in an index that was built again after payloads were removed.
const (
	categoryPrefix    = "$ce-"       // events of the streams whose name begins with the category and "-"
	typePrefix        = "$et-"       // events of the type; tombstones are in $et-$deleted
	membersPrefix     = "$category-" // first events of the streams of the category
	correlationPrefix = "$bc-"       // events with the correlation id in their metadata
	streamsName       = "$streams"   // first events of all streams

	categorySeparator = '-'
	deletedKey        = "$deleted"
	correlationField  = "$correlationId"
)

// indexKind says by what an index stream lists events. The zero value is an ordinary stream.
type indexKind uint8

const (
	byCategory indexKind = iota + 1
	byType
	byMembership
	byExistence
	byCorrelation
	indexKinds
)

// numbered reports whether the links of the stream have revisions 0, 1, 2 … Those of a correlation id have the positions of
// their events as revisions: metadata may be removed, and the links behind must keep theirs.
func (k indexKind) numbered() bool { return k != byCorrelation }

// indexStreamOf returns what an index stream lists; kind is 0 for any other stream.
func indexStreamOf(stream string) (kind indexKind, key string) {
	if !strings.HasPrefix(stream, "$") {
		return 0, ""
	}
	if stream == streamsName {
		return byExistence, ""
	}
	for kind, prefix := range indexPrefixes {
		if key, found := strings.CutPrefix(stream, prefix); found && prefix != "" {
			return indexKind(kind), key
		}
	}
	return 0, ""
}

var indexPrefixes = [indexKinds]string{byCategory: categoryPrefix, byType: typePrefix, byMembership: membersPrefix, byCorrelation: correlationPrefix}

// IsIndexStream reports whether the log itself says what the stream holds.
func IsIndexStream(stream string) bool {
	kind, _ := indexStreamOf(stream)
	return kind != 0
}

func indexStreamName(kind indexKind, key string) string {
	if kind == byExistence {
		return streamsName
	}
	return indexPrefixes[kind] + key
}

// category is the part of a stream's name before the first separator; "" for streams that have none.
func category(stream string) string {
	if strings.HasPrefix(stream, "$") {
		return ""
	}
	return stream[:max(0, strings.IndexByte(stream, categorySeparator))]
}

// indexed returns which index stream of a kind lists the record; none when found is false.
func (r *Record) indexed(kind indexKind) (key string, found bool) {
	switch kind {
	case byCategory:
		key = category(r.Stream)
		found = key != ""
	case byType:
		switch {
		case r.Revision == TombstoneRevision:
			return deletedKey, true
		case r.Type == LinkType:
			return "", false
		}
		key, found = r.Type, true
	case byMembership:
		key = category(r.Stream)
		found = key != "" && r.Revision == 0
	case byExistence:
		return "", r.Revision == 0 && !strings.HasPrefix(r.Stream, "$")
	case byCorrelation:
		if r.Type == LinkType {
			return "", false
		}
		key = correlationID(r.Metadata)
		found = key != ""
	}
	return key, found && len(indexPrefixes[kind])+len(key) <= MaxStreamNameBytes
}

// correlationID reads the correlation id of an event's metadata; "" when there is none that is a text.
func correlationID(metadata []byte) string {
	if !bytes.Contains(metadata, []byte(correlationField[1:])) { // JSON may have the $ escaped
		return ""
	}
	var fields map[string]json.RawMessage // into a struct, keys would match without case
	if json.Unmarshal(metadata, &fields) != nil {
		return ""
	}
	var id string
	if json.Unmarshal(fields[correlationField], &id) != nil {
		return ""
	}
	return id
}

// indexHead is the newest link of an index stream.
type indexHead struct {
	kind   indexKind
	stream string
	head
	touched bool // by the batch that is not applied yet
}

// indexStreams adds records to the index streams, in the order of the log. Heads of a batch that is not applied are only here.
type indexStreams struct {
	log     *Log
	known   [indexKinds]map[string]*indexHead // by key
	count   int
	touched []*indexHead
	key     []byte // reused
}

const maxKnownIndexStreams = 8192

// add adds records, whose frames are at these places, in the order of the log: to one kind of stream after the other, as putPlaces does.
func (x *indexStreams) add(batch *pebble.Batch, records []Record, places []place) error {
	for kind := byCategory; kind < indexKinds; kind++ {
		for i := range records {
			key, found := records[i].indexed(kind)
			if !found {
				continue
			}
			if err := x.addTo(batch, kind, key, places[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTo adds the record at a place to one index stream.
func (x *indexStreams) addTo(batch *pebble.Batch, kind indexKind, key string, at place) error {
	h, err := x.headOf(kind, key)
	if err != nil {
		return err
	}
	if h.position >= at.position {
		return &IndexError{Dir: x.log.dir, Reason: fmt.Sprintf("stream %s has position %d already", Quoted(h.stream), at.position)}
	}
	h.last++
	if !kind.numbered() {
		h.last = int64(at.position)
	}
	h.position = at.position
	if !h.touched {
		h.touched = true
		x.touched = append(x.touched, h)
	}
	x.key = appendIndexKey(x.key[:0], h.stream, uint64(h.last))
	return batch.Set(x.key, at.encode(), nil)
}

func (x *indexStreams) headOf(kind indexKind, key string) (*indexHead, error) {
	if h := x.known[kind][key]; h != nil {
		return h, nil
	}
	h := &indexHead{kind: kind, stream: indexStreamName(kind, key)}
	var err error
	if h.head, err = x.log.indexHead(x.log.index, h.stream); err != nil {
		return nil, err
	}
	if err := x.log.proveIndexHead(h); err != nil {
		return nil, err
	}
	if x.known[kind] == nil {
		x.known[kind] = map[string]*indexHead{}
	}
	x.known[kind][strings.Clone(key)] = h
	x.count++
	return h, nil
}

// putHeads adds the heads that changed to the batch.
func (x *indexStreams) putHeads(batch *pebble.Batch) error {
	for _, h := range x.touched {
		if err := batch.Set(indexHeadKey(h.stream), h.encode(), nil); err != nil {
			return err
		}
	}
	return nil
}

// applied is called when the batch is in the index.
func (x *indexStreams) applied() {
	for _, h := range x.touched {
		h.touched = false
	}
	x.touched = x.touched[:0]
	if x.count > maxKnownIndexStreams {
		x.known, x.count = [indexKinds]map[string]*indexHead{}, 0
	}
}

// indexHead reads the head of an index stream.
func (l *Log) indexHead(from reader, stream string) (head, error) {
	value, err := l.readValue(from, indexHeadKey(stream))
	if err != nil || value == nil {
		return head{last: -1}, err
	}
	h, ok := parseHead(value)
	if !ok {
		return head{}, l.doubtIndex(fmt.Sprintf("the head of stream %s cannot be read", Quoted(stream)), nil)
	}
	return h, nil
}

// proveIndexHead checks that a head names the newest entry of its stream: entries written behind a wrong one would be wrong too.
func (l *Log) proveIndexHead(h *indexHead) error {
	next, err := l.readValue(l.index, appendIndexKey(nil, h.stream, uint64(h.last+1)))
	if err != nil {
		return err
	}
	proven := next == nil
	if h.last >= 0 {
		value, err := l.readValue(l.index, appendIndexKey(nil, h.stream, uint64(h.last)))
		if err != nil {
			return err
		}
		newest, ok := parsePlace(value)
		proven = proven && ok && newest.position == h.position
	}
	if !proven {
		return l.doubtIndex(fmt.Sprintf("the head of stream %s is not its newest entry", Quoted(h.stream)), nil)
	}
	return nil
}

// readIndexStream is ReadStream for an index stream. Events whose metadata was removed have no correlation id any more: their
// links, which an index that is built again does not have, are left out.
func (v *View) readIndexStream(ctx context.Context, stream string, first, last uint64, backwards bool, page Page) ([]Record, error) {
	h, err := v.log.indexHead(v.snapshot, stream)
	if err != nil || h.last < 0 {
		return nil, err
	}
	last = min(last, uint64(h.last))
	for first <= last {
		links, err := v.readLinks(ctx, stream, first, last, backwards, page)
		if len(links) == 0 {
			return nil, err
		}
		reached := links[len(links)-1].Revision
		if links = slices.DeleteFunc(links, func(r Record) bool { return r.Redacted }); len(links) > 0 || err != nil {
			return links, err
		}
		if !backwards {
			first = reached + 1
		} else if reached == 0 {
			break
		} else {
			last = reached - 1
		}
	}
	return nil, nil
}

// readLinks reads the links first … last of an index stream that ends at last or later; those of a correlation id are marked where they are to be left out.
func (v *View) readLinks(ctx context.Context, stream string, first, last uint64, backwards bool, page Page) ([]Record, error) {
	kind, key := indexStreamOf(stream)
	iterator, err := v.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{
		LowerBound: appendIndexKey(nil, stream, first), UpperBound: appendIndexKey(nil, stream, last+1),
	})
	if err != nil {
		return nil, v.log.indexError(err)
	}
	wanted := first
	if backwards {
		wanted = last
	}
	var revisions []uint64 // in the direction of the read
	places, err := v.collect(iterator, backwards, page, func() (place, error) {
		at, ok := parsePlace(iterator.Value())
		revision := revisionOf(iterator.Key())
		if !ok || kind.numbered() && revision != wanted {
			return at, v.log.doubtIndex(fmt.Sprintf("it does not lead to revision %d of stream %s", wanted, Quoted(stream)), nil)
		}
		revisions = append(revisions, revision)
		if backwards {
			wanted--
		} else {
			wanted++
		}
		return at, nil
	})
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		if kind.numbered() {
			return nil, v.log.doubtIndex(fmt.Sprintf("it does not lead to revision %d of stream %s", wanted, Quoted(stream)), nil)
		}
		return nil, nil
	}
	targets, err := v.log.readPlaces(ctx, places, backwards, func(i int, r, _ *stored) string {
		if listed, found := r.indexed(kind); found && listed == key || kind == byCorrelation && r.Redacted {
			return ""
		}
		if backwards {
			i = len(places) - 1 - i
		}
		return fmt.Sprintf("the index has revision %d of stream %s there", revisions[i], Quoted(stream))
	})
	if len(targets) == 0 {
		return nil, err
	}
	links := make([]Record, len(targets))
	for i := range targets {
		links[i] = v.log.link(kind, stream, revisions[i], &targets[i])
	}
	return links, err
}

// link is the record of an index stream that leads to an event. A link among the events of a category is passed on: it leads
// where that one leads. The id is the same whenever the link is made.
func (l *Log) link(kind indexKind, stream string, revision uint64, target *Record) Record {
	data := append(strconv.AppendUint(nil, target.Revision, 10), '@')
	data = append(data, target.Stream...)
	if kind == byCategory && target.Type == LinkType && len(target.Data) > 0 {
		data = target.Data
	}
	return Record{
		Redacted: kind == byCorrelation && target.Redacted,
		Position: target.Position, Stream: stream, Revision: revision, Type: LinkType, CreatedTicks: target.CreatedTicks, Data: data,
		ID: uuid.NewSHA1(l.id, binary.BigEndian.AppendUint64([]byte(stream), revision)),
	}
}

// verifyIndexStreams checks that the numbered index streams list count events, without gaps and in the order of the log, and
// that the heads are the last ones.
func (l *Log) verifyIndexStreams(ctx context.Context, report *Report, count uint64, pace func(uint64, int) error) error {
	var (
		entries uint64
		stream  string // the current one
		kind    indexKind
		next    uint64 // revision that must come next
		last    uint64 // position of the newest entry seen of the stream
	)
	err := l.walkRevisions(ctx, indexStreamSpace, report.Records, pace, func(view *View, name string, revision, position uint64) error {
		if name != stream {
			stream, next, last = name, 0, 0
			kind, _ = indexStreamOf(name)
		}
		if kind == 0 || kind.numbered() && revision != next || !kind.numbered() && revision != position || position <= last {
			return l.doubtIndex(fmt.Sprintf("stream %s has revision %d at position %d where %d belongs", Quoted(name), revision, position, next), nil)
		}
		last, next = position, revision+1
		if kind.numbered() {
			entries++
		}
		h, err := l.indexHead(view.snapshot, name)
		if err != nil {
			return err
		}
		if h.position < position || h.last < int64(revision) {
			return l.doubtIndex(fmt.Sprintf("the head of stream %s is behind its events", Quoted(name)), nil)
		}
		return nil
	})
	if err == nil && entries != count {
		return l.doubtIndex(fmt.Sprintf("its index streams list %d events, the log has %d for them", entries, count), nil)
	}
	return err
}

// indexMemberships is the number of numbered index streams that list the record.
func (r *Record) indexMemberships() (n uint64) {
	for kind := byCategory; kind < indexKinds; kind++ {
		if _, found := r.indexed(kind); found && kind.numbered() {
			n++
		}
	}
	return n
}

// indexStream is Stream for an index stream: nothing of it is ever hidden.
func (v *View) indexStream(stream string) (StreamInfo, error) {
	h, err := v.log.indexHead(v.snapshot, stream)
	return StreamInfo{Last: h.last}, err
}

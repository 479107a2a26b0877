package migration

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/node/eventlog"
)

// wanted is an event that the copy must have.
type wanted struct {
	stream   string
	revision uint64
	position uint64 // in the source; of an event that was removed, that of the next of its stream
	last     int64  // of a tombstone: revision of the stream's newest event, -1 where it has none
	event    esdb.EventData
}

func (w *wanted) isTombstone() bool { return w.revision == eventlog.TombstoneRevision }
func (w *wanted) isMetadata() bool  { return eventlog.IsMetaStream(w.stream) }

// Counts is what a source holds.
type Counts struct {
	Events  uint64 `json:"events"` // that the copy has
	Streams uint64 `json:"streams"`
	// Removed of Events are those whose payload the source has removed: the copy has an event that says so at their revision.
	Removed uint64 `json:"removed"`
	// LeftOut is how many events belong to the server itself, by the beginning of their streams' names.
	LeftOut map[string]uint64 `json:"left_out"`
	// Digested is how many events SHA256 is the Digest of.
	Digested uint64 `json:"digested"`
	SHA256   string `json:"sha256"`
}

// reading reads a source once.
type reading struct {
	counts Counts
	next   map[string]uint64 // revision that the next event of a stream has
	// unshown are the newest events of streams where these have no payload any more.
	unshown map[string]*wanted
	digest  *Digest
	chain   uuid.UUID // of a folder: the id of its hash chain
	reached export.Reached
	each    func(*wanted) error
}

// read calls each for every event that the copy must have, in order. The memory of an event is not used again.
func read(ctx context.Context, from export.Source, pass func(position, of uint64) error, each func(*wanted) error) (*reading, error) {
	r := &reading{counts: Counts{LeftOut: map[string]uint64{}}, next: map[string]uint64{}, unshown: map[string]*wanted{}, digest: NewDigest(), each: each}
	var err error
	r.reached, err = from(ctx, export.Selection{}, export.Sink{
		Begin: func(h export.Header) error {
			r.chain = h.LogID
			return nil
		},
		Event: func(e *export.Event) error { return errors.Join(ctx.Err(), r.take(e)) },
		Pass:  pass,
	})
	if err == nil {
		err = r.end()
	}
	r.counts.Streams, r.counts.Digested, r.counts.SHA256 = uint64(len(r.next)), r.digest.Events(), r.digest.String()
	return r, err
}

func (r *reading) take(e *export.Event) error {
	switch {
	case e.Stream == eventstore.IdentityStream:
		return nil
	case export.IsOfServer(e.Stream):
		kind, _, _ := strings.Cut(e.Stream, "-")
		r.counts.LeftOut[kind]++
		return nil
	}
	w := &wanted{stream: e.Stream, revision: e.Revision, position: e.Position, event: e.Proposed()}
	w.event.Data, w.event.Metadata = bytes.Clone(e.Data), bytes.Clone(e.Metadata)
	if w.isTombstone() {
		w.last = int64(r.next[w.stream]) - 1
		return r.pass(w)
	}
	if e.Redacted {
		r.unshown[w.stream] = w
		return nil
	}
	delete(r.unshown, w.stream)
	if err := r.passRemoved(w.stream, w.position, w.revision); err != nil {
		return err
	}
	return r.pass(w)
}

// passRemoved passes what stands for the events of a stream before a revision that the source has removed from its files. A server does
// not show these any more and a folder does; both are copied in the same way, at the next event of the stream.
func (r *reading) passRemoved(stream string, position, before uint64) error {
	for next := r.next[stream]; next < before; next++ {
		r.counts.Removed++
		if err := r.pass(removed(stream, position, next)); err != nil {
			return err
		}
	}
	return nil
}

// end passes what stands for the newest events of streams that a folder has removed: the next event of the stream has its revision.
func (r *reading) end() error {
	for _, stream := range slices.Sorted(maps.Keys(r.unshown)) {
		newest := r.unshown[stream]
		if err := r.passRemoved(stream, newest.position, newest.revision+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) pass(w *wanted) error {
	r.counts.Events++
	if !w.isTombstone() {
		r.next[w.stream] = w.revision + 1
	}
	r.digest.Add(w.stream, w.revision, w.event)
	return r.each(w)
}

// removedIDs is the namespace of the ids of events that stand for those that were removed.
var removedIDs = uuid.MustParse("5f0c4a52-7c1e-4f0b-9a55-2b1f7d1f6c48")

// removed stands for an event without its payload. In a stream of metadata it is empty metadata: a server takes nothing else there, and
// what was removed was in force no more.
func removed(stream string, position, revision uint64) *wanted {
	name := eventstore.RemovedEvent
	if eventlog.IsMetaStream(stream) {
		name = eventlog.MetadataType
	}
	id := uuid.NewSHA1(removedIDs, []byte(stream+"/"+strconv.FormatUint(revision, 10)))
	return &wanted{stream: stream, revision: revision, position: position, event: esdb.EventData{EventID: id, EventType: name, ContentType: esdb.ContentTypeJson, Data: []byte("{}")}}
}

// Digest is the hash by which an audit finds that a migrated log still has what was copied (docs/audit.md): SHA-256 over the SHA-256 of
// each event in the log's order, which is over stream, revision (decimal), id, type, data and metadata, each after its length in bytes
// (64 bits, big-endian). Left out is what a server may remove or writes itself: streams runner-… and those whose names begin with "$",
// and tombstones.
type Digest struct {
	sum    hash.Hash
	events uint64
}

// NewDigest is the digest of no events.
func NewDigest() *Digest { return &Digest{sum: sha256.New()} }

// Add adds the next event.
func (d *Digest) Add(stream string, revision uint64, e esdb.EventData) {
	if strings.HasPrefix(stream, "$") || strings.HasPrefix(stream, "runner-") || revision == eventlog.TombstoneRevision {
		return
	}
	one := sha256.New()
	var length [8]byte
	for _, field := range [][]byte{[]byte(stream), strconv.AppendUint(nil, revision, 10), []byte(e.EventID.String()), []byte(e.EventType), e.Data, e.Metadata} {
		binary.BigEndian.PutUint64(length[:], uint64(len(field)))
		one.Write(length[:])
		one.Write(field)
	}
	d.sum.Write(one.Sum(nil))
	d.events++
}

// Events is how many were added and not left out.
func (d *Digest) Events() uint64 { return d.events }

func (d *Digest) String() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// copied reads what a target has of a copy, in its order.
type copied struct {
	reading *esdb.ReadStream // nil at the end
	peeked  *esdb.RecordedEvent
}

func readCopied(ctx context.Context, client *esdb.Client) (*copied, error) {
	reading, err := client.ReadAll(ctx, esdb.ReadAllOptions{From: esdb.Start{}}, math.MaxInt64)
	return &copied{reading: reading}, err
}

// peek returns the next event; nil at the end.
func (c *copied) peek() (*esdb.RecordedEvent, error) {
	for c.peeked == nil && c.reading != nil {
		e, err := c.reading.Recv()
		if errors.Is(err, io.EOF) {
			c.close()
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if has := e.OriginalEvent(); has.StreamID != eventstore.IdentityStream && !export.IsOfServer(has.StreamID) {
			c.peeked = has
		}
	}
	return c.peeked, nil
}

func (c *copied) pop() { c.peeked = nil }

func (c *copied) close() {
	if c.reading != nil {
		c.reading.Close()
		c.reading = nil
	}
}

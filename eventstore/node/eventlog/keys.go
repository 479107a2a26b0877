package eventlog

import (
	"encoding/binary"

	"github.com/google/uuid"
)

// Key spaces of the index. All numbers big-endian, so that key order is number order.
//
//	m state                        how far the index reaches
//	p position                     offset u64, length u32 of the record's frame
//	s len(stream) stream revision  position u64, offset u64, length u32
//	h stream                       head of the stream
//	d len(stream) stream revision  position u64, offset u64, length u32 of the event that an index stream lists
//	e stream                       head of the index stream
//	g position                     nothing: a segment has this base
const (
	positionSpace = 'p'
	revisionSpace = 's'
	headSpace     = 'h'

	indexStreamSpace = 'd'
	indexHeadSpace   = 'e'

	segmentSpace = 'g'
)

var stateKey = []byte("m state")

// indexFormat changes whenever the keys or values do; an index of another format is built again.
const indexFormat = 3

// indexState says how far the index reaches: all records up to the cursor, and no other, are in it.
type indexState struct {
	id uuid.UUID
	cursor
}

const indexStateBytes = 1 + 16 + 8 + 8 + 32

func (s indexState) encode() []byte {
	b := append(make([]byte, 0, indexStateBytes), indexFormat)
	b = append(b, s.id[:]...)
	b = binary.BigEndian.AppendUint64(b, s.position)
	b = binary.BigEndian.AppendUint64(b, uint64(s.offset))
	return append(b, s.link[:]...)
}

func parseIndexState(b []byte) (indexState, bool) {
	if len(b) != indexStateBytes || b[0] != indexFormat {
		return indexState{}, false
	}
	return indexState{
		id:     uuid.UUID(b[1:17]),
		cursor: cursor{position: binary.BigEndian.Uint64(b[17:]), offset: int64(binary.BigEndian.Uint64(b[25:])), link: hash(b[33:])},
	}, true
}

func positionKey(position uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{positionSpace}, position)
}

func segmentKey(base uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{segmentSpace}, base)
}

// positionOf returns the position in a key of positionSpace or segmentSpace.
func positionOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[1:]) }

func appendRevisionKey(dst []byte, stream string, revision uint64) []byte {
	return appendNumbered(append(dst, revisionSpace), stream, revision)
}

func appendIndexKey(dst []byte, stream string, revision uint64) []byte {
	return appendNumbered(append(dst, indexStreamSpace), stream, revision)
}

func appendNumbered(dst []byte, stream string, revision uint64) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(stream)))
	dst = append(dst, stream...)
	return binary.BigEndian.AppendUint64(dst, revision)
}

// revisionOf returns the revision in a key of revisionSpace or indexStreamSpace.
func revisionOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

func headKey(stream string) []byte {
	return append([]byte{headSpace}, stream...)
}

func indexHeadKey(stream string) []byte {
	return append([]byte{indexHeadSpace}, stream...)
}

const placeBytes = 8 + 8 + 4

// encode is the value of an entry of a stream's index. Without its first 8 bytes it is that of a position's.
func (p place) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, placeBytes), p.position)
	b = binary.BigEndian.AppendUint64(b, uint64(p.offset))
	return binary.BigEndian.AppendUint32(b, p.length)
}

func parsePlace(b []byte) (place, bool) {
	if len(b) != placeBytes {
		return place{}, false
	}
	return place{binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint64(b[8:])), binary.BigEndian.Uint32(b[16:])}, true
}

// parsePositionPlace reads the value of a position's entry.
func parsePositionPlace(position uint64, b []byte) (place, bool) {
	if len(b) != placeBytes-8 {
		return place{}, false
	}
	return place{position, int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:])}, true
}

// head is the last revision and position of one stream.
type head struct {
	last       int64  // last revision, -1 when there are no events
	position   uint64 // of the newest record, 0 when there are none
	tombstoned bool
}

const headBytes = 17

func (h head) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, headBytes), uint64(h.last))
	b = binary.BigEndian.AppendUint64(b, h.position)
	if h.tombstoned {
		return append(b, 1)
	}
	return append(b, 0)
}

func parseHead(b []byte) (head, bool) {
	if len(b) != headBytes || b[16] > 1 {
		return head{}, false
	}
	return head{
		last:       int64(binary.BigEndian.Uint64(b)),
		position:   binary.BigEndian.Uint64(b[8:]),
		tombstoned: b[16] == 1,
	}, true
}

package eventlog

import "encoding/binary"

// Key spaces. All numbers big-endian, so that key order is number order.
//
//	m identity                     format, log id, time of creation
//	r position                     the record
//	s len(stream) stream revision  position of the record
//	h stream                       head of the stream
const (
	recordSpace   = 'r'
	revisionSpace = 's'
	headSpace     = 'h'
)

var identityKey = []byte("m identity")

func recordKey(position uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{recordSpace}, position)
}

func appendRevisionKey(dst []byte, stream string, revision uint64) []byte {
	dst = append(dst, revisionSpace)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(stream)))
	dst = append(dst, stream...)
	return binary.BigEndian.AppendUint64(dst, revision)
}

func headKey(stream string) []byte {
	return append([]byte{headSpace}, stream...)
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

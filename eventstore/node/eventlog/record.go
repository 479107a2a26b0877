package eventlog

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Limits of what one record may hold.
const (
	MaxAppendBytes     = 1 << 20 // over the events of one append: data + metadata + 2·type
	MaxStreamNameBytes = 4094    // the stream of its metadata has two more
)

// TicksPerSecond is the unit of creation stamps: 100-ns ticks since the Unix epoch.
const TicksPerSecond = int64(time.Second / 100)

// Proposed is an event to be appended.
type Proposed struct {
	ID       uuid.UUID
	Type     string
	JSON     bool // content type application/json; otherwise octet-stream
	Data     []byte
	Metadata []byte
}

// SizeBytes returns the bytes that the event counts towards MaxAppendBytes.
func (p *Proposed) SizeBytes() int { return len(p.Data) + len(p.Metadata) + 2*len(p.Type) }

// Record is an event as it is stored.
type Record struct {
	Position     uint64 // in the log, from 1
	Stream       string
	Revision     uint64 // in the stream, from 0
	ID           uuid.UUID
	Type         string
	JSON         bool
	CreatedTicks int64 // 100-ns ticks since the Unix epoch
	Metadata     []byte
	Data         []byte
	Redacted     bool // the payload was removed after it was written; Data and Metadata are empty
	Link         hash // of the hash chain; that of a record to be appended follows from it
}

// hash is one link of the chain, or the hash of a payload.
type hash = [sha256.Size]byte

const (
	recordFormat = 2
	flagJSON     = 1
	flagLast     = 2 // the last record of its append
	saltBytes    = 16
	headerFixed  = 1 + 8 + 8 + 8 + 16 + 1 + 2 + 4 + 4 + 4 + sha256.Size

	payloadRedacted = 0
	payloadPresent  = 1
)

var errRecord = errors.New("record bytes do not parse")

// stored is a record in its encoded form. Layout, big-endian:
//
//	header   format u8 · position u64 · revision u64 · created u64 · id 16 · flags u8 (1: JSON, 2: last of its append) ·
//	         len(stream) u16 · len(type) u32 · len(metadata) u32 · len(data) u32 ·
//	         payload hash 32 · stream · type
//	chain    SHA-256(previous chain ‖ header)
//	state    u8: 1 payload present, 0 redacted
//	payload  salt 16 · metadata · data        (absent when redacted)
//
// payload hash = SHA-256(salt ‖ metadata ‖ data): the lengths are fixed by the header,
// and the salt keeps a short redacted payload from being guessed from its hash.
type stored struct {
	header  []byte
	payload []byte // salt ‖ metadata ‖ data, nil when redacted
	last    bool   // the last record of its append
	durable uint64 // newest position that was durable when the record was written; it stands in the frame
	offset  int64  // of the frame in the file that it was scanned from
	Record
}

// appendRecord encodes the record behind dst and returns the extended slice and the new
// link of the chain.
func appendRecord(dst []byte, r *Record, lastOfAppend bool, salt [saltBytes]byte, previous hash) ([]byte, hash) {
	start := len(dst)
	dst = appendHeader(dst, r, lastOfAppend, payloadHash(salt[:], r.Metadata, r.Data), len(r.Metadata), len(r.Data))
	link := chainLink(previous, dst[start:])
	dst = append(dst, link[:]...)
	dst = append(dst, payloadPresent)
	dst = append(dst, salt[:]...)
	dst = append(dst, r.Metadata...)
	dst = append(dst, r.Data...)
	return dst, link
}

// appendHeader encodes the part of a record that its link covers, behind dst.
func appendHeader(dst []byte, r *Record, lastOfAppend bool, payload hash, metadataBytes, dataBytes int) []byte {
	dst = append(dst, recordFormat)
	dst = binary.BigEndian.AppendUint64(dst, r.Position)
	dst = binary.BigEndian.AppendUint64(dst, r.Revision)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.CreatedTicks))
	dst = append(dst, r.ID[:]...)
	flags := byte(0)
	if r.JSON {
		flags = flagJSON
	}
	if lastOfAppend {
		flags |= flagLast
	}
	dst = append(dst, flags)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.Stream)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r.Type)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(metadataBytes))
	dst = binary.BigEndian.AppendUint32(dst, uint32(dataBytes))
	dst = append(dst, payload[:]...)
	dst = append(dst, r.Stream...)
	return append(dst, r.Type...)
}

// payloadHash returns the hash of a payload that the header has.
func payloadHash(salt, metadata, data []byte) hash {
	digest := sha256.New()
	digest.Write(salt)
	digest.Write(metadata)
	digest.Write(data)
	var sum hash
	digest.Sum(sum[:0])
	return sum
}

// chainLink returns the link of a record: SHA-256 of the previous link and its header.
func chainLink(previous hash, header []byte) hash {
	digest := sha256.New()
	digest.Write(previous[:])
	digest.Write(header)
	var link hash
	digest.Sum(link[:0])
	return link
}

// parseRecord decodes b, which must hold exactly one record. The result refers to b.
func parseRecord(b []byte) (stored, error) {
	if len(b) < headerFixed || b[0] != recordFormat {
		return stored{}, errRecord
	}
	var s stored
	s.Position = binary.BigEndian.Uint64(b[1:])
	s.Revision = binary.BigEndian.Uint64(b[9:])
	s.CreatedTicks = int64(binary.BigEndian.Uint64(b[17:]))
	copy(s.ID[:], b[25:])
	if b[41]&^(flagJSON|flagLast) != 0 {
		return stored{}, errRecord
	}
	s.JSON, s.last = b[41]&flagJSON != 0, b[41]&flagLast != 0
	streamLen := int64(binary.BigEndian.Uint16(b[42:]))
	typeLen := int64(binary.BigEndian.Uint32(b[44:]))
	metadataLen := int64(binary.BigEndian.Uint32(b[48:]))
	dataLen := int64(binary.BigEndian.Uint32(b[52:]))

	headerLen := headerFixed + streamLen + typeLen
	rest := int64(len(b)) - headerLen - sha256.Size - 1
	if rest < 0 {
		return stored{}, errRecord
	}
	s.header = b[:headerLen:headerLen]
	s.Stream = string(b[headerFixed : headerFixed+streamLen])
	s.Type = string(b[headerFixed+streamLen : headerLen])
	copy(s.Link[:], b[headerLen:])
	payload := b[headerLen+sha256.Size+1:]
	switch b[headerLen+sha256.Size] {
	case payloadPresent:
		if rest != saltBytes+metadataLen+dataLen {
			return stored{}, errRecord
		}
		s.payload = payload
		s.Metadata = payload[saltBytes : saltBytes+metadataLen : saltBytes+metadataLen]
		s.Data = payload[saltBytes+metadataLen:]
	case payloadRedacted:
		if rest != 0 {
			return stored{}, errRecord
		}
		s.Redacted = true
	default:
		return stored{}, errRecord
	}
	return s, nil
}

// payloadIntact reports whether the payload has the hash in the header, or was redacted.
func (s *stored) payloadIntact() bool {
	if s.Redacted {
		return true
	}
	return sha256.Sum256(s.payload) == hash(s.header[56:56+sha256.Size])
}

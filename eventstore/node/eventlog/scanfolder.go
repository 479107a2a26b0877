package eventlog

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/google/uuid"
)

// Linked is a record with what ties it to the hash chain.
type Linked struct {
	Record
	PayloadHash   [32]byte
	Salt          [16]byte // zero when the payload was removed
	MetadataBytes uint32   // of the payload as it was written
	DataBytes     uint32   // likewise
	LastOfAppend  bool
}

// Genesis returns the link before position 1 of a log.
func Genesis(logID uuid.UUID) [32]byte { return genesisOf(logID) }

// PayloadHash returns the hash by which the chain covers a payload.
func PayloadHash(salt [16]byte, metadata, data []byte) [32]byte {
	return payloadHash(salt[:], metadata, data)
}

// Follows reports whether the record, with its payload where that is present, is the one
// that was written after the record with the link previous.
func (l *Linked) Follows(previous [32]byte) bool {
	if !l.Redacted && (payloadHash(l.Salt[:], l.Metadata, l.Data) != l.PayloadHash || int64(len(l.Metadata)) != int64(l.MetadataBytes) || int64(len(l.Data)) != int64(l.DataBytes)) {
		return false
	}
	if len(l.Stream) > math.MaxUint16 || len(l.Type) > math.MaxInt32 {
		return false
	}
	header := appendHeader(nil, &l.Record, l.LastOfAppend, l.PayloadHash, int(l.MetadataBytes), int(l.DataBytes))
	return chainLink(previous, header) == l.Link
}

func (s *stored) linked() Linked {
	l := Linked{Record: s.Record, LastOfAppend: s.last, PayloadHash: hash(s.header[56 : 56+len(hash{})])}
	l.MetadataBytes, l.DataBytes = binary.BigEndian.Uint32(s.header[48:]), binary.BigEndian.Uint32(s.header[52:])
	if !s.Redacted {
		copy(l.Salt[:], s.payload)
	}
	return l
}

// FolderStart is where ScanFolder begins.
type FolderStart struct {
	LogID    uuid.UUID
	After    uint64   // position before the first record that is read
	Link     [32]byte // of the record there, or the genesis
	Head     uint64   // position of the newest record
	Segments int
	Bytes    int64 // of the segments
}

// ScanFolder calls begin once, and visit for every record after a position, in order, each
// checked against its checksum, its payload's hash and the chain, after it has checked that none is missing at
// the end. Records before the segment that holds the position are not read, so that, other than
// by ReadFolder, revisions are not compared. The memory of a record may be reused after visit. A
// node may have the folder open; nothing is changed. It returns the newest record. Errors:
// those of VerifyFolder but *AnchorError, and those of begin and visit.
func ScanFolder(ctx context.Context, dir string, after uint64, begin func(FolderStart) error, visit func(*Linked) error) (Anchor, error) {
	folder, err := readFolder(dir)
	if err != nil {
		return Anchor{}, err
	}
	defer func() { _ = folder.segments.close() }() // they were only read
	tail, err := folder.scanTail(dir, func(stored, place) {})
	if err == nil {
		err = folder.checkEnd(dir, tail.end)
	}
	if err != nil {
		return Anchor{}, err
	}
	start := FolderStart{LogID: folder.id, After: min(after, tail.end.position), Head: tail.end.position, Segments: len(folder.segments), Bytes: folder.segments.bytes()}
	first := folder.segments.find(start.After + 1)
	from := cursor{position: first.base, link: first.link, offset: segmentHeader}
	began := false
	beginAt := func(link hash) error {
		began, start.Link = true, link
		return begin(start)
	}
	if from.position == start.After {
		if err := beginAt(from.link); err != nil {
			return Anchor{}, err
		}
	}
	end, err := scanSegments(ctx, dir, folder.segments, once, from, tail.end.position, func(r *stored, _ place) error {
		switch {
		case r.Position < start.After:
			return nil
		case !began:
			return beginAt(r.Link)
		}
		l := r.linked()
		return visit(&l)
	})
	if err != nil {
		return Anchor{}, err
	}
	return Anchor{LogID: folder.id, Position: end.position, Link: hex.EncodeToString(end.link[:])}, nil
}

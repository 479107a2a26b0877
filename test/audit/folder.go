package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/eventstore/node/eventlog"
)

// The files of a log by docs/log-format.md, as somebody writes them who has no key but the disk: with all checksums and links right.

const (
	segmentHeaderBytes = 72
	frameHeaderBytes   = 20
	recordsPerSegment  = 24 // a segment is as long as whoever writes it wants
)

// frame is where a record stands.
type frame struct {
	position uint64
	file     string
	offset   int // of the frame in the file
	bytes    int
}

// disk is a log in a folder.
type disk struct {
	dir    string
	id     uuid.UUID
	frames []frame
	links  [][32]byte // of position 0, 1, …
}

// write makes the files of a log. head is the position that HEAD names.
func write(dir string, id uuid.UUID, all []audit.Stored) (*disk, error) {
	d := &disk{dir: dir, id: id}
	if err := os.MkdirAll(filepath.Join(dir, "segments"), 0o700); err != nil {
		return nil, err
	}
	d.links = [][32]byte{audittest.Genesis(id)}
	for base := 0; base == 0 || base < len(all); base += recordsPerSegment {
		name := filepath.Join("segments", fmt.Sprintf("%020d.seg", base))
		content := d.segment(name, base, all[base:min(len(all), base+recordsPerSegment)])
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return d, os.WriteFile(filepath.Join(dir, "HEAD"), d.head(uint64(len(all))), 0o600)
}

// head is the file HEAD for a position.
func (d *disk) head(position uint64) []byte {
	b := append([]byte(nil), d.id[:]...)
	b = binary.BigEndian.AppendUint64(b, position)
	b = append(b, d.links[position][:]...)
	sum := sha256.Sum256(append([]byte("HEAD file"), b...))
	return append(b, sum[:8]...)
}

func (d *disk) segment(name string, base int, events []audit.Stored) []byte {
	content := append([]byte("RKSEGMNT"), 0, 0, 0, 2)
	content = append(content, d.id[:]...)
	content = binary.BigEndian.AppendUint64(content, uint64(base))
	content = append(content, d.links[base][:]...)
	content = binary.BigEndian.AppendUint32(content, crc32.ChecksumIEEE(content))
	for i, e := range events {
		record := d.record(uint64(base+i+1), e)
		at := frame{uint64(base + i + 1), name, len(content), frameHeaderBytes + len(record)}
		content = append(content, "RKEV"...)
		content = binary.BigEndian.AppendUint32(content, uint32(len(record)))
		content = binary.BigEndian.AppendUint64(content, uint64(base+i))
		content = append(binary.BigEndian.AppendUint32(content, 0), record...)
		setChecksum(content, at)
		d.frames = append(d.frames, at)
	}
	return content
}

// setChecksum makes the checksum of a frame right.
func setChecksum(segment []byte, at frame) {
	seed := binary.BigEndian.Uint32(segment[68:])
	sum := crc32.Update(seed, crc32.IEEETable, segment[at.offset:at.offset+16])
	sum = crc32.Update(sum, crc32.IEEETable, segment[at.offset+frameHeaderBytes:at.offset+at.bytes])
	binary.BigEndian.PutUint32(segment[at.offset+16:], sum)
}

func (d *disk) record(position uint64, e audit.Stored) []byte {
	record, link := audittest.Record(position, d.links[len(d.links)-1], e)
	d.links = append(d.links, link)
	return record
}

// anchors are what `reckon node verify` would have printed at every n-th position and at the end.
func (d *disk) anchors(n int) (all []eventlog.Anchor) {
	for position := n; ; position += n {
		position = min(position, len(d.links)-1)
		all = append(all, eventlog.Anchor{LogID: d.id, Position: uint64(position), Link: hex.EncodeToString(d.links[position][:])})
		if position == len(d.links)-1 {
			return all
		}
	}
}

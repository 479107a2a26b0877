package eventlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// The file format is described in docs/log-format.md. All numbers are big-endian.

const (
	segmentFolder = "segments"
	segmentSuffix = ".seg"
	segmentMagic  = "RKSEGMNT"
	segmentFormat = 2
	segmentHeader = 8 + 4 + 16 + 8 + 32 + 4 // bytes before the first frame

	frameMagic  = "RKEV"
	frameHeader = 4 + 4 + 8 + 4 // bytes before the record

	// segmentBytes is the size at which a segment is sealed. The last group may exceed it.
	segmentBytes = 64 << 20
	// maxOpenSegments bounds the files that stay open; others are opened for each read.
	maxOpenSegments = 512
)

// segment is one file of the log: the records after position base, up to the base of the
// next one. Only the newest one, the tail, grows; the others are sealed and never change.
type segment struct {
	base uint64 // position of the record before the first
	link hash   // of that record; the genesis for base 0
	path string
	seed uint32       // checksum of the header, with which every frame's checksum begins
	end  atomic.Int64 // bytes that are durable and may be read

	files fileSystem
	mu    sync.Mutex
	kept  file // nil while it is not kept open
}

func segmentName(base uint64) string { return fmt.Sprintf("%020d%s", base, segmentSuffix) }

// segmentBase returns the base in a segment's file name.
func segmentBase(name string) (uint64, bool) {
	digits, isSegment := strings.CutSuffix(name, segmentSuffix)
	base, err := strconv.ParseUint(digits, 10, 64)
	return base, isSegment && err == nil && segmentName(base) == name
}

func encodeSegmentHeader(id uuid.UUID, base uint64, link hash) []byte {
	b := append(make([]byte, 0, segmentHeader), segmentMagic...)
	b = binary.BigEndian.AppendUint32(b, segmentFormat)
	b = append(b, id[:]...)
	b = binary.BigEndian.AppendUint64(b, base)
	b = append(b, link[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// parseSegmentHeader reads the header of a segment; the reason says what is wrong with it.
func parseSegmentHeader(b []byte) (id uuid.UUID, base uint64, link hash, seed uint32, reason string) {
	switch {
	case len(b) < segmentHeader:
		return id, base, link, seed, "the header of the segment is cut short"
	case string(b[:8]) != segmentMagic:
		return id, base, link, seed, "the file does not begin as a segment does"
	}
	seed = binary.BigEndian.Uint32(b[segmentHeader-4:])
	if crc32.ChecksumIEEE(b[:segmentHeader-4]) != seed {
		return id, base, link, seed, "the checksum of the segment's header is wrong"
	}
	if format := binary.BigEndian.Uint32(b[8:]); format != segmentFormat {
		return id, base, link, seed, fmt.Sprintf("the segment has format %d, this version reads %d", format, segmentFormat)
	}
	copy(id[:], b[12:])
	copy(link[:], b[36:])
	return id, binary.BigEndian.Uint64(b[28:]), link, seed, ""
}

// createSegment makes an empty segment, durably.
func createSegment(files fileSystem, dir string, id uuid.UUID, base uint64, link hash) (*segment, error) {
	path := filepath.Join(dir, segmentFolder, segmentName(base))
	header := encodeSegmentHeader(id, base, link)
	f, err := writeNew(files, path, header)
	if err != nil {
		return nil, err
	}
	s := &segment{base: base, link: link, path: path, seed: binary.BigEndian.Uint32(header[segmentHeader-4:]), files: files, kept: f}
	s.end.Store(segmentHeader)
	return s, nil
}

// use calls f with the open file. keep says that the file may stay open afterwards.
func (s *segment) use(keep bool, f func(file) error) error {
	s.mu.Lock()
	opened := s.kept
	if opened == nil {
		var err error
		if opened, err = s.files.open(s.path); err != nil {
			s.mu.Unlock()
			return err
		}
		if keep {
			s.kept = opened
		} else {
			defer func() { _ = opened.Close() }() // it was only read
		}
	}
	s.mu.Unlock()
	return f(opened)
}

func (s *segment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		return nil
	}
	err := s.kept.Close()
	s.kept = nil
	return err
}

// place is where a record lies: its frame has this many bytes at this offset of the
// segment that holds its position.
type place struct {
	position uint64
	offset   int64
	length   uint32
}

func (p place) end() int64 { return p.offset + int64(p.length) }

// appendFrame encodes a record behind dst. durable is the newest position that was durable
// when the record was written: a frame that says n proves that position n was acknowledged.
func appendFrame(dst []byte, seed uint32, durable uint64, r *Record, lastOfAppend bool, salt [saltBytes]byte, previous hash) ([]byte, hash) {
	start := len(dst)
	dst = append(dst, frameMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, durable)
	dst = append(dst, 0, 0, 0, 0)
	dst, link := appendRecord(dst, r, lastOfAppend, salt, previous)
	frame := dst[start:]
	binary.BigEndian.PutUint32(frame[4:], uint32(len(frame)-frameHeader))
	binary.BigEndian.PutUint32(frame[16:], frameSum(seed, frame))
	return dst, link
}

// frameSum is the checksum of a frame: CRC-32 (IEEE 802.3) over all of it but the checksum itself.
func frameSum(seed uint32, frame []byte) uint32 {
	return crc32.Update(crc32.Update(seed, crc32.IEEETable, frame[:16]), crc32.IEEETable, frame[frameHeader:])
}

// frameLength returns the length of the frame that begins with b; false when b does not
// begin as a frame.
func frameLength(b []byte) (int64, bool) {
	if len(b) < frameHeader || string(b[:4]) != frameMagic {
		return 0, false
	}
	return frameHeader + int64(binary.BigEndian.Uint32(b[4:])), true
}

// parseFrame decodes a whole frame; the reason says what is wrong with it. The result refers to b.
func parseFrame(seed uint32, b []byte) (s stored, reason string) {
	length, ok := frameLength(b)
	switch {
	case !ok:
		return stored{}, "no record begins here"
	case length != int64(len(b)):
		return stored{}, "the length of the record is wrong"
	case frameSum(seed, b) != binary.BigEndian.Uint32(b[16:]):
		return stored{}, "the checksum of the record is wrong"
	}
	s, err := parseRecord(b[frameHeader:])
	if err != nil {
		return stored{}, "the record cannot be read"
	}
	s.durable = binary.BigEndian.Uint64(b[8:])
	if s.durable >= s.Position {
		return stored{}, "the record says that it was durable before it was written"
	}
	return s, ""
}

// provesDurable reports whether b holds a frame, at any offset, that was written after the
// position was durable.
func provesDurable(seed uint32, b []byte, position uint64) bool {
	for {
		at := bytes.Index(b, []byte(frameMagic))
		if at < 0 {
			return false
		}
		b = b[at:]
		if length, ok := frameLength(b); ok && length <= int64(len(b)) && binary.BigEndian.Uint64(b[8:]) >= position {
			if s, reason := parseFrame(seed, b[:length]); reason == "" && s.durable >= position {
				return true
			}
		}
		b = b[len(frameMagic):]
	}
}

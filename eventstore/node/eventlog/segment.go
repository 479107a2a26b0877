package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"reckon/internal/openfiles"

	"github.com/google/uuid"
)

// The file format is described in docs/log-format.md. All numbers are big-endian.

const (
	segmentFolder = "segments"
	segmentSuffix = ".seg"
	segmentMagic  = "RKSEGMNT"
	segmentFormat = 2
	// scavengedFormat is that of a segment from which payloads were removed.
	scavengedFormat = 3
	segmentHeader   = 8 + 4 + 16 + 8 + 32 + 4 // bytes before the first frame

	frameMagic  = "RKEV"
	frameHeader = 4 + 4 + 8 + 4 // bytes before the record

	// segmentBytes is the size at which a segment is sealed. The last group may exceed it.
	segmentBytes = 64 << 20
	// lateSegments is how many times that size it may have when no file can be opened for the next one.
	lateSegments = 4
	// maxOpenSegments bounds the files that stay open; others are opened for each read.
	maxOpenSegments = 512
)

// keptSegments is maxOpenSegments, or what the limit of open files leaves.
var keptSegments = sync.OnceValue(func() int { return openfiles.Segments.AtMost(maxOpenSegments) })

// segment is one file of the log: the records after position base, up to the base of the
// next one. Only the newest one, the tail, grows; the others are sealed, and change only
// when a scavenge puts a file without some payloads in their place.
type segment struct {
	base uint64 // position of the record before the first
	link hash   // of that record; the genesis for base 0
	id   uuid.UUID
	path string

	files fileSystem
	mu    sync.Mutex
	now   *contents
}

// contents are one file of a segment.
type contents struct {
	seed      uint32       // checksum of the header, with which every frame's checksum begins
	scavenged bool         // payloads were removed: records do not lie where they were written
	end       atomic.Int64 // bytes that are durable and may be read
	state     fileState    // of the file when it was opened

	// under segment.mu
	kept    file // nil while it is not kept open
	users   int  // of kept
	shelved bool // not to be kept open beyond its users

	layoutMu sync.Mutex
	layout   []landmark // of scavenged contents, nil until it is asked for
}

// opened are contents whose file is open.
type opened struct {
	file
	*contents
	segment *segment
}

// opening says how a file is opened for a use of it.
type opening uint8

const (
	once   opening = iota // closed afterwards, unless it is kept open already
	keep                  // kept open
	afresh                // by its name, and closed afterwards, so that one that is gone is noticed
)

func segmentName(base uint64) string { return fmt.Sprintf("%020d%s", base, segmentSuffix) }

// segmentBase returns the base in a segment's file name.
func segmentBase(name string) (uint64, bool) {
	digits, isSegment := strings.CutSuffix(name, segmentSuffix)
	base, err := strconv.ParseUint(digits, 10, 64)
	return base, isSegment && err == nil && segmentName(base) == name
}

func encodeSegmentHeader(format uint32, id uuid.UUID, base uint64, link hash) []byte {
	b := append(make([]byte, 0, segmentHeader), segmentMagic...)
	b = binary.BigEndian.AppendUint32(b, format)
	b = append(b, id[:]...)
	b = binary.BigEndian.AppendUint64(b, base)
	b = append(b, link[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// checksumOf returns the checksum in a segment's header.
func checksumOf(header []byte) uint32 { return binary.BigEndian.Uint32(header[segmentHeader-4:]) }

// header is what a segment's file begins with.
type header struct {
	scavenged bool
	id        uuid.UUID
	base      uint64
	link      hash
	seed      uint32 // its checksum
}

// parseSegmentHeader reads the header of a segment; the reason says what is wrong with it.
func parseSegmentHeader(b []byte) (h header, reason string) {
	switch {
	case len(b) < segmentHeader:
		return h, "the header of the segment is cut short"
	case string(b[:8]) != segmentMagic:
		return h, "the file does not begin as a segment does"
	}
	h.seed = checksumOf(b)
	if crc32.ChecksumIEEE(b[:segmentHeader-4]) != h.seed {
		return h, "the checksum of the segment's header is wrong"
	}
	format := binary.BigEndian.Uint32(b[8:])
	if format != segmentFormat && format != scavengedFormat {
		return h, fmt.Sprintf("the segment has format %d, this version reads %d and %d", format, segmentFormat, scavengedFormat)
	}
	h.scavenged = format == scavengedFormat
	copy(h.id[:], b[12:])
	copy(h.link[:], b[36:])
	h.base = binary.BigEndian.Uint64(b[28:])
	return h, ""
}

// createSegment makes an empty segment, durably.
func createSegment(files fileSystem, dir string, id uuid.UUID, base uint64, link hash) (*segment, error) {
	return createSegmentAs(segmentFormat, files, dir, id, base, link)
}

func createSegmentAs(format uint32, files fileSystem, dir string, id uuid.UUID, base uint64, link hash) (*segment, error) {
	s := &segment{base: base, link: link, id: id, path: filepath.Join(dir, segmentFolder, segmentName(base)), files: files}
	f, err := writeNew(files, s.path, encodeSegmentHeader(format, id, base, link))
	if err == nil {
		s.now, err = s.adopt(f)
	}
	if err != nil {
		return nil, err
	}
	s.now.kept = f
	return s, nil
}

// adopt reads the header of a file that was opened by the segment's name; *badRecord for one
// that is not of this segment. It closes the file when it returns an error.
func (s *segment) adopt(f file) (*contents, error) {
	state, err := f.stat()
	header := make([]byte, max(0, min(state.size, segmentHeader)))
	if err == nil {
		_, err = f.ReadAt(header, 0)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(s.readError(s.base+1, 0, err), f.Close())
	}
	h, reason := parseSegmentHeader(header)
	switch {
	case reason != "":
	case h.base != s.base:
		reason = fmt.Sprintf("the segment's header says base %d", h.base)
	case h.id != s.id:
		reason = "the segment is one of another log"
	case h.link != s.link:
		reason = "the segment continues another record than it did"
	}
	if reason != "" {
		return nil, errors.Join(&badRecord{position: s.base + 1, reason: reason}, f.Close())
	}
	c := &contents{seed: h.seed, scavenged: h.scavenged, state: state}
	c.end.Store(state.size)
	return c, nil
}

// current are the contents that the segment has now.
func (s *segment) current() *contents {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// use calls f with the open file.
func (s *segment) use(how opening, f func(opened) error) error {
	o, done, err := s.take(how)
	if err != nil {
		return err
	}
	defer done()
	return f(o)
}

func (s *segment) take(how opening) (opened, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.now; c.kept != nil && how != afresh {
		c.users++
		return opened{c.kept, c, s}, func() { s.release(c) }, nil
	}
	f, err := s.files.open(s.path)
	if err != nil {
		return opened{}, nil, s.readError(s.base+1, 0, err)
	}
	c, err := s.adopt(f)
	if err != nil {
		return opened{}, nil, err
	}
	if c.state.isSame(s.now.state) {
		c = s.now
	} else if s.now.kept == nil {
		s.now = c // another process has scavenged it
	}
	if how == keep {
		c.kept = f
		c.users++
		return opened{f, c, s}, func() { s.release(c) }, nil
	}
	return opened{f, c, s}, func() { _ = f.Close() }, nil // it was only read
}

// release ends a use of a kept file; contents that were replaced are closed after their last use.
func (s *segment) release(c *contents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.users--
	s.closeUnused(c)
}

// shelve keeps the segment open no longer than it is used.
func (s *segment) shelve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.shelved = true
	s.closeUnused(s.now)
}

// closeUnused closes a kept file that nobody uses and nobody will find. The caller has the lock.
func (s *segment) closeUnused(c *contents) {
	if c.users == 0 && c.kept != nil && (c != s.now || c.shelved) {
		_ = c.kept.Close() // all that was written is durable
		c.kept = nil
	}
}

func (s *segment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || s.now.kept == nil {
		return nil
	}
	err := s.now.kept.Close()
	s.now.kept = nil
	return err
}

// place is where a record was written: its frame had this many bytes at this offset of the
// segment that holds its position. A scavenged segment is shorter; segment.landmarks leads
// from the places to its records, so that places never change.
type place struct {
	position uint64
	offset   int64
	length   uint32
}

func (p place) end() int64 { return p.offset + int64(p.length) }

// appendFrame encodes a record behind dst. durable is the newest position that was durable
// when the record was written: a frame that says n proves that position n was acknowledged.
func appendFrame(dst []byte, seed uint32, durable uint64, r *Record, lastOfAppend bool, salt [saltBytes]byte, previous hash) ([]byte, hash) {
	return frameAround(dst, seed, durable, func(dst []byte) ([]byte, hash) { return appendRecord(dst, r, lastOfAppend, salt, previous) })
}

// appendRemoved is appendFrame of a record whose payload was removed.
func appendRemoved(dst []byte, seed uint32, durable uint64, l *Linked, previous hash) ([]byte, hash) {
	return frameAround(dst, seed, durable, func(dst []byte) ([]byte, hash) {
		start := len(dst)
		dst = appendHeader(dst, &l.Record, l.LastOfAppend, l.PayloadHash, int(l.MetadataBytes), int(l.DataBytes))
		link := chainLink(previous, dst[start:])
		return append(append(dst, link[:]...), payloadRedacted), link
	})
}

// appendAgain adds a frame of another file behind dst, without its payload when that is to be removed.
func appendAgain(dst []byte, seed uint32, s *stored, frame []byte, remove bool) []byte {
	start := len(dst)
	if !remove || s.Redacted {
		dst = append(dst, frame...)
	} else {
		dst = append(dst, frame[:frameHeader+len(s.header)+sha256.Size]...)
		dst = append(dst, payloadRedacted)
	}
	again := dst[start:]
	binary.BigEndian.PutUint32(again[4:], uint32(len(again)-frameHeader))
	binary.BigEndian.PutUint32(again[16:], frameSum(seed, again))
	return dst
}

// frameAround appends a frame with the record that encode appends.
func frameAround(dst []byte, seed uint32, durable uint64, encode func([]byte) ([]byte, hash)) ([]byte, hash) {
	start := len(dst)
	dst = append(dst, frameMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, durable)
	dst = append(dst, 0, 0, 0, 0)
	dst, link := encode(dst)
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

// writtenLength is the length that a frame had when its record was written, before the
// payload was removed.
func writtenLength(frame []byte) (int64, bool) {
	const lengths = frameHeader + 42
	if len(frame) < frameHeader+headerFixed {
		return 0, false
	}
	s, t := int64(binary.BigEndian.Uint16(frame[lengths:])), int64(binary.BigEndian.Uint32(frame[lengths+2:]))
	m, d := int64(binary.BigEndian.Uint32(frame[lengths+6:])), int64(binary.BigEndian.Uint32(frame[lengths+10:]))
	return frameHeader + headerFixed + s + t + sha256.Size + 1 + saltBytes + m + d, true
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

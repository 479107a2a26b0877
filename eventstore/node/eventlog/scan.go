package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

const scanBytes = 256 << 10 // read at once by a scan

// scanner reads the records of one segment in order and checks each against the one before it.
type scanner struct {
	seed      uint32
	from      io.ReaderAt
	scavenged bool   // the segment's header says that payloads were removed
	limit     int64  // bytes of the file that are scanned
	offset    int64  // of the next frame
	written   int64  // offset of the next frame when its record was written
	position  uint64 // of the record before it
	link      hash   // of the record before it

	ahead  int // bytes that are read at once
	buffer []byte
	start  int64 // offset of the first byte in buffer
}

// badRecord is a record that is not the one that must come next.
type badRecord struct {
	position uint64 // that belongs there
	offset   int64
	reason   string
}

func (e *badRecord) Error() string {
	return fmt.Sprintf("position %d at byte %d: %s", e.position, e.offset, e.reason)
}

// scanner returns a scanner of the whole segment, up to limit bytes of its file.
func (o opened) scanner(limit int64) *scanner {
	return &scanner{seed: o.seed, from: o.file, scavenged: o.scavenged, limit: limit, ahead: scanBytes, offset: segmentHeader, written: segmentHeader, position: o.segment.base, link: o.segment.link}
}

// next returns the next record and its place; io.EOF at the end, *badRecord for one that
// does not verify, or an error of the file system. The record refers to memory that the
// call after the next one overwrites.
func (s *scanner) next() (stored, place, error) {
	written := s.written
	r, _, err := s.whole()
	if err != nil {
		return stored{}, place{}, err
	}
	return r, place{r.Position, written, uint32(s.written - written)}, nil
}

// whole is next with the bytes of the frame.
func (s *scanner) whole() (stored, []byte, error) {
	offset, written := s.offset, s.written
	frame, err := s.frame()
	if err != nil {
		return stored{}, nil, err
	}
	r, reason := parseFrame(s.seed, frame)
	if reason == "" {
		reason = linkBreak(&r, s.position+1, s.link)
	}
	if reason == "" && r.Redacted && !s.scavenged {
		reason = "the payload is missing from a segment that was not scavenged"
	}
	if reason != "" {
		s.offset, s.written = offset, written
		return stored{}, nil, &badRecord{s.position + 1, offset, reason}
	}
	r.offset = offset
	s.position, s.link = r.Position, r.chain
	return r, frame, nil
}

// frame returns the bytes of the next frame, which are not checked, and steps over it.
func (s *scanner) frame() ([]byte, error) {
	if s.offset == s.limit {
		return nil, io.EOF
	}
	bad := func(reason string) ([]byte, error) {
		return nil, &badRecord{s.position + 1, s.offset, reason}
	}
	head, err := s.bytes(frameHeader)
	if err != nil {
		return nil, err
	}
	if len(head) < frameHeader {
		return bad("the record is cut short")
	}
	length, ok := frameLength(head)
	switch {
	case !ok:
		return bad("no record begins here")
	case s.offset+length > s.limit:
		return bad("the record is cut short")
	}
	frame, err := s.bytes(int(length))
	if err != nil {
		return nil, err
	}
	written := length
	if s.scavenged {
		if written, ok = writtenLength(frame); !ok {
			return bad("the record cannot be read")
		}
	}
	s.offset += length
	s.written += written
	return frame, nil
}

// bytes returns the next n bytes, fewer at the limit.
func (s *scanner) bytes(n int) ([]byte, error) {
	n = int(min(int64(n), s.limit-s.offset))
	if s.offset < s.start || s.offset+int64(n) > s.start+int64(len(s.buffer)) {
		size := int(min(int64(max(n, s.ahead)), s.limit-s.offset))
		if cap(s.buffer) < size {
			s.buffer = make([]byte, size)
		}
		s.buffer, s.start = s.buffer[:size], s.offset
		if read, err := s.from.ReadAt(s.buffer, s.offset); err != nil && (read < size || !errors.Is(err, io.EOF)) {
			s.buffer = s.buffer[:0]
			return nil, fmt.Errorf("read a segment at byte %d: %w", s.offset, err)
		}
	}
	at := int(s.offset - s.start)
	return s.buffer[at : at+n], nil
}

// linkBreak says what is wrong with a record that must come at this position after that link.
func linkBreak(s *stored, position uint64, previous hash) string {
	switch {
	case s.Position != position:
		return fmt.Sprintf("the record is missing; the next one says position %d", s.Position)
	case chainLink(previous, s.header) != s.chain:
		return "the hash chain breaks: this record or the one before it was changed"
	case !s.payloadIntact():
		return "the payload is not the one that was written"
	}
	return ""
}

// damage returns the *CorruptError for a bad record of the segment, or for a segment that is
// gone; other errors are wrapped.
func (s *segment) damage(dir string, err error) error {
	var bad *badRecord
	if errors.As(err, &bad) {
		return &CorruptError{Dir: dir, Position: bad.position, File: s.name(), Offset: bad.offset, Reason: bad.reason}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &CorruptError{Dir: dir, Position: s.base + 1, File: s.name(), Reason: "the segment is gone from the folder"}
	}
	return fmt.Errorf("read the event log in %s: %w", dir, err)
}

// name is the segment's path below the log's folder.
func (s *segment) name() string { return filepath.Join(segmentFolder, filepath.Base(s.path)) }

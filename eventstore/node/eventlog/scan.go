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
	segment   *segment
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
	cause    error // why the disk does not give its bytes; nil when it gave other ones
}

func (e *badRecord) Error() string {
	return fmt.Sprintf("position %d at byte %d: %s", e.position, e.offset, e.reason)
}

// scanner returns a scanner of the whole segment, up to limit bytes of its file.
func (o opened) scanner(limit int64) *scanner {
	return &scanner{segment: o.segment, seed: o.seed, from: o.file, scavenged: o.scavenged, limit: limit, ahead: scanBytes, offset: segmentHeader, written: segmentHeader, position: o.segment.base, link: o.segment.link}
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
	r, reason := s.parse(frame, &s.link)
	if reason != "" {
		s.offset, s.written = offset, written
		return stored{}, nil, &badRecord{position: s.position + 1, offset: offset, reason: reason}
	}
	r.offset = offset
	s.position, s.link = r.Position, r.Link
	return r, frame, nil
}

// parse reads the frame of the next record; link is that of the record before it, nil when that is not known.
func (s *scanner) parse(frame []byte, link *hash) (r stored, reason string) {
	if r, reason = parseFrame(s.seed, frame); reason == "" {
		reason = linkBreak(&r, s.position+1, link)
	}
	if reason == "" && r.Redacted && !s.scavenged {
		reason = "the payload is missing from a segment that was not scavenged"
	}
	return r, reason
}

// frame returns the bytes of the next frame, which are not checked, and steps over it.
func (s *scanner) frame() ([]byte, error) {
	length, written, err := s.lengths()
	if err != nil {
		return nil, err
	}
	frame, err := s.bytes(int(length))
	if err != nil {
		return nil, err
	}
	s.offset += length
	s.written += written
	return frame, nil
}

// skip steps over the next frame, of which it reads the beginning.
func (s *scanner) skip() error {
	length, written, err := s.lengths()
	s.offset += length
	s.written += written
	return err
}

// lengths returns how long the next frame is, and was when its record was written.
func (s *scanner) lengths() (length, written int64, err error) {
	if s.offset == s.limit {
		return 0, 0, io.EOF
	}
	bad := func(reason string) (int64, int64, error) {
		return 0, 0, &badRecord{position: s.position + 1, offset: s.offset, reason: reason}
	}
	need := frameHeader
	if s.scavenged {
		need += headerFixed
	}
	head, err := s.bytes(need)
	if err != nil {
		return 0, 0, err
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
	written = length
	if s.scavenged {
		if written, ok = writtenLength(head[:min(int64(len(head)), length)]); !ok {
			return bad("the record cannot be read")
		}
	}
	return length, written, nil
}

// bytes returns the next n bytes, fewer at the limit.
func (s *scanner) bytes(n int) ([]byte, error) {
	n = int(min(int64(n), s.limit-s.offset))
	if s.offset < s.start || s.offset+int64(n) > s.start+int64(len(s.buffer)) {
		ahead := int(min(int64(max(n, s.ahead)), s.limit-s.offset))
		err := s.fill(ahead)
		if err != nil && !errors.Is(err, io.EOF) && ahead > n {
			err = s.fill(n) // what the disk does not give may lie behind this record
		}
		if err != nil {
			return nil, s.segment.readError(s.position+1, s.offset, err)
		}
	}
	at := int(s.offset - s.start)
	return s.buffer[at : at+n], nil
}

// fill reads the next bytes into the buffer, all or none.
func (s *scanner) fill(size int) error {
	if cap(s.buffer) < size {
		s.buffer = make([]byte, size)
	}
	s.buffer, s.start = s.buffer[:size], s.offset
	read, err := s.from.ReadAt(s.buffer, s.offset)
	if read == size && errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		s.buffer = s.buffer[:0]
	}
	return err
}

// readError is the error for bytes that the system did not give: *StorageError when it is out
// of something else than these bytes, so that they may come another time, else *badRecord.
// The end of a file and one that is gone are returned as they are.
func (s *segment) readError(position uint64, offset int64, err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, fs.ErrNotExist):
		return err
	case mayPass(err):
		dir := filepath.Dir(filepath.Dir(s.path))
		return &StorageError{Dir: dir, Operation: fmt.Sprintf("read position %d (%s, byte %d)", position, s.name(), offset), Err: err, Reading: true}
	}
	return &badRecord{position, offset, "the disk does not give its bytes", err}
}

// linkBreak says what is wrong with a record that must come at this position, and after that link unless it is nil.
func linkBreak(s *stored, position uint64, previous *hash) string {
	switch {
	case s.Position != position:
		return fmt.Sprintf("the record is missing; the next one says position %d", s.Position)
	case previous != nil && chainLink(*previous, s.header) != s.Link:
		return "the hash chain breaks: this record or the one before it was changed"
	case !s.payloadIntact():
		return "the payload is not the one that was written"
	}
	return ""
}

// damage returns the *CorruptError for a bad record of the segment, or for a segment that is
// gone; other errors are returned as they are.
func (s *segment) damage(dir string, err error) error {
	var bad *badRecord
	if errors.As(err, &bad) {
		damage := &CorruptError{Dir: dir, Position: bad.position, File: s.name(), Offset: bad.offset, Reason: bad.reason, Err: bad.cause}
		if bad.cause != nil {
			damage.Advice = unreadableAdvice
		}
		return damage
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s.gone(dir)
	}
	return err
}

// gone is the damage of a segment without a file.
func (s *segment) gone(dir string) *CorruptError {
	return &CorruptError{Dir: dir, Position: s.base + 1, File: s.name(), Reason: "the segment is gone from the folder"}
}

// name is the segment's path below the log's folder.
func (s *segment) name() string { return filepath.Join(segmentFolder, filepath.Base(s.path)) }

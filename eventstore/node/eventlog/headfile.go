package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// The head file names the newest durable record. The storage drops unreadable data at the
// end of its write-ahead log without an error, because it is usually an append that was
// never acknowledged; it cannot tell such an append from damage. A log that ends before
// the record in the head file has lost acknowledged events, and is not opened. The file is
// written after every commit, without a sync of its own: after a power failure it may name
// an older record, never a newer one.

const (
	headFileName     = "HEAD"
	headFileSum      = 8
	headFileBytes    = 16 + 8 + sha256.Size + headFileSum
	headFileContents = "HEAD file" // prefix of the bytes that its checksum covers
)

// headMark is the content of the head file.
type headMark struct {
	id       uuid.UUID
	position uint64
	link     hash
}

func (m headMark) encode() []byte {
	b := append(make([]byte, 0, headFileBytes), m.id[:]...)
	b = binary.BigEndian.AppendUint64(b, m.position)
	b = append(b, m.link[:]...)
	return append(b, headSum(b)...)
}

func headSum(b []byte) []byte {
	sum := sha256.Sum256(append([]byte(headFileContents), b...))
	return sum[:headFileSum]
}

func parseHeadMark(b []byte) (headMark, bool) {
	if len(b) != headFileBytes || !bytes.Equal(headSum(b[:headFileBytes-headFileSum]), b[headFileBytes-headFileSum:]) {
		return headMark{}, false
	}
	return headMark{id: uuid.UUID(b[:16]), position: binary.BigEndian.Uint64(b[16:]), link: hash(b[24 : 24+sha256.Size])}, true
}

// readHeadMark reads the head file; false when it is absent or its checksum does not match.
func readHeadMark(dir string) (headMark, bool, error) {
	b, err := os.ReadFile(filepath.Join(dir, headFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return headMark{}, false, nil
	}
	if err != nil {
		return headMark{}, false, fmt.Errorf("read the head file of the event log: %w", err)
	}
	m, ok := parseHeadMark(b)
	return m, ok, nil
}

// checkHead returns a *CorruptError unless the storage, opened read-only, holds the
// record that the head file names.
func (l *Log) checkHead(mark headMark) error {
	lost := func(reason string) error {
		return &CorruptError{Dir: l.dir, Position: mark.position, Reason: reason + " (the file " + headFileName + " names the newest acknowledged record; removing that file accepts the loss)"}
	}
	id, err := l.readValue(l.db, identityKey)
	if err != nil {
		return err
	}
	if id == nil {
		return lost("the log is empty, but records of it were acknowledged")
	}
	if len(id) == 1+len(mark.id) && !bytes.Equal(id[1:], mark.id[:]) {
		return lost("it is not the log this folder held before")
	}
	value, err := l.readValue(l.db, recordKey(mark.position))
	if err != nil {
		return err
	}
	if value == nil {
		return lost("acknowledged records are missing at the end of the log")
	}
	s, err := parseRecord(value)
	if err != nil || s.chain != mark.link {
		return lost("the record is not the one that was acknowledged")
	}
	return nil
}

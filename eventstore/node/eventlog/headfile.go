package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/google/uuid"
)

// The head file names the newest durable record, beside the segments: an end of the log
// that is missing, and a record at the end that was changed, cannot be told from a write
// that was never finished by the segments alone. It is written after every group, before
// its appends are acknowledged, without a sync of its own: after a power failure it may
// name an older record, never one that is not durable. It is synced when a segment is sealed.

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

// errNoHeadFile and errBadHeadFile are returned by readHeadMark for a head file that is absent or damaged.
var (
	errNoHeadFile  = errors.New("the head file is missing")
	errBadHeadFile = errors.New("the head file is damaged")
)

// readHeadMark reads the head file, which a running log may be writing.
func readHeadMark(files fileSystem, dir string) (headMark, error) {
	f, err := files.open(filepath.Join(dir, headFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return headMark{}, errNoHeadFile
	}
	if err != nil {
		return headMark{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	const looks = 5                  // of which a concurrent write can spoil few
	for range looks {
		b := make([]byte, headFileBytes+1)
		n, err := f.ReadAt(b, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return headMark{}, err
		}
		if m, ok := parseHeadMark(b[:n]); ok {
			return m, nil
		}
	}
	return headMark{}, errBadHeadFile
}

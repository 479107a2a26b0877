package blobs

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
)

// hash is a blob's name in half its bytes.
type hash [32]byte

// path is where the blob is kept below the store's root (relativePath).
func (h hash) path() string {
	name := hex.EncodeToString(h[:])
	return name[:2] + "/" + name
}

// hashOf reads what path returns.
func hashOf(path string) (h hash, is bool) {
	folder, name, _ := strings.Cut(path, "/")
	if !namePattern.MatchString(name) || folder != name[:2] {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(name))
	return h, err == nil
}

const nameBytes = 2 * len(hash{})

func isHexDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// mentions calls found with every 64 hexadecimal digits in a row in data. What is written in
// that way names a blob, whatever field of whatever type of event it is in: no list of fields
// has to be kept, and none can be forgotten.
func mentions(data []byte, found func(hash)) {
	for start := 0; start+nameBytes <= len(data); {
		// The last byte first: where it is no digit, no name covers it.
		end := start + nameBytes - 1
		for end >= start && isHexDigit(data[end]) {
			end--
		}
		if end >= start {
			start = end + 1
			continue
		}
		var h hash
		if _, err := hex.Decode(h[:], data[start:start+nameBytes]); err == nil {
			found(h)
		}
		start++ // digits before a name join its row
	}
}

// mentionsIn is mentions for a stream that is not held in memory.
func mentionsIn(r io.Reader, found func(hash)) error {
	window := make([]byte, 0, 256<<10)
	for {
		n, err := r.Read(window[len(window):cap(window)])
		window = window[:len(window)+n]
		mentions(window, found)
		if keep := min(len(window), nameBytes-1); keep < len(window) {
			window = append(window[:0], window[len(window)-keep:]...)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// candidates are blobs that may be named by nobody, in order, and which of them are named.
type candidates struct {
	hashes []hash
	named  []bool
}

func newCandidates(hashes []hash) *candidates {
	slices.SortFunc(hashes, func(a, b hash) int { return bytes.Compare(a[:], b[:]) })
	return &candidates{hashes: hashes, named: make([]bool, len(hashes))}
}

// mark tells whether h is a candidate that was not named before.
func (c *candidates) mark(h hash) bool {
	i, is := slices.BinarySearchFunc(c.hashes, h, func(a, b hash) int { return bytes.Compare(a[:], b[:]) })
	if !is || c.named[i] {
		return false
	}
	c.named[i] = true
	return true
}

func (c *candidates) isUnnamed(h hash) bool {
	i, is := slices.BinarySearchFunc(c.hashes, h, func(a, b hash) int { return bytes.Compare(a[:], b[:]) })
	return is && !c.named[i]
}

package eventlog

import (
	"bytes"
	"errors"
	"io"
	"sort"
)

// The index leads to where a record was written. In a scavenged segment records lie before
// that; its landmarks are some of them, from which the frames are walked. They are found by a
// walk through the file when the segment is read first, and are not stored.

// landmarkBytes is the distance of landmarks in the segment as it was written: 8 KiB of
// landmarks for a segment of 64 MiB, and as much to walk for a read at the most.
const landmarkBytes = 64 << 10

// landmark is the beginning of a frame.
type landmark struct {
	written int64 // its offset when its record was written
	offset  int64 // its offset in the file
}

// landmarks returns those of scavenged contents, in order; the first is the first frame.
// Those behind a frame whose beginning is damaged, or not given by the disk, are missing. Errors are of the file system.
func (o opened) landmarks() ([]landmark, error) {
	o.layoutMu.Lock()
	defer o.layoutMu.Unlock()
	if o.layout != nil {
		return o.layout, nil
	}
	var found []landmark
	for scan := o.scanner(o.end.Load()); ; {
		at := landmark{scan.written, scan.offset}
		if len(found) == 0 || at.written >= found[len(found)-1].written+landmarkBytes {
			found = append(found, at)
		}
		err := scan.skip()
		var bad *badRecord
		switch {
		case errors.Is(err, io.EOF):
			o.layout = found
			return found, nil
		case errors.As(err, &bad):
			return found, nil // the records before have landmarks
		case err != nil:
			return nil, err
		}
	}
}

// framesWrittenAt reads the frames at adjacent places of scavenged contents; a reason says
// why there are none.
func (o opened) framesWrittenAt(run []place) (frames [][]byte, reason string, err error) {
	known, err := o.landmarks()
	if err != nil {
		return nil, "", err
	}
	first := run[0].offset
	from := known[max(0, sort.Search(len(known), func(i int) bool { return known[i].written > first })-1)]
	scan := o.scanner(o.end.Load())
	scan.written, scan.offset, scan.ahead = from.written, from.offset, landmarkBytes
	for len(frames) < len(run) {
		at := run[len(frames)]
		if scan.written < at.offset {
			if err := scan.skip(); err != nil && !errors.Is(err, io.EOF) {
				return nil, "", err
			} else if err == nil {
				continue
			}
		}
		if scan.written != at.offset {
			return nil, "the index leads to no place in the segment", nil
		}
		frame, err := scan.frame()
		switch {
		case errors.Is(err, io.EOF):
			return nil, "the index leads to no place in the segment", nil
		case err != nil:
			return nil, "", err
		case scan.written != at.end():
			return nil, "the index has another length of the record", nil
		}
		frames = append(frames, bytes.Clone(frame))
	}
	return frames, "", nil
}

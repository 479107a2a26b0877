package eventlog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyingName is a file that lies in a copy until it is whole. A copy that has it is no log,
// and is made anew by the next copy to its folder.
const copyingName = "COPYING"

// NotEmptyError is returned by CopyFolder for a target that holds anything.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("folder %s is not empty: name one that is, or that does not exist", e.Dir)
}

// InsideError is returned by CopyFolder for a target within the log's own folder.
type InsideError struct{ Dir, Target string }

func (e *InsideError) Error() string {
	return fmt.Sprintf("folder %s is within %s, the folder of the log: name one elsewhere, best on another disk", e.Target, e.Dir)
}

// CopyError is returned by CopyFolder when the system refuses a call on the copy.
type CopyError struct {
	Target string
	Err    error
	Left   bool // what was copied could not be removed
}

func (e *CopyError) Error() string {
	left := "what was copied is removed again"
	if e.Left {
		left = "what was copied is still there, and the next copy to that folder begins anew"
	}
	return fmt.Sprintf("cannot copy the event log to %s: %v; %s: %s, then copy again", e.Target, e.Err, left, remedyFor(e.Err))
}

func (e *CopyError) Unwrap() error { return e.Err }

// CopyFolder copies a log, as it is at one moment, to a folder that is empty, absent or a
// copy that was not finished, and verifies the copy. A node may be writing the log: the copy
// holds everything that was acknowledged before the call. The index is not copied; the first
// start builds it. After an error there is no copy; after damage the report says how far the
// log verifies.
func CopyFolder(ctx context.Context, from, to string) (Report, error) {
	folder, err := readFolder(from)
	if err != nil {
		return reportUpTo(ctx, from, err)
	}
	defer func() { _ = folder.segments.close() }() // they were only read
	if err := checkCopyTarget(from, to); err != nil {
		return Report{}, err
	}
	tail, err := folder.scanTail(from, func(stored, place) {})
	if err == nil {
		err = folder.checkEnd(from, tail.end)
	}
	if err == nil && tail.end.position > folder.mark.position {
		var held bool
		if held, err = isHeld(from); err == nil && !held {
			// after a power failure the head file may be older than what was acknowledged; what
			// follows its record in the log of a running node may not be durable yet
			folder.mark, tail.mark = headMark{folder.id, tail.end.position, tail.end.link}, tail.end
		}
	}
	if err != nil {
		return reportUpTo(ctx, from, err)
	}
	report, err := copyLog(ctx, folder, tail.mark.offset, to)
	if err == nil {
		return report, nil
	}
	removed := removeCopy(to)
	var damage *CorruptError
	switch {
	case errors.As(err, &damage):
		damage.Dir = from // of which the copy was made
		return reportUpTo(ctx, from, errors.Join(err, removed))
	case ctx.Err() != nil:
		return Report{}, errors.Join(ctx.Err(), removed)
	}
	return Report{}, &CopyError{Target: to, Err: errors.Join(err, removed), Left: removed != nil}
}

// checkCopyTarget refuses a target that holds anything but a copy that was not finished, and one
// within the log.
func checkCopyTarget(from, to string) error {
	source, err := os.Stat(from)
	if err != nil {
		return &StorageError{Dir: from, Operation: "look at the folder", Err: err, Opening: true}
	}
	target, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real
	}
	for at := target; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, source) {
			return &InsideError{Dir: from, Target: to}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return checkVacant(to)
}

// checkVacant refuses a target that holds anything but a copy that was not finished, which it
// removes.
func checkVacant(to string) error {
	there, err := os.ReadDir(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &CopyError{Target: to, Err: err}
	}
	if _, err := os.Lstat(filepath.Join(to, copyingName)); err == nil {
		return removeCopy(to)
	}
	if len(there) > 0 {
		return &NotEmptyError{to}
	}
	return nil
}

// removeCopy removes what a copy consists of, the file that says that it is none last. The folder stays.
func removeCopy(to string) error {
	for _, name := range []string{headFileName, headFileName + draftSuffix, segmentFolder, copyingName} {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyLog copies the segments and the head file, and verifies the copy.
func copyLog(ctx context.Context, folder folderState, tailBytes int64, to string) (Report, error) {
	files := diskFiles{}
	if err := beginCopy(to); err != nil {
		return Report{}, err
	}
	for _, s := range folder.segments {
		size := int64(-1) // all of it
		if s == folder.segments.tail() {
			size = tailBytes
		}
		if err := copySegment(ctx, s, to, size); err != nil {
			return Report{}, err
		}
	}
	if err := files.syncFolder(filepath.Join(to, segmentFolder)); err != nil {
		return Report{}, err
	}
	return endCopy(ctx, to, folder.mark)
}

// beginCopy makes the folders of a log that is none before endCopy.
func beginCopy(to string) error {
	files := diskFiles{}
	if err := files.makeFolder(to); err != nil {
		return err
	}
	marker, err := files.create(filepath.Join(to, copyingName))
	if err != nil {
		return err
	}
	return errors.Join(marker.Close(), files.makeFolder(filepath.Join(to, segmentFolder)), files.syncFolder(to))
}

// endCopy makes a log of segments that are durable, and verifies it.
func endCopy(ctx context.Context, to string, mark headMark) (Report, error) {
	files := diskFiles{}
	head, err := writeNew(files, filepath.Join(to, headFileName), mark.encode())
	if err == nil {
		err = errors.Join(head.Close(), files.remove(filepath.Join(to, copyingName)), files.syncFolder(to))
	}
	if err != nil {
		return Report{}, err
	}
	return VerifyFolder(ctx, to, &Anchor{LogID: mark.id, Position: mark.position, Link: hex.EncodeToString(mark.link[:])})
}

// copySegment copies the first bytes of a segment, durably.
func copySegment(ctx context.Context, s *segment, to string, size int64) error {
	return s.use(once, func(o opened) (err error) {
		if size < 0 {
			size = o.end.Load()
		}
		target, err := os.OpenFile(filepath.Join(to, segmentFolder, filepath.Base(s.path)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.Close()) }()
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.Copy(target, io.NewSectionReader(o, 0, size))
		if err == nil && n != size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("%s: copied %d of %d bytes: %w", s.name(), n, size, err)
		}
		return target.Sync()
	})
}

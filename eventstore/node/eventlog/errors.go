package eventlog

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by every write after Close.
var ErrClosed = errors.New("the event log is closed")

// WrongExpectedRevisionError is returned for a write whose stream is not at the revision
// that the writer expected.
type WrongExpectedRevisionError struct {
	Stream   string
	Expected Expected
	Actual   int64 // last revision, -1 for a stream without events
}

func (e *WrongExpectedRevisionError) Error() string {
	return fmt.Sprintf("stream %q is at revision %d, expected %s: read the stream again and decide anew", e.Stream, e.Actual, e.Expected)
}

// StreamDeletedError is returned for a stream that is tombstoned, and for a write that
// expects a soft-deleted stream to exist.
type StreamDeletedError struct{ Stream string }

func (e *StreamDeletedError) Error() string {
	return fmt.Sprintf("stream %q is deleted", e.Stream)
}

// AccessDeniedError is returned for an operation that is allowed to nobody, such as writing to $all.
type AccessDeniedError struct{ Stream, Operation string }

func (e *AccessDeniedError) Error() string {
	return fmt.Sprintf("%s of stream %q is not allowed", e.Operation, e.Stream)
}

// AppendTooLargeError is returned when the events of one append exceed MaxAppendBytes together.
type AppendTooLargeError struct{ LimitBytes int }

func (e *AppendTooLargeError) Error() string {
	return fmt.Sprintf("the events of one append exceed %d bytes: store large bytes elsewhere and append their hash", e.LimitBytes)
}

// InvalidRequestError is returned for a request that can never succeed.
type InvalidRequestError struct{ Reason string }

func (e *InvalidRequestError) Error() string { return e.Reason }

// CorruptError is returned when stored bytes are not those that were written.
type CorruptError struct {
	Dir      string
	Position uint64 // first record that is wrong, 0 when not known
	Reason   string
	Err      error
}

func (e *CorruptError) Error() string {
	where := ""
	if e.Position > 0 {
		where = fmt.Sprintf(" at position %d", e.Position)
	}
	return fmt.Sprintf("event log in %s is damaged%s: %s; nothing was changed: stop writing, keep a copy of the folder, check the disk, and restore the folder from a backup", e.Dir, where, e.Reason)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// FolderInUseError is returned by Open when another process, or another Log of this
// process, has the folder open.
type FolderInUseError struct {
	Dir string
	PID int // 0 when the holder wrote no readable process id
}

func (e *FolderInUseError) Error() string {
	return fmt.Sprintf("data folder %s is in use by process %d: stop that process or choose another folder", e.Dir, e.PID)
}

// FormatError is returned by Open for a folder whose contents this version cannot read.
type FormatError struct{ Dir, Reason string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("folder %s is not an event log this version can open: %s", e.Dir, e.Reason)
}

package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
	"unicode/utf8"

	"reckon/internal/disk"
)

// ErrClosed is returned by every write after Close.
var ErrClosed = errors.New("the event log is closed")

// maxQuotedBytes is how much of a stream's name stands in an error. A name may have thousands of bytes, and the error must
// be read, logged and sent.
const maxQuotedBytes = 128

// Quoted is a stream's name within an error: in quotes, and shortened when it is long.
func Quoted(stream string) string {
	if len(stream) <= maxQuotedBytes {
		return strconv.Quote(stream)
	}
	end := maxQuotedBytes
	for !utf8.RuneStart(stream[end]) && end > maxQuotedBytes-utf8.UTFMax {
		end--
	}
	return fmt.Sprintf("%q… (%d bytes)", stream[:end], len(stream))
}

// WrongExpectedRevisionError is returned for a write whose stream is not at the revision
// that the writer expected.
type WrongExpectedRevisionError struct {
	Stream   string
	Expected Expected
	Actual   int64 // last revision, -1 for a stream without events
}

func (e *WrongExpectedRevisionError) Error() string {
	return fmt.Sprintf("stream %s is at revision %d, expected %s: read the stream again and decide anew", Quoted(e.Stream), e.Actual, e.Expected)
}

// StreamDeletedError is returned for a stream that is tombstoned, and for a write that
// expects a soft-deleted stream to exist.
type StreamDeletedError struct{ Stream string }

func (e *StreamDeletedError) Error() string {
	return fmt.Sprintf("stream %s is deleted", Quoted(e.Stream))
}

// isNotAsExpected reports whether an error says that a stream is not as it was expected.
func isNotAsExpected(err error) bool {
	var wrong *WrongExpectedRevisionError
	var deleted *StreamDeletedError
	return errors.As(err, &wrong) || errors.As(err, &deleted)
}

// AccessDeniedError is returned for an operation that is allowed to nobody, such as writing to $all.
type AccessDeniedError struct{ Stream, Operation string }

func (e *AccessDeniedError) Error() string {
	return fmt.Sprintf("%s of stream %s is not allowed", e.Operation, Quoted(e.Stream))
}

// AppendTooLargeError is returned when the events of one append exceed MaxAppendBytes together.
type AppendTooLargeError struct{ LimitBytes int }

func (e *AppendTooLargeError) Error() string {
	return fmt.Sprintf("the events of one append exceed %d bytes: store large bytes elsewhere and append their hash", e.LimitBytes)
}

// InvalidRequestError is returned for a request that can never succeed.
type InvalidRequestError struct{ Reason string }

func (e *InvalidRequestError) Error() string { return e.Reason }

// CorruptError is returned when the stored records are not those that were written.
type CorruptError struct {
	Dir      string
	Position uint64 // first record that is wrong or missing, 0 when not known
	File     string // below Dir, empty when not known
	Offset   int64  // of the first wrong byte's record in File
	Reason   string
	Advice   string // what to do, empty for the usual
	Err      error  // of the system, when the disk does not give the record; nil when it gave another one
}

const usualAdvice = "stop writing, keep a copy of the folder, check the disk, see how far `reckon node verify` gets, and restore the folder from a backup"

const unreadableAdvice = "see in the system's log what is wrong with the disk or the way to it; when it gives the bytes again, start again and all is as it was; else copy the folder, and restore it from a backup"

// Unwrap returns the error of the system, when there is one.
func (e *CorruptError) Unwrap() error { return e.Err }

func (e *CorruptError) Error() string {
	where := ""
	if e.Position > 0 {
		where = fmt.Sprintf(" at position %d", e.Position)
	}
	if e.File != "" {
		where += fmt.Sprintf(" (%s, byte %d)", e.File, e.Offset)
	}
	reason := e.Reason
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	return fmt.Sprintf("event log in %s is damaged%s: %s; nothing was changed: %s", e.Dir, where, reason, cmp.Or(e.Advice, usualAdvice))
}

// IndexError is returned when the index of the log does not agree with its segments. No
// event is lost: the index is built again when the log is opened the next time.
type IndexError struct {
	Dir    string
	Reason string
	Err    error
}

func (e *IndexError) Error() string {
	cause := ""
	if e.Err != nil {
		cause = ": " + e.Err.Error()
	}
	return fmt.Sprintf("the index of the event log in %s cannot be trusted: %s%s; no event is lost: start again, and the index is built from the segments", e.Dir, e.Reason, cause)
}

func (e *IndexError) Unwrap() error { return e.Err }

// StorageError is returned when the system refuses a call on the log's files, as a disk does
// that is full. After a write the log takes no more appends until it is opened again; reads
// go on. A read that was refused for want of something may succeed another time, and ends nothing.
type StorageError struct {
	Dir       string
	Operation string
	Err       error
	Opening   bool // the log was not open yet
	Reading   bool // only a read of a record was refused
}

func (e *StorageError) Error() string {
	state := "every acknowledged event is stored and no more are taken"
	if e.Reading {
		return fmt.Sprintf("event log in %s: cannot %s: %v; nothing was found damaged, and the same may be read again: %s", e.Dir, e.Operation, e.Err, remedyFor(e.Err))
	}
	if e.Opening {
		state = "it was not opened, and no record was changed"
	}
	return fmt.Sprintf("event log in %s: cannot %s: %v; %s: %s, then start again", e.Dir, e.Operation, e.Err, state, remedyFor(e.Err))
}

// remedyFor says what to do about a call that the system refused.
func remedyFor(err error) string {
	is := func(refusals ...error) bool { return isAny(err, refusals...) }
	switch {
	case disk.IsFull(err):
		return "the disk is full: free space"
	case is(syscall.EMFILE, syscall.ENFILE):
		return "too many files are open: raise the limit (ulimit -n, LimitNOFILE of systemd)"
	case is(syscall.EROFS):
		return "the file system is read-only: see in the system's log whether it found an error of the disk, mount it for writing"
	case is(syscall.EACCES, syscall.EPERM):
		return "give the folder and all in it to the user who runs the node"
	case is(syscall.EISDIR, syscall.ENOTDIR):
		return "something else has the name of a file or folder of the log: move it out of the folder"
	case is(syscall.EFBIG):
		return "a limit on the size of files was met: raise it (ulimit -f)"
	}
	return "check the disk"
}

func (e *StorageError) Unwrap() error { return e.Err }

// Full reports whether the disk refused for want of space.
func (e *StorageError) Full() bool {
	return disk.IsFull(e.Err)
}

// isRefusedByDisk reports whether the system refused a call that may succeed another time,
// so that what is on disk need not be wrong.
func isRefusedByDisk(err error) bool {
	return disk.IsFull(err) || isAny(err, syscall.EFBIG, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM)
}

// mayPass reports whether the system refused a read for want of something else than the
// bytes. EIO is not among these: the system has tried again itself before it says so
// (and other errors of the medium, such as EBADMSG and EUCLEAN of a file system's checksums).
func mayPass(err error) bool {
	return isAny(err, syscall.EACCES, syscall.EPERM, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EINTR) || errors.Is(err, fs.ErrClosed)
}

func isAny(err error, refusals ...error) bool {
	return slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) })
}

// FolderInUseError is returned by Open when another process, or another Log of this
// process, has the folder open.
type FolderInUseError struct {
	Dir string
	PID int // 0 when the holder wrote no readable process id
}

func (e *FolderInUseError) Error() string {
	holder := "another process"
	if e.PID > 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("data folder %s is in use by %s: stop that process or choose another folder", e.Dir, holder)
}

// FormatError is returned by Open for a folder whose contents this version cannot read.
type FormatError struct{ Dir, Reason string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("folder %s is not an event log this version can open: %s", e.Dir, e.Reason)
}

package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"

	"reckon/domain/event"
)

// Store keeps blobs. A store that is reached over a network answers with *UnavailableError while it is away, and a folder while its disk takes nothing.
type Store interface {
	// Put stores content durably under its SHA-256. It is idempotent.
	Put(ctx context.Context, content []byte) (event.Blob, error)
	// PutStream stores what r yields, without holding it in memory. ErrTooLarge: r yields
	// more than maxBytes, and nothing is stored.
	PutStream(ctx context.Context, r io.Reader, maxBytes int64) (event.Blob, error)
	// Get returns the content of a blob. Errors: ErrNotFound; ErrCorrupt when size or
	// SHA-256 differ from b.
	Get(ctx context.Context, b event.Blob) ([]byte, error)
	// Ready returns an error when the store cannot be reached.
	Ready(ctx context.Context) error
	// UsedBy records that events of this log name blobs of the store.
	UsedBy(ctx context.Context, logID string) error
	// Collect removes the blobs that nobody names, and the temporary files of interrupted uploads,
	// beside running servers: a content that is stored again is not removed in between,
	// and one stored before has been named by the time the log is read. It may be interrupted at any
	// moment. Errors: *NotOfLogError, those of ReadLog, or of the store.
	Collect(ctx context.Context, c Collection) (Collected, error)
	Close() error
}

var (
	// ErrNotFound means that the store has no such blob.
	ErrNotFound = errors.New("no such blob")
	// ErrCorrupt means that stored bytes do not hash to the name they are under.
	ErrCorrupt = errors.New("the stored blob is corrupt")
	// ErrTooLarge is returned by PutStream for content longer than its bound.
	ErrTooLarge = errors.New("the content is too large")
)

var namePattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// relativePath is where a blob is kept below the store's root: 256 folders.
func relativePath(sha string) (string, error) {
	if !namePattern.MatchString(sha) {
		return "", fmt.Errorf("%w: %q is not a SHA-256", ErrNotFound, sha)
	}
	return sha[:2] + "/" + sha, nil
}

func nameOf(content []byte) event.Blob {
	sum := sha256.Sum256(content)
	return event.Blob{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(content))}
}

// verifyContent compares content with the name it was stored under.
func verifyContent(content []byte, b event.Blob) error {
	if got := nameOf(content); got.SHA256 != b.SHA256 || got.Bytes != b.Bytes {
		return fmt.Errorf("%w: %s of %d bytes holds %s of %d bytes", ErrCorrupt, b.SHA256, b.Bytes, got.SHA256, got.Bytes)
	}
	return nil
}

// copyHashed copies at most maxBytes and names what it copied.
func copyHashed(w io.Writer, r io.Reader, maxBytes int64) (event.Blob, error) {
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(r, maxBytes+1))
	switch {
	case err != nil:
		return event.Blob{}, err
	case n > maxBytes:
		return event.Blob{}, fmt.Errorf("%w: over %d bytes", ErrTooLarge, maxBytes)
	}
	return event.Blob{SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: n}, nil
}

// temporaryPrefix begins the names of files that are being written; a crash may leave them in the folder.
const temporaryPrefix = ".incoming-"

package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"reckon/domain/event"
)

// Bucket is a Store in a bucket of gocloud.dev; a blob is durable when its
// writer has closed, as object stores promise.
type Bucket struct{ bucket *blob.Bucket }

// NewBucket keeps blobs in a bucket, which Close closes.
func NewBucket(bucket *blob.Bucket) *Bucket { return &Bucket{bucket: bucket} }

// Put is Store.
func (s *Bucket) Put(ctx context.Context, content []byte) (event.Blob, error) {
	named := nameOf(content)
	k, err := key(named.SHA256)
	if err != nil {
		return event.Blob{}, err
	}
	switch stored, err := s.bucket.Attributes(ctx, k); {
	case err == nil && stored.Size == named.Bytes:
		return named, nil
	case err != nil && gcerrors.Code(err) != gcerrors.NotFound:
		return event.Blob{}, fmt.Errorf("blob bucket: %w", err)
	}
	if err := s.bucket.WriteAll(ctx, k, content, nil); err != nil {
		return event.Blob{}, fmt.Errorf("blob bucket: %w", err)
	}
	return named, nil
}

// Stream is Store. The name is known at the end only, so the content waits in a
// local file until then.
func (s *Bucket) Stream(ctx context.Context, r io.Reader, maxBytes int64) (event.Blob, error) {
	spool, err := os.CreateTemp("", "reckon-blob-")
	if err != nil {
		return event.Blob{}, fmt.Errorf("blob spool: %w", err)
	}
	defer func() { _ = errors.Join(spool.Close(), os.Remove(spool.Name())) }()
	named, err := copyHashed(spool, r, maxBytes)
	if err != nil {
		return event.Blob{}, err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return event.Blob{}, fmt.Errorf("blob spool: %w", err)
	}
	k, err := key(named.SHA256)
	if err != nil {
		return event.Blob{}, err
	}
	if err := s.bucket.Upload(ctx, k, spool, &blob.WriterOptions{ContentType: "application/octet-stream"}); err != nil {
		return event.Blob{}, fmt.Errorf("blob bucket: %w", err)
	}
	return named, nil
}

// Get is Store.
func (s *Bucket) Get(ctx context.Context, b event.Blob) ([]byte, error) {
	k, err := key(b.SHA256)
	if err != nil {
		return nil, err
	}
	content, err := s.bucket.ReadAll(ctx, k)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, fmt.Errorf("%w: %s", ErrMissing, b.SHA256)
	case err != nil:
		return nil, fmt.Errorf("blob bucket: %w", err)
	}
	return content, check(content, b)
}

// Ready is Store.
func (s *Bucket) Ready(ctx context.Context) error {
	ok, err := s.bucket.IsAccessible(ctx)
	if err == nil && !ok {
		err = errors.New("the bucket does not exist")
	}
	return err
}

// Close is Store.
func (s *Bucket) Close() error { return s.bucket.Close() }

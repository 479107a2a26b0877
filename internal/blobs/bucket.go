package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"reckon/domain/event"
	"reckon/internal/disk"
)

// Bucket is a Store in a bucket of a service that speaks S3 and whose reads see every finished write, as AWS' do.
// An object is written by one request, whole or not at all.
type Bucket struct {
	client *minio.Client
	at     BucketAddress

	mu      sync.Mutex
	refused error     // why the service took no write, until it takes a probe; nil: it takes what is written
	probed  time.Time // when that was last tried
}

const (
	// bucketCall bounds one operation of a bucket, its repetitions included: as one call to the log.
	bucketCall = 30 * time.Second
	// bucketTries is how often a request is sent that is answered with an error of the service.
	bucketTries = 3
	// renewAfter is the age at which a blob that is stored again is written again. It is so far below MinimumAge that the
	// clocks of both machines may differ by the 15 minutes at which S3 refuses requests.
	renewAfter = MinimumAge / 2
	// probePause is how often a service that has refused a write is shown a probe, of as many bytes as a disk must have room for.
	probePause = 2 * time.Second
	probeBytes = disk.MinimumRoom
	// probeName is the object of a probe below the bucket's prefix. It is removed again.
	probeName = "probe"
)

// UnavailableError means that a bucket does not answer, or refuses what it should not, or that a folder's disk is full. Again later.
type UnavailableError struct {
	Err     error
	Refuses bool // it answers and takes nothing that is written: what it has can be read
	Denied  bool // it answers, and has no such bucket for these credentials: waiting changes nothing
}

func (e *UnavailableError) Error() string {
	if e.Refuses {
		return "the store of large bytes refuses what is written to it: " + e.Err.Error()
	}
	if e.Denied {
		return "the store of large bytes refuses the credentials or the bucket: " + e.Err.Error()
	}
	return "the store of large bytes is unavailable: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// UnavailablePart names the part that is away (httpkit.Translate).
func (e *UnavailableError) UnavailablePart() string { return "the store of large bytes" }

// RefusesWrites tells that the part answers and takes nothing that is written (httpkit.RefusesWrites).
func (e *UnavailableError) RefusesWrites() bool { return e.Refuses }

// DeniesAccess tells that an operator has to mend the credentials or the bucket (httpkit.Translate).
func (e *UnavailableError) DeniesAccess() bool { return e.Denied }

// NotVersionedError is returned by Collect for a bucket from which no one version of an object can be removed.
type NotVersionedError struct{ Bucket string }

func (e *NotVersionedError) Error() string {
	return fmt.Sprintf("the bucket %s keeps no versions, so that a blob that is stored again could be removed with the one that nobody names: "+
		"switch versioning on in the bucket, then collect again", e.Bucket)
}

// OpenBucket returns a bucket, which has to exist. Credentials are, in this order, AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, the
// file of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) with AWS_PROFILE, or the role that the machine has at its provider.
func OpenBucket(ctx context.Context, at BucketAddress) (*Bucket, error) {
	client, err := minio.New(at.Endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: bucketCall}},
		}),
		Secure: !at.Plain, Region: at.Region, MaxRetries: bucketTries,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	found, err := client.GetCreds()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if found.AccessKeyID == "" {
		return nil, &NoCredentialsError{at.Name}
	}
	b := &Bucket{client: client, at: at}
	return b, b.Ready(ctx)
}

// Put is Store.
func (b *Bucket) Put(ctx context.Context, content []byte) (event.Blob, error) {
	named := nameOf(content)
	return named, b.put(ctx, named, bytes.NewReader(content))
}

// PutStream is Store. The content is held in a file that has no name, because its hash is needed before it is sent.
func (b *Bucket) PutStream(ctx context.Context, r io.Reader, maxBytes int64) (named event.Blob, err error) {
	held, err := os.CreateTemp("", temporaryPrefix)
	if err != nil {
		return event.Blob{}, fmt.Errorf("hold a blob: %w", err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if err := os.Remove(held.Name()); err != nil {
		return event.Blob{}, fmt.Errorf("hold a blob: %w", err)
	}
	if named, err = copyHashed(held, r, maxBytes); err != nil {
		return event.Blob{}, err
	}
	return named, b.put(ctx, named, io.NewSectionReader(held, 0, named.Bytes))
}

// put writes an object, unless it was written lately. The service compares what it got with its MD5 (Content-MD5, RFC 1864), and Get with the SHA-256.
func (b *Bucket) put(ctx context.Context, named event.Blob, content io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, bucketCall)
	defer cancel()
	key, err := b.key(named.SHA256)
	if err != nil {
		return err
	}
	is, err := b.client.StatObject(ctx, b.at.Name, key, minio.StatObjectOptions{})
	switch {
	case err == nil && is.Size == named.Bytes && time.Since(is.LastModified) < renewAfter:
		return nil
	case err != nil && !isMissing(err):
		return b.failed(ctx, err)
	}
	_, err = b.write(ctx, key, content, named.Bytes)
	return err
}

// write writes an object. Where the service answers and does not take it, that is remembered for Ready.
func (b *Bucket) write(ctx context.Context, key string, content io.Reader, bytes int64) (minio.UploadInfo, error) {
	written, err := b.client.PutObject(ctx, b.at.Name, key, content, bytes, minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true, SendContentMd5: true,
	})
	if _, answered := errors.AsType[minio.ErrorResponse](err); !answered || ctx.Err() != nil {
		return written, b.failed(ctx, err)
	}
	err = &UnavailableError{Err: err, Refuses: true}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused = err
	return written, err
}

// Get is Store.
func (b *Bucket) Get(ctx context.Context, named event.Blob) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, bucketCall)
	defer cancel()
	key, err := b.key(named.SHA256)
	if err != nil {
		return nil, err
	}
	object, err := b.client.GetObject(ctx, b.at.Name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	defer func() { _ = object.Close() }()
	content, err := io.ReadAll(io.LimitReader(object, named.Bytes+1))
	if isMissing(err) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, named.SHA256)
	}
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	return content, verifyContent(content, named)
}

// Ready is Store. Nothing is written unless a write was refused: then a probe tells whether writes are taken again.
func (b *Bucket) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bucketCall)
	defer cancel()
	exists, err := b.client.BucketExists(ctx, b.at.Name)
	if err == nil && !exists {
		err = &NoBucketError{b.at.Name}
	}
	if err != nil {
		return b.failed(ctx, err)
	}
	refused, due := b.refusal()
	if !due {
		return refused
	}
	if b.probe(ctx) != nil {
		return refused
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused = nil
	return nil
}

// refusal is why the last write was refused, nil where it was taken, and whether a probe is due.
func (b *Bucket) refusal() (refused error, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if due = b.refused != nil && time.Since(b.probed) >= probePause; due {
		b.probed = time.Now()
	}
	return b.refused, due
}

// probe writes an object and removes it.
func (b *Bucket) probe(ctx context.Context) error {
	written, err := b.write(ctx, b.at.Prefix+probeName, bytes.NewReader(make([]byte, probeBytes)), probeBytes)
	if err != nil {
		return err
	}
	return b.client.RemoveObject(ctx, b.at.Name, written.Key, minio.RemoveObjectOptions{VersionID: written.VersionID})
}

// Close is Store; a bucket needs none.
func (b *Bucket) Close() error { return nil }

// UsedBy is Store.
func (b *Bucket) UsedBy(ctx context.Context, logID string) error {
	ctx, cancel := context.WithTimeout(ctx, bucketCall)
	defer cancel()
	_, err := b.write(ctx, b.at.Prefix+logMark+path.Base(logID), bytes.NewReader(nil), 0)
	return err
}

// Collect is Store: *NotVersionedError where the bucket keeps no versions.
func (b *Bucket) Collect(ctx context.Context, c Collection) (Collected, error) {
	versioning, err := b.client.GetBucketVersioning(ctx, b.at.Name)
	if err != nil {
		return Collected{}, b.failed(ctx, err)
	}
	if !versioning.Enabled() {
		return Collected{}, &NotVersionedError{b.at.Name}
	}
	return collect(ctx, b, c)
}

func (b *Bucket) logs(ctx context.Context) (ids []string, err error) {
	err = b.list(ctx, minio.ListObjectsOptions{Prefix: b.at.Prefix + logMark}, func(o minio.ObjectInfo) error {
		ids = append(ids, strings.TrimPrefix(o.Key, b.at.Prefix+logMark))
		return nil
	})
	return ids, err
}

func (b *Bucket) eachBlob(ctx context.Context, do func(hash, shelved) error) error {
	return b.list(ctx, minio.ListObjectsOptions{Prefix: b.at.Prefix, Recursive: true}, func(o minio.ObjectInfo) error {
		h, is := hashOf(strings.TrimPrefix(o.Key, b.at.Prefix))
		if !is {
			return nil
		}
		return do(h, shelved{bytes: o.Size, at: o.LastModified})
	})
}

func (b *Bucket) list(ctx context.Context, options minio.ListObjectsOptions, do func(minio.ObjectInfo) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range b.client.ListObjectsIter(ctx, b.at.Name, options) {
		if object.Err != nil {
			return b.failed(ctx, object.Err)
		}
		if err := do(object); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (b *Bucket) mentionsOf(ctx context.Context, h hash, found func(hash)) error {
	object, err := b.client.GetObject(ctx, b.at.Name, b.keyOf(h), minio.GetObjectOptions{})
	if err != nil {
		return b.failed(ctx, err)
	}
	defer func() { _ = object.Close() }()
	if err := mentionsIn(object, found); err != nil && !isMissing(err) {
		return b.failed(ctx, err)
	}
	return nil
}

// removeOlder removes the versions that it has seen to be old: one that is written meanwhile is another and stays.
func (b *Bucket) removeOlder(ctx context.Context, h hash, before time.Time, dryRun bool) (removed bool, size int64, err error) {
	var versions []minio.ObjectInfo
	err = b.list(ctx, minio.ListObjectsOptions{Prefix: b.keyOf(h), WithVersions: true, Recursive: true}, func(o minio.ObjectInfo) error {
		versions = append(versions, o)
		return nil
	})
	young := func(o minio.ObjectInfo) bool { return !o.LastModified.Before(before) }
	if err != nil || len(versions) == 0 || slices.ContainsFunc(versions, young) {
		return false, 0, err
	}
	for _, v := range versions {
		if v.IsLatest {
			size = v.Size
		}
		if dryRun {
			continue
		}
		if err := b.client.RemoveObject(ctx, b.at.Name, v.Key, minio.RemoveObjectOptions{VersionID: v.VersionID}); err != nil {
			return false, 0, b.failed(ctx, err)
		}
	}
	return true, size, nil
}

// removeAbandoned is for files that are being written; a bucket has none.
func (b *Bucket) removeAbandoned(bool, func(bytes int64)) error { return nil }

func (b *Bucket) String() string { return b.at.String() }

func (b *Bucket) key(sha string) (string, error) {
	relative, err := relativePath(sha)
	return b.at.Prefix + relative, err
}

func (b *Bucket) keyOf(h hash) string { return b.at.Prefix + h.path() }

// failed is an error of the client as an *UnavailableError; the caller's own end of time stays what it is.
func (b *Bucket) failed(ctx context.Context, err error) error {
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	return &UnavailableError{Err: err, Denied: IsRefused(err)}
}

// NoBucketError means that the service answers and has no such bucket, or shows it to other credentials only.
type NoBucketError struct{ Bucket string }

func (e *NoBucketError) Error() string {
	return fmt.Sprintf("there is no bucket %s, or these credentials do not see it", e.Bucket)
}

// NoCredentialsError means that this process has no credentials for a bucket: the service was not asked.
type NoCredentialsError struct{ Bucket string }

func (e *NoCredentialsError) Error() string {
	return fmt.Sprintf("this process has no credentials for the bucket %s, which was not asked: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as for `reckon serve`, "+
		"or AWS_SHARED_CREDENTIALS_FILE with AWS_PROFILE, or give this machine a role", e.Bucket)
}

// IsRefused tells whether waiting for a bucket changes nothing: there is no such bucket, or the credentials are missing or not good for it.
func IsRefused(err error) bool {
	if _, none := errors.AsType[*NoBucketError](err); none {
		return true
	}
	if _, none := errors.AsType[*NoCredentialsError](err); none {
		return true
	}
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	return answered && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusNotFound)
}

func isMissing(err error) bool {
	return err != nil && minio.ToErrorResponse(err).Code == minio.NoSuchKey
}

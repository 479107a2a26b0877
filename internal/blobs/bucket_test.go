package blobs_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/internal/blobs"
	"reckon/internal/blobs/s3test"
	"reckon/test/need"
)

// TestBucketCorrupt: bytes that changed in the bucket are not served, and storing them again repairs them.
func TestBucketCorrupt(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Open(t, s3test.Plain)
	named := put(t, bucket, "the content")
	file := server.File(s3test.Plain, named.SHA256)
	for _, changed := range []string{"The content", "the conten", "the content and more"} {
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bucket.Get(t.Context(), named); !errors.Is(err, blobs.ErrCorrupt) {
			t.Errorf("%q: %v", changed, err)
		}
	}
	put(t, bucket, "the content") // another length is seen to be wrong
	if got, err := bucket.Get(t.Context(), named); err != nil || string(got) != "the content" {
		t.Errorf("%q %v", got, err)
	}
}

// TestBucketAway: while its server is away a bucket says so, and goes on afterwards.
func TestBucketAway(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Open(t, s3test.Bucket)
	named := put(t, bucket, "kept")
	server.Stop()
	away := func(what string, err error) {
		t.Helper()
		var gone *blobs.UnavailableError
		if !errors.As(err, &gone) || gone.UnavailablePart() == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := bucket.Put(t.Context(), []byte("new"))
	away("put", err)
	_, err = bucket.Get(t.Context(), named)
	away("get", err)
	away("ready", bucket.Ready(t.Context()))
	_, err = bucket.Collect(t.Context(), blobs.Collection{LogID: logID, OlderThan: time.Hour, ReadLog: logOf()})
	away("collect", err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	var gone *blobs.UnavailableError
	if _, err := bucket.Get(cancelled, named); !errors.Is(err, context.Canceled) || errors.As(err, &gone) {
		t.Errorf("who does not wait any more is told that the store is away: %v", err)
	}
	server.Restart()
	if got, err := bucket.Get(t.Context(), named); err != nil || string(got) != "kept" {
		t.Errorf("%q %v", got, err)
	}
}

// TestOpenBucketRefuses: a bucket that is not there, or credentials that are wrong, are told when a server starts.
func TestOpenBucketRefuses(t *testing.T) {
	server := s3test.Start(t)
	open := func(bucket string) error {
		address, err := blobs.ParseAddress(server.Address(bucket))
		if err != nil {
			t.Fatal(err)
		}
		_, err = blobs.OpenBucket(t.Context(), address.Bucket)
		return err
	}
	if err := open("no-such-bucket"); err == nil || !strings.Contains(err.Error(), "no bucket no-such-bucket") {
		t.Error(err)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	var denied *blobs.UnavailableError
	if err := open(s3test.Bucket); !errors.As(err, &denied) || !denied.DeniesAccess() {
		t.Errorf("with a wrong secret: %v", err)
	}
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": t.TempDir(), "AWS_SHARED_CREDENTIALS_FILE": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://" + need.Address(t)} { // no machine has a role there
		t.Setenv(name, value)
	}
	var none *blobs.NoCredentialsError
	if err := open(s3test.Bucket); !errors.As(err, &none) || !blobs.IsRefused(err) || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("without credentials: %v", err)
	}
}

// TestCollectNeedsVersions: in a bucket without versions nothing is removed.
func TestCollectNeedsVersions(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Open(t, s3test.Plain)
	var refused *blobs.NotVersionedError
	if _, err := bucket.Collect(t.Context(), blobs.Collection{LogID: logID, OlderThan: 24 * time.Hour, ReadLog: logOf()}); !errors.As(err, &refused) {
		t.Error(err)
	}
}

// shelves are the stores that the tests of collecting run on. age makes blobs two days old.
func shelves(t *testing.T, test func(t *testing.T, store blobs.Store, age func(...event.Blob))) {
	t.Run("folder", func(t *testing.T) {
		root := t.TempDir()
		test(t, openFolder(t, root), func(named ...event.Blob) { age(t, root, named...) })
	})
	t.Run("bucket", func(t *testing.T) {
		server := s3test.Start(t)
		bucket := server.Open(t, s3test.Bucket)
		if err := bucket.UsedBy(t.Context(), logID); err != nil {
			t.Fatal(err)
		}
		test(t, bucket, func(named ...event.Blob) {
			for _, b := range named {
				if err := os.Chtimes(server.File(s3test.Bucket, b.SHA256), time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}

package blobs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/internal/blobs"
	"reckon/internal/blobs/s3test"
	"reckon/internal/disk"
	"reckon/test/need"
	"reckon/test/wait"
)

// TestBucketFull: where the disk of its server is full, a bucket says that it refuses what is written, is not ready, and is read all the while;
// with room it is as before.
func TestBucketFull(t *testing.T) {
	t.Parallel()
	folder := need.SmallDisk(t, 16<<20)
	bucket := s3test.StartIn(t, folder).Open(t, s3test.Bucket)
	named := put(t, bucket, "kept")
	filling := filepath.Join(folder, "filling")
	if err := os.WriteFile(filling, make([]byte, 32<<20), 0o600); !disk.Refuses(err) {
		t.Fatal(err)
	}
	refuses := func(what string, err error) {
		t.Helper()
		var full *blobs.UnavailableError
		if !errors.As(err, &full) || !full.RefusesWrites() {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := bucket.Ready(t.Context()); err != nil {
		t.Errorf("before anything was written: %v", err)
	}
	_, err := bucket.Put(t.Context(), make([]byte, 1<<20))
	refuses("put", err)
	refuses("ready", bucket.Ready(t.Context()))
	refuses("ready again", bucket.Ready(t.Context()))
	if got, err := bucket.Get(t.Context(), named); err != nil || string(got) != "kept" {
		t.Errorf("%q %v", got, err)
	}
	if err := os.Remove(filling); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the bucket is ready again", func() bool { return bucket.Ready(t.Context()) == nil })
	put(t, bucket, strings.Repeat("x", 1<<20))
}

// Package s3test starts a real S3 server for a test: versitygw, which keeps objects in a folder.
//
// It is taken from the PATH: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0.
// Where it is missing the test is skipped and says so.
package s3test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"reckon/internal/blobs"
	"reckon/test/need"
)

const (
	// Bucket keeps versions, Plain keeps none.
	Bucket = "reckon-blobs"
	Plain  = "reckon-plain"

	access, secret = "reckon-test", "reckon-test-secret"
	startLimit     = 30 * time.Second
)

// Server is a server that ends with its test.
type Server struct {
	Endpoint string
	folder   string
	stop     func()
	start    func()
}

// setCredentials gives this process, and those it starts, the credentials of every server of this package.
var setCredentials = sync.OnceFunc(func() {
	_ = os.Setenv("AWS_ACCESS_KEY_ID", access)
	_ = os.Setenv("AWS_SECRET_ACCESS_KEY", secret)
})

// Program is the path of the S3 server.
func Program(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("versitygw")
	if err != nil {
		need.Skip(t, "versitygw, an S3 server", "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	}
	return path
}

// Start starts a server and gives the test its credentials.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartIn(t, t.TempDir())
}

// StartIn starts a server that keeps its objects in an empty folder.
func StartIn(t testing.TB, folder string) *Server {
	t.Helper()
	binary := Program(t)
	s := &Server{Endpoint: need.Address(t), folder: folder}
	setCredentials()
	objects, versions := filepath.Join(s.folder, "objects"), filepath.Join(s.folder, "versions")
	for _, folder := range []string{objects, versions} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.start = func() {
		var says bytes.Buffer
		server := exec.Command(binary, "--port", s.Endpoint, "--access", access, "--secret", secret, "--quiet", "posix", "--versioning-dir", versions, objects)
		server.Stdout, server.Stderr = &says, &says
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		s.stop = func() { _, _ = server.Process.Kill(), server.Wait() }
		s.waitUntilReady(t, &says)
	}
	s.start()
	t.Cleanup(func() { s.stop() })
	client := s.client(t)
	for _, bucket := range []string{Bucket, Plain} {
		if err := client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.EnableVersioning(t.Context(), Bucket); err != nil {
		t.Fatal(err)
	}
	return s
}

// Stop ends the server as a crash does; Restart starts it on the same objects.
func (s *Server) Stop() { s.stop() }

// Restart starts a stopped server again.
func (s *Server) Restart() { s.start() }

// Address is that of a bucket, as the setting --blobs has it.
func (s *Server) Address(bucket string) string { return AddressAt(s.Endpoint, bucket) }

// AddressAt is Address by another way to the server, HOST:PORT.
func AddressAt(endpoint, bucket string) string {
	return fmt.Sprintf("s3://%s/installation?endpoint=http://%s&region=us-east-1", bucket, endpoint)
}

// Open opens a bucket.
func (s *Server) Open(t testing.TB, bucket string) *blobs.Bucket {
	t.Helper()
	address, err := blobs.ParseAddress(s.Address(bucket))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := blobs.OpenBucket(t.Context(), address.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// File is where the current version of a blob lies.
func (s *Server) File(bucket, sha string) string {
	return filepath.Join(s.folder, "objects", bucket, "installation", sha[:2], sha)
}

func (s *Server) client(t testing.TB) *minio.Client {
	client, err := minio.New(s.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(access, secret, ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (s *Server) waitUntilReady(t testing.TB, says *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	client := s.client(t)
	for {
		if _, err := client.ListBuckets(ctx); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			s.stop()
			t.Fatalf("the S3 server did not start: %s", says)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

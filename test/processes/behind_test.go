package processes

import (
	"strings"
	"testing"

	"reckon/internal/blobs/s3test"
	"reckon/projections/pgtest"
	"reckon/test/proxy"
)

// ways are the ways between processes of an installation and the parts that they share. Each can be taken away.
type ways struct{ log, database, identity, blobs *proxy.Proxy }

func (w ways) all() []*proxy.Proxy { return []*proxy.Proxy{w.log, w.database, w.identity, w.blobs} }

// bucketed is an installation whose blobs are in a bucket.
type bucketed struct {
	*installation
	bucket *s3test.Server
}

func installWithBucket(t testing.TB) bucketed {
	t.Helper()
	return withBucket(install(t), s3test.Start(t))
}

// withBucket is an installation that has its blobs in a bucket.
func withBucket(in *installation, bucket *s3test.Server) bucketed {
	return bucketed{in.with("--blobs", bucket.Address(s3test.Bucket)), bucket}
}

// behind is the installation for processes that reach each part by ways of their own: the identities by another way than the read models, though
// one PostgreSQL has both.
func (b bucketed) behind(t testing.TB) (*installation, ways) {
	t.Helper()
	socket, ok := strings.CutPrefix(b.log, "unix:")
	if !ok {
		t.Fatalf("the node listens at %s", b.log)
	}
	var w ways
	var models, people string
	w.database, models = pgtest.Behind(t, b.postgres)
	w.identity, people = pgtest.Behind(t, b.postgres)
	w.log, w.blobs = proxy.Start(t, "unix", socket), proxy.Start(t, "tcp", b.bucket.Endpoint)
	return b.with("--eventstore", "esdb://"+w.log.Address()+"?tls=false", "--insecure-eventstore",
		"--database", models, "--identity", people, "--blobs", s3test.AddressAt(w.blobs.Address(), s3test.Bucket)), w
}

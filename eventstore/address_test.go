package eventstore_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/storetest"
	"reckon/test/need"
)

// TestUnguardedServersAreRefused: before anything is sent to them.
func TestUnguardedServersAreRefused(t *testing.T) {
	t.Parallel()
	const address = "esdb://someone:s3cr%2Ft@127.0.0.1:1"
	for suffix, missing := range map[string]string{
		"?tls=false": "tls=false", "?tls=false&tlsVerifyCert=true": "tls=false", "?tlsVerifyCert=false": "tlsVerifyCert=false",
		",127.0.0.1:2?tls=false": "tls=false",
	} {
		refused(t, address+suffix, missing)
	}
	for _, anonymous := range []string{"esdb://127.0.0.1:1", "esdb+discover://127.0.0.1:1?nodePreference=leader", "esdb://127.0.0.1:1,127.0.0.1:2"} {
		refused(t, anonymous, "names no user")
	}
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for _, empty := range []string{"esdb://u@127.0.0.1:1", "esdb://u:@127.0.0.1:1"} {
		refused(t, empty, "without a password")
	}
	for _, query := range []string{"?userCertFile=&userKeyFile=", "?userCertFile=" + missing, "?userKeyFile=" + missing, "?userCertFile=" + missing + "&userKeyFile=" + missing} {
		refused(t, "esdb://127.0.0.1:1"+query, "client certificate")
		refused(t, address+query, "client certificate")
	}
	for _, good := range []string{address, address + "?tls=true", "esdb+discover://someone:secret@127.0.0.1:1,127.0.0.1:2"} {
		if err := eventstore.CheckAddress(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func refused(t *testing.T, address, missing string) {
	t.Helper()
	_, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: address, Catalogue: storetest.Catalogue(), Logger: quiet})
	var unguarded *eventstore.UnguardedError
	if !errors.As(err, &unguarded) || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "--insecure-eventstore") {
		t.Errorf("%s: %v", address, err)
	}
}

// TestASocketOfOthersIsRefused: they could hand us a log of theirs, and read what we append.
func TestASocketOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	open := t.TempDir()
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil { // as /tmp is
		t.Fatal(err)
	}
	refused(t, "unix:"+filepath.Join(open, node.SocketName), "where other users")
	if os.Geteuid() != 0 {
		need.Root(t)
	}
	const nobody = 65534
	folder := t.TempDir()
	socket := filepath.Join(folder, node.SocketName)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for _, place := range []string{socket, folder} {
		if err := os.Chown(place, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		refused(t, "unix:"+socket, "belongs to user 65534")
		if err := os.Chown(place, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAddressesKeepTheirPasswords: no message repeats one.
func TestAddressesKeepTheirPasswords(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"esdb://someone:s3cret@host:port", "esdb://someone:s3cret/x@host:1", "http://someone:s3cret@host", "esdb://someone:s3cret%zz@host"} {
		if err := eventstore.CheckAddress(address); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", address, err)
		}
		if shown := eventstore.Redacted(address); strings.Contains(shown, "s3cret") || !strings.Contains(shown, "someone") {
			t.Errorf("%s is shown as %s", address, shown)
		}
	}
	for _, address := range []string{"unix:/a@b/c:d", "esdb://host:2113?tls=false", "embedded"} {
		if shown := eventstore.Redacted(address); shown != address {
			t.Errorf("%s is shown as %s", address, shown)
		}
	}
	for _, address := range []string{"", "unix:", "embedded", "esdb://"} {
		if err := eventstore.CheckAddress(address); err == nil {
			t.Errorf("%q is an address", address)
		}
	}
}

// TestASocketsFolderMayHaveAnyName, and what a dead node left there is replaced.
func TestASocketsFolderMayHaveAnyName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b%20?c#d@e:é")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, node.SocketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	n := startNode(t, dir, "")
	store := connect(t, n.ConnectionString(), storetest.Catalogue())
	if _, err := store.Append(t.Context(), "s", event.NoStream, note("a")); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, node.SocketName))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	store.Close()
	stopNode(t, n)
	if _, err := os.Lstat(filepath.Join(dir, node.SocketName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket of a stopped node: %v", err)
	}
	var long *node.SocketPathError
	if _, err := node.Open(node.Config{Dir: filepath.Join(t.TempDir(), strings.Repeat("d", 103))}); !errors.As(err, &long) {
		t.Errorf("a long path: %v", err)
	}
}

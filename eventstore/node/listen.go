package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// SocketName is the file name of the Unix socket in a node's folder.
const SocketName = "node.sock"

// maxSocketPath is the longest socket path in bytes that every system accepts (sun_path
// in unix(7) and in the BSDs, without the final zero).
const maxSocketPath = 103

// NotLoopbackError is returned by Open when Config.Listen is not a loopback address: there
// nobody is asked who they are.
type NotLoopbackError struct{ Listen string }

func (e *NotLoopbackError) Error() string {
	return fmt.Sprintf("will not listen on %s: everyone who reaches an embedded node is an administrator, so without TLS and users it listens on a socket of its owner's or on loopback, such as 127.0.0.1:2113", e.Listen)
}

// SocketPathError is returned by Open when the path of the node's socket is longer than
// the system accepts.
type SocketPathError struct{ Path string }

func (e *SocketPathError) Error() string {
	return fmt.Sprintf("the path of the socket %s is longer than the %d bytes a socket's may have; use a shorter folder", e.Path, maxSocketPath)
}

func listen(dir, address string) (net.Listener, error) {
	if address == "" {
		return listenOwner(dir)
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if !resolved.IP.IsLoopback() {
		return nil, &NotLoopbackError{address}
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}

// preflight returns why a node in a folder without a log could not be served, so that none is made there.
func (c Config) preflight() error {
	if _, err := os.Lstat(filepath.Join(c.Dir, "segments")); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if c.Secure != nil && c.Secure.CertificateFile != "" {
		if _, err := givenCertificates(c.Secure.CertificateFile, c.Secure.KeyFile, c.Clock, c.Logger); err != nil {
			return err
		}
	}
	var listener net.Listener
	var err error
	switch {
	case c.Listen != "":
		listener, err = listen(c.Dir, c.Listen)
	case c.Secure != nil:
		listener, err = listenForUsers(c.Secure.Listen)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return listener.Close()
}

func listenForUsers(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}

// ownerListener is a listener on a Unix socket that removes the socket when it is closed.
type ownerListener struct {
	*net.UnixListener
	path string
}

func (l *ownerListener) Close() error { return errors.Join(l.UnixListener.Close(), os.Remove(l.path)) }

func (l *ownerListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// listenOwner listens on the socket of a folder, to which only the folder's owner can
// connect (unix(7): connecting needs write permission). The socket is created in a new
// folder of mode 0700 and renamed to its place after its mode is 0600, so that no other
// user can connect in between. The socket of a node that crashed is replaced: the
// caller holds the folder's lock.
func listenOwner(dir string) (_ net.Listener, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	path, making := filepath.Join(dir, SocketName), filepath.Join(dir, ".new")
	if len(path) > maxSocketPath {
		return nil, &SocketPathError{path}
	}
	if err := os.RemoveAll(making); err != nil {
		return nil, fmt.Errorf("socket of the node: %w", err)
	}
	if err := os.Mkdir(making, 0o700); err != nil {
		return nil, fmt.Errorf("socket of the node: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(making)) }()
	draft := filepath.Join(making, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: draft, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("socket of the node: %w", err)
	}
	listener.SetUnlinkOnClose(false) // it would unlink the draft
	if err := errors.Join(os.Chmod(draft, 0o600), os.Rename(draft, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("socket of the node: %w", err), listener.Close())
	}
	return &ownerListener{listener, path}, nil
}

// endpoint is the address that gossip gives to clients.
type endpoint struct {
	host string
	port int
}

func (c Config) advertised(listen net.Addr) endpoint {
	e := endpoint{c.AdvertiseHost, c.AdvertisePort}
	tcp, ok := listen.(*net.TCPAddr)
	if !ok {
		return e // clients of a Unix socket use no gossip
	}
	if e.host == "" && tcp.IP.IsUnspecified() {
		e.host = "localhost"
	} else if e.host == "" {
		e.host = tcp.IP.String()
	}
	if e.port == 0 {
		e.port = tcp.Port
	}
	return e
}

// ConnectionString returns the address for eventstore.Connect: unix:PATH, or esdb://…,
// which an official client accepts too.
func (n *Node) ConnectionString() string {
	switch address := n.listener.Addr().(type) {
	case *net.TCPAddr:
		u := url.URL{Scheme: "esdb", Host: net.JoinHostPort(address.IP.String(), strconv.Itoa(address.Port)), RawQuery: "tls=false"}
		return u.String()
	default:
		return "unix:" + address.String()
	}
}

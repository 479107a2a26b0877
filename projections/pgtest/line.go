package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Line is a connection to a PostgreSQL server that a test may cut, as if the server were away.
type Line struct {
	t       testing.TB
	target  *url.URL // the database
	network string   // of the server, with its address
	server  string
	address string // where the line listens: the same after Mend

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
}

// NewLine returns a line to the server of a database address; it is cut when the test ends.
func NewLine(t testing.TB, address string) *Line {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{t: t, target: target, address: "127.0.0.1:0", open: map[net.Conn]bool{}}
	l.network, l.server = pgconn.NetworkAddress(config.Host, config.Port)
	l.Mend()
	t.Cleanup(l.Cut)
	return l
}

// Address is the database address through the line.
func (l *Line) Address() string {
	through := *l.target
	through.Host = l.address
	query := through.Query()
	query.Del("host")
	query.Set("sslmode", "disable")
	through.RawQuery = query.Encode()
	return through.String()
}

// Cut closes every connection of the line and refuses new ones.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		_ = l.listener.Close() // it accepts nothing more either way
		l.listener = nil
	}
	for c := range l.open {
		_ = c.Close() // cut off either way
	}
}

// Mend accepts connections, again after Cut.
func (l *Line) Mend() {
	l.t.Helper()
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.listener, l.address = listener, listener.Addr().String()
	l.mu.Unlock()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.forward(client)
		}
	}()
}

func (l *Line) forward(client net.Conn) {
	server, err := net.Dial(l.network, l.server)
	if err != nil {
		_ = client.Close() // the client is told by that
		return
	}
	for _, c := range []net.Conn{client, server} {
		l.mu.Lock()
		l.open[c] = true
		l.mu.Unlock()
		defer func() {
			_ = c.Close() // closed by now at one end
			l.mu.Lock()
			delete(l.open, c)
			l.mu.Unlock()
		}()
	}
	go func() {
		_, _ = io.Copy(server, client) // ends with either connection
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

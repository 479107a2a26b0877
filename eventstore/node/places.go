package node

import (
	"container/list"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"reckon/eventstore/node/access"

	"google.golang.org/grpc/peer"
)

// places bounds the connections of a listener. When all places are taken, the connection
// that has been open longest without a verified password gives way to the next one; where
// all are verified, the next one is closed at once.
type places struct {
	net.Listener
	limit   int
	trusted bool // who can connect needs no password

	mu      sync.Mutex
	taken   int
	strange list.List // of *placedConn without a verified password, the oldest first
}

// Accept is net.Listener.
func (p *places) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if placed := p.place(c); placed != nil {
			return placed, nil
		}
		_ = c.Close() // there is no place
	}
}

// place gives a connection a place; nil when there is none.
func (p *places) place(c net.Conn) net.Conn {
	p.mu.Lock()
	var gone *placedConn
	if p.taken >= p.limit {
		oldest := p.strange.Front()
		if oldest == nil {
			p.mu.Unlock()
			return nil
		}
		gone = oldest.Value.(*placedConn)
		p.strange.Remove(oldest)
		gone.strange = nil
	}
	placed := &placedConn{Conn: c, places: p, gone: make(chan struct{})}
	placed.end = sync.OnceFunc(placed.leave)
	p.taken++
	placed.verified.Store(p.trusted)
	if !p.trusted {
		placed.strange = p.strange.PushBack(placed)
	}
	p.mu.Unlock()
	if gone != nil {
		_ = gone.Close() // it is gone either way
	}
	return placed
}

// placedConn is a connection that has a place.
type placedConn struct {
	net.Conn
	places  *places
	strange *list.Element // nil when verified, or gone
	end     func()
	gone    chan struct{} // closed by Close

	plain    atomic.Bool // it was given to the server of HTTP/1.1
	verified atomic.Bool
	cut      atomic.Bool  // it was closed because memory was short
	received atomic.Int64 // bytes, while it is not verified
	inbound  atomic.Pointer[inbound]
	of       atomic.Pointer[share]          // of the user that it was verified for; nil: an operator, or nobody needs a password
	session  atomic.Pointer[access.Session] // the newest
}

// Read is net.Conn. It fails when a connection has sent maxStrangeBytes without a verified
// password: gRPC reads a whole message before anybody can ask who sends it.
func (c *placedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.verified.Load() && c.received.Add(int64(n)) > maxStrangeBytes {
		return 0, errStrange
	}
	return n, err
}

var errStrange = errors.New("too much from a client without a password")

// keep keeps a connection of a user whose password was verified; nil: of an operator. It is not kept where the user has too many.
// first is whether it was not verified before.
func (p *places) keep(c *placedConn, of *share) (kept, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch verified := int64(p.taken - p.strange.Len()); {
	case c.verified.Load():
		return true, false
	case c.strange == nil: // it had to give way
		return false, false
	case of != nil && !mayHave(of.connections+1, verified+1, int64(forUsers(p.limit))):
		return false, false
	case of != nil:
		of.connections++
		c.of.Store(of)
	}
	p.strange.Remove(c.strange)
	c.strange = nil
	c.verified.Store(true)
	return true, true
}

// open returns the number of connections.
func (p *places) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

func (c *placedConn) leave() {
	close(c.gone)
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	c.places.taken--
	if of := c.of.Load(); of != nil {
		of.connections--
	}
	if c.strange != nil {
		c.places.strange.Remove(c.strange)
		c.strange = nil
	}
}

// Close is net.Conn.
func (c *placedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// SetDeadline is net.Conn. gRPC resets its own when a connection has been given to the server of
// HTTP/1.1, whose deadlines, of reading and of writing, hold then.
func (c *placedConn) SetDeadline(t time.Time) error {
	if c.plain.Load() {
		return nil
	}
	return c.Conn.SetDeadline(t)
}

// RemoteAddr is net.Conn. gRPC hands it to the calls of the connection.
func (c *placedConn) RemoteAddr() net.Addr { return clientAddr{c.Conn.RemoteAddr(), c} }

// clientAddr is a client's address that leads to its connection.
type clientAddr struct {
	net.Addr
	conn *placedConn
}

// connOf returns the connection of a call; nil for one that came through no listener of places.
func connOf(ctx context.Context) *placedConn {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	addr, ok := p.Addr.(clientAddr)
	if !ok {
		return nil
	}
	return addr.conn
}

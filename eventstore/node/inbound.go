package node

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
)

// gRPC gathers a whole message before anybody is asked, so that many clients that send large
// ones at once could take all memory. The node reads the frames of a connection as gRPC does
// (RFC 9113, section 4.1), sees the length that each message declares, and reserves room for it
// before its bytes are read: those who have room can finish, the others are not read from.

// inboundCopies is how often a message is in memory while it is received: as it came, and decoded.
const inboundCopies = 2

// Frame types and flags of HTTP/2.
const (
	http2Preface  = 24 // bytes before a client's first frame
	frameHead     = 9
	frameData     = 0
	frameHeaders  = 1
	frameReset    = 3
	flagEndStream = 1
	flagPadded    = 8
	messageHead   = 5 // compressed? and length, before each gRPC message
)

// frames reads the frames of one direction of a connection, however its bytes are cut.
type frames struct {
	skip   int // bytes of the preface that have not come
	head   [frameHead]byte
	got    int // bytes of head
	left   int // bytes of the payload that have not come
	padded bool
	pad    int
	// begin is called for each frame, data for the bytes of DATA frames, end after each frame
	begin func(kind, flags byte, stream uint32)
	data  func(stream uint32, b []byte) error
	end   func(kind, flags byte, stream uint32)
}

func (f *frames) kind() byte     { return f.head[3] }
func (f *frames) flags() byte    { return f.head[4] }
func (f *frames) stream() uint32 { return binary.BigEndian.Uint32(f.head[5:]) &^ (1 << 31) }

// next returns after how many bytes the head or the payload ends that comes now.
func (f *frames) next() int {
	switch {
	case f.skip > 0:
		return f.skip
	case f.got < frameHead:
		return frameHead - f.got
	default:
		return f.left
	}
}

// feed takes the next bytes.
func (f *frames) feed(b []byte) error {
	n := min(f.skip, len(b))
	f.skip -= n
	b = b[n:]
	for len(b) > 0 {
		if f.got < frameHead {
			n := copy(f.head[f.got:], b)
			f.got += n
			b = b[n:]
			if f.got < frameHead {
				return nil
			}
			f.left = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
			f.pad, f.padded = 0, f.kind() == frameData && f.flags()&flagPadded != 0
			f.begin(f.kind(), f.flags(), f.stream())
		}
		if f.padded && f.left > 0 && len(b) > 0 {
			f.pad, f.padded = int(b[0]), false
			f.left--
			b = b[1:]
		}
		n := min(f.left, len(b))
		if payload := min(n, f.left-f.pad); f.kind() == frameData && payload > 0 {
			if err := f.data(f.stream(), b[:payload]); err != nil {
				return err
			}
		}
		f.left -= n
		b = b[n:]
		if f.left == 0 {
			f.got = 0
			f.end(f.kind(), f.flags(), f.stream())
		}
	}
	return nil
}

// inbound is what a connection is sending.
type inbound struct {
	memory *budget
	calls  *callCount
	conn   *placedConn
	wait   time.Duration // longest of turn

	waiting atomic.Int64  // messages with room that are whole and not decoded yet
	changed chan struct{} // a signal after calls ended or were read, or a password was verified

	mu      sync.Mutex
	streams map[uint32]*inboundStream // those that are open
	newest  *inboundStream
	closed  bool
	unread  int // bytes of messages of open calls that gRPC has; while no password is verified
}

func newInbound(memory *budget, calls *callCount, conn *placedConn, wait time.Duration) *inbound {
	return &inbound{memory: memory, calls: calls, conn: conn, wait: wait, changed: make(chan struct{}, 1), streams: map[uint32]*inboundStream{}}
}

// inboundStream is what one call is being sent.
type inboundStream struct {
	head    [messageHead]byte
	got     int // bytes of head
	left    int // bytes of the message that have not come
	arrives *arriving
	arrived []*arriving // whole, and not decoded yet

	counted   bool   // in callCount
	of        *share // that it is counted in, too; nil: none
	strangers bool   // of a call that is open to everybody, by who gave no right password
	unread    int    // bytes that are counted in inbound.unread
}

// arriving is a message that came in parts.
type arriving struct {
	held   *holding
	length int       // as it is sent
	room   int       // bytes that it takes
	begun  time.Time // when they were reserved
}

func (i *inbound) begin(kind, _ byte, stream uint32) {
	if kind != frameHeaders {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.streams[stream] == nil && !i.closed {
		i.newest = &inboundStream{counted: i.trusted()}
		i.streams[stream] = i.newest
		if i.newest.counted {
			i.newest.of = i.user()
			i.calls.begun(i.newest.of)
		}
	}
}

// hasRoom reports whether the connection may have as many calls as it has. Those of strangers are bounded by turn.
func (i *inbound) hasRoom() bool {
	if !i.trusted() {
		return true
	}
	i.mu.Lock()
	calls := len(i.streams)
	i.mu.Unlock()
	if i.calls.hasRoom(calls, i.user()) {
		return true
	}
	i.calls.refused(i.user())
	return false
}

// user is the share of the connection's user; nil for an operator's, and where nobody needs a password.
func (i *inbound) user() *share {
	if i.conn == nil {
		return nil
	}
	return i.conn.of.Load()
}

// strangers returns what the newest call is being sent when no password was verified, else nil: only then
// is a connection read frame by frame, so that the newest call is the one that gRPC has just begun.
func (i *inbound) strangers(open bool) *inboundStream {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.trusted() || i.newest == nil {
		return nil
	}
	i.newest.strangers = open
	return i.newest
}

// consumed notes that a call has read so many bytes.
func (i *inbound) consumed(s *inboundStream, sizeBytes int) {
	i.mu.Lock()
	n := min(s.unread, sizeBytes)
	s.unread -= n
	i.unread -= n
	i.mu.Unlock()
	wake(i.changed)
}

// turn waits while a connection without a verified password has more open than it may: what it sends
// meanwhile stays with its sender. The call that is one too many has not begun, for its head was not handed on.
func (i *inbound) turn() error {
	if i.mayGoOn() {
		return nil
	}
	late := time.NewTimer(i.wait)
	defer late.Stop()
	for !i.mayGoOn() {
		select {
		case <-i.changed:
		case <-i.conn.gone:
			return net.ErrClosed
		case <-late.C:
			return errStrange
		}
	}
	return nil
}

func (i *inbound) mayGoOn() bool {
	if i.trusted() {
		return true
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.streams) <= maxStrangeCalls && i.unread <= maxStrangeUnread
}

// data takes bytes of messages. It waits until there is room for one that is not whole.
func (i *inbound) data(stream uint32, b []byte) error {
	for len(b) > 0 {
		i.mu.Lock()
		s := i.streams[stream]
		if s == nil { // gRPC drops what comes for a call that has ended
			i.mu.Unlock()
			return nil
		}
		if s.got < messageHead {
			n := copy(s.head[s.got:], b)
			s.got += n
			b = b[n:]
			i.count(s, n)
			if s.got < messageHead {
				i.mu.Unlock()
				return nil
			}
			length := binary.BigEndian.Uint32(s.head[1:])
			if length > maxMessageBytes { // gRPC reads no more of the call
				i.mu.Unlock()
				i.ended(stream)
				return nil
			}
			if s.strangers && length > maxStrangeMessage && !i.trusted() {
				i.mu.Unlock()
				return errStrange
			}
			s.left = int(length)
			if s.left > len(b) {
				s.arrives = &arriving{held: &holding{budget: i.memory, conn: i.conn}, length: s.left, room: inboundCopies * s.left}
			}
		}
		if a := s.arrives; a != nil && a.begun.IsZero() && i.trusted() {
			i.mu.Unlock()
			if err := a.reserve(); err != nil {
				return err
			}
			i.mu.Lock()
			if i.streams[stream] != s { // the call ended meanwhile
				i.mu.Unlock()
				a.held.release()
				return nil
			}
		}
		n := min(s.left, len(b))
		s.left -= n
		b = b[n:]
		i.count(s, n)
		if s.advance() {
			i.waiting.Add(1)
		}
		i.mu.Unlock()
	}
	return nil
}

// count counts bytes that gRPC has of a call's messages, while no password is verified.
func (i *inbound) count(s *inboundStream, sizeBytes int) {
	if !i.trusted() {
		s.unread += sizeBytes
		i.unread += sizeBytes
	}
}

// advance notes that bytes have come; true when a message with room is whole.
func (s *inboundStream) advance() bool {
	a := s.arrives
	hasRoom := a != nil && !a.begun.IsZero()
	if s.left == 0 {
		s.got, s.arrives = 0, nil
		if hasRoom {
			a.held.working()
			s.arrived = append(s.arrived, a)
		}
		return hasRoom
	}
	if hasRoom {
		a.held.waitForClientSince(a.begun.Add(time.Duration(a.length-s.left) * time.Second / inboundBytesPerSecond))
	}
	return false
}

// trusted reports whether room is reserved for what the connection sends: a stranger could
// keep users from memory by what they declare, and is disconnected after maxStrangeBytes.
func (i *inbound) trusted() bool { return i.conn == nil || i.conn.verified.Load() }

// reserve waits until there is room for the message.
func (a *arriving) reserve() error {
	if err := a.held.reserve(context.Background(), a.room); err != nil {
		return err
	}
	a.begun = time.Now()
	a.held.waitForClientSince(a.begun)
	return nil
}

func (i *inbound) end(kind, flags byte, stream uint32) {
	if kind == frameReset {
		i.ended(stream)
	}
	if (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0 {
		i.mu.Lock()
		defer i.mu.Unlock()
		if s := i.streams[stream]; s != nil && s.arrives != nil { // it will never be whole
			s.arrives.held.release()
			s.arrives = nil
		}
	}
}

// answered looks at what the node sends: a call ends with it.
func (i *inbound) answered(kind, flags byte, stream uint32) {
	if kind == frameReset || kind == frameHeaders && flags&flagEndStream != 0 {
		i.ended(stream)
	}
}

// ended gives back the room of a call that has ended.
func (i *inbound) ended(stream uint32) {
	i.mu.Lock()
	s := i.streams[stream]
	delete(i.streams, stream)
	if s != nil {
		i.waiting.Add(-int64(len(s.arrived)))
		i.unread -= s.unread
		s.unread = 0
		i.uncount(s)
	}
	i.mu.Unlock()
	s.release()
	wake(i.changed)
}

func (i *inbound) uncount(s *inboundStream) {
	if s.counted {
		i.calls.ended(s.of)
	}
}

func (s *inboundStream) release() {
	if s == nil {
		return
	}
	if s.arrives != nil {
		s.arrives.held.release()
	}
	for _, a := range s.arrived {
		a.held.release()
	}
}

// take returns a message of this length that has arrived; nil when none had room reserved.
func (i *inbound) take(length int) *arriving {
	if i.waiting.Load() == 0 {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.streams {
		for n, a := range s.arrived {
			if a.length == length {
				s.arrived = append(s.arrived[:n], s.arrived[n+1:]...)
				i.waiting.Add(-1)
				return a
			}
		}
	}
	return nil
}

// close gives back all room.
func (i *inbound) close() {
	i.mu.Lock()
	all := i.streams
	i.closed = true
	i.streams = map[uint32]*inboundStream{}
	for _, s := range all {
		i.uncount(s)
	}
	i.waiting.Store(0)
	i.mu.Unlock()
	for _, s := range all {
		s.release()
	}
}

// inboundCredentials puts the reading of frames between TLS, where there is any, and gRPC, and
// gives connections of HTTP/1.1 to plain.
type inboundCredentials struct {
	credentials.TransportCredentials
	tls    *tls.Config // nil: without TLS
	shakes *turns      // of its handshakes
	memory *budget
	calls  *callCount
	wait   time.Duration // for a connection without a verified password that has too much open
	plain  *plainHTTP
}

// ServerHandshake is credentials.TransportCredentials. gRPC bounds its time.
func (c *inboundCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, plain, err := c.handshake(raw)
	if err != nil {
		return nil, nil, err
	}
	if plain {
		return nil, nil, c.plain.serve(conn, raw)
	}
	m := &meteredConn{Conn: conn, first: &firstCall{plain: c.plain}}
	var placed *placedConn
	if addr, isPlaced := conn.RemoteAddr().(clientAddr); isPlaced {
		placed = addr.conn
	}
	m.inbound = newInbound(c.memory, c.calls, placed, c.wait)
	m.received = frames{skip: http2Preface, begin: m.inbound.begin, data: m.inbound.data, end: m.inbound.end}
	m.sent = frames{begin: func(byte, byte, uint32) {}, data: func(uint32, []byte) error { return nil }, end: m.inbound.answered}
	if placed != nil {
		placed.inbound.Store(m.inbound)
	}
	return m, info, nil
}

// handshake returns the connection behind TLS, where there is any, and whether it is one of HTTP/1.1: by
// what its client negotiates, and without TLS by its first bytes, which a client of HTTP/2 sends unasked
// (RFC 9113, section 3.4).
func (c *inboundCredentials) handshake(raw net.Conn) (conn net.Conn, info credentials.AuthInfo, plain bool, err error) {
	if c.tls != nil {
		// not that of the embedded credentials, which refuses a client that negotiates nothing, as many of HTTP/1.1 do
		shaking := &shakingConn{Conn: raw, turn: turn{of: c.shakes, owner: hostOf(raw.RemoteAddr())}}
		defer shaking.turn.leave()
		secured := tls.Server(shaking, c.tls)
		if err := secured.Handshake(); err != nil {
			return nil, nil, false, err
		}
		state := secured.ConnectionState()
		return secured, credentials.TLSInfo{State: state, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, state.NegotiatedProtocol != http2Protocol, nil
	}
	conn, info, err = c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, false, err
	}
	begun := &begunConn{Conn: conn}
	plain, err = begun.isPlain()
	return begun, info, plain, err
}

// Clone is credentials.TransportCredentials.
func (c *inboundCredentials) Clone() credentials.TransportCredentials {
	clone := *c
	clone.TransportCredentials = c.TransportCredentials.Clone()
	return &clone
}

// meteredConn is a connection whose frames are read.
type meteredConn struct {
	net.Conn
	inbound  *inbound
	first    *firstCall // nil once the first call was seen; used by the reader of the connection only, as the next
	received frames
	sent     frames // used by its writer only
}

// Read is net.Conn. What it returns has room; where there is none for a message in time, the
// connection ends. Before a password was verified it returns no more than one frame's head, or bytes of one payload.
func (m *meteredConn) Read(b []byte) (int, error) {
	if !m.inbound.trusted() {
		if err := m.inbound.turn(); err != nil {
			return 0, err
		}
		b = b[:min(len(b), m.received.next())]
	}
	n, err := m.Conn.Read(b)
	if m.first != nil && m.first.feed(b[:n]) {
		if m.first.isPlain {
			return 0, m.first.answer(m.Conn)
		}
		m.first = nil
	}
	if busy := m.received.feed(b[:n]); busy != nil {
		return 0, busy
	}
	return n, err
}

// Write is net.Conn.
func (m *meteredConn) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	_ = m.sent.feed(b[:n]) // it fails only for want of room for what is received
	return n, err
}

// Close is net.Conn.
func (m *meteredConn) Close() error {
	err := m.Conn.Close()
	m.inbound.close()
	return err
}

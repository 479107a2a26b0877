package node

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"reckon/internal/httpserver"

	"github.com/google/uuid"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/credentials"
)

// Beside gRPC the port answers the few GET requests that official clients and health checks
// make: by HTTP/1.1, and by HTTP/2 where a client negotiates that for TLS, as curl does.

// http2Protocol is the name of HTTP/2 in the negotiation of TLS (RFC 7301).
const http2Protocol = "h2"

// plainHTTP answers GET requests of one port. It is the listener of its connections of HTTP/1.1, which
// gRPC's listener accepts.
type plainHTTP struct {
	node      *Node
	advertise endpoint
	port      net.Addr
	server    *httpserver.Server
	conns     chan net.Conn
	closed    chan struct{}
	unlisten  func()
}

// servePlain answers at a port, until end.
func (n *Node) servePlain(port net.Addr, c Config) *plainHTTP {
	p := &plainHTTP{node: n, advertise: c.advertised(port), port: port, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.unlisten = sync.OnceFunc(func() { close(p.closed) })
	p.server = httpserver.New(p, plainLimits, slog.New(slog.DiscardHandler)) // what it would log is what clients send
	go func() { _ = p.server.Serve(p) }()                                    // it ends with the listener
	return p
}

// gossipMember is what clients read of a member, by KurrentDB-Client-Rust, kurrentdb/src/operations/gossip.rs.
type gossipMember struct {
	InstanceID            uuid.UUID `json:"instanceId"`
	TimeStamp             time.Time `json:"timeStamp"`
	State                 string    `json:"state"`
	IsAlive               bool      `json:"isAlive"`
	InternalTCPIP         string    `json:"internalTcpIp"`
	InternalTCPPort       int       `json:"internalTcpPort"`
	InternalSecureTCPPort int       `json:"internalSecureTcpPort"`
	ExternalTCPIP         string    `json:"externalTcpIp"`
	ExternalTCPPort       int       `json:"externalTcpPort"`
	ExternalSecureTCPPort int       `json:"externalSecureTcpPort"`
	HTTPEndPointIP        string    `json:"httpEndPointIp"`
	HTTPEndPointPort      int       `json:"httpEndPointPort"`
	LastCommitPosition    uint64    `json:"lastCommitPosition"`
	WriterCheckpoint      uint64    `json:"writerCheckpoint"`
	ChaserCheckpoint      uint64    `json:"chaserCheckpoint"`
	EpochPosition         uint64    `json:"epochPosition"`
	EpochNumber           int64     `json:"epochNumber"`
	EpochID               uuid.UUID `json:"epochId"`
	NodePriority          int32     `json:"nodePriority"`
}

// answer returns the status, and the JSON of the body if there is one.
func (p *plainHTTP) answer(method, path string) (status int, body []byte) {
	if method != http.MethodGet && method != http.MethodHead {
		return http.StatusNotFound, nil
	}
	switch path {
	case "/health/live":
		if !p.node.takesAppends() {
			return http.StatusServiceUnavailable, nil
		}
		return http.StatusNoContent, nil
	case "/gossip":
		head := p.node.log.Health().Records
		body, _ = json.Marshal(map[string]any{ // plain values always encode
			"members": []gossipMember{{
				InstanceID: p.node.LogID(), TimeStamp: time.Now().UTC(), State: "Leader", IsAlive: true,
				InternalTCPIP: p.advertise.host, ExternalTCPIP: p.advertise.host, HTTPEndPointIP: p.advertise.host, HTTPEndPointPort: p.advertise.port,
				LastCommitPosition: head, WriterCheckpoint: head, ChaserCheckpoint: head, NodePriority: p.node.priority.Load(),
			}},
			"serverIp": p.advertise.host, "serverPort": p.advertise.port,
		})
	case "/ping":
		// the sentence that the suite of EventStore-Client-NodeJS, packages/test/src/extra/http.test.ts, expects
		body, _ = json.Marshal(map[string]any{"msgTypeId": 0, "text": "Ping request successfully handled"})
	default:
		return http.StatusNotFound, nil
	}
	return http.StatusOK, body
}

// ServeHTTP is http.Handler.
func (p *plainHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, body := p.answer(r.Method, r.URL.Path)
	for _, h := range plainHeaders(status, body) {
		w.Header().Set(h.Name, h.Value)
	}
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = w.Write(body) // nothing for HEAD; who asked may have gone
}

// plainHeaders are the headers of an answer, in the lower case of HTTP/2.
func plainHeaders(status int, body []byte) []hpack.HeaderField {
	headers := []hpack.HeaderField{{Name: "cache-control", Value: "no-store"}, {Name: "x-content-type-options", Value: "nosniff"}}
	if status != http.StatusNoContent {
		headers = append(headers, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(len(body))})
	}
	if len(body) > 0 {
		headers = append(headers, hpack.HeaderField{Name: "content-type", Value: "application/json"})
	}
	return headers
}

// serve gives a connection to the server of HTTP/1.1, and returns what tells gRPC to leave it alone.
func (p *plainHTTP) serve(conn, raw net.Conn) error {
	if placed, ok := raw.(*placedConn); ok {
		placed.plain.Store(true)
	}
	select {
	case p.conns <- conn:
		return credentials.ErrConnDispatched
	case <-p.closed:
		return errShuttingDown
	}
}

// Accept is net.Listener.
func (p *plainHTTP) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener.
func (p *plainHTTP) Close() error {
	p.unlisten()
	return nil
}

// end closes all connections of HTTP/1.1.
func (p *plainHTTP) end() {
	p.unlisten()
	_ = p.server.Close() // the listener's Close does not fail
}

// Addr is net.Listener.
func (p *plainHTTP) Addr() net.Addr { return p.port }

// begunConn is a connection whose first bytes were looked at.
type begunConn struct {
	net.Conn
	seen [len("PRI")]byte
	left []byte // of seen, not read yet
}

// isPlain reports whether the connection does not begin as one of HTTP/2. No method but PRI, which nobody
// uses, begins with these letters (RFC 9113, section 3.4).
func (c *begunConn) isPlain() (bool, error) {
	_, err := io.ReadFull(c.Conn, c.seen[:])
	c.left = c.seen[:]
	return string(c.seen[:]) != "PRI", err
}

// Read is net.Conn.
func (c *begunConn) Read(b []byte) (int, error) {
	if len(c.left) > 0 {
		n := copy(b, c.left)
		c.left = c.left[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// firstCall reads the head of the first call of a connection of HTTP/2. All calls of gRPC are POST, so
// one that is GET or HEAD comes from another kind of client, and is answered here.
type firstCall struct {
	plain *plainHTTP
	came  []byte

	isPlain      bool
	stream       uint32
	method, path string
}

// feed takes the next bytes, and reports whether the first call is known, or is gRPC's to judge. gRPC gets
// frames whole or not at all: the read that completes a plain request's head is the one that is not passed on.
func (f *firstCall) feed(b []byte) (done bool) {
	if len(f.came)+len(b) > maxFirstCall {
		return true
	}
	f.came = append(f.came, b...)
	if len(f.came) < http2Preface {
		return false
	}
	for rest := f.came[http2Preface:]; len(rest) >= frameHead; {
		end := frameHead + (int(rest[0])<<16 | int(rest[1])<<8 | int(rest[2]))
		if len(rest) < end {
			return false
		}
		if rest[3] == frameHeaders {
			f.parse(rest[:end])
			return true
		}
		rest = rest[end:]
	}
	return false
}

// parse reads a HEADERS frame.
func (f *firstCall) parse(frame []byte) {
	read, err := http2.NewFramer(nil, bytes.NewReader(frame)).ReadFrame()
	head, ok := read.(*http2.HeadersFrame)
	if err != nil || !ok || !head.HeadersEnded() {
		return
	}
	decoder := hpack.NewDecoder(4096, func(field hpack.HeaderField) {
		switch field.Name {
		case ":method":
			f.method = field.Value
		case ":path":
			f.path = field.Value
		}
	})
	if _, err := decoder.Write(head.HeaderBlockFragment()); err == nil && decoder.Close() == nil {
		f.isPlain, f.stream = f.method == http.MethodGet || f.method == http.MethodHead, head.StreamID
	}
}

// answer answers the request, and returns the end of the connection for gRPC when the client has left, or
// has had the time to: closing at once could reset the connection before it has read the answer.
func (f *firstCall) answer(conn net.Conn) error {
	path, _, _ := strings.Cut(f.path, "?")
	status, body := f.plain.answer(f.method, path)
	var fields, frames bytes.Buffer
	encoder := hpack.NewEncoder(&fields)
	for _, h := range append([]hpack.HeaderField{{Name: ":status", Value: strconv.Itoa(status)}}, plainHeaders(status, body)...) {
		_ = encoder.WriteField(h) // a buffer takes everything
	}
	if f.method == http.MethodHead {
		body = nil
	}
	to := http2.NewFramer(&frames, nil)
	_ = to.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: fields.Bytes(), EndHeaders: true, EndStream: len(body) == 0})
	if len(body) > 0 {
		_ = to.WriteData(f.stream, true, body)
	}
	_ = to.WriteGoAway(f.stream, http2.ErrCodeNo, nil)
	_ = conn.SetReadDeadline(time.Now().Add(plainLinger))
	if _, err := conn.Write(frames.Bytes()); err == nil { // gRPC has written its settings, and whole frames only
		_, _ = io.CopyN(io.Discard, conn, maxPlainDiscards)
	}
	return io.EOF
}

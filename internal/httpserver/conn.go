package httpserver

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

type connKey struct{}

// conn bounds every write, and keeps the bytes of the current request's head: net/http
// removes a Content-Length beside Transfer-Encoding before a handler could see that the
// request had both.
type conn struct {
	net.Conn
	limits  Limits
	refuser Refuser // nil: net/http's own answers are sent as they are
	leave   func()  // gives the connection's place back

	mu            sync.Mutex
	handled       bool   // a handler answers the current request
	head          []byte // what was read since the current request began
	bodyBytesLeft int64  // bytes of a body that come before the next head
	lastRequest   bool   // this connection has no next request
}

// Close is net.Conn.
func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// Read is net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastRequest || n <= 0 {
		return n, err
	}
	skipped := min(c.bodyBytesLeft, int64(n))
	c.bodyBytesLeft -= skipped
	c.head = append(c.head, p[skipped:n]...) // net/http refuses heads over MaxHeaderBytes
	return n, err
}

// Write is net.Conn. What net/http answers itself, before a handler has the request, is answered by the refuser instead.
func (c *conn) Write(p []byte) (written int, err error) {
	c.mu.Lock()
	handled, head := c.handled, c.head
	c.mu.Unlock()
	if status := refusedStatus(p); c.refuser != nil && !handled && status != 0 {
		if _, err := c.writePieces(refusal(c.refuser, c.RemoteAddr().String(), status, head)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return c.writePieces(p)
}

// writePieces writes in pieces of MinBytesPerSecond×MaxSilence bytes; each piece
// must be sent within MaxSilence.
func (c *conn) writePieces(p []byte) (written int, err error) {
	piece := max(1, int(float64(c.limits.MinBytesPerSecond)*c.limits.MaxSilence.Seconds()))
	for {
		if err := c.SetWriteDeadline(time.Now().Add(c.limits.MaxSilence)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil {
			c.dropUnsent()
			return written, err
		}
		if written == len(p) {
			return written, nil
		}
	}
}

// dropUnsent makes the kernel drop the unsent bytes when the connection is closed.
func (c *conn) dropUnsent() {
	lowest := c.Conn
	if encrypted, is := lowest.(*tls.Conn); is {
		lowest = encrypted.NetConn()
	}
	if tcp, is := lowest.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
}

// CloseWrite closes the connection for writing; net/http calls it before it closes the connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// checkFraming returns why two readers of RFC 9112 may find different ends of the request,
// or "", and sets where the head of the next request begins.
func (c *conn) checkFraming(r *http.Request) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handled = true
	if c.lastRequest {
		return ""
	}
	head, rest, whole := cutHead(c.head)
	why := framingFault(head, r.ProtoAtLeast(1, 1))
	if why != "" || !whole || r.ContentLength < 0 || r.Close {
		c.lastRequest, c.head = true, nil
		return why
	}
	arrived := min(int64(len(rest)), r.ContentLength)
	c.bodyBytesLeft = r.ContentLength - arrived
	c.head = append([]byte(nil), rest[arrived:]...)
	return ""
}

// answered notes that the answer to the current request was sent.
func (c *conn) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handled = false
}

// cutHead splits data after the first empty line that follows the request line; whole is
// false when there is none.
func cutHead(data []byte) (head, rest []byte, whole bool) {
	data = bytes.TrimLeft(data, "\r\n")
	for at := 0; ; {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return data, nil, false
		}
		line := data[at : at+end]
		at += end + 1
		if len(bytes.TrimRight(line, "\r")) == 0 {
			return data[:at], data[at:], true
		}
	}
}

// framingFault names what RFC 9112 §2.2, §5.2, §6.1 and §6.3 let different readers read differently.
func framingFault(head []byte, http11 bool) string {
	lengths, codings := 0, 0
	for line := range bytes.Lines(head) {
		if !bytes.HasSuffix(line, []byte("\r\n")) {
			return "a line of the request's head ends without a carriage return"
		}
		if line[0] == ' ' || line[0] == '\t' {
			return "a header is folded over two lines"
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
			if length := bytes.TrimSpace(value); len(length) == 0 || len(bytes.Trim(length, "0123456789")) > 0 {
				return "Content-Length is not one decimal number"
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			codings++
		}
	}
	switch {
	case lengths > 0 && codings > 0:
		return "the request has both Content-Length and Transfer-Encoding"
	case lengths > 1:
		return "the request has Content-Length twice"
	case codings > 0 && !http11:
		return "the request is of HTTP/1.0 and has Transfer-Encoding"
	}
	return ""
}

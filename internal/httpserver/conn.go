package httpserver

import (
	"bytes"
	"net"
	"net/http"
	"sync"
	"time"
)

type connKey struct{}

// conn bounds every write, and keeps the bytes of the current request's head:
// net/http drops a Content-Length beside Transfer-Encoding before a handler
// could see that there were two answers to where the request ends.
type conn struct {
	net.Conn
	limits Limits

	mu            sync.Mutex
	head          []byte // what was read since the current request began
	bodyBytesLeft int64  // bytes of a body that come before the next head
	lastRequest   bool   // this connection has no next request
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

// Write is net.Conn. Each piece, of what the least rate moves in a stall, has that long.
func (c *conn) Write(p []byte) (written int, err error) {
	piece := max(1, int(float64(c.limits.MinBytesPerSecond)*c.limits.MaxSilence.Seconds()))
	for {
		if err := c.SetWriteDeadline(time.Now().Add(c.limits.MaxSilence)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil {
			if tcp, ok := c.Conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // the kernel need not keep what nobody takes
			}
			return written, err
		}
		if written == len(p) {
			return written, nil
		}
	}
}

// CloseWrite lets net/http end an answer before the connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// checkFraming says why the end of the request is not the same for every reader of
// RFC 9112, or nothing, and finds where the next request begins.
func (c *conn) checkFraming(r *http.Request) string {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// cutHead splits at the first empty line that is not before the request line.
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
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
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

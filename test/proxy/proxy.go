// Package proxy is a way by TCP between processes under test and a part that they need, which can be taken away and given back.
//
// It promises that what it does holds for open connections and for new ones alike, and that a part is as it was once its way is
// mended. It never changes a byte.
package proxy

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is a way to a server.
type Proxy struct {
	network, server string // where the server listens
	listener        net.Listener

	mu      sync.Mutex
	mode    mode
	delay   time.Duration
	changed chan struct{} // closed when the mode changes
	open    map[*net.TCPConn]net.Conn
}

type mode int

const (
	passing    mode = iota // bytes pass, each piece after the delay
	refusing               // connections are reset
	swallowing             // connections are made and kept, and nothing passes
)

// Start opens a way to a server, which is closed at the test's end. The network is tcp or unix.
func Start(t testing.TB, network, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{network: network, server: server, listener: listener, changed: make(chan struct{}), open: map[*net.TCPConn]net.Conn{}}
	t.Cleanup(func() { _ = listener.Close(); p.Refuse() })
	go p.accept()
	return p
}

// Address is where the way begins, HOST:PORT.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Refuse resets every connection, and each new one as soon as it is made.
func (p *Proxy) Refuse() { p.set(refusing, 0) }

// Swallow keeps connections and lets nothing pass, in either direction: the server is frozen, or the network drops what is sent.
func (p *Proxy) Swallow() { p.set(swallowing, 0) }

// Delay lets each piece of what is sent pass so much later.
func (p *Proxy) Delay(by time.Duration) { p.set(passing, by) }

// Mend lets everything pass. What was swallowed passes now, as after a network's outage.
func (p *Proxy) Mend() { p.set(passing, 0) }

func (p *Proxy) set(m mode, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode, p.delay = m, delay
	close(p.changed)
	p.changed = make(chan struct{})
	if m != refusing {
		return
	}
	for client, server := range p.open {
		reset(client, server)
	}
	clear(p.open)
}

// reset ends both connections; a client learns of it at once.
func reset(client *net.TCPConn, server net.Conn) {
	_ = client.SetLinger(0)
	_, _ = client.Close(), server.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.join(client.(*net.TCPConn))
	}
}

// join copies between a client and the server until one of them ends or the connection is reset.
func (p *Proxy) join(client *net.TCPConn) {
	server, err := net.Dial(p.network, p.server)
	if err != nil {
		_ = client.SetLinger(0)
		_ = client.Close()
		return
	}
	p.mu.Lock()
	refused := p.mode == refusing
	if refused {
		reset(client, server)
	} else {
		p.open[client] = server
	}
	p.mu.Unlock()
	if refused {
		return
	}
	var copying sync.WaitGroup
	copying.Go(func() { p.copy(server, client) })
	copying.Go(func() { p.copy(client, server) })
	copying.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
}

// copy passes one direction on until it ends, and ends both then.
func (p *Proxy) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		p.wait()
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait returns when the next piece may pass.
func (p *Proxy) wait() {
	p.mu.Lock()
	delay := p.delay
	p.mu.Unlock()
	if delay > 0 {
		<-time.After(delay)
	}
	for {
		p.mu.Lock()
		m, changed := p.mode, p.changed
		p.mu.Unlock()
		if m != swallowing {
			return
		}
		<-changed
	}
}

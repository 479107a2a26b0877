// Package proxy is a way by TCP between processes under test and a part that they need, which can be taken away and given back.
//
// It promises that what it does holds for open connections and for new ones alike, and that a part is as it was once its way is
// mended. It never changes a byte.
package proxy

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is a way to a server.
type Proxy struct {
	network, server string // where the server listens
	listener        net.Listener
	ended           chan struct{} // closed at the test's end

	mu      sync.Mutex
	mode    mode
	delay   time.Duration
	changed chan struct{} // closed when the mode changes
	open    map[*joined]bool
	loseOn  []byte // the next connection on which a client sends this is lost; nil: none is
	lost    int
}

// joined is a connection of a client and the one to the server that serves it.
type joined struct {
	client *net.TCPConn
	server net.Conn
	lost   bool // nothing passes any more, and neither side learns it
}

type mode int

const (
	passing    mode = iota // bytes pass, each piece after the delay
	refusing               // connections are reset
	swallowing             // connections are made and kept, and nothing passes
	muting                 // what clients send passes, and nothing that the server sends
)

// Start opens a way to a server, which is closed at the test's end. The network is tcp or unix.
func Start(t testing.TB, network, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{network: network, server: server, listener: listener, ended: make(chan struct{}), changed: make(chan struct{}), open: map[*joined]bool{}}
	t.Cleanup(func() { _ = listener.Close(); close(p.ended); p.Refuse() })
	go p.accept()
	return p
}

// Address is where the way begins, HOST:PORT.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Refuse resets every connection, and each new one as soon as it is made.
func (p *Proxy) Refuse() { p.set(refusing, 0) }

// Swallow keeps connections and lets nothing pass, in either direction: the server is frozen, or the network drops what is sent.
func (p *Proxy) Swallow() { p.set(swallowing, 0) }

// Mute lets pass what clients send, and nothing that the server answers: what they ask for is done, and they do not learn it.
func (p *Proxy) Mute() { p.set(muting, 0) }

// Delay lets each piece of what is sent pass so much later.
func (p *Proxy) Delay(by time.Duration) { p.set(passing, by) }

// Lose has every open connection be silent for good, as after a failure of the network that neither side is told of; new ones pass.
func (p *Proxy) Lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for j := range p.open {
		j.lost = true
	}
	p.lost += len(p.open)
}

// LoseOn has the next connection on which a client sends the text be silent for good from then on: the text is passed to the server. It
// replaces the text of an earlier call; with "" no connection is lost any more.
func (p *Proxy) LoseOn(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loseOn = []byte(text)
}

// Lost is how many connections were lost.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Mend lets everything pass, but for lost connections. What was swallowed passes now, as after a network's outage.
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
	for j := range p.open {
		j.reset()
	}
	clear(p.open)
}

// reset ends both connections; a client learns of it at once.
func (j *joined) reset() {
	_ = j.client.SetLinger(0)
	_, _ = j.client.Close(), j.server.Close()
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
	j := &joined{client: client, server: server}
	p.mu.Lock()
	refused := p.mode == refusing
	if refused {
		j.reset()
	} else {
		p.open[j] = true
	}
	p.mu.Unlock()
	if refused {
		return
	}
	var copying sync.WaitGroup
	copying.Go(func() { p.copy(j, server, client) })
	copying.Go(func() { p.copy(j, client, server) })
	copying.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, j)
}

// copy passes one direction on until it ends, and ends both then.
func (p *Proxy) copy(j *joined, to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		p.wait(to == j.server)
		if p.isLost(j) { // the end of one side is kept from the other
			<-p.ended
			return
		}
		if n > 0 {
			if to == j.server {
				p.look(j, piece[:n])
			}
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) isLost(j *joined) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.lost
}

// look loses a connection on which a client sends loseOn.
func (p *Proxy) look(j *joined, sent []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.loseOn) > 0 && bytes.Contains(sent, p.loseOn) {
		j.lost, p.loseOn = true, nil
		p.lost++
	}
}

// wait returns when the next piece may pass, to the server or from it.
func (p *Proxy) wait(toServer bool) {
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
		if m != swallowing && (m != muting || toServer) {
			return
		}
		<-changed
	}
}

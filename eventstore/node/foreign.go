package node

import (
	"net"
	"sync"
)

// countingListener counts the connections that other processes have open. To read the log a
// process must be connected, so while there are none nobody else can see an event.
type countingListener struct {
	net.Listener
	count *foreignCount
}

// foreignCount is the number of connections of other processes, at all listeners of a node.
type foreignCount struct {
	mu      sync.Mutex
	foreign int
	changed func(foreign int) // called with mu held; nil until OnForeignClients
}

// Accept is net.Listener.
func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil || isOwnProcess(c) {
		return c, err
	}
	l.count.add(1)
	return &countedConn{Conn: c, end: sync.OnceFunc(func() { l.count.add(-1) })}, nil
}

func (l *foreignCount) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foreign += n
	if l.changed != nil {
		l.changed(l.foreign)
	}
}

// countedConn is a connection of another process.
type countedConn struct {
	net.Conn
	end func()
}

// Close is net.Conn.
func (c *countedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// OnForeignClients calls f with the number of connections that other processes have open: now,
// and whenever it changes, before a new connection is served. On systems that do not tell whose
// a connection is, this process's own count too. f must not block.
func (n *Node) OnForeignClients(f func(connections int)) {
	n.foreign.mu.Lock()
	defer n.foreign.mu.Unlock()
	n.foreign.changed = f
	f(n.foreign.foreign)
}

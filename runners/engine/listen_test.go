package engine_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// connections counts what reached the listener that no worker must reach.
var connections atomic.Int32

var listener = sync.OnceValues(func() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	go func() {
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = connection.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, nil
})

// listenOnce answers the port of a listener that lives as long as the tests.
func listenOnce(t *testing.T) int {
	t.Helper()
	port, err := listener()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

package proxy_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"reckon/test/proxy"
)

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return listener.Addr().String()
}

// dial connects through a proxy for the test.
func dial(t *testing.T, p *proxy.Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestAConnectionCanBeLost: it is silent for good and neither side is told, while others pass.
func TestAConnectionCanBeLost(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, "tcp", echo(t))
	hears := func(c net.Conn, sent string) bool {
		t.Helper()
		if _, err := c.Write([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		got := make([]byte, len(sent))
		_, err := io.ReadFull(c, got)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a lost connection's end is told: %v", err)
		}
		return err == nil
	}
	wantHeard := func(c net.Conn) {
		t.Helper()
		if _, err := c.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Time{})
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	one, other := dial(t, p), dial(t, p)
	wantHeard(one)
	wantHeard(other)
	p.LoseOn("now")
	wantHeard(other)
	if hears(one, "and now") || hears(one, "again") || p.Lost() != 1 {
		t.Errorf("it is heard, %d are lost", p.Lost())
	}
	wantHeard(other)
	p.Lose()
	p.Mend()
	if hears(other, "b") || p.Lost() < 2 {
		t.Errorf("it is heard, %d are lost", p.Lost())
	}
	wantHeard(dial(t, p))
}

// TestAWayCanBeTakenAway: an open connection and a new one are treated alike, and what was swallowed passes in the end.
func TestAWayCanBeTakenAway(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, "tcp", echo(t))
	say := func(c net.Conn) {
		if _, err := c.Write([]byte("hello\n")); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(c net.Conn) error {
		_, err := bufio.NewReader(c).ReadString('\n')
		return err
	}
	old := dial(t, p)
	say(old)
	if err := hear(old); err != nil {
		t.Fatal(err)
	}
	p.Swallow()
	fresh := dial(t, p)
	for _, c := range []net.Conn{old, fresh} {
		say(c)
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if err := hear(c); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("swallowed: %v", err)
		}
		_ = c.SetReadDeadline(time.Time{})
	}
	p.Delay(time.Millisecond)
	for _, c := range []net.Conn{old, fresh} {
		if err := hear(c); err != nil {
			t.Errorf("mended: %v", err)
		}
	}
	p.Refuse()
	if err := hear(old); err == nil {
		t.Error("an open connection lives")
	}
	if c, err := net.Dial("tcp", p.Address()); err == nil { // else it was reset before Dial returned
		if err := hear(c); err == nil {
			t.Error("a new connection is served")
		}
		_ = c.Close()
	}
	p.Mend()
	again := dial(t, p)
	say(again)
	if err := hear(again); err != nil {
		t.Errorf("mended: %v", err)
	}
}

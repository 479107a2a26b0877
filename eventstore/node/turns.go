package node

import (
	"context"
	"crypto/tls"
	"net"
	"runtime"
	"sync"

	"reckon/eventstore/node/fairqueue"
)

// turns let a few work at a time, and those who wait by owner: who has many calls waits for their own.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting fairqueue.Queue[any, *waiter]
}

type waiter struct {
	given chan struct{} // closed when it is the waiter's turn
	gone  bool          // it no longer waits
}

func newTurns(atATime int) *turns { return &turns{free: atATime} }

// readTurns is how many reads work at a time; while they wait for their clients they have no turn.
func readTurns() int { return max(2, runtime.GOMAXPROCS(0)) }

// someProcessors is the part of the processors that those have whom the node does not know yet, for each of handshakes and passwords.
func someProcessors() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// turn is what one call or connection has of the turns. It is used by one goroutine at a time.
type turn struct {
	of    *turns
	owner any
	held  bool
}

// take waits for the owner's turn, unless it is already, for work that costs so much.
func (t *turn) take(ctx context.Context, cost int) error {
	if t.held {
		return nil
	}
	err := t.of.take(ctx, t.owner, cost)
	t.held = err == nil
	return err
}

// leave ends the turn, if it is one.
func (t *turn) leave() {
	if t.held {
		t.held = false
		t.of.leave()
	}
}

func (t *turns) take(ctx context.Context, owner any, cost int) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	w := &waiter{given: make(chan struct{})}
	t.waiting.Push(owner, uint64(cost), w)
	t.mu.Unlock()
	select {
	case <-w.given:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.given:
		t.next()
	default:
		w.gone = true
	}
	return ctx.Err()
}

func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next gives a turn that has ended to who is next.
func (t *turns) next() {
	for {
		_, w, waits := t.waiting.Pop()
		if !waits {
			t.free++
			return
		}
		if !w.gone {
			close(w.given)
			return
		}
	}
}

// shakingConn is a connection whose TLS handshake takes a turn for what it computes, not for what it waits for: from the client's first
// message, when crypto/tls asks for a configuration, until it writes its answer.
type shakingConn struct {
	net.Conn
	turn turn
}

// Write is net.Conn.
func (c *shakingConn) Write(b []byte) (int, error) {
	c.turn.leave()
	return c.Conn.Write(b)
}

// takeShakeTurn is tls.Config.GetConfigForClient: it changes nothing.
func takeShakeTurn(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	c, shakes := hello.Conn.(*shakingConn)
	if !shakes {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(hello.Context(), handshakeTimeout)
	defer cancel()
	return nil, c.turn.take(ctx, 1)
}

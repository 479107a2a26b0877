package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/domain/event"
)

const (
	firstProbePause = 20 * time.Millisecond
	maxProbePause   = time.Second
	probeTimeout    = 5 * time.Second
	// maxCalls bounds the calls in progress, those whose callers have given up included. Each
	// has a goroutine.
	maxCalls = 1024
)

var errClosed = errors.New("the store is closed")

// connection holds the one client in use and replaces it when the server stops
// answering. The client cannot be left to reconnect: while it discovers a server it
// ignores contexts, after a failed discovery it stays closed, and every discovery
// leaks a connection.
type connection struct {
	config esdb.Configuration
	logger *slog.Logger

	stop context.CancelFunc // ends the search for a server
	ctx  context.Context

	calls chan struct{} // holds a token for each call in progress

	mu     sync.Mutex
	live   *client       // nil while there is no server
	up     chan struct{} // closed when live is set
	closed bool
}

// client counts its users and is closed when the last one releases it: closing a
// client in use panics.
type client struct {
	*esdb.Client
	users   int
	retired bool
}

func newConnection(c Config) (*connection, error) {
	config, err := clientConfiguration(c.Connection)
	if err != nil {
		return nil, err
	}
	if err := checkGuarded(config); err != nil && !c.Insecure {
		return nil, err
	}
	logger := c.Logger
	config.Logger = func(level, format string, args ...any) {
		logger.Debug("event store client: "+strings.TrimSpace(fmt.Sprintf(format, args...)), "level", level)
	}
	ctx, stop := context.WithCancel(context.Background())
	connected := &connection{config: *config, logger: logger, ctx: ctx, stop: stop, calls: make(chan struct{}, maxCalls), up: make(chan struct{})}
	go connected.search()
	return connected, nil
}

// enter waits until fewer than maxCalls calls are in progress; leave must be called when
// this one has ended. Errors: the context's.
func (c *connection) enter(ctx context.Context) (leave func(), err error) {
	select {
	case c.calls <- struct{}{}:
		return func() { <-c.calls }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// search probes the server with pauses from firstProbePause to maxProbePause until it
// answers or the connection is closed, then puts a new client into service.
func (c *connection) search() {
	for pause := newBackoff(firstProbePause, maxProbePause); ; {
		err := c.probe()
		if err == nil && c.serve() == nil {
			return
		}
		c.logger.Debug("event store does not answer yet", "error", err)
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// probe reads one event with a client that is closed afterwards, within probeTimeout.
func (c *connection) probe() error {
	config := c.config
	config.MaxDiscoverAttempts, config.DiscoveryInterval = 1, 1 // it waits after the last attempt too
	probe, err := esdb.NewClient(&config)
	if err != nil {
		return err
	}
	defer func() { _ = probe.Close() }() // it never fails
	ctx, cancel := context.WithTimeout(c.ctx, probeTimeout)
	defer cancel()
	_, err = readHead(ctx, probe)
	return err
}

// serve puts a new client into service once it has read from the server: a client that has
// not would keep all its callers, until it found one.
func (c *connection) serve() error {
	config := c.config
	config.MaxDiscoverAttempts = math.MaxInt32 // a client that stops discovering blocks its callers for ever
	serving, err := esdb.NewClient(&config)
	if err != nil {
		return err
	}
	next := &client{Client: serving, users: 2} // this function and the read, which may outlive it
	ctx, cancel := context.WithTimeout(c.ctx, probeTimeout)
	defer cancel()
	_, err = callWithContext(ctx, func() (event.Position, error) {
		defer c.release(next)
		return readHead(ctx, next.Client)
	})
	defer c.release(next)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || err != nil {
		next.retired = true
		return err
	}
	c.live = next
	close(c.up)
	return nil
}

// acquire waits for a client in service. Every client it returns must be released.
// Errors: errClosed, or the context's.
func (c *connection) acquire(ctx context.Context) (*client, error) {
	for {
		c.mu.Lock()
		live, up, closed := c.live, c.up, c.closed
		if live != nil && !closed {
			live.users++
		}
		c.mu.Unlock()
		switch {
		case closed:
			return nil, errClosed
		case live != nil:
			return live, nil
		}
		select {
		case <-up:
		case <-c.ctx.Done():
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// retain counts one more use of a client that is in use; it needs a release of its own.
func (c *connection) retain(used *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	used.users++
}

func (c *connection) release(used *client) {
	c.mu.Lock()
	used.users--
	last := used.retired && used.users == 0
	c.mu.Unlock()
	if last {
		_ = used.Close() // it never fails
	}
}

// replaceClient takes a client whose server does not answer out of service and starts
// the search for another. It does nothing when the client was replaced already.
func (c *connection) replaceClient(gone *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live != gone || c.closed {
		return
	}
	gone.retired = true
	c.live, c.up = nil, make(chan struct{})
	go c.search()
}

// close ends the search and closes the client when its last user releases it.
func (c *connection) close() {
	c.stop()
	c.mu.Lock()
	live := c.live
	idle := !c.closed && live != nil && live.users == 0
	if live != nil {
		live.retired = true
	}
	c.closed, c.live = true, nil
	c.mu.Unlock()
	if idle {
		_ = live.Close() // it never fails
	}
}

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
)

const (
	firstProbePause = 20 * time.Millisecond
	maxProbePause   = time.Second
	probeTimeout    = 5 * time.Second
)

var errClosed = errors.New("the store is closed")

// connection holds the one client that serves, and replaces it when the server
// has gone: the client itself blocks without regard to a context while it looks
// for a server, is closed for good when it finds none, and leaks a connection
// each time it looks again.
type connection struct {
	config esdb.Configuration
	logger *slog.Logger

	stop context.CancelFunc // ends the search for a server
	ctx  context.Context

	mu     sync.Mutex
	live   *client       // nil while there is no server
	up     chan struct{} // closed when live is set
	closed bool
}

// client counts who is using it, so that it is closed only when nobody is:
// closing one in use panics.
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
	if err := guarded(config); err != nil && !c.Insecure {
		return nil, err
	}
	logger := c.Logger
	config.Logger = func(level, format string, args ...any) {
		logger.Debug("event store client: "+strings.TrimSpace(fmt.Sprintf(format, args...)), "level", level)
	}
	ctx, stop := context.WithCancel(context.Background())
	connected := &connection{config: *config, logger: logger, ctx: ctx, stop: stop, up: make(chan struct{})}
	go connected.search()
	return connected, nil
}

// search asks for a server until one answers, and puts a new client to work.
func (c *connection) search() {
	for pause := doubling(firstProbePause, maxProbePause); ; {
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

// probe reads one event with a client of its own, which is thrown away.
func (c *connection) probe() error {
	config := c.config
	config.MaxDiscoverAttempts = 1
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

func (c *connection) serve() error {
	config := c.config
	config.MaxDiscoverAttempts = math.MaxInt32 // a client that gave up would block its callers for ever
	serving, err := esdb.NewClient(&config)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return serving.Close()
	}
	c.live = &client{Client: serving}
	close(c.up)
	return nil
}

// acquire waits for a serving client; every acquire needs a release.
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

func (c *connection) release(used *client) {
	c.mu.Lock()
	used.users--
	last := used.retired && used.users == 0
	c.mu.Unlock()
	if last {
		_ = used.Close() // it never fails
	}
}

// lost says that the server behind this client does not answer.
func (c *connection) lost(gone *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live != gone || c.closed {
		return
	}
	gone.retired = true
	c.live, c.up = nil, make(chan struct{})
	go c.search()
}

// close ends the search and closes the client once its last user has left.
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

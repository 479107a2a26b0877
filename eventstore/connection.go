package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/domain/event"
)

const (
	firstProbePause = 20 * time.Millisecond
	maxProbePause   = time.Second
	probeTimeout    = 5 * time.Second
	// A call that has no answer for half of the time that it has left, at least minSilence and at most maxSilence, has its
	// connection examined, which takes examineTimeout at most: the call is to be repeated in time where the connection is lost.
	minSilence     = 500 * time.Millisecond
	maxSilence     = 2 * time.Second
	examineTimeout = 1500 * time.Millisecond
	// maxCalls bounds the calls in progress, those whose callers have given up included. Each
	// has a goroutine.
	maxCalls = 1024
)

var errClosed = errors.New("the store is closed")

// errLost is why a call over a connection that was lost is made again.
var errLost = status.Error(codes.Unavailable, "the connection to the server was lost, and neither side was told")

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
	lost     context.Context // ends when the connection is found to be lost
	lose     context.CancelFunc
	users    int
	retired  bool
	examined bool // an examination is in progress
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
		err := c.probeFor(probeTimeout)
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

// probeFor is probe within a limit.
func (c *connection) probeFor(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	return c.probe(ctx)
}

// probe reads one event over a connection of its own.
func (c *connection) probe(ctx context.Context) error {
	config := c.config
	config.MaxDiscoverAttempts, config.DiscoveryInterval = 1, 1 // it waits after the last attempt too
	probe, err := esdb.NewClient(&config)
	if err != nil {
		return err
	}
	defer func() { _ = probe.Close() }() // it never fails
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
	next.lost, next.lose = context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(c.ctx, probeTimeout)
	defer cancel()
	_, err = callOver(ctx, c, next, func() (event.Position, error) {
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

// examine takes a client out of service whose connection is lost without a word: a read over a new connection is answered, and one
// over the client's is not, or later. Then its calls and subscriptions begin again. When neither is answered the log is away; when
// the client's is, it is only slow.
func (c *connection) examine(suspect *client) {
	if !c.beginExamination(suspect) {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, examineTimeout)
	defer cancel()
	first := make(chan bool, 2) // whether it was the new connection
	go func() {
		defer c.endExamination(suspect)
		if _, err := readHead(ctx, suspect.Client); ctx.Err() == nil || err == nil {
			first <- false
		}
	}()
	go func() {
		if c.probe(ctx) == nil {
			first <- true
		}
	}()
	select {
	case lost := <-first:
		if lost {
			c.logger.Warn("a connection to the event log was lost, and neither side was told: what was asked over it is asked again over a new one")
			c.replaceClient(suspect)
			suspect.lose()
		}
	case <-ctx.Done():
	}
}

// beginExamination tells whether a client is to be examined now, and keeps it open for that.
func (c *connection) beginExamination(suspect *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	closing := suspect.retired && suspect.users == 0
	if c.closed || closing || suspect.examined || suspect.lost.Err() != nil {
		return false
	}
	suspect.examined = true
	suspect.users++
	return true
}

func (c *connection) endExamination(suspect *client) {
	c.mu.Lock()
	suspect.examined = false
	c.mu.Unlock()
	c.release(suspect)
}

// watch is next, and has the client's connection examined while that gives nothing, until the context ends.
func (c *connection) watch(ctx context.Context, used *client, next func() (Raw, error)) func() (Raw, error) {
	var given atomic.Int64
	go func() {
		silent := time.NewTicker(maxSilence)
		defer silent.Stop()
		for before := given.Load(); ; before = given.Load() {
			select {
			case <-ctx.Done():
				return
			case <-silent.C:
			}
			if given.Load() == before {
				c.examine(used)
			}
		}
	}()
	return func() (Raw, error) {
		defer given.Add(1)
		return next()
	}
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

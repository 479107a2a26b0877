package node

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/access"
)

// Users share connections and open calls, and none can take them from the others: a user may have userShare times what
// is left. One has four fifths at most, and somebody who comes then, of the rest, four fifths again (dynamic thresholds:
// Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). One of keptForFew parts is left to users who have one of
// fewOfAll, so that many who work together leave something, too. One of keptForOperators parts is left to who can end the
// others: the owner, at the socket, and users in $admins and $ops.
const (
	userShare        = 4
	keptForFew       = 32
	fewOfAll         = 448
	keptForOperators = 8
	tellRefusals     = time.Minute // least time between two lines about refused calls
)

// forUsers is what users share of so many.
func forUsers(all int) int { return all - all/keptForOperators }

// mayHave reports whether a user may have so many where all users have taken so many, their own included.
func mayHave(own, taken, limit int64) bool {
	return own <= userShare*(limit-limit/keptForFew-taken) || own <= limit/fewOfAll && taken <= limit
}

// share is what one user has.
type share struct {
	login       string
	calls       atomic.Int64
	connections int64         // guarded by places.mu
	matching    chan struct{} // holds one for each call of the user that tries a regular expression
}

// shares are those of all users that have connected. There are no more than the log has names of users.
type shares struct {
	mu sync.Mutex
	of map[string]*share
}

func (s *shares) user(login string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*share{}
	}
	one := s.of[login]
	if one == nil {
		one = &share{login: login, matching: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
		s.of[login] = one
	}
	return one
}

// callCount counts the open calls of all connections but those of strangers: the calls whose end the node
// has not sent. Strangers must not take the room of users.
type callCount struct {
	logger *slog.Logger
	open   atomic.Int64

	mu   sync.Mutex
	told time.Time // when refusals were logged last
}

// begun counts a call of a user; of nobody where that is nil.
func (c *callCount) begun(of *share) {
	c.open.Add(1)
	if of != nil {
		of.calls.Add(1)
	}
}

func (c *callCount) ended(of *share) {
	c.open.Add(-1)
	if of != nil {
		of.calls.Add(-1)
	}
}

// hasRoom reports whether a connection of a user may have as many calls as it has. What is left for everybody is a
// connection's share, too.
func (c *callCount) hasRoom(calls int, of *share) bool {
	open := c.open.Load()
	return int64(calls)+open <= maxCalls && (of == nil || mayHave(of.calls.Load(), open, int64(forUsers(maxCalls))))
}

// refused logs, now and then, that calls are refused.
func (c *callCount) refused(of *share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.told) < tellRefusals {
		return
	}
	c.told = time.Now()
	facts := []any{"open", c.open.Load()}
	if of != nil {
		facts = append(facts, "user", of.login, "of_the_user", of.calls.Load())
	}
	c.logger.Warn("calls are refused, because too many are open", facts...)
}

// takeMatching waits until few other calls of the caller's user try a regular expression, which may take seconds of a processor for a
// page: one user's calls take half of the processors together. leave is to be called afterwards. Operators do not wait.
func takeMatching(ctx context.Context, closing <-chan struct{}) (leave func(), err error) {
	var of *share
	if conn := connOf(ctx); conn != nil {
		of = conn.of.Load()
	}
	if of == nil {
		return func() {}, nil
	}
	select {
	case of.matching <- struct{}{}:
		return func() { <-of.matching }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-closing:
		return nil, errShuttingDown
	}
}

var errTooManyConnections = status.Error(codes.ResourceExhausted, "there are too many connections of this user, or of all users: close some")

// keepPlace keeps the connection of a call whose credentials were verified, and closes it some time after its user was disabled,
// deleted or got another password. A connection is of the user that it was first verified for.
func (g *guard) keepPlace(ctx context.Context, session *access.Session) error {
	c := connOf(ctx)
	if c == nil {
		return nil
	}
	c.session.Store(session)
	if c.verified.Load() {
		return nil
	}
	var of *share
	switch operator, err := g.isOperator(session); {
	case err != nil:
		return err
	case !operator:
		of = g.shares.user(session.Login())
	}
	kept, first := c.places.keep(c, of)
	switch {
	case !kept:
		return errTooManyConnections
	case !first:
		return nil
	}
	if i := c.inbound.Load(); i != nil {
		wake(i.changed)
	}
	go g.closeWhenEnded(c, session.Stream())
	return nil
}

func (g *guard) isOperator(session *access.Session) (bool, error) {
	view, err := g.log.View()
	if err != nil {
		return false, err
	}
	defer view.Close()
	p, err := session.Principal(view)
	if err != nil {
		return false, authenticationFailure(err)
	}
	return p.Is(access.Admins) || p.Is(access.Ops), nil
}

// closeWhenEnded closes a connection whose newest session has ended, refusedWait later: what its calls are answered goes out before.
func (g *guard) closeWhenEnded(c *placedConn, stream string) {
	changed := g.log.Watch(stream)
	defer changed.Close()
	for {
		select {
		case <-changed.C:
		case <-c.gone:
			return
		}
		if !g.hasEnded(c) {
			continue
		}
		select {
		case <-time.After(g.wait):
		case <-c.gone:
			return
		}
		if g.hasEnded(c) {
			_ = c.Close() // it is gone either way
			return
		}
	}
}

func (g *guard) hasEnded(c *placedConn) bool {
	view, err := g.log.View()
	if err != nil {
		return false
	}
	defer view.Close()
	_, err = c.session.Load().Principal(view)
	return errors.Is(err, access.ErrEnded)
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// ErrSessionClosed says that the session was closed while this evaluation ran in it.
var ErrSessionClosed = errors.New("the session was closed while it was evaluating")

// ExpiryReason says why a session ended by itself.
type ExpiryReason string

// Reasons of OnSessionExpired.
const (
	ExpiredIdle   ExpiryReason = "idle"   // unused for Options.SessionIdle
	ExpiredBudget ExpiryReason = "budget" // its evaluation ran past the budget and was killed
	ExpiredDied   ExpiryReason = "died"   // its process quit, crashed, ran out of memory or was abandoned by its caller
)

// SessionInfo describes one live session.
type SessionInfo struct {
	Key         string // as given in Request.Session
	CreatedAt   time.Time
	LastUsedAt  time.Time
	ExpiresAt   time.Time
	Evaluations int
	Busy        bool
}

// session is a forked worker that stays. Engine.mu guards all fields but turn and closed.
type session struct {
	key    string
	turn   chan struct{} // held by the one evaluation that runs
	closed chan struct{} // closed when the session has ended

	worker      *Worker // nil until the first evaluation forks it
	created     time.Time
	used        time.Time
	evaluations int
	users       int // evaluations running or waiting
	expiry      *time.Timer
}

// inSession evaluates in a session's own worker, one at a time.
func (e *Engine) inSession(ctx context.Context, request Request, call any, answer *reply) (opened, replaced bool, err error) {
	started := time.Now()
	for {
		s, err := e.enterSession(request.Session)
		if err != nil {
			return false, false, err
		}
		again, err := func() (bool, error) {
			defer e.leaveSession(s)
			if err := s.takeTurn(ctx, request.Budget-time.Since(started)); err != nil {
				return errors.Is(err, errSessionOver), err
			}
			defer func() { <-s.turn }()
			budget := request.Budget - time.Since(started)
			release, err := e.acquireSlot(ctx, request.QueueWait)
			if err != nil {
				return false, err
			}
			defer release()
			var worker *Worker
			if worker, opened, replaced, err = e.sessionWorker(ctx, s); err != nil {
				return errors.Is(err, errSessionOver), err
			}
			ctx, cancel := context.WithTimeout(ctx, budget)
			defer cancel()
			return false, e.callInSession(ctx, s, worker, call, answer)
		}()
		if !again {
			return opened, replaced, err
		}
	}
}

var errSessionOver = errors.New("the session ended while this evaluation waited for it")

// takeTurn waits until no other evaluation runs in the session.
func (s *session) takeTurn(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-s.closed:
		return errSessionOver
	case <-timer.C:
		return ErrBudgetExhausted
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sessionWorker answers the session's worker, forking it for the first evaluation. The caller holds the turn.
func (e *Engine) sessionWorker(ctx context.Context, s *session) (worker *Worker, opened, replaced bool, err error) {
	e.mu.Lock()
	worker = s.worker
	e.mu.Unlock()
	if worker != nil {
		if !worker.Alive() {
			e.expireSession(s, ExpiredDied)
			return nil, false, false, errSessionOver
		}
		return worker, false, false, nil
	}
	if worker, err = e.zygote.Spawn(ctx); err != nil {
		return nil, false, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-s.closed:
		worker.Kill()
		return nil, false, false, errSessionOver
	default:
	}
	s.worker, s.created = worker, time.Now()
	_, replaced = e.died[s.key]
	delete(e.died, s.key)
	go e.expireWhenWorkerDies(s, worker)
	return worker, true, replaced, nil
}

// expireWhenWorkerDies expires a session whose worker dies while nothing runs in it; a running evaluation notices by itself.
func (e *Engine) expireWhenWorkerDies(s *session, worker *Worker) {
	<-worker.Done()
	e.mu.Lock()
	idle := s.users == 0
	e.mu.Unlock()
	if idle {
		e.expireSession(s, ExpiredDied)
	}
}

func (e *Engine) callInSession(ctx context.Context, s *session, worker *Worker, call any, answer *reply) error {
	e.mu.Lock()
	s.evaluations++
	e.mu.Unlock()
	err := worker.Call(ctx, call, answer)
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return ErrSessionClosed
	default:
	}
	reason := ExpiredDied
	if errors.Is(err, ErrBudgetExhausted) {
		reason = ExpiredBudget
	}
	e.expireSession(s, reason)
	return err
}

// enterSession returns the session, making it if there is none, and keeps it from expiring until leaveSession.
func (e *Engine) enterSession(key string) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	s := e.sessions[key]
	if s == nil {
		s = &session{key: key, turn: make(chan struct{}, 1), closed: make(chan struct{})}
		e.sessions[key] = s
	}
	s.users++
	if s.expiry != nil {
		s.expiry.Stop()
	}
	return s, nil
}

func (e *Engine) leaveSession(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.users--
	s.used = time.Now()
	if s.users > 0 || e.sessions[s.key] != s {
		return
	}
	if s.worker == nil { // nothing was ever evaluated in it
		delete(e.sessions, s.key)
		return
	}
	s.expiry = time.AfterFunc(e.options.SessionIdle, func() { e.expireIdle(s) })
}

func (e *Engine) expireIdle(s *session) {
	e.mu.Lock()
	due := s.users == 0 && time.Since(s.used) >= e.options.SessionIdle
	e.mu.Unlock()
	if due {
		e.expireSession(s, ExpiredIdle)
	}
}

// expireSession closes a session for a reason of its own and calls OnSessionExpired, once.
func (e *Engine) expireSession(s *session, reason ExpiryReason) {
	e.mu.Lock()
	current := e.sessions[s.key] == s
	if current {
		e.closeSession(s)
		if reason != ExpiredIdle {
			e.rememberDied(s.key)
		}
	}
	e.mu.Unlock()
	if current && e.options.OnSessionExpired != nil {
		go e.options.OnSessionExpired(s.key, reason)
	}
}

// rememberDied keeps for SessionIdle that a session died, so that its next evaluation can be answered with a warning. The caller holds e.mu.
func (e *Engine) rememberDied(key string) {
	now := time.Now()
	for other, since := range e.died {
		if now.Sub(since) > e.options.SessionIdle {
			delete(e.died, other)
		}
	}
	e.died[key] = now
}

// closeSession removes a session and kills its worker. The caller holds e.mu.
func (e *Engine) closeSession(s *session) {
	delete(e.sessions, s.key)
	close(s.closed)
	if s.expiry != nil {
		s.expiry.Stop()
	}
	if s.worker != nil {
		s.worker.Kill()
	}
}

// CloseSession ends a session and tells whether it was there. An evaluation running in it answers ErrSessionClosed.
func (e *Engine) CloseSession(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.died, key)
	s := e.sessions[key]
	if s == nil {
		return false
	}
	existed := s.worker != nil
	e.closeSession(s)
	return existed
}

// Sessions lists the live sessions whose keys begin with the account and a slash, oldest first.
func (e *Engine) Sessions(account string) []SessionInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []SessionInfo
	for key, s := range e.sessions {
		if s.worker == nil || !strings.HasPrefix(key, account+"/") {
			continue
		}
		used := s.used
		if s.users > 0 {
			used = time.Now()
		}
		list = append(list, SessionInfo{
			Key: key, CreatedAt: s.created, LastUsedAt: used, ExpiresAt: used.Add(e.options.SessionIdle),
			Evaluations: s.evaluations, Busy: s.users > 0,
		})
	}
	slices.SortFunc(list, func(a, b SessionInfo) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Key, b.Key))
	})
	return list
}

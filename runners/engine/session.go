package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"reckon/domain/run"
)

// ErrSessionClosed says that the session was closed while this evaluation ran in it.
var ErrSessionClosed = errors.New("the session was closed while it was evaluating")

// ExpiryReason says why a session ended by itself.
type ExpiryReason string

// Reasons of OnSessionExpired.
const (
	ExpiredIdle   ExpiryReason = "idle"   // unused for Options.SessionIdle
	ExpiredBudget ExpiryReason = "budget" // its evaluation ran past the budget and was killed
	ExpiredDied   ExpiryReason = "died"   // its process quit, crashed, ran out of memory, was abandoned by its caller or stood still for too long
	ExpiredMemory ExpiryReason = "memory" // the sessions together held more than Options.SessionMemoryBytes
	ExpiredKilled ExpiryReason = "killed" // KillSessions ended it
	// ExpiredClosed is the reason of a session that CloseSession ended: OnSessionExpired is not told of it.
	ExpiredClosed ExpiryReason = "closed"
)

// SessionEndedError says that the session of this key has ended. Its key has no second worker, so that no value that was
// lost can be taken for one that was never set, and what is said of the end cannot be taken for that of a later session: the
// caller goes on under another key.
type SessionEndedError struct{ Reason ExpiryReason }

func (e *SessionEndedError) Error() string { return "the session has ended: " + string(e.Reason) }

// endings are the sessions that have ended, by key: each until its end was known to the caller for a while (CloseSession),
// however long that takes. Sessions of which the caller does not know are no more than it has opened without knowing their ends.
type endings struct {
	reasons map[string]ExpiryReason
	closed  []closedAt // in order of time
}

type closedAt struct {
	key string
	at  time.Time
}

// close drops an ending once kept has passed, in which a request that was on its way with the key has arrived.
func (e *endings) close(key string, kept time.Duration) {
	now := time.Now()
	for len(e.closed) > 0 && now.Sub(e.closed[0].at) > kept {
		delete(e.reasons, e.closed[0].key)
		e.closed = e.closed[1:]
	}
	if _, ended := e.reasons[key]; ended {
		e.closed = append(e.closed, closedAt{key, now})
	}
}

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
	account     string
	weight      int   // of the account's plan
	memory      int64 // bytes its worker held when it was last looked at
	unmeasured  bool  // it has evaluated since
}

// inSession evaluates in a session's own worker, one at a time.
func (e *Engine) inSession(ctx context.Context, request Request, call any, answer *reply) (opened bool, ended ExpiryReason, err error) {
	started := time.Now()
	for {
		s, err := e.enterSession(request.Session)
		if err != nil {
			return false, "", err
		}
		again, err := func() (bool, error) {
			defer e.leaveSession(s)
			if err := s.takeTurn(ctx, request.Budget-time.Since(started)); err != nil {
				return errors.Is(err, errSessionOver), err
			}
			defer func() { <-s.turn }()
			budget := request.Budget - time.Since(started)
			ctx, release, err := e.takePlace(ctx, request)
			if err != nil {
				return false, err
			}
			defer release()
			var worker *Worker
			if worker, opened, err = e.sessionWorker(ctx, s); err != nil {
				return errors.Is(err, errSessionOver), err
			}
			ended, err = e.callInSession(ctx, request, budget, s, worker, call, answer)
			return false, err
		}()
		if !again {
			return opened, ended, err
		}
	}
}

var errSessionOver = errors.New("the session ended while this evaluation waited for it")

// valueBudget is wall time for making a text the value of a line, which takes milliseconds; waiting for the session's turn counts.
const valueBudget = 10 * time.Second

// SetValue makes a text the value of a line of a session, which Out[line] then is: an answer that another engine gave. A session that has
// ended, or does not keep the line, is left as it is.
func (e *Engine) SetValue(ctx context.Context, key string, line int, text string) error {
	s, err := e.enterSession(key)
	if err != nil {
		return err
	}
	defer e.leaveSession(s)
	ctx, cancel := context.WithTimeout(ctx, valueBudget)
	defer cancel()
	if err := s.takeTurn(ctx, valueBudget); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	e.mu.Lock()
	worker := s.worker
	e.mu.Unlock()
	if worker == nil {
		return nil
	}
	var answer reply
	if err := worker.Call(ctx, map[string]any{"op": "value", "line": line, "text": text}, &answer); err != nil {
		e.expireSession(s, ExpiredDied) // a worker that does not answer is of no more use
		return err
	}
	return nil
}

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
func (e *Engine) sessionWorker(ctx context.Context, s *session) (worker *Worker, opened bool, err error) {
	e.mu.Lock()
	worker = s.worker
	e.mu.Unlock()
	if worker != nil {
		if !worker.Alive() {
			e.expireSession(s, ExpiredDied)
			return nil, false, errSessionOver
		}
		return worker, false, nil
	}
	if worker, err = e.zygote.Spawn(ctx); err != nil {
		return nil, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-s.closed:
		worker.Kill()
		return nil, false, errSessionOver
	default:
	}
	s.worker, s.created = worker, time.Now()
	go e.expireWhenWorkerDies(s, worker)
	return worker, true, nil
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

// callInSession evaluates, and ends the session when its worker did not survive: ended says why.
func (e *Engine) callInSession(ctx context.Context, request Request, budget time.Duration, s *session, worker *Worker, call any, answer *reply) (ended ExpiryReason, err error) {
	e.mu.Lock()
	s.evaluations++
	s.account, s.weight = request.Account, request.Weight
	s.unmeasured = true
	e.mu.Unlock()
	e.memory.look()
	if err = evaluate(ctx, budget, worker, call, answer); err == nil {
		return "", nil
	}
	select {
	case <-s.closed:
		return e.closedUnder(s)
	default:
	}
	reason := ExpiredDied
	if errors.Is(err, ErrBudgetExhausted) {
		reason = ExpiredBudget
	}
	e.expireSession(s, reason)
	return reason, err
}

// closedUnder is why the evaluation that ran in a session was killed with it.
func (e *Engine) closedUnder(s *session) (ended ExpiryReason, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch reason := e.ended.reasons[s.key]; reason {
	case ExpiredMemory:
		return reason, &FailedError{Reason: run.FailureMemory, Detail: "the sessions of this process together ran over their memory limit"}
	case ExpiredClosed:
		return "", ErrSessionClosed
	default:
		return reason, ErrSessionClosed
	}
}

// enterSession returns the session, making it if there is none, and keeps it from expiring until leaveSession. It returns
// a *SessionEndedError for one that has ended.
func (e *Engine) enterSession(key string) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	s := e.sessions[key]
	if s == nil {
		if reason, ended := e.ended.reasons[key]; ended {
			return nil, &SessionEndedError{Reason: reason}
		}
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
		e.endSession(s, reason)
	}
	e.mu.Unlock()
	if current && e.options.OnSessionExpired != nil {
		go e.options.OnSessionExpired(s.key, reason)
	}
}

// endSession removes a session, kills its worker and keeps why. The caller holds e.mu.
func (e *Engine) endSession(s *session, reason ExpiryReason) {
	delete(e.sessions, s.key)
	e.ended.reasons[s.key] = reason
	close(s.closed)
	if s.expiry != nil {
		s.expiry.Stop()
	}
	if s.worker != nil {
		s.worker.Kill()
	}
}

// CloseSession ends a session and tells whether it was there. An evaluation running in it answers ErrSessionClosed. The
// caller knows that the session has ended, and uses its key no more.
func (e *Engine) CloseSession(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[key]
	existed := s != nil && s.worker != nil
	if s != nil {
		e.endSession(s, ExpiredClosed)
	}
	e.ended.close(key, e.options.SessionIdle)
	return existed
}

// KillSessions ends every session that has a worker at once, with ExpiredKilled. Evaluations running in them answer ErrSessionClosed.
func (e *Engine) KillSessions() {
	e.mu.Lock()
	live := slices.DeleteFunc(slices.Collect(maps.Values(e.sessions)), func(s *session) bool { return s.worker == nil })
	e.mu.Unlock()
	for _, s := range live {
		e.expireSession(s, ExpiredKilled)
	}
}

// SessionCount is the number of live sessions of all accounts.
func (e *Engine) SessionCount() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	live := 0
	for _, s := range e.sessions {
		if s.worker != nil {
			live++
		}
	}
	return live
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

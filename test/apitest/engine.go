package apitest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/domain/session"
)

// engine is a deterministic stand-in for the evaluation engine: it knows a few
// expressions, each for one thing an API answers. Anything else comes back unevaluated.
type engine struct {
	mu       sync.Mutex
	sessions map[string]string // last value of x, by session key
	asked    atomic.Int64
}

// SVG is the graphic of Plot[x,{x,0,1}].
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"></svg>`

// SaturatedFor is how long all workers stay busy for the expression saturate.
const SaturatedFor = 7 * time.Second

// Evaluate is commands.Engine.
func (e *engine) Evaluate(ctx context.Context, r commands.EngineRequest) (commands.EngineOutcome, error) {
	e.asked.Add(1)
	e.mu.Lock()
	defer e.mu.Unlock()
	value, live := e.sessions[r.Session]
	if r.Session != "" && !live {
		e.sessions[r.Session] = ""
	}
	o := commands.EngineOutcome{Elapsed: time.Millisecond, SessionOpened: r.Session != "" && !live}
	switch code := r.Code; {
	case code == "While[True]", code == "endless":
		o.SessionEnded = e.end(r.Session)
		return o, commands.ErrBudgetExhausted
	case code == "Quit[]":
		o.SessionEnded = e.end(r.Session)
		return o, &commands.EngineFailedError{Reason: "quit"}
	case code == "saturate":
		return o, &commands.SaturatedError{RetryAfter: SaturatedFor}
	case code == "wait": // until the caller goes away
		e.mu.Unlock()
		<-ctx.Done()
		e.mu.Lock()
		o.SessionEnded = e.end(r.Session)
		return o, &commands.EngineFailedError{Reason: run.FailureCancelled}
	case code == "1+1", code == "1 + 1":
		o.Result = "2"
	case code == Sentence:
		o.Result = "integral*of*x^2"
	case code == "budget":
		o.Result = fmt.Sprint(r.Budget.Milliseconds())
	case code == "Print[<&>]":
		o.Result, o.Stdout, o.Messages = "Null", "<&>\n", []string{"Print::note: <&>"}
	case code == "Long":
		o.Result = strings.Repeat("é<", 40_000)
	case strings.HasPrefix(code, "Plot"):
		o.Result, o.SVG = "-Graphics-", []byte(SVG)
	case strings.HasPrefix(code, "x="):
		e.sessions[r.Session] = code[2:]
		o.Result = code[2:]
	case code == "x" && value != "":
		o.Result = value
	default:
		o.Result, o.Unevaluated = code, true
	}
	o.InputForm = o.Result
	return o, nil
}

// end removes a session whose worker did not survive, and tells why it ended. The caller holds mu.
func (e *engine) end(key string) session.EndReason {
	if key == "" {
		return ""
	}
	delete(e.sessions, key)
	return session.EndWorkerDied
}

// CloseSession is commands.Engine.
func (e *engine) CloseSession(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, live := e.sessions[key]
	delete(e.sessions, key)
	return live
}

// sessionsOf counts the sessions that an account has here.
func (e *engine) sessionsOf(accountID string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for key := range e.sessions {
		if strings.HasPrefix(key, accountID+"/") {
			n++
		}
	}
	return n
}

// Describe is commands.Engine.
func (e *engine) Describe() (name, revision string) { return "stand-in", "1" }

// Sentence is a question in words, of which the checker verifies the product that the language reads.
const Sentence = "integral of x^2"

// checker verifies 1+1 and Sentence, and learns nothing of the rest.
type checker struct{}

// Check is commands.Checker.
func (checker) Check(_ context.Context, r commands.CheckRequest) (run.Check, error) {
	switch code, answer := r.Code, r.Answer; {
	case code == "saturate":
		return run.Check{}, &commands.SaturatedError{RetryAfter: SaturatedFor}
	case code == "1+1" && answer == "2":
		return run.Check{Verdict: "verified", Basis: "exact", Method: "rewrite_identity", Check: "1+1 - (2)", Residual: "0", ElapsedMS: 1}, nil
	case code == Sentence:
		return run.Check{Verdict: "verified", Basis: "exact", Method: "value_identity", Check: code + " - (" + answer + ")", Residual: "0", ElapsedMS: 1}, nil
	case code == "1+1", code == "1 + 1":
		return run.Check{Verdict: "refuted", Basis: "exact", Method: "rewrite_identity", Check: "1+1 - (" + answer + ")", Residual: "-1", ElapsedMS: 1}, nil
	}
	return run.Check{Verdict: "inconclusive", Reason: "no_check_for_head"}, nil
}

// alone is commands.Owners of a process that has no peers.
type alone struct{}

// Alive is commands.Owners.
func (alone) Alive(context.Context, string) (bool, error) { return false, nil }

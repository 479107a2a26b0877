package httpkit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Problem is an error answer (RFC 9457, application/problem+json). Error repeats
// Detail for clients that look for that name.
type Problem struct {
	Type      string       `json:"type" format:"uri-reference" doc:"Where this kind of problem is explained" example:"/docs/errors#rate_limited"`
	Title     string       `json:"title" doc:"The kind of problem, the same for every occurrence"`
	Status    int          `json:"status" minimum:"400" maximum:"599" doc:"HTTP status"`
	Detail    string       `json:"detail" doc:"This occurrence, and what to do about it"`
	Code      string       `json:"code" doc:"Stable slug of the kind" example:"rate_limited"`
	Err       string       `json:"error" doc:"The same text as detail"`
	RequestID string       `json:"request_id" doc:"Name of this request in the service's own logs"`
	Errors    []FieldError `json:"errors,omitempty" maxItems:"20" doc:"The single faults of a refused request, not more than the first 20"`
	RunID     *int64       `json:"run_id,omitempty" doc:"The logged run, where an evaluation ended without an answer"`
	// SessionEnded says why the variables of a session are gone.
	SessionEnded SessionEnd `json:"session_ended,omitempty" enum:"worker_died,memory" doc:"Why the session ended in which an evaluation had no answer: its variables, definitions and earlier lines are gone, and the next evaluation opens it anew. worker_died: its process was stopped at the end of the budget or because the client went away, quit or crashed. memory: the sessions together held too much. Absent: the session goes on, or there was none"`
	// Suggestions say what an expression that has no answer, or a name that is not there, was probably meant to be.
	Suggestions []Suggestion `json:"suggestions,omitempty" doc:"What an expression without an answer, or the name of a symbol that there is not, was probably meant to be"`
	// Head and Allowlist: see WithHead.
	Head      string   `json:"head,omitempty" doc:"The function or character of an expression that may not be used without an account" example:"Import"`
	Allowlist []string `json:"allowlist,omitempty" doc:"The names that may, sorted"`

	headers http.Header
	cause   error
}

// SessionEnd is why a session ended with an evaluation that has no answer.
type SessionEnd string

// The reasons of a SessionEnd.
const (
	SessionWorkerDied SessionEnd = "worker_died" // its process was stopped, quit or crashed
	SessionMemory     SessionEnd = "memory"      // the sessions together held too much
)

// FieldError is one fault of a request. The value is never repeated: it may be a password.
type FieldError struct {
	Location string `json:"location" doc:"Where, as a path" example:"body.expression"`
	Message  string `json:"message" doc:"What is wrong there"`
}

// Suggestion is what a part of an expression was probably meant to be.
type Suggestion struct {
	Code        string `json:"code" doc:"The kind of slip" example:"parentheses"`
	Message     string `json:"message" doc:"For a person: a question, and the reason for it"`
	Replacement string `json:"replacement" doc:"What to write in place of range" example:"Sin[x]"`
	Range       Range  `json:"range" doc:"The part of the expression that it would replace"`
}

// Range is a part of an expression, in characters (Unicode code points).
type Range struct {
	Start int `json:"start" minimum:"0" doc:"The first character, counted from 0"`
	End   int `json:"end" minimum:"0" doc:"The character after the last one"`
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Detail }

// Unwrap is what led to the problem, for the log; it is not served.
func (p *Problem) Unwrap() error { return p.cause }

// GetStatus is huma's StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders is huma's HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType is huma's ContentTypeFilter.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// WithHeader sets a header of the answer and returns p.
func (p *Problem) WithHeader(header, value string) *Problem {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(header, value)
	return p
}

// WithRetryAfter sets Retry-After, in whole seconds rounded up, at least 1.
func (p *Problem) WithRetryAfter(wait time.Duration) *Problem {
	return p.WithHeader("Retry-After", strconv.FormatInt(WholeSeconds(wait), 10))
}

// WholeSeconds rounds a wait up to whole seconds, at least one.
func WholeSeconds(wait time.Duration) int64 {
	return max(1, int64((wait+time.Second-1)/time.Second))
}

// WithRun sets the id of the logged run that the problem is about.
func (p *Problem) WithRun(runID int64) *Problem {
	p.RunID = &runID
	return p
}

// WithHead names what an expression may not use, and what it may.
func (p *Problem) WithHead(head string, allowlist []string) *Problem {
	p.Head, p.Allowlist = head, allowlist
	return p
}

// WithSessionEnded says that the variables and definitions of a session are gone, and why.
func (p *Problem) WithSessionEnded(sessionID string, reason SessionEnd) *Problem {
	p.SessionEnded = reason
	p.Detail += fmt.Sprintf(". Session %s ended with it: its variables, definitions and earlier lines are gone, and the next evaluation opens it anew", sessionID)
	p.Err = p.Detail
	return p
}

// WithCause sets the error that is logged with the problem. It is not sent to the client.
func (p *Problem) WithCause(err error) *Problem {
	p.cause = err
	return p
}

// WithField adds one fault of the request to Errors.
func (p *Problem) WithField(location, message string) *Problem {
	p.Errors = append(p.Errors, FieldError{Location: location, Message: message})
	return p
}

// Mapping is one row of an API's table of typed errors: an error that errors.Is
// finds becomes a problem of this kind with the error's own text as detail.
type Mapping struct {
	Err  error
	Kind Kind
}

// Translate returns the problem with which an error of a handler is answered: a *Problem
// itself, an error in the table its kind, one of a call that was cancelled Cancelled, an error that names a part that is away
// or a deadline 503, and every other error 500 with its text in the log only.
func Translate(err error, table []Mapping) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	for _, row := range table {
		if errors.Is(err, row.Err) {
			return row.Kind.Problem("%s", row.Err.Error()).WithCause(err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return nobodyWaits(err)
	}
	if a, ok := errors.AsType[away](err); ok {
		if RefusesWrites(err) {
			return Unavailable.Problem("%s refuses what is written to it until an operator makes room; what it has can be read; try again later", a.UnavailablePart()).WithCause(err)
		}
		if denied, is := errors.AsType[denied](err); is && denied.DeniesAccess() {
			return Unavailable.Problem("%s refuses this service until an operator mends its credentials or its address; try again later", a.UnavailablePart()).WithCause(err)
		}
		return Unavailable.Problem("%s cannot be reached; try again in a moment", a.UnavailablePart()).WithCause(err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Unavailable.Problem("the request ran out of time; try again in a moment").WithCause(err)
	}
	return Internal.Problem("something went wrong here; it is in the log under this request_id").WithCause(err)
}

// TranslateFor is Translate for the request of a context: where nobody waits for the answer any more, a part that seems to be away may
// only have been called off.
func TranslateFor(ctx context.Context, err error, table []Mapping) *Problem {
	p := Translate(err, table)
	if p.Status == http.StatusServiceUnavailable && errors.Is(ctx.Err(), context.Canceled) {
		return nobodyWaits(err)
	}
	return p
}

func nobodyWaits(err error) *Problem {
	return Cancelled.Problem("the request was cancelled: nobody waits for its answer any more").WithCause(err)
}

// away is an error that names a part of the service that cannot be reached (database.UnavailableError).
type away interface {
	error
	UnavailablePart() string
}

// denied is an error of a part that answers and may refuse this service altogether (blobs.UnavailableError).
type denied interface {
	error
	DeniesAccess() bool
}

// RefusesWrites tells whether an error is of a part of the service that answers and takes nothing that is written: its disk is full
// (blobs.UnavailableError).
func RefusesWrites(err error) bool {
	part, ok := errors.AsType[interface {
		error
		RefusesWrites() bool
	}](err)
	return ok && part.RefusesWrites()
}

// retryUnavailable is the Retry-After of a problem for which no wait is known.
const retryUnavailable = 2 * time.Second

// Kind is one kind of problem. docs/errors.md lists them all.
type Kind struct {
	Code   string
	Status int
	Title  string
	Help   string // when it happens and what to do
}

// RefusedForNow tells whether a handler's error is answered with a problem after which the same request may be answered
// otherwise later.
func RefusedForNow(err error, table []Mapping) bool {
	return err != nil && mayPass(Translate(err, table).Status)
}

// mayPass tells whether the same request may be answered otherwise later: every such
// problem says when, in Retry-After.
func mayPass(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// WithStatus is the kind where it is answered with another status than elsewhere.
func (k Kind) WithStatus(status int) Kind {
	k.Status = status
	return k
}

// Problem returns a problem of the kind with a detail. One of status 429 or 503 has a
// Retry-After of retryUnavailable until WithRetryAfter says better.
func (k Kind) Problem(format string, args ...any) *Problem {
	detail := fmt.Sprintf(format, args...)
	p := &Problem{
		Type: "/docs/errors#" + k.Code, Title: k.Title, Status: k.Status, Code: k.Code,
		Detail: detail, Err: detail,
	}
	if mayPass(k.Status) {
		p = p.WithRetryAfter(retryUnavailable)
	}
	return p
}

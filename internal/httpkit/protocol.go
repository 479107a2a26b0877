package httpkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/uptrace/bunrouter"

	"reckon/domain/event"
)

// HandleProtocol adds a route whose answers are of a protocol of its own, which the description of the API does not have (MCP).
// The caller is authenticated by a token (a browser session does not count, so that no page can make requests for who is signed in) and the body,
// one JSON value of at most MaxJSONBytes, is read and checked with CheckJSON before handler is called; handler reads it again from the request.
// unreadable answers a body that is no JSON, of a caller who is authenticated.
func (a *API) HandleProtocol(route Route, handler http.Handler, unreadable func(http.ResponseWriter, *http.Request, *Problem)) {
	rule := a.ruleOfUndescribed(route.Method, route.Path)
	op := &huma.Operation{Method: route.Method, Path: route.Path}
	a.adapter.add(op, route)
	a.adapter.router.Handle(route.Method, route.Path, func(w http.ResponseWriter, r bunrouter.Request) error {
		setRoute(w, route.Path)
		r.Header.Del("Cookie")
		ctx, let, problem := a.authenticate(r.Request, rule, route.Errors)
		if problem != nil {
			a.WriteProblem(w, r.Request, problem)
			return nil
		}
		body, problem := readJSON(r.Request, MaxJSONBytes)
		if problem != nil && (problem.Code == InvalidJSON.Code || problem.Code == BodyRequired.Code) {
			unreadable(w, r.Request, problem)
			return nil
		}
		if problem != nil {
			a.WriteProblem(w, r.Request, problem)
			return nil
		}
		admitted := r.Request.WithContext(ctx)
		admitted.Body, admitted.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		handler.ServeHTTP(a.deliver(w, r.Request, let, true), admitted)
		return nil
	})
}

// Delegation is for whom a request is made with API.ServeFor.
type Delegation struct {
	Of     *http.Request // whose caller it is for, as HandleProtocol or HandleRaw gave it to its handler
	Route  Route         // that Of was admitted to: the same credentials may make the request; zero: those of the route that answers
	Source event.Source
	Agent  string // at most maxAgentBytes of it are kept
}

type delegationKey struct{}

// delegationOf is what a request is made for; nil: a client has sent it.
func delegationOf(ctx context.Context) *Delegation {
	d, _ := ctx.Value(delegationKey{}).(*Delegation)
	return d
}

// request is the Request of one that is made for another.
func (d *Delegation) request() Request {
	described := RequestOf(d.Of.Context())
	described.Source, described.Agent = d.Source, printable(d.Agent, maxAgentBytes)
	return described
}

// isSafe tells whether requests of a method write nothing (RFC 9110 section 9.2.1).
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// Reply is the answer to ServeFor. It is an http.ResponseWriter for the route that answers.
type Reply struct {
	Status int
	Body   []byte

	header http.Header
}

// Header is http.ResponseWriter.
func (r *Reply) Header() http.Header { return r.header }

// WriteHeader is http.ResponseWriter.
func (r *Reply) WriteHeader(status int) {
	if r.Status == 0 && status >= http.StatusOK {
		r.Status = status
	}
}

// Write is http.ResponseWriter.
func (r *Reply) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.Body = append(r.Body, p...)
	return len(p), nil
}

// ServeFor answers a request to a route of this API in the name of another request's caller, whose credential (token, or the cookie of
// a browser session, whose origin was checked with the other request) is authenticated again: what has been revoked since is refused. target is a path with its query; a body that is not nil is JSON.
// Everything else is as over HTTP: limits, checks, metrics and the log.
func (a *API) ServeFor(ctx context.Context, d Delegation, method, target string, body []byte) *Reply {
	reply := &Reply{header: http.Header{}}
	r, err := http.NewRequestWithContext(context.WithValue(ctx, delegationKey{}, &d), method, target, bytes.NewReader(body))
	if err != nil { // a mistake of the program: targets are made from its own paths
		a.WriteProblem(reply, d.Of, Internal.Problem("something went wrong here; it is in the log under this request_id").WithCause(err))
		return reply
	}
	if !isSafe(method) && isSafe(d.Of.Method) { // a mistake of the program: what a page of another site can make a browser send must write nothing
		a.WriteProblem(reply, d.Of, Internal.Problem("something went wrong here; it is in the log under this request_id").WithCause(fmt.Errorf("%s for a %s", method, d.Of.Method)))
		return reply
	}
	r.RemoteAddr = d.Of.RemoteAddr
	for _, credential := range []string{"Authorization", "Cookie"} {
		if sent := d.Of.Header.Values(credential); len(sent) > 0 {
			r.Header[credential] = slices.Clone(sent)
		}
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	defer func() { // a panic after the answer had begun: there is no connection to close
		if panicked := recover(); panicked != nil {
			*reply = Reply{header: http.Header{}}
			a.WriteProblem(reply, d.Of, Internal.Problem("something went wrong here; it is in the log under this request_id").WithCause(fmt.Errorf("panic: %v", panicked)))
		}
	}()
	a.ServeHTTP(reply, r)
	return reply
}

package httpkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"reckon/internal/access"
	"reckon/internal/database"
	"reckon/internal/httpserver"
	"reckon/internal/ratelimit"
	"reckon/internal/tracing"
)

// Version is the interface version served (interface §9).
const Version = "2026-08"

const versionHeader = "API-Version"

// Authenticator authenticates a request for a route with this rule. It returns the request's context
// with the caller in it, or a *Problem.
type Authenticator interface {
	Authenticate(r *http.Request, rule access.Rule) (context.Context, error)
}

// Settings configure an API. Logger, Authenticator and Access are required.
type Settings struct {
	Build          string // revision of the binary, for the description
	Logger         *slog.Logger
	Authenticator  Authenticator
	Access         access.Table   // who may call which route; a route without a row cannot be added
	TrustedProxies []netip.Prefix // networks whose X-Forwarded-For and X-Forwarded-Proto are believed; default: none
	// PublicURL is the scheme and host that clients use, in the form of config.PublicURL; empty: not configured.
	PublicURL string
	// Observe is called after every answer; route is the path template, empty when none matched. It may be nil.
	Observe func(method, route string, status int, took time.Duration)
	// ObserveProblem is called with the code of every error answer. It may be nil.
	ObserveProblem func(code string)
	// Tracer begins a span for every request; nil: no span is recorded.
	Tracer *tracing.Tracer
	// Declared adds to the description what the Go types of the routes do not hold.
	Declared Declared
}

// Validate returns an error that names the field of s that New cannot use, or nil.
func (s Settings) Validate() error {
	switch {
	case s.Logger == nil:
		return errors.New("httpkit.Settings.Logger is missing")
	case s.Authenticator == nil:
		return errors.New("httpkit.Settings.Authenticator is missing")
	case s.Access == nil:
		return errors.New("httpkit.Settings.Access is missing")
	}
	return nil
}

// API serves the operations that Handle adds.
type API struct {
	settings       Settings
	adapter        *adapter
	huma           huma.API
	crossOrigin    *http.CrossOriginProtection
	untrustedPeers untrustedPeers
	problemPage    func(http.ResponseWriter, *http.Request, *Problem) // nil: there are no pages
	description    []byte                                             // what OpenAPI returned last
}

// New returns an API without routes. It panics for settings that Validate refuses, which
// are a mistake of the program.
func New(settings Settings) *API {
	if err := settings.Validate(); err != nil {
		panic(err)
	}
	a := &API{settings: settings, crossOrigin: http.NewCrossOriginProtection()}
	configureHuma()
	a.adapter = newAdapter(a)
	config := configuration(settings)
	if settings.PublicURL != "" {
		config.Servers = []*huma.Server{{URL: settings.PublicURL}}
		// A proxy may name us by another host than the browser does.
		if err := a.crossOrigin.AddTrustedOrigin(settings.PublicURL); err != nil {
			panic(fmt.Sprintf("httpkit: the public URL is not as config.PublicURL writes it: %v", err))
		}
	}
	a.huma = huma.NewAPI(config, a.adapter)
	return a
}

// configuration returns huma's configuration without its defaults that Reckon does not
// serve: $schema members, Link headers (CreateHooks) and documentation pages, which load
// scripts of other hosts.
func configuration(settings Settings) huma.Config {
	format := huma.Format{Marshal: marshalJSON, Unmarshal: decodeJSON}
	config := huma.DefaultConfig("Reckon", Version)
	config.CreateHooks = nil
	config.Components.Schemas = huma.NewMapRegistry(schemaPrefix, schemaName)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	config.Info.Contact = &huma.Contact{Name: "The operator of this service"}
	config.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	config.Servers = []*huma.Server{{URL: "/", Description: "The service that this description comes from"}}
	config.Tags = tags()
	config.Info.Description = "A computation service whose answers can be checked. Errors are problem documents (RFC 9457); /docs/errors explains every code."
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer":  {Type: "http", Scheme: "bearer", Description: "An API token (rk_pat_…). What one that was minted with scopes may call, the descriptions of the operations say"},
		"oauth":   oauthScheme(settings.PublicURL),
		"session": {Type: "apiKey", In: "cookie", Name: "__Host-reckon", Description: "A browser session, from POST /auth/login"},
	}
	return config
}

// oauthScheme describes the authorization server with the scopes of internal/access.
func oauthScheme(publicURL string) *huma.SecurityScheme {
	scopes := map[string]string{}
	for _, s := range access.API.Scopes().Scopes() {
		scopes[string(s)] = s.Means()
	}
	return &huma.SecurityScheme{
		Type: "oauth2", Description: "An access token that a person allowed an app, with PKCE; /.well-known/oauth-authorization-server has the details",
		Flows: &huma.OAuthFlows{AuthorizationCode: &huma.OAuthFlow{
			AuthorizationURL: publicURL + "/oauth/authorize", TokenURL: publicURL + "/oauth/token", RefreshURL: publicURL + "/oauth/token", Scopes: scopes,
		}},
	}
}

// schemaName names the schema of a type. Types of domain packages are prefixed with their
// package, because two packages may declare the same name.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if domain, ok := strings.CutPrefix(t.PkgPath(), "reckon/domain/"); ok && t.Name() != "" {
		return strings.ToUpper(domain[:1]) + domain[1:] + name
	}
	return name
}

// marshalJSON writes JSON without escaping <, > and &, which are common in expressions.
func marshalJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// SchemaOf returns a reference to the schema of a Go type, which it adds to the description.
func (a *API) SchemaOf(t reflect.Type) *Schema {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(t, true, "")
	a.addDeclaredNames()
	return schema
}

// OpenAPI returns the OpenAPI description of the routes added so far, as indented JSON.
func (a *API) OpenAPI() ([]byte, error) {
	schemas := a.huma.OpenAPI().Components.Schemas
	describeFields(schemas)
	a.describeWords()
	a.describeUnions() // which adds the types of their fields
	a.addDeclaredNames()
	describeFields(schemas)
	description, err := a.huma.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, description, "", "  "); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	indented.WriteByte('\n')
	a.description = indented.Bytes()
	return a.description, nil
}

// Description is what OpenAPI returned last; nil before. Writing it takes a tenth of a start's processor time, so that it is written once.
func (a *API) Description() []byte { return a.description }

// ServeHTTP sets the headers of every answer, refuses what no route may receive, serves the
// route, and observes the answer.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	described := a.readRequest(r)
	answer := &answerWriter{ResponseWriter: w}
	ctx, span := a.beginSpan(r, &described)
	r = r.Clone(database.OfRequest(context.WithValue(ctx, requestKey{}, described)))
	r.URL.RawPath = withoutNeedlessEscapes(r.URL.RawPath)

	header := answer.Header()
	header.Set("X-Request-Id", described.ID)
	header.Set(versionHeader, Version)
	header.Set("Cache-Control", "no-store")
	if described.Secure {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if path := a.adapter.find(r.URL.EscapedPath()); path != nil && path.public {
		allowAnyOrigin(header)
	}
	defer func() {
		a.recoverPanic(answer, r, recover())
		if a.settings.Observe != nil {
			a.settings.Observe(r.Method, answer.route, answer.status, time.Since(begun))
		}
		endSpan(span, r.Method, answer)
	}()
	if problem := a.checkRequest(r); problem != nil {
		a.WriteProblem(answer, r, problem)
		return
	}
	if r.Method == http.MethodHead { // a GET whose body net/http leaves out
		r.Method = http.MethodGet
		r.Header.Del(rangeHeader) // ranges are those of a GET (RFC 9110 section 14.2)
	}
	a.adapter.ServeHTTP(answer, r)
}

// beginSpan begins the span of a request, which becomes the trace context of what the request leads to. A request that is made for another is below it.
func (a *API) beginSpan(r *http.Request, described *Request) (context.Context, tracing.Span) {
	method := spanMethod(r.Method)
	ctx, span := a.settings.Tracer.Begin(r.Context(), tracing.Request, method, described.Traceparent)
	described.Traceparent = tracing.Traceparent(ctx)
	span.Set(tracing.Text(tracing.Method, method), tracing.Text(tracing.RequestID, described.ID))
	return ctx, span
}

func endSpan(span tracing.Span, method string, answer *answerWriter) {
	if span.Recording() {
		span.Set(tracing.Int(tracing.Status, int64(answer.status)))
		if answer.route != "" {
			span.Set(tracing.Text(tracing.Route, answer.route))
			span.Rename(tracing.Request, spanMethod(method)+" "+answer.route)
		}
		if answer.status >= http.StatusInternalServerError {
			span.Fail()
		}
	}
	span.End()
}

// spanMethod is a request's method, and one word for all that HTTP does not define (semantic conventions for HTTP spans).
func spanMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return "_OTHER"
}

type framingKey struct{}

// RefuseFraming is httpserver.Refuser.
func (a *API) RefuseFraming(w http.ResponseWriter, r *http.Request, why string) {
	a.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), framingKey{}, why)))
}

type unreadKey struct{}

// RefuseUnread is httpserver.Refuser.
func (a *API) RefuseUnread(w http.ResponseWriter, r *http.Request, status int) {
	a.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), unreadKey{}, unreadProblem(r.RequestURI, status))))
}

// unreadProblem is that of a request for an address, which may be empty, that net/http refuses with a status.
func unreadProblem(address string, status int) *Problem {
	switch status {
	case http.StatusExpectationFailed:
		return ExpectationFailed.Problem("the header Expect asks for something that is not known; the only thing it can be is 100-continue")
	case http.StatusRequestHeaderFieldsTooLarge:
		return HeadersTooLarge.Problem("the request line and the headers together are larger than %d bytes", httpserver.MaxHeaderBytes)
	case http.StatusNotImplemented:
		return UnknownCoding.Problem("the body's Transfer-Encoding is not chunked, once")
	case http.StatusHTTPVersionNotSupported:
		return UnsupportedHTTP.Problem("the request is not of HTTP/1.1 or HTTP/1.0")
	}
	if _, err := url.ParseRequestURI(address); err != nil {
		if escape, is := errors.AsType[url.EscapeError](err); is {
			return InvalidParameter.Problem("the path cannot be read: %s", escapeReason(escape))
		}
	}
	return MalformedRequest.Problem("the request cannot be read: its first line or a header is not as HTTP/1.1 has it (one Host, names of letters and hyphens, values without control characters)")
}

// checkRequest returns the problem of a request that no route may receive, or nil: ambiguous
// framing, another API version, a cross-origin write, an address that is no text.
func (a *API) checkRequest(r *http.Request) *Problem {
	if problem, ok := r.Context().Value(unreadKey{}).(*Problem); ok {
		return problem
	}
	if why, ok := r.Context().Value(framingKey{}).(string); ok {
		return AmbiguousRequest.Problem("%s", why)
	}
	if asked := r.Header.Get(versionHeader); len(r.Header.Values(versionHeader)) > 0 && asked != Version {
		return UnsupportedVersion.Problem("API-Version %q is not served; this is %s", printable(asked, 40), Version)
	}
	if len(r.Header.Values("Authorization")) > 1 { // another reader may take another one
		const location = "header.Authorization"
		return InvalidParameter.Problem("%s: given more than once", location).WithField(location, "given more than once")
	}
	if r.Header.Get("Authorization") == "" {
		if err := a.checkOrigin(r); err != nil {
			return CrossOrigin.Problem("a browser sent this from a page of another site; send it from a page of this one, from a server, or with an Authorization header").WithCause(err)
		}
	}
	return checkAddress(r)
}

// checkOrigin returns an error for a write that a page of another origin may have made a browser send. net/http compares hosts only, and
// with whatever host the request names: a page of the same name without TLS is another origin, which its network can write.
func (a *API) checkOrigin(r *http.Request) error {
	if err := a.crossOrigin.Check(r); err != nil {
		return err
	}
	origin := r.Header.Get("Origin")
	switch {
	case len(r.Header.Values("Origin")) > 1:
		return errors.New("the header Origin is there more than once")
	case origin == "" || origin == "null" || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions: // as net/http has judged
		return nil
	case a.settings.PublicURL != "" && origin == a.settings.PublicURL:
		return nil
	case a.settings.PublicURL == "" && (origin == "https://"+r.Host || origin == "http://"+r.Host && !RequestOf(r.Context()).Secure): // a proxy that is not known may have ended TLS
		return nil
	}
	return errors.New("the header Origin names another origin than this service's")
}

// recoverPanic answers a panic with 500, or closes the connection when the answer has begun.
func (a *API) recoverPanic(w *answerWriter, r *http.Request, panicked any) {
	if panicked == nil {
		return
	}
	if err, ok := panicked.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(panicked)
	}
	a.settings.Logger.ErrorContext(r.Context(), "panic while serving", "request_id", RequestOf(r.Context()).ID, "method", r.Method,
		"route", w.route, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	a.WriteProblem(w, r, Internal.Problem("something went wrong here; it is in the log under this request_id"))
}

// WriteProblem answers with a problem; routes of huma answer theirs by returning it.
func (a *API) WriteProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	a.recordProblem(r.Context(), p)
	header := w.Header()
	for name, values := range p.headers {
		header[name] = values
	}
	if _, within := w.(*Reply); !within && a.problemPage != nil && isNavigation(r) {
		a.problemPage(w, r, p)
		return
	}
	header.Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	if err := marshalJSON(w, p); err != nil {
		a.settings.Logger.DebugContext(r.Context(), "client left before its answer", "request_id", p.RequestID, "error", err)
	}
}

// ShowProblems has page answer, in place of a problem, what a person's browser navigated to and no handler answers: addresses that nothing is at,
// and requests that are refused before they reach one. It is called before anything is served.
func (a *API) ShowProblems(page func(http.ResponseWriter, *http.Request, *Problem)) {
	a.problemPage = page
}

// isNavigation tells whether the answer is for a person to read: browsers ask for text/html first when they will show a document of its own,
// and for anything when scripts and pictures ask (Fetch Standard, "fetch").
func isNavigation(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "text/html")
}

// recordProblem sets the problem's request id and logs a problem of status 500 or above, unless it is the refusal of a request that
// is one too many: an account that asks a lot would fill the log.
func (a *API) recordProblem(ctx context.Context, p *Problem) {
	p.RequestID = RequestOf(ctx).ID
	if a.settings.ObserveProblem != nil {
		a.settings.ObserveProblem(p.Code)
	}
	if level, logged := levelOf(p); logged && ctx.Err() == nil {
		a.settings.Logger.Log(ctx, level, "request failed", "request_id", p.RequestID, "code", p.Code, "detail", p.Detail, "cause", p.cause)
	}
}

// levelOf is the level at which a problem is logged: an error is for the service to mend, a warning for its operator. What a client sends, and
// what is so by itself for a while or in a deployment, is neither.
func levelOf(p *Problem) (level slog.Level, logged bool) {
	switch {
	case p.Status < http.StatusInternalServerError:
		return 0, false
	case slices.Contains([]string{Saturated.Code, NotYetLogged.Code, UnknownCoding.Code, UnsupportedHTTP.Code}, p.Code):
		return 0, false
	case p.Code == Unavailable.Code:
		return slog.LevelWarn, true
	case p.Code == NoElaboration.Code:
		return slog.LevelInfo, true
	}
	return slog.LevelError, true
}

// SetRateLimit writes X-RateLimit-Limit, -Remaining and -Reset (Unix seconds, as GitHub's API has it).
func SetRateLimit(header http.Header, a ratelimit.Allowance) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(a.Limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(a.Remaining))
	header.Set("X-RateLimit-Reset", strconv.FormatInt((a.ResetAt.UnixMilli()+999)/1000, 10))
}

// answerWriter records the status of an answer and the route that matched.
type answerWriter struct {
	http.ResponseWriter
	status int
	route  string
}

func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answerWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// setRoute records the route that matched.
func setRoute(w http.ResponseWriter, route string) {
	if answer, ok := w.(*answerWriter); ok {
		answer.route = route
	}
}

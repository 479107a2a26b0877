package httpkit

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humabunrouter"
	"github.com/uptrace/bunrouter"
)

// adapter puts huma's operations on bunrouter. Huma's own adapter turns a panic
// into an empty 200 and hands out path parameters that are still percent-encoded.
type adapter struct {
	api    *API
	router *bunrouter.Router
	paths  map[int][]*servedPath // by their number of segments
}

// servedPath is a path template with the methods that it takes.
type servedPath struct {
	template string
	segments []string
	methods  []string
	public   bool // its answers may be read cross-origin
}

// matches tells whether an escaped path is one of the template's, and how many segments it
// has in common with it letter for letter.
func (p *servedPath) matches(segments []string) (literal int, ok bool) {
	for i, segment := range p.segments {
		switch {
		case segment == segments[i]:
			literal++
		case !strings.HasPrefix(segment, "{"), segments[i] == "":
			return 0, false
		}
	}
	return literal, true
}

// find returns the template of an escaped path; nil: nothing is served there. bunrouter does
// not tell: for a path below a parameter it calls every refused method a missing path.
func (a *adapter) find(escapedPath string) (found *servedPath) {
	segments, most := strings.Split(escapedPath, "/"), -1
	for _, path := range a.paths[len(segments)] {
		if literal, ok := path.matches(segments); ok && literal > most {
			found, most = path, literal
		}
	}
	return found
}

// add notes that an operation is served.
func (a *adapter) add(op *huma.Operation, route Route) {
	segments := strings.Split(op.Path, "/")
	known := a.paths[len(segments)]
	i := slices.IndexFunc(known, func(p *servedPath) bool { return p.template == op.Path })
	if i < 0 {
		i, known = len(known), append(known, &servedPath{template: op.Path, segments: segments})
		a.paths[len(segments)] = known
	}
	known[i].methods = append(known[i].methods, op.Method)
	if op.Method == http.MethodGet {
		known[i].methods = append(known[i].methods, http.MethodHead)
	}
	known[i].public = known[i].public || route.PublicFor > 0
}

// Operations lists what is served, as the table of internal/access names it: method and path template.
func (a *API) Operations() []string {
	var operations []string
	for _, paths := range a.adapter.paths {
		for _, path := range paths {
			for _, method := range path.methods {
				if method != http.MethodHead {
					operations = append(operations, method+" "+path.template)
				}
			}
		}
	}
	slices.Sort(operations)
	return operations
}

func newAdapter(api *API) *adapter {
	a := &adapter{api: api, paths: map[int][]*servedPath{}}
	a.router = bunrouter.New(
		bunrouter.WithNotFoundHandler(a.refuse),
		bunrouter.WithMethodNotAllowedHandler(a.refuse),
	)
	return a
}

// Handle is huma.Adapter.
func (a *adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	path := routerPath(op.Path)
	route, _ := op.Metadata[routeKey].(Route)
	a.add(op, route)
	body := jsonBody(op) // describeBody describes another one
	a.router.Handle(op.Method, path, func(w http.ResponseWriter, r bunrouter.Request) error {
		setRoute(w, op.Path)
		prepared, let, problem := a.api.admit(w, r, op, body, route)
		if problem != nil {
			a.api.WriteProblem(w, r.Request, problem)
			return nil
		}
		ctx := prepared.Context()
		if let != nil && !route.EndsCredential {
			w = a.api.deliver(w, r.Request, let, false)
			watched, stop := let.watch(ctx)
			defer stop()
			ctx = watched
		}
		// Request.WithContext of bunrouter keeps the path parameters.
		admitted := r.WithContext(ctx)
		admitted.Body = prepared.Body
		if route.PublicFor == 0 {
			handler(decodedContext{humabunrouter.NewContext(op, admitted, w), r.URL.RawPath != ""})
			return nil
		}
		held := &bufferedAnswer{ResponseWriter: w, fixed: route.FixedBody}
		handler(decodedContext{humabunrouter.NewContext(op, admitted, held), r.URL.RawPath != ""})
		held.sendWithETag(r.Request, route.PublicFor)
		return nil
	})
}

// routerPath writes a path template as bunrouter has it.
func routerPath(template string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(template)
}

// ServeHTTP is huma.Adapter.
func (a *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// bunrouter answers these with a redirect, which turns a POST into a GET.
	path := r.URL.EscapedPath()
	if path != "/" && strings.HasSuffix(path, "/") || bunrouter.CleanPath(path) != path {
		a.api.WriteProblem(w, r, NoSuchRoute.Problem("there is nothing at this address; paths have no trailing or doubled slash and no dot segments"))
		return
	}
	a.router.ServeHTTP(w, r)
}

// refuse answers a request that no operation takes: 404 where nothing is served, 405 with
// Allow for another method, and OPTIONS with Allow and what a preflight asks for.
func (a *adapter) refuse(w http.ResponseWriter, r bunrouter.Request) error {
	path := a.find(r.URL.EscapedPath())
	if path == nil || slices.Contains(path.methods, r.Method) {
		a.api.WriteProblem(w, r.Request, NoSuchRoute.Problem("there is nothing at this address; /openapi.json lists those of the API"))
		return nil
	}
	allowed := append(slices.Clone(path.methods), http.MethodOptions)
	slices.Sort(allowed)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		if path.public {
			allowPreflight(w.Header())
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	a.api.WriteProblem(w, r.Request, MethodRefused.Problem("%s is not served here; allowed: %s", printable(r.Method, 20), strings.Join(allowed, ", ")))
	return nil
}

// needlessEscapes are those of letters, digits, hyphens, underscores and tildes.
var needlessEscapes = regexp.MustCompile(`%(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|2[Dd]|5[Ff]|7[Ee])`)

// withoutNeedlessEscapes is an escaped path in which what needs no escape has none: the same address (RFC 3986 §6.2.2.2). Escaped dots stay,
// so that none becomes a segment . or .. that was not written.
func withoutNeedlessEscapes(path string) string {
	return needlessEscapes.ReplaceAllStringFunc(path, func(escape string) string {
		code, err := hex.DecodeString(escape[1:])
		if err != nil {
			return escape
		}
		return string(code)
	})
}

// decodedContext hands out path parameters decoded exactly once: bunrouter
// matches the raw path when there is one, and the decoded path otherwise.
type decodedContext struct {
	humaContext
	raw bool
}

// humaContext is embedded under this name because the interface has a method Context.
type humaContext huma.Context

// Param is huma.Context.
func (c decodedContext) Param(name string) string {
	return decodedOnce(c.humaContext.Param(name), c.raw)
}

// decodedOnce is a path parameter as the client means it; raw tells whether it is still percent-encoded.
func decodedOnce(value string, raw bool) string {
	if !raw {
		return value
	}
	decoded, err := url.PathUnescape(value)
	if err != nil {
		return value
	}
	return decoded
}

// Unwrap lets huma find the router's own context.
func (c decodedContext) Unwrap() huma.Context { return c.humaContext }

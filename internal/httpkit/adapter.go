package httpkit

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humabunrouter"
	"github.com/uptrace/bunrouter"
)

// adapter puts huma's operations on bunrouter. Huma's own adapter turns a panic
// into an empty 200 and hands out path parameters that are still percent-encoded.
type adapter struct {
	api     *API
	router  *bunrouter.Router
	methods map[string][]string // by path template
}

func newAdapter(api *API) *adapter {
	a := &adapter{api: api, methods: map[string][]string{}}
	a.router = bunrouter.New(
		bunrouter.WithNotFoundHandler(func(w http.ResponseWriter, r bunrouter.Request) error {
			api.WriteProblem(w, r.Request, NoSuchRoute.Problem("there is nothing at this address; /openapi.json lists every one"))
			return nil
		}),
		bunrouter.WithMethodNotAllowedHandler(a.refuseMethod),
	)
	return a
}

// Handle is huma.Adapter.
func (a *adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	path := strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	route, _ := op.Metadata[routeKey].(Route)
	a.methods[path] = append(a.methods[path], op.Method)
	a.router.Handle(op.Method, path, func(w http.ResponseWriter, r bunrouter.Request) error {
		setRoute(w, op.Path)
		prepared, problem := a.api.admit(w, r.Request, op, route)
		if problem != nil {
			a.api.WriteProblem(w, r.Request, problem)
			return nil
		}
		// Request.WithContext of bunrouter keeps the path parameters.
		admitted := r.WithContext(prepared.Context())
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

// refuseMethod answers 405 with Allow, and OPTIONS with Allow alone.
func (a *adapter) refuseMethod(w http.ResponseWriter, r bunrouter.Request) error {
	allowed := slices.Clone(a.methods[r.Route()])
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	allowed = append(allowed, http.MethodOptions)
	slices.Sort(allowed)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	a.api.WriteProblem(w, r.Request, MethodRefused.Problem("%s is not served here; allowed: %s", printable(r.Method, 20), strings.Join(allowed, ", ")))
	return nil
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
	value := c.humaContext.Param(name)
	if !c.raw {
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

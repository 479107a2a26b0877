package httpkit

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/uptrace/bunrouter"
)

// HandleRaw adds a route that is not JSON of ours: pages, forms, another protocol. It is authenticated, counted and
// bounded as the others are, and stands in no description. A body is limitBytes at most. It panics for a route
// that Settings.Access has no row for. Parameters of the path are the request's path values, decoded once.
func HandleRaw(a *API, method, path string, limitBytes int64, handler http.HandlerFunc) {
	rule := a.ruleOfUndescribed(method, path)
	a.adapter.add(&huma.Operation{Method: method, Path: path}, Route{})
	a.adapter.router.Handle(method, routerPath(path), func(w http.ResponseWriter, r bunrouter.Request) error {
		setRoute(w, path)
		ctx, admitted, problem := a.authenticate(r.Request, rule, nil)
		if problem != nil {
			a.WriteProblem(w, r.Request, problem)
			return nil
		}
		request := r.Request.WithContext(context.WithValue(ctx, headerKey{}, w.Header()))
		for name, value := range r.Params().Map() {
			request.SetPathValue(name, decodedOnce(value, r.URL.RawPath != ""))
		}
		request.Body = http.MaxBytesReader(w, r.Body, limitBytes)
		handler(a.deliver(w, r.Request, admitted, false), request)
		return nil
	})
}

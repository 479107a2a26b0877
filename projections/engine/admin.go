package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// Admin returns the handler of operators' requests: GET / lists the projections, GET /parked
// the parked events, POST /{name}/{pause|resume|boot|retry|drop} acts on one projection. It
// checks no credentials: serve it on the admin socket only.
func (e *Engine) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		list, err := e.Status(r.Context())
		writeJSON(w, list, err)
	})
	mux.HandleFunc("GET /parked", func(w http.ResponseWriter, r *http.Request) {
		list, err := ListParked(r.Context(), e.db)
		writeJSON(w, list, err)
	})
	for action, do := range map[string]func(context.Context, string) error{
		"pause": e.Pause, "resume": e.Resume, "boot": e.Boot, "retry": e.RetryParked,
	} {
		mux.HandleFunc("POST /{name}/"+action, func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, struct{}{}, do(r.Context(), r.PathValue("name")))
		})
	}
	mux.HandleFunc("POST /{name}/drop", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, struct{}{}, e.DropParked(r.Context(), r.PathValue("name"), r.URL.Query().Get("stream")))
	})
	return mux
}

// writeJSON answers with v, or with the text of an error.
func writeJSON(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the operator has gone
	}
}

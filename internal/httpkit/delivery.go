package httpkit

import (
	"context"
	"maps"
	"net/http"
	"time"

	"reckon/internal/access"
)

const (
	// recheckAfter is the age of an authentication beyond which the answer is not given without another one.
	recheckAfter = time.Second
	// recheckEvery is how often the credential of a request that is worked on is authenticated again.
	recheckEvery = 2 * time.Second
	// pieceBytes is the most of an answer that is written between two looks at the clock: a client may read as slowly as it likes.
	pieceBytes = 64 << 10
)

// admission is what an authenticated request was let in with: its credential is authenticated again while it is worked on and before
// it is answered, because a token may be revoked, a sign-in ended and an account closed meanwhile.
type admission struct {
	again func(context.Context) *Problem // authenticates the same credential for the same route; nil: it is still good
	at    time.Time
}

// authenticate lets a request in by a rule. admitted is nil for a public route, whose answers anybody may have.
func (a *API) authenticate(r *http.Request, rule access.Rule, errors []Mapping) (ctx context.Context, admitted *admission, problem *Problem) {
	at := time.Now()
	ctx, err := a.settings.Authenticator.Authenticate(r, rule)
	switch {
	case err != nil:
		return nil, nil, TranslateFor(r.Context(), err, errors)
	case rule.Who == access.Public:
		return ctx, nil, nil
	}
	return ctx, &admission{at: at, again: func(ctx context.Context) *Problem {
		if _, err := a.settings.Authenticator.Authenticate(r.WithContext(ctx), rule); err != nil {
			return TranslateFor(ctx, err, errors)
		}
		return nil
	}}, nil
}

// watch returns a context that ends when the credential is refused, so that nothing goes on for who may not have it; the returned function
// ends the watch. While the credential cannot be looked up (503) the work goes on.
func (d *admission) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	armed := make(chan struct{})
	var timer *time.Timer
	timer = time.AfterFunc(recheckEvery, func() {
		<-armed
		switch problem := d.again(ctx); {
		case ctx.Err() != nil:
		case problem != nil && problem.Status < http.StatusInternalServerError:
			cancel()
		default:
			timer.Reset(recheckEvery)
		}
	})
	close(armed)
	return ctx, func() {
		cancel()
		timer.Stop()
	}
}

// deliver returns a writer for the answer to r that gives it only if the credential is still good when it begins; otherwise it answers
// the refusal in its place. An answer that has begun is cut off, with its connection, once the credential is refused; not so one
// inParts, a stream whose parts are themselves answers of routes (ServeFor).
func (a *API) deliver(w http.ResponseWriter, r *http.Request, d *admission, inParts bool) http.ResponseWriter {
	if d == nil {
		return w
	}
	return &delivery{ResponseWriter: w, api: a, request: r, admission: d, before: w.Header().Clone(), inParts: inParts}
}

// delivery is the writer of an answer to an authenticated request.
type delivery struct {
	http.ResponseWriter
	api       *API
	request   *http.Request // as it came: its context does not end with the watch
	admission *admission
	before    http.Header // of the answer, before its handler
	begun     bool
	refused   bool
	inParts   bool
	looked    time.Time // when the credential was last asked for
}

// WriteHeader is http.ResponseWriter.
func (d *delivery) WriteHeader(status int) {
	if d.begun || status < http.StatusOK {
		if !d.refused {
			d.ResponseWriter.WriteHeader(status)
		}
		return
	}
	d.begun, d.looked = true, d.admission.at
	if time.Since(d.admission.at) >= recheckAfter {
		d.looked = time.Now()
		if problem := d.admission.again(d.request.Context()); problem != nil {
			d.refused = true
			header := d.Header()
			clear(header)
			maps.Copy(header, d.before)
			d.api.WriteProblem(d.ResponseWriter, d.request, problem)
			return
		}
	}
	d.ResponseWriter.WriteHeader(status)
}

// Write is http.ResponseWriter.
func (d *delivery) Write(p []byte) (int, error) {
	if !d.begun {
		d.WriteHeader(http.StatusOK)
	}
	if d.refused {
		return len(p), nil
	}
	if d.inParts {
		return d.ResponseWriter.Write(p)
	}
	written := 0
	for {
		d.cutIfRefused()
		n, err := d.ResponseWriter.Write(p[written:min(len(p), written+pieceBytes)])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// cutIfRefused ends the connection if the credential is refused by now: its client sees that the answer is not whole. While the
// credential cannot be looked up (503) the answer goes on.
func (d *delivery) cutIfRefused() {
	if time.Since(d.looked) < recheckEvery {
		return
	}
	d.looked = time.Now()
	if problem := d.admission.again(d.request.Context()); problem != nil && problem.Status < http.StatusInternalServerError {
		panic(http.ErrAbortHandler)
	}
}

// FlushError is for http.ResponseController.
func (d *delivery) FlushError() error {
	if !d.begun {
		d.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(d.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (d *delivery) Unwrap() http.ResponseWriter { return d.ResponseWriter }

package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outageInterval is the least time between two lines about outages.
const outageInterval = time.Second

// LimitOutages returns a handler that passes on to next at most one warning or error a second
// whose attributes hold an error that isOutage recognises: while a part is away every user of it
// reports that, all in the same words. Of the lines left out in a second the last is written
// when the second has passed, with the number of the others as left_out. All other lines are
// passed on as they are.
func LimitOutages(next slog.Handler, isOutage func(error) bool) slog.Handler {
	return &outageHandler{next: next, isOutage: isOutage, shared: &outageLimit{}}
}

type outageHandler struct {
	next     slog.Handler
	isOutage func(error) bool
	shared   *outageLimit // by all handlers that WithAttrs and WithGroup derive
}

// outageLimit is what was written and left out about outages.
type outageLimit struct {
	mu       sync.Mutex
	written  time.Time
	leftOut  int // since then
	last     slog.Record
	lastNext slog.Handler
}

// Enabled is slog.Handler.
func (h *outageHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs is slog.Handler.
func (h *outageHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &outageHandler{h.next.WithAttrs(attrs), h.isOutage, h.shared}
}

// WithGroup is slog.Handler.
func (h *outageHandler) WithGroup(name string) slog.Handler {
	return &outageHandler{h.next.WithGroup(name), h.isOutage, h.shared}
}

// Handle is slog.Handler.
func (h *outageHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || !h.reportsOutage(r) || h.shared.admit(r, h.next) {
		return h.next.Handle(ctx, r)
	}
	return nil
}

func (h *outageHandler) reportsOutage(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && h.isOutage(err)
		return !found
	})
	return found
}

// admit tells whether a line may be written now; otherwise it is kept until the second is over.
func (l *outageLimit) admit(r slog.Record, next slog.Handler) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := time.Since(l.written)
	if l.leftOut == 0 && since >= outageInterval {
		l.written = time.Now()
		return true
	}
	if l.leftOut++; l.leftOut == 1 {
		time.AfterFunc(outageInterval-since, l.writeLast)
	}
	l.last, l.lastNext = r.Clone(), next
	return false
}

// writeLast writes the last line left out, with the number of those before it.
func (l *outageLimit) writeLast() {
	l.mu.Lock()
	r, next := l.last, l.lastNext
	if others := l.leftOut - 1; others > 0 {
		r.AddAttrs(slog.Int("left_out", others))
	}
	l.written, l.leftOut = time.Now(), 0
	l.mu.Unlock()
	_ = next.Handle(context.Background(), r) // there is nowhere to report it
}

// Package lifecycle starts, supervises and stops the parts of one process.
//
// It promises that parts start in the order in which they were added and stop in
// the opposite one, that the background work of a part has returned before the
// part is stopped and before any part added earlier is, and that every error and
// log line names its part. No part ends unnoticed: background work that ends before it is
// told to is begun again, with pauses, and States tells; where it cannot be begun again the
// process ends, which Failed reports. A panic ends the process. It knows nothing about what
// the parts do.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Part is one part of a process that has been made: Stop releases what it holds (files,
// sockets, connections). Every function may be nil.
type Part struct {
	Name string // in messages, such as "read models"
	// Start is called once, before the next part's. An error ends the process.
	Start func(ctx context.Context) error
	// Run works in the background until ctx ends, or until Drain lets it end. When it returns
	// before that, with an error or without, it is called again after a pause.
	Run func(ctx context.Context) error
	// RunOnce: Run cannot be called again, as that of a listener. Its return ends the process.
	RunOnce bool
	// Drain refuses new work and returns when the work in progress has ended or was handed
	// back. It is called for started parts only, for all at the same time, while all still
	// run. An error is logged as a warning.
	Drain func(ctx context.Context) error
	// Stop releases what the part holds. It is called after Run has returned.
	Stop func(ctx context.Context) error
}

// Lifecycle is the parts of a process. Its methods but States are called by one goroutine.
type Lifecycle struct {
	logger   *slog.Logger
	parts    []*running
	failed   chan error  // holds one
	draining atomic.Bool // Run functions may return

	mu         sync.Mutex
	supervised []*supervised // of the started parts with background work, in order
}

// running is a part with its background work.
type running struct {
	Part
	started bool
	cancel  context.CancelFunc
	done    chan struct{} // closed when Run is not called any more; nil without background work
}

// New returns a lifecycle without parts.
func New(logger *slog.Logger) *Lifecycle {
	return &Lifecycle{logger: logger, failed: make(chan error, 1)}
}

// Add adds parts that have been made. Stop stops them, whether they were started or not.
func (l *Lifecycle) Add(parts ...Part) {
	for _, p := range parts {
		l.parts = append(l.parts, &running{Part: p})
	}
}

// Start starts every part in order. After an error Stop must be called too. The
// end of ctx interrupts Start functions only: background work ends with Stop.
func (l *Lifecycle) Start(ctx context.Context) error {
	for _, p := range l.parts {
		if p.Start != nil {
			if err := p.Start(ctx); err != nil {
				return withPartName(p.Name, err)
			}
		}
		p.started = true
		if p.Run != nil {
			l.run(context.WithoutCancel(ctx), p)
		}
	}
	return nil
}

func (l *Lifecycle) run(ctx context.Context, p *running) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.done = make(chan struct{})
	work := &supervised{name: p.Name}
	first := work.begin(ctx)
	l.mu.Lock()
	l.supervised = append(l.supervised, work)
	l.mu.Unlock()
	go func() {
		defer close(p.done)
		l.supervise(ctx, first, p.Part, work)
	}()
}

func (l *Lifecycle) reportFailure(err error) {
	select {
	case l.failed <- err:
	default: // the process ends because of an earlier failure already
		l.logger.Error("a further part failed", "error", err)
	}
}

// Failed yields the error of the first part whose background work ended and cannot be begun
// again. The caller ends the process: Drain, then Stop.
func (l *Lifecycle) Failed() <-chan error { return l.failed }

// Drain drains all started parts at the same time and returns when every Drain has
// returned. ctx is passed to each.
func (l *Lifecycle) Drain(ctx context.Context) {
	l.draining.Store(true)
	var draining sync.WaitGroup
	for _, p := range l.parts {
		if !p.started || p.Drain == nil {
			continue
		}
		draining.Go(func() {
			if err := p.Drain(ctx); err != nil {
				l.logger.Warn("not all work in progress could end", "part", p.Name, "error", err)
			}
		})
	}
	draining.Wait()
}

// stillRunningAfter is when a part whose background work does not return is named in the log.
const stillRunningAfter = 15 * time.Second

// Stop ends every part's background work and stops the part, last added first,
// also after errors, which it joins. A second call does nothing.
func (l *Lifecycle) Stop(ctx context.Context) error {
	var errs []error
	l.draining.Store(true)
	for n := len(l.parts) - 1; n >= 0; n-- {
		p := l.parts[n]
		if p.done != nil {
			p.cancel()
			l.waitForRun(p)
		}
		if p.Stop != nil {
			errs = append(errs, withPartName(p.Name, p.Stop(ctx)))
		}
	}
	l.parts = nil
	return errors.Join(errs...)
}

func (l *Lifecycle) waitForRun(p *running) {
	late := time.NewTimer(stillRunningAfter)
	defer late.Stop()
	select {
	case <-p.done:
		return
	case <-late.C:
		l.logger.Warn("a part has not ended yet", "part", p.Name, "waited", stillRunningAfter)
	}
	<-p.done
}

func withPartName(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

package eventlog

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Health is what an operator must know of a running log.
type Health struct {
	Err      error  // why no more appends are taken: *StorageError, *CorruptError, *IndexError; nil while they are
	ReadOnly bool   // the log was opened over the damage that Err names, and is read only
	Records  uint64 // position of the newest record
	Segments int
	Bytes    int64 // of the segments

	Passes           uint64    // verifications of the whole log that have ended since it was opened, and found nothing
	LastPass         time.Time // the end of the newest one; zero before the first
	VerifiedPosition uint64    // that the verification in progress, or the last one, has reached
}

// Health returns the state of the log.
func (l *Log) Health() Health {
	segments := *l.segments.Load()
	h := Health{Err: l.Err(), ReadOnly: l.known != nil, Segments: len(segments), Bytes: segments.bytes()}
	l.verifier.mu.Lock()
	h.Passes, h.LastPass, h.VerifiedPosition = l.verifier.passes, l.verifier.lastPass, l.verifier.reached
	l.verifier.mu.Unlock()
	if view, err := l.View(); err == nil {
		h.Records = view.Head()
		view.Close()
	}
	return h
}

// verification says how a log verifies all of itself in the background, again and again.
type verification struct {
	delay          time.Duration // before the first pass
	pause          time.Duration // between passes
	bytesPerSecond int64
}

// defaultVerification takes a few percent of one core, and a day for 300 GB.
var defaultVerification = verification{delay: time.Minute, pause: time.Hour, bytesPerSecond: 4 << 20}

// verifier is the verification in the background.
type verifier struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	passes   uint64
	lastPass time.Time
	reached  uint64
}

func (v *verifier) start(l *Log, how verification) {
	ctx, cancel := context.WithCancel(context.Background())
	v.cancel, v.done = cancel, make(chan struct{})
	go func() {
		defer close(v.done)
		for wait := how.delay; sleep(ctx, wait) == nil; wait = how.pause {
			if err := v.pass(ctx, l, how.bytesPerSecond); err != nil {
				// damage has ended the taking of appends, and Err says it
				if ctx.Err() == nil && l.Err() == nil {
					l.logger.Warn("the event log could not be verified", "folder", l.dir, "error", err)
				}
				if l.Err() != nil {
					return
				}
			}
		}
	}()
}

func (v *verifier) stop() {
	v.cancel()
	<-v.done
}

// pass verifies the whole log at a bounded rate.
func (v *verifier) pass(ctx context.Context, l *Log, bytesPerSecond int64) error {
	const every = 64 << 10 // bytes between waits
	start, done, waited := time.Now(), int64(0), int64(0)
	report, err := l.verifyAll(ctx, func(position uint64, bytes int) error {
		if done += int64(bytes); done < waited+every {
			return nil
		}
		waited = done
		v.mu.Lock()
		v.reached = position
		v.mu.Unlock()
		due := start.Add(time.Duration(float64(done) / float64(bytesPerSecond) * float64(time.Second)))
		return sleep(ctx, time.Until(due))
	})
	if errors.Is(err, ErrClosed) {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.passes++
	v.lastPass, v.reached = time.Now(), report.Records
	return nil
}

// sleep returns after the duration, or with the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

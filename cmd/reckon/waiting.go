package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"reckon/internal/blobs"
)

// saidEvery is how often a server that starts says what it waits for.
const saidEvery = 5 * time.Second

// The pause before a part is asked again that does not answer a server that starts grows from one to the other.
const firstAsk, longestAsk = 250 * time.Millisecond, 5 * time.Second

// awaiting opens a part that a server needs, and waits for one that does not answer for as long as it takes: started beside its database, or while
// that is restarted, a server is there when the database is. It ends on what waiting cannot mend.
func awaiting[T any](ctx context.Context, p process, part string, open func(context.Context) (T, error)) (T, error) {
	var last atomic.Pointer[string]
	answered := sayWaiting(ctx, p, part, func() string {
		if cause := last.Load(); cause != nil {
			return *cause
		}
		return "it says nothing"
	})
	defer answered()
	for pause := firstAsk; ; pause = min(2*pause, longestAsk) {
		opened, err := open(ctx)
		if err == nil || ctx.Err() != nil || !mayComeBack(err) {
			return opened, err
		}
		cause := err.Error()
		last.Store(&cause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return opened, err
		}
	}
}

// sayWaiting tells those who watch which part is waited for, and logs it each saidEvery with its cause, until answered is called: a server waits
// for as long as it takes, and answers meanwhile only those who watch it.
func sayWaiting(ctx context.Context, p process, part string, cause func() string) (answered func()) {
	ctx, cancel := context.WithCancel(ctx)
	p.starting.waitsFor(part)
	begun, ticker := time.Now(), time.NewTicker(saidEvery)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				p.logger.WarnContext(ctx, "waiting for a part that does not answer: is its server away, or its address mistyped? Nothing is served before it answers",
					"part", part, "waited", time.Since(begun).Round(time.Second), "cause", cause())
			}
		}
	}()
	return func() {
		cancel()
		p.starting.answered()
	}
}

// awaitingWith is awaiting of what is opened by its address.
func awaitingWith[A, T any](ctx context.Context, p process, part string, open func(context.Context, A) (T, error), address A) (T, error) {
	return awaiting(ctx, p, part, func(ctx context.Context) (T, error) { return open(ctx, address) })
}

// awaitingDone is awaiting for what returns nothing.
func awaitingDone(ctx context.Context, p process, part string, do func(context.Context) error) error {
	_, err := awaiting(ctx, p, part, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// mayComeBack tells whether the error of a start is one that waiting can mend: a part is away. A part that answers and refuses, because of
// credentials, a name or a right, is there.
func mayComeBack(err error) bool {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		// PostgreSQL, appendix A: 28 invalid authorization, 3D invalid catalog name, 3F invalid schema name, 42 access rule violation
		for _, class := range []string{"28", "3D", "3F", "42"} {
			if strings.HasPrefix(coded.SQLState(), class) {
				return false
			}
		}
	}
	var numbered interface{ Code() int }
	if errors.As(err, &numbered) {
		switch numbered.Code() & 0xff { // SQLite (sqlite.org/rescode.html): READONLY, CANTOPEN
		case 8, 14:
			return false
		}
	}
	return isOutage(err) && !blobs.IsRefused(err)
}

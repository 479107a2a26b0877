package engine

import (
	"context"
	"sync"
	"time"
)

// together reads the database once for all projections of a process that want the same at the same moment.
type together[T any] struct {
	read func(context.Context) (T, error)

	mu    sync.Mutex
	begun time.Time // of the last read
	value T
	err   error
}

// now returns what a read found that began after the call: this one's or another's.
func (s *together[T]) now(ctx context.Context) (T, error) {
	asked := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun.Before(asked) {
		begun := time.Now()
		value, err := s.read(ctx)
		if ctx.Err() != nil { // the failure is this caller's alone
			return value, err
		}
		s.begun, s.value, s.err = begun, value, err
	}
	return s.value, s.err
}

// untilNextLook ends at the same moments for all projections of a process.
func untilNextLook() time.Duration {
	return standbyPollInterval - time.Duration(time.Now().UnixNano())%standbyPollInterval
}

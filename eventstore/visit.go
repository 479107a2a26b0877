package eventstore

import (
	"context"
	"fmt"
	"sync"

	"reckon/domain/event"
)

// VisitAll calls visit with every event of the log as it is stored, those outside the catalogue
// and the store's own too, in their order and up to the end that the log had when the call
// began, or beyond. After the transport has failed an event may be visited twice. It returns an error unless the
// whole log was read.
func (s *Store) VisitAll(ctx context.Context, visit func(Raw)) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	var at event.Position
	var failed error
	each := func(_ context.Context, _ *sync.WaitGroup, next func() (Raw, error), yield func(event.Recorded, error) bool) (bool, error) {
		for {
			raw, err := next()
			if err != nil {
				return true, err
			}
			visit(raw)
			if !yield(event.Recorded{Position: raw.Position}, nil) {
				return false, nil
			}
		}
	}
	s.follow(ctx, &at, openOnce, each, func(_ event.Recorded, err error) bool {
		failed = err
		return err == nil
	})
	if failed == nil && at.Less(head) {
		failed = fmt.Errorf("the log was read up to %d only; its end is at %d", at.Commit, head.Commit)
	}
	return failed
}

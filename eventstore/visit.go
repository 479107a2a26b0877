package eventstore

import (
	"context"
	"fmt"

	"reckon/domain/event"
)

// VisitAll calls visit with every event of the log as it is stored, those outside the catalogue
// and the store's own too, in their order and up to the end that the log had when the call
// began, or beyond. It returns an error unless the whole log was read.
func (s *Store) VisitAll(ctx context.Context, visit func(Raw)) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	var at event.Position
	for raw, err := range s.RawAll(ctx, event.Position{}) {
		if err != nil {
			return err
		}
		visit(raw)
		at = raw.Position
	}
	if at.Less(head) {
		return fmt.Errorf("the log was read up to %d only; its end is at %d", at.Commit, head.Commit)
	}
	return nil
}

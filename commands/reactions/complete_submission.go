package reactions

import (
	"context"
	"errors"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

// completeSubmission brings a spent slot to a queued job or to a refund, when the
// process that submitted died between the two appends (docs/architecture.md#protocols).
func completeSubmission(jobs *commands.Jobs, by Actor) Reaction {
	const name = "complete_submission"
	eventName, handle := handlerOf(func(ctx context.Context, e slots.Spent, r event.Recorded) error {
		_, _, err := jobs.FinishSubmission(ctx, by.intent(name, r), e)
		if errors.Is(err, upload.ErrUploadUsed) || errors.Is(err, upload.ErrNotFound) {
			return nil // the upload was refused and the slot refunded: nothing is left to do
		}
		return err
	})
	return Reaction{Name: name, On: []string{eventName}, Handle: handle}
}

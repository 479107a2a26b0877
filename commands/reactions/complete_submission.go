package reactions

import (
	"context"
	"errors"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

// completeSubmission brings a spent slot to a queued job or a refund, when the
// submitter died in between (docs/architecture.md#protocols).
func completeSubmission(jobs *commands.Jobs, by Actor) Reaction {
	const name = "complete_submission"
	eventName, handle := on(func(ctx context.Context, e slots.Spent, r event.Recorded) error {
		_, _, err := jobs.FinishSubmission(ctx, by.intent(name, r), e)
		if errors.Is(err, upload.ErrUsed) || errors.Is(err, upload.ErrNone) {
			return nil // refused and refunded: that is an end
		}
		return err
	})
	return Reaction{Name: name, On: []string{eventName}, Handle: handle}
}

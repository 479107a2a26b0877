package reactions

import (
	"context"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
)

// refundCancelled refunds the slot and releases the upload of a job that was
// cancelled before it was tried, when the process that cancelled it died in
// between.
func refundCancelled(jobs *commands.Jobs, by Actor) Reaction {
	const name = "refund_cancelled"
	eventName, handle := handlerOf(func(ctx context.Context, e job.WasCancelled, r event.Recorded) error {
		state, err := jobs.Read(ctx, e.JobID)
		if err != nil {
			return err
		}
		return jobs.SettleRefund(ctx, by.intent(name, r), state)
	})
	return Reaction{Name: name, On: []string{eventName}, Handle: handle}
}

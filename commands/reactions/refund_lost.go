package reactions

import (
	"context"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
)

// refundLost refunds the slot and releases the upload of a job that the service lost, when the process that lost it
// died in between.
func refundLost(jobs *commands.Jobs, by Actor) Reaction {
	const name = "refund_lost"
	eventName, handle := handlerOf(func(ctx context.Context, e job.WasLost, r event.Recorded) error {
		state, err := jobs.Read(ctx, e.JobID)
		if err != nil {
			return err
		}
		in := by.intent(name, r)
		in.Account = state.Queued.Account // a runner's event names no account
		return jobs.SettleRefund(ctx, in, state)
	})
	return Reaction{Name: name, On: []string{eventName}, Handle: handle}
}

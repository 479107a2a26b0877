package reactions

import (
	"context"
	"fmt"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/domain/token"
)

// endClosed ends what an account has when it is closed, and what a request that was under way adds to it afterwards.
func endClosed(closing *commands.Closing, by Actor) Reaction {
	const name = "end_closed"
	return Reaction{
		Name: name,
		On:   []string{account.Closed{}.EventName(), job.WasQueued{}.EventName(), session.Opened{}.EventName(), token.Minted{}.EventName()},
		Handle: func(ctx context.Context, r event.Recorded) error {
			in := by.intent(name, r)
			switch e := r.Event.(type) {
			case account.Closed:
				return closing.EndAll(ctx, in, e.Account, r.Position)
			case job.WasQueued:
				return closing.EndJob(ctx, in, e.Account, e.JobID)
			case session.Opened:
				return closing.EndSession(ctx, in, e.Account, e.SessionID)
			case token.Minted:
				return closing.EndToken(ctx, in, e.Account, e.TokenID)
			}
			return fmt.Errorf("%s: event is a %T", name, r.Event)
		},
	}
}

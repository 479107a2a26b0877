package reactions

import (
	"context"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
)

// followSubscription puts the plan in force that a subscription gives or takes, when the process that began, settled or ended it died
// before it did, and ends the subscription of an account that was closed.
func followSubscription(jobs *commands.Jobs, plans account.Plans, by Actor) Reaction {
	const name = "follow_subscription"
	return Reaction{
		Name: name,
		On:   []string{billing.Started{}.EventName(), billing.Settled{}.EventName(), billing.Ended{}.EventName(), account.Closed{}.EventName()},
		Handle: func(ctx context.Context, r event.Recorded) error {
			in := by.intent(name, r)
			switch e := r.Event.(type) { // an operator's event may name no account around it
			case billing.Started:
				in.Account = e.Account
			case billing.Settled:
				in.Account = e.Account
			case billing.Ended:
				in.Account = e.Account
			case account.Closed:
				in.Account = e.Account
			}
			return commands.FollowSubscription(ctx, jobs.Store, plans, in)
		},
	}
}

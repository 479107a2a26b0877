package reactions

import (
	"context"
	"fmt"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
)

// publishOutcome appends the events that a job's terminal event carries, of its
// run or its certificate, when the runner died before it appended them. They are
// appended as they were encoded when the job ended.
func publishOutcome(jobs *commands.Jobs, by Actor) Reaction {
	const name = "publish_outcome"
	return Reaction{
		Name: name,
		On:   []string{job.HasSucceeded{}.EventName(), job.HasFailed{}.EventName(), job.HasTimedOut{}.EventName()},
		Handle: func(ctx context.Context, r event.Recorded) error {
			ended, is := job.EndOf(r.Event)
			if !is {
				return fmt.Errorf("event %T ends no job with an outcome", r.Event)
			}
			state, err := jobs.Read(ctx, ended.JobID)
			if err != nil {
				return err
			}
			return jobs.PublishOutcome(ctx, by.intent(name, r), state)
		},
	}
}

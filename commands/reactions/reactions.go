package reactions

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
)

// Reaction issues a command for every event of some types.
type Reaction struct {
	Name string   // of the actor in metadata (reaction:<name>) and of the checkpoint: it must never change
	On   []string // names of the events it reacts to
	// Handle reacts to one event. It may be called again with the same event, at any
	// time and by several processes at once. An event whose last attempt returns
	// anything but commands.IsAway is parked.
	Handle func(context.Context, event.Recorded) error
}

// All is every reaction of the service. What is due at a time, rather than after an event, is done by Renewals.
func All(jobs *commands.Jobs, closing *commands.Closing, plans account.Plans, by Actor) []Reaction {
	return []Reaction{
		completeSubmission(jobs, by),
		refundCancelled(jobs, by),
		refundLost(jobs, by),
		publishOutcome(jobs, by),
		endClosed(closing, by),
		followSubscription(jobs, plans, by),
	}
}

// Actor is the process that reacts.
type Actor struct {
	Clock commands.Clock
	Build string // revision of this binary, for metadata
}

// intent is a reaction's command to an event: the same event leads to the same
// command, in any process and however often it runs.
func (a Actor) intent(reaction string, r event.Recorded) commands.Intent {
	correlation := r.Metadata.Correlation
	if correlation == "" {
		correlation = r.ID
	}
	return commands.Intent{
		ID: uuid.NewSHA1(uuid.NameSpaceOID, []byte("reaction\x00"+reaction+"\x00"+r.ID)),
		At: a.Clock.Now(), Account: r.Metadata.Account, Actor: "reaction:" + reaction, Requester: cmp.Or(r.Metadata.Requester, r.Metadata.Actor),
		Source: r.Metadata.Source, Agent: r.Metadata.Agent, Traceparent: r.Metadata.Traceparent, Build: a.Build,
		Correlation: correlation, Causation: r.ID,
	}
}

// Topics maps the reaction's name to the names of its events, for a subscriber.
func (r Reaction) Topics() map[string][]string { return map[string][]string{r.Name: r.On} }

// handlerOf returns the name of an event type and a handler that calls f with its events.
func handlerOf[E event.Event](f func(context.Context, E, event.Recorded) error) (name string, handle func(context.Context, event.Recorded) error) {
	var zero E
	return zero.EventName(), func(ctx context.Context, r event.Recorded) error {
		e, ok := r.Event.(E)
		if !ok {
			return fmt.Errorf("event %s is a %T", zero.EventName(), r.Event)
		}
		return f(ctx, e, r)
	}
}

// Retry has the reaction of this name handle a parked event once more, as an
// operator asks, and returns the reaction's error. When it is nil the caller
// removes the event from the parked ones.
func Retry(ctx context.Context, list []Reaction, name string, r event.Recorded) error {
	for _, reaction := range list {
		if reaction.Name == name {
			return reaction.Handle(ctx, r)
		}
	}
	return fmt.Errorf("no reaction %q", name)
}

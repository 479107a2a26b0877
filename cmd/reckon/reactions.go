package main

import (
	"context"

	"reckon/commands/reactions"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/internal/lifecycle"
	"reckon/projections"
)

// reactionPart is the name of a reaction's part.
func reactionPart(name string) string { return "reaction " + name }

// reactions are the parts that react, one for each reaction, and the one that reacts to the time.
func (s *service) reactions() []lifecycle.Part {
	var parts []lifecycle.Part
	closing := newClosing(s.writeSide.jobs, s.readSide.models, s.readSide.projector, s.stores.identity, s.stores.states)
	for _, r := range reactions.All(s.writeSide.jobs, closing, s.plans, reactions.Actor{Clock: systemClock{}, Build: buildRevision()}) {
		parts = append(parts, lifecycle.Part{Name: reactionPart(r.Name), Run: func(ctx context.Context) error {
			checkpoints := s.readSide.reactionState.CheckpointsOf(s.readSide.projector.LogID())
			if dropped, err := checkpoints.DropBeyond(ctx, r.Name, s.log.store.Head); err != nil {
				return err
			} else if dropped != (event.Position{}) {
				s.logger.Error("a reaction's checkpoint was beyond the log's end, as of a copy of this log: it starts from the first event again", "reaction", r.Name, "position", dropped.Commit)
			}
			return reactions.Run(ctx, reactions.Deps{
				Reaction: r, Clock: systemClock{}, Logger: s.logger, Tracer: s.tracer, Parking: parking{s.readSide.reactionState},
				Messages: &eventstore.Subscriber{Log: s.log.store, Topics: r.Topics(), Checkpoints: checkpoints, Logger: s.logger},
			})
		}})
	}
	renewals := reactions.Renewals{
		Store: s.log.store, Plans: s.plans, Due: s.readSide.models.Subscriptions, Clock: systemClock{}, Logger: s.logger, Build: buildRevision(),
	}
	return append(parts, lifecycle.Part{Name: "renewals of subscriptions", Run: renewals.Run})
}

// parking stores the parked events of reactions in the database of read models.
type parking struct{ state *projections.ReactionState }

// Park is reactions.Parking.
func (p parking) Park(ctx context.Context, e reactions.Parked) error {
	return p.state.Park(ctx, projections.ParkedReaction{
		Reaction: e.Reaction, EventID: e.EventID, Stream: e.Stream, Revision: int64(e.Revision), EventName: e.EventName,
		Reason: projections.Text(e.Reason), ParkedAt: e.ParkedAt,
	})
}

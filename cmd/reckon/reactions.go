package main

import (
	"context"

	"reckon/commands/reactions"
	"reckon/eventstore"
	"reckon/internal/lifecycle"
	"reckon/projections"
)

// reactions runs the reactions, one after another in each stream.
func (s *service) reactions() lifecycle.Part {
	list := reactions.All(s.writeSide.jobs, reactions.Actor{Clock: systemClock{}, Build: buildRevision()})
	return lifecycle.Part{Name: "reactions", Run: func(ctx context.Context) error {
		return reactions.Run(ctx, reactions.Deps{
			List: list, Clock: systemClock{}, Logger: s.logger, Parking: parking{s.readSide.reactionState},
			Messages: &eventstore.Subscriber{
				Log: s.log.store, Topics: reactions.Topics(list), Checkpoints: s.readSide.reactionState.CheckpointsOf(s.readSide.projector.LogID()), Logger: s.logger,
			},
		})
	}}
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

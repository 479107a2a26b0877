package main

import (
	"context"
	"fmt"
	"net/url"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain/transparency"
	"reckon/internal/lifecycle"
	"reckon/internal/telemetry"
	"reckon/internal/witness"
	"reckon/readapi"
)

// transparencyPart is the part that signs checkpoints.
const transparencyPart = "transparency log"

// makeTransparency adds the part that signs checkpoints, in a process that holds the keys.
func (s *service) makeTransparency(ctx context.Context) error {
	origin, err := s.origin(ctx)
	if err != nil {
		return err
	}
	s.served = readapi.Transparency{Origin: origin, Interval: s.config.CheckpointInterval, Quorum: s.config.WitnessQuorum}
	s.metrics.Collect("transparency", []string{"reckon_transparency_leaves", "reckon_transparency_leaves_served"}, s.collectTransparency)
	for _, peer := range s.witnesses {
		s.served.Witnesses = append(s.served.Witnesses, peer.Key.String())
	}
	if s.writeSide.signing == nil {
		return nil
	}
	checkpoints := &reactions.Checkpoints{
		Commands: &commands.Checkpoints{Log: s.log.store, Origin: origin, Signer: s.writeSide.signing.Signer, Memory: s.writeSide.signing.ring.SignedTree()},
		Interval: s.config.CheckpointInterval, Clock: systemClock{}, Logger: s.logger, Build: buildRevision(),
	}
	if len(s.witnesses) > 0 {
		client := witness.NewClient(s.witnesses, s.readSide.models.Transparency.ProveGrowth)
		checkpoints.Witnesses, checkpoints.Commands.Heeds = client, client.Names()
	}
	s.checkpointTrouble = checkpoints.Trouble
	s.life.Add(lifecycle.Part{Name: transparencyPart, Run: checkpoints.Run})
	s.metrics.Collect("signing of checkpoints", []string{"reckon_transparency_failing", "reckon_transparency_behind", "reckon_transparency_conflict"}, func(_ context.Context, add telemetry.Add) error {
		add("reckon_transparency_failing", oneIf(checkpoints.Trouble() != ""))
		add("reckon_transparency_behind", oneIf(checkpoints.Behind()))
		add("reckon_transparency_conflict", oneIf(checkpoints.Conflicted()))
		return nil
	})
	return nil
}

// origin is the name of the transparency log until its first checkpoint fixes it.
func (s *service) origin(ctx context.Context) (string, error) {
	if named := s.config.TransparencyOrigin; named != "" {
		return named, transparency.CheckOrigin(named)
	}
	if public, err := url.Parse(s.config.PublicURL); err == nil && public.Host != "" {
		return public.Host + readapi.TilesPath, nil
	}
	named, err := awaiting(ctx, s.process, "the event log", s.log.store.Identity)
	if err != nil {
		return "", fmt.Errorf("name of the transparency log: %w", err)
	}
	return "reckon-log/" + named.Origin, nil
}

// collectTransparency adds how many leaves there are, and how many a checkpoint that is served covers.
func (s *service) collectTransparency(ctx context.Context, add telemetry.Add) error {
	size, err := s.readSide.models.Transparency.Size(ctx)
	if err != nil {
		return err
	}
	checkpoint, err := s.readSide.models.Transparency.Checkpoint(ctx, s.config.WitnessQuorum)
	if err != nil {
		return err
	}
	served := int64(0)
	if checkpoint != nil {
		served = checkpoint.Size
	}
	add("reckon_transparency_leaves", float64(size))
	add("reckon_transparency_leaves_served", float64(served))
	return nil
}

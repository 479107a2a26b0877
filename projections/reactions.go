package projections

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/projections/engine"
)

// ReactionState stores the checkpoints of reactions and the events they have parked. These
// tables are not rebuilt from the log. When they are lost, reactions start from the first
// event again, which is harmless: reactions are idempotent.
type ReactionState struct{ db *bun.DB }

type reactionCheckpoint struct {
	bun.BaseModel `bun:"table:reaction_state"`

	Name     string `bun:"name,pk"`
	LogID    string `bun:"log_id,pk"`
	Position int64  `bun:"position,notnull"`
	Prepare  int64  `bun:"prepare,notnull"`
}

// ParkedReaction is an event that a reaction has parked.
type ParkedReaction struct {
	bun.BaseModel `bun:"table:reaction_parked" json:"-"`

	Reaction  string    `bun:"reaction,pk" json:"reaction"`
	EventID   string    `bun:"event_id,pk" json:"event_id"`
	Stream    string    `bun:"stream,notnull" json:"stream"`
	Revision  int64     `bun:"revision,notnull" json:"revision"`
	EventName string    `bun:"event_name,notnull" json:"event"`
	Reason    Text      `bun:"reason,type:text,notnull" json:"reason"`
	ParkedAt  time.Time `bun:"parked_at,notnull" json:"parked_at"`
}

// NewReactionState creates the tables if they are missing.
func NewReactionState(ctx context.Context, db *bun.DB) (*ReactionState, error) {
	err := engine.CreateTables(ctx, db, func(ctx context.Context, tx bun.Tx) error {
		for _, model := range []any{(*reactionCheckpoint)(nil), (*ParkedReaction)(nil)} {
			if _, err := tx.NewCreateTable().Model(model).IfNotExists().Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return &ReactionState{db: db}, err
}

// CheckpointsOf is the checkpoints of one log: those of another say nothing about it.
func (s *ReactionState) CheckpointsOf(logID string) *ReactionCheckpoints {
	return &ReactionCheckpoints{db: s.db, logID: logID}
}

// DropFormer removes the checkpoints of this log under names that it had before it was migrated. Reactions handle all of its events once
// more, which changes nothing.
func (s *ReactionState) DropFormer(ctx context.Context, former []string) error {
	if len(former) == 0 {
		return nil
	}
	_, err := s.db.NewDelete().Model((*reactionCheckpoint)(nil)).Where("log_id IN (?)", bun.List(former)).Exec(ctx)
	return err
}

// ReactionCheckpoints stores, per reaction, the position in one log up to which every event is handled.
type ReactionCheckpoints struct {
	db    *bun.DB
	logID string
}

// Load returns the checkpoint of a reaction, the zero position when it has none.
func (c *ReactionCheckpoints) Load(ctx context.Context, name string) (event.Position, error) {
	row := reactionCheckpoint{Name: name, LogID: c.logID}
	err := c.db.NewSelect().Model(&row).WherePK().Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return event.Position{}, nil
	}
	return event.Position{Commit: uint64(row.Position), Prepare: uint64(row.Prepare)}, err
}

// Save stores a checkpoint. A position before the stored one changes nothing.
func (c *ReactionCheckpoints) Save(ctx context.Context, name string, p event.Position) error {
	row := reactionCheckpoint{Name: name, LogID: c.logID, Position: int64(p.Commit), Prepare: int64(p.Prepare)}
	_, err := c.db.NewInsert().Model(&row).On("CONFLICT (name, log_id) DO UPDATE").
		Where("reaction_checkpoint.position < EXCLUDED.position").Exec(ctx)
	return err
}

// DropBeyond removes the checkpoint of a reaction that is beyond the log's end, which head returns, so that the reaction
// starts from the first event again: the log's own events up to there were not handled. It returns the position removed, or zero.
func (c *ReactionCheckpoints) DropBeyond(ctx context.Context, name string, head func(context.Context) (event.Position, error)) (event.Position, error) {
	stored, err := c.Load(ctx, name)
	if err != nil {
		return event.Position{}, err
	}
	end, err := head(ctx) // after the checkpoint, which moves only to what the log holds
	if err != nil || !end.Less(stored) {
		return event.Position{}, err
	}
	_, err = c.db.NewDelete().Model((*reactionCheckpoint)(nil)).
		Where("name = ? AND log_id = ? AND position = ? AND prepare = ?", name, c.logID, int64(stored.Commit), int64(stored.Prepare)).Exec(ctx)
	return stored, err
}

// Park stores an event that a reaction has parked. It is idempotent.
func (s *ReactionState) Park(ctx context.Context, p ParkedReaction) error {
	_, err := s.db.NewInsert().Model(&p).On("CONFLICT DO NOTHING").Exec(ctx)
	return err
}

// Parked lists the parked events of all reactions, in the order in which they were parked.
func (s *ReactionState) Parked(ctx context.Context) ([]ParkedReaction, error) {
	var rows []ParkedReaction
	err := s.db.NewSelect().Model(&rows).Order("parked_at", "reaction", "event_id").Scan(ctx)
	return rows, err
}

// CountParked is how many events each reaction has parked; a reaction that has none is left out.
func (s *ReactionState) CountParked(ctx context.Context) (map[string]int64, error) {
	var rows []struct {
		Reaction string
		Parked   int64
	}
	err := s.db.NewSelect().Model((*ParkedReaction)(nil)).Column("reaction").ColumnExpr("count(*) AS parked").Group("reaction").Scan(ctx, &rows)
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[row.Reaction] = row.Parked
	}
	return counts, err
}

// Unpark removes an event that a reaction had parked.
func (s *ReactionState) Unpark(ctx context.Context, reaction, eventID string) error {
	_, err := s.db.NewDelete().Model((*ParkedReaction)(nil)).Where("reaction = ? AND event_id = ?", reaction, eventID).Exec(ctx)
	return err
}

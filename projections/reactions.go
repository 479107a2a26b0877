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

// ReactionState keeps how far each reaction has got and what it set aside. These
// tables are not rebuilt from the log: without them a reaction starts from the
// first event, which repeats and loses nothing.
type ReactionState struct{ db *bun.DB }

type reactionCheckpoint struct {
	bun.BaseModel `bun:"table:reaction_state"`

	Name     string `bun:"name,pk"`
	LogID    string `bun:"log_id,pk"`
	Position int64  `bun:"position,notnull"`
	Prepare  int64  `bun:"prepare,notnull"`
}

// ParkedReaction is an event a reaction gave up on.
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

// NewReactionState makes the tables where they are missing.
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

// ReactionCheckpoints keeps how far each reaction has got in one log.
type ReactionCheckpoints struct {
	db    *bun.DB
	logID string
}

// Load is the zero position for a reaction that has not run yet.
func (c *ReactionCheckpoints) Load(ctx context.Context, name string) (event.Position, error) {
	row := reactionCheckpoint{Name: name, LogID: c.logID}
	err := c.db.NewSelect().Model(&row).WherePK().Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return event.Position{}, nil
	}
	return event.Position{Commit: uint64(row.Position), Prepare: uint64(row.Prepare)}, err
}

// Save never moves a checkpoint back, whichever process comes last.
func (c *ReactionCheckpoints) Save(ctx context.Context, name string, p event.Position) error {
	row := reactionCheckpoint{Name: name, LogID: c.logID, Position: int64(p.Commit), Prepare: int64(p.Prepare)}
	_, err := c.db.NewInsert().Model(&row).On("CONFLICT (name, log_id) DO UPDATE").
		Where("reaction_checkpoint.position < EXCLUDED.position").Exec(ctx)
	return err
}

// Park keeps an event a reaction gave up on, once.
func (s *ReactionState) Park(ctx context.Context, p ParkedReaction) error {
	_, err := s.db.NewInsert().Model(&p).On("CONFLICT DO NOTHING").Exec(ctx)
	return err
}

// Parked lists what reactions gave up on, oldest first.
func (s *ReactionState) Parked(ctx context.Context) ([]ParkedReaction, error) {
	var rows []ParkedReaction
	err := s.db.NewSelect().Model(&rows).Order("parked_at", "reaction", "event_id").Scan(ctx)
	return rows, err
}

// Unpark forgets an event that was set aside.
func (s *ReactionState) Unpark(ctx context.Context, reaction, eventID string) error {
	_, err := s.db.NewDelete().Model((*ParkedReaction)(nil)).Where("reaction = ? AND event_id = ?", reaction, eventID).Exec(ctx)
	return err
}

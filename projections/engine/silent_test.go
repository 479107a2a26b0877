package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"reckon/domain/event"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
	"reckon/test/wait"
)

// lateLog is a log that calls first before it is read.
type lateLog struct {
	engine.Log
	first func()
}

func (l lateLog) SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	l.first()
	return l.Log.SubscribeAll(ctx, after, only...)
}

// TestASilentWriterIsSucceeded: a process that is cut off, or frozen, in the middle of a transaction in which it writes a projection does not keep
// another from it, wherever in the transaction that is.
func TestASilentWriterIsSucceeded(t *testing.T) {
	t.Parallel()
	for what, sent := range map[string]string{"a transaction has begun": "begin", "the checkpoint is moved": `UPDATE "projection_state"`, "rows are copied": "copy ", "it is to be committed": "commit"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			database := pgtest.Database(t)
			way, through := pgtest.Behind(t, database)
			f := newFixture(t, projectiontest.Open(t, projections.Open, database))
			var head event.Position
			for i := range 10 {
				head = f.append("s", added{fmt.Sprint(i), strings.Repeat("v", 100_000)})
			}
			cutOff := newFixture(t, projectiontest.Open(t, projections.Open, through))
			cutOff.log = lateLog{f.store, func() { way.LoseOn(sent) }}
			cutOff.start(shelf(&f.bad, engine.Halt))
			wait.Until(t, what, func() bool { return way.Lost() > 0 })
			other, _ := f.start(shelf(&f.bad, engine.Halt))
			f.reach(other, head)
		})
	}
}

package proof

import (
	"context"
	"io"
	"runtime/debug"
	"time"

	"reckon/domain/lean/check"
	"reckon/domain/lean/term"
)

const (
	// programBytes is what the pages of the program take that the Go runtime does not count.
	programBytes = 64 << 20
	// leastRoom is the room there is however small the bound.
	leastRoom = 16 << 20
	// look is how often the memory is looked at beside the looks before large growths.
	look = 10 * time.Millisecond
)

// Within runs judge, which is check.Run or check.Inspect, in a process whose resident memory is to stay below mostBytes, the pages of
// the program included. Tables grow only while there is room for them; a sixteenth is kept for what grows otherwise. When
// that is not enough either, Within returns an inconclusive report at once, and judge may still be running: the process
// is to answer and to end.
func Within(ctx context.Context, mostBytes int64, r io.Reader, opts check.Options,
	judge func(context.Context, io.Reader, check.Options) (*check.Report, error)) (*check.Report, error) {
	most := max(mostBytes-programBytes, leastRoom)
	roomBytes := most - most/16
	debug.SetMemoryLimit(roomBytes)
	room := term.NewRoom(roomBytes, mostBytes)
	opts.Limits.Room, opts.Kernel.Room = room, room
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type outcome struct {
		report *check.Report
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		report, err := judge(ctx, r, opts)
		done <- outcome{report, err}
	}()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case o := <-done:
			return o.report, o.err
		case <-ticker.C:
			if term.Held() > uint64(most-most/32) {
				out := term.OutOfMemory{Limit: uint64(mostBytes)}
				cancel(out)
				return check.Unfinished(out.Error()), nil
			}
		}
	}
}

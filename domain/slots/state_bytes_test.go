package slots_test

import (
	"fmt"
	"runtime"
	"testing"

	"reckon/domain/job"
	"reckon/domain/slots"
)

// TestStateBytes: the estimate, by which a process bounds what it keeps, is of the size of the state.
func TestStateBytes(t *testing.T) {
	const n = 20_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	state := slots.Decider.Initial()
	for i := range n {
		state = slots.Decider.Evolve(state, slots.Spent{SlotID: fmt.Sprintf("%036d", i), Submission: job.Submission{JobID: fmt.Sprintf("%036d", -i)}})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	took, estimated := int(after.HeapAlloc)-int(before.HeapAlloc), slots.Decider.StateBytes(state)
	t.Logf("%d slots take %d bytes, estimated %d", n, took, estimated)
	if took > estimated || took < estimated/2 {
		t.Errorf("%d slots take %d bytes, estimated %d", n, took, estimated)
	}
	runtime.KeepAlive(state)
}

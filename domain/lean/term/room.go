package term

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Room is the memory the process may hold, shared by all that grows large while an export is read and checked. What is
// held is measured, not counted: before a table grows, the memory of the whole process is looked at, with what the
// garbage collector has not given back yet, and the growth is refused when both together are more than the limit. A nil
// Room has no limit.
type Room struct {
	limit, reportedLimit uint64
	mu                   sync.Mutex // held while memory is looked at and taken
}

// NewRoom returns room for a process whose Go runtime holds at most that many bytes. The pages of the program itself are
// not among them. Who runs out is told of the bound named.
func NewRoom(bytes, named int64) *Room {
	return &Room{limit: uint64(max(0, bytes)), reportedLimit: uint64(named)}
}

// OutOfMemory is what growing panics with when there is no room.
type OutOfMemory struct{ Limit uint64 } // in bytes

func (o OutOfMemory) Error() string {
	return fmt.Sprintf("the check needs more than the %d MiB of memory it may use", o.Limit>>20)
}

// unmeasuredBytes is how large a growth is made without a look at the memory.
const unmeasuredBytes = 256 << 10

// Held is the memory the Go runtime holds now, in bytes.
func Held() uint64 {
	sample := [...]metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}

// Require panics with OutOfMemory when so many more bytes are not to be had.
func (r *Room) Require(bytes int) {
	if r == nil || bytes < unmeasuredBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.need(bytes)
}

func (r *Room) need(bytes int) {
	if Held()+uint64(bytes) <= r.limit {
		return
	}
	debug.FreeOSMemory() // what was outgrown is garbage that is still held
	if Held()+uint64(bytes) > r.limit {
		panic(OutOfMemory{r.reportedLimit})
	}
}

// Grow returns a slice of the given length and capacity that begins as old does.
func Grow[T any](r *Room, old []T, length, capacity int) []T {
	bytes := capacity * int(reflect.TypeFor[T]().Size())
	if r == nil || bytes < unmeasuredBytes {
		grown := make([]T, length, capacity)
		copy(grown, old)
		return grown
	}
	r.mu.Lock()
	defer r.mu.Unlock() // others look only when this memory shows
	r.need(bytes)
	grown := make([]T, length, capacity)
	copy(grown, old)
	return grown
}

// Append is append, growing by a quarter within the room.
func Append[T any](r *Room, s []T, v T) []T {
	if len(s) == cap(s) {
		s = Grow(r, s, len(s), len(s)+len(s)/4+1024)
	}
	return append(s, v)
}

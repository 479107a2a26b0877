package term

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Room bounds the memory of the process. All tables that grow while an export is read and checked share one. Before a
// table grows, Room measures the memory that the Go runtime holds, pages the garbage collector has not returned yet
// included, and panics with OutOfMemory when that and the growth exceed the limit. A nil *Room has no limit. It is safe
// for concurrent use.
type Room struct {
	limit, reportedLimit uint64
	mu                   sync.Mutex // held from measuring memory until the growth is allocated
}

// NewRoom returns a Room that limits the memory of the Go runtime to the given number of bytes; the program's own pages do
// not count. OutOfMemory reports the limit as named bytes, the bound that the user set.
func NewRoom(bytes, named int64) *Room {
	return &Room{limit: uint64(max(0, bytes)), reportedLimit: uint64(named)}
}

// OutOfMemory is the panic of Room.Require, Grow and Append when the limit would be exceeded.
type OutOfMemory struct{ Limit uint64 } // in bytes

func (o OutOfMemory) Error() string {
	return fmt.Sprintf("the check needs more than the %d MiB of memory it may use", o.Limit>>20)
}

// unmeasuredBytes is the size below which a growth is made without measuring the memory of the process.
const unmeasuredBytes = 256 << 10

// Held is the memory the Go runtime holds now, in bytes.
func Held() uint64 {
	sample := [...]metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}

// Require panics with OutOfMemory when the process cannot hold that many more bytes. It reserves nothing. Below 256 KiB
// it does not measure.
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
	debug.FreeOSMemory() // tables that were outgrown are garbage the runtime still holds
	if Held()+uint64(bytes) > r.limit {
		panic(OutOfMemory{r.reportedLimit})
	}
}

// Grow returns a slice of the given length and capacity whose first elements are copied from old. It panics with
// OutOfMemory when r has no room for it.
func Grow[T any](r *Room, old []T, length, capacity int) []T {
	bytes := capacity * int(reflect.TypeFor[T]().Size())
	if r == nil || bytes < unmeasuredBytes {
		grown := make([]T, length, capacity)
		copy(grown, old)
		return grown
	}
	r.mu.Lock()
	defer r.mu.Unlock() // after the allocation, so that the next measurement counts it
	r.need(bytes)
	grown := make([]T, length, capacity)
	copy(grown, old)
	return grown
}

// Append appends v to s and returns the result. A full slice grows by a quarter and 1,024 elements; Append panics with
// OutOfMemory when r has no room for that.
func Append[T any](r *Room, s []T, v T) []T {
	if len(s) == cap(s) {
		s = Grow(r, s, len(s), len(s)+len(s)/4+1024)
	}
	return append(s, v)
}

package circuit

import (
	"fmt"
	"unsafe"
)

// arena allocates the planes of one run and gives them all back at its end.
type arena struct {
	allocate func(bytes int) (memory []byte, free func(), err error) // nil: the heap
	frees    []func()
}

// arenaBytes is the size from which a plane is worth a mapping of its own.
const arenaBytes = 1 << 20

// plane returns zeroed components. Planes must not be used after release.
func plane[F float](a *arena, length int) ([]F, error) {
	bytes := length * int(unsafe.Sizeof(F(0)))
	if a.allocate == nil || bytes < arenaBytes {
		return make([]F, length), nil
	}
	memory, free, err := a.allocate(bytes)
	if err != nil {
		return nil, fmt.Errorf("allocating %d bytes for a state vector: %w", bytes, err)
	}
	a.frees = append(a.frees, free)
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(memory))), length), nil
}

func (a *arena) release() {
	for _, free := range a.frees {
		free()
	}
	a.frees = nil
}

// newPlanes allocates a state whose amplitudes are all 0.
func newPlanes[F float](a *arena, bits int) (state[F], error) {
	re, err := plane[F](a, 1<<bits)
	if err != nil {
		return state[F]{}, err
	}
	im, err := plane[F](a, 1<<bits)
	return state[F]{re: re, im: im}, err
}

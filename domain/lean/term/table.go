package term

// table is an open-addressing index from a hash to handles of nodes kept elsewhere. Slots hold handle+1; 0 is empty.
// The newest handles can be taken out again in reverse order of insertion: with linear probing, no entry's probe
// path crosses a later entry, so emptying the slot restores the state before the insertion.
type table struct {
	slots []uint32
	mask  uint32
	used  int
}

func newTable(r *Room, capacity int) table {
	size := 64
	for size < capacity*2 {
		size *= 2
	}
	return table{slots: Grow[uint32](r, nil, size, size), mask: uint32(size - 1)}
}

func (t *table) clone(r *Room) table {
	return table{slots: Grow(r, t.slots, len(t.slots), len(t.slots)), mask: t.mask, used: t.used}
}

// full says that the next insertion needs a larger table (load factor 1/2).
func (t *table) full() bool { return t.used*2 >= len(t.slots) }

// put places handle at the first free slot of hash's probe path; the caller knows it is absent.
func (t *table) put(hash uint32, handle uint32) {
	i := hash & t.mask
	for t.slots[i] != 0 {
		i = (i + 1) & t.mask
	}
	t.slots[i] = handle + 1
	t.used++
}

// remove takes out a handle that is the newest still present.
func (t *table) remove(hash uint32, handle uint32) {
	i := hash & t.mask
	for t.slots[i] != handle+1 {
		i = (i + 1) & t.mask
	}
	t.slots[i] = 0
	t.used--
}

// mix hashes four words; multiplication by odd constants and folding the high half down spreads small handles well.
func mix(a, b, c, d uint32) uint32 {
	h := (uint64(a)|uint64(b)<<32)*0x9E3779B97F4A7C15 ^ (uint64(c)|uint64(d)<<32)*0xC2B2AE3D27D4EB4F
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

package audit

import "hash/maphash"

// table is a map of very many small keys to values. Where neither has pointers it takes little more room than they do, half of what a map of
// the language takes, and nothing to collect. Entries stay, and so do the places of their values.
type table[K comparable, V any] struct {
	seed   maphash.Seed
	shards [tableShards]shard[K, V]
}

const (
	tableShards  = 16 // they grow one by one, and each holds up to 2^32 entries
	tablePage    = 256
	smallestSize = 16 // of slots of a shard
)

type shard[K comparable, V any] struct {
	entries int
	pages   [][]entry[K, V] // each but the last is full
	slots   []uint32        // entries by their hashes, from 1; 0: none. At most three quarters are taken
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newTable[K comparable, V any]() *table[K, V] { return &table[K, V]{seed: maphash.MakeSeed()} }

// at is the value of a key, nil where it has none.
func (t *table[K, V]) at(key K) *V {
	hash := maphash.Comparable(t.seed, key)
	return t.shards[hash%tableShards].at(key, hash)
}

// add gives a key that has none a value.
func (t *table[K, V]) add(key K, value V) {
	hash := maphash.Comparable(t.seed, key)
	s := &t.shards[hash%tableShards]
	if 4*(s.entries+1) > 3*len(s.slots) {
		s.grow(t.seed)
	}
	if s.entries%tablePage == 0 {
		s.pages = append(s.pages, make([]entry[K, V], 0, tablePage))
	}
	last := &s.pages[len(s.pages)-1]
	*last = append(*last, entry[K, V]{key, value})
	s.entries++
	s.place(hash, uint32(s.entries)) //nolint:gosec // of 2^32 entries in a shard a machine has no room
}

// first is the slot where a search for a hash begins.
func (s *shard[K, V]) first(hash uint64) int {
	return int((hash >> 32) * uint64(len(s.slots)) >> 32) //nolint:gosec // below len
}

func (s *shard[K, V]) at(key K, hash uint64) *V {
	if len(s.slots) == 0 {
		return nil
	}
	for i := s.first(hash); s.slots[i] > 0; i = (i + 1) % len(s.slots) {
		n := int(s.slots[i]) - 1
		if e := &s.pages[n/tablePage][n%tablePage]; e.key == key {
			return &e.value
		}
	}
	return nil
}

func (s *shard[K, V]) place(hash uint64, entry uint32) {
	i := s.first(hash)
	for s.slots[i] > 0 {
		i = (i + 1) % len(s.slots)
	}
	s.slots[i] = entry
}

func (s *shard[K, V]) grow(seed maphash.Seed) {
	s.slots = make([]uint32, max(smallestSize, len(s.slots)*3/2))
	for n := range s.entries {
		s.place(maphash.Comparable(seed, s.pages[n/tablePage][n%tablePage].key), uint32(n+1)) //nolint:gosec // as in add
	}
}

package decider

import (
	"iter"
	"math/bits"
	"slices"
)

// Map is a map with string keys that never changes: With and Without return another Map and share with it all but the
// path to the key. A state holds a Map where it would hold a Go map, so that a state that someone keeps stays as it is,
// whatever is folded onto it and by however many goroutines. The zero Map is empty.
//
// It is a hash array mapped trie (Bagwell, "Ideal Hash Trees", 2001) of 32 ways. Every operation takes time and memory
// that grow with the logarithm to the base 32 of the number of keys.
type Map[V any] struct {
	root *branch[V]
	n    int
}

const (
	bitsALevel = 5
	hashBits   = 64
)

// branch is one level of the trie. Below the last level, where hashes are used up, ways is an unordered list of leaves.
type branch[V any] struct {
	present uint32   // which of the 32 ways exist
	ways    []way[V] // of those, in their order
}

// way leads to a key or to the next level: one of the two is set.
type way[V any] struct {
	leaf *leaf[V]
	next *branch[V]
}

type leaf[V any] struct {
	key   string
	value V
}

// Len is the number of keys.
func (m Map[V]) Len() int { return m.n }

// Get returns the value of a key; false if there is none.
func (m Map[V]) Get(key string) (value V, found bool) {
	hash := hashOf(key)
	for b, shift := m.root, 0; b != nil; shift += bitsALevel {
		i, exists := b.find(key, hash, shift)
		if !exists {
			return value, false
		}
		if l := b.ways[i].leaf; l != nil {
			if l.key != key {
				return value, false
			}
			return l.value, true
		}
		b = b.ways[i].next
	}
	return value, false
}

// Has tells whether a key has a value.
func (m Map[V]) Has(key string) bool {
	_, has := m.Get(key)
	return has
}

// All yields every key and its value. The order depends on the keys alone, and not on when they came.
func (m Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { m.root.all(yield) }
}

// With returns a map in which key has this value.
func (m Map[V]) With(key string, value V) Map[V] {
	root := m.root
	if root == nil {
		root = &branch[V]{}
	}
	grown, added := root.with(hashOf(key), 0, &leaf[V]{key, value})
	if added {
		m.n++
	}
	m.root = grown
	return m
}

// Without returns a map without this key.
func (m Map[V]) Without(key string) Map[V] {
	if !m.Has(key) {
		return m
	}
	m.n--
	m.root = m.root.without(key, hashOf(key), 0).next
	return m
}

// find returns where in ways the key's way is; if there is none, where it would be.
func (b *branch[V]) find(key string, hash uint64, shift int) (i int, exists bool) {
	if shift >= hashBits {
		i = slices.IndexFunc(b.ways, func(w way[V]) bool { return w.leaf.key == key })
		if i < 0 {
			return len(b.ways), false
		}
		return i, true
	}
	bit := bitOf(hash, shift)
	return bits.OnesCount32(b.present & (bit - 1)), b.present&bit != 0
}

func bitOf(hash uint64, shift int) uint32 { return 1 << (hash >> shift & (1<<bitsALevel - 1)) }

func (b *branch[V]) with(hash uint64, shift int, l *leaf[V]) (grown *branch[V], added bool) {
	i, exists := b.find(l.key, hash, shift)
	if !exists {
		ways := make([]way[V], len(b.ways)+1)
		copy(ways, b.ways[:i])
		ways[i] = way[V]{leaf: l}
		copy(ways[i+1:], b.ways[i:])
		grown = &branch[V]{present: b.present, ways: ways}
		if shift < hashBits {
			grown.present |= bitOf(hash, shift)
		}
		return grown, true
	}
	there := b.ways[i]
	switch {
	case there.leaf != nil && there.leaf.key == l.key:
		there.leaf = l
	case there.leaf != nil:
		pair, _ := (&branch[V]{}).with(hashOf(there.leaf.key), shift+bitsALevel, there.leaf)
		pair, added = pair.with(hash, shift+bitsALevel, l)
		there = way[V]{next: pair}
	default:
		there.next, added = there.next.with(hash, shift+bitsALevel, l)
	}
	return b.replaced(i, there), added
}

// without returns the branch without a key that it has: the branch itself as a way, or its
// only leaf, which then takes the branch's place; the zero way for a branch that is empty.
func (b *branch[V]) without(key string, hash uint64, shift int) way[V] {
	i, _ := b.find(key, hash, shift)
	left := way[V]{}
	if b.ways[i].next != nil {
		left = b.ways[i].next.without(key, hash, shift+bitsALevel)
	}
	switch {
	case left != way[V]{}:
		b = b.replaced(i, left)
	case len(b.ways) == 1:
		return way[V]{}
	default:
		shrunk := &branch[V]{present: b.present, ways: slices.Concat(b.ways[:i], b.ways[i+1:])}
		if shift < hashBits {
			shrunk.present &^= bitOf(hash, shift)
		}
		b = shrunk
	}
	if shift > 0 && len(b.ways) == 1 && b.ways[0].leaf != nil {
		return b.ways[0]
	}
	return way[V]{next: b}
}

func (b *branch[V]) replaced(i int, w way[V]) *branch[V] {
	ways := slices.Clone(b.ways)
	ways[i] = w
	return &branch[V]{present: b.present, ways: ways}
}

func (b *branch[V]) all(yield func(string, V) bool) bool {
	if b == nil {
		return true
	}
	for _, w := range b.ways {
		if w.leaf != nil && !yield(w.leaf.key, w.leaf.value) || w.next != nil && !w.next.all(yield) {
			return false
		}
	}
	return true
}

// hashOf is FNV-1a (RFC 9923) with a last mixing step, by which its low bits depend on all characters.
func hashOf(key string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(key) {
		hash = (hash ^ uint64(key[i])) * 1099511628211
	}
	return hash ^ hash>>32
}

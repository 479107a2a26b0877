package kernel

import "reckon/domain/lean/term"

// exprCache maps expressions to expressions for the duration of one declaration. It is a slice indexed by handle; reset
// empties it in constant time by raising the generation.
type exprCache struct {
	room       *term.Room
	off        bool // it stays empty
	entries    []cacheEntry
	generation uint32
}

type cacheEntry struct {
	generation uint32
	value      term.Expr
}

func (c *exprCache) get(e term.Expr) (term.Expr, bool) {
	if int(e) < len(c.entries) {
		if en := c.entries[e]; en.generation == c.generation {
			return en.value, true
		}
	}
	return 0, false
}

func (c *exprCache) set(e, value term.Expr) {
	if c.off {
		return
	}
	if int(e) >= len(c.entries) {
		length := int(e) + int(e)/2 + 1024
		c.entries = term.Grow(c.room, c.entries, length, length)
	}
	c.entries[e] = cacheEntry{c.generation, value}
}

func (c *exprCache) reset() {
	c.generation++
	if c.generation == 0 {
		clear(c.entries)
		c.generation = 1
	}
}

// pairSet is a set of ordered pairs of expressions for the duration of one declaration: open addressing with linear
// probing; reset empties it in constant time by raising the generation.
type pairSet struct {
	room       *term.Room
	off        bool // it stays empty
	slots      []pairSlot
	generation uint32
	count      int
}

type pairSlot struct {
	key        uint64
	generation uint32
}

// slot returns the slot that holds key, or the free slot where key is to be inserted.
func (s *pairSet) slot(key uint64) *pairSlot {
	mask := uint64(len(s.slots) - 1)
	for i := key * 0x9E3779B97F4A7C15 >> 32 & mask; ; i = (i + 1) & mask {
		if sl := &s.slots[i]; sl.generation != s.generation || sl.key == key {
			return sl
		}
	}
}

func (s *pairSet) contains(a, b term.Expr) bool {
	return s.count > 0 && s.slot(pairKey(a, b)).generation == s.generation
}

func (s *pairSet) add(a, b term.Expr) {
	if s.off {
		return
	}
	if 2*s.count >= len(s.slots) {
		s.grow()
	}
	key := pairKey(a, b)
	sl := s.slot(key)
	if sl.generation != s.generation {
		*sl = pairSlot{key, s.generation}
		s.count++
	}
}

func (s *pairSet) grow() {
	old := s.slots
	length := max(1024, 2*len(old))
	s.slots = term.Grow[pairSlot](s.room, nil, length, length)
	for _, sl := range old {
		if sl.generation == s.generation {
			*s.slot(sl.key) = sl
		}
	}
}

func (s *pairSet) reset() {
	s.count = 0
	s.generation++
	if s.generation == 0 {
		clear(s.slots)
		s.generation = 1
	}
}

// pairKey is one key for each ordered pair: that a = b was found says nothing of the question b = a, which may be
// answered otherwise.
func pairKey(a, b term.Expr) uint64 { return uint64(a)<<32 | uint64(b) }

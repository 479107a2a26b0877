package term

import (
	"encoding/binary"
	"hash/maphash"
	"math/big"
	"math/bits"
)

// Literals are interned by what they are made of: a number by its machine words, which are hashed and compared in time
// linear in their count. Any other key (digits in some base) takes more than linear time to find. A child shares its
// parent's literals without writing to them.

// wordBytes is the size of a word of a number; literalBytes about what entering a literal takes besides its contents.
const (
	wordBytes    = bits.UintSize / 8
	literalBytes = 96
)

// literalSeed is one for all stores: a child looks up in its parents what it hashed itself.
var literalSeed = maphash.MakeSeed()

// naturals are the numbers of a store.
type naturals struct {
	parent *naturals
	offset uint32
	small  map[uint64]uint32   // numbers of one word
	large  map[uint64][]uint32 // the others, by hash
	values []*big.Int
}

func newNaturals() naturals {
	return naturals{small: map[uint64]uint32{}, large: map[uint64][]uint32{}}
}

func (n *naturals) child() naturals {
	c := newNaturals()
	c.parent, c.offset = n, n.offset+uint32(len(n.values))
	return c
}

func (n *naturals) find(v *big.Int) (uint32, bool) {
	if v.IsUint64() {
		key := v.Uint64()
		for at := n; at != nil; at = at.parent {
			if i, ok := at.small[key]; ok {
				return i, true
			}
		}
		return 0, false
	}
	key := hashWords(v)
	for at := n; at != nil; at = at.parent {
		for _, i := range at.large[key] {
			if at.values[i-at.offset].Cmp(v) == 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// add enters a number that is not there.
func (n *naturals) add(v *big.Int) uint32 {
	i := n.offset + uint32(len(n.values))
	n.values = append(n.values, v)
	if v.IsUint64() {
		n.small[v.Uint64()] = i
	} else {
		key := hashWords(v)
		n.large[key] = append(n.large[key], i)
	}
	return i
}

// removeLast takes out number i if it is the newest, and says how many bytes it took.
func (n *naturals) removeLast(i uint32) (bytes int) {
	last := n.offset + uint32(len(n.values)) - 1
	if len(n.values) == 0 || i != last {
		return 0
	}
	v := n.values[len(n.values)-1]
	n.values[len(n.values)-1] = nil
	n.values = n.values[:len(n.values)-1]
	if v.IsUint64() {
		delete(n.small, v.Uint64())
	} else {
		key := hashWords(v)
		if same := n.large[key]; len(same) > 1 {
			n.large[key] = same[:len(same)-1]
		} else {
			delete(n.large, key)
		}
	}
	return literalBytes + len(v.Bits())*wordBytes
}

func (n *naturals) value(i uint32) *big.Int {
	for i < n.offset {
		n = n.parent
	}
	return n.values[i-n.offset]
}

func hashWords(v *big.Int) uint64 {
	var h maphash.Hash
	h.SetSeed(literalSeed)
	var buf [1024]byte
	used := 0
	for _, w := range v.Bits() {
		binary.LittleEndian.PutUint64(buf[used:], uint64(w))
		if used += 8; used == len(buf) {
			_, _ = h.Write(buf[:])
			used = 0
		}
	}
	_, _ = h.Write(buf[:used])
	return h.Sum64()
}

// texts are the strings of a store.
type texts struct {
	parent *texts
	offset uint32
	index  map[string]uint32
	values []string
}

func newTexts() texts { return texts{index: map[string]uint32{}} }

func (t *texts) child() texts {
	c := newTexts()
	c.parent, c.offset = t, t.offset+uint32(len(t.values))
	return c
}

func (t *texts) find(v string) (uint32, bool) {
	for at := t; at != nil; at = at.parent {
		if i, ok := at.index[v]; ok {
			return i, true
		}
	}
	return 0, false
}

// add enters a string that is not there.
func (t *texts) add(v string) uint32 {
	i := t.offset + uint32(len(t.values))
	t.values = append(t.values, v)
	t.index[v] = i
	return i
}

func (t *texts) value(i uint32) string {
	for i < t.offset {
		t = t.parent
	}
	return t.values[i-t.offset]
}

package engine

import (
	"context"
	"hash/maphash"

	"github.com/uptrace/bun"
)

// While a projection is built on PostgreSQL, most keys that a handler asks for are new, and each question is a round trip. keySet tells
// most of these without asking, and which rows can be written with COPY, which cannot replace a row.

const (
	// bitsPerKey and probes give 0.24 % of wrong answers "may be in it" (Bloom 1970, k = 4).
	bitsPerKey = 16
	probes     = 4
	// firstKeys is how many keys the first filter is for; each further one is for twice as many. maxFilterBytes bounds those of one
	// table, about 30 million keys: with more, every key may be in the table.
	firstKeys      = 1 << 16
	maxFilterBytes = 64 << 20
)

// keySet is a set of keys that has no key forgotten: a Bloom filter that grows.
type keySet[K comparable] struct {
	seed    maphash.Seed
	filters []keyFilter
	bytes   int
	full    bool
}

type keyFilter struct {
	bits []uint64 // its length is a power of two
	keys int
}

func newKeySet[K comparable]() *keySet[K] { return &keySet[K]{seed: maphash.MakeSeed()} }

func (s *keySet[K]) add(key K) {
	if s.full || s.has(key) {
		return
	}
	if n := len(s.filters); n == 0 || s.filters[n-1].keys == firstKeys<<(n-1) {
		words := firstKeys * bitsPerKey / 64 << n
		if s.bytes += 8 * words; s.bytes > maxFilterBytes {
			s.full, s.filters = true, nil
			return
		}
		s.filters = append(s.filters, keyFilter{bits: make([]uint64, words)})
	}
	f := &s.filters[len(s.filters)-1]
	f.keys++
	hash := maphash.Comparable(s.seed, key)
	for range probes {
		f.bits[hash>>6&uint64(len(f.bits)-1)] |= 1 << (hash & 63)
		hash = nextProbe(hash)
	}
}

// has is true for every key that was added, and for few others.
func (s *keySet[K]) has(key K) bool {
	if s.full {
		return true
	}
	first := maphash.Comparable(s.seed, key)
	for _, f := range s.filters {
		found, hash := true, first
		for range probes {
			if f.bits[hash>>6&uint64(len(f.bits)-1)]>>(hash&63)&1 == 0 {
				found = false
				break
			}
			hash = nextProbe(hash)
		}
		if found {
			return true
		}
	}
	return false
}

// nextProbe is the step of SplitMix64 (Steele, Lea, Flood 2014).
func nextProbe(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keysOf returns the keys of the table, read once for as long as rows are remembered; nil where none are.
func (t *Rows[K, R]) keysOf(ctx context.Context, tx *Tx) (*keySet[K], error) {
	r := t.recent(tx)
	if r == nil || r.keys != nil {
		return r.known(), nil
	}
	rows, err := tx.tx.NewSelect().Model((*R)(nil)).ColumnExpr("?", bun.Ident(t.column)).Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells what failed
	keys := newKeySet[K]()
	for rows.Next() {
		var key K
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys.add(key)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	r.keys = keys
	return keys, nil
}

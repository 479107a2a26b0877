package check

import (
	"slices"

	"reckon/domain/lean/term"
)

// axiomReach holds the axioms that each declaration of a file depends on, directly or not, through types, values,
// constructors and recursors. Equal sets of axioms are stored once.
type axiomReach struct {
	uses   *references
	unitOf map[term.Name]int // the declaration that introduces a name; the first one
	ofUnit []int             // set by declaration
	sets   [][]term.Name     // sets[0] is empty
	index  map[string]int
	unions map[[2]int]int
}

func newReach(store *term.Store, declarations []term.Declaration) *axiomReach {
	r := &axiomReach{uses: newReferences(store, declarations), unitOf: map[term.Name]int{}, ofUnit: make([]int, len(declarations)),
		sets: [][]term.Name{nil}, index: map[string]int{"": 0}, unions: map[[2]int]int{}}
	for unit := range declarations {
		d := &declarations[unit]
		set := 0
		if d.Kind == term.Axiom {
			set = r.intern([]term.Name{d.Name})
		}
		r.uses.visitNames(expressionsOf(d), func(n term.Name) {
			if used, earlier := r.unitOf[n]; earlier {
				set = r.union(set, r.ofUnit[used])
			}
		})
		r.ofUnit[unit] = set
		for _, n := range namesOf(d) {
			if _, ok := r.unitOf[n]; !ok {
				r.unitOf[n] = unit
			}
		}
	}
	return r
}

// axiomsOf returns the axioms a declared name reaches.
func (r *axiomReach) axiomsOf(n term.Name) []term.Name {
	unit, ok := r.unitOf[n]
	if !ok {
		return nil
	}
	return r.sets[r.ofUnit[unit]]
}

func (r *axiomReach) union(a, b int) int {
	switch {
	case a == b || b == 0:
		return a
	case a == 0:
		return b
	}
	key := [2]int{min(a, b), max(a, b)}
	if u, ok := r.unions[key]; ok {
		return u
	}
	merged := slices.Concat(r.sets[a], r.sets[b])
	slices.Sort(merged)
	u := r.intern(slices.Compact(merged))
	r.unions[key] = u
	return u
}

func (r *axiomReach) intern(set []term.Name) int {
	key := make([]byte, 0, len(set)*4)
	for _, n := range set {
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	if i, ok := r.index[string(key)]; ok {
		return i
	}
	r.sets = append(r.sets, set)
	r.index[string(key)] = len(r.sets) - 1
	return len(r.sets) - 1
}

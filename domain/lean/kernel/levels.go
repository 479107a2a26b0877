package kernel

import (
	"encoding/binary"
	"slices"

	"reckon/domain/lean/term"
)

// Universe levels are compared by what they mean, not by how they are written: l ≤ m when it holds for every assignment
// of natural numbers to the parameters. imax makes this depend on which parameters are zero.
//
// A level is positive exactly when one of a set of parameters is, or always: that of max a b is the union of both sets,
// that of imax a b is the set of b, that of a parameter is itself, and a successor is always positive. So
//
//	imax a b = max b ([b > 0] a)
//
// where [C] a is a if the condition C holds and 0 otherwise, and every level is a maximum of terms [G](p+k) and [G]k:
// p is a parameter, k a number, and the guard G a conjunction of clauses "one of these parameters is positive", one for
// each imax passed on the way to the leaf. There are no more terms than the level has leaves. This is the maximum of
// guarded sublevels that the canonical form of Géran consists of (A Canonical Form for Universe Levels in Impredicative
// Type Theory, CSL 2026), with guards kept as conjunctions of clauses: his guards are sets of parameters, disjunctions
// spelt out, of which there can be exponentially many.
//
// Sound and complete: a ≤ b exactly when each term t of a is at most b. Fix which parameters are positive so that t's
// guard holds.
//   - t = p+k with p > 0: let p grow and the others stay; only a term p+k' of b, whose guard holds, with k' ≥ k keeps up,
//     and one does.
//   - t = k, or p+k with p = 0: b is smallest where all positive parameters are 1, so b ≥ k exactly when b has a term
//     whose guard holds and that is k' or p'+k' with k' ≥ k, or p'+k' with p' positive and k'+1 ≥ k.
//
// Either way the question is whether a conjunction of clauses implies one of several such conjunctions. That is
// co-NP-complete; it is answered at once where one of them follows clause by clause, as in every level met in practice,
// and otherwise by search with propagation (Davis, Putnam, Logemann, Loveland), which counts steps.
//
// Trap (arena level-imax-leq): moving an offset into or out of imax, imax (u+1) (v+1) = (imax u v)+1, is wrong for
// v = 0. Nothing here does it.

type levelOrder struct {
	store         *term.Store
	tick          func()
	leqCache      map[[2]term.Level]bool
	forms         map[term.Level]levelForm
	positive      map[term.Level]clause // of large levels
	guards        map[string]*guard     // one of each
	guardKeyBytes int                   // of the keys of guards
}

// Bounds on one comparison of levels; beyond them the check ends as not finished.
const (
	maxLevelTerms = 1 << 12 // of one level
	maxLevelParts = 1 << 17 // visited of one level
	maxGuardBytes = 1 << 22 // of guards, as keys
)

// maxRemembered is the most entries of the caches that are kept from one comparison to the next.
const maxRemembered = 1 << 16

// smallLevel is the size, in nodes, up to which a level is not cached: computing it again is cheaper.
const smallLevel = 32

func newLevelOrder(store *term.Store, tick func()) *levelOrder {
	o := &levelOrder{store: store, tick: tick, leqCache: map[[2]term.Level]bool{}}
	o.forgetForms()
	return o
}

func (o *levelOrder) forgetForms() {
	o.forms, o.positive, o.guards = map[term.Level]levelForm{}, map[term.Level]clause{}, map[string]*guard{"": always}
	o.guardKeyBytes = 0
}

// leq says whether a ≤ b whatever the parameters are.
func (o *levelOrder) leq(a, b term.Level) bool {
	if a == b || a == term.Zero {
		return true
	}
	key := [2]term.Level{a, b}
	if r, ok := o.leqCache[key]; ok {
		return r
	}
	if len(o.leqCache) > maxRemembered {
		clear(o.leqCache)
	}
	if len(o.forms)+len(o.positive)+len(o.guards) > maxRemembered || o.guardKeyBytes > maxGuardBytes/2 {
		o.forgetForms()
	}
	right := o.form(b)
	r := true
	for _, t := range o.form(a) {
		if !o.termLeq(t, right) {
			r = false
			break
		}
	}
	o.leqCache[key] = r
	return r
}

// equal says whether a = b whatever the parameters are.
func (o *levelOrder) equal(a, b term.Level) bool {
	return a == b || o.leq(a, b) && o.leq(b, a)
}

// alwaysZero says whether l = 0 whatever the parameters are.
func (o *levelOrder) alwaysZero(l term.Level) bool {
	return l == term.Zero || !o.store.LevelNode(l).Positive && len(o.positivity(l)) == 0
}

// clause is a set of parameters in ascending order: one of them is positive. The level of a parameter stands for it.
type clause []term.Level

// guard is a conjunction of clauses, none of which contains another, in a fixed order. Equal guards are one.
type guard struct{ clauses []clause }

var always = &guard{}

// levelTerm is [guard](base+offset); the base is a parameter or term.Zero.
type levelTerm struct {
	base   term.Level
	offset int
	guard  *guard
}

// levelForm is a maximum of terms.
type levelForm []levelTerm

// positivity is the set of parameters of which one has to be positive for l to be; l is not always positive.
func (o *levelOrder) positivity(l term.Level) clause {
	for {
		n := o.store.LevelNode(l)
		switch n.Kind {
		case term.LevelIMax:
			l = term.Level(n.B)
			continue
		case term.LevelParam:
			return clause{l}
		case term.LevelMax:
			if n.Size > smallLevel {
				if known, ok := o.positive[l]; ok {
					return known
				}
			}
			o.tick()
			c := union(o.positivity(term.Level(n.A)), o.positivity(term.Level(n.B)))
			if n.Size > smallLevel {
				o.positive[l] = c
			}
			return c
		default:
			return nil
		}
	}
}

func union(a, b clause) clause {
	if len(a) == 0 {
		return b
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// subset says whether a ⊆ b.
func subset(a, b clause) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a = a[1:]
		case a[0] < b[0]:
			return false
		}
		b = b[1:]
	}
	return len(a) == 0
}

// withClause is g with one more clause.
func (o *levelOrder) withClause(g *guard, c clause) *guard {
	clauses := make([]clause, 0, len(g.clauses)+1)
	for _, have := range g.clauses {
		if subset(have, c) {
			return g
		}
		if !subset(c, have) {
			clauses = append(clauses, have)
		}
	}
	return o.internGuard(append(clauses, c))
}

func (o *levelOrder) internGuard(clauses []clause) *guard {
	o.tick()
	slices.SortFunc(clauses, func(a, b clause) int { return slices.Compare(a, b) })
	var key []byte
	for _, c := range clauses {
		key = binary.AppendUvarint(key, uint64(len(c)))
		for _, p := range c {
			key = binary.AppendUvarint(key, uint64(p))
		}
	}
	g, ok := o.guards[string(key)]
	if !ok {
		if o.guardKeyBytes += len(key); o.guardKeyBytes > maxGuardBytes {
			panic(levelTooLarge)
		}
		g = &guard{clauses}
		o.guards[string(key)] = g
	}
	return g
}

// withoutSatisfied is g without the clauses that p satisfies.
func (o *levelOrder) withoutSatisfied(g *guard, p term.Level) *guard {
	has := func(c clause) bool { return slices.Contains(c, p) }
	if !slices.ContainsFunc(g.clauses, has) {
		return g
	}
	return o.internGuard(slices.DeleteFunc(slices.Clone(g.clauses), has))
}

// implies says whether g implies h clause by clause.
func (g *guard) implies(h *guard) bool {
	if g == h {
		return true
	}
	for _, c := range h.clauses {
		if !slices.ContainsFunc(g.clauses, func(have clause) bool { return subset(have, c) }) {
			return false
		}
	}
	return true
}

// form writes l as a maximum of terms.
func (o *levelOrder) form(l term.Level) levelForm {
	if f, ok := o.forms[l]; ok {
		return f
	}
	c := collector{levelOrder: o}
	c.collect(l, 0, always)
	o.forms[l] = c.form
	return c.form
}

var levelTooLarge = exhaustedPanic{"a universe level has too many parts to be compared"}

// collector gathers the terms of one level.
type collector struct {
	*levelOrder
	form levelForm
	seen map[levelTerm]bool // the base is any level here
}

// collect adds [g](l+offset).
func (c *collector) collect(l term.Level, offset int, g *guard) {
	n := c.store.LevelNode(l)
	if n.Size > smallLevel { // shared parts: visit each once
		key := levelTerm{l, offset, g}
		if c.seen[key] {
			return
		}
		if c.seen == nil {
			c.seen = map[levelTerm]bool{}
		}
		if c.seen[key] = true; len(c.seen) > maxLevelParts {
			panic(levelTooLarge)
		}
		c.tick()
	}
	switch n.Kind {
	case term.LevelZero:
		if offset > 0 {
			c.add(levelTerm{term.Zero, offset, g})
		}
	case term.LevelSucc:
		for n.Kind == term.LevelSucc { // numerals can be long
			l = term.Level(n.A)
			n = c.store.LevelNode(l)
			offset++
		}
		c.collect(l, offset, g)
	case term.LevelMax:
		c.collect(term.Level(n.A), offset, g)
		c.collect(term.Level(n.B), offset, g)
	case term.LevelIMax:
		// Where b is zero, imax a b + offset is the offset, and so is b + offset.
		b := term.Level(n.B)
		c.collect(b, offset, g)
		if !c.store.LevelNode(b).Positive {
			positive := c.positivity(b)
			if len(positive) == 0 {
				return
			}
			g = c.withClause(g, positive)
		}
		c.collect(term.Level(n.A), offset, g)
	case term.LevelParam:
		if offset == 0 { // where l is zero the term is, whatever the guard says
			g = c.withoutSatisfied(g, l)
		}
		c.add(levelTerm{l, offset, g})
	}
}

// add enters a term unless another is always as large, and drops those it is always as large as.
func (c *collector) add(t levelTerm) {
	kept := c.form[:0]
	for i, other := range c.form {
		if i%smallLevel == smallLevel-1 {
			c.tick()
		}
		if other.base == t.base && other.offset >= t.offset && t.guard.implies(other.guard) {
			return // nothing before it was dropped: that would have been as large as other
		}
		if other.base != t.base || other.offset > t.offset || !other.guard.implies(t.guard) {
			kept = append(kept, c.form[i])
		}
	}
	if len(kept) >= maxLevelTerms {
		panic(levelTooLarge)
	}
	c.form = append(kept, t)
}

// termLeq reports whether the term t is at most the maximum right, whatever the parameters are.
func (o *levelOrder) termLeq(t levelTerm, right levelForm) bool {
	if t.base == term.Zero {
		return o.formReaches(right, t.offset, t.guard, 0, false)
	}
	var keepUp []*guard
	o.tick()
	for _, u := range right {
		if u.base == t.base && u.offset >= t.offset {
			if t.guard.implies(u.guard) {
				return true // whether or not the parameter is zero
			}
			keepUp = append(keepUp, u.guard)
		}
	}
	if !o.implies(o.withClause(t.guard, clause{t.base}), keepUp) {
		return false
	}
	return t.offset == 0 || o.formReaches(right, t.offset, t.guard, t.base, true)
}

// formReaches says whether the maximum right is at least k where g holds and the parameter zero, if one is given, is zero.
func (o *levelOrder) formReaches(right levelForm, k int, g *guard, zero term.Level, zeroed bool) bool {
	if zeroed {
		clauses := make([]clause, 0, len(g.clauses))
		for _, c := range g.clauses {
			rest := slices.DeleteFunc(slices.Clone(c), func(p term.Level) bool { return p == zero })
			if len(rest) == 0 {
				return true // the guard cannot hold there
			}
			clauses = append(clauses, rest)
		}
		g = o.internGuard(clauses)
	}
	var enough []*guard
	for _, u := range right {
		h := u.guard
		if u.offset < k {
			if u.base == term.Zero || u.offset+1 < k || zeroed && u.base == zero {
				continue
			}
			h = o.withClause(h, clause{u.base})
		}
		if zeroed {
			h = o.withoutZero(h, zero)
			if h == nil {
				continue
			}
		}
		enough = append(enough, h)
	}
	return o.implies(g, enough)
}

// withoutZero is g where the parameter p is zero, or nil when it cannot hold.
func (o *levelOrder) withoutZero(g *guard, p term.Level) *guard {
	is := func(q term.Level) bool { return q == p }
	if !slices.ContainsFunc(g.clauses, func(c clause) bool { return slices.ContainsFunc(c, is) }) {
		return g
	}
	clauses := make([]clause, 0, len(g.clauses))
	for _, c := range g.clauses {
		rest := slices.DeleteFunc(slices.Clone(c), is)
		if len(rest) == 0 {
			return nil
		}
		clauses = append(clauses, rest)
	}
	return o.internGuard(clauses)
}

// implies says whether g implies one of the alternatives.
func (o *levelOrder) implies(g *guard, alternatives []*guard) bool {
	for _, h := range alternatives {
		if g.implies(h) {
			return true
		}
	}
	if len(alternatives) == 0 {
		return false // all parameters positive satisfy every guard
	}
	s := search{order: o, mustHold: g.clauses, mustFail: alternatives, values: map[term.Level]zeroness{}}
	return !s.satisfiable()
}

// zeroness is the decision whether a parameter is zero.
type zeroness uint8

const (
	undetermined zeroness = iota
	isZero
	isPositive
)

// search decides (DPLL) whether parameters can be chosen zero or positive so that every clause of mustHold holds and every
// guard of mustFail fails.
type search struct {
	order    *levelOrder
	mustHold []clause
	mustFail []*guard
	values   map[term.Level]zeroness
	trail    []term.Level // decided parameters, in order
}

func (s *search) satisfiable() bool {
	mark := len(s.trail)
	undecided, ok := s.propagate()
	if !ok {
		s.undo(mark)
		return false
	}
	if undecided == 0 {
		return true // every guard fails; let all other parameters be positive
	}
	for _, value := range []zeroness{isZero, isPositive} {
		inner := len(s.trail)
		s.assign(undecided, value)
		if s.satisfiable() {
			return true
		}
		s.undo(inner)
	}
	s.undo(mark)
	return false
}

func (s *search) assign(p term.Level, z zeroness) {
	s.values[p] = z
	s.trail = append(s.trail, p)
}

func (s *search) undo(mark int) {
	for _, p := range s.trail[mark:] {
		delete(s.values, p)
	}
	s.trail = s.trail[:mark]
}

// propagate assigns the parameters whose values follow (unit propagation). ok is false on a contradiction; undecided is a
// parameter to branch on, or 0 when every guard of mustFail fails already.
func (s *search) propagate() (undecided term.Level, ok bool) {
	for {
		before := len(s.trail)
		for _, c := range s.mustHold {
			s.order.tick()
			switch satisfied, open := s.clauseState(c); {
			case satisfied || len(open) > 1:
			case len(open) == 0:
				return 0, false
			default:
				s.assign(open[0], isPositive)
			}
		}
		undecided = 0
		for _, g := range s.mustFail {
			failed, contested := false, 0
			var last clause
			for _, c := range g.clauses {
				s.order.tick()
				switch satisfied, open := s.clauseState(c); {
				case satisfied:
				case len(open) == 0:
					failed = true
				default:
					contested++
					last = open
				}
			}
			switch {
			case failed:
			case contested == 0:
				return 0, false
			case contested == 1:
				for _, p := range last {
					s.assign(p, isZero)
				}
			default:
				undecided = last[0]
			}
		}
		if len(s.trail) == before {
			return undecided, true
		}
	}
}

// clauseState reports whether a parameter of c is positive, and returns those that are not assigned.
func (s *search) clauseState(c clause) (satisfied bool, open clause) {
	for _, p := range c {
		switch s.values[p] {
		case isPositive:
			return true, nil
		case undetermined:
			open = append(open, p)
		}
	}
	return false, open
}

package plain

import (
	"maps"

	"reckon/domain/lean/term"
)

// A level is compared by meaning: l is at most m when its value is at most m's for all natural numbers that the
// parameters may stand for (TTL 2.1; C++ level.cpp, is_geq, decides less).
//
// imax is the only operation that is no maximum of sums: imax a b is 0 where b is 0. So the parameters that occur to the
// right of an imax are split: each is 0, or at least 1. Under such a choice every right side of an imax is either 0 or at
// least 1, by induction, and a level is a maximum of terms p + c and c. Of two such maxima one is at most the other for
// all values exactly if each of its terms is, by a term with the same parameter: let that parameter grow alone.

// bounds is a maximum: of p + params[p] for parameters p, which may have any name, and of least, which is the value where
// all parameters are as small as they may be.
type bounds struct {
	least  int
	params map[term.Name]int
}

// evaluator evaluates levels under one choice for the guarding parameters.
type evaluator struct {
	k    *kernel
	zero map[term.Name]bool // by guarding parameter: it is 0; otherwise it is at least 1
	done map[term.Level]bounds
}

func (v *evaluator) level(l term.Level) bounds {
	if b, ok := v.done[l]; ok {
		return b
	}
	v.k.enter()
	b := v.node(v.k.store.LevelNode(l))
	v.k.leave()
	v.done[l] = b
	return b
}

func (v *evaluator) node(n term.LevelNode) bounds {
	switch n.Kind {
	case term.LevelZero:
		return bounds{}
	case term.LevelSucc:
		b := v.level(term.Level(n.A))
		out := bounds{least: b.least + 1, params: map[term.Name]int{}}
		for p, c := range b.params {
			out.params[p] = c + 1
		}
		return out
	case term.LevelMax:
		return maximum(v.level(term.Level(n.A)), v.level(term.Level(n.B)))
	case term.LevelIMax:
		b := v.level(term.Level(n.B))
		if len(b.params) == 0 && b.least == 0 {
			return b
		}
		return maximum(v.level(term.Level(n.A)), b)
	}
	p := term.Name(n.A)
	switch zero, guards := v.zero[p]; {
	case !guards:
		return bounds{params: map[term.Name]int{p: 0}}
	case zero:
		return bounds{}
	default:
		return bounds{least: 1, params: map[term.Name]int{p: 0}}
	}
}

func maximum(a, b bounds) bounds {
	out := bounds{least: max(a.least, b.least), params: maps.Clone(a.params)}
	if out.params == nil {
		out.params = map[term.Name]int{}
	}
	for p, c := range b.params {
		out.params[p] = max(out.params[p], c) // no entry counts as 0, which is the smallest
	}
	return out
}

func (a bounds) atMost(b bounds) bool {
	for p, c := range a.params {
		if have, ok := b.params[p]; !ok || have < c {
			return false
		}
	}
	return a.least <= b.least
}

// guards collects the parameters that occur to the right of an imax.
func (k *kernel) guards(l term.Level, right bool, found map[term.Name]bool, seen map[levelPlace]bool) {
	if n := k.store.LevelNode(l); n.HasParam && !seen[levelPlace{l, right}] {
		seen[levelPlace{l, right}] = true
		k.enter()
		defer k.leave()
		switch n.Kind {
		case term.LevelParam:
			if right {
				found[term.Name(n.A)] = true
			}
		case term.LevelSucc:
			k.guards(term.Level(n.A), right, found, seen)
		case term.LevelMax:
			k.guards(term.Level(n.A), right, found, seen)
			k.guards(term.Level(n.B), right, found, seen)
		case term.LevelIMax:
			k.guards(term.Level(n.A), right, found, seen)
			k.guards(term.Level(n.B), true, found, seen)
		}
	}
}

type levelPlace struct {
	l     term.Level
	right bool
}

// forEveryChoice reports whether test holds of the values of a and b under every choice for the parameters that guard.
func (k *kernel) forEveryChoice(a, b term.Level, test func(a, b bounds) bool) bool {
	found, seen := map[term.Name]bool{}, map[levelPlace]bool{}
	k.guards(a, false, found, seen)
	k.guards(b, false, found, seen)
	var params []term.Name
	for p := range found {
		params = append(params, p) // in any order: every choice is tried
	}
	zero := map[term.Name]bool{}
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(params) {
			k.step()
			v := evaluator{k: k, zero: zero, done: map[term.Level]bounds{}}
			return test(v.level(a), v.level(b))
		}
		for _, z := range []bool{true, false} {
			zero[params[i]] = z
			if !try(i + 1) {
				return false
			}
		}
		return true
	}
	return try(0)
}

func (k *kernel) levelAtMost(a, b term.Level) bool {
	return a == b || k.forEveryChoice(a, b, func(a, b bounds) bool { return a.atMost(b) })
}

func (k *kernel) levelsEqual(a, b term.Level) bool {
	return a == b || k.forEveryChoice(a, b, func(a, b bounds) bool { return a.atMost(b) && b.atMost(a) })
}

// alwaysZero: Sort l is Prop whatever the parameters are. neverZero: it is Prop for none.
func (k *kernel) alwaysZero(l term.Level) bool { return k.levelAtMost(l, term.Zero) }
func (k *kernel) neverZero(l term.Level) bool  { return k.levelAtMost(k.store.Succ(term.Zero), l) }

// imax is the level imax a b, where b is plainly zero or not zero in a simpler form.
func (k *kernel) imax(a, b term.Level) term.Level {
	switch k.store.LevelNode(b).Kind {
	case term.LevelZero:
		return b
	case term.LevelSucc:
		return k.store.Max(a, b)
	}
	return k.store.IMax(a, b)
}

func (k *kernel) levelListsEqual(a, b []term.Level) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !k.levelsEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

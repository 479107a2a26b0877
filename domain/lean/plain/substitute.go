package plain

import "reckon/domain/lean/term"

// Bound variables are de Bruijn indices. A free variable is a pair of a number and a type (term.KindLocal).

// place is a subexpression together with the number of binders between it and the expression being rewritten.
type place struct {
	e     term.Expr
	depth uint32
}

// rewriter replaces subexpressions from the outside in: where replace answers true its result stands, elsewhere the
// parts are rewritten. done holds the result of each place of the current rewriting: shared parts are rewritten once.
type rewriter struct {
	k       *kernel
	replace func(p place, n term.Node) (term.Expr, bool)
	done    map[place]term.Expr
}

func (k *kernel) rewrite(e term.Expr, replace func(p place, n term.Node) (term.Expr, bool)) term.Expr {
	r := rewriter{k: k, replace: replace}
	return r.at(place{e, 0})
}

func (r *rewriter) at(p place) term.Expr {
	n := r.k.store.Node(p.e)
	if result, ok := r.replace(p, n); ok {
		return result
	}
	if _, count := n.Children(); count == 0 {
		return p.e
	}
	if result, ok := r.done[p]; ok {
		return result
	}
	r.k.enter()
	result := r.parts(p, n)
	r.k.leave()
	if r.done == nil {
		r.done = map[place]term.Expr{}
	}
	r.done[p] = result
	return result
}

func (r *rewriter) parts(p place, n term.Node) term.Expr {
	s, inside := r.k.store, p.depth+1
	a := func() term.Expr { return r.at(place{term.Expr(n.A), p.depth}) }
	switch n.Kind {
	case term.KindApp:
		return s.App(a(), r.at(place{term.Expr(n.B), p.depth}))
	case term.KindLam:
		return s.Lam(a(), r.at(place{term.Expr(n.B), inside}))
	case term.KindPi:
		return s.Pi(a(), r.at(place{term.Expr(n.B), inside}))
	case term.KindLet:
		return s.Let(a(), r.at(place{term.Expr(n.B), p.depth}), r.at(place{term.Expr(n.C), inside}))
	default: // term.KindProj
		return s.Proj(term.Name(n.A), n.B, r.at(place{term.Expr(n.C), p.depth}))
	}
}

// instantiate replaces the outermost loose variables of e by values: index 0 stands for the last value. The loose variables
// that a value has itself are lifted over the binders that it is put under.
func (k *kernel) instantiate(e term.Expr, values []term.Expr) term.Expr {
	count := uint32(len(values))
	return k.rewrite(e, func(p place, n term.Node) (term.Expr, bool) {
		switch {
		case n.Loose <= p.depth || count == 0:
			return p.e, true
		case n.Kind != term.KindBVar:
			return 0, false
		case n.A < p.depth+count:
			return k.lift(values[count-1-(n.A-p.depth)], p.depth), true
		default:
			return k.store.BVar(n.A - count), true
		}
	})
}

// lift adds by to the loose variables of e.
func (k *kernel) lift(e term.Expr, by uint32) term.Expr {
	if by == 0 || k.store.Node(e).Loose == 0 {
		return e
	}
	return k.rewrite(e, func(p place, n term.Node) (term.Expr, bool) {
		switch {
		case n.Loose <= p.depth:
			return p.e, true
		case n.Kind == term.KindBVar:
			return k.store.BVar(n.A + by), true
		}
		return 0, false
	})
}

// abstract turns free variables into loose ones: the last becomes index 0. e has no loose variables.
func (k *kernel) abstract(e term.Expr, locals []term.Expr) term.Expr {
	return k.abstractFirst(e, k.positions(locals), len(locals))
}

// positions are the places of free variables in a list, and the least number of one.
type positions struct {
	of    map[term.Expr]int
	least uint32
}

func (k *kernel) positions(locals []term.Expr) positions {
	p := positions{map[term.Expr]int{}, 1<<32 - 1}
	for i, l := range locals {
		p.of[l] = i
		p.least = min(p.least, k.store.Node(l).A)
	}
	return p
}

// abstractFirst abstracts the first count of the variables.
func (k *kernel) abstractFirst(e term.Expr, locals positions, count int) term.Expr {
	return k.rewrite(e, func(p place, n term.Node) (term.Expr, bool) {
		if n.Locals <= locals.least { // every variable in it has a smaller number
			return p.e, true
		}
		if i, ok := locals.of[p.e]; ok && i < count {
			return k.store.BVar(p.depth + uint32(count-1-i)), true
		}
		return 0, false
	})
}

// pis and lams close body over free variables; the type of one may mention earlier ones.
func (k *kernel) pis(locals []term.Expr, body term.Expr) term.Expr {
	return k.close(locals, body, k.store.Pi)
}

func (k *kernel) lams(locals []term.Expr, body term.Expr) term.Expr {
	return k.close(locals, body, k.store.Lam)
}

func (k *kernel) close(locals []term.Expr, body term.Expr, binder func(typ, body term.Expr) term.Expr) term.Expr {
	at := k.positions(locals)
	r := k.abstractFirst(body, at, len(locals))
	for i := len(locals) - 1; i >= 0; i-- {
		r = binder(k.abstractFirst(k.localType(locals[i]), at, i), r)
	}
	return r
}

func (k *kernel) localType(local term.Expr) term.Expr { return term.Expr(k.store.Node(local).B) }

// instantiateLevels replaces universe parameters by levels, all at once.
func (k *kernel) instantiateLevels(e term.Expr, params []term.Name, levels []term.Level) term.Expr {
	if len(params) == 0 {
		return e
	}
	return k.rewrite(e, func(p place, n term.Node) (term.Expr, bool) {
		switch {
		case !n.HasParam:
			return p.e, true
		case n.Kind == term.KindSort:
			return k.store.Sort(k.substituteLevel(term.Level(n.A), params, levels)), true
		case n.Kind == term.KindConst:
			own := k.store.LevelsOf(term.Levels(n.B))
			out := make([]term.Level, len(own))
			for i, l := range own {
				out[i] = k.substituteLevel(l, params, levels)
			}
			return k.store.Const(term.Name(n.A), k.store.List(out)), true
		case n.Kind == term.KindLocal:
			return k.store.Local(n.A, k.instantiateLevels(term.Expr(n.B), params, levels)), true
		}
		return 0, false
	})
}

func (k *kernel) substituteLevel(l term.Level, params []term.Name, levels []term.Level) term.Level {
	n := k.store.LevelNode(l)
	if !n.HasParam {
		return l
	}
	k.enter()
	defer k.leave()
	switch n.Kind {
	case term.LevelSucc:
		return k.store.Succ(k.substituteLevel(term.Level(n.A), params, levels))
	case term.LevelMax:
		return k.store.Max(k.substituteLevel(term.Level(n.A), params, levels), k.substituteLevel(term.Level(n.B), params, levels))
	case term.LevelIMax:
		return k.imax(k.substituteLevel(term.Level(n.A), params, levels), k.substituteLevel(term.Level(n.B), params, levels))
	}
	for i, p := range params {
		if p == term.Name(n.A) {
			return levels[i]
		}
	}
	return l
}

// spine splits an application into its head and its arguments.
func (k *kernel) spine(e term.Expr) (head term.Expr, args []term.Expr) {
	head, args = k.store.Spine(e, nil)
	k.spend(int64(len(args)))
	return head, args
}

// beta applies a head that may be a function to arguments (TTL 2.2; C++ instantiate.cpp, head_beta).
func (k *kernel) beta(head term.Expr, args []term.Expr) term.Expr {
	used := 0
	body := head
	for used < len(args) && k.store.Kind(body) == term.KindLam {
		body = term.Expr(k.store.Node(body).B)
		used++
	}
	return k.store.Apps(k.instantiate(body, args[:used]), args[used:])
}

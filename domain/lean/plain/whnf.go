package plain

import "reckon/domain/lean/term"

// whnf is the weak head normal form: reductions at the head until none applies (TTL 2.2 and 2.6; C++ type_checker.cpp,
// whnf). It is remembered by expression.
func (k *kernel) whnf(e term.Expr) term.Expr {
	switch k.store.Kind(e) {
	case term.KindSort, term.KindPi, term.KindLam, term.KindLocal, term.KindNat, term.KindStr:
		return e
	}
	if r, ok := k.memo.whnf[e]; ok {
		return r
	}
	k.enter()
	r := k.core(e, false)
	for {
		k.step()
		if v, ok := k.arithmetic(r); ok {
			r = v
			break
		}
		next, ok := k.native(r)
		if !ok {
			next, ok = k.unfold(r)
		}
		if !ok {
			break
		}
		r = k.core(next, false)
	}
	k.leave()
	keep(k, k.memo.whnf, e, r)
	return r
}

// core reduces at the head without delta (C++ type_checker.cpp, whnf_core). With lazy, the structure of a projection is
// reduced without delta too, so that equality can compare projections before their structures are unfolded.
func (k *kernel) core(e term.Expr, lazy bool) term.Expr {
	switch k.store.Kind(e) {
	case term.KindApp, term.KindLet, term.KindProj:
	default:
		return e
	}
	done := k.memo.core
	if lazy {
		done = k.memo.lazy
	}
	if r, ok := done[e]; ok {
		return r
	}
	k.enter()
	r := e
	for {
		k.step()
		next, ok := k.reduce(r, lazy)
		if !ok {
			break
		}
		r = next
	}
	k.leave()
	keep(k, done, e, r)
	return r
}

// reduce makes one reduction at the head.
func (k *kernel) reduce(e term.Expr, lazy bool) (term.Expr, bool) {
	switch n := k.store.Node(e); n.Kind {
	case term.KindLet: // zeta: (let x := v; b) is b[v/x]
		return k.instantiate(term.Expr(n.C), []term.Expr{term.Expr(n.B)}), true
	case term.KindProj:
		return k.reduceProj(n, lazy)
	case term.KindApp:
		head, args := k.spine(e)
		switch k.store.Kind(head) {
		case term.KindLam: // beta: (fun x => b) a is b[a/x]
			return k.beta(head, args), true
		case term.KindLet, term.KindProj:
			if reduced := k.core(head, lazy); reduced != head {
				return k.store.Apps(reduced, args), true
			}
		case term.KindConst:
			c, _, levels := k.constAt(head)
			switch {
			case c == nil:
			case c.recursor != nil:
				return k.iota(c, levels, args)
			case c.kind == quotient:
				return k.reduceQuotient(c, args)
			}
		}
	}
	return 0, false
}

// unfold is delta: a definition or theorem at the head becomes its value (C++ type_checker.cpp, unfold_definition).
func (k *kernel) unfold(e term.Expr) (term.Expr, bool) {
	head := k.store.Head(e)
	c, _, levels := k.constAt(head)
	if c == nil || !c.unfolds() || len(levels) != len(c.params) {
		return 0, false
	}
	_, args := k.spine(e)
	return k.beta(k.instantiateLevels(c.value, c.params, levels), args), true
}

// reduceProj: field i of a constructor application is its argument i after the parameters (C++ type_checker.cpp,
// reduce_proj).
func (k *kernel) reduceProj(n term.Node, lazy bool) (term.Expr, bool) {
	s := term.Expr(n.C)
	if lazy {
		s = k.core(s, true)
	} else {
		s = k.whnf(s)
	}
	if k.store.Kind(s) == term.KindStr {
		s = k.whnf(k.expandString(s))
	}
	head, args := k.spine(s)
	c, _, _ := k.constAt(head)
	if c == nil || c.constructor == nil || c.constructor.inductive != term.Name(n.A) {
		return 0, false
	}
	if i := c.constructor.numParams + int(n.B); i < len(args) {
		return args[i], true
	}
	return 0, false
}

// iota: a recursor applied to a constructor is the right side of its rule (TTL 2.6.3; C++ inductive.h,
// inductive_reduce_rec). The major premise counts as a constructor if it is one by K or by structure eta.
func (k *kernel) iota(c *constant, levels []term.Level, args []term.Expr) (term.Expr, bool) {
	r := c.recursor
	if len(args) <= r.major() || len(levels) != len(c.params) {
		return 0, false
	}
	major := args[r.major()]
	if r.k {
		if mk, ok := k.byK(r, major); ok {
			major = mk
		}
	}
	major = k.whnf(major)
	switch k.store.Kind(major) {
	case term.KindNat:
		major = k.expandNat(major)
	case term.KindStr:
		major = k.whnf(k.expandString(major))
	default:
		major = k.byStructureEta(r.inductive, major)
	}
	head, fields := k.spine(major)
	mk, name, _ := k.constAt(head)
	if mk == nil || mk.constructor == nil {
		return 0, false
	}
	for _, rule := range r.rules {
		if rule.constructor != name || len(fields) != mk.constructor.numParams+rule.numFields {
			continue
		}
		before := args[:r.numParams+r.numMotives+r.numMinors]
		taken := append(append(before[:len(before):len(before)], fields[mk.constructor.numParams:]...), args[r.major()+1:]...)
		return k.beta(k.instantiateLevels(rule.value, c.params, levels), taken), true
	}
	return 0, false
}

// byK: a proof of a proposition with one constructor without fields is that constructor, if the types agree (TTL 2.6.4;
// C++ inductive.h, to_cnstr_when_K).
func (k *kernel) byK(r *recursorInfo, major term.Expr) (term.Expr, bool) {
	typ := k.whnf(k.typeOf(major))
	head, args := k.spine(typ)
	c, name, _ := k.constAt(head)
	if c == nil || name != r.inductive || len(c.inductive.constructors) != 1 || len(args) < c.inductive.numParams {
		return 0, false
	}
	mk := k.store.Apps(k.store.Const(c.inductive.constructors[0], term.Levels(k.store.Node(head).B)), args[:c.inductive.numParams])
	if !k.equal(typ, k.typeOf(mk)) {
		return 0, false
	}
	return mk, true
}

// byStructureEta: a value s of a structure that is no proposition is its constructor applied to its projections (C++
// inductive.h, to_cnstr_when_structure; Ref "Definitional Equality").
func (k *kernel) byStructureEta(name term.Name, s term.Expr) term.Expr {
	i := k.env[name]
	if i == nil || i.inductive == nil || !i.inductive.structureLike() {
		return s
	}
	if c, _, _ := k.constAt(k.store.Head(s)); c != nil && c.constructor != nil {
		return s
	}
	typ := k.whnf(k.typeOf(s))
	head, args := k.spine(typ)
	if !k.store.IsConst(head, name) || len(args) != i.inductive.numParams || k.isProp(typ) {
		return s
	}
	mk := i.inductive.constructors[0]
	e := k.store.Apps(k.store.Const(mk, term.Levels(k.store.Node(head).B)), args)
	for field := range k.env[mk].constructor.numFields {
		e = k.store.App(e, k.store.Proj(name, uint32(field), s))
	}
	return e
}

// reduceQuotient: Quot.lift f h (Quot.mk r a) is f a, and Quot.ind h (Quot.mk r a) is h a (TTL 2.7; C++ quot.h,
// quot_reduce_rec).
func (k *kernel) reduceQuotient(c *constant, args []term.Expr) (term.Expr, bool) {
	var function, major int
	switch c.quotient {
	case term.QuotLift:
		function, major = 3, 5
	case term.QuotInd:
		function, major = 3, 4
	default:
		return 0, false
	}
	if len(args) <= major {
		return 0, false
	}
	head, inner := k.spine(k.whnf(args[major]))
	if mk, _, _ := k.constAt(head); mk == nil || mk.kind != quotient || mk.quotient != term.QuotCtor || len(inner) != 3 {
		return 0, false
	}
	return k.store.Apps(k.store.App(args[function], inner[2]), args[major+1:]), true
}

package plain

import "reckon/domain/lean/term"

// equal is definitional equality of two well-typed expressions (TTL 2.2 to 2.8; C++ type_checker.cpp, is_def_eq_core,
// whose order this is). Yes is right; no may be wrong, for the relation is undecidable.
//
// It is a function of the two expressions: see the package comment. What it remembers is keyed by the pair in the order
// asked, so that an answer for (b, a) is never given for (a, b).
func (k *kernel) equal(a, b term.Expr) bool {
	if a == b { // reflexivity: equal handles are equal structures
		return true
	}
	pair := [2]term.Expr{a, b}
	if r, ok := k.memo.equal[pair]; ok {
		return r
	}
	k.enter()
	r := k.equalUncached(a, b)
	k.leave()
	keep(k, k.memo.equal, pair, r)
	return r
}

// answer is yes, no, or neither.
type answer uint8

const (
	unknown answer = iota
	yes
	no
)

func answerOf(b bool) answer {
	if b {
		return yes
	}
	return no
}

func (k *kernel) equalUncached(a, b term.Expr) bool {
	if r := k.sameShape(a, b); r != unknown {
		return r == yes
	}
	if k.isTrueByEvaluation(a, b) || k.isTrueByEvaluation(b, a) {
		return true
	}
	a, b = k.core(a, true), k.core(b, true)
	if r := k.sameShape(a, b); r != unknown {
		return r == yes
	}
	if k.proofsOfOneProposition(a, b) {
		return true
	}
	a, b, r := k.lazyDelta(a, b)
	if r != unknown {
		return r == yes
	}
	if k.sameConstant(a, b) || k.sameProjection(a, b) {
		return true
	}
	if x, y := k.core(a, false), k.core(b, false); x != a || y != b {
		return k.equal(x, y)
	}
	return k.sameApplication(a, b) || k.eta(a, b) || k.eta(b, a) || k.structureEta(a, b) || k.structureEta(b, a) ||
		k.sameString(a, b) || k.sameUnit(a, b)
}

// sameShape decides where the outermost constructions decide: sorts, function types, functions, literals.
func (k *kernel) sameShape(a, b term.Expr) answer {
	if a == b {
		return yes
	}
	m, n := k.store.Node(a), k.store.Node(b)
	if m.Kind != n.Kind {
		return unknown
	}
	switch m.Kind {
	case term.KindSort:
		return answerOf(k.levelsEqual(term.Level(m.A), term.Level(n.A)))
	case term.KindLam, term.KindPi:
		return answerOf(k.sameBinders(a, b, m.Kind))
	case term.KindNat, term.KindStr: // distinct handles are distinct literals
		return no
	}
	return unknown
}

// sameBinders: (x : A) → B and (x : A') → B' are equal if A and A' are, and B and B' are under x : A; and so for
// functions. That the variable has the type A and not A' is harmless: the bodies are compared only where A and A' were
// found equal, and equal types have the same elements (TTL 2.2, the conversion rule), so that both bodies are well-typed
// under x : A. A different answer for the other type could only be the incompleteness of the procedure; nothing turns
// the answer for (a, b) into one for (b, a).
func (k *kernel) sameBinders(a, b term.Expr, kind term.Kind) bool {
	var locals []term.Expr
	number := max(k.store.Node(a).Locals, k.store.Node(b).Locals)
	for ; k.store.Kind(a) == kind && k.store.Kind(b) == kind; number++ {
		m, n := k.store.Node(a), k.store.Node(b)
		left := k.instantiate(term.Expr(m.A), locals)
		if m.A != n.A && !k.equal(left, k.instantiate(term.Expr(n.A), locals)) {
			return false
		}
		locals = append(locals, k.store.Local(number, left))
		a, b = term.Expr(m.B), term.Expr(n.B)
	}
	return k.equal(k.instantiate(a, locals), k.instantiate(b, locals))
}

// isTrueByEvaluation: a closed expression that evaluates to Bool.true equals it.
func (k *kernel) isTrueByEvaluation(a, b term.Expr) bool {
	return k.store.IsConst(b, k.names.boolTrue) && k.store.Node(a).Locals == 0 && k.whnf(a) == b
}

// proofsOfOneProposition is proof irrelevance: two proofs of one proposition are equal (TTL 2.2; C++ type_checker.cpp,
// is_def_eq_proof_irrel).
func (k *kernel) proofsOfOneProposition(a, b term.Expr) bool {
	typ := k.typeOf(a)
	return k.alwaysZeroSort(k.whnf(k.typeOf(typ))) && k.equal(typ, k.typeOf(b))
}

func (k *kernel) alwaysZeroSort(e term.Expr) bool {
	n := k.store.Node(e)
	return n.Kind == term.KindSort && k.alwaysZero(term.Level(n.A))
}

// lazyDelta unfolds definitions step by step, the higher one first, until the shapes decide or nothing unfolds (C++
// type_checker.cpp, lazy_delta_reduction).
func (k *kernel) lazyDelta(a, b term.Expr) (term.Expr, term.Expr, answer) {
	for {
		k.step()
		if r := k.sameSuccessor(a, b); r != unknown {
			return a, b, r
		}
		if v, ok := k.evaluate(a); ok {
			return a, b, answerOf(k.equal(v, b))
		}
		if v, ok := k.evaluate(b); ok {
			return a, b, answerOf(k.equal(a, v))
		}
		ca, cb := k.unfoldable(a), k.unfoldable(b)
		switch {
		case ca == nil && cb == nil:
			return a, b, unknown
		case cb == nil:
			if next, ok := k.openProjection(b); ok {
				b = next
			} else {
				a = k.unfoldLazily(a)
			}
		case ca == nil:
			if next, ok := k.openProjection(a); ok {
				a = next
			} else {
				b = k.unfoldLazily(b)
			}
		case ca.height > cb.height:
			a = k.unfoldLazily(a)
		case ca.height < cb.height:
			b = k.unfoldLazily(b)
		default:
			if ca == cb && k.store.Kind(a) == term.KindApp && k.sameApplication(a, b) {
				return a, b, yes // the arguments first: it is enough, and often shorter
			}
			a, b = k.unfoldLazily(a), k.unfoldLazily(b)
		}
		if r := k.sameShape(a, b); r != unknown {
			return a, b, r
		}
	}
}

func (k *kernel) unfoldable(e term.Expr) *constant {
	c, _, levels := k.constAt(k.store.Head(e))
	if c == nil || !c.unfolds() || len(levels) != len(c.params) {
		return nil
	}
	return c
}

func (k *kernel) unfoldLazily(e term.Expr) term.Expr {
	next, _ := k.unfold(e)
	return k.core(next, true)
}

// openProjection reduces the structure of a projection at the head.
func (k *kernel) openProjection(e term.Expr) (term.Expr, bool) {
	if k.store.Kind(k.store.Head(e)) != term.KindProj {
		return 0, false
	}
	next := k.core(e, false)
	return next, next != e
}

// evaluate computes an operation on literals in an expression without free variables.
func (k *kernel) evaluate(e term.Expr) (term.Expr, bool) {
	if k.store.Node(e).Locals > 0 {
		return 0, false
	}
	if v, ok := k.arithmetic(e); ok {
		return v, true
	}
	return k.native(e)
}

// sameSuccessor: n+1 and m+1 are equal if n and m are, for literals and applications of Nat.succ (C++ type_checker.cpp,
// is_def_eq_offset_nat).
func (k *kernel) sameSuccessor(a, b term.Expr) answer {
	if k.isZero(a) && k.isZero(b) {
		return yes
	}
	if k.store.Kind(a) == term.KindNat && k.store.Kind(b) == term.KindNat {
		return answerOf(a == b)
	}
	if x, ok := k.predecessor(a); ok {
		if y, ok := k.predecessor(b); ok {
			return answerOf(k.equal(x, y))
		}
	}
	return unknown
}

func (k *kernel) sameConstant(a, b term.Expr) bool {
	m, n := k.store.Node(a), k.store.Node(b)
	return m.Kind == term.KindConst && n.Kind == term.KindConst && m.A == n.A &&
		k.levelListsEqual(k.store.LevelsOf(term.Levels(m.B)), k.store.LevelsOf(term.Levels(n.B)))
}

func (k *kernel) sameProjection(a, b term.Expr) bool {
	m, n := k.store.Node(a), k.store.Node(b)
	return m.Kind == term.KindProj && n.Kind == term.KindProj && m.A == n.A && m.B == n.B && k.equal(term.Expr(m.C), term.Expr(n.C))
}

// sameApplication: equal functions on equal arguments are equal (congruence).
func (k *kernel) sameApplication(a, b term.Expr) bool {
	if k.store.Kind(a) != term.KindApp || k.store.Kind(b) != term.KindApp {
		return false
	}
	f, as := k.spine(a)
	g, bs := k.spine(b)
	if len(as) != len(bs) || !k.sameConstant(f, g) && !k.equal(f, g) {
		return false
	}
	for i := range as {
		if !k.equal(as[i], bs[i]) {
			return false
		}
	}
	return true
}

// eta: f is fun x => f x, if it has a function type (TTL 2.2; C++ type_checker.cpp, try_eta_expansion).
func (k *kernel) eta(a, b term.Expr) bool {
	if k.store.Kind(a) != term.KindLam || k.store.Kind(b) == term.KindLam {
		return false
	}
	n := k.store.Node(k.whnf(k.typeOf(b)))
	return n.Kind == term.KindPi && k.equal(a, k.store.Lam(term.Expr(n.A), k.store.App(b, k.store.BVar(0))))
}

// structureEta: s is S.mk of its projections (Ref "Definitional Equality"; C++ type_checker.cpp, try_eta_struct).
func (k *kernel) structureEta(a, b term.Expr) bool {
	head, args := k.spine(b)
	c, _, _ := k.constAt(head)
	if c == nil || c.constructor == nil || len(args) != c.constructor.numParams+c.constructor.numFields {
		return false
	}
	name := c.constructor.inductive
	if i := k.env[name]; i == nil || !i.inductive.structureLike() || !k.equal(k.typeOf(a), k.typeOf(b)) {
		return false
	}
	for i := range c.constructor.numFields {
		if !k.equal(k.store.Proj(name, uint32(i), a), args[c.constructor.numParams+i]) {
			return false
		}
	}
	return true
}

// sameString compares a string literal with an application through what the literal abbreviates.
func (k *kernel) sameString(a, b term.Expr) bool {
	switch ka, kb := k.store.Kind(a), k.store.Kind(b); {
	case ka == term.KindStr && kb == term.KindApp:
		return k.equal(k.expandString(a), b)
	case ka == term.KindApp && kb == term.KindStr:
		return k.equal(a, k.expandString(b))
	}
	return false
}

// sameUnit: all elements of a structure without fields are equal (C++ type_checker.cpp, is_def_eq_unit_like).
func (k *kernel) sameUnit(a, b term.Expr) bool {
	typ := k.whnf(k.typeOf(a))
	c, _, _ := k.constAt(k.store.Head(typ))
	if c == nil || c.inductive == nil || !c.inductive.structureLike() {
		return false
	}
	return k.env[c.inductive.constructors[0]].constructor.numFields == 0 && k.equal(typ, k.typeOf(b))
}

package plain

import "reckon/domain/lean/term"

// quotient checks one of the four quotient constants: each has its own name and exactly its own type, they come in this
// order, and Eq must be the inductive type that Quot.lift speaks of (TTL 2.7; C++ quot.cpp, add_quot). Check refuses a
// file that has some and not all of them.
func (k *kernel) quotient(d *term.Declaration) {
	order := []term.QuotKind{term.QuotType, term.QuotCtor, term.QuotLift, term.QuotInd}
	own := map[term.QuotKind]term.Name{term.QuotType: k.names.quot, term.QuotCtor: k.names.quotMk, term.QuotLift: k.names.quotLift, term.QuotInd: k.names.quotInd}
	if own[d.QuotKind] != d.Name {
		refuse(invalidQuotient, "%s is not the quotient constant of the kind %q", k.store.NameString(d.Name), d.QuotKind)
	}
	if len(k.quotients) == len(order) || order[len(k.quotients)] != d.QuotKind {
		refuse(invalidQuotient, "the quotient constants are out of order")
	}
	if d.QuotKind == term.QuotLift && !k.hasEq() {
		refuse(invalidQuotient, "Quot.lift needs Eq, which is not declared as an inductive type with the constructor refl")
	}
	params := 1
	if d.QuotKind == term.QuotLift {
		params = 2
	}
	if len(d.LevelParams) != params || !k.sameRecord(k.quotientType(d.QuotKind, d.LevelParams), d.Type) {
		refuse(invalidQuotient, "%s has not the type of the built-in constant", k.store.NameString(d.Name))
	}
	k.check(d.Type)
	k.assumeQuotient(d)
}

func (k *kernel) assumeQuotient(d *term.Declaration) {
	k.quotients[d.QuotKind] = true
	k.add(d.Name, &constant{kind: quotient, params: d.LevelParams, typ: d.Type, quotient: d.QuotKind})
}

// quotientType is the type of a quotient constant:
//
//	Quot      (α : Sort u) → (α → α → Prop) → Sort u
//	Quot.mk   (α : Sort u) → (r : α → α → Prop) → α → Quot r
//	Quot.lift (α : Sort u) → (r : …) → (β : Sort v) → (f : α → β) → ((a b : α) → r a b → f a = f b) → Quot r → β
//	Quot.ind  (α : Sort u) → (r : …) → (β : Quot r → Prop) → ((a : α) → β (Quot.mk r a)) → (q : Quot r) → β q
func (k *kernel) quotientType(kind term.QuotKind, params []term.Name) term.Expr {
	s := k.store
	u := s.Param(params[0])
	prop := s.Sort(term.Zero)
	alpha := s.Local(0, s.Sort(u))
	r := s.Local(1, k.arrow(alpha, k.arrow(alpha, prop)))
	quot := k.store.Apps(k.constant(k.names.quot, u), []term.Expr{alpha, r})
	mk := func(a term.Expr) term.Expr { return s.Apps(k.constant(k.names.quotMk, u), []term.Expr{alpha, r, a}) }
	a := s.Local(4, alpha)
	switch kind {
	case term.QuotType:
		return k.pis([]term.Expr{alpha, r}, s.Sort(u))
	case term.QuotCtor:
		return k.pis([]term.Expr{alpha, r, a}, quot)
	case term.QuotLift:
		v := s.Param(params[1])
		beta := s.Local(2, s.Sort(v))
		f := s.Local(3, k.arrow(alpha, beta))
		b := s.Local(5, alpha)
		equal := s.Apps(k.constant(k.names.eq, v), []term.Expr{beta, s.App(f, a), s.App(f, b)})
		compatible := k.pis([]term.Expr{a, b}, k.arrow(s.Apps(r, []term.Expr{a, b}), equal))
		return k.pis([]term.Expr{alpha, r, beta, f}, k.arrow(compatible, k.arrow(quot, beta)))
	default: // term.QuotInd
		beta := s.Local(2, k.arrow(quot, prop))
		q := s.Local(5, quot)
		every := k.pis([]term.Expr{a}, s.App(beta, mk(a)))
		return k.pis([]term.Expr{alpha, r, beta}, k.arrow(every, k.pis([]term.Expr{q}, s.App(beta, q))))
	}
}

// hasEq: Eq.{u} (α : Sort u) (a : α) : α → Prop is inductive with the one constructor refl : Eq a a.
func (k *kernel) hasEq() bool {
	c, refl := k.env[k.names.eq], k.env[k.names.eqRefl]
	if c == nil || c.inductive == nil || refl == nil || len(c.params) != 1 || c.inductive.numParams != 2 ||
		len(c.inductive.constructors) != 1 || c.inductive.constructors[0] != k.names.eqRefl {
		return false
	}
	s := k.store
	u := s.Param(c.params[0])
	alpha := s.Local(0, s.Sort(u))
	a := s.Local(1, alpha)
	eq := k.constant(k.names.eq, u)
	return c.typ == k.pis([]term.Expr{alpha}, k.arrow(alpha, k.arrow(alpha, s.Sort(term.Zero)))) &&
		refl.typ == k.pis([]term.Expr{alpha, a}, s.Apps(eq, []term.Expr{alpha, a, a}))
}

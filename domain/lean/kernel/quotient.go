package kernel

import (
	"slices"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// quotientConstant is a constant that Lean builds in, and the kind of its record.
type quotientConstant struct {
	id     builtin.ID
	kind   term.QuotKind
	params int
	speaks []builtin.ID // of which other records its type or its reduction does
}

var quotientConstants = []quotientConstant{
	{builtin.Quot, term.QuotType, 1, nil},
	{builtin.QuotMk, term.QuotCtor, 1, []builtin.ID{builtin.Quot}},
	{builtin.QuotLift, term.QuotLift, 2, []builtin.ID{builtin.Quot, builtin.QuotMk}},
	{builtin.QuotInd, term.QuotInd, 1, []builtin.ID{builtin.Quot, builtin.QuotMk}},
}

// checkQuotient compares one of the four quotient records with what Lean builds in. Names are tied to kinds, so that a
// reduction rule never applies to another constant; the constants that a record speaks of are quotient records before it;
// and a file has all four or none.
//
// Trap: a type compared by the names in it is not the built-in one where Quot is a definition, def Quot α r := PUnit.
func (c *checker) checkQuotient(d *term.Declaration) {
	s := c.store
	i := slices.IndexFunc(quotientConstants, func(q quotientConstant) bool { return q.kind == d.QuotKind && c.names.Handle(q.id) == d.Name })
	if i < 0 {
		refuse(InvalidQuotient, "%s is no quotient constant of kind %q", s.NameString(d.Name), d.QuotKind)
	}
	if len(d.LevelParams) != quotientConstants[i].params {
		refuse(InvalidQuotient, "%s has %d universe parameters", s.NameString(d.Name), len(d.LevelParams))
	}
	for _, id := range quotientConstants[i].speaks {
		if k := c.findConstant(c.names.Handle(id)); k == nil || k.Kind != environment.Quotient {
			refuse(InvalidQuotient, "%s needs the quotient record %s before it", s.NameString(d.Name), id)
		}
	}
	c.check(d.Type)
	generated := c.quotientType(d)
	if !c.sameUpToLevels(d.Type, generated) {
		refuse(InvalidQuotient, "the type of %s is not the built-in one", s.NameString(d.Name))
	}
	if d.QuotKind == term.QuotLift {
		c.requireEq()
	}
	c.checkApart(d.LevelParams, InvalidQuotient, "the built-in type of "+s.NameString(d.Name), func(own *checker) { own.sortOf(generated, true) })
	for _, q := range quotientConstants {
		unit, declared := c.env.IntroducedBy(c.names.Handle(q.id))
		if !declared || c.env.Declaration(unit).Kind != term.Quotient {
			refuse(InvalidQuotient, "%s is no quotient record of this file: there are all four, or none", q.id)
		}
	}
}

func (c *checker) quotientType(d *term.Declaration) term.Expr {
	s := c.store
	defer func(saved uint32) { c.nextLocal = saved }(c.nextLocal)
	u := s.Param(d.LevelParams[0])
	us := s.List([]term.Level{u})
	prop := s.Sort(term.Zero)
	alpha := c.newLocal(s.Sort(u))
	r := c.newLocal(s.Pi(alpha, s.Pi(alpha, prop)))
	quot := s.Apps(s.Const(c.names.Handle(builtin.Quot), us), []term.Expr{alpha, r})
	mk := func(a term.Expr) term.Expr {
		return s.Apps(s.Const(c.names.Handle(builtin.QuotMk), us), []term.Expr{alpha, r, a})
	}
	switch d.QuotKind {
	case term.QuotType:
		return s.Pis([]term.Expr{alpha, r}, s.Sort(u))
	case term.QuotCtor:
		a := c.newLocal(alpha)
		return s.Pis([]term.Expr{alpha, r, a}, quot)
	case term.QuotLift:
		v := s.Param(d.LevelParams[1])
		beta := c.newLocal(s.Sort(v))
		f := c.newLocal(s.Pi(alpha, beta))
		a, b := c.newLocal(alpha), c.newLocal(alpha)
		related := c.newLocal(s.Apps(r, []term.Expr{a, b}))
		equal := s.Apps(s.Const(c.names.Handle(builtin.Eq), s.List([]term.Level{v})), []term.Expr{beta, s.App(f, a), s.App(f, b)})
		sound := c.newLocal(s.Pis([]term.Expr{a, b, related}, equal))
		return s.Pis([]term.Expr{alpha, r, beta, f, sound}, s.Pi(quot, beta))
	default:
		motive := c.newLocal(s.Pi(quot, prop))
		a := c.newLocal(alpha)
		onMk := c.newLocal(s.Pis([]term.Expr{a}, s.App(motive, mk(a))))
		q := c.newLocal(quot)
		return s.Pis([]term.Expr{alpha, r, motive, onMk, q}, s.App(motive, q))
	}
}

// requireEq refuses unless Eq is what Quot.lift speaks of: Quot.lift's soundness rests on it.
func (c *checker) requireEq() {
	s := c.store
	eq, refl := c.findConstant(c.names.Handle(builtin.Eq)), c.findConstant(c.names.Handle(builtin.EqRefl))
	if eq == nil || eq.Inductive == nil || refl == nil || refl.Constructor == nil || len(eq.Params) != 1 || len(refl.Params) != 1 ||
		len(eq.Inductive.Constructors) != 1 || eq.Inductive.Constructors[0] != c.names.Handle(builtin.EqRefl) || eq.Inductive.NumParams != 2 ||
		eq.Unit != refl.Unit {
		refuse(InvalidQuotient, "Quot needs Eq declared before it")
	}
	defer func(saved uint32) { c.nextLocal = saved }(c.nextLocal)
	alpha := c.newLocal(s.Sort(s.Param(eq.Params[0])))
	a, b := c.newLocal(alpha), c.newLocal(alpha)
	eqType := s.Pis([]term.Expr{alpha, a, b}, s.Sort(term.Zero))
	alpha = c.newLocal(s.Sort(s.Param(refl.Params[0])))
	a = c.newLocal(alpha)
	reflType := s.Pis([]term.Expr{alpha, a},
		s.Apps(s.Const(c.names.Handle(builtin.Eq), s.List([]term.Level{s.Param(refl.Params[0])})), []term.Expr{alpha, a, a}))
	if !c.sameUpToLevels(eq.Type, eqType) || !c.sameUpToLevels(refl.Type, reflType) {
		refuse(InvalidQuotient, "Quot needs Eq to be equality")
	}
}

// sameUpToLevels says whether two expressions are built alike, with equal levels where levels stand. Records of the
// file that the kernel generates itself are compared this way: no reduction, no unfolding.
func (c *checker) sameUpToLevels(a, b term.Expr) bool {
	return c.sameStructure(a, b, map[uint64]bool{})
}

func (c *checker) sameStructure(a, b term.Expr, seen map[uint64]bool) bool {
	if a == b {
		return true
	}
	na, nb := c.store.Node(a), c.store.Node(b)
	if na.Kind != nb.Kind {
		return false
	}
	key := uint64(a)<<32 | uint64(b)
	if seen[key] {
		return true // compared already, or being compared with the answer still open: a difference ends everything
	}
	seen[key] = true
	c.enter()
	defer c.leave()
	switch na.Kind {
	case term.KindSort:
		return c.levels.equal(term.Level(na.A), term.Level(nb.A))
	case term.KindConst:
		return na.A == nb.A && c.equalLevels(term.Levels(na.B), term.Levels(nb.B))
	case term.KindApp, term.KindLam, term.KindPi:
		return c.sameStructure(term.Expr(na.A), term.Expr(nb.A), seen) && c.sameStructure(term.Expr(na.B), term.Expr(nb.B), seen)
	case term.KindLet:
		return c.sameStructure(term.Expr(na.A), term.Expr(nb.A), seen) && c.sameStructure(term.Expr(na.B), term.Expr(nb.B), seen) &&
			c.sameStructure(term.Expr(na.C), term.Expr(nb.C), seen)
	case term.KindProj:
		return na.A == nb.A && na.B == nb.B && c.sameStructure(term.Expr(na.C), term.Expr(nb.C), seen)
	case term.KindLocal:
		return na.A == nb.A && c.sameStructure(term.Expr(na.B), term.Expr(nb.B), seen)
	}
	return false
}

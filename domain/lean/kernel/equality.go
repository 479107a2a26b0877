package kernel

import (
	"reckon/domain/lean/builtin"
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// answer is the three-valued result of an incomplete test of definitional equality.
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

// defEq says whether two well-typed expressions are definitionally equal. Like Lean's own, the procedure is sound and
// not complete; it follows the same order of attempts.
//
// Trap (lean4#14806, arena rec-missing-ih): being incomplete, it is neither transitive nor symmetric. defEqBinders takes
// the variable's type from the second side, as Lean does, and what is stuck on the one side's type may reduce on the
// other's. So defEq is a function of the ordered pair, and the caches hold values of functions and nothing that follows
// from them: equal of defEq, equalReduced of defEqReduced, unequal of sameArguments, each looked up only where that
// function is what a checker without caches would compute next. No answer then depends on which questions came before: a
// recursor whose type and rules were built on different answers proves False.
func (c *checker) defEq(a, b term.Expr) bool {
	if a == b || c.equal.contains(a, b) {
		return true
	}
	c.disturb(a, b)
	c.enter()
	equal := c.defEqCore(a, b)
	c.leave()
	if equal {
		c.equal.add(a, b)
	}
	return equal
}

func (c *checker) defEqCore(a, b term.Expr) bool {
	if r := c.quickDefEq(a, b); r != unknown {
		return r == yes
	}
	if (c.store.Node(a).Locals == 0 || c.eager) && c.store.IsConst(b, c.names.Handle(builtin.BoolTrue)) {
		if c.store.IsConst(c.whnf(a), c.names.Handle(builtin.BoolTrue)) {
			return true
		}
	}
	x, y := c.whnfCore(a, true), c.whnfCore(b, true)
	if x != a || y != b {
		if r := c.quickDefEq(x, y); r != unknown {
			return r == yes
		}
	}
	if r := c.defEqProofs(x, y); r != unknown {
		return r == yes
	}
	return c.defEqReduced(x, y)
}

// defEqReduced is the rest of defEq for two expressions without redex at the head, which are no two proofs: unfolding,
// and comparison of what does not unfold. lazyDelta looks a pair up where it would otherwise go on as defEqReduced
// begins.
func (c *checker) defEqReduced(x, y term.Expr) bool {
	if c.equalReduced.contains(x, y) {
		return true
	}
	equal := c.defEqUnfolding(x, y)
	if equal {
		c.equalReduced.add(x, y)
	}
	return equal
}

func (c *checker) defEqUnfolding(x, y term.Expr) bool {
	x, y, r := c.lazyDelta(x, y)
	if r != unknown {
		return r == yes
	}
	nx, ny := c.store.Node(x), c.store.Node(y)
	switch {
	case nx.Kind == term.KindConst && ny.Kind == term.KindConst:
		if nx.A == ny.A && c.equalLevels(term.Levels(nx.B), term.Levels(ny.B)) {
			return true
		}
	case nx.Kind == term.KindProj && ny.Kind == term.KindProj:
		if nx.A == ny.A && nx.B == ny.B && c.defEqStructures(nx, ny) {
			return true
		}
	}
	// So far projections were reduced cheaply only.
	fullX, fullY := c.whnfCore(x, false), c.whnfCore(y, false)
	if fullX != x || fullY != y {
		return c.defEq(fullX, fullY)
	}
	return c.defEqApp(x, y) || c.etaExpansion(x, y) || c.etaExpansion(y, x) || c.etaStructure(x, y) || c.etaStructure(y, x) ||
		c.stringExpansion(x, y) || c.stringExpansion(y, x) || c.defEqUnitLike(x, y)
}

// quickDefEq compares a and b without reducing them: sorts, binders, literals. On binders it is defEq, and shares its
// cache; on others a pair that defEq found equal may be unknown to it.
func (c *checker) quickDefEq(a, b term.Expr) answer {
	if a == b {
		return yes
	}
	na, nb := c.store.Node(a), c.store.Node(b)
	if na.Kind != nb.Kind {
		return unknown
	}
	switch na.Kind {
	case term.KindLam, term.KindPi:
		if c.equal.contains(a, b) {
			return yes
		}
		equal := c.defEqBinders(na.Kind, a, b)
		if equal {
			c.equal.add(a, b)
		}
		return answerOf(equal)
	case term.KindSort:
		return answerOf(c.levels.equal(term.Level(na.A), term.Level(nb.A)))
	case term.KindNat, term.KindStr:
		return no // equal literals are the same expression
	}
	return unknown
}

// defEqBinders compares functions or function types binder by binder. The variable has the second side's type, as in
// Lean (is_def_eq_binding in its type_checker.cpp): the two types were found equal, but one may reduce where the other is
// stuck, so that the answer belongs to this order of the sides.
func (c *checker) defEqBinders(kind term.Kind, a, b term.Expr) bool {
	var buf [8]term.Expr
	locals := buf[:0]
	saved := c.nextLocal
	equal := true
	for {
		na, nb := c.store.Node(a), c.store.Node(b)
		if na.Kind != kind || nb.Kind != kind {
			break
		}
		domain := c.store.Instantiate(term.Expr(nb.A), locals)
		if na.A != nb.A && !c.defEq(c.store.Instantiate(term.Expr(na.A), locals), domain) {
			equal = false
			break
		}
		locals = append(locals, c.newLocal(domain))
		a, b = term.Expr(na.B), term.Expr(nb.B)
	}
	equal = equal && c.defEq(c.store.Instantiate(a, locals), c.store.Instantiate(b, locals))
	c.nextLocal = saved
	return equal
}

func (c *checker) equalLevels(a, b term.Levels) bool {
	if a == b {
		return true
	}
	la, lb := c.store.LevelsOf(a), c.store.LevelsOf(b)
	if len(la) != len(lb) {
		return false
	}
	for i := range la {
		if !c.levels.equal(la[i], lb[i]) {
			return false
		}
	}
	return true
}

// defEqProofs decides by proof irrelevance: two proofs of definitionally equal propositions are equal. It is unknown when
// a is no proof.
func (c *checker) defEqProofs(a, b term.Expr) answer {
	typ := c.typeOf(a)
	if !c.isProp(typ) {
		return unknown
	}
	return answerOf(c.defEq(typ, c.typeOf(b)))
}

// lazyDelta unfolds definitions, the higher one first, until the question is settled or neither side unfolds.
func (c *checker) lazyDelta(a, b term.Expr) (term.Expr, term.Expr, answer) {
	for {
		c.tick()
		if r := c.defEqOffset(a, b); r != unknown {
			return a, b, r
		}
		if c.eager || c.store.Node(a).Locals == 0 && c.store.Node(b).Locals == 0 {
			if v, ok := c.reduceNat(a); ok {
				return a, b, answerOf(c.defEq(v, b))
			}
			if v, ok := c.reduceNat(b); ok {
				return a, b, answerOf(c.defEq(a, v))
			}
		}
		if v, ok := c.reduceNative(a); ok {
			return a, b, answerOf(c.defEq(v, b))
		}
		if v, ok := c.reduceNative(b); ok {
			return a, b, answerOf(c.defEq(a, v))
		}
		nextA, nextB, r, stuck := c.deltaStep(a, b)
		if r != unknown || stuck {
			return nextA, nextB, r
		}
		if c.equalReduced.contains(nextA, nextB) { // this loop and what follows it are defEqReduced of them
			return nextA, nextB, yes
		}
		a, b = nextA, nextB
	}
}

// deltaStep unfolds a definition once: of two, the one of greater height, or both when the heights are equal. stuck is
// true when neither side unfolds.
func (c *checker) deltaStep(a, b term.Expr) (nextA, nextB term.Expr, r answer, stuck bool) {
	ka, kb := c.deltaConstant(a), c.deltaConstant(b)
	switch {
	case ka == nil && kb == nil:
		return a, b, unknown, true
	case kb == nil:
		if p, ok := c.unfoldProjection(b); ok {
			b = p
		} else {
			a = c.unfoldCheap(a)
		}
	case ka == nil:
		if p, ok := c.unfoldProjection(a); ok {
			a = p
		} else {
			b = c.unfoldCheap(b)
		}
	case ka.Height < kb.Height:
		b = c.unfoldCheap(b)
	case ka.Height > kb.Height:
		a = c.unfoldCheap(a)
	default:
		if ka == kb && ka.Height != environment.OpaqueHeight && ka.Height != environment.AbbrevHeight && c.sameArguments(a, b) {
			return a, b, yes, false
		}
		a, b = c.unfoldCheap(a), c.unfoldCheap(b)
	}
	return a, b, c.quickDefEq(a, b), false
}

func (c *checker) unfoldCheap(e term.Expr) term.Expr {
	u, _ := c.unfold(e)
	return c.whnfCore(u, true)
}

// unfoldProjection reduces an application headed by a projection, unfolding definitions inside its structure.
func (c *checker) unfoldProjection(e term.Expr) (term.Expr, bool) {
	if c.store.Kind(c.store.Head(e)) != term.KindProj {
		return 0, false
	}
	r := c.whnfCore(e, false)
	return r, r != e
}

// sameArguments reports whether two applications of one definition are equal because their levels and arguments are. A
// failed comparison is remembered in c.unequal; the definition has to be unfolded then.
func (c *checker) sameArguments(a, b term.Expr) bool {
	if c.store.Kind(a) != term.KindApp || c.store.Kind(b) != term.KindApp {
		return false
	}
	if c.unequal.contains(a, b) {
		return false
	}
	if c.equalSpines(a, b) {
		return true
	}
	c.unequal.add(a, b)
	return false
}

func (c *checker) equalSpines(a, b term.Expr) bool {
	var bufA, bufB [8]term.Expr
	headA, argsA := c.store.Spine(a, bufA[:0])
	headB, argsB := c.store.Spine(b, bufB[:0])
	if len(argsA) != len(argsB) || !c.equalLevels(term.Levels(c.store.Node(headA).B), term.Levels(c.store.Node(headB).B)) {
		return false
	}
	for i := len(argsA) - 1; i >= 0; i-- {
		if !c.defEq(argsA[i], argsB[i]) {
			return false
		}
	}
	return true
}

// defEqStructures compares the structures of two projections of one field, unfolding them in step; where both become
// constructor applications it is enough that the fields agree.
func (c *checker) defEqStructures(na, nb term.Node) bool {
	a, b := term.Expr(na.C), term.Expr(nb.C)
	for {
		c.tick()
		nextA, nextB, r, stuck := c.deltaStep(a, b)
		if r == yes {
			return true
		}
		a, b = nextA, nextB
		if r == no || stuck {
			break
		}
	}
	if fa, ok := c.projectField(term.Name(na.A), int(na.B), a); ok {
		if fb, ok := c.projectField(term.Name(nb.A), int(nb.B), b); ok {
			return c.defEq(fa, fb)
		}
	}
	return c.defEq(a, b)
}

func (c *checker) defEqApp(a, b term.Expr) bool {
	if c.store.Kind(a) != term.KindApp || c.store.Kind(b) != term.KindApp {
		return false
	}
	var bufA, bufB [8]term.Expr
	headA, argsA := c.store.Spine(a, bufA[:0])
	headB, argsB := c.store.Spine(b, bufB[:0])
	if len(argsA) != len(argsB) || !c.defEq(headA, headB) {
		return false
	}
	for i := range argsA {
		if !c.defEq(argsA[i], argsB[i]) {
			return false
		}
	}
	return true
}

// etaExpansion: a function equals fun x => g x when g, no function literal itself, has a function type.
func (c *checker) etaExpansion(fn, g term.Expr) bool {
	if c.store.Kind(fn) != term.KindLam || c.store.Kind(g) == term.KindLam {
		return false
	}
	n := c.store.Node(c.whnf(c.typeOf(g)))
	if n.Kind != term.KindPi {
		return false
	}
	return c.defEq(fn, c.store.Lam(term.Expr(n.A), c.store.App(g, c.store.BVar(0))))
}

// etaStructure: e equals a full constructor application of a structure when its projections equal the fields.
func (c *checker) etaStructure(e, built term.Expr) bool {
	k, _ := c.headConstant(built)
	if k == nil || k.Constructor == nil {
		return false
	}
	info := k.Constructor
	var buf [8]term.Expr
	_, args := c.store.Spine(built, buf[:0])
	ind := c.findConstant(info.Inductive)
	if len(args) != info.NumParams+info.NumFields || ind == nil || ind.Inductive == nil || !ind.Inductive.StructureLike() {
		return false
	}
	if !c.defEq(c.typeOf(e), c.typeOf(built)) {
		return false
	}
	for i := range info.NumFields {
		if !c.defEq(c.store.Proj(info.Inductive, uint32(i), e), args[info.NumParams+i]) {
			return false
		}
	}
	return true
}

// defEqUnitLike reports whether a and b are values of the same structure type without fields; all such values are equal.
func (c *checker) defEqUnitLike(a, b term.Expr) bool {
	typ := c.whnf(c.typeOf(a))
	k, _ := c.headConstant(typ)
	if k == nil || k.Inductive == nil || !k.Inductive.StructureLike() {
		return false
	}
	ctor := c.findConstant(k.Inductive.Constructors[0])
	if ctor == nil || ctor.Constructor == nil || ctor.Constructor.NumFields != 0 {
		return false
	}
	return c.defEq(typ, c.typeOf(b))
}

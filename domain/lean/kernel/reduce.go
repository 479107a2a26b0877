package kernel

import (
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// whnf reduces e until its head is no redex, unfolding definitions.
func (c *checker) whnf(e term.Expr) term.Expr {
	switch c.store.Kind(e) {
	case term.KindSort, term.KindPi, term.KindLam, term.KindNat, term.KindStr, term.KindLocal, term.KindBVar:
		return e
	}
	if r, ok := c.whnfs.get(e); ok {
		return r
	}
	c.enter()
	r := e
	for {
		c.tick()
		r = c.whnfCore(r, false)
		if v, ok := c.reduceNat(r); ok {
			r = v
			break
		}
		if v, ok := c.reduceNative(r); ok {
			r = v
			break
		}
		unfolded, ok := c.unfold(r)
		if !ok {
			break
		}
		r = unfolded
	}
	c.leave()
	c.whnfs.set(e, r)
	return r
}

// whnfCore reduces e to weak head normal form by beta, zeta, projections, recursors and quotients, without unfolding the
// definition at the head. The major premise of a recursor is reduced with whnf. With cheap, the structure of a
// projection is reduced with whnfCore only: two projections can often be compared without unfolding more.
func (c *checker) whnfCore(e term.Expr, cheap bool) term.Expr {
	switch c.store.Kind(e) {
	case term.KindApp, term.KindLet, term.KindProj:
	default:
		return e
	}
	cache := &c.whnfCores
	if cheap {
		cache = &c.cheapWhnfCores
	}
	if r, ok := cache.get(e); ok {
		return r
	}
	c.enter()
	r := e
	for {
		next, ok := c.whnfCoreStep(r, cheap)
		if !ok {
			break
		}
		r = next
		if known, ok := cache.get(r); ok {
			r = known
			break
		}
		c.tick()
	}
	c.leave()
	cache.set(e, r)
	return r
}

func (c *checker) whnfCoreStep(e term.Expr, cheap bool) (term.Expr, bool) {
	n := c.store.Node(e)
	switch n.Kind {
	case term.KindLet:
		body, values := c.openLets(e, nil)
		return c.store.Instantiate(body, values), true
	case term.KindProj:
		return c.reduceProj(n, cheap)
	case term.KindApp:
	default:
		return 0, false
	}
	if c.symbolic != nil {
		if known, ok := c.symbolic.interceptFuelCall(e); ok {
			return known, true
		}
	}
	head := c.store.Head(e)
	switch c.store.Kind(head) {
	case term.KindLam:
		var buf [8]term.Expr
		_, args := c.store.Spine(e, buf[:0])
		return c.beta(head, args), true
	case term.KindLet, term.KindProj:
		reduced := c.whnfCore(head, cheap)
		if reduced == head {
			return 0, false
		}
		var buf [8]term.Expr
		_, args := c.store.Spine(e, buf[:0])
		return c.store.Apps(reduced, args), true
	case term.KindConst:
		hn := c.store.Node(head)
		k := c.findConstant(term.Name(hn.A))
		if k == nil {
			return 0, false
		}
		switch {
		case k.Recursor != nil:
			return c.reduceRec(e, head, k, term.Levels(hn.B))
		case k.Kind == environment.Quotient:
			return c.reduceQuot(e, k)
		}
	}
	return 0, false
}

// beta applies fn to args. As long as the body is a function applied again, it continues there, and substitutes all
// values in one pass.
func (c *checker) beta(fn term.Expr, args []term.Expr) term.Expr {
	values := args[:0:0]
	for {
		m := 0
		for m < len(args) {
			n := c.store.Node(fn)
			if n.Kind != term.KindLam {
				break
			}
			fn = term.Expr(n.B)
			m++
		}
		if len(values) == 0 {
			values = args[:m:m]
		} else {
			values = append(values, args[:m]...)
		}
		args = args[m:]
		if c.store.Kind(fn) != term.KindApp || c.store.Kind(c.store.Head(fn)) != term.KindLam {
			return c.store.Apps(c.store.Instantiate(fn, values), args)
		}
		c.tick()
		head, inner := c.store.Spine(fn, nil)
		for i, arg := range inner {
			inner[i] = c.store.Instantiate(arg, values)
		}
		fn, args = head, append(inner, args...)
	}
}

// reduceProj reduces a projection of a constructor application to the field.
func (c *checker) reduceProj(n term.Node, cheap bool) (term.Expr, bool) {
	e := term.Expr(n.C)
	if cheap {
		e = c.whnfCore(e, true)
	} else {
		e = c.whnf(e)
	}
	return c.projectField(term.Name(n.A), int(n.B), e)
}

// projectField returns field number index of e, if e is a constructor application of the structure type.
func (c *checker) projectField(structure term.Name, index int, e term.Expr) (term.Expr, bool) {
	if c.store.Kind(e) == term.KindStr {
		if expanded, ok := c.expandString(e); ok {
			e = c.whnf(expanded)
		}
	}
	k, _ := c.headConstant(e)
	if k == nil || k.Constructor == nil || k.Constructor.Inductive != structure {
		return 0, false
	}
	var buf [8]term.Expr
	_, args := c.store.Spine(e, buf[:0])
	if i := k.Constructor.NumParams + index; i < len(args) {
		return args[i], true
	}
	return 0, false
}

// reduceRec reduces a recursor whose major premise is a constructor application (iota): the value of the constructor's
// rule is applied to the parameters, motives, minor premises, fields and remaining arguments.
func (c *checker) reduceRec(e, head term.Expr, k *environment.Constant, ls term.Levels) (term.Expr, bool) {
	rec := k.Recursor
	var buf [16]term.Expr
	_, args := c.store.Spine(e, buf[:0])
	if rec.MajorIndex() >= len(args) || len(c.store.LevelsOf(ls)) != len(k.Params) {
		return 0, false
	}
	major := args[rec.MajorIndex()]
	if rec.K {
		if converted, ok := c.toConstructorByK(major, rec); ok {
			major = converted
		}
	}
	major = c.whnf(major)
	switch c.store.Kind(major) {
	case term.KindNat:
		major = c.natConstructor(major)
	case term.KindStr:
		if expanded, ok := c.expandString(major); ok {
			major = c.whnf(expanded)
		}
	default:
		major = c.toConstructorByEta(major, rec)
	}
	ctor := c.store.Node(c.store.Head(major))
	if ctor.Kind != term.KindConst {
		return 0, false
	}
	for i := range rec.Rules {
		rule := &rec.Rules[i]
		if rule.Constructor != term.Name(ctor.A) {
			continue
		}
		var fieldBuf [8]term.Expr
		_, fields := c.store.Spine(major, fieldBuf[:0])
		if int(rule.NumFields) > len(fields) {
			return 0, false
		}
		key := uint64(head)<<32 | uint64(i)
		value, ok := c.ruleValues[key]
		if !ok {
			value = c.instantiateParams(rule.Value, k, ls)
			c.ruleValues[key] = value
		}
		arguments := append(make([]term.Expr, 0, len(args)+int(rule.NumFields)), args[:rec.FirstIndex()]...)
		arguments = append(arguments, fields[len(fields)-int(rule.NumFields):]...)
		arguments = append(arguments, args[rec.MajorIndex()+1:]...)
		return c.beta(value, arguments), true
	}
	return 0, false
}

// toConstructorByK turns a proof of a K-like proposition into the constructor application its type calls for.
//
// Trap (arena ruleKbad, k-rec-conv): the indices must agree. h : a = b becomes Eq.refl a only when a and b are
// definitionally equal; the type of the new application is compared with the type of the proof.
func (c *checker) toConstructorByK(major term.Expr, rec *environment.RecursorInfo) (term.Expr, bool) {
	typ := c.whnf(c.typeOf(major))
	head, args := c.store.Spine(typ, nil)
	n := c.store.Node(head)
	if n.Kind != term.KindConst || term.Name(n.A) != rec.MajorInductive || len(args) < rec.NumParams {
		return 0, false
	}
	k := c.findConstant(rec.MajorInductive)
	if k == nil || k.Inductive == nil || len(k.Inductive.Constructors) != 1 || c.findConstant(k.Inductive.Constructors[0]) == nil {
		return 0, false
	}
	built := c.store.Apps(c.store.Const(k.Inductive.Constructors[0], term.Levels(n.B)), args[:rec.NumParams])
	if !c.defEq(typ, c.typeOf(built)) {
		return 0, false
	}
	return built, true
}

// toConstructorByEta turns a value of a structure type that is no proposition into the constructor applied to its
// projections.
//
// Trap (arena accRecNoEta): recursive types have no eta.
func (c *checker) toConstructorByEta(e term.Expr, rec *environment.RecursorInfo) term.Expr {
	k := c.findConstant(rec.MajorInductive)
	if k == nil || k.Inductive == nil || !k.Inductive.StructureLike() {
		return e
	}
	if h, _ := c.headConstant(e); h != nil && h.Constructor != nil {
		return e
	}
	typ := c.whnf(c.typeOf(e))
	head, args := c.store.Spine(typ, nil)
	n := c.store.Node(head)
	ctor := c.findConstant(k.Inductive.Constructors[0])
	if n.Kind != term.KindConst || term.Name(n.A) != rec.MajorInductive || ctor == nil || ctor.Constructor == nil ||
		len(args) < ctor.Constructor.NumParams || c.isProp(typ) {
		return e
	}
	built := c.store.Apps(c.store.Const(ctor.Name, term.Levels(n.B)), args[:ctor.Constructor.NumParams])
	for i := range ctor.Constructor.NumFields {
		built = c.store.App(built, c.store.Proj(rec.MajorInductive, uint32(i), e))
	}
	return built
}

// reduceQuot computes Quot.lift f h (Quot.mk r a) = f a and Quot.ind p (Quot.mk r a) = p a.
func (c *checker) reduceQuot(e term.Expr, k *environment.Constant) (term.Expr, bool) {
	var majorIndex int
	switch k.Quotient {
	case term.QuotLift:
		majorIndex = 5
	case term.QuotInd:
		majorIndex = 4
	default:
		return 0, false
	}
	var buf [8]term.Expr
	_, args := c.store.Spine(e, buf[:0])
	if len(args) <= majorIndex {
		return 0, false
	}
	var mkBuf [8]term.Expr
	head, mkArgs := c.store.Spine(c.whnf(args[majorIndex]), mkBuf[:0])
	n := c.store.Node(head)
	if n.Kind != term.KindConst || len(mkArgs) != 3 {
		return 0, false
	}
	if mk := c.findConstant(term.Name(n.A)); mk == nil || mk.Quotient != term.QuotCtor {
		return 0, false
	}
	return c.store.Apps(c.store.App(args[3], mkArgs[2]), args[majorIndex+1:]), true
}

// deltaConstant returns the definition or theorem at the head of e if it unfolds.
func (c *checker) deltaConstant(e term.Expr) *environment.Constant {
	k, ls := c.headConstant(e)
	if k == nil || !k.Unfolds() || len(c.store.LevelsOf(ls)) != len(k.Params) || c.symbolic != nil && c.symbolic.leavesFolded(k.Name) {
		return nil
	}
	return k
}

// unfold replaces the definition at the head of e by its value.
func (c *checker) unfold(e term.Expr) (term.Expr, bool) {
	k := c.deltaConstant(e)
	if k == nil {
		return 0, false
	}
	var buf [8]term.Expr
	head, args := c.store.Spine(e, buf[:0])
	value, ok := c.unfoldings.get(head)
	if !ok {
		value = c.instantiateParams(k.Value, k, term.Levels(c.store.Node(head).B))
		c.unfoldings.set(head, value)
	}
	return c.beta(value, args), true
}

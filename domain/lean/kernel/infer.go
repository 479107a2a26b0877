package kernel

import (
	"reckon/domain/lean/builtin"
	"reckon/domain/lean/term"
)

// check infers the type of e and checks every part of it.
func (c *checker) check(e term.Expr) term.Expr { return c.infer(e, true) }

// typeOf infers the type of an expression that is known to be well-typed, without checking its parts again.
func (c *checker) typeOf(e term.Expr) term.Expr { return c.infer(e, false) }

func (c *checker) infer(e term.Expr, check bool) term.Expr {
	if check || !c.eager { // while c.eager is set nothing is checked, and a type may be inferred by other reductions
		if t, ok := c.inferred.get(e); ok {
			return t
		}
	}
	if !check {
		if t, ok := c.inferredOnly.get(e); ok {
			return t
		}
	}
	n := c.store.Node(e)
	if n.Loose > 0 {
		refuse(LooseVariable, "a bound variable has no binder")
	}
	c.enter()
	var t term.Expr
	switch n.Kind {
	case term.KindLocal:
		t = term.Expr(n.B)
	case term.KindSort:
		if check {
			c.checkLevel(term.Level(n.A))
		}
		t = c.store.Sort(c.store.Succ(term.Level(n.A)))
	case term.KindConst:
		t = c.inferConst(n, check)
	case term.KindApp:
		t = c.inferApp(e, check)
	case term.KindLam:
		t = c.inferLam(e, check)
	case term.KindPi:
		t = c.inferPi(e, check)
	case term.KindLet:
		t = c.inferLet(e, check)
	case term.KindProj:
		t = c.inferProj(n, check)
	case term.KindNat:
		t = c.natLiteralType()
	case term.KindStr:
		t = c.stringLiteralType()
	}
	c.leave()
	if check {
		c.inferred.set(e, t)
	} else {
		c.inferredOnly.set(e, t)
	}
	return t
}

// checkLevel refuses l (UndefinedUniverse) when it has a universe parameter that the declaration does not declare.
func (c *checker) checkLevel(l term.Level) {
	n := c.store.LevelNode(l)
	if !n.HasParam {
		return
	}
	c.tick()
	switch n.Kind {
	case term.LevelParam:
		for _, p := range c.params {
			if p == term.Name(n.A) {
				return
			}
		}
		refuse(UndefinedUniverse, "the universe parameter %s is not declared", c.store.NameString(term.Name(n.A)))
	case term.LevelSucc:
		c.checkLevel(term.Level(n.A))
	default:
		if n.Size > 64 {
			c.checkLargeLevel(l, map[term.Level]bool{})
			return
		}
		c.checkLevel(term.Level(n.A))
		c.checkLevel(term.Level(n.B))
	}
}

// checkLargeLevel is checkLevel for levels whose parts may be shared many times.
func (c *checker) checkLargeLevel(l term.Level, seen map[term.Level]bool) {
	n := c.store.LevelNode(l)
	if !n.HasParam || seen[l] {
		return
	}
	seen[l] = true
	if n.Kind == term.LevelParam {
		c.checkLevel(l)
		return
	}
	c.checkLargeLevel(term.Level(n.A), seen)
	if n.Kind != term.LevelSucc {
		c.checkLargeLevel(term.Level(n.B), seen)
	}
}

func (c *checker) inferConst(n term.Node, check bool) term.Expr {
	name, ls := term.Name(n.A), term.Levels(n.B)
	k := c.findConstant(name)
	if k == nil {
		refuse(UnknownConstant, "%s is not declared before its use", c.store.NameString(name))
	}
	levels := c.store.LevelsOf(ls)
	// Trap (arena constlevels): too few or too many universe arguments must not pass anywhere a constant is used.
	if len(levels) != len(k.Params) {
		refuse(UniverseCount, "%s takes %d universe arguments, not %d", c.store.NameString(name), len(k.Params), len(levels))
	}
	if check {
		if k.Unsafe {
			refuse(UnsafeReference, "%s is unsafe or partial", c.store.NameString(name))
		}
		for _, l := range levels {
			c.checkLevel(l)
		}
	}
	return c.instantiateParams(k.Type, k, ls)
}

func (c *checker) inferApp(e term.Expr, check bool) term.Expr {
	var buf [8]term.Expr
	head, args := c.store.Spine(e, buf[:0])
	typ := c.infer(head, check)
	done := 0 // args[done:i] are still to be substituted into typ
	for i, arg := range args {
		n := c.store.Node(typ)
		if n.Kind != term.KindPi {
			typ = c.whnf(c.store.Instantiate(typ, args[done:i]))
			done = i
			if n = c.store.Node(typ); n.Kind != term.KindPi {
				refuse(FunctionExpected, "%s is applied but is no function: it has type %s",
					c.store.Describe(c.store.Apps(head, args[:i])), c.store.Describe(typ))
			}
		}
		if check {
			domain := c.store.Instantiate(term.Expr(n.A), args[done:i])
			argType := c.infer(arg, true)
			if argType != domain && !c.argumentFits(arg, argType, domain) {
				refuse(ArgumentMismatch, "argument %d of %s has type %s where %s is expected",
					i+1, c.store.Describe(head), c.store.Describe(argType), c.store.Describe(domain))
			}
		}
		typ = term.Expr(n.B)
	}
	return c.store.Instantiate(typ, args[done:])
}

// argumentFits reports whether argType is definitionally equal to domain. For an argument eagerReduce _ a the comparison
// computes Nat operations on literals even beside free variables.
func (c *checker) argumentFits(arg, argType, domain term.Expr) bool {
	if n := c.store.Node(arg); n.Kind == term.KindApp {
		if m := c.store.Node(term.Expr(n.A)); m.Kind == term.KindApp && c.store.IsConst(term.Expr(m.A), c.names.Handle(builtin.EagerReduce)) {
			if !c.eager {
				c.eager = true
				c.forgetReductions()
				defer func() { c.eager = false; c.forgetReductions() }()
			}
		}
	}
	return c.defEq(argType, domain)
}

func (c *checker) inferLam(e term.Expr, check bool) term.Expr {
	var localBuf, domainBuf [8]term.Expr
	locals, domains := localBuf[:0], domainBuf[:0]
	saved := c.nextLocal
	body := e
	for {
		n := c.store.Node(body)
		if n.Kind != term.KindLam {
			break
		}
		domain := c.store.Instantiate(term.Expr(n.A), locals)
		if check {
			c.sortOf(domain, true)
		}
		locals = append(locals, c.newLocal(domain))
		domains = append(domains, term.Expr(n.A))
		body = term.Expr(n.B)
	}
	var t term.Expr
	if check {
		var s scope
		for _, local := range locals {
			s = c.enterScope(s, local)
		}
		t = c.checkInScope(body, s)
	} else {
		t = c.infer(c.store.Instantiate(body, locals), false)
	}
	t = c.store.Abstract(t, locals)
	for i := len(domains) - 1; i >= 0; i-- {
		t = c.store.Pi(domains[i], t)
	}
	c.nextLocal = saved
	return t
}

func (c *checker) inferPi(e term.Expr, check bool) term.Expr {
	var localBuf [8]term.Expr
	var levelBuf [8]term.Level
	locals, levels := localBuf[:0], levelBuf[:0]
	saved := c.nextLocal
	body := e
	for {
		n := c.store.Node(body)
		if n.Kind != term.KindPi {
			break
		}
		domain := c.store.Instantiate(term.Expr(n.A), locals)
		levels = append(levels, c.sortOf(domain, check))
		locals = append(locals, c.newLocal(domain))
		body = term.Expr(n.B)
	}
	l := c.sortOf(c.store.Instantiate(body, locals), check)
	for i := len(levels) - 1; i >= 0; i-- {
		l = c.store.SimplifiedIMax(levels[i], l)
	}
	c.nextLocal = saved
	return c.store.Sort(l)
}

func (c *checker) inferLet(e term.Expr, check bool) term.Expr {
	body, values := c.openLets(e, func(typ, value term.Expr) {
		if !check {
			return
		}
		c.sortOf(typ, true)
		if t := c.infer(value, true); !c.defEq(t, typ) {
			refuse(LetMismatch, "a let binds a value of type %s to type %s", c.store.Describe(t), c.store.Describe(typ))
		}
	})
	return c.infer(c.store.Instantiate(body, values), check)
}

// openLets walks a chain of lets and calls visit with each type and value, the earlier values substituted.
func (c *checker) openLets(e term.Expr, visit func(typ, value term.Expr)) (body term.Expr, values []term.Expr) {
	for {
		n := c.store.Node(e)
		if n.Kind != term.KindLet {
			return e, values
		}
		value := c.store.Instantiate(term.Expr(n.B), values)
		if visit != nil {
			visit(c.store.Instantiate(term.Expr(n.A), values), value)
		}
		values = append(values, value)
		e = term.Expr(n.C)
	}
}

// sortOf returns the level l of a type e : Sort l.
func (c *checker) sortOf(e term.Expr, check bool) term.Level {
	t := c.infer(e, check)
	if c.store.Kind(t) != term.KindSort {
		t = c.whnf(t)
	}
	n := c.store.Node(t)
	if n.Kind != term.KindSort {
		refuse(TypeExpected, "%s stands where a type is expected: it has type %s", c.store.Describe(e), c.store.Describe(t))
	}
	return term.Level(n.A)
}

// isProp says whether the type e is in Prop: its universe is zero whatever the parameters are.
//
// Trap (lean4#14807, arena proj-of-subst-prop): a type whose universe cannot be determined, because reduction is stuck,
// must not count as a type outside Prop.
func (c *checker) isProp(e term.Expr) bool { return c.levels.alwaysZero(c.sortOf(e, false)) }

// inferProj types a projection: the structure's type is an inductive type with one constructor, and the field's type is
// that of the constructor with parameters and earlier fields put in.
//
// Trap (arena proj-of-prop, projProp*): a structure in Prop hides its data. A field that is no proof cannot be
// projected, nor can one that comes after such a field and depends on it.
func (c *checker) inferProj(n term.Node, check bool) term.Expr {
	name, index, e := term.Name(n.A), int(n.B), term.Expr(n.C)
	typ := c.whnf(c.infer(e, check))
	head, args := c.store.Spine(typ, nil)
	hn := c.store.Node(head)
	if hn.Kind != term.KindConst || term.Name(hn.A) != name {
		refuse(InvalidProjection, "a projection of %s is applied to a value of type %s", c.store.NameString(name), c.store.Describe(typ))
	}
	k := c.findConstant(name)
	if k == nil || k.Inductive == nil || len(k.Inductive.Constructors) != 1 ||
		len(args) != k.Inductive.NumParams+k.Inductive.NumIndices {
		refuse(InvalidProjection, "%s is no type with a single constructor", c.store.NameString(name))
	}
	ctor := c.findConstant(k.Inductive.Constructors[0])
	if ctor == nil || ctor.Constructor == nil || len(ctor.Params) != len(c.store.LevelsOf(term.Levels(hn.B))) {
		refuse(InvalidProjection, "%s has no constructor to project from", c.store.NameString(name))
	}
	field := c.instantiateParams(ctor.Type, ctor, term.Levels(hn.B))
	next := func() term.Node {
		field = c.whnf(field)
		m := c.store.Node(field)
		if m.Kind != term.KindPi {
			refuse(InvalidProjection, "%s has no field %d", c.store.NameString(name), index)
		}
		return m
	}
	for _, arg := range args[:k.Inductive.NumParams] {
		field = c.store.Instantiate(term.Expr(next().B), []term.Expr{arg})
	}
	inProp := c.isProp(typ)
	for i := range index {
		c.tick()
		m := next()
		if c.store.Node(term.Expr(m.B)).Loose > 0 {
			if inProp && !c.isProp(term.Expr(m.A)) {
				refuse(InvalidProjection, "field %d of the proposition %s depends on data", index, c.store.NameString(name))
			}
			field = c.store.Instantiate(term.Expr(m.B), []term.Expr{c.store.Proj(name, uint32(i), e)})
		} else {
			field = term.Expr(m.B)
		}
	}
	result := term.Expr(next().A)
	if inProp && !c.isProp(result) {
		refuse(InvalidProjection, "field %d of the proposition %s is data", index, c.store.NameString(name))
	}
	return result
}

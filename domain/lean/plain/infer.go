package plain

import "reckon/domain/lean/term"

// wellScoped checks what can be seen of an expression without typing it: every variable is bound, every constant is
// declared before and has as many universe arguments as parameters, every universe parameter is declared (C++
// type_checker.cpp, check_level and infer_constant).
func (k *kernel) wellScoped(e term.Expr, params []term.Name) {
	if n := k.store.Node(e); n.Loose > 0 || n.Locals > 0 {
		refuse(looseVariable, "an expression has a variable that nothing binds")
	}
	declared := map[term.Name]bool{}
	for _, p := range params {
		declared[p] = true
	}
	seen := map[term.Level]bool{}
	k.visit(e, func(_ term.Expr, n term.Node) bool {
		switch n.Kind {
		case term.KindSort:
			k.levelInScope(term.Level(n.A), declared, seen)
		case term.KindConst:
			c := k.env[term.Name(n.A)]
			if c == nil {
				refuse(unknownConstant, "the constant %s is not declared before", k.store.NameString(term.Name(n.A)))
			}
			levels := k.store.LevelsOf(term.Levels(n.B))
			if len(levels) != len(c.params) {
				refuse(universeCount, "%s has %d universe arguments instead of %d", k.store.NameString(term.Name(n.A)), len(levels), len(c.params))
			}
			for _, l := range levels {
				k.levelInScope(l, declared, seen)
			}
		}
		return true
	})
}

func (k *kernel) levelInScope(l term.Level, declared map[term.Name]bool, seen map[term.Level]bool) {
	n := k.store.LevelNode(l)
	if !n.HasParam || seen[l] {
		return
	}
	seen[l] = true
	k.enter()
	switch n.Kind {
	case term.LevelParam:
		if !declared[term.Name(n.A)] {
			refuse(undefinedUniverse, "the universe parameter %s is not declared", k.store.NameString(term.Name(n.A)))
		}
	case term.LevelSucc:
		k.levelInScope(term.Level(n.A), declared, seen)
	default:
		k.levelInScope(term.Level(n.A), declared, seen)
		k.levelInScope(term.Level(n.B), declared, seen)
	}
	k.leave()
}

// check is the type of a well-scoped expression, every part of which is checked (TTL 2.2, the typing judgment; C++
// type_checker.cpp, infer_type_core with infer_only = false).
func (k *kernel) check(e term.Expr) term.Expr { return k.infer(e, true) }

// typeOf is the type of an expression that is known to be well-typed: the same rules without their premises.
func (k *kernel) typeOf(e term.Expr) term.Expr { return k.infer(e, false) }

// infer remembers types by expression. The type that is found does not depend on whether premises are checked, so that of
// a checked expression serves for both questions.
func (k *kernel) infer(e term.Expr, premises bool) term.Expr {
	n := k.store.Node(e)
	switch n.Kind {
	case term.KindLocal:
		return term.Expr(n.B)
	case term.KindSort:
		return k.store.Sort(k.store.Succ(term.Level(n.A)))
	case term.KindBVar:
		refuse(looseVariable, "a variable is bound by nothing")
	}
	if t, ok := k.memo.checked[e]; ok {
		return t
	}
	if t, ok := k.memo.typed[e]; ok && !premises {
		return t
	}
	k.enter()
	t := k.inferNode(e, n, premises)
	k.leave()
	if premises {
		keep(k, k.memo.checked, e, t)
	} else {
		keep(k, k.memo.typed, e, t)
	}
	return t
}

func (k *kernel) inferNode(e term.Expr, n term.Node, premises bool) term.Expr {
	switch n.Kind {
	case term.KindConst:
		c, name, levels := k.constAt(e)
		if c == nil {
			refuse(unknownConstant, "the constant %s is not declared before", k.store.NameString(name))
		}
		if len(levels) != len(c.params) {
			refuse(universeCount, "%s has %d universe arguments instead of %d", k.store.NameString(name), len(levels), len(c.params))
		}
		return k.instantiateLevels(c.typ, c.params, levels)
	case term.KindApp:
		return k.inferApp(e, premises)
	case term.KindLam:
		return k.inferLam(e, premises)
	case term.KindPi:
		return k.inferPi(e, premises)
	case term.KindLet:
		return k.inferLet(n, premises)
	case term.KindProj:
		return k.inferProj(n, premises)
	case term.KindNat:
		k.requireNat()
		return k.constant(k.names.nat)
	default: // term.KindStr
		k.requireString()
		return k.constant(k.names.string)
	}
}

// inferApp: f : (x : A) → B and a : A give f a : B[a/x].
func (k *kernel) inferApp(e term.Expr, premises bool) term.Expr {
	f, args := k.spine(e)
	typ, used := k.infer(f, premises), 0 // the variables of typ's body stand for args[used:i]
	for i, a := range args {
		if k.store.Kind(typ) != term.KindPi {
			typ = k.whnf(k.instantiate(typ, args[used:i]))
			used = i
			if k.store.Kind(typ) != term.KindPi {
				refuse(functionExpected, "%s is applied and is no function", k.store.Describe(f))
			}
		}
		n := k.store.Node(typ)
		if premises {
			want, have := k.instantiate(term.Expr(n.A), args[used:i]), k.infer(a, true)
			if !k.equal(want, have) {
				refuse(argumentMismatch, "an argument of %s has type %s where %s is expected", k.store.Describe(f), k.store.Describe(have), k.store.Describe(want))
			}
		}
		typ = term.Expr(n.B)
	}
	return k.instantiate(typ, args[used:])
}

// inferLam: A : Sort u and b : B under x : A give fun x => b : (x : A) → B. A chain of binders is opened at once.
func (k *kernel) inferLam(e term.Expr, premises bool) term.Expr {
	var locals []term.Expr
	number := k.store.Node(e).Locals
	for ; k.store.Kind(e) == term.KindLam; number++ {
		n := k.store.Node(e)
		domain := k.instantiate(term.Expr(n.A), locals)
		if premises {
			k.sortOf(domain, true)
		}
		locals = append(locals, k.store.Local(number, domain))
		e = term.Expr(n.B)
	}
	return k.pis(locals, k.infer(k.instantiate(e, locals), premises))
}

// inferPi: A : Sort u and B : Sort v under x : A give (x : A) → B : Sort (imax u v).
func (k *kernel) inferPi(e term.Expr, premises bool) term.Expr {
	var locals []term.Expr
	var levels []term.Level
	number := k.store.Node(e).Locals
	for ; k.store.Kind(e) == term.KindPi; number++ {
		n := k.store.Node(e)
		domain := k.instantiate(term.Expr(n.A), locals)
		levels = append(levels, k.sortOf(domain, premises))
		locals = append(locals, k.store.Local(number, domain))
		e = term.Expr(n.B)
	}
	level := k.sortOf(k.instantiate(e, locals), premises)
	for i := len(levels) - 1; i >= 0; i-- {
		level = k.imax(levels[i], level)
	}
	return k.store.Sort(level)
}

// inferLet: v : A and b[v/x] : B give (let x : A := v; b) : B.
func (k *kernel) inferLet(n term.Node, premises bool) term.Expr {
	typ, value := term.Expr(n.A), term.Expr(n.B)
	if premises {
		k.sortOf(typ, true)
		if have := k.infer(value, true); !k.equal(typ, have) {
			refuse(letMismatch, "a let value has type %s where %s is declared", k.store.Describe(have), k.store.Describe(typ))
		}
	}
	return k.infer(k.instantiate(term.Expr(n.C), []term.Expr{value}), premises)
}

// inferProj: field i of s : S p has the type of the constructor's field i, with the parameters p and with projections of
// s for earlier fields. S has one constructor. Of a proposition only proofs can be projected, and of the earlier fields
// that such a proof's type depends on each must be a proof (C++ type_checker.cpp, infer_proj).
func (k *kernel) inferProj(n term.Node, premises bool) term.Expr {
	name, index, s := term.Name(n.A), n.B, term.Expr(n.C)
	typ := k.whnf(k.infer(s, premises))
	head, args := k.spine(typ)
	c, headName, levels := k.constAt(head)
	if c == nil || c.inductive == nil || headName != name || len(c.inductive.constructors) != 1 ||
		len(args) != c.inductive.numParams+c.inductive.numIndices {
		refuse(invalidProjection, "%s is projected and is no value of the structure %s", k.store.Describe(s), k.store.NameString(name))
	}
	mk := k.env[c.inductive.constructors[0]]
	if mk == nil {
		refuse(invalidProjection, "%s is projected where its constructor is not declared", k.store.NameString(name))
	}
	prop := k.isProp(typ)
	field := k.instantiateLevels(mk.typ, mk.params, levels)
	for i := range c.inductive.numParams {
		field = k.instantiate(term.Expr(k.pi(field).B), args[i:i+1])
	}
	for i := uint32(0); ; i++ {
		if int(i) >= mk.constructor.numFields {
			refuse(invalidProjection, "%s has no field %d", k.store.NameString(name), index)
		}
		b := k.pi(field)
		domain, body := term.Expr(b.A), term.Expr(b.B)
		if prop && (i == index || k.store.Node(body).Loose > 0) && !k.isProp(domain) {
			refuse(invalidProjection, "field %d of the proposition %s is no proof", i, k.store.NameString(name))
		}
		if i == index {
			return domain
		}
		field = k.instantiate(body, []term.Expr{k.store.Proj(name, i, s)})
	}
}

// pi is the weak head normal form of a type that must be a function type.
func (k *kernel) pi(typ term.Expr) term.Node {
	if k.store.Kind(typ) != term.KindPi {
		typ = k.whnf(typ)
	}
	n := k.store.Node(typ)
	if n.Kind != term.KindPi {
		refuse(functionExpected, "%s is no function type", k.store.Describe(typ))
	}
	return n
}

// sortOf is the level of the universe that a type lives in.
func (k *kernel) sortOf(typ term.Expr, premises bool) term.Level {
	sort := k.infer(typ, premises)
	if k.store.Kind(sort) != term.KindSort {
		sort = k.whnf(sort)
	}
	n := k.store.Node(sort)
	if n.Kind != term.KindSort {
		refuse(typeExpected, "%s is no type", k.store.Describe(typ))
	}
	return term.Level(n.A)
}

// isProp reports whether a type is a proposition for all values of the universe parameters. A type whose universe is not
// a sort is refused rather than taken for one or the other. A structure that is a proposition only for some values has
// only proofs as fields for these values, because its fields' universes are bounded by its own (inductive.go).
func (k *kernel) isProp(typ term.Expr) bool { return k.alwaysZero(k.sortOf(typ, false)) }

package kernel

import "reckon/domain/lean/term"

// Checking below a binder usually instantiates the body with a free variable, which copies the body once for every
// binder above it. Where no type depends on the value of a subterm, the body is checked with its loose variables, and a
// scope tells which free variable each of them stands for. Every other case instantiates.
//
// The cache key of an open expression is the whole scope, not the part of it that occurs in the expression, so an
// expression shared by several scopes is checked in each. After maxOpenVisits visits the checker instantiates instead.

// scope lists the free variables that the loose de Bruijn indices of an expression stand for; the last is index 0.
type scope struct {
	locals []term.Expr
	id     uint32 // scopes with equal locals have equal ids
}

// maxOpenVisits is the number of open expressions that one declaration may visit before the checker instantiates.
const maxOpenVisits = 1 << 18

// enterScope returns s extended by one free variable. Two scopes extended from the same s share memory: do not use the
// first after making the second.
func (c *checker) enterScope(s scope, local term.Expr) scope {
	key := uint64(s.id)<<32 | uint64(local)
	id, ok := c.scopeIDs[key]
	if !ok {
		id = uint32(len(c.scopeIDs)) + 1
		c.scopeIDs[key] = id
	}
	return scope{append(s.locals, local), id}
}

// checkInScope infers the type of e in s and checks every part of it. The type has no loose variables.
func (c *checker) checkInScope(e term.Expr, s scope) term.Expr {
	n := c.store.Node(e)
	if n.Loose == 0 {
		return c.infer(e, true)
	}
	if int(n.Loose) > len(s.locals) || c.openVisits >= maxOpenVisits {
		return c.infer(c.store.Instantiate(e, s.locals), true)
	}
	if n.Kind == term.KindBVar {
		return term.Expr(c.store.Node(s.locals[len(s.locals)-1-int(n.A)]).B)
	}
	key := uint64(s.id)<<32 | uint64(e)
	if t, ok := c.scopedTypes[key]; ok {
		return t
	}
	c.openVisits++
	c.enter()
	var t term.Expr
	switch n.Kind {
	case term.KindApp:
		t = c.checkAppInScope(e, s)
	case term.KindLam:
		t = c.checkLamInScope(e, s)
	default:
		t = c.infer(c.store.Instantiate(e, s.locals), true)
	}
	c.leave()
	if !c.uncached {
		c.scopedTypes[key] = t
	}
	return t
}

// checkAppInScope checks an application whose type depends on no open argument.
func (c *checker) checkAppInScope(e term.Expr, s scope) term.Expr {
	var buf, domainBuf [8]term.Expr
	head, args := c.store.Spine(e, buf[:0])
	domains := domainBuf[:0]
	if k := c.store.Node(head); k.Loose > 0 && k.Kind != term.KindBVar && k.Kind != term.KindLam {
		return c.infer(c.store.Instantiate(e, s.locals), true)
	}
	typ := c.checkInScope(head, s)
	for _, arg := range args {
		n := c.store.Node(typ)
		if n.Kind != term.KindPi || c.store.Node(term.Expr(n.B)).Loose > 0 && c.store.Node(arg).Loose > 0 {
			return c.infer(c.store.Instantiate(e, s.locals), true)
		}
		domains = append(domains, term.Expr(n.A))
		typ = c.store.Instantiate(term.Expr(n.B), []term.Expr{arg})
	}
	for i, arg := range args {
		argType := c.checkInScope(arg, s)
		if argType != domains[i] && !c.argumentFits(arg, argType, domains[i]) {
			refuse(ArgumentMismatch, "argument %d of %s has type %s where %s is expected",
				i+1, c.store.Describe(c.store.Instantiate(head, s.locals)), c.store.Describe(argType), c.store.Describe(domains[i]))
		}
	}
	return typ
}

// checkLamInScope checks a function, all its leading binders at once.
func (c *checker) checkLamInScope(e term.Expr, s scope) term.Expr {
	saved := c.nextLocal
	outer := len(s.locals)
	for n := c.store.Node(e); n.Kind == term.KindLam; n = c.store.Node(e) {
		domain := c.store.Instantiate(term.Expr(n.A), s.locals)
		c.sortOf(domain, true)
		s = c.enterScope(s, c.newLocal(domain))
		e = term.Expr(n.B)
	}
	t := c.store.Pis(s.locals[outer:], c.checkInScope(e, s))
	c.nextLocal = saved
	return t
}

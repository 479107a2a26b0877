package kernel

import "reckon/domain/lean/term"

// Checking below a binder usually means putting a free variable into the body, which copies the body once for every
// binder above it. Where nothing depends on the value of what stands below, the body is checked as it is instead, with
// the free variables its loose ones stand for kept beside it. Everything else falls back to copying.
//
// An open expression is cached per scope and not by what it uses of the scope, so one that is shared between scopes is
// checked in each. The number of visits is bounded, and copying takes over when they are spent.

// scope is the free variables that the loose variables of an expression stand for, the last being index 0.
type scope struct {
	locals []term.Expr
	id     uint32 // equal for equal locals
}

// maxOpenVisits is how many open expressions one declaration may visit.
const maxOpenVisits = 1 << 18

// enterScope returns s with one more free variable. Scopes made from one share their list: the earlier is done with when
// the later is made.
func (c *checker) enterScope(s scope, local term.Expr) scope {
	key := uint64(s.id)<<32 | uint64(local)
	id, ok := c.scopes[key]
	if !ok {
		id = uint32(len(c.scopes)) + 1
		c.scopes[key] = id
	}
	return scope{append(s.locals, local), id}
}

// checkIn infers the type of e in s and checks every part of it. The type has no loose variables.
func (c *checker) checkIn(e term.Expr, s scope) term.Expr {
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
	if t, ok := c.open[key]; ok {
		return t
	}
	c.openVisits++
	c.enter()
	var t term.Expr
	switch n.Kind {
	case term.KindApp:
		t = c.checkAppIn(e, s)
	case term.KindLam:
		t = c.checkLamIn(e, s)
	default:
		t = c.infer(c.store.Instantiate(e, s.locals), true)
	}
	c.leave()
	c.open[key] = t
	return t
}

// checkAppIn checks an application whose type depends on no open argument.
func (c *checker) checkAppIn(e term.Expr, s scope) term.Expr {
	var buf, domainBuf [8]term.Expr
	head, args := c.store.Spine(e, buf[:0])
	domains := domainBuf[:0]
	if k := c.store.Node(head); k.Loose > 0 && k.Kind != term.KindBVar && k.Kind != term.KindLam {
		return c.infer(c.store.Instantiate(e, s.locals), true)
	}
	typ := c.checkIn(head, s)
	for _, arg := range args {
		n := c.store.Node(typ)
		if n.Kind != term.KindPi || c.store.Node(term.Expr(n.B)).Loose > 0 && c.store.Node(arg).Loose > 0 {
			return c.infer(c.store.Instantiate(e, s.locals), true)
		}
		domains = append(domains, term.Expr(n.A))
		typ = c.store.Instantiate(term.Expr(n.B), []term.Expr{arg})
	}
	for i, arg := range args {
		argType := c.checkIn(arg, s)
		if argType != domains[i] && !c.argumentFits(arg, argType, domains[i]) {
			refuse(ArgumentMismatch, "argument %d of %s has type %s where %s is expected",
				i+1, c.store.Describe(c.store.Instantiate(head, s.locals)), c.store.Describe(argType), c.store.Describe(domains[i]))
		}
	}
	return typ
}

// checkLamIn checks a function, all its leading binders at once.
func (c *checker) checkLamIn(e term.Expr, s scope) term.Expr {
	saved := c.nextLocal
	outer := len(s.locals)
	for n := c.store.Node(e); n.Kind == term.KindLam; n = c.store.Node(e) {
		domain := c.store.Instantiate(term.Expr(n.A), s.locals)
		c.sortOf(domain, true)
		s = c.enterScope(s, c.local(domain))
		e = term.Expr(n.B)
	}
	t := c.store.Pis(s.locals[outer:], c.checkIn(e, s))
	c.nextLocal = saved
	return t
}

package kernel

import (
	"reckon/domain/lean/builtin"
	"reckon/domain/lean/term"
)

// newSymbolic prepares a run; constants is how many free variables stand for the same number throughout.
func newSymbolic(q *equations, spec recursion) *symbolic {
	s := &symbolic{equations: q, spec: spec, constantLocals: q.nextLocal, calls: map[term.Expr]*fuelCall{}, wellFounded: map[term.Expr]*accessibleCall{}}
	s.fuel = q.variable()
	s.specFunction = q.newLocal(q.store.Pi(q.nat, q.nat))
	return s
}

// numeral is a number written with constructors.
func (q *equations) numeral(n int) term.Expr {
	e := q.zero()
	for range n {
		e = q.succ(e)
	}
	return e
}

// divisionTest recognises Nat.div and Nat.mod. Apart from recursion by subtraction it knows counting up and, of Nat.mod,
// x - y·(x/y).
func divisionTest(wrap bool) func(q *equations) bool {
	return func(q *equations) bool {
		sub, ok := q.names.Handle(builtin.NatSub), q.hasBuiltin(builtin.NatSub)
		ble, ok2 := q.names.Handle(builtin.NatBle), q.hasBuiltin(builtin.NatBle)
		if _, ok3 := q.names.Handle(builtin.NatBeq), q.hasBuiltin(builtin.NatBeq); !ok || !ok2 || !ok3 || !q.isBinaryWithResult(q.nat) {
			return false
		}
		y := q.variable()
		divisor := q.succ(y)
		base := func(v term.Expr) term.Expr { return v }
		if wrap {
			base = func(term.Expr) term.Expr { return q.zero() }
		}
		s := newSymbolic(q, recursion{
			guard:   func(v term.Expr) term.Expr { return q.applyConst(ble, divisor, v) },
			next:    func(v term.Expr) term.Expr { return q.applyConst(sub, v, divisor) },
			addsOne: wrap,
			base:    base,
		})
		return s.runSymbolic(func() bool {
			if !s.atZero(base) {
				return s.byQuotient(wrap)
			}
			return s.followsSpec(func(x term.Expr) term.Expr { return q.applySelf(x, divisor) }) || s.countsUp(divisor, wrap) || s.byQuotient(wrap)
		})
	}
}

// atZero proves op x 0 = base x: for all x, or by induction on x.
func (s *symbolic) atZero(base func(v term.Expr) term.Expr) bool {
	calls := s.calls
	s.trivial, s.calls = true, map[term.Expr]*fuelCall{}
	defer func() { s.trivial, s.calls = false, calls; s.forget() }()
	s.forget()
	x := s.variable()
	at := func(v term.Expr) bool {
		return s.holdsInAllCases(s.applySelf(v, s.zero()), func(result term.Expr) bool { return s.defEq(result, base(v)) })
	}
	if at(x) {
		return true
	}
	if !at(s.zero()) {
		return false
	}
	if at(s.succ(x)) {
		return true
	}
	before := s.applySelf(x, s.zero()) // which is base x by hypothesis
	return s.holdsInAllCases(s.applySelf(s.succ(x), s.zero()), func(result term.Expr) bool {
		if s.defEq(base(s.succ(x)), s.zero()) {
			return s.defEq(result, before)
		}
		p, ok := s.natPredecessor(result)
		return ok && s.defEq(p, before)
	})
}

// countsUp proves that op 0 d = 0 and that op (x+1) d is what follows from op x d, for d = y+1:
//
//	(x+1) % d = 0 where x % d + 1 = d, and x % d + 1 otherwise
//	(x+1) / d = x / d + 1 where (x+1) % d = 0, and x / d otherwise
func (s *symbolic) countsUp(divisor term.Expr, wrap bool) bool {
	stands := s.specFunction
	s.specFunction = 0
	defer func() { s.specFunction = stands; s.forget() }()
	s.forget()
	x := s.variable()
	before := s.applySelf(x, divisor)
	after := s.applySelf(s.succ(x), divisor)
	if !s.isNatZero(s.whnf(s.applySelf(s.zero(), divisor))) {
		return false
	}
	beq := s.names.Handle(builtin.NatBeq)
	atMultiple := s.applyConst(beq, s.succ(before), divisor)
	if wrap {
		mod, ok := s.names.Handle(builtin.NatMod), s.hasBuiltin(builtin.NatMod)
		if !ok {
			return false
		}
		atMultiple = s.applyConst(beq, s.applyConst(mod, s.succ(x), divisor), s.zero())
	}
	open, ok := s.comparison(s.whnf(atMultiple))
	if !ok {
		return false
	}
	if y, ok := s.natPredecessor(divisor); ok && !wrap { // x % d < d
		s.facts = append(s.facts, fact{op: opBle, x: s.whnf(before), y: y, outcome: true})
		defer func() { s.facts = s.facts[:len(s.facts)-1] }()
	}
	for _, outcome := range []bool{true, false} {
		open.outcome = outcome
		ok := s.assuming(open, func() bool {
			return s.holdsInAllCases(after, func(result term.Expr) bool {
				switch {
				case !wrap && outcome:
					return s.isNatZero(result)
				case wrap && !outcome:
					return s.defEq(result, before)
				}
				p, ok := s.natPredecessor(result)
				return ok && s.defEq(p, before)
			})
		})
		if !ok {
			return false
		}
	}
	return true
}

// byQuotient proves x % y = x - y·(x/y), or with y and x/y the other way round, for all x and y.
func (s *symbolic) byQuotient(wrap bool) bool {
	div, ok := s.names.Handle(builtin.NatDiv), s.hasBuiltin(builtin.NatDiv)
	mul, ok2 := s.names.Handle(builtin.NatMul), s.hasBuiltin(builtin.NatMul)
	if wrap || !ok || !ok2 {
		return false
	}
	s.forget()
	x, y := s.variable(), s.variable()
	sub, quotient := s.names.Handle(builtin.NatSub), s.applyConst(div, x, y)
	result := s.whnf(s.applySelf(x, y))
	return s.defEq(result, s.applyConst(sub, x, s.applyConst(mul, y, quotient))) || s.defEq(result, s.applyConst(sub, x, s.applyConst(mul, quotient, y)))
}

// logarithmTest recognises Nat.log2.
func logarithmTest(q *equations) bool {
	div, ok := q.names.Handle(builtin.NatDiv), q.hasBuiltin(builtin.NatDiv)
	ble, ok2 := q.names.Handle(builtin.NatBle), q.hasBuiltin(builtin.NatBle)
	if !ok || !ok2 || q.findConstant(q.self).Type != q.store.Pi(q.nat, q.nat) {
		return false
	}
	two := q.numeral(2)
	s := newSymbolic(q, recursion{
		guard:   func(v term.Expr) term.Expr { return q.applyConst(ble, two, v) },
		next:    func(v term.Expr) term.Expr { return q.applyConst(div, v, two) },
		addsOne: true,
		base:    func(term.Expr) term.Expr { return q.zero() },
	})
	return s.runSymbolic(func() bool { return s.followsSpec(func(x term.Expr) term.Expr { return q.applySelf(x) }) })
}

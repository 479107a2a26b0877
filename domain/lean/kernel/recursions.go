package kernel

import (
	"reckon/domain/lean/builtin"
	"reckon/domain/lean/term"
)

// Nat.div, Nat.mod and Nat.log2 are recognised by what they compute, however they are written, if the kernel can prove
// of the definition in the file that it satisfies, for all numbers v,
//
//	S v = wrap (S (next v))  where guard v, which makes next v < v
//	S v = base v             otherwise
//
// which determines S by induction on v:
//
//	x / (y+1):  guard y+1 ≤ v,  next v-(y+1),  wrap +1,       base 0
//	x % (y+1):  guard y+1 ≤ v,  next v-(y+1),  wrap nothing,  base v
//	log2 x:     guard 2 ≤ v,    next v/2,      wrap +1,       base 0
//
// with x / 0 = 0 and x % 0 = x proved apart. Definitions that count up, S (v+1) from S v, are recognised too.
//
// The proof is a symbolic run: free variables stand for all numbers, operations recognised before stay folded, and where
// reduction is stuck on a comparison of numbers it goes on for both outcomes, each assumed as a fact. Every step is a
// reduction, or an equation that is true of all numbers for which the facts hold, so what holds at the end of a run
// holds for every instance. Terms may be ill-typed as they stand, for a fact is no conversion, but their instances are
// well-typed: in them the comparison does reduce to the outcome.
//
// A recursion is a recursor of Nat on some fuel, applied to more arguments (or a projection of it, as compiled
// structural recursion has it): R f v. Of each that a run meets, the claim is proved by induction on f that
//
//	R f v = S v  where v < f,  or where v ≤ f if R 0 0 = S 0 too
//
// in a run of its own: R (f+1) v reduces, in each case, to what S v is, where R f (next v) counts as S (next v). That is
// the hypothesis of induction: v < f+1 and next v < v give next v < f, and with ≤ alike. Fuel 0 is impossible under the
// first claim and means v = 0 under the second. Then a call R F V counts as S V where V < F, or V ≤ F, is plain to see.
// What else R takes is either a proof, which no result depends on, or the same in all calls.

// recursion specifies S, the function an operation is compared with; v is any number.
type recursion struct {
	guard   func(v term.Expr) term.Expr // a Bool
	next    func(v term.Expr) term.Expr
	addsOne bool // one more than at next; else the same
	base    func(v term.Expr) term.Expr
}

// symbolic is a run of the checker in which operations recognised before are not unfolded.
type symbolic struct {
	*equations
	spec           recursion
	constantLocals uint32    // free variables below this number are the same throughout
	fuel           term.Expr // stands for the fuel in keys of calls
	specFunction   term.Expr // S, a free variable; 0 when calls are not looked for
	facts          []fact
	calls          map[term.Expr]*fuelCall
	proving        *fuelCall

	wellFounded map[term.Expr]*accessibleCall // by recursor, with what stands before the index
	descending  *accessibleCall               // the one under proof

	// trivial: S v = base v for all v, which is proved of recursions by induction on f for every v.
	trivial bool
}

// fact is the outcome of a comparison of two numbers.
type fact struct {
	op      natOp
	x, y    term.Expr
	outcome bool
}

// fuelCall is a recursion R f v on fuel f, and the claims proved of it.
type fuelCall struct {
	arguments    int         // besides the fuel
	value        int         // index of v among the arguments
	fixed        []term.Expr // those that are the same in all calls; 0 for v and for proofs
	fuel, v      term.Expr   // of the claim under proof
	proven       bool        // R f v = S v where v < f
	provenAtFuel bool        // and where v = f
}

// The most comparisons and recursions in one run; an operation that needs more is not recognised.
const (
	maxSymbolicCases = 6 // comparisons on one path
	maxFuelCalls     = 8
)

// runSymbolic evaluates with the checker in symbolic mode.
func (s *symbolic) runSymbolic(f func() bool) bool {
	s.symbolic = s
	s.forget()
	defer func() { s.symbolic = nil; s.forget() }()
	return f()
}

// assuming evaluates f with one fact added, and removes it afterwards.
func (s *symbolic) assuming(known fact, f func() bool) bool {
	s.facts = append(s.facts, known)
	s.forget()
	ok := f()
	s.facts = s.facts[:len(s.facts)-1]
	s.forget()
	return ok
}

// holdsInAllCases reduces e, splitting where it is stuck on a comparison, and says whether f holds of every result.
func (s *symbolic) holdsInAllCases(e term.Expr, f func(result term.Expr) bool) bool {
	if len(s.facts) > maxSymbolicCases {
		return false
	}
	result := s.whnf(e)
	open, ok := s.comparison(result)
	if !ok {
		return f(result)
	}
	for _, outcome := range []bool{true, false} {
		open.outcome = outcome
		if !s.assuming(open, func() bool { return s.holdsInAllCases(e, f) }) {
			return false
		}
	}
	return true
}

// comparison finds the comparison that e, which does not reduce, is stuck on.
func (s *symbolic) comparison(e term.Expr) (fact, bool) {
	for range 64 {
		if s.store.Kind(e) == term.KindProj {
			e = s.whnf(term.Expr(s.store.Node(e).C))
			continue
		}
		head, args := s.store.Spine(e, nil)
		n := s.store.Node(head)
		switch n.Kind {
		case term.KindProj:
			e = s.whnf(term.Expr(n.C))
			continue
		case term.KindConst:
		default:
			return fact{}, false
		}
		if op := s.usableNatOp(term.Name(n.A)); (op == opBeq || op == opBle) && len(args) == 2 {
			x, y := s.stripSuccessors(args[0], args[1])
			return fact{op: op, x: x, y: y}, true
		}
		k := s.findConstant(term.Name(n.A))
		if k == nil || k.Recursor == nil || k.Recursor.MajorIndex() >= len(args) {
			return fact{}, false
		}
		e = s.whnf(args[k.Recursor.MajorIndex()])
	}
	return fact{}, false
}

// stripSuccessors removes the successors that both sides of a comparison have in common.
func (s *symbolic) stripSuccessors(x, y term.Expr) (term.Expr, term.Expr) {
	for {
		x, y = s.whnf(x), s.whnf(y)
		px, ok := s.natPredecessor(x)
		if !ok {
			return x, y
		}
		py, ok := s.natPredecessor(y)
		if !ok {
			return x, y
		}
		s.tick()
		x, y = px, py
	}
}

// foldOperation reduces a recognised operation on numbers that are not all literals. It says what is true of all numbers.
func (s *symbolic) foldOperation(op natOp, x, y term.Expr) (term.Expr, bool) {
	switch op {
	case opAdd:
		y = s.whnf(y)
		if s.isNatZero(y) {
			return s.whnf(x), true
		}
		if p, ok := s.natPredecessor(y); ok {
			return s.succ(s.applyConst(s.names.Handle(builtin.NatAdd), x, p)), true
		}
	case opSub, opMod:
		if s.isNatZero(s.whnf(y)) {
			return s.whnf(x), true
		}
	case opBeq, opBle:
		x, y = s.stripSuccessors(x, y)
		if outcome, ok := s.settleComparison(op, x, y); ok {
			return s.boolConst(outcome), true
		}
	}
	return 0, false
}

// settleComparison settles a comparison whose successors are taken off: at most one side is a successor.
func (s *symbolic) settleComparison(op natOp, x, y term.Expr) (outcome, ok bool) {
	_, largerX := s.natPredecessor(x)
	_, largerY := s.natPredecessor(y)
	zeroX, zeroY := s.isNatZero(x), s.isNatZero(y)
	switch {
	case x == y || zeroX && zeroY || op == opBle && zeroX:
		return true, true
	case largerX && zeroY, op == opBeq && zeroX && largerY:
		return false, true
	}
	for _, known := range s.facts {
		switch {
		case known.op == op && s.equalNumbers(known.x, x) && s.equalNumbers(known.y, y), op == opBeq && known.op == opBeq && s.equalNumbers(known.x, y) && s.equalNumbers(known.y, x):
			return known.outcome, true
		case op == opBle && known.op == opBle && (s.equalNumbers(s.succ(known.y), x) && s.equalNumbers(known.x, y) || s.equalNumbers(known.y, x) && s.equalNumbers(known.x, s.succ(y))):
			return !known.outcome, true // y+1 ≤ x exactly when not x ≤ y
		case op == opBle && known.op == opBeq && known.outcome && (s.equalNumbers(known.x, x) && s.equalNumbers(known.y, y) || s.equalNumbers(known.x, y) && s.equalNumbers(known.y, x)):
			return true, true
		case op == opBle && known.op == opBle && known.outcome && s.equalNumbers(known.x, y) && s.equalNumbers(known.y, x):
			if equal, ok := s.settleComparison(opBeq, x, y); ok {
				return equal, true // of y ≤ x it is known that it holds
			}
		}
	}
	return false, false
}

// equalNumbers reports whether two reduced numbers, their common successors removed, are the same expression or are
// definitionally equal applications.
func (s *symbolic) equalNumbers(x, y term.Expr) bool {
	if x == y {
		return true
	}
	px, okX := s.natPredecessor(x)
	py, okY := s.natPredecessor(y)
	if okX && okY {
		return s.equalNumbers(s.whnf(px), s.whnf(py))
	}
	nx, ny := s.store.Node(x), s.store.Node(y)
	return nx.Kind == term.KindApp && ny.Kind == term.KindApp && s.defEq(x, y)
}

// guardOutcome says whether guard v is true under the facts; known says whether they tell.
func (s *symbolic) guardOutcome(guard term.Expr) (outcome, known bool) {
	r := s.whnf(guard)
	switch {
	case s.store.IsConst(r, s.names.Handle(builtin.BoolTrue)):
		return true, true
	case s.store.IsConst(r, s.names.Handle(builtin.BoolFalse)):
		return false, true
	}
	return false, false
}

// equalsSpec reports whether result is S v, with S replaced once by its specification.
func (s *symbolic) equalsSpec(result, v term.Expr) bool {
	guard, known := s.guardOutcome(s.spec.guard(v))
	if !known {
		open, ok := s.comparison(s.whnf(s.spec.guard(v)))
		if !ok || len(s.facts) > maxSymbolicCases {
			return false
		}
		for _, outcome := range []bool{true, false} {
			open.outcome = outcome
			if !s.assuming(open, func() bool { return s.equalsSpec(result, v) }) {
				return false
			}
		}
		return true
	}
	if !guard {
		return s.defEq(result, s.spec.base(v))
	}
	if s.spec.addsOne {
		p, ok := s.natPredecessor(s.whnf(result))
		if !ok {
			return false
		}
		result = p
	}
	return s.defEq(s.whnf(result), s.store.App(s.specFunction, s.spec.next(v)))
}

// interceptFuelCall sees a recursion on fuel before it unfolds, and puts S in its place where that is proved.
func (s *symbolic) interceptFuelCall(e term.Expr) (term.Expr, bool) {
	if s.specFunction == 0 {
		return 0, false
	}
	if n := s.store.Node(s.store.Head(e)); n.Kind != term.KindConst && n.Kind != term.KindProj {
		return 0, false
	}
	head, args := s.store.Spine(e, nil)
	n := s.store.Node(head)
	switch {
	case n.Kind == term.KindConst && term.Name(n.A) == s.natRecursor():
		most, ok := s.natRecursorArity()
		if !ok || len(args) <= most {
			return 0, false
		}
		head, args = s.store.Apps(head, args[:most]), args[most:]
	case n.Kind == term.KindProj && len(args) > 0:
		resolved, ok := s.recursorUnder(head, 0)
		if !ok {
			return 0, false
		}
		head = resolved
	default:
		return s.interceptAccessible(e)
	}
	fuel, key := s.splitFuel(head)
	if s.store.Node(key).Locals > s.store.Node(s.fuel).Locals {
		return 0, false // it differs from call to call
	}
	call, met := s.calls[key]
	if !met {
		if len(s.calls) >= maxFuelCalls {
			return 0, false
		}
		if call = s.analyseFuelCall(key, args); call == nil {
			return 0, false
		}
		s.calls[key] = call
		s.proveFuelCall(key, call)
	}
	if !s.matchesClaim(call, args) {
		return 0, false
	}
	v := args[call.value]
	switch {
	case s.trivial && (call.proven || s.proving == call && s.whnf(fuel) == call.fuel):
		return s.spec.base(v), true
	case s.trivial || !s.countsAsSpec(call, fuel, v):
		return 0, false
	}
	return s.store.App(s.specFunction, v), true
}

func (s *symbolic) natRecursor() term.Name {
	n, _ := s.store.LookupStr(s.names.Handle(builtin.Nat), "rec")
	return n
}

// natRecursorArity is the number of arguments of Nat's recursor, the number last.
func (s *symbolic) natRecursorArity() (int, bool) {
	k := s.findConstant(s.natRecursor())
	if k == nil || k.Recursor == nil || k.Recursor.MajorInductive != s.names.Handle(builtin.Nat) {
		return 0, false
	}
	return k.Recursor.MajorIndex() + 1, true
}

// leavesFolded says whether the checker leaves applications of the constant called n alone in a run.
func (s *symbolic) leavesFolded(n term.Name) bool {
	return s.usableNatOp(n) != noOp
}

// recursorUnder unfolds what a projection is of until that is a recursor of Nat on all its arguments and no more.
func (s *symbolic) recursorUnder(e term.Expr, depth int) (term.Expr, bool) {
	s.tick()
	if depth > 16 {
		return 0, false
	}
	if n := s.store.Node(e); n.Kind == term.KindProj {
		inner, ok := s.recursorUnder(term.Expr(n.C), depth+1)
		return s.store.Proj(term.Name(n.A), n.B, inner), ok
	}
	head, args := s.store.Spine(e, nil)
	if n := s.store.Node(head); n.Kind == term.KindConst && term.Name(n.A) == s.natRecursor() {
		arity, ok := s.natRecursorArity()
		return e, ok && len(args) == arity
	}
	unfolded, ok := s.unfold(e)
	if !ok {
		return 0, false
	}
	return s.recursorUnder(unfolded, depth+1)
}

// splitFuel takes the fuel out of a recursor application, or of a projection of one, and puts the variable in its place.
func (s *symbolic) splitFuel(e term.Expr) (fuel, key term.Expr) {
	n := s.store.Node(e)
	if n.Kind == term.KindProj {
		fuel, inner := s.splitFuel(term.Expr(n.C))
		return fuel, s.store.Proj(term.Name(n.A), n.B, inner)
	}
	return term.Expr(n.B), s.store.App(term.Expr(n.A), s.fuel)
}

// withFuel is the call with the given key and fuel.
func (s *symbolic) withFuel(key, fuel term.Expr) term.Expr {
	n := s.store.Node(key)
	if n.Kind == term.KindProj {
		return s.store.Proj(term.Name(n.A), n.B, s.withFuel(term.Expr(n.C), fuel))
	}
	return s.store.App(term.Expr(n.A), fuel)
}

// analyseFuelCall determines which argument of a recursion is v and which are proofs. It returns nil when the recursion
// does not have that form.
func (s *symbolic) analyseFuelCall(key term.Expr, args []term.Expr) *fuelCall {
	call := &fuelCall{arguments: len(args), value: -1, fixed: make([]term.Expr, len(args))}
	typ := s.typeOf(key)
	for i, arg := range args {
		typ = s.whnf(typ)
		n := s.store.Node(typ)
		if n.Kind != term.KindPi {
			return nil
		}
		switch {
		case s.isProp(term.Expr(n.A)):
		case s.store.Node(arg).Locals <= s.constantLocals && s.store.Node(term.Expr(n.A)).Locals <= s.constantLocals: // of one type throughout
			call.fixed[i] = arg
		case call.value < 0 && s.whnf(term.Expr(n.A)) == s.nat:
			call.value = i
		default:
			return nil
		}
		typ = s.store.Instantiate(term.Expr(n.B), []term.Expr{arg})
	}
	if call.value < 0 || s.whnf(typ) != s.nat {
		return nil
	}
	return call
}

// matchesClaim reports whether the arguments of a call, v and proofs left out, are those the claim was made for.
func (s *symbolic) matchesClaim(call *fuelCall, args []term.Expr) bool {
	if len(args) != call.arguments {
		return false
	}
	for i, fixed := range call.fixed {
		if fixed != 0 && fixed != args[i] && !s.defEq(fixed, args[i]) {
			return false
		}
	}
	return true
}

// proveFuelCall tries to prove the claim about a recursion, in a run of its own: none of the facts and no other claim under
// proof counts there.
func (s *symbolic) proveFuelCall(key term.Expr, call *fuelCall) {
	facts, outer, descending := s.facts, s.proving, s.descending
	s.facts, s.proving, s.descending = nil, call, nil
	s.forget()
	call.fuel, call.v = s.variable(), s.variable()
	step, ok := s.callInstance(key, call, s.succ(call.fuel), call.v)
	if s.trivial {
		first, ok0 := s.callInstance(key, call, s.zero(), call.v)
		base := func(result term.Expr) bool { return s.defEq(result, s.spec.base(call.v)) }
		call.proven = ok && ok0 && s.holdsInAllCases(first, base) && s.holdsInAllCases(step, base)
	} else {
		first, ok0 := s.callInstance(key, call, s.zero(), s.zero())
		call.proven = ok && s.holdsInAllCases(step, func(result term.Expr) bool { return s.equalsSpec(result, call.v) })
		s.proving = nil
		s.forget()
		call.provenAtFuel = call.proven && ok0 && s.isNatZero(s.whnf(first)) && s.isNatZero(s.whnf(s.spec.base(s.zero())))
	}
	s.facts, s.proving, s.descending = facts, outer, descending
	s.forget()
}

// callInstance is R fuel v with free variables for the proofs it takes.
func (s *symbolic) callInstance(key term.Expr, call *fuelCall, fuel, v term.Expr) (term.Expr, bool) {
	e := s.withFuel(key, fuel)
	typ := s.typeOf(e)
	for i := range call.arguments {
		typ = s.whnf(typ)
		n := s.store.Node(typ)
		if n.Kind != term.KindPi {
			return 0, false
		}
		arg := call.fixed[i]
		switch {
		case i == call.value:
			arg = v
		case arg == 0:
			arg = s.newLocal(term.Expr(n.A))
		}
		e = s.store.App(e, arg)
		typ = s.store.Instantiate(term.Expr(n.B), []term.Expr{arg})
	}
	return e, true
}

// countsAsSpec reports whether the claims proved, or the induction hypothesis, make the call with this fuel equal to S v.
func (s *symbolic) countsAsSpec(call *fuelCall, fuel, v term.Expr) bool {
	if s.proving == call { // the hypothesis of induction
		guard, _ := s.guardOutcome(s.spec.guard(call.v))
		return guard && s.whnf(fuel) == call.fuel && s.defEq(v, s.spec.next(call.v))
	}
	return call.proven && (s.provablyLess(v, fuel) || call.provenAtFuel && s.provablyAtMost(v, fuel))
}

// provablyLess and provablyAtMost report whether v < fuel and v ≤ fuel follow from the form of the expressions. False means
// not known.
func (s *symbolic) provablyLess(v, fuel term.Expr) bool {
	if p, ok := s.natPredecessor(s.whnf(fuel)); ok {
		return s.provablyAtMost(v, p)
	}
	if smaller, ok := s.boundingOperand(v); ok {
		guard, _ := s.guardOutcome(s.spec.guard(smaller))
		return guard && s.defEq(v, s.spec.next(smaller)) && s.provablyAtMost(smaller, fuel)
	}
	return false
}

func (s *symbolic) provablyAtMost(v, fuel term.Expr) bool {
	s.tick()
	v, fuel = s.whnf(v), s.whnf(fuel)
	if s.equalNumbers(v, fuel) || s.isNatZero(v) {
		return true
	}
	if pf, ok := s.natPredecessor(fuel); ok {
		if pv, ok := s.natPredecessor(v); ok {
			return s.provablyAtMost(pv, pf)
		}
		return s.provablyAtMost(v, pf) // and so v ≤ fuel
	}
	if x, ok := s.boundingOperand(v); ok {
		return s.provablyAtMost(x, fuel)
	}
	return false
}

// boundingOperand is x where v is x - y or x / y, which are at most x.
func (s *symbolic) boundingOperand(v term.Expr) (x term.Expr, ok bool) {
	head, args := s.store.Spine(s.whnf(v), nil)
	n := s.store.Node(head)
	if n.Kind != term.KindConst || len(args) != 2 {
		return 0, false
	}
	op := s.usableNatOp(term.Name(n.A))
	return args[0], op == opSub || op == opDiv
}

// followsSpec proves that f x = S x for all x, where f is the operation with its other argument, if any, put in.
func (s *symbolic) followsSpec(f func(x term.Expr) term.Expr) bool {
	x := s.variable()
	for _, v := range [][]term.Expr{{x}, {s.zero(), s.succ(x)}} {
		all := true
		for _, v := range v {
			all = all && s.holdsInAllCases(f(v), func(result term.Expr) bool {
				return result == s.store.App(s.specFunction, v) || s.equalsSpec(result, v)
			})
		}
		if all {
			return true
		}
	}
	return false
}

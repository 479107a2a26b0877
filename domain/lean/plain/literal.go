package plain

import (
	"math/big"
	"slices"

	"reckon/domain/lean/term"
)

// names are the handles of the names that rules speak of. A name that the file does not write is fresh: nothing has it.
type names struct {
	nat, zero, succ, pred            term.Name
	boolean, boolFalse, boolTrue     term.Name
	list, listNil, listCons          term.Name
	char, charOfNat                  term.Name
	string, stringOfList, stringMk   term.Name
	eq, eqRefl                       term.Name
	quot, quotMk, quotLift, quotInd  term.Name
	reduceBool, reduceNat            term.Name
	mul, add                         term.Name
	outParam, semiOutParam, optParam term.Name
	autoParam                        term.Name
}

func (k *kernel) name(dotted string) term.Name {
	if n, ok := k.store.LookupDotted(dotted); ok {
		return n
	}
	return k.store.FreshName(dotted)
}

func (k *kernel) findNames() {
	k.names = names{
		nat: k.name("Nat"), zero: k.name("Nat.zero"), succ: k.name("Nat.succ"), pred: k.name("Nat.pred"),
		boolean: k.name("Bool"), boolFalse: k.name("Bool.false"), boolTrue: k.name("Bool.true"),
		list: k.name("List"), listNil: k.name("List.nil"), listCons: k.name("List.cons"),
		char: k.name("Char"), charOfNat: k.name("Char.ofNat"),
		string: k.name("String"), stringOfList: k.name("String.ofList"), stringMk: k.name("String.mk"),
		eq: k.name("Eq"), eqRefl: k.name("Eq.refl"),
		quot: k.name("Quot"), quotMk: k.name("Quot.mk"), quotLift: k.name("Quot.lift"), quotInd: k.name("Quot.ind"),
		reduceBool: k.name("Lean.reduceBool"), reduceNat: k.name("Lean.reduceNat"),
		mul: k.name("Nat.mul"), add: k.name("Nat.add"),
		outParam: k.name("outParam"), semiOutParam: k.name("semiOutParam"), optParam: k.name("optParam"), autoParam: k.name("autoParam"),
	}
	k.operations = map[term.Name]*operation{}
	for i := range operations {
		k.operations[k.name(operations[i].name)] = &operations[i]
	}
}

func (k *kernel) constant(n term.Name, levels ...term.Level) term.Expr {
	return k.store.Const(n, k.store.List(levels))
}

func (k *kernel) call(n term.Name, args ...term.Expr) term.Expr {
	return k.store.Apps(k.constant(n), args)
}

func (k *kernel) arrow(from, to term.Expr) term.Expr { return k.store.Pi(from, to) } // to has no loose variables

// enumeration reports whether the name is that of an inductive type in Type without parameters, indices and universe
// parameters, whose constructors are those given, of the given types.
func (k *kernel) enumeration(name term.Name, constructors []term.Name, types []term.Expr) bool {
	c := k.env[name]
	if c == nil || c.inductive == nil || len(c.params) != 0 || len(c.inductive.all) != 1 || len(c.inductive.constructors) != len(constructors) {
		return false
	}
	if c.typ != k.store.Sort(k.store.Succ(term.Zero)) {
		return false
	}
	for i, n := range constructors {
		if c.inductive.constructors[i] != n || k.env[n] == nil || k.env[n].typ != types[i] {
			return false
		}
	}
	return true
}

// hasNat: Nat is the inductive type with the constructors zero : Nat and succ : Nat → Nat. A numeral n abbreviates n
// applications of succ to zero (C++ expr.h, literals; Ref "Natural Numbers").
func (k *kernel) hasNat() bool {
	nat := k.constant(k.names.nat)
	return k.enumeration(k.names.nat, []term.Name{k.names.zero, k.names.succ}, []term.Expr{nat, k.arrow(nat, nat)})
}

func (k *kernel) hasBool() bool {
	b := k.constant(k.names.boolean)
	return k.enumeration(k.names.boolean, []term.Name{k.names.boolFalse, k.names.boolTrue}, []term.Expr{b, b})
}

func (k *kernel) requireNat() {
	if !k.hasNat() {
		refuse(invalidLiteral, "a number stands where Nat, with zero and succ, is not declared")
	}
}

// stringMaker is the function that a string literal applies to its characters: the constructor String.mk where that is
// the only one, as before Lean 4.26, String.ofList elsewhere.
func (k *kernel) stringMaker() term.Name {
	if c := k.env[k.names.string]; c != nil && c.inductive != nil && len(c.inductive.constructors) == 1 && c.inductive.constructors[0] == k.names.stringMk {
		return k.names.stringMk
	}
	return k.names.stringOfList
}

// hasList: List.{u} (α : Type u) : Type u is the inductive type with the constructors nil and cons.
func (k *kernel) hasList() bool {
	c := k.env[k.names.list]
	if c == nil || c.inductive == nil || len(c.params) != 1 || len(c.inductive.all) != 1 || c.inductive.numParams != 1 ||
		!slices.Equal(c.inductive.constructors, []term.Name{k.names.listNil, k.names.listCons}) {
		return false
	}
	u := k.store.Param(c.params[0])
	typ := k.store.Sort(k.store.Succ(u))
	alpha := k.store.Local(0, typ)
	list := k.store.App(k.constant(k.names.list, u), alpha)
	over := func(e term.Expr) term.Expr { return k.pis([]term.Expr{alpha}, e) }
	return k.sameRecord(c.typ, over(typ)) && k.sameRecord(k.env[k.names.listNil].typ, over(list)) &&
		k.sameRecord(k.env[k.names.listCons].typ, over(k.arrow(alpha, k.arrow(list, list))))
}

// requireString checks that what every string literal abbreviates, maker [Char.ofNat n, …], is a value of String made of
// constants declared before. A literal is then no more than a short way to write it. That Char and String are inductive
// types is required beyond that: they are Lean's.
func (k *kernel) requireString() {
	if k.memo.stringsChecked {
		return
	}
	k.requireNat()
	if !k.hasList() {
		refuse(invalidLiteral, "a string literal stands where List, with nil and cons, is not declared")
	}
	typ := k.store.Sort(k.store.Succ(term.Zero))
	for _, n := range []term.Name{k.names.char, k.names.string} {
		if c := k.env[n]; c == nil || c.inductive == nil || len(c.params) != 0 || c.typ != typ {
			refuse(invalidLiteral, "a string literal stands where %s is not declared as an inductive type in Type", k.store.NameString(n))
		}
	}
	nat, char, str := k.constant(k.names.nat), k.constant(k.names.char), k.constant(k.names.string)
	chars := k.store.App(k.constant(k.names.list, term.Zero), char)
	k.requireType(k.names.charOfNat, k.arrow(nat, char))
	k.requireType(k.stringMaker(), k.arrow(chars, str))
	k.memo.stringsChecked = k.remember
}

func (k *kernel) requireType(n term.Name, typ term.Expr) {
	if c := k.env[n]; c == nil || len(c.params) != 0 || c.typ != typ {
		refuse(invalidLiteral, "a string literal stands where %s has not the type that it takes", k.store.NameString(n))
	}
}

func (k *kernel) emptyList() term.Expr {
	return k.store.App(k.constant(k.names.listNil, term.Zero), k.constant(k.names.char))
}

// expandString is the expression that a string literal abbreviates.
func (k *kernel) expandString(e term.Expr) term.Expr {
	text := []rune(k.store.StrValue(e))
	list := k.emptyList()
	cons := k.store.App(k.constant(k.names.listCons, term.Zero), k.constant(k.names.char))
	for i := len(text) - 1; i >= 0; i-- {
		k.step()
		char := k.call(k.names.charOfNat, k.store.Nat(big.NewInt(int64(text[i]))))
		list = k.store.Apps(cons, []term.Expr{char, list})
	}
	return k.call(k.stringMaker(), list)
}

// expandNat is a numeral as zero or a successor of a numeral.
func (k *kernel) expandNat(e term.Expr) term.Expr {
	if p, ok := k.predecessor(e); ok {
		return k.call(k.names.succ, p)
	}
	return k.constant(k.names.zero)
}

func (k *kernel) predecessor(e term.Expr) (term.Expr, bool) {
	switch n := k.store.Node(e); n.Kind {
	case term.KindNat:
		if v := k.store.NatValue(e); v.Sign() > 0 {
			k.spend(int64(v.BitLen() / 64))
			return k.store.Nat(new(big.Int).Sub(v, big.NewInt(1))), true
		}
	case term.KindApp:
		if k.store.IsConst(term.Expr(n.A), k.names.succ) && k.hasNat() {
			return term.Expr(n.B), true
		}
	}
	return 0, false
}

func (k *kernel) isZero(e term.Expr) bool {
	v, ok := k.numeral(e)
	return ok && v.Sign() == 0
}

// numeral is the number that a numeral or Nat.zero is.
func (k *kernel) numeral(e term.Expr) (*big.Int, bool) {
	switch {
	case k.store.Kind(e) == term.KindNat:
		return k.store.NatValue(e), true
	case k.store.IsConst(e, k.names.zero) && k.hasNat():
		return new(big.Int), true
	}
	return nil, false
}

// native reduces Lean.reduceBool c and Lean.reduceNat c to the value of the constant c. Lean runs c as compiled code here
// (C++ type_checker.cpp, reduce_native). Both functions are the identity, and are so only as opaque constants of the
// right type whose value is the identity.
func (k *kernel) native(e term.Expr) (term.Expr, bool) {
	n := k.store.Node(e)
	if n.Kind != term.KindApp || k.store.Kind(term.Expr(n.B)) != term.KindConst {
		return 0, false
	}
	var typ term.Expr
	switch f := term.Expr(n.A); {
	case k.store.IsConst(f, k.names.reduceBool) && k.hasBool():
		typ = k.constant(k.names.boolean)
	case k.store.IsConst(f, k.names.reduceNat) && k.hasNat():
		typ = k.constant(k.names.nat)
	default:
		return 0, false
	}
	c, _, _ := k.constAt(term.Expr(n.A))
	if c == nil || c.kind != opaque || c.typ != k.arrow(typ, typ) {
		return 0, false
	}
	x := k.store.Local(0, typ) // the value is closed
	if k.whnf(k.store.App(c.value, x)) != x {
		return 0, false
	}
	v := k.whnf(term.Expr(n.B))
	if _, number := k.numeral(v); number || k.store.IsConst(v, k.names.boolTrue) || k.store.IsConst(v, k.names.boolFalse) {
		return v, true
	}
	return 0, false
}

// arithmetic computes an operation on numerals with big numbers, if the file's operation was found to satisfy the
// equations that determine it (C++ type_checker.cpp, reduce_nat).
func (k *kernel) arithmetic(e term.Expr) (term.Expr, bool) {
	n := k.store.Node(e)
	if n.Kind != term.KindApp || n.Locals > 0 {
		return 0, false
	}
	head, args := k.spine(e)
	c, name, _ := k.constAt(head)
	if c == nil || len(args) > 2 {
		return 0, false
	}
	if name == k.names.succ && len(args) == 1 && k.hasNat() {
		if v, ok := k.numeral(k.whnf(args[0])); ok {
			return k.store.Nat(new(big.Int).Add(v, big.NewInt(1))), true
		}
		return 0, false
	}
	op := k.operations[name]
	if op == nil || !k.computed[name] || len(args) != 2 || op.unary {
		return 0, false
	}
	var values []*big.Int
	for _, a := range args {
		v, ok := k.numeral(k.whnf(a))
		if !ok {
			return 0, false
		}
		k.spend(int64(v.BitLen() / 64))
		values = append(values, v)
	}
	if op.truth != nil {
		if op.truth(values[0], values[1]) {
			return k.constant(k.names.boolTrue), true
		}
		return k.constant(k.names.boolFalse), true
	}
	v := op.number(values)
	if v == nil {
		return 0, false
	}
	return k.store.Nat(v), true
}

// largestResult bounds the results of arithmetic in bits. An operation whose result is larger unfolds.
const largestResult = 1 << 24

// operation is an operation on numbers. equations are its defining equations for the variables m and n; an operation
// that satisfies them as definitional equalities has, on numerals, the value that number or truth computes, by induction
// on the numerals. Lean's kernel computes div, mod, gcd, log2, land, lor, xor and shiftRight too. Their definitions go by
// recursion on fuel or on well-foundedness and satisfy no such equations, so that here they unfold.
type operation struct {
	name      string
	number    func(args []*big.Int) *big.Int // nil where the result is too large
	truth     func(a, b *big.Int) bool
	equations func(v *equations) bool
	unary     bool
}

func (o *operation) arity() int {
	if o.unary {
		return 1
	}
	return 2
}

var operations = []operation{
	{name: "Nat.add", number: func(a []*big.Int) *big.Int { return new(big.Int).Add(a[0], a[1]) },
		equations: func(v *equations) bool {
			return v.same(v.op(v.m, v.zero), v.m) && v.same(v.op(v.m, v.succ(v.n)), v.succ(v.op(v.m, v.n)))
		}},
	{name: "Nat.pred", unary: true, // known to Nat.sub, and not computed
		equations: func(v *equations) bool { return v.same(v.op(v.zero), v.zero) && v.same(v.op(v.succ(v.n)), v.n) }},
	{name: "Nat.sub", number: func(a []*big.Int) *big.Int {
		if a[0].Cmp(a[1]) < 0 {
			return new(big.Int)
		}
		return new(big.Int).Sub(a[0], a[1])
	},
		equations: func(v *equations) bool {
			return v.known(v.k.names.pred) && v.same(v.op(v.m, v.zero), v.m) &&
				v.same(v.op(v.m, v.succ(v.n)), v.k.call(v.k.names.pred, v.op(v.m, v.n)))
		}},
	{name: "Nat.mul", number: func(a []*big.Int) *big.Int {
		if a[0].BitLen()+a[1].BitLen() > largestResult {
			return nil
		}
		return new(big.Int).Mul(a[0], a[1])
	}, equations: func(v *equations) bool {
		return v.known(v.k.names.add) && v.same(v.op(v.m, v.zero), v.zero) &&
			v.same(v.op(v.m, v.succ(v.n)), v.k.call(v.k.names.add, v.op(v.m, v.n), v.m))
	}},
	{name: "Nat.pow", number: func(a []*big.Int) *big.Int {
		if !a[1].IsInt64() || a[1].Int64() > largestResult || int64(a[0].BitLen())*a[1].Int64() > largestResult {
			return nil
		}
		return new(big.Int).Exp(a[0], a[1], nil)
	}, equations: func(v *equations) bool {
		return v.known(v.k.names.mul) && v.same(v.op(v.m, v.zero), v.succ(v.zero)) &&
			v.same(v.op(v.m, v.succ(v.n)), v.k.call(v.k.names.mul, v.op(v.m, v.n), v.m))
	}},
	{name: "Nat.beq", truth: func(a, b *big.Int) bool { return a.Cmp(b) == 0 },
		equations: func(v *equations) bool {
			return v.same(v.op(v.zero, v.zero), v.yes) && v.same(v.op(v.zero, v.succ(v.n)), v.no) &&
				v.same(v.op(v.succ(v.m), v.zero), v.no) && v.same(v.op(v.succ(v.m), v.succ(v.n)), v.op(v.m, v.n))
		}},
	{name: "Nat.ble", truth: func(a, b *big.Int) bool { return a.Cmp(b) <= 0 },
		equations: func(v *equations) bool {
			return v.same(v.op(v.zero, v.zero), v.yes) && v.same(v.op(v.zero, v.succ(v.n)), v.yes) &&
				v.same(v.op(v.succ(v.m), v.zero), v.no) && v.same(v.op(v.succ(v.m), v.succ(v.n)), v.op(v.m, v.n))
		}},
	{name: "Nat.shiftLeft", number: func(a []*big.Int) *big.Int {
		if !a[1].IsInt64() || a[1].Int64() > largestResult || int64(a[0].BitLen())+a[1].Int64() > largestResult {
			return nil
		}
		return new(big.Int).Lsh(a[0], uint(a[1].Int64()))
	}, equations: func(v *equations) bool {
		return v.known(v.k.names.mul) && v.same(v.op(v.m, v.zero), v.m) &&
			v.same(v.op(v.m, v.succ(v.n)), v.op(v.k.call(v.k.names.mul, v.two, v.m), v.n))
	}},
}

// equations asks whether the operation called name satisfies equations.
type equations struct {
	k                   *kernel
	name                term.Name
	m, n, zero, yes, no term.Expr
	two                 term.Expr
}

func (v *equations) op(args ...term.Expr) term.Expr { return v.k.call(v.name, args...) }
func (v *equations) succ(e term.Expr) term.Expr     { return v.k.call(v.k.names.succ, e) }
func (v *equations) same(a, b term.Expr) bool       { return v.k.equal(a, b) }
func (v *equations) known(n term.Name) bool         { return v.k.computed[n] }

// equationSteps bounds the search for the equations of one operation.
const equationSteps = 1 << 18

// recogniseOperation decides, right after an operation is declared, whether it is computed with big numbers from the next
// declaration on. Its own arithmetic is off meanwhile.
func (k *kernel) recogniseOperation(name term.Name) {
	op := k.operations[name]
	if op == nil || !k.hasNat() || op.truth != nil && !k.hasBool() {
		return
	}
	c := k.env[name]
	nat := k.constant(k.names.nat)
	typ := nat
	if op.truth != nil {
		typ = k.constant(k.names.boolean)
	}
	for range op.arity() {
		typ = k.arrow(nat, typ)
	}
	if c.kind != definition || len(c.params) != 0 || c.typ != typ {
		return
	}
	v := equations{k: k, name: name, m: k.store.Local(0, nat), n: k.store.Local(1, nat), zero: k.constant(k.names.zero),
		yes: k.constant(k.names.boolTrue), no: k.constant(k.names.boolFalse), two: k.store.Nat(big.NewInt(2))}
	if k.attempt(equationSteps, func() bool { return op.equations(&v) }) {
		k.computed[name] = true
	}
}

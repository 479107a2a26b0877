package kernel

import (
	"math/big"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/term"
)

// natOp is an operation on natural numbers that is computed with big numbers.
type natOp uint8

const (
	noOp natOp = iota
	opAdd
	opSub
	opMul
	opPow
	opDiv
	opMod
	opGcd
	opBeq
	opBle
	opLand
	opLor
	opXor
	opShiftLeft
	opShiftRight
	opLog2
)

// natOpOf maps built-in constants to the operations computed on literals. Nat.pred and Nat.bitwise have none: they are
// recognised only as prerequisites of others.
var natOpOf = [builtin.Count]natOp{
	builtin.NatAdd: opAdd, builtin.NatSub: opSub, builtin.NatMul: opMul, builtin.NatPow: opPow, builtin.NatDiv: opDiv,
	builtin.NatMod: opMod, builtin.NatGcd: opGcd, builtin.NatBeq: opBeq, builtin.NatBle: opBle, builtin.NatLand: opLand,
	builtin.NatLor: opLor, builtin.NatXor: opXor, builtin.NatShiftLeft: opShiftLeft, builtin.NatShiftRight: opShiftRight,
	builtin.NatLog2: opLog2,
}

// maxNatBits bounds a computed literal; a larger one ends the check as not finished. The longest piece of arithmetic on
// numbers of that size that cannot be interrupted takes less than a second.
const maxNatBits = 1 << 26

// maxPowExponent is the largest exponent computed at once, as in Lean; larger ones are unfolded.
const maxPowExponent = 1 << 24

// usableNatOp returns the operation that the declaration being checked may compute for the constant n, or noOp.
func (c *checker) usableNatOp(n term.Name) natOp {
	id, ok := c.names.ID(n)
	if !ok || !c.hasBuiltin(id) {
		return noOp
	}
	return natOpOf[id]
}

// natLiteralType: a numeric literal stands for Nat.succ (… Nat.zero), so Nat has to be what it should be.
func (c *checker) natLiteralType() term.Expr {
	if !c.hasNat() {
		refuse(InvalidLiteral, "a numeric literal needs Lean's own Nat, with Nat.zero and Nat.succ, declared before it")
	}
	return c.store.Const(c.names.Handle(builtin.Nat), term.NoLevels)
}

// natValue returns the value of e, if e is a numeric literal or Nat.zero.
func (c *checker) natValue(e term.Expr) (*big.Int, bool) {
	if c.store.Kind(e) == term.KindNat {
		return c.store.NatValue(e), true
	}
	if c.hasNat() && c.store.IsConst(e, c.names.Handle(builtin.NatZero)) {
		return new(big.Int), true
	}
	return nil, false
}

// natConstructor writes a literal as a constructor application.
func (c *checker) natConstructor(e term.Expr) term.Expr {
	v := c.store.NatValue(e)
	if v.Sign() == 0 {
		return c.store.Const(c.names.Handle(builtin.NatZero), term.NoLevels)
	}
	c.countWork(wordCount(v))
	return c.store.App(c.natSucc(), c.store.Nat(new(big.Int).Sub(v, big.NewInt(1))))
}

func (c *checker) natSucc() term.Expr {
	return c.store.Const(c.names.Handle(builtin.NatSucc), term.NoLevels)
}

// reduceNat computes an operation on literals. Only operations whose definitions in the file are the ones Lean pins are
// computed; others are unfolded like any definition.
func (c *checker) reduceNat(e term.Expr) (term.Expr, bool) {
	n := c.store.Node(e)
	if n.Kind != term.KindApp {
		return 0, false
	}
	head := c.store.Node(term.Expr(n.A))
	switch head.Kind {
	case term.KindConst:
		name := term.Name(head.A)
		if name == c.names.Handle(builtin.NatSucc) && c.hasNat() {
			v, ok := c.natValue(c.whnf(term.Expr(n.B)))
			if !ok {
				return 0, false
			}
			c.countWork(wordCount(v))
			return c.store.Nat(new(big.Int).Add(v, big.NewInt(1))), true
		}
		if c.usableNatOp(name) == opLog2 {
			v, ok := c.natValue(c.whnf(term.Expr(n.B)))
			if !ok {
				return 0, false
			}
			return c.store.Nat(big.NewInt(int64(max(0, v.BitLen()-1)))), true
		}
	case term.KindApp:
		fn := c.store.Node(term.Expr(head.A))
		if fn.Kind != term.KindConst {
			return 0, false
		}
		op := c.usableNatOp(term.Name(fn.A))
		if op == noOp || op == opLog2 {
			return 0, false
		}
		if c.symbolic == nil && (!c.mayBecomeLiteral(term.Expr(head.B)) || !c.mayBecomeLiteral(term.Expr(n.B))) {
			return 0, false
		}
		if x, ok := c.natValue(c.whnf(term.Expr(head.B))); ok {
			if y, ok := c.natValue(c.whnf(term.Expr(n.B))); ok {
				return c.computeNat(op, x, y)
			}
		}
		if c.symbolic != nil {
			return c.symbolic.foldOperation(op, term.Expr(head.B), term.Expr(n.B))
		}
	}
	return 0, false
}

// mayBecomeLiteral reports whether whnf could turn e into a literal. Where it cannot, the other argument of the operation
// need not be reduced.
func (c *checker) mayBecomeLiteral(e term.Expr) bool {
	switch c.store.Kind(e) {
	case term.KindLocal, term.KindLam, term.KindPi, term.KindSort:
		return false
	}
	n := c.store.Node(e)
	return n.Kind != term.KindApp || n.Locals == 0 || !c.store.IsConst(term.Expr(n.A), c.names.Handle(builtin.NatSucc)) || c.mayBecomeLiteral(term.Expr(n.B))
}

// computeNat applies an operation to numbers. The size of the result is bounded before it is computed: beyond maxNatBits
// the check ends as not finished. Long computations check the context between parts.
func (c *checker) computeNat(op natOp, x, y *big.Int) (term.Expr, bool) {
	exact := arithmetic{countWork: c.countWork}
	c.countWork(wordCount(x) + wordCount(y))
	r := new(big.Int)
	switch op {
	case opAdd:
		c.limitNatBits(max(x.BitLen(), y.BitLen()) + 1)
		r.Add(x, y)
	case opSub:
		if x.Cmp(y) > 0 {
			r.Sub(x, y)
		}
	case opMul:
		c.limitNatBits(x.BitLen() + y.BitLen())
		r = exact.mul(x, y)
	case opPow:
		if !y.IsUint64() || y.Uint64() > maxPowExponent {
			return 0, false
		}
		if x.BitLen() > 1 {
			c.limitNatBits((x.BitLen()-1)*int(y.Uint64()) + 1)
		}
		r = exact.pow(x, y.Uint64())
	case opDiv:
		if y.Sign() != 0 {
			r, _ = exact.quoRem(x, y)
		}
	case opMod:
		if y.Sign() == 0 {
			r = x
		} else {
			_, r = exact.quoRem(x, y)
		}
	case opGcd:
		r = exact.gcd(x, y)
	case opBeq:
		return c.boolConst(x.Cmp(y) == 0), true
	case opBle:
		return c.boolConst(x.Cmp(y) <= 0), true
	case opLand:
		r.And(x, y)
	case opLor:
		r.Or(x, y)
	case opXor:
		r.Xor(x, y)
	case opShiftLeft:
		if x.Sign() != 0 {
			if !y.IsUint64() || y.Uint64() > maxNatBits {
				c.limitNatBits(maxNatBits + 1)
			}
			c.limitNatBits(x.BitLen() + int(y.Uint64()))
			r.Lsh(x, uint(y.Uint64()))
		}
	case opShiftRight:
		if y.IsUint64() && y.Uint64() < uint64(x.BitLen()) {
			r.Rsh(x, uint(y.Uint64()))
		}
	}
	return c.store.Nat(r), true
}

// limitNatBits ends the check as not finished when bits is more than maxNatBits, the largest literal computed.
func (c *checker) limitNatBits(bits int) {
	if bits > maxNatBits {
		panic(exhaustedPanic{"a numeric literal grows too large"})
	}
}

// wordsPerStep is the number of machine words of arithmetic that count as one step.
const wordsPerStep = 64

// countWork counts arithmetic on the given number of machine words as steps, and checks the context when that is at
// least one step.
func (c *checker) countWork(words int) {
	before := c.steps
	c.steps += words / wordsPerStep
	if c.steps/tickEvery != before/tickEvery {
		c.stopIfCancelled()
	}
}

func (c *checker) boolConst(b bool) term.Expr {
	if b {
		return c.store.Const(c.names.Handle(builtin.BoolTrue), term.NoLevels)
	}
	return c.store.Const(c.names.Handle(builtin.BoolFalse), term.NoLevels)
}

// isNatZero reports whether e is Nat.zero or the literal 0.
func (c *checker) isNatZero(e term.Expr) bool {
	v, ok := c.natValue(e)
	return ok && v.Sign() == 0
}

func (c *checker) natPredecessor(e term.Expr) (term.Expr, bool) {
	n := c.store.Node(e)
	switch n.Kind {
	case term.KindNat:
		if v := c.store.NatValue(e); v.Sign() > 0 {
			c.countWork(wordCount(v))
			return c.store.Nat(new(big.Int).Sub(v, big.NewInt(1))), true
		}
	case term.KindApp:
		if c.store.IsConst(term.Expr(n.A), c.names.Handle(builtin.NatSucc)) {
			return term.Expr(n.B), true
		}
	}
	return 0, false
}

// defEqOffset compares two successors (literals included) by comparing their predecessors.
func (c *checker) defEqOffset(a, b term.Expr) answer {
	if !c.hasNat() {
		return unknown
	}
	if c.isNatZero(a) && c.isNatZero(b) {
		return yes
	}
	pa, ok := c.natPredecessor(a)
	if !ok {
		return unknown
	}
	pb, ok := c.natPredecessor(b)
	if !ok {
		return unknown
	}
	return answerOf(c.defEq(pa, pb))
}

// reduceNative evaluates Lean.reduceBool c and Lean.reduceNat c, which Lean runs as compiled code, by reduction.
func (c *checker) reduceNative(e term.Expr) (term.Expr, bool) {
	n := c.store.Node(e)
	if n.Kind != term.KindApp || c.store.Kind(term.Expr(n.B)) != term.KindConst {
		return 0, false
	}
	head := c.store.Node(term.Expr(n.A))
	if head.Kind != term.KindConst {
		return 0, false
	}
	var result term.Expr
	switch term.Name(head.A) {
	case c.names.Handle(builtin.ReduceBool):
		if !c.hasBuiltin(builtin.ReduceBool) {
			return 0, false
		}
		result = c.whnf(term.Expr(n.B))
		if !c.store.IsConst(result, c.names.Handle(builtin.BoolTrue)) && !c.store.IsConst(result, c.names.Handle(builtin.BoolFalse)) {
			return 0, false
		}
	case c.names.Handle(builtin.ReduceNat):
		if !c.hasBuiltin(builtin.ReduceNat) {
			return 0, false
		}
		result = c.whnf(term.Expr(n.B))
		if _, ok := c.natValue(result); !ok {
			return 0, false
		}
	default:
		return 0, false
	}
	return result, true
}

// stringLiteralType: a string literal stands for String.ofList [Char.ofNat …] (String.mk in older versions), so all that
// is in that application has to be declared, and to be what it is called.
func (c *checker) stringLiteralType() term.Expr {
	if !c.hasStrings() {
		refuse(InvalidLiteral, "a string literal needs Lean's own String, %s, List, Char, Char.ofNat and Nat declared before it", c.builtins.stringMaker)
	}
	return c.store.Const(c.names.Handle(builtin.String), term.NoLevels)
}

// expandString writes a string literal as an application to the list of its characters.
func (c *checker) expandString(e term.Expr) (term.Expr, bool) {
	if !c.hasStrings() {
		return 0, false
	}
	s := c.store
	level := s.List([]term.Level{term.Zero})
	char := s.Const(c.names.Handle(builtin.Char), term.NoLevels)
	list := s.App(s.Const(c.names.Handle(builtin.ListNil), level), char)
	cons := s.App(s.Const(c.names.Handle(builtin.ListCons), level), char)
	charOfNat := s.Const(c.names.Handle(builtin.CharOfNat), term.NoLevels)
	runes := []rune(s.StrValue(e))
	for i := len(runes) - 1; i >= 0; i-- {
		c.tick()
		list = s.Apps(cons, []term.Expr{s.App(charOfNat, s.Nat(big.NewInt(int64(runes[i])))), list})
	}
	return s.App(s.Const(c.names.Handle(c.builtins.stringMaker), term.NoLevels), list), true
}

// stringExpansion compares a literal with an application of the string maker.
func (c *checker) stringExpansion(literal, other term.Expr) bool {
	if c.store.Kind(literal) != term.KindStr {
		return false
	}
	n := c.store.Node(other)
	if n.Kind != term.KindApp || c.store.Kind(term.Expr(n.A)) != term.KindConst {
		return false
	}
	if !c.hasStrings() || !c.store.IsConst(term.Expr(n.A), c.names.Handle(c.builtins.stringMaker)) {
		return false
	}
	expanded, _ := c.expandString(literal)
	return c.defEq(expanded, other)
}

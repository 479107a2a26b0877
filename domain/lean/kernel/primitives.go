package kernel

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"

	"reckon/domain/lean/term"
)

// primitives says which of the constants that the kernel treats specially are declared as they have to be. Each is
// found out from the file's own declarations, once, before checking starts; a constant that is different is an
// ordinary constant. Trap: a file with its own Nat.add must not get Lean's arithmetic.
type primitives struct {
	nat, bool   bool
	stringMaker term.Name // String.ofList or String.mk; Anonymous when strings cannot be written out
	reduceBool  bool
	reduceNat   bool
	ops         map[term.Name]natOp
}

func (p *primitives) op(n term.Name) natOp { return p.ops[n] }

//go:embed pinned.json
var pinnedJSON []byte

// pinned are fingerprints of definitions of Nat operations whose recursion is not plain enough to be recognised by
// their equations. They cover a definition with everything it is made of.
func pinnedFingerprints() map[string]map[string]bool {
	var table map[string][]string
	if err := json.Unmarshal(pinnedJSON, &table); err != nil {
		panic(err) // the file is part of the program
	}
	out := map[string]map[string]bool{}
	for name, hashes := range table {
		out[name] = map[string]bool{}
		for _, h := range hashes {
			out[name][h] = true
		}
	}
	return out
}

// PinnedNames are the definitions whose fingerprints pinned.json holds.
func PinnedNames() []string {
	return []string{"Nat.div", "Nat.mod", "Nat.gcd", "Nat.bitwise", "Nat.log2"}
}

// findPrimitives fills env.primitives using c, a checker of its own.
func (c *checker) findPrimitives() {
	env, p, names := c.env, &c.env.primitives, &c.env.names
	p.ops = map[term.Name]natOp{}
	c.begin(len(env.declarations)) // everything is visible
	s := c.store
	typeOne := s.Sort(s.Succ(term.Zero))
	nat, boolean := s.Const(names.nat, term.NoLevels), s.Const(names.bool, term.NoLevels)
	p.nat = env.isEnumerationLike(names.nat, typeOne, []term.Name{names.natZero, names.natSucc}, []term.Expr{nat, s.Pi(nat, nat)})
	p.bool = env.isEnumerationLike(names.bool, typeOne, []term.Name{names.boolFalse, names.boolTrue}, []term.Expr{boolean, boolean})
	p.stringMaker = c.findStringMaker(nat)
	p.reduceBool = p.bool && c.isOpaqueOfType(names.reduceBool, s.Pi(boolean, boolean))
	p.reduceNat = p.nat && c.isOpaqueOfType(names.reduceNat, s.Pi(nat, nat))
	if !p.nat {
		return
	}
	pins := pinnedFingerprints()
	deep := newDeepFingerprints(env)
	for _, op := range natOperations {
		name := s.InternDotted(op.name)
		k := env.find(name)
		if k == nil || k.kind != definitionConstant || len(k.params) != 0 {
			continue
		}
		if p.ops[name] != noOp {
			continue
		}
		if known := pins[op.name]; known != nil {
			fingerprint := deep.of(name)
			if known[hex.EncodeToString(fingerprint[:])] {
				p.ops[name] = op.op
				continue
			}
		}
		if op.equations != nil && c.holds(func() bool { return op.equations(&equations{checker: c, nat: nat, boolean: boolean, self: name}) }) {
			p.ops[name] = op.op
		}
	}
	// Only steps towards the operations above.
	delete(p.ops, s.InternDotted("Nat.pred"))
	delete(p.ops, s.InternDotted("Nat.bitwise"))
}

// isEnumerationLike recognises a type without parameters by its exact constructors.
func (env *environment) isEnumerationLike(name term.Name, typ term.Expr, ctors []term.Name, ctorTypes []term.Expr) bool {
	k := env.find(name)
	if k == nil || k.inductive == nil || k.typ != typ || len(k.params) != 0 || k.inductive.numParams != 0 || k.inductive.numIndices != 0 ||
		len(k.inductive.all) != 1 || len(k.inductive.constructors) != len(ctors) {
		return false
	}
	for i, n := range ctors {
		ctor := env.find(n)
		if k.inductive.constructors[i] != n || ctor == nil || ctor.constructor == nil || ctor.unit != k.unit ||
			ctor.typ != ctorTypes[i] || len(ctor.params) != 0 {
			return false
		}
	}
	return true
}

func (c *checker) isOpaqueOfType(name term.Name, typ term.Expr) bool {
	k := c.env.find(name)
	return k != nil && k.kind == opaqueConstant && len(k.params) == 0 && k.typ == typ
}

// findStringMaker recognises the way strings are made of characters in this version of Lean.
func (c *checker) findStringMaker(nat term.Expr) term.Name {
	s, names := c.store, &c.env.names
	char, str := s.Const(names.char, term.NoLevels), s.Const(names.string, term.NoLevels)
	level := s.List([]term.Level{term.Zero})
	listChar := s.App(s.Const(names.list, level), char)
	hasType := func(e, typ term.Expr) bool {
		return c.holds(func() bool { return c.check(e) == typ || c.defEq(c.check(e), typ) })
	}
	if !c.env.primitives.nat ||
		!hasType(s.Const(names.charOfNat, term.NoLevels), s.Pi(nat, char)) ||
		!hasType(s.App(s.Const(names.listNil, level), char), listChar) ||
		!hasType(s.App(s.Const(names.listCons, level), char), s.Pi(char, s.Pi(listChar, listChar))) {
		return term.Anonymous
	}
	for _, maker := range []term.Name{names.stringOfList, names.stringMk} {
		if c.env.find(maker) != nil && hasType(s.Const(maker, term.NoLevels), s.Pi(listChar, str)) {
			return maker
		}
	}
	return term.Anonymous
}

// primitiveSteps bounds the search for one primitive; a definition that needs more is an ordinary one.
const primitiveSteps = 200_000

// holds runs a test on definitions that are not checked yet: whatever goes wrong, the test does not hold.
func (c *checker) holds(test func() bool) (ok bool) {
	limit := c.steps + primitiveSteps
	defer func() {
		c.stepLimit = 0
		if r := recover(); r != nil {
			if !isUnwinding(r) {
				panic(r)
			}
			ok = false
		}
		c.begin(len(c.env.declarations))
	}()
	c.stepLimit = limit
	return test()
}

// equations states what an operation has to satisfy on the constructors of Nat, for all x and y.
type equations struct {
	*checker
	nat, boolean term.Expr
	self         term.Name
}

func (q *equations) zero() term.Expr { return q.store.Const(q.env.names.natZero, term.NoLevels) }
func (q *equations) succ(e term.Expr) term.Expr {
	return q.store.App(q.natSucc(), e)
}
func (q *equations) variable() term.Expr { return q.local(q.nat) }
func (q *equations) call(name term.Name, args ...term.Expr) term.Expr {
	return q.store.Apps(q.store.Const(name, term.NoLevels), args)
}
func (q *equations) op(args ...term.Expr) term.Expr { return q.call(q.self, args...) }

// typed says whether the operation has the type Nat → Nat → result.
func (q *equations) typed(result term.Expr) bool {
	k := q.env.find(q.self)
	return k.typ == q.store.Pi(q.nat, q.store.Pi(q.nat, result))
}

// has says whether an operation this one is built on is itself recognised.
func (q *equations) has(name string) (term.Name, bool) {
	n := q.store.InternDotted(name)
	return n, q.env.primitives.op(n) != noOp
}

type natOperation struct {
	name      string
	op        natOp
	equations func(q *equations) bool // nil: recognised by fingerprint
}

// natOperations are in the order in which they are built on each other. Where equations are given they determine the
// operation on all numbers, by induction.
var natOperations = []natOperation{
	{"Nat.add", opAdd, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(y, q.succ(x)), q.succ(q.op(y, x)))
	}},
	{"Nat.pred", opSub, func(q *equations) bool {
		x := q.variable()
		return q.env.find(q.self).typ == q.store.Pi(q.nat, q.nat) && q.defEq(q.op(q.zero()), q.zero()) && q.defEq(q.op(q.succ(x)), x)
	}},
	{"Nat.sub", opSub, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		pred, ok := q.has("Nat.pred")
		return ok && q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(y, q.succ(x)), q.call(pred, q.op(y, x)))
	}},
	{"Nat.mul", opMul, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		add, ok := q.has("Nat.add")
		return ok && q.typed(q.nat) && q.defEq(q.op(x, q.zero()), q.zero()) && q.defEq(q.op(y, q.succ(x)), q.call(add, q.op(y, x), y))
	}},
	{"Nat.pow", opPow, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		mul, ok := q.has("Nat.mul")
		return ok && q.typed(q.nat) && q.defEq(q.op(x, q.zero()), q.succ(q.zero())) && q.defEq(q.op(y, q.succ(x)), q.call(mul, q.op(y, x), y))
	}},
	{"Nat.beq", opBeq, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.env.primitives.bool && q.typed(q.boolean) &&
			q.defEq(q.op(q.zero(), q.zero()), q.boolConst(true)) && q.defEq(q.op(q.zero(), q.succ(x)), q.boolConst(false)) &&
			q.defEq(q.op(q.succ(x), q.zero()), q.boolConst(false)) && q.defEq(q.op(q.succ(y), q.succ(x)), q.op(y, x))
	}},
	{"Nat.ble", opBle, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.env.primitives.bool && q.typed(q.boolean) &&
			q.defEq(q.op(q.zero(), q.zero()), q.boolConst(true)) && q.defEq(q.op(q.zero(), q.succ(x)), q.boolConst(true)) &&
			q.defEq(q.op(q.succ(x), q.zero()), q.boolConst(false)) && q.defEq(q.op(q.succ(y), q.succ(x)), q.op(y, x))
	}},
	{"Nat.div", opDiv, divides(true)},
	{"Nat.mod", opMod, divides(false)},
	{"Nat.div", opDiv, divides(true)}, // again, where it is built on Nat.mod
	{"Nat.gcd", opGcd, nil},
	{"Nat.log2", opLog2, logarithm},
	{"Nat.bitwise", opLand, nil},
	{"Nat.land", opLand, bitwise(func(a, b bool) bool { return a && b })},
	{"Nat.lor", opLor, bitwise(func(a, b bool) bool { return a || b })},
	{"Nat.xor", opXor, bitwise(func(a, b bool) bool { return a != b })},
	{"Nat.shiftLeft", opShiftLeft, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		mul, ok := q.has("Nat.mul")
		two := q.succ(q.succ(q.zero()))
		return ok && q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(x, q.succ(y)), q.op(q.call(mul, two, x), y))
	}},
	{"Nat.shiftRight", opShiftRight, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		div, ok := q.has("Nat.div")
		two := q.succ(q.succ(q.zero()))
		return ok && q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(x, q.succ(y)), q.call(div, q.op(x, y), two))
	}},
}

// bitwise recognises Nat.bitwise f where f is the given function of two bits.
func bitwise(f func(a, b bool) bool) func(q *equations) bool {
	return func(q *equations) bool {
		name, ok := q.has("Nat.bitwise")
		n := q.store.Node(q.env.find(q.self).value)
		if !ok || !q.env.primitives.bool || !q.typed(q.nat) || n.Kind != term.KindApp || !q.store.IsConst(term.Expr(n.A), name) {
			return false
		}
		fn := term.Expr(n.B)
		if q.check(fn) != q.store.Pi(q.boolean, q.store.Pi(q.boolean, q.boolean)) {
			return false
		}
		for _, a := range []bool{false, true} {
			for _, b := range []bool{false, true} {
				if !q.defEq(q.store.Apps(fn, []term.Expr{q.boolConst(a), q.boolConst(b)}), q.boolConst(f(a, b))) {
					return false
				}
			}
		}
		return true
	}
}

// deepFingerprints identify a definition together with all it is made of: a constant counts as its own declaration,
// not just as its name. Proofs count by what they prove.
type deepFingerprints struct {
	env  *environment
	done map[term.Name]term.Fingerprint
	now  map[term.Name]bool
}

func newDeepFingerprints(env *environment) *deepFingerprints {
	return &deepFingerprints{env: env, done: map[term.Name]term.Fingerprint{}, now: map[term.Name]bool{}}
}

func (d *deepFingerprints) of(name term.Name) term.Fingerprint {
	if h, ok := d.done[name]; ok {
		return h
	}
	f := term.NewFingerprinter(d.env.store)
	k := d.env.find(name)
	if k == nil || d.now[name] {
		return f.Name(name)
	}
	d.now[name] = true
	defer delete(d.now, name)
	f.Constant = func(n term.Name) term.Fingerprint {
		if other := d.env.find(n); other != nil && other.unit < k.unit {
			return d.of(n)
		}
		return f.Name(n)
	}
	f.WithParams(k.params)
	parts := []term.Fingerprint{f.Name(name), f.Number(uint64(k.kind)), f.Number(uint64(len(k.params))), f.Expr(k.typ)}
	switch k.kind {
	case definitionConstant:
		parts = append(parts, f.Expr(k.value))
	case inductiveConstant:
		parts = append(parts, f.Number(uint64(k.inductive.numParams)))
		for _, ctor := range k.inductive.constructors {
			parts = append(parts, f.Name(ctor))
			if c := d.env.find(ctor); c != nil {
				f.WithParams(c.params)
				parts = append(parts, f.Expr(c.typ))
			}
		}
	case constructorConstant:
		parts = append(parts, d.of(k.constructor.inductive))
	case recursorConstant:
		parts = append(parts, d.of(k.recursor.major))
	}
	h := f.Combine('D', parts...)
	d.done[name] = h
	return h
}

// Fingerprints computes the fingerprints that pinned.json holds, of those of the named definitions that are declared.
func Fingerprints(store *term.Store, declarations []term.Declaration, names []string) map[string][]string {
	deep := newDeepFingerprints(newEnvironment(store, declarations))
	out := map[string][]string{}
	for _, name := range names {
		n, ok := store.LookupDotted(name)
		if !ok || deep.env.find(n) == nil {
			continue
		}
		h := deep.of(n)
		out[name] = []string{hex.EncodeToString(h[:])}
	}
	return out
}

package kernel

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

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
	return []string{builtin.NatDiv.String(), builtin.NatMod.String(), builtin.NatGcd.String(), builtin.NatBitwise.String(), builtin.NatLog2.String()}
}

// equations states what an operation has to satisfy on the constructors of Nat, for all x and y.
type equations struct {
	*checker
	nat, boolean term.Expr
	self         term.Name
}

func (q *equations) zero() term.Expr {
	return q.store.Const(q.names.Of(builtin.NatZero), term.NoLevels)
}
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
	k := q.find(q.self)
	return k.Type == q.store.Pi(q.nat, q.store.Pi(q.nat, result))
}

type natOperation struct {
	id        builtin.ID
	equations func(q *equations) bool // nil: recognised by fingerprint only
}

// natOperations are in the order in which they are built on each other. Where equations are given they determine the
// operation on all numbers, by induction.
var natOperations = []natOperation{
	{builtin.NatAdd, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(y, q.succ(x)), q.succ(q.op(y, x)))
	}},
	{builtin.NatPred, func(q *equations) bool {
		x := q.variable()
		return q.find(q.self).Type == q.store.Pi(q.nat, q.nat) && q.defEq(q.op(q.zero()), q.zero()) && q.defEq(q.op(q.succ(x)), x)
	}},
	{builtin.NatSub, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		pred := q.names.Of(builtin.NatPred)
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(y, q.succ(x)), q.call(pred, q.op(y, x)))
	}},
	{builtin.NatMul, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		add := q.names.Of(builtin.NatAdd)
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), q.zero()) && q.defEq(q.op(y, q.succ(x)), q.call(add, q.op(y, x), y))
	}},
	{builtin.NatPow, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		mul := q.names.Of(builtin.NatMul)
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), q.succ(q.zero())) && q.defEq(q.op(y, q.succ(x)), q.call(mul, q.op(y, x), y))
	}},
	{builtin.NatBeq, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.typed(q.boolean) &&
			q.defEq(q.op(q.zero(), q.zero()), q.boolConst(true)) && q.defEq(q.op(q.zero(), q.succ(x)), q.boolConst(false)) &&
			q.defEq(q.op(q.succ(x), q.zero()), q.boolConst(false)) && q.defEq(q.op(q.succ(y), q.succ(x)), q.op(y, x))
	}},
	{builtin.NatBle, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.typed(q.boolean) &&
			q.defEq(q.op(q.zero(), q.zero()), q.boolConst(true)) && q.defEq(q.op(q.zero(), q.succ(x)), q.boolConst(true)) &&
			q.defEq(q.op(q.succ(x), q.zero()), q.boolConst(false)) && q.defEq(q.op(q.succ(y), q.succ(x)), q.op(y, x))
	}},
	{builtin.NatDiv, divides(true)},
	{builtin.NatMod, divides(false)},
	{builtin.NatGcd, nil},
	{builtin.NatLog2, logarithm},
	{builtin.NatBitwise, nil},
	{builtin.NatLand, bitwise(func(a, b bool) bool { return a && b })},
	{builtin.NatLor, bitwise(func(a, b bool) bool { return a || b })},
	{builtin.NatXor, bitwise(func(a, b bool) bool { return a != b })},
	{builtin.NatShiftLeft, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		mul := q.names.Of(builtin.NatMul)
		two := q.succ(q.succ(q.zero()))
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(x, q.succ(y)), q.op(q.call(mul, two, x), y))
	}},
	{builtin.NatShiftRight, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		div := q.names.Of(builtin.NatDiv)
		two := q.succ(q.succ(q.zero()))
		return q.typed(q.nat) && q.defEq(q.op(x, q.zero()), x) && q.defEq(q.op(x, q.succ(y)), q.call(div, q.op(x, y), two))
	}},
}

// bitwise recognises Nat.bitwise f where f is the given function of two bits.
func bitwise(f func(a, b bool) bool) func(q *equations) bool {
	return func(q *equations) bool {
		n := q.store.Node(q.find(q.self).Value)
		if !q.typed(q.nat) || n.Kind != term.KindApp || !q.store.IsConst(term.Expr(n.A), q.names.Of(builtin.NatBitwise)) {
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
	env   *environment.Environment
	store *term.Store
	done  map[term.Name]term.Fingerprint
	now   map[term.Name]bool
}

func newDeepFingerprints(env *environment.Environment, store *term.Store) *deepFingerprints {
	return &deepFingerprints{env: env, store: store, done: map[term.Name]term.Fingerprint{}, now: map[term.Name]bool{}}
}

func (d *deepFingerprints) of(name term.Name) term.Fingerprint {
	if h, ok := d.done[name]; ok {
		return h
	}
	f := term.NewFingerprinter(d.store)
	unit, declared := d.env.Place(name)
	if !declared || d.now[name] {
		return f.Name(name)
	}
	own, earlier := d.env.At(unit+1), d.env.At(unit)
	k := own.Find(name)
	d.now[name] = true
	defer delete(d.now, name)
	f.Constant = func(n term.Name) term.Fingerprint {
		if earlier.Find(n) != nil {
			return d.of(n)
		}
		return f.Name(n)
	}
	f.WithParams(k.Params)
	parts := []term.Fingerprint{f.Name(name), f.Number(uint64(k.Kind)), f.Number(uint64(len(k.Params))), f.Expr(k.Type)}
	switch k.Kind {
	case environment.Definition:
		parts = append(parts, f.Expr(k.Value))
	case environment.Inductive:
		parts = append(parts, f.Number(uint64(k.Inductive.NumParams)))
		for _, ctor := range k.Inductive.Constructors {
			parts = append(parts, f.Name(ctor))
			if c := own.Find(ctor); c != nil {
				f.WithParams(c.Params)
				parts = append(parts, f.Expr(c.Type))
			}
		}
	case environment.Constructor:
		parts = append(parts, d.of(k.Constructor.Inductive))
	case environment.Recursor:
		parts = append(parts, d.of(k.Recursor.Major))
	}
	h := f.Combine('D', parts...)
	d.done[name] = h
	return h
}

// Fingerprints computes the fingerprints that pinned.json holds, of those of the named definitions that are declared.
func Fingerprints(store *term.Store, declarations []term.Declaration, names []string) map[string][]string {
	deep := newDeepFingerprints(environment.New(store, declarations), store)
	out := map[string][]string{}
	for _, name := range names {
		n, ok := store.LookupDotted(name)
		if !ok {
			continue
		}
		if _, declared := deep.env.Place(n); !declared {
			continue
		}
		h := deep.of(n)
		out[name] = []string{hex.EncodeToString(h[:])}
	}
	return out
}

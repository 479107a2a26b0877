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

// pinnedFingerprints returns, by name, the accepted fingerprints of Nat operations whose recursion cannot be recognised
// by equations. A fingerprint covers a definition and every constant it refers to.
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

// equations tests the equations that an operation has to satisfy on the constructors of Nat, for all x and y.
type equations struct {
	*checker
	nat, boolean term.Expr
	self         term.Name
}

func (q *equations) zero() term.Expr {
	return q.store.Const(q.names.Handle(builtin.NatZero), term.NoLevels)
}
func (q *equations) succ(e term.Expr) term.Expr {
	return q.store.App(q.natSucc(), e)
}
func (q *equations) variable() term.Expr { return q.newLocal(q.nat) }
func (q *equations) applyConst(name term.Name, args ...term.Expr) term.Expr {
	return q.store.Apps(q.store.Const(name, term.NoLevels), args)
}
func (q *equations) applySelf(args ...term.Expr) term.Expr { return q.applyConst(q.self, args...) }

// isBinaryWithResult reports whether the operation has the type Nat → Nat → result.
func (q *equations) isBinaryWithResult(result term.Expr) bool {
	k := q.findConstant(q.self)
	return k.Type == q.store.Pi(q.nat, q.store.Pi(q.nat, result))
}

type natOperation struct {
	id        builtin.ID
	equations func(q *equations) bool // nil: recognised by fingerprint only
}

// natOperations lists the operations, each after those its definition uses. Equations, where given, determine the
// operation on all numbers by induction.
var natOperations = []natOperation{
	{builtin.NatAdd, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.isBinaryWithResult(q.nat) && q.defEq(q.applySelf(x, q.zero()), x) && q.defEq(q.applySelf(y, q.succ(x)), q.succ(q.applySelf(y, x)))
	}},
	{builtin.NatPred, func(q *equations) bool {
		x := q.variable()
		return q.findConstant(q.self).Type == q.store.Pi(q.nat, q.nat) && q.defEq(q.applySelf(q.zero()), q.zero()) && q.defEq(q.applySelf(q.succ(x)), x)
	}},
	{builtin.NatSub, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		pred := q.names.Handle(builtin.NatPred)
		return q.isBinaryWithResult(q.nat) && q.defEq(q.applySelf(x, q.zero()), x) && q.defEq(q.applySelf(y, q.succ(x)), q.applyConst(pred, q.applySelf(y, x)))
	}},
	{builtin.NatMul, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		add := q.names.Handle(builtin.NatAdd)
		return q.isBinaryWithResult(q.nat) && q.defEq(q.applySelf(x, q.zero()), q.zero()) && q.defEq(q.applySelf(y, q.succ(x)), q.applyConst(add, q.applySelf(y, x), y))
	}},
	{builtin.NatPow, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		mul := q.names.Handle(builtin.NatMul)
		return q.isBinaryWithResult(q.nat) && q.defEq(q.applySelf(x, q.zero()), q.succ(q.zero())) && q.defEq(q.applySelf(y, q.succ(x)), q.applyConst(mul, q.applySelf(y, x), y))
	}},
	{builtin.NatBeq, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.isBinaryWithResult(q.boolean) &&
			q.defEq(q.applySelf(q.zero(), q.zero()), q.boolConst(true)) && q.defEq(q.applySelf(q.zero(), q.succ(x)), q.boolConst(false)) &&
			q.defEq(q.applySelf(q.succ(x), q.zero()), q.boolConst(false)) && q.defEq(q.applySelf(q.succ(y), q.succ(x)), q.applySelf(y, x))
	}},
	{builtin.NatBle, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		return q.isBinaryWithResult(q.boolean) &&
			q.defEq(q.applySelf(q.zero(), q.zero()), q.boolConst(true)) && q.defEq(q.applySelf(q.zero(), q.succ(x)), q.boolConst(true)) &&
			q.defEq(q.applySelf(q.succ(x), q.zero()), q.boolConst(false)) && q.defEq(q.applySelf(q.succ(y), q.succ(x)), q.applySelf(y, x))
	}},
	{builtin.NatDiv, divisionTest(true)},
	{builtin.NatMod, divisionTest(false)},
	{builtin.NatGcd, nil},
	{builtin.NatLog2, logarithmTest},
	{builtin.NatBitwise, nil},
	{builtin.NatLand, bitwiseTest(func(a, b bool) bool { return a && b })},
	{builtin.NatLor, bitwiseTest(func(a, b bool) bool { return a || b })},
	{builtin.NatXor, bitwiseTest(func(a, b bool) bool { return a != b })},
	{builtin.NatShiftLeft, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		mul := q.names.Handle(builtin.NatMul)
		two := q.succ(q.succ(q.zero()))
		return q.isBinaryWithResult(q.nat) && q.defEq(q.applySelf(x, q.zero()), x) && q.defEq(q.applySelf(x, q.succ(y)), q.applySelf(q.applyConst(mul, two, x), y))
	}},
	{builtin.NatShiftRight, func(q *equations) bool {
		x, y := q.variable(), q.variable()
		div := q.names.Handle(builtin.NatDiv)
		two := q.succ(q.succ(q.zero()))
		return q.isBinaryWithResult(q.nat) && q.defEq(q.applySelf(x, q.zero()), x) && q.defEq(q.applySelf(x, q.succ(y)), q.applyConst(div, q.applySelf(x, y), two))
	}},
}

// bitwiseTest returns the test that an operation is Nat.bitwise f, where f is the given function of two bits.
func bitwiseTest(f func(a, b bool) bool) func(q *equations) bool {
	return func(q *equations) bool {
		n := q.store.Node(q.findConstant(q.self).Value)
		if !q.isBinaryWithResult(q.nat) || n.Kind != term.KindApp || !q.store.IsConst(term.Expr(n.A), q.names.Handle(builtin.NatBitwise)) {
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

// deepFingerprints computes fingerprints in which a constant counts by the fingerprint of its declaration, not by its
// name alone. A theorem counts by its type.
type deepFingerprints struct {
	env        *environment.Environment
	store      *term.Store
	done       map[term.Name]term.Fingerprint
	inProgress map[term.Name]bool
}

func newDeepFingerprints(env *environment.Environment, store *term.Store) *deepFingerprints {
	return &deepFingerprints{env: env, store: store, done: map[term.Name]term.Fingerprint{}, inProgress: map[term.Name]bool{}}
}

func (d *deepFingerprints) fingerprint(name term.Name) term.Fingerprint {
	if h, ok := d.done[name]; ok {
		return h
	}
	f := term.NewFingerprinter(d.store)
	unit, declared := d.env.IntroducedBy(name)
	if !declared || d.inProgress[name] {
		return f.Name(name)
	}
	own, earlier := d.env.ViewAt(unit+1), d.env.ViewAt(unit)
	k := own.Find(name)
	d.inProgress[name] = true
	defer delete(d.inProgress, name)
	f.Constant = func(n term.Name) term.Fingerprint {
		if earlier.Find(n) != nil {
			return d.fingerprint(n)
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
		parts = append(parts, d.fingerprint(k.Constructor.Inductive))
	case environment.Recursor:
		parts = append(parts, d.fingerprint(k.Recursor.MajorInductive))
	}
	h := f.Combine('D', parts...)
	d.done[name] = h
	return h
}

// Fingerprints computes the fingerprints that pinned.json holds, in lower-case hex, for those of names that are declared.
func Fingerprints(store *term.Store, declarations []term.Declaration, names []string) map[string][]string {
	deep := newDeepFingerprints(environment.New(store, declarations), store)
	out := map[string][]string{}
	for _, name := range names {
		n, ok := store.LookupDotted(name)
		if !ok {
			continue
		}
		if _, declared := deep.env.IntroducedBy(n); !declared {
			continue
		}
		h := deep.fingerprint(n)
		out[name] = []string{hex.EncodeToString(h[:])}
	}
	return out
}

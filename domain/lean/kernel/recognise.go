package kernel

import (
	"encoding/hex"
	"math"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// recognised holds, for each built-in constant, the index of the first declaration that may use its special treatment.
// That index is greater than those of all its prerequisites and of its own declaration: no declaration that a built-in is
// made of can be checked with that built-in's own shortcut. A constant declared otherwise than its name promises is an
// ordinary constant throughout.
type recognised struct {
	usableFrom  [builtin.Count]int // never for an ordinary constant
	stringsFrom int                // place from which string literals are typed and written out
	stringMaker builtin.ID         // of strings
}

// neverUsable is an index after every declaration.
const neverUsable = math.MaxInt

// hasBuiltin reports whether the declaration being checked may use the special treatment of a built-in constant.
func (c *checker) hasBuiltin(id builtin.ID) bool { return c.view.Unit() >= c.builtins.usableFrom[id] }

// hasNat says whether numerals may be used here.
func (c *checker) hasNat() bool { return c.hasBuiltin(builtin.Nat) }

// hasStrings says whether string literals may be used here.
func (c *checker) hasStrings() bool { return c.view.Unit() >= c.builtins.stringsFrom }

// placeAfter is the index of the first declaration that sees all the given constants, or neverUsable.
func (c *checker) placeAfter(ids []builtin.ID) int {
	place := 0
	for _, id := range ids {
		unit, declared := c.env.IntroducedBy(c.names.Handle(id))
		if !declared {
			return neverUsable
		}
		place = max(place, unit+1)
	}
	return place
}

// recognise fills c.builtins for all checkers of the file. The test of a constant runs at the index from which it would
// be treated specially, and sees no later declaration.
func (c *checker) recognise() {
	for id := range builtin.Count {
		c.builtins.usableFrom[id] = neverUsable
	}
	c.builtins.stringsFrom = neverUsable
	tests := c.recognisers()
	c.permanentExprs = c.store.ExprCount() // the expressions of the tests stay
	order := make([]builtin.ID, builtin.Count, builtin.Count+1)
	for id := range order {
		order[id] = builtin.ID(id)
	}
	for _, self := range append(order, builtin.NatDiv) { // once more, for one that is built on Nat.mod
		test := tests[self]
		if test == nil || c.builtins.usableFrom[self] != neverUsable {
			continue
		}
		place := c.placeAfter(append([]builtin.ID{self}, builtin.Table[self].Prerequisites...))
		if place == neverUsable || !c.holdsAt(place, func() bool { return c.prerequisitesRecognised(self) && test() }) {
			continue
		}
		c.builtins.usableFrom[self] = place
	}
	c.recogniseStrings()
}

// prerequisitesRecognised reports whether the prerequisites of id are recognised here. The constants of one declaration
// are prerequisites of each other; the test of the first covers them all.
func (c *checker) prerequisitesRecognised(id builtin.ID) bool {
	self, _ := c.env.IntroducedBy(c.names.Handle(id))
	for _, need := range builtin.Table[id].Prerequisites {
		if unit, _ := c.env.IntroducedBy(c.names.Handle(need)); unit != self && !c.hasBuiltin(need) {
			return false
		}
	}
	return true
}

// recognisers lists the test of every constant that has one.
func (c *checker) recognisers() [builtin.Count]func() bool {
	s := c.store
	name := func(id builtin.ID) term.Expr { return s.Const(c.names.Handle(id), term.NoLevels) }
	typeOne := s.Sort(s.Succ(term.Zero))
	nat, boolean := name(builtin.Nat), name(builtin.Bool)
	isNat := func() bool {
		return c.isInductiveType(builtin.Nat, typeOne, expectedConstructor{builtin.NatZero, nat}, expectedConstructor{builtin.NatSucc, s.Pi(nat, nat)})
	}
	isBool := func() bool {
		return c.isInductiveType(builtin.Bool, typeOne, expectedConstructor{builtin.BoolFalse, boolean}, expectedConstructor{builtin.BoolTrue, boolean})
	}
	tests := [builtin.Count]func() bool{
		builtin.Nat: isNat, builtin.NatZero: isNat, builtin.NatSucc: isNat,
		builtin.Bool: isBool, builtin.BoolFalse: isBool, builtin.BoolTrue: isBool,
		builtin.ReduceBool: func() bool { return c.isOpaqueIdentity(builtin.ReduceBool, boolean) },
		builtin.ReduceNat:  func() bool { return c.isOpaqueIdentity(builtin.ReduceNat, nat) },
		builtin.List:       c.isList, builtin.ListNil: c.isList, builtin.ListCons: c.isList,
		builtin.Char:         func() bool { return c.isPlainType(builtin.Char) },
		builtin.String:       func() bool { return c.isPlainType(builtin.String) },
		builtin.CharOfNat:    func() bool { return c.hasPlainType(builtin.CharOfNat, s.Pi(nat, name(builtin.Char))) },
		builtin.StringOfList: func() bool { return c.hasPlainType(builtin.StringOfList, s.Pi(c.listOfChar(), name(builtin.String))) },
		builtin.StringMk: func() bool {
			return c.isInductiveType(builtin.String, typeOne, expectedConstructor{builtin.StringMk, s.Pi(c.listOfChar(), name(builtin.String))})
		},
	}
	for id, arguments := range annotations {
		tests[id] = func() bool { return c.isAnnotation(id, arguments) }
	}
	deep := newDeepFingerprints(c.env, c.store)
	pins := pinnedFingerprints()
	for _, op := range natOperations {
		tests[op.id] = func() bool { return c.isOperation(op, nat, boolean, deep, pins) }
	}
	return tests
}

// isOperation says whether a definition is the operation of its name: by a fingerprint known to be one, or by equations.
func (c *checker) isOperation(op natOperation, nat, boolean term.Expr, deep *deepFingerprints, pins map[string]map[string]bool) bool {
	k := c.findConstant(c.names.Handle(op.id))
	if k == nil || k.Kind != environment.Definition || len(k.Params) != 0 {
		return false
	}
	if known := pins[op.id.String()]; known != nil {
		if fingerprint := deep.fingerprint(k.Name); known[hex.EncodeToString(fingerprint[:])] {
			return true
		}
	}
	return op.equations != nil && op.equations(&equations{checker: c, nat: nat, boolean: boolean, self: k.Name})
}

// recogniseStrings finds the place from which string literals may be used: after the maker, and after everything else
// that a literal stands for.
func (c *checker) recogniseStrings() {
	c.builtins.stringMaker = c.names.StringMaker(c.env.Declarations())
	literal := builtin.StringLiteral(c.builtins.stringMaker)
	place := c.placeAfter(literal)
	for _, id := range literal {
		if place == neverUsable || c.builtins.usableFrom[id] > place {
			return
		}
	}
	c.builtins.stringsFrom = place
}

// expectedConstructor is a constructor that isInductiveType requires, with its type.
type expectedConstructor struct {
	id  builtin.ID
	typ term.Expr
}

// isInductiveType says whether a constant is an inductive type alone in its block, without universe parameters and indices, with
// exactly the given type and constructors.
func (c *checker) isInductiveType(id builtin.ID, typ term.Expr, ctors ...expectedConstructor) bool {
	k := c.findConstant(c.names.Handle(id))
	if k == nil || k.Inductive == nil || k.Type != typ || len(k.Params) != 0 || k.Inductive.NumParams != 0 ||
		k.Inductive.NumIndices != 0 || len(k.Inductive.All) != 1 || len(k.Inductive.Constructors) != len(ctors) {
		return false
	}
	for i, want := range ctors {
		ctor := c.findConstant(c.names.Handle(want.id))
		if k.Inductive.Constructors[i] != c.names.Handle(want.id) || ctor == nil || ctor.Constructor == nil || ctor.Unit != k.Unit ||
			ctor.Type != want.typ || len(ctor.Params) != 0 {
			return false
		}
	}
	return true
}

// isList says whether List, List.nil and List.cons are Lean's: Type u → Type u, {α} → List α, {α} → α → List α → List α.
func (c *checker) isList() bool {
	s := c.store
	list, cons, empty := c.findConstant(c.names.Handle(builtin.List)), c.findConstant(c.names.Handle(builtin.ListCons)), c.findConstant(c.names.Handle(builtin.ListNil))
	if list == nil || cons == nil || empty == nil || list.Inductive == nil || cons.Constructor == nil || empty.Constructor == nil ||
		cons.Unit != list.Unit || empty.Unit != list.Unit || len(list.Params) != 1 || len(cons.Params) != 1 || len(empty.Params) != 1 ||
		list.Inductive.NumParams != 1 || list.Inductive.NumIndices != 0 || len(list.Inductive.All) != 1 ||
		len(list.Inductive.Constructors) != 2 || list.Inductive.Constructors[0] != empty.Name || list.Inductive.Constructors[1] != cons.Name {
		return false
	}
	typeOf := func(k *environment.Constant) (typ term.Expr, of func(term.Expr) term.Expr) {
		u := s.Param(k.Params[0])
		return s.Sort(s.Succ(u)), func(alpha term.Expr) term.Expr {
			return s.App(s.Const(list.Name, s.List([]term.Level{u})), alpha)
		}
	}
	defer func(saved uint32) { c.nextLocal = saved }(c.nextLocal)
	typ, _ := typeOf(list)
	if list.Type != s.Pi(typ, typ) {
		return false
	}
	typ, of := typeOf(empty)
	alpha := c.newLocal(typ)
	if empty.Type != s.Pis([]term.Expr{alpha}, of(alpha)) {
		return false
	}
	typ, of = typeOf(cons)
	alpha = c.newLocal(typ)
	return cons.Type == s.Pis([]term.Expr{alpha}, s.Pi(alpha, s.Pi(of(alpha), of(alpha))))
}

// isPlainType reports whether a constant is an inductive type in Type, without parameters and indices.
func (c *checker) isPlainType(id builtin.ID) bool {
	k := c.findConstant(c.names.Handle(id))
	return k != nil && k.Inductive != nil && len(k.Params) == 0 && k.Type == c.store.Sort(c.store.Succ(term.Zero))
}

// hasPlainType reports whether a constant has the given type and no universe parameters.
func (c *checker) hasPlainType(id builtin.ID, typ term.Expr) bool {
	k := c.findConstant(c.names.Handle(id))
	return k != nil && len(k.Params) == 0 && k.Type == typ
}

// isOpaqueIdentity says whether a constant is declared as an opaque function typ → typ whose value, applied to a variable, reduces to
// the variable. Lean's are fun b => b, in newer versions with an unused have of the axiom trustCompiler.
func (c *checker) isOpaqueIdentity(id builtin.ID, typ term.Expr) bool {
	if !c.hasPlainType(id, c.store.Pi(typ, typ)) {
		return false
	}
	k := c.findConstant(c.names.Handle(id))
	n := c.store.Node(k.Value)
	if k.Kind != environment.Opaque || n.Kind != term.KindLam {
		return false
	}
	x := c.newLocal(typ)
	return c.whnf(c.store.Instantiate(term.Expr(n.B), []term.Expr{x})) == x
}

// listOfChar is the type List.{0} Char.
func (c *checker) listOfChar() term.Expr {
	s := c.store
	return s.App(s.Const(c.names.Handle(builtin.List), s.List([]term.Level{term.Zero})), s.Const(c.names.Handle(builtin.Char), term.NoLevels))
}

// isAnnotation says whether a constant is declared as the function that returns the first of count arguments.
func (c *checker) isAnnotation(id builtin.ID, count int) bool {
	k := c.findConstant(c.names.Handle(id))
	if k == nil || k.Kind != environment.Definition {
		return false
	}
	value := k.Value
	for range count {
		n := c.store.Node(value)
		if n.Kind != term.KindLam {
			return false
		}
		value = term.Expr(n.B)
	}
	n := c.store.Node(value)
	return n.Kind == term.KindBVar && int(n.A) == count-1
}

// annotations are Lean's annotations of binder types, with their number of arguments.
var annotations = map[builtin.ID]int{builtin.OutParam: 1, builtin.SemiOutParam: 1, builtin.OptParam: 2, builtin.AutoParam: 2}

// annotates reports whether n, applied to count arguments, is an annotation that returns the first of them.
func (c *checker) annotates(n term.Name, count int) bool {
	id, ok := c.names.ID(n)
	return ok && annotations[id] == count && count > 0 && c.hasBuiltin(id)
}

// recognitionSteps is the most steps the test of one built-in constant may take; one that takes more fails.
const recognitionSteps = 200_000

// holdsAt runs a test with the view of the declaration at index place. The declarations it sees are not checked yet, so
// any refusal, exhaustion or runtime error counts as a failed test.
func (c *checker) holdsAt(place int, test func() bool) (ok bool) {
	c.begin(place)
	c.stepLimit = c.steps + recognitionSteps
	defer func() {
		c.stepLimit = 0
		if r := recover(); r != nil {
			if !isUnwinding(r) {
				panic(r)
			}
			ok = false
		}
		c.begin(place)
	}()
	return test()
}

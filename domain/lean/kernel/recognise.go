package kernel

import (
	"encoding/hex"
	"math"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// recognised says from which place in the order of declarations on each built-in constant is treated specially. That
// place comes after everything the constant needs, its own declaration included: no declaration that a built-in is
// made of can be checked with that built-in's own shortcut. A constant that is declared otherwise than it has to be is
// an ordinary constant for ever.
type recognised struct {
	from    [builtin.Count]int // never for an ordinary constant
	strings int                // place from which string literals are typed and written out
	maker   builtin.ID         // of strings
}

// never is a place after every declaration.
const never = math.MaxInt

// has says whether a built-in constant may be treated specially here.
func (c *checker) has(id builtin.ID) bool { return c.view.Unit() >= c.known.from[id] }

// hasNat says whether numerals may be used here.
func (c *checker) hasNat() bool { return c.has(builtin.Nat) }

// hasStrings says whether string literals may be used here.
func (c *checker) hasStrings() bool { return c.view.Unit() >= c.known.strings }

// placeAfter is the first place from which all the given constants are visible, or never.
func (c *checker) placeAfter(ids []builtin.ID) int {
	place := 0
	for _, id := range ids {
		unit, declared := c.env.Place(c.names.Of(id))
		if !declared {
			return never
		}
		place = max(place, unit+1)
	}
	return place
}

// recognise fills c.known, for all checkers of the file. Each test runs at the place from which the constant would be
// treated specially, and sees nothing later.
func (c *checker) recognise() {
	for id := range builtin.Count {
		c.known.from[id] = never
	}
	c.known.strings = never
	tests := c.recognisers()
	c.base = c.store.ExprCount() // the expressions of the tests stay
	order := make([]builtin.ID, builtin.Count, builtin.Count+1)
	for id := range order {
		order[id] = builtin.ID(id)
	}
	for _, self := range append(order, builtin.NatDiv) { // once more, for one that is built on Nat.mod
		test := tests[self]
		if test == nil || c.known.from[self] != never {
			continue
		}
		place := c.placeAfter(append([]builtin.ID{self}, builtin.Table[self].Needs...))
		if place == never || !c.holds(place, func() bool { return c.neededAreKnown(self) && test() }) {
			continue
		}
		c.known.from[self] = place
	}
	c.recogniseStrings()
}

// neededAreKnown says whether the constants that id is recognised by are themselves recognised here. Constants of one
// declaration need each other: the first of them answers for all.
func (c *checker) neededAreKnown(id builtin.ID) bool {
	self, _ := c.env.Place(c.names.Of(id))
	for _, need := range builtin.Table[id].Needs {
		if unit, _ := c.env.Place(c.names.Of(need)); unit != self && !c.has(need) {
			return false
		}
	}
	return true
}

// recognisers lists the test of every constant that has one.
func (c *checker) recognisers() [builtin.Count]func() bool {
	s := c.store
	name := func(id builtin.ID) term.Expr { return s.Const(c.names.Of(id), term.NoLevels) }
	typeOne := s.Sort(s.Succ(term.Zero))
	nat, boolean := name(builtin.Nat), name(builtin.Bool)
	isNat := func() bool {
		return c.isType(builtin.Nat, typeOne, constructorOf{builtin.NatZero, nat}, constructorOf{builtin.NatSucc, s.Pi(nat, nat)})
	}
	isBool := func() bool {
		return c.isType(builtin.Bool, typeOne, constructorOf{builtin.BoolFalse, boolean}, constructorOf{builtin.BoolTrue, boolean})
	}
	tests := [builtin.Count]func() bool{
		builtin.Nat: isNat, builtin.NatZero: isNat, builtin.NatSucc: isNat,
		builtin.Bool: isBool, builtin.BoolFalse: isBool, builtin.BoolTrue: isBool,
		builtin.ReduceBool: func() bool { return c.isOpaqueOfType(builtin.ReduceBool, s.Pi(boolean, boolean)) },
		builtin.ReduceNat:  func() bool { return c.isOpaqueOfType(builtin.ReduceNat, s.Pi(nat, nat)) },
		builtin.List:       c.isList, builtin.ListNil: c.isList, builtin.ListCons: c.isList,
		builtin.Char:         func() bool { return c.isPlainType(builtin.Char) },
		builtin.String:       func() bool { return c.isPlainType(builtin.String) },
		builtin.CharOfNat:    func() bool { return c.hasPlainType(builtin.CharOfNat, s.Pi(nat, name(builtin.Char))) },
		builtin.StringOfList: func() bool { return c.hasPlainType(builtin.StringOfList, s.Pi(c.listOfChar(), name(builtin.String))) },
		builtin.StringMk: func() bool {
			return c.isType(builtin.String, typeOne, constructorOf{builtin.StringMk, s.Pi(c.listOfChar(), name(builtin.String))})
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
	k := c.find(c.names.Of(op.id))
	if k == nil || k.Kind != environment.Definition || len(k.Params) != 0 {
		return false
	}
	if known := pins[op.id.String()]; known != nil {
		if fingerprint := deep.of(k.Name); known[hex.EncodeToString(fingerprint[:])] {
			return true
		}
	}
	return op.equations != nil && op.equations(&equations{checker: c, nat: nat, boolean: boolean, self: k.Name})
}

// recogniseStrings finds the place from which string literals may be used: after the maker, and after everything else
// that a literal stands for.
func (c *checker) recogniseStrings() {
	c.known.maker = c.names.StringMaker(c.env.Declarations())
	literal := builtin.StringLiteral(c.known.maker)
	place := c.placeAfter(literal)
	for _, id := range literal {
		if place == never || c.known.from[id] > place {
			return
		}
	}
	c.known.strings = place
}

// constructorOf is a constructor that a type has to have, with its type.
type constructorOf struct {
	id  builtin.ID
	typ term.Expr
}

// isType says whether a constant is an inductive type alone in its block, without universe parameters and indices, with
// exactly the given type and constructors.
func (c *checker) isType(id builtin.ID, typ term.Expr, ctors ...constructorOf) bool {
	k := c.find(c.names.Of(id))
	if k == nil || k.Inductive == nil || k.Type != typ || len(k.Params) != 0 || k.Inductive.NumParams != 0 ||
		k.Inductive.NumIndices != 0 || len(k.Inductive.All) != 1 || len(k.Inductive.Constructors) != len(ctors) {
		return false
	}
	for i, want := range ctors {
		ctor := c.find(c.names.Of(want.id))
		if k.Inductive.Constructors[i] != c.names.Of(want.id) || ctor == nil || ctor.Constructor == nil || ctor.Unit != k.Unit ||
			ctor.Type != want.typ || len(ctor.Params) != 0 {
			return false
		}
	}
	return true
}

// isList says whether List, List.nil and List.cons are Lean's: Type u → Type u, {α} → List α, {α} → α → List α → List α.
func (c *checker) isList() bool {
	s := c.store
	list, cons, empty := c.find(c.names.Of(builtin.List)), c.find(c.names.Of(builtin.ListCons)), c.find(c.names.Of(builtin.ListNil))
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
	alpha := c.local(typ)
	if empty.Type != s.Pis([]term.Expr{alpha}, of(alpha)) {
		return false
	}
	typ, of = typeOf(cons)
	alpha = c.local(typ)
	return cons.Type == s.Pis([]term.Expr{alpha}, s.Pi(alpha, s.Pi(of(alpha), of(alpha))))
}

// isPlainType says whether a constant is an inductive type in Type, without parameters and indices.
func (c *checker) isPlainType(id builtin.ID) bool {
	k := c.find(c.names.Of(id))
	return k != nil && k.Inductive != nil && len(k.Params) == 0 && k.Type == c.store.Sort(c.store.Succ(term.Zero))
}

// hasPlainType says whether a constant has the given type and no universe parameters.
func (c *checker) hasPlainType(id builtin.ID, typ term.Expr) bool {
	k := c.find(c.names.Of(id))
	return k != nil && len(k.Params) == 0 && k.Type == typ
}

func (c *checker) isOpaqueOfType(id builtin.ID, typ term.Expr) bool {
	return c.hasPlainType(id, typ) && c.find(c.names.Of(id)).Kind == environment.Opaque
}

// listOfChar is the type List.{0} Char.
func (c *checker) listOfChar() term.Expr {
	s := c.store
	return s.App(s.Const(c.names.Of(builtin.List), s.List([]term.Level{term.Zero})), s.Const(c.names.Of(builtin.Char), term.NoLevels))
}

// isAnnotation says whether a constant is declared as the function that returns the first of count arguments.
func (c *checker) isAnnotation(id builtin.ID, count int) bool {
	k := c.find(c.names.Of(id))
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

// annotates says whether the constant called n, applied to count arguments, stands for the first of them.
func (c *checker) annotates(n term.Name, count int) bool {
	id, ok := c.names.ID(n)
	return ok && annotations[id] == count && count > 0 && c.has(id)
}

// recognitionSteps bounds the search for one built-in constant; one that needs more is an ordinary constant.
const recognitionSteps = 200_000

// holds runs a test at a place, on declarations that are not checked yet: whatever goes wrong, the test does not hold.
func (c *checker) holds(place int, test func() bool) (ok bool) {
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

package kernel

import (
	"reckon/domain/lean/term"
)

// constantKind says what a constant is.
type constantKind uint8

const (
	axiomConstant constantKind = iota
	definitionConstant
	theoremConstant
	opaqueConstant
	quotientConstant
	inductiveConstant
	constructorConstant
	recursorConstant
)

// constant is what the checker knows of a declared name.
type constant struct {
	name   term.Name
	kind   constantKind
	unit   int // index of the declaration that introduces it
	unsafe bool
	params []term.Name
	typ    term.Expr
	value  term.Expr // definitions and theorems: what delta unfolds to
	height int32     // of a definition: larger is unfolded first

	inductive   *inductiveInfo
	constructor *constructorInfo
	recursor    *recursorInfo
	quotient    string // type, ctor, lift, ind
}

// unfolds says whether delta reduction applies. Opaque constants never unfold.
func (c *constant) unfolds() bool { return c.kind == definitionConstant || c.kind == theoremConstant }

type inductiveInfo struct {
	numParams, numIndices int
	constructors          []term.Name
	all                   []term.Name // the types of its block, in order
	isRec                 bool
}

// structureLike types have one constructor and no indices; eta holds for those that are not recursive.
func (i *inductiveInfo) structureLike() bool {
	return len(i.constructors) == 1 && i.numIndices == 0 && !i.isRec
}

type constructorInfo struct {
	inductive            term.Name
	numParams, numFields int
}

type recursorInfo struct {
	numParams, numIndices, numMotives, numMinors int
	rules                                        []term.Rule
	k                                            bool
	major                                        term.Name // the type eliminated
}

func (r *recursorInfo) firstIndex() int { return r.numParams + r.numMotives + r.numMinors }
func (r *recursorInfo) majorIndex() int { return r.firstIndex() + r.numIndices }

// Delta heights of constants that have none of their own.
const (
	opaqueHeight = -1
	abbrevHeight = 1<<31 - 1
)

// environment is the declared constants. It is built from what the file says before anything is checked, and then only
// read: a declaration sees the constants of earlier declarations, and the file as a whole is accepted only if every
// declaration is, so that nothing wrong a later check relied on survives. Recursors, counts and flags are the file's
// own; the block that declares them is refused unless they are what the kernel generates.
type environment struct {
	store        *term.Store
	declarations []term.Declaration
	constants    []constant
	byName       []int32    // index into constants, by name; -1 when not declared
	duplicates   []*Refusal // by declaration; nil when its names are its own
	names        wellKnown
	primitives   primitives
	annotations  map[term.Name]int // Lean's annotations of binder types, with their number of arguments
}

// wellKnown are the names the kernel itself refers to.
type wellKnown struct {
	nat, natZero, natSucc                           term.Name
	bool, boolTrue, boolFalse                       term.Name
	string, stringOfList, stringMk, char, charOfNat term.Name
	list, listNil, listCons                         term.Name
	eq, eqRefl, quot, quotMk, quotLift, quotInd     term.Name
	eagerReduce, reduceBool, reduceNat              term.Name
}

func internWellKnown(s *term.Store) wellKnown {
	n := s.InternDotted
	return wellKnown{
		nat: n("Nat"), natZero: n("Nat.zero"), natSucc: n("Nat.succ"),
		bool: n("Bool"), boolTrue: n("Bool.true"), boolFalse: n("Bool.false"),
		string: n("String"), stringOfList: n("String.ofList"), stringMk: n("String.mk"), char: n("Char"), charOfNat: n("Char.ofNat"),
		list: n("List"), listNil: n("List.nil"), listCons: n("List.cons"),
		eq: n("Eq"), eqRefl: n("Eq.refl"), quot: n("Quot"), quotMk: n("Quot.mk"), quotLift: n("Quot.lift"), quotInd: n("Quot.ind"),
		eagerReduce: n("eagerReduce"), reduceBool: n("Lean.reduceBool"), reduceNat: n("Lean.reduceNat"),
	}
}

// newEnvironment enters every declared name. Of a name declared twice the first stands and the second is refused.
func newEnvironment(store *term.Store, declarations []term.Declaration) *environment {
	env := &environment{
		store:        store,
		declarations: declarations,
		duplicates:   make([]*Refusal, len(declarations)),
		names:        internWellKnown(store),
		annotations: map[term.Name]int{store.InternDotted("outParam"): 1, store.InternDotted("semiOutParam"): 1,
			store.InternDotted("optParam"): 2, store.InternDotted("autoParam"): 2},
	}
	for i := range declarations { // workers intern no names
		if b := declarations[i].Block; b != nil {
			for _, t := range b.Types {
				store.NameStr(t.Name, "rec")
			}
		}
	}
	env.byName = make([]int32, store.NameCount())
	for i := range env.byName {
		env.byName[i] = -1
	}
	heights := newHeights(env)
	for unit := range declarations {
		env.enterDeclaration(unit)
		heights.assign(unit)
	}
	return env
}

func (env *environment) enterDeclaration(unit int) {
	d := &env.declarations[unit]
	if d.Kind == term.Inductive {
		env.enterBlock(unit, d.Block)
		return
	}
	c := constant{name: d.Name, unit: unit, params: d.LevelParams, typ: d.Type, unsafe: d.Unsafe || d.Partial}
	switch d.Kind {
	case term.Axiom:
		c.kind = axiomConstant
	case term.Definition:
		c.kind, c.value = definitionConstant, d.Value
	case term.Theorem:
		c.kind, c.value, c.height = theoremConstant, d.Value, opaqueHeight
	case term.Opaque:
		c.kind = opaqueConstant
	case term.Quotient:
		c.kind, c.quotient = quotientConstant, d.QuotKind
	}
	env.enter(c)
}

func (env *environment) enterBlock(unit int, b *term.Block) {
	all := make([]term.Name, len(b.Types))
	for i, t := range b.Types {
		all[i] = t.Name
	}
	isRec := env.blockIsRec(b, all)
	for _, t := range b.Types {
		env.enter(constant{name: t.Name, kind: inductiveConstant, unit: unit, unsafe: t.Unsafe, params: t.LevelParams, typ: t.Type,
			inductive: &inductiveInfo{numParams: int(t.NumParams), numIndices: int(t.NumIndices),
				constructors: t.Constructors, all: all, isRec: isRec}})
	}
	for _, k := range b.Constructors {
		arity := 0
		for t := k.Type; env.store.Kind(t) == term.KindPi; t = term.Expr(env.store.Node(t).B) {
			arity++
		}
		env.enter(constant{name: k.Name, kind: constructorConstant, unit: unit, unsafe: k.Unsafe, params: k.LevelParams, typ: k.Type,
			constructor: &constructorInfo{inductive: k.Inductive, numParams: int(k.NumParams), numFields: max(0, arity-int(k.NumParams))}})
	}
	for _, r := range b.Recursors {
		env.enter(constant{name: r.Name, kind: recursorConstant, unit: unit, unsafe: r.Unsafe, params: r.LevelParams, typ: r.Type,
			recursor: env.recursorInfo(&r, len(b.Types) == 1 && len(b.Constructors) == 1)})
	}
}

func (env *environment) recursorInfo(r *term.Recursor, mayBeK bool) *recursorInfo {
	info := &recursorInfo{numParams: int(r.NumParams), numIndices: int(r.NumIndices), numMotives: int(r.NumMotives),
		numMinors: int(r.NumMinor), rules: r.Rules, k: r.K && mayBeK}
	t := r.Type
	for range info.majorIndex() {
		if env.store.Kind(t) != term.KindPi {
			return info
		}
		t = term.Expr(env.store.Node(t).B)
	}
	if n := env.store.Node(t); n.Kind == term.KindPi {
		if h := env.store.Node(env.store.Head(term.Expr(n.A))); h.Kind == term.KindConst {
			info.major = term.Name(h.A)
		}
	}
	return info
}

// blockIsRec says whether a constructor of the block has a field that mentions a type of the block.
func (env *environment) blockIsRec(b *term.Block, all []term.Name) bool {
	for _, k := range b.Constructors {
		if anyField(env.store, k.Type, func(domain term.Expr) bool { return mentions(env.store, domain, all) }) {
			return true
		}
	}
	return false
}

// anyField says whether f holds of the type of an argument of the function type typ.
func anyField(s *term.Store, typ term.Expr, f func(domain term.Expr) bool) bool {
	for s.Kind(typ) == term.KindPi {
		n := s.Node(typ)
		if f(term.Expr(n.A)) {
			return true
		}
		typ = term.Expr(n.B)
	}
	return false
}

func (env *environment) enter(c constant) {
	if env.byName[c.name] >= 0 {
		if env.duplicates[c.unit] == nil {
			d := &env.declarations[c.unit]
			env.duplicates[c.unit] = &Refusal{Declaration: d.Name, Class: DuplicateDeclaration, Line: d.Line,
				Message: "the name " + env.store.NameString(c.name) + " is already declared"}
		}
		return
	}
	env.byName[c.name] = int32(len(env.constants))
	env.constants = append(env.constants, c)
}

// find returns the constant called n, or nil.
func (env *environment) find(n term.Name) *constant {
	if int(n) < len(env.byName) {
		if i := env.byName[n]; i >= 0 {
			return &env.constants[i]
		}
	}
	return nil
}

// isAnnotation says whether the constant called n is one of Lean's annotations of binder types, for count arguments,
// and is declared as the function that returns its first argument.
func (env *environment) isAnnotation(n term.Name, count int) bool {
	if want, ok := env.annotations[n]; !ok || want != count {
		return false
	}
	k := env.find(n)
	if k == nil || k.kind != definitionConstant {
		return false
	}
	value := k.value
	for range count {
		node := env.store.Node(value)
		if node.Kind != term.KindLam {
			return false
		}
		value = term.Expr(node.B)
	}
	node := env.store.Node(value)
	return node.Kind == term.KindBVar && int(node.A) == count-1
}

// mentions says whether one of names occurs as a constant in e.
func mentions(s *term.Store, e term.Expr, names []term.Name) bool {
	return occurs(s, e, func(n term.Name) bool {
		for _, m := range names {
			if m == n {
				return true
			}
		}
		return false
	}, map[term.Expr]bool{})
}

func occurs(s *term.Store, e term.Expr, is func(term.Name) bool, seen map[term.Expr]bool) bool {
	n := s.Node(e)
	switch n.Kind {
	case term.KindConst:
		return is(term.Name(n.A))
	case term.KindBVar, term.KindSort, term.KindNat, term.KindStr, term.KindLocal:
		return false
	}
	if seen[e] {
		return false
	}
	seen[e] = true
	switch n.Kind {
	case term.KindApp, term.KindLam, term.KindPi:
		return occurs(s, term.Expr(n.A), is, seen) || occurs(s, term.Expr(n.B), is, seen)
	case term.KindLet:
		return occurs(s, term.Expr(n.A), is, seen) || occurs(s, term.Expr(n.B), is, seen) || occurs(s, term.Expr(n.C), is, seen)
	default:
		return occurs(s, term.Expr(n.C), is, seen)
	}
}

// heights computes definitional heights instead of believing the file's: 1 + the largest height a value mentions.
type heights struct {
	env    *environment
	walker *term.Walker
	memo   []int32 // by expression: the largest height of a definition in it
}

func newHeights(env *environment) *heights {
	return &heights{env: env, walker: term.NewWalker(env.store), memo: make([]int32, env.store.ExprCount())}
}

func (h *heights) assign(unit int) {
	d := &h.env.declarations[unit]
	if d.Kind != term.Definition {
		return
	}
	c := h.env.find(d.Name)
	if c == nil || c.unit != unit {
		return
	}
	switch d.Hint {
	case term.HintOpaque:
		c.height = opaqueHeight
	case term.HintAbbrev:
		c.height = abbrevHeight
	default:
		h.walker.Walk(d.Value, h.visit)
		c.height = h.memo[d.Value] + 1
	}
}

func (h *heights) visit(e term.Expr, n term.Node) {
	height := int32(0)
	children, count := n.Children()
	for _, child := range children[:count] {
		height = max(height, h.memo[child])
	}
	if n.Kind == term.KindConst {
		if c := h.env.find(term.Name(n.A)); c != nil && c.kind == definitionConstant && c.height != abbrevHeight {
			height = max(c.height, 0)
		}
	}
	h.memo[e] = height
}

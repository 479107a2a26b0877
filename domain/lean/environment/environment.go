package environment

import (
	"slices"

	"reckon/domain/lean/term"
)

// Environment holds the declared constants. It is built before any declaration is checked, and then only read. A
// declaration is checked against earlier declarations that may not have been checked yet; this is sound because a file is
// accepted only if every declaration is. Recursors, counts and flags are those of the file; the kernel refuses a block
// whose records differ from the ones it generates.
type Environment struct {
	store        *term.Store
	declarations []term.Declaration
	constants    []Constant
	byName       []int32           // index into constants, by name; -1 when not declared
	duplicates   map[int]term.Name // by declaration: its first name that an earlier declaration introduces
}

// New adds every declared constant. Of a name declared twice the first declaration counts; DuplicateName reports the
// second. The slice is kept and must not be changed.
func New(store *term.Store, declarations []term.Declaration) *Environment {
	env := &Environment{
		store:        store,
		declarations: declarations,
		duplicates:   map[int]term.Name{},
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
		env.addDeclaration(unit)
		heights.assign(unit)
	}
	return env
}

func (env *Environment) addDeclaration(unit int) {
	d := &env.declarations[unit]
	if d.Kind == term.Inductive {
		env.addBlock(unit, d.Block)
		return
	}
	c := Constant{Name: d.Name, Unit: unit, Params: d.LevelParams, Type: d.Type, Unsafe: d.Unsafe || d.Partial}
	switch d.Kind {
	case term.Axiom:
		c.Kind = Axiom
	case term.Definition:
		c.Kind, c.Value = Definition, d.Value
	case term.Theorem:
		c.Kind, c.Value, c.Height = Theorem, d.Value, OpaqueHeight
	case term.Opaque:
		c.Kind, c.Value = Opaque, d.Value
	case term.Quotient:
		c.Kind, c.Quotient = Quotient, d.QuotKind
	}
	env.addConstant(c)
}

func (env *Environment) addBlock(unit int, b *term.Block) {
	all := make([]term.Name, len(b.Types))
	for i, t := range b.Types {
		all[i] = t.Name
	}
	isRec := env.blockIsRec(b, all)
	for _, t := range b.Types {
		env.addConstant(Constant{Name: t.Name, Kind: Inductive, Unit: unit, Unsafe: t.Unsafe, Params: t.LevelParams, Type: t.Type,
			Inductive: &InductiveInfo{NumParams: int(t.NumParams), NumIndices: int(t.NumIndices),
				Constructors: t.Constructors, All: all, IsRec: isRec}})
	}
	for _, k := range b.Constructors {
		arity := 0
		for t := k.Type; env.store.Kind(t) == term.KindPi; t = term.Expr(env.store.Node(t).B) {
			arity++
		}
		env.addConstant(Constant{Name: k.Name, Kind: Constructor, Unit: unit, Unsafe: k.Unsafe, Params: k.LevelParams, Type: k.Type,
			Constructor: &ConstructorInfo{Inductive: k.Inductive, NumParams: int(k.NumParams), NumFields: max(0, arity-int(k.NumParams))}})
	}
	for _, r := range b.Recursors {
		env.addConstant(Constant{Name: r.Name, Kind: Recursor, Unit: unit, Unsafe: r.Unsafe, Params: r.LevelParams, Type: r.Type,
			Recursor: env.recursorInfo(&r, len(b.Types) == 1 && len(b.Constructors) == 1)})
	}
}

func (env *Environment) recursorInfo(r *term.Recursor, mayBeK bool) *RecursorInfo {
	info := &RecursorInfo{NumParams: int(r.NumParams), NumIndices: int(r.NumIndices), NumMotives: int(r.NumMotives),
		NumMinors: int(r.NumMinors), Rules: r.Rules, K: r.K && mayBeK}
	t := r.Type
	for range info.MajorIndex() {
		if env.store.Kind(t) != term.KindPi {
			return info
		}
		t = term.Expr(env.store.Node(t).B)
	}
	if n := env.store.Node(t); n.Kind == term.KindPi {
		if h := env.store.Node(env.store.Head(term.Expr(n.A))); h.Kind == term.KindConst {
			info.MajorInductive = term.Name(h.A)
		}
	}
	return info
}

// blockIsRec reports whether a constructor of the block has a field whose type mentions a type of the block.
func (env *Environment) blockIsRec(b *term.Block, all []term.Name) bool {
	for _, k := range b.Constructors {
		if env.store.AnyDomain(k.Type, func(domain term.Expr) bool {
			return env.store.Mentions(domain, func(n term.Name) bool { return slices.Contains(all, n) })
		}) {
			return true
		}
	}
	return false
}

func (env *Environment) addConstant(c Constant) {
	if env.byName[c.Name] >= 0 {
		if _, known := env.duplicates[c.Unit]; !known {
			env.duplicates[c.Unit] = c.Name
		}
		return
	}
	env.byName[c.Name] = int32(len(env.constants))
	env.constants = append(env.constants, c)
}

// Len is the number of declarations.
func (env *Environment) Len() int { return len(env.declarations) }

// Declarations are the records of the file.
func (env *Environment) Declarations() []term.Declaration { return env.declarations }

// Declaration is the record with the given index.
func (env *Environment) Declaration(unit int) *term.Declaration { return &env.declarations[unit] }

// DuplicateName returns the first name of the given declaration that an earlier declaration introduces.
func (env *Environment) DuplicateName(unit int) (term.Name, bool) {
	n, ok := env.duplicates[unit]
	return n, ok
}

// IntroducedBy returns the index of the declaration that introduces n.
func (env *Environment) IntroducedBy(n term.Name) (unit int, ok bool) {
	if int(n) >= len(env.byName) || env.byName[n] < 0 {
		return 0, false
	}
	return env.constants[env.byName[n]].Unit, true
}

// AddRecursor adds a recursor that the file leaves out to the block of the given declaration. It does nothing when the
// name is declared. Do not call it once several goroutines read the environment.
func (env *Environment) AddRecursor(unit int, r *term.Recursor, mayBeK bool) {
	if int(r.Name) < len(env.byName) && env.byName[r.Name] < 0 {
		env.addConstant(Constant{Name: r.Name, Kind: Recursor, Unit: unit, Params: r.LevelParams, Type: r.Type, Recursor: env.recursorInfo(r, mayBeK)})
	}
}

package plain

import (
	"slices"

	"reckon/domain/lean/term"
)

// family is one type of the block being checked: one that the file declares, or an auxiliary one that stands for a nested
// occurrence (nested.go).
type family struct {
	name         term.Name
	typ          term.Expr // closed
	indices      []term.Expr
	constructors []maker
	occurrence   term.Expr // of an auxiliary type: what it stands for, with the block's parameters as free variables
}

// maker is a constructor. Its properties are derived once.
type maker struct {
	name      term.Name // in an auxiliary type: fresh
	original  term.Expr // in an auxiliary type: the constructor that it stands for, applied to parameters
	typ       term.Expr // closed; nested occurrences replaced
	fields    []term.Expr
	recursive []recursiveField
	result    []term.Expr // the indices of the type constructed
}

// recursiveField is a field of type (xs) → I indices for a type I of the block.
type recursiveField struct {
	field   int
	xs      []term.Expr
	family  int
	indices []term.Expr
}

// block is an inductive declaration being checked (TTL 2.6; C++ inductive.cpp, add_inductive_fn).
type block struct {
	k        *kernel
	source   *term.Block
	params   []term.Name // universe parameters
	levels   []term.Level
	level    term.Level // of the universe that the types live in
	locals   []term.Expr
	families []family // the file's types first
	declared int      // how many are the file's
	own      map[term.Name]bool
	next     uint32 // number of the next free variable

	recursors *recursors

	large bool // eliminates into every universe
	isK   bool
	isRec bool
}

// block checks an inductive declaration and adds its types, constructors and recursors.
func (k *kernel) block(source *term.Block) {
	kept := k.store.ExprCount()
	b := &block{k: k, source: source, own: map[term.Name]bool{}}
	b.checkNames()
	b.checkTypes()
	b.addTypes()
	b.checkWritten()
	b.openNested()
	b.withAuxiliary(func() {
		b.checkConstructors()
		b.decideElimination()
	})
	b.addConstructors()
	b.addRecursors()
	b.checkGenerated()
	b.compare()
	b.keepGenerated(kept)
}

// checkNames: every name is new and declared once, and all parts of the block have the same universe parameters.
func (b *block) checkNames() {
	if len(b.source.Types) == 0 {
		refuse(invalidInductive, "an inductive record declares no type")
	}
	b.params = b.source.Types[0].LevelParams
	b.k.distinct(b.params)
	for _, p := range b.params {
		b.levels = append(b.levels, b.k.store.Param(p))
	}
	seen := map[term.Name]bool{}
	add := func(n term.Name, unsafe bool) {
		b.k.unused(n)
		if seen[n] {
			refuse(duplicateDeclaration, "the name %s is declared twice", b.k.store.NameString(n))
		}
		seen[n] = true
		if unsafe {
			refuse(unsafeDeclaration, "unsafe declarations are not judged")
		}
	}
	for _, t := range b.source.Types {
		add(t.Name, t.Unsafe)
		b.own[t.Name] = true
		if !slices.Equal(t.LevelParams, b.params) {
			refuse(inductiveMismatch, "the types of the block differ in their universe parameters")
		}
		if t.NumParams != b.source.Types[0].NumParams {
			refuse(invalidInductive, "the types of the block differ in the number of their parameters")
		}
	}
	for _, c := range b.source.Constructors {
		add(c.Name, c.Unsafe)
		if !slices.Equal(c.LevelParams, b.params) {
			refuse(constructorMismatch, "%s has not the universe parameters of its type", b.k.store.NameString(c.Name))
		}
	}
	for _, r := range b.source.Recursors {
		add(r.Name, r.Unsafe)
	}
	b.checkOrder()
}

// checkOrder: the constructor records are those that the types list, in that order.
func (b *block) checkOrder() {
	next := 0
	for _, t := range b.source.Types {
		for i, n := range t.Constructors {
			if next >= len(b.source.Constructors) {
				refuse(constructorMismatch, "the constructor %s has no record", b.k.store.NameString(n))
			}
			c := b.source.Constructors[next]
			next++
			if c.Name != n || c.Inductive != t.Name || int(c.Index) != i || c.NumParams != t.NumParams {
				refuse(constructorMismatch, "the record of the constructor %s does not fit its type", b.k.store.NameString(c.Name))
			}
		}
	}
	if next != len(b.source.Constructors) {
		refuse(constructorMismatch, "there are constructors of no type of the block")
	}
}

func (b *block) local(typ term.Expr) term.Expr {
	b.next = max(b.next+1, b.k.store.Node(typ).Locals+1)
	return b.k.store.Local(b.next-1, typ)
}

// checkTypes: each type is (params) → (indices) → Sort l with the same parameters and the same l (C++ inductive.cpp,
// check_inductive_types).
func (b *block) checkTypes() {
	for i, t := range b.source.Types {
		b.k.wellScoped(t.Type, b.params)
		b.k.check(t.Type)
		b.k.sortOf(t.Type, true)
		f := family{name: t.Name, typ: t.Type}
		level := b.openType(&f, int(t.NumParams), i == 0)
		if i == 0 {
			b.level = level
		} else if !b.k.levelsEqual(level, b.level) {
			refuse(invalidInductive, "the types of the block live in different universes")
		}
		b.families = append(b.families, f)
	}
	b.declared = len(b.families)
}

// openType opens the parameters of a type, as they are written, and its indices, by weak head reduction; the first type of a block makes the free variables that stand for
// the parameters.
func (b *block) openType(f *family, numParams int, first bool) term.Level {
	k := b.k
	typ := f.typ
	for i := range numParams {
		n := k.store.Node(typ)
		if n.Kind != term.KindPi {
			refuse(invalidInductive, "%s has fewer parameters than its record says", k.store.NameString(f.name))
		}
		if first {
			b.locals = append(b.locals, b.local(term.Expr(n.A)))
		} else if !k.equal(term.Expr(n.A), k.localType(b.locals[i])) {
			refuse(invalidInductive, "the types of the block differ in their parameters")
		}
		typ = k.instantiate(term.Expr(n.B), b.locals[i:i+1])
	}
	f.indices = nil
	typ = k.whnf(typ)
	n := k.store.Node(typ)
	for ; n.Kind == term.KindPi; n = k.store.Node(typ) {
		x := b.local(term.Expr(n.A))
		f.indices = append(f.indices, x)
		typ = k.whnf(k.instantiate(term.Expr(n.B), []term.Expr{x}))
	}
	if n.Kind != term.KindSort {
		refuse(invalidInductive, "%s is not a family of types", k.store.NameString(f.name))
	}
	return term.Level(n.A)
}

// addTypes makes the types usable, in the types of constructors. They have no constructors yet, so that nothing reduces
// or is projected by them.
func (b *block) addTypes() {
	var all []term.Name
	for _, f := range b.families {
		all = append(all, f.name)
	}
	for _, c := range b.source.Constructors {
		b.isRec = b.isRec || b.anyField(c.Type, func(domain term.Expr) bool { return b.k.mentions(domain, b.own) })
	}
	for _, f := range b.families {
		b.k.add(f.name, &constant{kind: inductive, params: b.params, typ: f.typ, inductive: &inductiveInfo{name: f.name,
			numParams: len(b.locals), numIndices: len(f.indices), all: all, isRec: b.isRec}})
	}
	b.k.forget()
}

// anyField reports whether a domain of the leading function type satisfies test. It does not reduce.
func (b *block) anyField(typ term.Expr, test func(domain term.Expr) bool) bool {
	for n := b.k.store.Node(typ); n.Kind == term.KindPi; n = b.k.store.Node(term.Expr(n.B)) {
		b.k.step()
		if test(term.Expr(n.A)) {
			return true
		}
	}
	return false
}

// checkWritten types the constructors as they are written, before nested occurrences are replaced.
func (b *block) checkWritten() {
	at := 0
	for i, t := range b.source.Types {
		for range t.Constructors {
			c := b.source.Constructors[at]
			at++
			b.k.wellScoped(c.Type, b.params)
			b.k.visit(c.Type, func(_ term.Expr, n term.Node) bool {
				if n.Kind == term.KindConst && b.reserved(term.Name(n.A)) {
					refuse(invalidInductive, "names under _nested are reserved for auxiliary types")
				}
				return true
			})
			b.k.check(c.Type)
			b.k.sortOf(c.Type, true)
			b.families[i].constructors = append(b.families[i].constructors, maker{name: c.Name, typ: c.Type})
		}
	}
}

// reserved: the name's first component is _nested, which Lean gives its auxiliary types.
func (b *block) reserved(n term.Name) bool {
	if n == term.Anonymous {
		return false
	}
	for p := b.k.store.NamePrefix(n); p != term.Anonymous; p = b.k.store.NamePrefix(n) {
		n = p
	}
	text, numeric := b.k.store.NameLast(n)
	return text == "_nested" && !numeric
}

// checkConstructors: each constructor is (params) → (fields) → I params indices; a field fits into the universe of the
// type, unless that is Prop, and the block occurs in it strictly positively (C++ inductive.cpp, check_constructors).
func (b *block) checkConstructors() {
	for i := range b.families {
		for j := range b.families[i].constructors {
			b.checkConstructor(i, &b.families[i].constructors[j])
		}
	}
}

func (b *block) checkConstructor(family int, c *maker) {
	k := b.k
	typ := c.typ
	for _, p := range b.locals {
		n := k.store.Node(typ)
		if n.Kind != term.KindPi || !k.equal(term.Expr(n.A), k.localType(p)) {
			refuse(invalidConstructor, "%s has not the parameters of its type", k.store.NameString(c.name))
		}
		typ = k.instantiate(term.Expr(n.B), []term.Expr{p})
	}
	for n := k.store.Node(typ); n.Kind == term.KindPi; n = k.store.Node(typ) {
		domain := term.Expr(n.A)
		if level := k.sortOf(domain, true); !k.alwaysZero(b.level) && !k.levelAtMost(level, b.level) {
			refuse(universeTooBig, "field %d of %s lives in Sort %s, the type in Sort %s", len(c.fields), k.store.NameString(c.name),
				k.store.DescribeLevel(level), k.store.DescribeLevel(b.level))
		}
		if r, ok := b.recursiveField(domain, c.name); ok {
			r.field = len(c.fields)
			c.recursive = append(c.recursive, r)
		}
		x := b.local(domain)
		c.fields = append(c.fields, x)
		typ = k.instantiate(term.Expr(n.B), []term.Expr{x})
	}
	at, indices, ok := b.member(typ)
	if !ok || at != family {
		refuse(invalidConstructor, "%s does not construct its type", k.store.NameString(c.name))
	}
	c.result = indices
}

// recursiveField checks that the block occurs in the type of a field strictly positively, if at all: the type is, after
// weak head reduction, free of the block, or I params indices, or (x : A) → B where the block does not occur in A and B
// is such a type (TTL 2.6.1; C++ inductive.cpp, check_positivity and is_rec_argument). A field is recursive if the type
// so found is I params indices. This is the only place that decides it.
func (b *block) recursiveField(typ term.Expr, name term.Name) (recursiveField, bool) {
	var r recursiveField
	for {
		typ = b.k.whnf(typ)
		if !b.k.mentions(typ, b.own) {
			return r, false
		}
		n := b.k.store.Node(typ)
		if n.Kind != term.KindPi {
			break
		}
		if b.k.mentions(term.Expr(n.A), b.own) {
			refuse(nonPositive, "the type being defined occurs in a domain of field types of %s", b.k.store.NameString(name))
		}
		x := b.local(term.Expr(n.A))
		r.xs = append(r.xs, x)
		typ = b.k.instantiate(term.Expr(n.B), []term.Expr{x})
	}
	at, indices, ok := b.member(typ)
	if !ok {
		refuse(invalidOccurrence, "the type being defined occurs in a field of %s other than applied to its parameters and to indices free of it",
			b.k.store.NameString(name))
	}
	r.family, r.indices = at, indices
	return r, true
}

// member: the type is I params indices for a type I of the block, with its own universe parameters and parameters, and
// the block does not occur in the indices (C++ inductive.cpp, is_valid_ind_app).
func (b *block) member(typ term.Expr) (at int, indices []term.Expr, ok bool) {
	head, args := b.k.spine(typ)
	n := b.k.store.Node(head)
	at = slices.IndexFunc(b.families, func(f family) bool { return n.Kind == term.KindConst && f.name == term.Name(n.A) })
	if at < 0 || len(args) != len(b.locals)+len(b.families[at].indices) ||
		!b.k.levelListsEqual(b.k.store.LevelsOf(term.Levels(n.B)), b.levels) {
		return 0, nil, false
	}
	for i, p := range b.locals {
		if !b.k.equal(args[i], p) {
			return 0, nil, false
		}
	}
	indices = args[len(b.locals):]
	for _, x := range indices {
		if b.k.mentions(x, b.own) {
			return 0, nil, false
		}
	}
	return at, indices, true
}

// decideElimination: a type that is never a proposition eliminates into every universe. One that is or may be a
// proposition does only if two proofs cannot differ: it has no constructor, or one whose fields are proofs or occur
// among the indices of the result (TTL 2.6.2; C++ inductive.cpp, elim_only_at_universe_zero). K needs a proposition with
// one constructor without fields (TTL 2.6.4; C++ init_K_target).
func (b *block) decideElimination() {
	k := b.k
	alone := len(b.families) == 1
	b.isK = alone && k.alwaysZero(b.level) && len(b.families[0].constructors) == 1 && len(b.families[0].constructors[0].fields) == 0
	switch {
	case k.neverZero(b.level):
		b.large = true
	case !alone || len(b.families[0].constructors) > 1:
	case len(b.families[0].constructors) == 0:
		b.large = true
	default:
		c := b.families[0].constructors[0]
		b.large = !slices.ContainsFunc(c.fields, func(x term.Expr) bool {
			return !k.isProp(k.localType(x)) && !slices.Contains(c.result, x)
		})
	}
}

// addConstructors makes the constructors usable, with the types that the file wrote.
func (b *block) addConstructors() {
	at := 0
	for i, f := range b.families[:b.declared] {
		info := b.k.env[f.name].inductive
		info.constructors = b.source.Types[i].Constructors
		for _, c := range f.constructors {
			b.k.add(c.name, &constant{kind: constructor, params: b.params, typ: b.source.Constructors[at].Type,
				constructor: &constructorInfo{inductive: f.name, numParams: len(b.locals), numFields: len(c.fields)}})
			at++
		}
	}
	b.k.forget()
}

package kernel

import (
	"slices"

	"reckon/domain/lean/term"
)

// checkRecords compares what the records of a block say about each other. It needs nothing generated.
//
// Trap (arena dup_*, misnamed_rec): constructor and recursor records that the types do not have are refused like wrong
// ones; names declared twice are refused when the environment is built.
func (b *block) checkRecords() {
	src := b.source
	first := &src.Types[0]
	all := make([]term.Name, len(src.Types))
	for i := range src.Types {
		all[i] = src.Types[i].Name
	}
	ctors := map[term.Name]*term.Constructor{}
	for i := range src.Constructors {
		k := &src.Constructors[i]
		if ctors[k.Name] != nil {
			refuseAt(first.Name, DuplicateDeclaration, "the constructor %s is there twice", b.store.NameString(k.Name))
		}
		ctors[k.Name] = k
	}
	used := 0
	for i := range src.Types {
		t := &src.Types[i]
		if !slices.Equal(t.All, all) {
			refuseAt(t.Name, InductiveMismatch, "the list of all types of the block is not that of %s", b.store.NameString(t.Name))
		}
		if t.NumParams != first.NumParams || t.Unsafe != first.Unsafe {
			refuseAt(t.Name, InductiveMismatch, "the types of a block have the same parameters and safety")
		}
		for index, name := range t.Constructors {
			k := ctors[name]
			if k == nil || k.Inductive != t.Name || int(k.Index) != index || used >= len(src.Constructors) || src.Constructors[used].Name != name {
				refuseAt(t.Name, ConstructorMismatch, "%s is not constructor %d of %s", b.store.NameString(name), index, b.store.NameString(t.Name))
			}
			if k.NumParams != t.NumParams || k.Unsafe != t.Unsafe || !slices.Equal(k.LevelParams, t.LevelParams) {
				refuseAt(t.Name, ConstructorMismatch, "%s does not have the parameters or safety of its type", b.store.NameString(name))
			}
			used++
		}
	}
	if used != len(src.Constructors) {
		refuseAt(first.Name, ConstructorMismatch, "there are constructors that no type of the block has")
	}
	for i := range src.Recursors {
		if src.Recursors[i].Unsafe != first.Unsafe {
			refuseAt(first.Name, RecursorMismatch, "%s does not have the safety of its type", b.store.NameString(src.Recursors[i].Name))
		}
	}
	if first.Unsafe {
		refuseAt(first.Name, UnsafeDeclaration, "unsafe declarations are not judged")
	}
	b.distinctParams(b.params)
}

// compareRecords checks every derived field of the file's records against what was generated.
func (b *block) compareRecords(recursors []generatedRecursor) {
	b.compareTypes()
	byName := map[term.Name]*term.Recursor{}
	for i := range b.source.Recursors {
		byName[b.source.Recursors[i].Name] = &b.source.Recursors[i]
	}
	main := b.source.Types[0].Name
	var minor *refusalPanic
	matched := 0
	for i := range recursors {
		r := byName[recursors[i].name]
		if r == nil {
			minor = &refusalPanic{name: main, class: RecursorMismatch, minor: true,
				message: "the recursor " + b.store.NameString(recursors[i].name) + " is missing"}
			continue
		}
		matched++
		b.compareRecursor(r, &recursors[i])
		if r.K != b.isK() {
			minor = &refusalPanic{name: main, class: RecursorMismatch, minor: true, message: "k is wrong in " + b.store.NameString(r.Name)}
		}
	}
	if matched != len(b.source.Recursors) {
		refuseAt(main, RecursorMismatch, "there are recursors that the types do not have")
	}
	if minor != nil {
		panic(*minor)
	}
}

func (b *block) compareTypes() {
	isRec, isReflexive := false, false
	for _, t := range b.types {
		for _, ctor := range t.ctors {
			b.store.AnyDomain(ctor.body, func(domain term.Expr) bool {
				if b.mentionsBlock(domain) {
					isRec = true
					isReflexive = isReflexive || b.store.Kind(domain) == term.KindPi
				}
				return false
			})
		}
	}
	for i := range b.source.Types {
		t, bt := &b.source.Types[i], b.types[i]
		if int(t.NumIndices) != len(bt.indices) || int(t.NumNested) != len(b.types)-len(b.source.Types) ||
			t.IsRec != isRec || t.IsReflexive != isReflexive {
			refuseAt(t.Name, InductiveMismatch, "numIndices, numNested, isRec or isReflexive of %s is wrong", b.store.NameString(t.Name))
		}
	}
	for i := range b.source.Constructors {
		k := &b.source.Constructors[i]
		fields := -b.numParams()
		b.store.AnyDomain(k.Type, func(term.Expr) bool { fields++; return false })
		if int(k.NumFields) != fields {
			refuseAt(k.Inductive, ConstructorMismatch, "%s has %d fields, not %d", b.store.NameString(k.Name), fields, k.NumFields)
		}
	}
}

// compareRecursor compares one recursor record with the generated one, universe parameters renamed to match.
//
// Trap (wrong recursor rules): a rule is what computes; nothing of it is taken from the file.
func (b *block) compareRecursor(r *term.Recursor, g *generatedRecursor) {
	main := b.source.Types[0].Name
	mismatch := func(what string) {
		refuseAt(main, RecursorMismatch, "%s of %s is not what its type gives", what, b.store.NameString(r.Name))
	}
	if len(r.LevelParams) != len(g.params) {
		refuseAt(main, RecursorMismatch, "%s has %d universe parameters where its type gives %d", b.store.NameString(r.Name),
			len(r.LevelParams), len(g.params))
	}
	b.distinctParams(r.LevelParams)
	if !slices.EqualFunc(r.All, b.source.Types, func(n term.Name, t term.InductiveType) bool { return n == t.Name }) {
		mismatch("the list of all types")
	}
	if int(r.NumParams) != b.numParams() || int(r.NumIndices) != g.numIndices || int(r.NumMotives) != len(b.types) ||
		int(r.NumMinors) != b.minorCount {
		mismatch("a count")
	}
	levels := make([]term.Level, len(g.params))
	for i, p := range g.params {
		levels[i] = b.store.Param(p)
	}
	same := func(written, generated term.Expr) bool {
		b.checkParams(written, r.LevelParams)
		return b.sameUpToLevels(b.store.InstantiateLevels(written, r.LevelParams, levels), generated)
	}
	if !same(r.Type, g.typ) {
		mismatch("the type")
	}
	if len(r.Rules) != len(g.rules) {
		mismatch("the number of rules")
	}
	for i := range r.Rules {
		if r.Rules[i].Constructor != g.rules[i].Constructor || r.Rules[i].NumFields != g.rules[i].NumFields ||
			!same(r.Rules[i].Value, g.rules[i].Value) {
			mismatch("the rule for " + b.store.NameString(g.rules[i].Constructor))
		}
	}
}

// checkParams refuses universe parameters in e that are not among params.
func (c *checker) checkParams(e term.Expr, params []term.Name) {
	defer func(saved []term.Name) { c.params = saved }(c.params)
	c.params = params
	c.walkParams(e, map[term.Expr]bool{})
}

func (c *checker) walkParams(e term.Expr, seen map[term.Expr]bool) {
	n := c.store.Node(e)
	if !n.HasParam || seen[e] {
		return
	}
	seen[e] = true
	c.enter()
	defer c.leave()
	switch n.Kind {
	case term.KindSort:
		c.checkLevel(term.Level(n.A))
	case term.KindConst:
		for _, l := range c.store.LevelsOf(term.Levels(n.B)) {
			c.checkLevel(l)
		}
	}
	children, count := n.Children()
	for _, child := range children[:count] {
		c.walkParams(child, seen)
	}
}

// distinctParams refuses universe parameters declared twice.
func (c *checker) distinctParams(params []term.Name) {
	for i, p := range params {
		if slices.Contains(params[:i], p) {
			refuse(DuplicateUniverse, "the universe parameter %s is declared twice", c.store.NameString(p))
		}
	}
}

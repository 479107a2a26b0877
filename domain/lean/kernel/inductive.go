package kernel

import (
	"slices"

	"reckon/domain/lean/environment"
	"reckon/domain/lean/term"
)

// An inductive declaration is checked by building everything that follows from its types and constructors, and
// comparing the file's records with that. The order is Lean's: nested occurrences become auxiliary types of the block;
// types; constructors (universes, positivity, results); elimination level and K; recursors with their rules.
//
// The parameters of the block are free variables for the whole check, and auxiliary types stand for nested
// applications over exactly these parameters, so that putting the original back is replacing one constant.

// block is the state of checking one inductive declaration.
type block struct {
	*checker
	source      *term.Block
	params      []term.Name // universe parameters
	paramLevels term.Levels // the same as levels
	paramLocals []term.Expr // the parameters
	types       []*blockType
	resultLevel term.Level // of the universe the types live in
	largeElim   bool       // eliminates into every universe
	elimLevel   term.Level
	elimParam   term.Name // the recursors' own universe parameter, when large
	minorCount  int
}

// blockType is a type of the block, declared or auxiliary.
type blockType struct {
	name     term.Name
	typ      term.Expr // closed for declared types; over the parameters for auxiliary ones
	constant term.Expr // the type applied to the parameters
	nested   term.Expr // auxiliary: the application of another type it stands for
	ctors    []blockCtor

	indices []term.Expr
	major   term.Expr
	motive  term.Expr
	minors  []term.Expr
	rec     term.Expr // its recursor, at the block's levels
}

// blockCtor is a constructor of the block.
type blockCtor struct {
	name  term.Name
	value term.Expr // the constructor applied to the type's parameters
	body  term.Expr // its type, over the block's parameters, with auxiliary types for nested occurrences

	// Set once, by openCtor: free variables for the fields, those of them with an induction hypothesis, and the result.
	fields    []term.Expr
	recursive []recursiveField
	target    *blockType
	indices   []term.Expr
}

// generatedRecursor is the recursor that the kernel derives for one type.
type generatedRecursor struct {
	name       term.Name
	params     []term.Name
	typ        term.Expr
	numIndices int
	rules      []term.Rule
	redexes    []term.Expr // by rule: the recursor on its constructor, what the rule's value replaces, over the same arguments
}

// checkInductive checks one inductive declaration.
func (c *checker) checkInductive(d *term.Declaration) {
	b := c.newBlock(d.Block)
	b.checkRecords()
	recursors := b.generateRecursors()
	b.compareRecords(recursors)
	b.checkGenerated(recursors)
}

func (c *checker) newBlock(source *term.Block) *block {
	if len(source.Types) == 0 {
		refuse(InvalidInductive, "an inductive declaration needs a type")
	}
	first := &source.Types[0]
	c.params = first.LevelParams
	b := &block{checker: c, source: source, params: first.LevelParams}
	ls := make([]term.Level, len(b.params))
	for i, p := range b.params {
		ls[i] = c.store.Param(p)
	}
	b.paramLevels = c.store.List(ls)
	return b
}

// generateRecursors checks the types and constructors and derives the recursors.
func (b *block) generateRecursors() []generatedRecursor {
	b.openTypes()
	b.setStage(environment.TypesVisible)
	b.openConstructors()
	b.checkResults()
	b.checkConstructors()
	b.checkOccurrences()
	b.setStage(environment.ConstructorsVisible)
	b.findElimination()
	b.buildMotives()
	for _, t := range b.types {
		for i := range t.ctors {
			b.openCtor(&t.ctors[i])
		}
	}
	b.buildMinors()
	return b.buildRecursors()
}

func (b *block) numParams() int { return len(b.paramLocals) }

// openTypes checks the declared types: parameters, which all types share, then indices, then one universe.
func (b *block) openTypes() {
	s := b.store
	for i := range b.source.Types {
		t := &b.source.Types[i]
		if i > 0 && !slices.Equal(t.LevelParams, b.params) {
			refuseAt(t.Name, InvalidInductive, "the types of a block have the same universe parameters")
		}
		b.requireClosed(t.Type)
		b.sortOf(t.Type, true)
		bt := &blockType{name: t.Name, typ: t.Type}
		rest := b.whnf(t.Type)
		for p := range int(t.NumParams) {
			n := s.Node(rest)
			if n.Kind != term.KindPi {
				refuseAt(t.Name, InvalidInductive, "%s has %d parameters but its type has %d arguments", s.NameString(t.Name), t.NumParams, p)
			}
			if i == 0 {
				b.paramLocals = append(b.paramLocals, b.openBinder(n))
			} else if p >= len(b.paramLocals) || !b.defEq(term.Expr(n.A), term.Expr(s.Node(b.paramLocals[p]).B)) {
				refuseAt(t.Name, InvalidInductive, "the types of a block have the same parameters")
			}
			rest = b.whnf(s.Instantiate(term.Expr(n.B), b.paramLocals[p:p+1]))
		}
		if int(t.NumParams) != len(b.paramLocals) {
			refuseAt(t.Name, InvalidInductive, "the types of a block have the same parameters")
		}
		b.openIndices(bt, rest)
		bt.constant = s.Apps(s.Const(t.Name, b.paramLevels), b.paramLocals)
		b.types = append(b.types, bt)
	}
}

// openIndices makes the indices of a type, its parameters already instantiated, free variables, and checks that a sort
// follows and that it is the universe of the block.
func (b *block) openIndices(bt *blockType, rest term.Expr) {
	s := b.store
	for {
		b.tick()
		n := s.Node(rest)
		if n.Kind != term.KindPi {
			break
		}
		index := b.openBinder(n)
		bt.indices = append(bt.indices, index)
		rest = b.whnf(s.Instantiate(term.Expr(n.B), []term.Expr{index}))
	}
	n := s.Node(rest)
	if n.Kind != term.KindSort {
		refuseAt(b.reportName(bt), InvalidInductive, "%s is no type family: it ends in %s", s.NameString(bt.name), s.Describe(rest))
	}
	if len(b.types) == 0 {
		b.resultLevel = term.Level(n.A)
	} else if !b.levels.equal(b.resultLevel, term.Level(n.A)) {
		refuseAt(b.reportName(bt), InvalidInductive, "the types of a block, nested ones included, live in one universe")
	}
}

// requireClosed refuses (LooseVariable) an expression with loose bound variables.
func (b *block) requireClosed(e term.Expr) {
	if b.store.Node(e).Loose > 0 {
		refuse(LooseVariable, "a bound variable has no binder")
	}
}

// openConstructors checks that constructor types are types, takes off the parameters, and replaces nested occurrences of
// the block's types by auxiliary types, whose constructors are treated alike.
func (b *block) openConstructors() {
	s := b.store
	byName := map[term.Name]*term.Constructor{}
	for i := range b.source.Constructors {
		byName[b.source.Constructors[i].Name] = &b.source.Constructors[i]
	}
	for i := range b.source.Types {
		for _, name := range b.source.Types[i].Constructors {
			k := byName[name]
			b.requireClosed(k.Type)
			b.sortOf(k.Type, true)
			body := k.Type
			for p, local := range b.paramLocals {
				n := s.Node(body)
				if n.Kind != term.KindPi || !b.defEq(term.Expr(n.A), term.Expr(s.Node(local).B)) {
					refuseAt(b.source.Types[i].Name, InvalidConstructor, "argument %d of %s is not the parameter of its type", p+1, s.NameString(name))
				}
				body = s.Instantiate(term.Expr(n.B), []term.Expr{local})
			}
			value := s.Apps(s.Const(name, b.paramLevels), b.paramLocals)
			b.types[i].ctors = append(b.types[i].ctors, blockCtor{name: name, value: value, body: body})
		}
	}
	for i := 0; i < len(b.types); i++ { // grows: auxiliary types may have nested occurrences of their own
		for j := range b.types[i].ctors {
			ctor := &b.types[i].ctors[j]
			ctor.body = s.Replace(ctor.body, b.replaceNested)
		}
	}
}

// openBinder opens a binder of a declared type. Annotations that mean nothing to the kernel are taken off its type, as
// Lean does: recursors mention T where a constructor mentions outParam T. Only names that are declared as the identity
// are taken off.
func (b *block) openBinder(binder term.Node) term.Expr {
	typ := term.Expr(binder.A)
	for {
		var buf [4]term.Expr
		head, args := b.store.Spine(typ, buf[:0])
		n := b.store.Node(head)
		if n.Kind != term.KindConst || !b.annotates(term.Name(n.A), len(args)) {
			return b.newLocal(typ)
		}
		typ = args[0]
	}
}

// mentionsBlock reports whether a type of the block, auxiliary ones included, occurs in e.
func (b *block) mentionsBlock(e term.Expr) bool {
	return b.store.Mentions(e, func(n term.Name) bool {
		for _, t := range b.types {
			if t.name == n {
				return true
			}
		}
		return false
	})
}

// replaceNested turns I Ds is, where I is an earlier inductive type and a type of the block occurs in its parameters
// Ds, into an auxiliary type applied to the indices is.
//
// Trap (nested positivity): the constructors of I at Ds become constructors of the auxiliary type and are checked for
// positivity like the others; an I that uses its parameter to the left of an arrow is found out there.
func (b *block) replaceNested(e term.Expr) (term.Expr, bool) {
	s := b.store
	if s.Kind(e) != term.KindApp {
		return 0, false
	}
	head, args := s.Spine(e, nil)
	n := s.Node(head)
	if n.Kind != term.KindConst {
		return 0, false
	}
	k := b.findConstant(term.Name(n.A))
	if k == nil || k.Inductive == nil || k.Unit == b.view.Unit() || k.Unit < 0 || k.Inductive.NumParams > len(args) {
		return 0, false
	}
	params := args[:k.Inductive.NumParams]
	if !slices.ContainsFunc(params, b.mentionsBlock) {
		return 0, false
	}
	if slices.ContainsFunc(params, func(p term.Expr) bool { return s.Node(p).Loose > 0 }) {
		refuse(InvalidNested, "the parameters of the nested type %s depend on bound variables", s.NameString(k.Name))
	}
	application := s.Apps(head, params)
	for _, t := range b.types {
		if t.nested == application {
			return s.Apps(t.constant, args[len(params):]), true
		}
	}
	var result term.Expr
	for _, name := range k.Inductive.All {
		t := b.addAuxiliary(name, term.Levels(n.B), params)
		if name == k.Name {
			result = t.constant
		}
	}
	if result == 0 {
		refuse(InvalidNested, "%s is not among the types of its own block", s.NameString(k.Name))
	}
	return s.Apps(result, args[len(params):]), true
}

// addAuxiliary adds a type standing for the type called name at the given levels and parameters.
func (b *block) addAuxiliary(name term.Name, levels term.Levels, params []term.Expr) *blockType {
	s := b.store
	k := b.findConstant(name)
	if k == nil || k.Inductive == nil || len(k.Params) != len(s.LevelsOf(levels)) {
		refuse(InvalidNested, "%s is no inductive type", s.NameString(name))
	}
	t := &blockType{name: s.FreshName("_nested"), nested: s.Apps(s.Const(name, levels), params)}
	t.typ = b.instantiatePis(b.instantiateParams(k.Type, k, levels), params)
	// Lean types the auxiliary types where the types of the block are not declared (inductive.cpp, check_inductive_types).
	if b.mentionsBlock(t.typ) {
		refuse(InvalidNested, "the type of %s at these parameters mentions a type that is being defined", s.NameString(name))
	}
	t.constant = s.Const(t.name, term.NoLevels)
	if int(t.name-b.auxBase) != len(b.auxiliary) {
		panic("names of auxiliary types are consecutive")
	}
	b.auxiliary = append(b.auxiliary, &environment.Constant{Name: t.name, Kind: environment.Inductive, Unit: -1, Type: t.typ,
		Inductive: &environment.InductiveInfo{IsRec: true}})
	b.openIndices(t, b.whnf(t.typ))
	for _, ctorName := range k.Inductive.Constructors {
		ctor := b.findConstant(ctorName)
		if ctor == nil || ctor.Constructor == nil || len(ctor.Params) != len(k.Params) {
			refuse(InvalidNested, "%s is no constructor", s.NameString(ctorName))
		}
		t.ctors = append(t.ctors, blockCtor{
			name:  ctorName,
			value: s.Apps(s.Const(ctorName, levels), params),
			body:  b.instantiatePis(b.instantiateParams(ctor.Type, ctor, levels), params),
		})
	}
	b.types = append(b.types, t)
	return t
}

// instantiatePis puts params into the leading binders of a function type.
func (b *block) instantiatePis(typ term.Expr, params []term.Expr) term.Expr {
	for range params {
		n := b.store.Node(typ)
		if n.Kind != term.KindPi {
			refuse(InvalidNested, "a nested type has fewer arguments than parameters")
		}
		typ = term.Expr(n.B)
	}
	return b.store.Instantiate(typ, params)
}

// targetType returns the type of the block, and the indices, if e is that type applied to the block's parameters and to
// indices free of the block's types; nil otherwise.
func (b *block) targetType(e term.Expr) (*blockType, []term.Expr) {
	for _, t := range b.types {
		if indices, ok := b.applicationOf(t, e); ok {
			return t, indices
		}
	}
	return nil, nil
}

// applicationOf says whether e is t applied to the block's parameters and to indices free of the block's types.
func (b *block) applicationOf(t *blockType, e term.Expr) ([]term.Expr, bool) {
	s := b.store
	_, args := s.Spine(e, nil)
	count := len(t.indices)
	if len(args) < count {
		return nil, false
	}
	fn := e
	for range count {
		fn = term.Expr(s.Node(fn).A)
	}
	if fn != t.constant {
		return nil, false
	}
	indices := args[len(args)-count:]
	if slices.ContainsFunc(indices, b.mentionsBlock) {
		return nil, false
	}
	return indices, true
}

// checkResults refuses constructors that do not end in their own type.
func (b *block) checkResults() {
	for _, t := range b.types {
		for i := range t.ctors {
			body := t.ctors[i].body
			_, rest := b.openFields(body, nil)
			if _, ok := b.applicationOf(t, rest); !ok {
				refuseAt(b.reportName(t), InvalidConstructor, "%s does not end in its type applied to the parameters, with indices free of the types being declared",
					b.store.NameString(t.ctors[i].name))
			}
		}
	}
}

// reportName is the declared type that a refusal about t names; for an auxiliary type it is the first of the block.
func (b *block) reportName(t *blockType) term.Name {
	if t.nested != 0 {
		return b.source.Types[0].Name
	}
	return t.name
}

// openFields makes the leading arguments of a type free variables, and calls visit, if not nil, with each one's type.
func (b *block) openFields(typ term.Expr, visit func(i int, domain term.Expr)) (fields []term.Expr, rest term.Expr) {
	for {
		b.tick()
		n := b.store.Node(typ)
		if n.Kind != term.KindPi {
			return fields, typ
		}
		if visit != nil {
			visit(len(fields), term.Expr(n.A))
		}
		field := b.openBinder(n)
		fields = append(fields, field)
		typ = b.store.Instantiate(term.Expr(n.B), []term.Expr{field})
	}
}

// checkConstructors checks universes and positivity of every field.
func (b *block) checkConstructors() {
	inProp := b.levels.alwaysZero(b.resultLevel)
	for _, t := range b.types {
		for j := range t.ctors {
			ctor := &t.ctors[j]
			saved := b.nextLocal
			b.openFields(ctor.body, func(i int, domain term.Expr) {
				l := b.sortOf(domain, false)
				if !inProp && !b.levels.leq(l, b.resultLevel) {
					refuseAt(b.reportName(t), UniverseTooBig, "field %d of %s lives in universe %s, the type in %s", i+1,
						b.store.NameString(ctor.name), b.store.DescribeLevel(l), b.store.DescribeLevel(b.resultLevel))
				}
				b.checkPositive(t, ctor, i, domain)
			})
			b.nextLocal = saved
		}
	}
}

// checkPositive refuses a field type in which a type of the block occurs other than at the end of a function type.
func (b *block) checkPositive(t *blockType, ctor *blockCtor, field int, domain term.Expr) {
	for {
		b.tick()
		domain = b.whnf(domain)
		if !b.mentionsBlock(domain) {
			return
		}
		n := b.store.Node(domain)
		if n.Kind != term.KindPi {
			if u, _ := b.targetType(domain); u == nil {
				refuseAt(b.reportName(t), InvalidOccurrence, "field %d of %s uses a type being declared in a way that is not allowed",
					field+1, b.store.NameString(ctor.name))
			}
			return
		}
		if b.mentionsBlock(term.Expr(n.A)) {
			refuseAt(b.reportName(t), NonPositiveOccurrence, "field %d of %s takes a type being declared as an argument",
				field+1, b.store.NameString(ctor.name))
		}
		domain = b.store.Instantiate(term.Expr(n.B), []term.Expr{b.openBinder(n)})
	}
}

// checkOccurrences looks at constructor types as they are written, where the other checks reduce: a type of the block
// occurs only applied to the block's parameters and levels, even where reduction would make it vanish.
//
// Trap (lean4#14582, arena nested-nonuniform-param): the parameters of a nested type are gone from the auxiliary one.
// Trap (lean4#14616, arena nested-aux-name): names under _nested are those of Lean's auxiliary types.
func (b *block) checkOccurrences() {
	s := b.store
	uniform := map[term.Expr]bool{}
	declared := map[term.Name]bool{}
	for _, t := range b.types[:len(b.source.Types)] {
		uniform[t.constant] = true
		declared[t.name] = true
	}
	seen := map[term.Expr]bool{}
	var walk func(e term.Expr, of term.Name)
	walk = func(e term.Expr, of term.Name) {
		if uniform[e] || seen[e] {
			return
		}
		b.enter()
		defer b.leave()
		seen[e] = true
		n := s.Node(e)
		switch n.Kind {
		case term.KindConst:
			if declared[term.Name(n.A)] {
				refuseAt(of, InvalidOccurrence, "%s occurs without the parameters and levels of its block", s.NameString(term.Name(n.A)))
			}
			b.checkReserved(term.Name(n.A), of)
		case term.KindProj:
			b.checkReserved(term.Name(n.A), of)
		}
		children, count := n.Children()
		for _, child := range children[:count] {
			walk(child, of)
		}
	}
	for i := range b.source.Types {
		walk(b.source.Types[i].Type, b.source.Types[i].Name)
	}
	for i := range b.source.Constructors {
		k := &b.source.Constructors[i]
		typ := k.Type
		for range b.paramLocals {
			walk(term.Expr(s.Node(typ).A), k.Inductive)
			typ = term.Expr(s.Node(typ).B)
		}
		walk(s.Instantiate(typ, b.paramLocals), k.Inductive)
	}
}

func (b *block) checkReserved(n, of term.Name) {
	for s := b.store; n != term.Anonymous; n = s.NamePrefix(n) {
		if text, numeric := s.NameLast(n); text == "_nested" && !numeric && s.NamePrefix(n) == term.Anonymous {
			refuseAt(of, InvalidInductive, "the prefix _nested is reserved for auxiliary types")
		}
	}
}

// findElimination decides which universes the recursors eliminate into. A type that may be in Prop eliminates into Prop
// only, unless it is alone, has at most one constructor, and all that constructor's data shows in its result.
//
// Trap (arena large-elim-param): Sort u may be Prop; being not always zero is not enough.
func (b *block) findElimination() {
	b.largeElim = b.eliminatesLarge()
	if b.largeElim {
		b.elimParam = b.store.FreshName("u")
		b.elimLevel = b.store.Param(b.elimParam)
	}
}

func (b *block) eliminatesLarge() bool {
	if b.store.LevelNode(b.resultLevel).Positive {
		return true
	}
	if len(b.types) > 1 || len(b.types[0].ctors) > 1 {
		return false
	}
	if len(b.types[0].ctors) == 0 {
		return true
	}
	defer func(saved uint32) { b.nextLocal = saved }(b.nextLocal)
	fields, rest := b.openFields(b.types[0].ctors[0].body, nil)
	_, shown := b.store.Spine(rest, nil)
	for _, field := range fields {
		level := b.sortOf(term.Expr(b.store.Node(field).B), false)
		if !b.levels.alwaysZero(level) && !slices.Contains(shown, field) {
			return false
		}
	}
	return true
}

// isK reports whether the recursor reduces by the type of its major premise alone: a proposition alone in its block, with
// one constructor that has no fields.
func (b *block) isK() bool {
	return len(b.types) == 1 && b.levels.alwaysZero(b.resultLevel) && len(b.types[0].ctors) == 1 &&
		b.store.Kind(b.types[0].ctors[0].body) != term.KindPi
}

func (b *block) buildMotives() {
	s := b.store
	for _, t := range b.types {
		t.major = b.newLocal(s.Apps(t.constant, t.indices))
		motiveType := s.Pis(append(slices.Clone(t.indices), t.major), s.Sort(b.elimLevel))
		t.motive = b.newLocal(motiveType)
	}
}

// recursiveField is a field that ends in a type of the block: for all arguments, target at indices.
type recursiveField struct {
	field     term.Expr
	arguments []term.Expr
	target    *blockType
	indices   []term.Expr
}

// openCtor makes the fields of a constructor free variables and finds those with an induction hypothesis. It runs once for
// each: what a premise takes and what a rule passes is read from the same list.
func (b *block) openCtor(ctor *blockCtor) {
	fields, rest := b.openFields(ctor.body, nil)
	target, indices := b.targetType(rest)
	if target == nil {
		refuse(InvalidConstructor, "%s does not end in its type", b.store.NameString(ctor.name))
	}
	ctor.fields, ctor.recursive, ctor.target, ctor.indices = fields, b.recursiveFields(fields), target, indices
}

// recursiveFields finds the fields an induction hypothesis is needed for. As in Lean's kernel (is_rec_argument in its
// inductive.cpp), the type of a field is brought to weak head normal form, and so is what follows each of its arguments:
// a field whose type only reduces to a type of the block is recursive. Lean asks this anew, of a new checker, for the
// premises and for the rules.
func (b *block) recursiveFields(fields []term.Expr) []recursiveField {
	s := b.store
	var out []recursiveField
	for _, field := range fields {
		saved := b.nextLocal
		r := recursiveField{field: field}
		typ := b.whnf(term.Expr(s.Node(field).B))
		for s.Kind(typ) == term.KindPi {
			b.tick()
			n := s.Node(typ)
			argument := b.openBinder(n)
			r.arguments = append(r.arguments, argument)
			typ = b.whnf(s.Instantiate(term.Expr(n.B), []term.Expr{argument}))
		}
		if r.target, r.indices = b.targetType(typ); r.target != nil {
			out = append(out, r)
		} else {
			b.nextLocal = saved
		}
	}
	return out
}

func (b *block) buildMinors() {
	s := b.store
	for _, t := range b.types {
		for i := range t.ctors {
			ctor := &t.ctors[i]
			saved := b.nextLocal
			result := s.App(s.Apps(ctor.target.motive, ctor.indices), s.Apps(ctor.value, ctor.fields))
			locals := slices.Clone(ctor.fields)
			for _, r := range ctor.recursive {
				conclusion := s.App(s.Apps(r.target.motive, r.indices), s.Apps(r.field, r.arguments))
				locals = append(locals, b.newLocal(s.Pis(r.arguments, conclusion)))
			}
			minorType := s.Pis(locals, result)
			b.nextLocal = saved
			t.minors = append(t.minors, b.newLocal(minorType))
		}
		b.minorCount += len(t.minors)
	}
}

// buildRecursors assembles types and rules, and puts the nested applications back for the auxiliary types.
func (b *block) buildRecursors() []generatedRecursor {
	s := b.store
	var motives, minors []term.Expr
	for _, t := range b.types {
		motives = append(motives, t.motive)
		minors = append(minors, t.minors...)
	}
	common := slices.Concat(b.paramLocals, motives, minors)
	params, levels := b.params, b.paramLevels
	if b.largeElim {
		params = append([]term.Name{b.elimParam}, params...)
		levels = s.List(append([]term.Level{b.elimLevel}, s.LevelsOf(levels)...))
	}
	names := b.recursorNames(b.source.Types, len(b.types)-len(b.source.Types))
	for i, t := range b.types {
		t.rec = s.Const(names[i], levels)
	}
	out := make([]generatedRecursor, len(b.types))
	minor := 0
	for i, t := range b.types {
		typ := b.abstractLocals(s.Pi, slices.Concat(common, t.indices, []term.Expr{t.major}), s.App(s.Apps(t.motive, t.indices), t.major))
		out[i] = generatedRecursor{name: names[i], params: params, typ: typ, numIndices: len(t.indices)}
		for _, ctor := range t.ctors {
			value := s.Apps(minors[minor], ctor.fields)
			minor++
			for _, r := range ctor.recursive {
				call := s.App(s.Apps(s.Apps(r.target.rec, common), r.indices), s.Apps(r.field, r.arguments))
				value = s.App(value, s.Lams(r.arguments, call))
			}
			locals := slices.Concat(common, ctor.fields)
			redex := s.App(s.Apps(s.Apps(t.rec, common), ctor.indices), s.Apps(ctor.value, ctor.fields))
			out[i].rules = append(out[i].rules, term.Rule{Constructor: ctor.name, NumFields: uint32(len(ctor.fields)), Value: b.abstractLocals(s.Lam, locals, value)})
			out[i].redexes = append(out[i].redexes, b.abstractLocals(s.Lam, locals, redex))
		}
	}
	return out
}

// abstractLocals abstracts body over locals, with nested applications put back in the place of auxiliary types everywhere.
func (b *block) abstractLocals(binder func(typ, body term.Expr) term.Expr, locals []term.Expr, body term.Expr) term.Expr {
	r := b.store.Abstract(b.restoreNested(body), locals)
	for i := len(locals) - 1; i >= 0; i-- {
		b.countWork(len(locals)) // each binder's type is gone through once
		typ := b.restoreNested(term.Expr(b.store.Node(locals[i]).B))
		r = binder(b.store.Abstract(typ, locals[:i]), r)
	}
	return r
}

func (b *block) restoreNested(e term.Expr) term.Expr {
	if len(b.types) == len(b.source.Types) {
		return e
	}
	return b.store.Replace(e, func(e term.Expr) (term.Expr, bool) {
		for _, t := range b.types[len(b.source.Types):] {
			if e == t.constant {
				return t.nested, true
			}
		}
		return 0, false
	})
}

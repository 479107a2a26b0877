package plain

import (
	"slices"

	"reckon/domain/lean/term"
)

// compare compares the file's records with what was found and generated. Nothing of the records is used elsewhere but
// names, types of types and constructors, and the number of parameters.
func (b *block) compare() {
	var all []term.Name
	for _, t := range b.source.Types {
		all = append(all, t.Name)
	}
	reflexive := slices.ContainsFunc(b.families, func(f family) bool { // auxiliary types count
		return slices.ContainsFunc(f.constructors, func(c maker) bool {
			return b.anyField(c.typ, func(domain term.Expr) bool {
				return b.k.store.Kind(domain) == term.KindPi && b.k.mentions(domain, b.own)
			})
		})
	})
	for i, t := range b.source.Types {
		if !slices.Equal(t.All, all) || int(t.NumIndices) != len(b.families[i].indices) || int(t.NumNested) != len(b.families)-b.declared ||
			t.IsRec != b.isRec || t.IsReflexive != reflexive {
			refuse(inductiveMismatch, "the record of %s differs from the type", b.k.store.NameString(t.Name))
		}
	}
	at := 0
	for _, f := range b.families[:b.declared] {
		for _, c := range f.constructors {
			if int(b.source.Constructors[at].NumFields) != len(c.fields) {
				refuse(constructorMismatch, "%s has another number of fields than its record", b.k.store.NameString(c.name))
			}
			at++
		}
	}
	if len(b.source.Recursors) != len(b.recursors.made) {
		refuse(recursorMismatch, "there are %d recursors instead of %d", len(b.source.Recursors), len(b.recursors.made))
	}
	for i := range b.recursors.made {
		b.compareRecursor(&b.recursors.made[i], all)
	}
}

func (b *block) compareRecursor(g *generated, all []term.Name) {
	k := b.k
	at := slices.IndexFunc(b.source.Recursors, func(r term.Recursor) bool { return r.Name == g.name })
	if at < 0 {
		refuse(recursorMismatch, "a recursor of %s has no record", k.store.NameString(b.source.Types[0].Name))
	}
	r := b.source.Recursors[at]
	want := func(ok bool, what string) {
		if !ok {
			refuse(recursorMismatch, "%s has another %s", k.store.NameString(r.Name), what)
		}
	}
	k.distinct(r.LevelParams)
	want(len(r.LevelParams) == len(g.params), "number of universe parameters")
	want(slices.Equal(r.All, all), "list of types")
	want(int(r.NumParams) == g.info.numParams && int(r.NumIndices) == g.info.numIndices && int(r.NumMotives) == g.info.numMotives &&
		int(r.NumMinors) == g.info.numMinors && len(r.Rules) == len(g.info.rules), "count")
	want(r.K == g.info.k, "flag k")
	var levels []term.Level // the record's universe parameters as those of the generated recursor
	for _, p := range g.params {
		levels = append(levels, k.store.Param(p))
	}
	renamed := func(e term.Expr) term.Expr {
		k.wellScoped(e, r.LevelParams)
		return k.instantiateLevels(e, r.LevelParams, levels)
	}
	want(k.sameRecord(g.typ, renamed(r.Type)), "type")
	for i, rule := range r.Rules {
		have := g.info.rules[i]
		want(rule.Constructor == have.constructor && int(rule.NumFields) == have.numFields, "order of rules")
		want(k.sameRecord(have.value, renamed(rule.Value)), "rule for "+k.store.NameString(rule.Constructor))
	}
}

// sameRecord: the expressions are built alike. Universe levels are compared by meaning, and the annotations outParam,
// semiOutParam, optParam and autoParam of binder types do not count, where they are declared as the identity: Lean takes
// them off the binder types of recursors. Nothing else is reduced.
func (k *kernel) sameRecord(a, b term.Expr) bool {
	pair := [2]term.Expr{a, b}
	seen := map[[2]term.Expr]bool{}
	var same func(pair [2]term.Expr) bool
	same = func(pair [2]term.Expr) bool {
		if pair[0] == pair[1] || seen[pair] {
			return true
		}
		k.enter()
		defer k.leave()
		m, n := k.store.Node(pair[0]), k.store.Node(pair[1])
		if m.Kind != n.Kind {
			return false
		}
		both := func(x, y uint32) bool { return same([2]term.Expr{term.Expr(x), term.Expr(y)}) }
		ok := false
		switch m.Kind {
		case term.KindSort:
			ok = k.levelsEqual(term.Level(m.A), term.Level(n.A))
		case term.KindConst:
			ok = k.sameConstant(pair[0], pair[1])
		case term.KindApp:
			ok = both(m.A, n.A) && both(m.B, n.B)
		case term.KindLam, term.KindPi:
			ok = both(uint32(k.withoutAnnotation(term.Expr(m.A))), uint32(k.withoutAnnotation(term.Expr(n.A)))) && both(m.B, n.B)
		case term.KindLet:
			ok = both(m.A, n.A) && both(m.B, n.B) && both(m.C, n.C)
		case term.KindProj:
			ok = m.A == n.A && m.B == n.B && both(m.C, n.C)
		}
		if ok {
			seen[pair] = true
		}
		return ok
	}
	return same(pair)
}

// withoutAnnotation takes annotations off a type: outParam A, semiOutParam A, optParam A v, autoParam A t are A where the
// constant is a definition that returns its first argument.
func (k *kernel) withoutAnnotation(typ term.Expr) term.Expr {
	for {
		head, args := k.spine(typ)
		c, name, _ := k.constAt(head)
		arity := 0
		switch name {
		case k.names.outParam, k.names.semiOutParam:
			arity = 1
		case k.names.optParam, k.names.autoParam:
			arity = 2
		}
		if c == nil || c.kind != definition || arity == 0 || len(args) != arity {
			return typ
		}
		body := c.value
		for range arity {
			n := k.store.Node(body)
			if n.Kind != term.KindLam {
				return typ
			}
			body = term.Expr(n.B)
		}
		if body != k.store.BVar(uint32(arity-1)) {
			return typ
		}
		typ = args[0]
	}
}

// assumeBlock adds a block as its records say.
func (k *kernel) assumeBlock(b *term.Block) {
	for _, t := range b.Types {
		k.add(t.Name, &constant{kind: inductive, params: t.LevelParams, typ: t.Type, inductive: &inductiveInfo{name: t.Name,
			numParams: int(t.NumParams), numIndices: int(t.NumIndices), constructors: t.Constructors, all: t.All, isRec: t.IsRec}})
	}
	for _, c := range b.Constructors {
		k.add(c.Name, &constant{kind: constructor, params: c.LevelParams, typ: c.Type,
			constructor: &constructorInfo{inductive: c.Inductive, numParams: int(c.NumParams), numFields: int(c.NumFields)}})
	}
	for _, r := range b.Recursors {
		info := recursorInfo{numParams: int(r.NumParams), numIndices: int(r.NumIndices), numMotives: int(r.NumMotives), numMinors: int(r.NumMinors), k: r.K}
		for _, one := range r.Rules {
			info.rules = append(info.rules, rule{constructor: one.Constructor, numFields: int(one.NumFields), value: one.Value})
		}
		info.inductive = k.typeOfMajor(r.Type, info.major())
		k.add(r.Name, &constant{kind: recursor, params: r.LevelParams, typ: r.Type, recursor: &info})
	}
}

// typeOfMajor is the inductive type that the major premise of a recursor has; anonymous where it has none.
func (k *kernel) typeOfMajor(typ term.Expr, major int) term.Name {
	for range major {
		if k.store.Kind(typ) != term.KindPi {
			return term.Anonymous
		}
		typ = term.Expr(k.store.Node(typ).B)
	}
	if n := k.store.Node(typ); n.Kind == term.KindPi {
		head, _ := k.spine(term.Expr(n.A))
		if h := k.store.Node(head); h.Kind == term.KindConst {
			return term.Name(h.A)
		}
	}
	return term.Anonymous
}

package plain

import (
	"slices"

	"reckon/domain/lean/term"
)

// A field of type List (Tree α) in a constructor of Tree is a nested occurrence. It is checked by elimination: an auxiliary
// type stands for List (Tree α), with List's constructors instantiated, in the same block; the enlarged block is mutual
// and has no nested occurrence. The recursors are those of the enlarged block with the auxiliary types put back (C++
// inductive.cpp, elim_nested_inductive; Ref "Nested Inductive Types"). Soundness does not rest on the correspondence of
// the two: what is put back is type-checked (recursor.go).

// openNested replaces nested occurrences, in auxiliary types too, until there is none.
func (b *block) openNested() {
	for i := 0; i < len(b.families); i++ {
		for j := range b.families[i].constructors {
			c := &b.families[i].constructors[j]
			opened, ok := b.k.peel(c.typ, b.locals)
			if !ok {
				refuse(invalidConstructor, "%s has not the parameters of its type", b.k.store.NameString(c.name))
			}
			c.typ = b.closeParams(c.typ, b.replaceNested(opened))
		}
	}
	for _, f := range b.families[b.declared:] {
		b.own[f.name] = true
	}
}

// peel instantiates the leading binders of a function type, if there are as many.
func (k *kernel) peel(typ term.Expr, args []term.Expr) (term.Expr, bool) {
	for range args {
		if k.store.Kind(typ) != term.KindPi {
			return 0, false
		}
		typ = term.Expr(k.store.Node(typ).B)
	}
	return k.instantiate(typ, args), true
}

// closeParams closes a type over the block's parameters, with the domains that the written type has.
func (b *block) closeParams(written, opened term.Expr) term.Expr {
	var domains []term.Expr
	for range b.locals {
		n := b.k.store.Node(written)
		domains = append(domains, term.Expr(n.A))
		written = term.Expr(n.B)
	}
	r := b.k.abstract(opened, b.locals)
	for i := len(domains) - 1; i >= 0; i-- {
		r = b.k.store.Pi(domains[i], r)
	}
	return r
}

// replaceNested replaces every I args whose parameters mention the block, I an inductive type declared before, by the
// auxiliary type for it.
func (b *block) replaceNested(e term.Expr) term.Expr {
	return b.k.rewrite(e, func(p place, n term.Node) (term.Expr, bool) {
		if n.Kind != term.KindApp {
			return 0, false
		}
		head, args := b.k.spine(p.e)
		c, name, levels := b.k.constAt(head)
		if c == nil || c.inductive == nil || b.isFamily(name) || len(args) < c.inductive.numParams {
			return 0, false
		}
		numParams := c.inductive.numParams
		if !slices.ContainsFunc(args[:numParams], func(a term.Expr) bool { return b.mentionsFamily(a) }) {
			return 0, false
		}
		for _, a := range args[:numParams] {
			if b.k.store.Node(a).Loose > 0 {
				refuse(invalidNested, "a parameter of %s depends on a variable bound in a constructor", b.k.store.NameString(name))
			}
		}
		return b.k.store.Apps(b.auxiliary(c, name, levels, args[:numParams]), args[numParams:]), true
	})
}

func (b *block) isFamily(n term.Name) bool {
	return slices.ContainsFunc(b.families, func(f family) bool { return f.name == n })
}

func (b *block) mentionsFamily(e term.Expr) bool {
	found := false
	b.k.visit(e, func(_ term.Expr, n term.Node) bool {
		found = found || n.Kind == term.KindConst && b.isFamily(term.Name(n.A))
		return !found
	})
	return found
}

// auxiliary is the auxiliary type that stands for the type called name at the given parameters, applied to the block's
// parameters. With it come those for the other types of its block. Their types speak of nothing that is being defined:
// an index may not range over a type of the block (C++ inductive.cpp, check_inductive_types, types the auxiliary types
// where the block is not declared).
func (b *block) auxiliary(c *constant, name term.Name, levels []term.Level, params []term.Expr) term.Expr {
	k := b.k
	occurrence := func(n term.Name) term.Expr { return k.store.Apps(k.constant(n, levels...), params) }
	for _, f := range b.families[b.declared:] {
		if f.occurrence == occurrence(name) {
			return b.apply(f.name)
		}
	}
	var wanted term.Expr
	for _, n := range c.inductive.all {
		if len(b.families) > 1<<10 {
			panic(spent{reason: "nested occurrences make too many auxiliary types"})
		}
		other := k.env[n]
		typ, ok := k.peel(k.instantiateLevels(other.typ, other.params, levels), params)
		if !ok {
			refuse(invalidNested, "%s has too few parameters", k.store.NameString(n))
		}
		if b.mentionsFamily(typ) {
			refuse(invalidNested, "the type of %s at these parameters mentions a type that is being defined", k.store.NameString(n))
		}
		f := family{name: k.store.FreshName("auxiliary"), typ: k.pis(b.locals, typ), occurrence: occurrence(n)}
		for _, m := range other.inductive.constructors {
			mk := k.env[m]
			opened, ok := k.peel(k.instantiateLevels(mk.typ, mk.params, levels), params)
			if !ok {
				refuse(invalidNested, "%s has too few parameters", k.store.NameString(m))
			}
			f.constructors = append(f.constructors, maker{name: k.store.FreshName("auxiliary"), typ: k.pis(b.locals, opened),
				original: k.store.Apps(k.constant(m, levels...), params)})
		}
		b.families = append(b.families, f)
		if n == name {
			wanted = b.apply(f.name)
		}
	}
	return wanted
}

// apply is a type or constructor of the block applied to the block's parameters.
func (b *block) apply(n term.Name) term.Expr {
	return b.k.store.Apps(b.k.constant(n, b.levels...), b.locals)
}

// withAuxiliary runs f in the environment that has the auxiliary types, and types them and their constructors.
func (b *block) withAuxiliary(f func()) {
	k := b.k
	k.forget()
	for i := b.declared; i < len(b.families); i++ {
		aux := &b.families[i]
		k.wellScoped(aux.typ, b.params)
		k.check(aux.typ)
		if level := b.openType(aux, len(b.locals), false); !k.levelsEqual(level, b.level) {
			refuse(invalidNested, "%s lives in another universe than the type nested in it", k.store.Describe(aux.occurrence))
		}
	}
	for _, aux := range b.families[b.declared:] {
		k.add(aux.name, &constant{kind: inductive, params: b.params, typ: aux.typ, inductive: &inductiveInfo{name: aux.name,
			numParams: len(b.locals), numIndices: len(aux.indices), isRec: true}})
	}
	for _, f := range b.families {
		for _, c := range f.constructors {
			k.wellScoped(c.typ, b.params)
			k.check(c.typ)
		}
	}
	f()
	for _, aux := range b.families[b.declared:] {
		delete(k.env, aux.name)
	}
	k.forget()
}

// restore puts back what auxiliary types and constructors stand for, in an expression that applies them to parameters.
func (b *block) restore(e term.Expr) term.Expr {
	if len(b.families) == b.declared {
		return e
	}
	stands := map[term.Name]term.Expr{} // with the block's parameters as loose variables
	for _, f := range b.families[b.declared:] {
		stands[f.name] = b.k.abstract(f.occurrence, b.locals)
		for _, c := range f.constructors {
			stands[c.name] = b.k.abstract(c.original, b.locals)
		}
	}
	var replace func(p place, n term.Node) (term.Expr, bool)
	replace = func(p place, n term.Node) (term.Expr, bool) {
		if n.Kind != term.KindApp && n.Kind != term.KindConst {
			return 0, false
		}
		head, args := b.k.spine(p.e)
		h := b.k.store.Node(head)
		if h.Kind != term.KindConst {
			return 0, false
		}
		original, ok := stands[term.Name(h.A)]
		if !ok || len(args) < len(b.locals) {
			return 0, false
		}
		for i, a := range args {
			args[i] = b.k.rewrite(a, replace)
		}
		return b.k.store.Apps(b.k.instantiate(original, args[:len(b.locals)]), args[len(b.locals):]), true
	}
	return b.k.rewrite(e, replace)
}

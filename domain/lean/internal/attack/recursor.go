package attack

import "slices"

// addRecursors derives the recursors of a block as Lean does, written apart from the kernel's so that the two check each
// other. Nested types get none.
func addRecursors(d *Decl) {
	first := d.Types[0]
	params := first.Locals
	prop := isProp(first)
	elim := Level(nil)
	levelParams := d.Params
	if _, ok := d.Attrs["large"]; ok || !prop || len(d.Types) == 1 && (len(first.Ctors) == 0 || len(first.Ctors) == 1 && len(fieldsOf(first, first.Ctors[0], params)) == 0) {
		name := "w"
		for slices.Contains(levelParams, name) {
			name += "'"
		}
		elim = levelParam(name)
		levelParams = append([]string{name}, levelParams...)
	}
	own := make([]Level, len(d.Params))
	for i, p := range d.Params {
		own[i] = levelParam(p)
	}
	recLevels := make([]Level, len(levelParams))
	for i, p := range levelParams {
		recLevels[i] = levelParam(p)
	}

	g := &recursors{d: d, params: params, levels: own}
	for _, t := range d.Types {
		indices, _ := telescope(instantiate(t.Type, len(t.Locals), variables(params)))
		major := &Local{"t", apply(apply(constant(t.Name, own...), variables(params)...), variables(indices)...)}
		g.motives = append(g.motives, &Local{"motive", pis(append(slices.Clone(indices), major), sort(elim))})
	}
	for i, t := range d.Types {
		for _, k := range t.Ctors {
			g.minors = append(g.minors, &Local{"minor", g.minor(i, t, k)})
		}
	}
	common := slices.Concat(params, g.motives, g.minors)
	minor := 0
	for i, t := range d.Types {
		indices, _ := telescope(instantiate(t.Type, len(t.Locals), variables(params)))
		major := &Local{"t", apply(apply(constant(t.Name, own...), variables(params)...), variables(indices)...)}
		r := &Recursor{Name: t.Name + ".rec", Params: levelParams, NumParams: len(params), NumIndices: len(indices),
			NumMotives: len(d.Types), NumMinors: len(g.minors),
			K: prop && len(d.Types) == 1 && len(t.Ctors) == 1 && len(fieldsOf(t, t.Ctors[0], params)) == 0}
		if k, ok := d.Attrs["k"]; ok {
			r.K = k == "true"
		}
		r.Type = pis(slices.Concat(common, indices, []*Local{major}),
			apply(apply(variable(g.motives[i]), variables(indices)...), variable(major)))
		for _, k := range t.Ctors {
			fields := fieldsOf(t, k, params)
			value := apply(variable(g.minors[minor]), variables(fields)...)
			for _, f := range fields {
				if j, arguments, at, ok := g.recursive(f); ok {
					call := apply(constant(d.Types[j].Name+".rec", recLevels...), variables(common)...)
					call = apply(apply(call, at...), apply(variable(f), variables(arguments)...))
					value = apply(value, lams(arguments, call))
				}
			}
			r.Rules = append(r.Rules, &Rule{k.Name, len(fields), lams(slices.Concat(common, fields), value)})
			minor++
		}
		d.Recursors = append(d.Recursors, r)
	}
}

type recursors struct {
	d       *Decl
	params  []*Local
	levels  []Level
	motives []*Local
	minors  []*Local
}

// minor is the type of a constructor's minor premise.
func (g *recursors) minor(i int, t *Inductive, k *Ctor) *Term {
	typ := instantiate(k.Type, len(t.Locals), variables(g.params))
	fields, result := telescope(typ)
	_, args := spine(result)
	locals := slices.Clone(fields)
	for _, f := range fields {
		if j, arguments, at, ok := g.recursive(f); ok {
			locals = append(locals, &Local{"ih", pis(arguments, apply(apply(variable(g.motives[j]), at...), apply(variable(f), variables(arguments)...)))})
		}
	}
	value := apply(apply(constant(k.Name, g.levels...), variables(g.params)...), variables(fields)...)
	at := args[min(len(args), len(g.params)):]
	return pis(locals, apply(apply(variable(g.motives[i]), at...), value))
}

// recursive says whether a field ends in a type of the block, which, and with which arguments and indices.
func (g *recursors) recursive(f *Local) (typ int, arguments []*Local, indices []*Term, ok bool) {
	arguments, rest := telescope(f.typ)
	head, args := spine(rest)
	for i, t := range g.d.Types {
		if head.kind == constTerm && head.name == t.Name && len(args) >= len(g.params) {
			return i, arguments, args[len(g.params):], true
		}
	}
	return 0, nil, nil, false
}

// instantiate puts values in the place of the first n binders of a function type.
func instantiate(t *Term, n int, values []*Term) *Term {
	s := substitution{}
	for i := range n {
		s[t.local] = values[i]
		t = t.b
	}
	return s.applyTo(t)
}

func fieldsOf(t *Inductive, k *Ctor, params []*Local) []*Local {
	fields, _ := telescope(instantiate(k.Type, len(t.Locals), variables(params)))
	return fields
}

func isProp(t *Inductive) bool {
	_, rest := telescope(t.Type)
	return rest.kind == sortTerm && rest.level == nil
}

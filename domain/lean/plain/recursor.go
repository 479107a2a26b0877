package plain

import (
	"maps"
	"math/big"
	"slices"
	"strconv"

	"reckon/domain/lean/term"
)

// generated is a recursor that the block has.
type generated struct {
	name   term.Name
	params []term.Name // universe parameters: that of the motive first, if there is one
	typ    term.Expr
	info   recursorInfo
}

// recursors holds the parts of addRecursors. For a block with parameters P and types I_d,
//
//	motive  C_d : (indices) → I_d P indices → Sort u
//	minor   one for each constructor c of I_d: (fields) → (hypotheses) → C_d result (c P fields), where a recursive field
//	        x : (xs) → I_e P indices has the hypothesis (xs) → C_e indices (x xs)
//	type    (P) → (motives) → (minors) → (indices) → (t : I_d P indices) → C_d indices t
//	rule    I_d.rec P motives minors result (c P fields) is minor fields hypotheses, where the hypothesis of x is
//	        fun xs => I_e.rec P motives minors indices (x xs)
//
// (TTL 2.6.3; C++ inductive.cpp, mk_rec_infos, declare_recursors and mk_rec_rules).
type recursors struct {
	*block
	params  []term.Name
	levels  []term.Level
	motives []term.Expr
	minors  []term.Expr
	names   []term.Name
	made    []generated
}

// addRecursors generates the recursors. They do not reduce yet: checkGenerated types them first.
func (b *block) addRecursors() {
	r := &recursors{block: b}
	sort := b.k.store.Sort(term.Zero)
	if b.large {
		u := b.k.store.FreshName("u")
		r.params = append(r.params, u)
		r.levels = append(r.levels, b.k.store.Param(u))
		sort = b.k.store.Sort(r.levels[0])
	}
	r.params = append(r.params, b.params...)
	r.levels = append(r.levels, b.levels...)
	for i, f := range b.families {
		t := b.local(b.k.store.Apps(b.apply(f.name), f.indices))
		r.motives = append(r.motives, b.local(b.k.pis(append(f.indices[:len(f.indices):len(f.indices)], t), sort)))
		r.names = append(r.names, r.recursorName(i))
	}
	for i, f := range b.families {
		for j := range f.constructors {
			r.minors = append(r.minors, b.local(r.minor(i, &f.constructors[j])))
		}
	}
	at := 0
	for i, f := range b.families {
		g := generated{name: r.names[i], params: r.params, typ: b.restore(r.recursorType(i)), info: recursorInfo{inductive: f.name,
			numParams: len(b.locals), numIndices: len(f.indices), numMotives: len(r.motives), numMinors: len(r.minors), k: b.isK}}
		if i >= b.declared {
			g.info.inductive = term.Name(b.k.store.Node(b.k.store.Head(f.occurrence)).A)
		}
		for j := range f.constructors {
			c := &f.constructors[j]
			name := c.name
			if i >= b.declared {
				name = term.Name(b.k.store.Node(b.k.store.Head(c.original)).A)
			}
			g.info.rules = append(g.info.rules, rule{constructor: name, numFields: len(c.fields), value: b.restore(r.rule(r.minors[at], c))})
			at++
		}
		r.made = append(r.made, g)
		b.k.add(g.name, &constant{kind: axiom, params: g.params, typ: g.typ})
	}
	b.recursors = r
}

// recursorName is T.rec for a declared type T; the auxiliary types have T.rec_1, T.rec_2 … of the first type.
func (r *recursors) recursorName(i int) term.Name {
	of, last := r.families[0].name, "rec_"+strconv.Itoa(i-r.declared+1)
	if i < r.declared {
		of, last = r.families[i].name, "rec"
	}
	if n, ok := r.k.store.LookupStr(of, last); ok {
		if !slices.ContainsFunc(r.source.Recursors, func(rec term.Recursor) bool { return rec.Name == n }) {
			r.k.unused(n)
		}
		return n
	}
	return r.k.store.FreshName(last)
}

func (r *recursors) minor(family int, c *maker) term.Expr {
	s := r.k.store
	binders := c.fields[:len(c.fields):len(c.fields)]
	for _, f := range c.recursive {
		hypothesis := s.App(s.Apps(r.motives[f.family], f.indices), s.Apps(c.fields[f.field], f.xs))
		binders = append(binders, r.local(r.k.pis(f.xs, hypothesis)))
	}
	made := s.Apps(r.apply(c.name), c.fields)
	return r.k.pis(binders, s.App(s.Apps(r.motives[family], c.result), made))
}

// before are the parameters, motives and minor premises.
func (r *recursors) before() []term.Expr {
	var out []term.Expr
	return append(append(append(out, r.locals...), r.motives...), r.minors...)
}

func (r *recursors) recursorType(family int) term.Expr {
	f := r.families[family]
	t := r.local(r.k.store.Apps(r.apply(f.name), f.indices))
	binders := append(append(r.before(), f.indices...), t)
	return r.k.pis(binders, r.k.store.App(r.k.store.Apps(r.motives[family], f.indices), t))
}

func (r *recursors) rule(minor term.Expr, c *maker) term.Expr {
	s := r.k.store
	value := s.Apps(minor, c.fields)
	for _, f := range c.recursive {
		call := s.Apps(s.Apps(r.k.constant(r.names[f.family], r.levels...), r.before()), f.indices)
		value = s.App(value, r.k.lams(f.xs, s.App(call, s.Apps(c.fields[f.field], f.xs))))
	}
	return r.k.lams(append(r.before(), c.fields...), value)
}

// checkGenerated types what was generated with the ordinary rules, in an environment in which the recursors do not reduce:
// each recursor's type is a type, and each rule's sides have the same type under its variables. Then the recursors reduce.
func (b *block) checkGenerated() {
	k, r := b.k, b.recursors
	k.forget()
	for i, g := range r.made {
		sound := func(ok bool, what string) {
			if !ok {
				refuse(illTypedRecursor, "the recursor of %s %s", k.store.NameString(b.source.Types[0].Name), what)
			}
		}
		k.wellScoped(g.typ, g.params)
		k.check(g.typ)
		k.sortOf(g.typ, true)
		for j, rule := range g.info.rules {
			k.wellScoped(rule.value, g.params)
			k.check(rule.value)
			binders, right := b.open(rule.value, g.info.major()-g.info.numIndices+rule.numFields)
			params, fields := binders[:len(b.locals)], binders[len(binders)-rule.numFields:]
			made := k.store.Apps(k.constant(rule.constructor, b.levels...), params)
			if i >= b.declared {
				made = k.instantiate(k.abstract(b.families[i].constructors[j].original, b.locals), params)
			}
			made = k.store.Apps(made, fields)
			head, args := k.spine(k.whnf(k.check(made)))
			sound(k.store.IsConst(head, g.info.inductive) && len(args) >= g.info.numIndices, "has a rule for a constructor of another type")
			left := k.store.Apps(k.constant(g.name, r.levels...), binders[:len(binders)-rule.numFields])
			left = k.store.App(k.store.Apps(left, args[len(args)-g.info.numIndices:]), made)
			sound(k.equal(k.check(left), k.check(right)), "has a rule whose sides differ in type")
		}
	}
	for i := range r.made {
		g := &r.made[i]
		k.add(g.name, &constant{kind: recursor, params: g.params, typ: g.typ, recursor: &g.info})
	}
	k.forget()
}

// open replaces the first count variables that a function binds by free ones.
func (b *block) open(e term.Expr, count int) (binders []term.Expr, body term.Expr) {
	for range count {
		n := b.k.store.Node(e)
		binders = append(binders, b.local(b.k.instantiate(term.Expr(n.A), binders)))
		e = term.Expr(n.B)
	}
	return binders, b.k.instantiate(e, binders)
}

// keepGenerated removes the expressions with handles from count on, and builds those of the recursors anew: they are all
// that is needed later.
func (b *block) keepGenerated(count int) {
	s := b.k.store
	var roots []*term.Expr
	for _, g := range b.recursors.made {
		c := b.k.env[g.name]
		roots = append(roots, &c.typ)
		for i := range c.recursor.rules {
			roots = append(roots, &c.recursor.rules[i].value)
		}
	}
	nodes, numbers := map[term.Expr]term.Node{}, map[term.Expr]*big.Int{}
	for _, root := range roots {
		b.k.visit(*root, func(e term.Expr, n term.Node) bool {
			_, seen := nodes[e]
			if int(e) < count || seen {
				return false
			}
			if nodes[e] = n; n.Kind == term.KindNat {
				numbers[e] = s.NatValue(e)
			}
			return true
		})
	}
	s.Truncate(count)
	b.k.forget()
	anew := map[term.Expr]term.Expr{}
	at := func(handle uint32) term.Expr {
		if e, ok := anew[term.Expr(handle)]; ok {
			return e
		}
		return term.Expr(handle)
	}
	for _, e := range slices.Sorted(maps.Keys(nodes)) { // the parts of an expression have smaller handles
		switch n := nodes[e]; n.Kind {
		case term.KindBVar:
			anew[e] = s.BVar(n.A)
		case term.KindSort:
			anew[e] = s.Sort(term.Level(n.A))
		case term.KindConst:
			anew[e] = s.Const(term.Name(n.A), term.Levels(n.B))
		case term.KindApp:
			anew[e] = s.App(at(n.A), at(n.B))
		case term.KindLam:
			anew[e] = s.Lam(at(n.A), at(n.B))
		case term.KindPi:
			anew[e] = s.Pi(at(n.A), at(n.B))
		case term.KindLet:
			anew[e] = s.Let(at(n.A), at(n.B), at(n.C))
		case term.KindProj:
			anew[e] = s.Proj(term.Name(n.A), n.B, at(n.C))
		case term.KindNat:
			anew[e] = s.Nat(numbers[e])
		default: // neither a free variable nor a text that is not the file's
			panic(spent{reason: "a generated recursor cannot be kept"})
		}
	}
	for _, root := range roots {
		*root = at(uint32(*root))
	}
}

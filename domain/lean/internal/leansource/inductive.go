package leansource

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reckon/domain/lean/term"
)

// declaredType is an inductive type as declared.
type declaredType struct {
	name   term.Name
	params []term.Name // universe parameters
	typ    term.Expr
	count  int // parameters
	all    []term.Name
	ctors  []declaredCtor
	large  bool
}

type declaredCtor struct {
	name term.Name
	typ  term.Expr
}

// inductive parses one inductive type, or those up to end, and writes them with their recursors.
func (f *File) inductive(mutual bool) {
	var block []*declaredType
	if mutual {
		for f.accept("inductive") {
			block = append(block, f.inductiveType())
		}
		f.expect("end")
	} else {
		block = append(block, f.inductiveType())
	}
	f.DeclareInductive(block)
}

func (f *File) inductiveType() *declaredType {
	large := f.accept("large")
	dotted := f.token.text
	name, params := f.declaredName()
	types, leave := f.telescope()
	f.expect(":")
	t := &declaredType{name: name, params: params, typ: f.close(term.KindPi, types, f.expr()), count: len(types), large: large}
	for f.accept("|") {
		ctor := f.intern(dotted + "." + f.word())
		fields, leaveFields := f.telescope()
		f.expect(":")
		body := f.close(term.KindPi, fields, f.expr())
		leaveFields()
		t.ctors = append(t.ctors, declaredCtor{ctor, f.close(term.KindPi, types, body)})
	}
	leave()
	return t
}

// DeclareInductive writes a block. Where no recursor can be derived, because the block is wrong, none is written.
func (f *File) DeclareInductive(block []*declaredType) {
	var all []term.Name
	for _, t := range block {
		all = append(all, t.name)
	}
	for _, t := range block {
		t.all = all
		f.types[t.name] = t
	}
	d := &deriver{File: f, block: block, locals: 0}
	recursors := d.derive()
	for _, r := range recursors {
		f.recursors[r.Name] = r
	}
	var types, ctors, recs []string
	for i, t := range block {
		var names []term.Name
		for index, k := range t.ctors {
			names = append(names, k.name)
			ctors = append(ctors, fmt.Sprintf(`{"cidx":%d,"induct":%d,"isUnsafe":false,"levelParams":%s,"name":%d,"numFields":%d,"numParams":%d,"type":%d}`,
				index, f.name(t.name), f.nameList(t.params), f.name(k.name), f.arity(k.typ)-t.count, t.count, f.expression(k.typ)))
		}
		indices := f.arity(t.typ) - t.count
		types = append(types, fmt.Sprintf(`{"all":%s,"ctors":%s,"isRec":%v,"isReflexive":%v,"isUnsafe":false,"levelParams":%s,"name":%d,"numIndices":%d,"numNested":%d,"numParams":%d,"type":%d}`,
			f.nameList(all), f.nameList(names), d.recursive, d.reflexive, f.nameList(t.params), f.name(t.name), indices, max(0, len(d.types)-len(block)), t.count, f.expression(block[i].typ)))
	}
	for _, r := range recursors {
		var rules []string
		for _, rule := range r.Rules {
			rules = append(rules, fmt.Sprintf(`{"ctor":%d,"nfields":%d,"rhs":%d}`, f.name(rule.Constructor), rule.NumFields, f.expression(rule.Value)))
		}
		recs = append(recs, fmt.Sprintf(`{"all":%s,"isUnsafe":false,"k":%v,"levelParams":%s,"name":%d,"numIndices":%d,"numMinors":%d,"numMotives":%d,"numParams":%d,"rules":[%s],"type":%d}`,
			f.nameList(all), r.K, f.nameList(r.LevelParams), f.name(r.Name), r.NumIndices, r.NumMinors, r.NumMotives, r.NumParams, strings.Join(rules, ","), f.expression(r.Type)))
	}
	f.put(fmt.Sprintf(`{"inductive":{"ctors":[%s],"recs":[%s],"types":[%s]}}`, strings.Join(ctors, ","), strings.Join(recs, ","), strings.Join(types, ",")))
}

// Recursor is a recursor written before.
func (f *File) Recursor(name term.Name) term.Recursor { return f.recursors[name] }

func (f *File) arity(typ term.Expr) int {
	n := 0
	for ; f.Store.Kind(typ) == term.KindPi; typ = term.Expr(f.Store.Node(typ).B) {
		n++
	}
	return n
}

// deriver derives the recursors of a block (Lean's: parameters, motives, minor premises, indices, the value). Nested
// occurrences become types of the block for the time being.
type deriver struct {
	*File
	block     []*declaredType
	types     []*derivedType
	params    []term.Expr // free variables for the parameters
	locals    uint32
	recursive bool
	reflexive bool
	elim      term.Level
	levels    []term.Level
}

type derivedType struct {
	constant term.Expr // applied to the parameters
	nested   term.Expr // what an auxiliary type stands for, or 0
	indices  []term.Expr
	major    term.Expr
	motive   term.Expr
	ctors    []derivedCtor
	rec      term.Name
}

type derivedCtor struct {
	name  term.Name
	value term.Expr // applied to the parameters of its type
	body  term.Expr
	minor term.Expr
}

// annotations of types, with their number of arguments.
var annotations = map[string]int{"outParam": 1, "semiOutParam": 1, "optParam": 2, "autoParam": 2}

// noRecursor unwinds derive.
type noRecursor struct{}

// local is a new free variable. Lean takes annotations off the types of a recursor's binders.
func (d *deriver) local(typ term.Expr) term.Expr {
	for {
		head, args := d.Store.Spine(typ, nil)
		n := d.Store.Node(head)
		if n.Kind != term.KindConst || len(args) == 0 || len(args) != annotations[d.Store.NameString(term.Name(n.A))] {
			break
		}
		typ = args[0]
	}
	d.locals++
	return d.Store.Local(d.locals-1, typ)
}

func (d *deriver) derive() (recursors []term.Recursor) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(noRecursor); !ok {
				panic(p)
			}
			recursors = nil
		}
	}()
	d.openTypes()
	d.openConstructors()
	first := d.block[0]
	var params []term.Name
	if first.large || d.alwaysLarge() {
		u := d.Store.InternDotted("u")
		for i := 1; slices.Contains(first.params, u); i++ {
			u = d.Store.InternDotted("u_" + strconv.Itoa(i))
		}
		params = append(params, u)
		d.elim = d.Store.Param(u)
	}
	params = append(params, first.params...)
	return d.recursors(params)
}

// alwaysLarge says whether the types are in a universe that is never Prop.
func (d *deriver) alwaysLarge() bool {
	typ := d.block[0].typ
	for d.Store.Kind(typ) == term.KindPi {
		typ = term.Expr(d.Store.Node(typ).B)
	}
	n := d.Store.Node(typ)
	return n.Kind == term.KindSort && d.Store.LevelNode(term.Level(n.A)).Positive
}

func (d *deriver) openTypes() {
	s := d.Store
	for _, p := range d.block[0].params {
		d.levels = append(d.levels, s.Param(p))
	}
	typ := d.block[0].typ
	for range d.block[0].count {
		n := s.Node(typ)
		p := d.local(term.Expr(n.A))
		d.params = append(d.params, p)
		typ = s.Instantiate(term.Expr(n.B), []term.Expr{p})
	}
	for _, t := range d.block {
		dt := &derivedType{constant: s.Apps(s.Const(t.name, s.List(d.levels)), d.params), rec: s.NameStr(t.name, "rec")}
		d.openIndices(dt, d.withParams(t.typ, t.count, d.params))
		for _, k := range t.ctors {
			dt.ctors = append(dt.ctors, derivedCtor{name: k.name, value: s.Apps(s.Const(k.name, s.List(d.levels)), d.params),
				body: d.withParams(k.typ, t.count, d.params)})
		}
		d.types = append(d.types, dt)
	}
}

// withParams puts values into the first binders of a function type.
func (d *deriver) withParams(typ term.Expr, count int, values []term.Expr) term.Expr {
	for range count {
		n := d.Store.Node(typ)
		if n.Kind != term.KindPi {
			panic(noRecursor{})
		}
		typ = term.Expr(n.B)
	}
	return d.Store.Instantiate(typ, values)
}

func (d *deriver) openIndices(t *derivedType, typ term.Expr) {
	s := d.Store
	for s.Kind(typ) == term.KindPi {
		n := s.Node(typ)
		index := d.local(term.Expr(n.A))
		t.indices = append(t.indices, index)
		typ = s.Instantiate(term.Expr(n.B), []term.Expr{index})
	}
	if s.Kind(typ) != term.KindSort {
		panic(noRecursor{})
	}
}

func (d *deriver) openConstructors() {
	for i := 0; i < len(d.types); i++ {
		for j := range d.types[i].ctors {
			k := &d.types[i].ctors[j]
			k.body = d.Store.Replace(k.body, d.replaceNested)
			for typ := k.body; d.Store.Kind(typ) == term.KindPi; {
				n := d.Store.Node(typ)
				if d.mentions(term.Expr(n.A)) {
					d.recursive = true
					d.reflexive = d.reflexive || d.Store.Kind(term.Expr(n.A)) == term.KindPi
				}
				typ = term.Expr(n.B)
			}
		}
	}
}

// mentions says whether a type of the block occurs in e.
func (d *deriver) mentions(e term.Expr) bool {
	found := false
	d.Store.Replace(e, func(e term.Expr) (term.Expr, bool) {
		if n := d.Store.Node(e); n.Kind == term.KindConst {
			for _, t := range d.types {
				found = found || d.Store.IsConst(d.Store.Head(t.constant), term.Name(n.A))
			}
		}
		return e, found
	})
	return found
}

func (d *deriver) replaceNested(e term.Expr) (term.Expr, bool) {
	s := d.Store
	head, args := s.Spine(e, nil)
	n := s.Node(head)
	if n.Kind != term.KindConst {
		return 0, false
	}
	outer := d.File.types[term.Name(n.A)]
	if outer == nil || slices.Contains(d.block, outer) || len(args) < outer.count || !slices.ContainsFunc(args[:outer.count], d.mentions) {
		return 0, false
	}
	params := args[:outer.count]
	if slices.ContainsFunc(params, func(p term.Expr) bool { return s.Node(p).Loose > 0 }) {
		panic(noRecursor{})
	}
	application := s.Apps(head, params)
	for _, t := range d.types {
		if t.nested == application {
			return s.Apps(t.constant, args[len(params):]), true
		}
	}
	var result term.Expr
	levels := s.LevelsOf(term.Levels(n.B))
	for _, name := range outer.all {
		j := d.File.types[name]
		number := strconv.Itoa(len(d.types) - len(d.block) + 1)
		t := &derivedType{nested: s.Apps(s.Const(name, term.Levels(n.B)), params),
			constant: s.Const(s.FreshName("nested"), term.NoLevels), rec: s.NameStr(d.block[0].name, "rec_"+number)}
		if len(levels) != len(j.params) {
			panic(noRecursor{})
		}
		d.openIndices(t, d.withParams(s.InstantiateLevels(j.typ, j.params, levels), j.count, params))
		for _, k := range j.ctors {
			t.ctors = append(t.ctors, derivedCtor{name: k.name, value: s.Apps(s.Const(k.name, term.Levels(n.B)), params),
				body: d.withParams(s.InstantiateLevels(k.typ, j.params, levels), j.count, params)})
		}
		d.types = append(d.types, t)
		if name == outer.name {
			result = t.constant
		}
	}
	return s.Apps(result, args[len(params):]), true
}

// open makes the leading arguments of a type free variables.
func (d *deriver) open(typ term.Expr) (fields []term.Expr, rest term.Expr) {
	for d.Store.Kind(typ) == term.KindPi {
		n := d.Store.Node(typ)
		field := d.local(term.Expr(n.A))
		fields = append(fields, field)
		typ = d.Store.Instantiate(term.Expr(n.B), []term.Expr{field})
	}
	return fields, typ
}

// target is the type of the block that typ is an application of, with the indices.
func (d *deriver) target(typ term.Expr) (*derivedType, []term.Expr) {
	for _, t := range d.types {
		_, args := d.Store.Spine(typ, nil)
		if len(args) < len(t.indices) {
			continue
		}
		indices := args[len(args)-len(t.indices):]
		if d.Store.Apps(t.constant, indices) == typ {
			return t, indices
		}
	}
	return nil, nil
}

func (d *deriver) recursors(params []term.Name) []term.Recursor {
	s := d.Store
	var motives, minors []term.Expr
	for _, t := range d.types {
		t.major = d.local(s.Apps(t.constant, t.indices))
		t.motive = d.local(s.Pis(append(slices.Clone(t.indices), t.major), s.Sort(d.elim)))
		motives = append(motives, t.motive)
	}
	for _, t := range d.types {
		for i := range t.ctors {
			t.ctors[i].minor = d.minor(t, &t.ctors[i])
			minors = append(minors, t.ctors[i].minor)
		}
	}
	levels := make([]term.Level, len(params))
	for i, p := range params {
		levels[i] = s.Param(p)
	}
	before := slices.Concat(d.params, motives, minors)
	call := func(t *derivedType) term.Expr { return s.Apps(s.Const(t.rec, s.List(levels)), before) }
	var out []term.Recursor
	for _, t := range d.types {
		r := term.Recursor{Name: t.rec, LevelParams: params, NumParams: uint32(len(d.params)), NumIndices: uint32(len(t.indices)),
			NumMotives: uint32(len(motives)), NumMinors: uint32(len(minors)), K: d.isK()}
		arguments := append(slices.Clone(t.indices), t.major)
		r.Type = d.restore(s.Pis(slices.Concat(before, arguments), s.Apps(t.motive, arguments)))
		for i := range t.ctors {
			k := &t.ctors[i]
			saved := d.locals
			fields, _ := d.open(k.body)
			value := s.Apps(k.minor, fields)
			for _, field := range fields {
				arguments, u, indices := d.recursiveField(field)
				if u != nil {
					value = s.App(value, s.Lams(arguments, s.App(s.Apps(call(u), indices), s.Apps(field, arguments))))
				}
			}
			r.Rules = append(r.Rules, term.Rule{Constructor: k.name, NumFields: uint32(len(fields)),
				Value: d.restore(s.Lams(slices.Concat(before, fields), value))})
			d.locals = saved
		}
		out = append(out, r)
	}
	return out
}

// recursiveField says whether a field ends in a type of the block: for all arguments, u at indices.
func (d *deriver) recursiveField(field term.Expr) (arguments []term.Expr, u *derivedType, indices []term.Expr) {
	arguments, rest := d.open(term.Expr(d.Store.Node(field).B))
	u, indices = d.target(rest)
	return arguments, u, indices
}

// minor is a free variable for the premise of a constructor: for all fields and induction hypotheses, the motive.
func (d *deriver) minor(t *derivedType, k *derivedCtor) term.Expr {
	s := d.Store
	fields, rest := d.open(k.body)
	u, indices := d.target(rest)
	if u != t {
		panic(noRecursor{})
	}
	hypotheses := slices.Clone(fields)
	for _, field := range fields {
		arguments, v, at := d.recursiveField(field)
		if v != nil {
			hypotheses = append(hypotheses, d.local(s.Pis(arguments, s.App(s.Apps(v.motive, at), s.Apps(field, arguments)))))
		}
	}
	return d.local(s.Pis(hypotheses, s.App(s.Apps(t.motive, indices), s.Apps(k.value, fields))))
}

func (d *deriver) isK() bool {
	if len(d.types) != 1 || len(d.types[0].ctors) != 1 || d.Store.Kind(d.types[0].ctors[0].body) == term.KindPi {
		return false
	}
	typ := d.block[0].typ
	for d.Store.Kind(typ) == term.KindPi {
		typ = term.Expr(d.Store.Node(typ).B)
	}
	return typ == d.Store.Sort(term.Zero)
}

// restore puts what auxiliary types stand for back. Their parameters are bound by then: the first binders of e.
func (d *deriver) restore(e term.Expr) term.Expr {
	if len(d.types) == len(d.block) {
		return e
	}
	s := d.Store
	kind := s.Kind(e)
	var params []term.Expr
	for range d.params {
		n := s.Node(e)
		p := d.local(term.Expr(n.A))
		params = append(params, p)
		e = s.Instantiate(term.Expr(n.B), []term.Expr{p})
	}
	for more := true; more; { // what one stands for may mention another
		more = false
		e = s.Replace(e, func(e term.Expr) (term.Expr, bool) {
			for _, t := range d.types[len(d.block):] {
				if t.constant == e {
					more = true
					return s.Instantiate(s.Abstract(t.nested, d.params), params), true
				}
			}
			return 0, false
		})
	}
	if kind == term.KindLam {
		return s.Lams(params, e)
	}
	return s.Pis(params, e)
}

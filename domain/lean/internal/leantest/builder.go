package leantest

import (
	"fmt"
	"strings"
)

// Builder writes small exports for tests. Its methods return indices of the file.
type Builder struct {
	lines              []string
	names              map[string]int
	nextLevel, nextExp int
}

// NewBuilder starts a file, after the given lines if there are any. Indices of those lines stay below 100000.
func NewBuilder(start ...string) *Builder {
	b := &Builder{names: map[string]int{"": 0}, nextLevel: 100000, nextExp: 100000, lines: start}
	if len(start) == 0 {
		b.Line(`{"meta":{"format":{"version":"3.1.0"},"lean":{"version":"4.29.1","githash":""}}}`)
	}
	return b
}

// Line adds a line.
func (b *Builder) Line(format string, args ...any) {
	b.lines = append(b.lines, fmt.Sprintf(format, args...))
}

// Text is the file.
func (b *Builder) Text() string { return strings.Join(b.lines, "\n") + "\n" }

// Name is the index of a dotted name.
func (b *Builder) Name(dotted string) int {
	if i, ok := b.names[dotted]; ok {
		return i
	}
	prefix, last := "", dotted
	if i := strings.LastIndexByte(dotted, '.'); i >= 0 {
		prefix, last = dotted[:i], dotted[i+1:]
	}
	pre := b.Name(prefix)
	i := 100000 + len(b.names)
	b.names[dotted] = i
	b.Line(`{"in":%d,"str":{"pre":%d,"str":%q}}`, i, pre, last)
	return i
}

// ReuseName tells of a name that the lines the file started with define.
func (b *Builder) ReuseName(dotted string, index int) { b.names[dotted] = index }

func (b *Builder) level(format string, args ...any) int {
	b.nextLevel++
	b.Line(`{"il":%d,%s}`, b.nextLevel, fmt.Sprintf(format, args...))
	return b.nextLevel
}

// Succ, Max, IMax and Param are levels; 0 is zero.
func (b *Builder) Succ(l int) int        { return b.level(`"succ":%d`, l) }
func (b *Builder) Max(l, m int) int      { return b.level(`"max":[%d,%d]`, l, m) }
func (b *Builder) IMax(l, m int) int     { return b.level(`"imax":[%d,%d]`, l, m) }
func (b *Builder) Param(name string) int { return b.level(`"param":%d`, b.Name(name)) }

func (b *Builder) expr(format string, args ...any) int {
	b.nextExp++
	b.Line(`{"ie":%d,%s}`, b.nextExp, fmt.Sprintf(format, args...))
	return b.nextExp
}

// BVar, Sort, Const, App, Lam, Pi, Let, Proj, Nat and Str are expressions.
func (b *Builder) BVar(i int) int { return b.expr(`"bvar":%d`, i) }
func (b *Builder) Sort(l int) int { return b.expr(`"sort":%d`, l) }
func (b *Builder) Const(name string, levels ...int) int {
	return b.expr(`"const":{"name":%d,"us":%s}`, b.Name(name), list(levels))
}
func (b *Builder) App(f int, args ...int) int {
	for _, a := range args {
		f = b.expr(`"app":{"fn":%d,"arg":%d}`, f, a)
	}
	return f
}
func (b *Builder) Lam(name string, typ, body int) int {
	return b.expr(`"lam":{"name":%d,"type":%d,"body":%d,"binderInfo":"default"}`, b.Name(name), typ, body)
}
func (b *Builder) Pi(name string, typ, body int) int {
	return b.expr(`"forallE":{"name":%d,"type":%d,"body":%d,"binderInfo":"default"}`, b.Name(name), typ, body)
}
func (b *Builder) Let(name string, typ, value, body int) int {
	return b.expr(`"letE":{"name":%d,"type":%d,"value":%d,"body":%d,"nondep":false}`, b.Name(name), typ, value, body)
}
func (b *Builder) Proj(typ string, i, e int) int {
	return b.expr(`"proj":{"typeName":%d,"idx":%d,"struct":%d}`, b.Name(typ), i, e)
}
func (b *Builder) Nat(digits string) int { return b.expr(`"natVal":"%s"`, digits) }
func (b *Builder) Str(text string) int   { return b.expr(`"strVal":%q`, text) }

// Axiom, Def and Theorem declare a name without universe parameters, or with those given.
func (b *Builder) Axiom(name string, typ int, params ...string) {
	b.Line(`{"axiom":{"name":%d,"levelParams":%s,"type":%d,"isUnsafe":false}}`, b.Name(name), b.nameList(params), typ)
}
func (b *Builder) Def(name string, typ, value int, params ...string) {
	n := b.Name(name)
	b.Line(`{"def":{"name":%d,"levelParams":%s,"type":%d,"value":%d,"all":[%d],"hints":"abbrev","safety":"safe"}}`, n, b.nameList(params), typ, value, n)
}
func (b *Builder) Theorem(name string, typ, value int, params ...string) {
	n := b.Name(name)
	b.Line(`{"thm":{"name":%d,"levelParams":%s,"type":%d,"value":%d,"all":[%d]}}`, n, b.nameList(params), typ, value, n)
}

// RegularDef is Def with a regular height, so that arguments are compared before it is unfolded.
func (b *Builder) RegularDef(name string, typ, value int, params ...string) {
	n := b.Name(name)
	b.Line(`{"def":{"name":%d,"levelParams":%s,"type":%d,"value":%d,"all":[%d],"hints":{"regular":1},"safety":"safe"}}`, n, b.nameList(params), typ, value, n)
}

// Ctor is a constructor for Inductive.
type Ctor struct {
	Name   string
	Type   int
	Fields int
}

// Inductive declares one type without indices and without its recursor.
func (b *Builder) Inductive(name string, typ, params, nested int, isRec bool, ctors ...Ctor) {
	b.Types(Type{Name: name, Type: typ, Params: params, Nested: nested, Rec: isRec, Ctors: ctors})
}

// Type is an inductive type for Types.
type Type struct {
	Name                          string
	Type, Params, Indices, Nested int
	Rec, Reflexive                bool
	Levels                        []string
	Ctors                         []Ctor
}

// Types declares a block of inductive types without their recursors.
func (b *Builder) Types(types ...Type) {
	var all []int
	for _, t := range types {
		all = append(all, b.Name(t.Name))
	}
	var typeRecords, ctorRecords []string
	for _, t := range types {
		var names []int
		levels := b.nameList(t.Levels)
		for i, k := range t.Ctors {
			names = append(names, b.Name(k.Name))
			ctorRecords = append(ctorRecords, fmt.Sprintf(`{"name":%d,"levelParams":%s,"type":%d,"induct":%d,"cidx":%d,"numParams":%d,"numFields":%d,"isUnsafe":false}`,
				b.Name(k.Name), levels, k.Type, b.Name(t.Name), i, t.Params, k.Fields))
		}
		typeRecords = append(typeRecords, fmt.Sprintf(`{"name":%d,"levelParams":%s,"type":%d,"numParams":%d,"numIndices":%d,"all":%s,"ctors":%s,"numNested":%d,"isRec":%v,"isUnsafe":false,"isReflexive":%v}`,
			b.Name(t.Name), levels, t.Type, t.Params, t.Indices, list(all), list(names), t.Nested, t.Rec, t.Reflexive))
	}
	b.Line(`{"inductive":{"types":[%s],"ctors":[%s],"recs":[]}}`, strings.Join(typeRecords, ","), strings.Join(ctorRecords, ","))
}

func (b *Builder) nameList(names []string) string {
	var out []int
	for _, n := range names {
		out = append(out, b.Name(n))
	}
	return list(out)
}

func list(items []int) string {
	text := make([]string, len(items))
	for i, item := range items {
		text[i] = fmt.Sprint(item)
	}
	return "[" + strings.Join(text, ",") + "]"
}

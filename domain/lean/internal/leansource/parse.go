package leansource

import (
	"math/big"
	"slices"
	"strconv"

	"reckon/domain/lean/term"
)

// bound is what a word stands for where it occurs.
type bound struct {
	word   string
	depth  int       // binders around the place where it became known
	shared term.Expr // the expression, for share
	kind   boundKind
}

type boundKind uint8

const (
	variable boundKind = iota
	abbreviation
)

// expr parses an expression under f.depth binders.
func (f *File) expr() term.Expr {
	switch {
	case f.accept("fun"):
		return f.lambda()
	case f.accept("let"):
		name := f.word()
		f.expect(":")
		typ := f.expr()
		f.expect(":=")
		value := f.expr()
		f.expect(";")
		defer f.bind(name)()
		return f.Store.Let(typ, value, f.expr())
	case f.accept("share"):
		name := f.word()
		f.expect(":=")
		e := f.expr()
		f.expect(";")
		f.scope = append(f.scope, bound{word: name, depth: f.depth, shared: e, kind: abbreviation})
		defer func() { f.scope = f.scope[:len(f.scope)-1] }()
		return f.expr()
	case f.startsBinder():
		types, leave := f.binder()
		defer leave()
		f.expect("->")
		return f.close(term.KindPi, types, f.expr())
	}
	domain := f.application()
	if !f.accept("->") {
		return domain
	}
	defer f.bind("")()
	return f.Store.Pi(domain, f.expr())
}

func (f *File) lambda() term.Expr {
	var types []term.Expr
	for f.is("(") {
		more, leave := f.binder()
		defer leave()
		types = append(types, more...)
	}
	f.expect("=>")
	return f.close(term.KindLam, types, f.expr())
}

// close binds the given types, each under the ones before it.
func (f *File) close(kind term.Kind, types []term.Expr, body term.Expr) term.Expr {
	for _, typ := range slices.Backward(types) {
		if kind == term.KindLam {
			body = f.Store.Lam(typ, body)
		} else {
			body = f.Store.Pi(typ, body)
		}
	}
	return body
}

// startsBinder says whether (x y : comes next.
func (f *File) startsBinder() bool {
	if !f.is("(") {
		return false
	}
	saved, at := f.token, f.at
	defer func() { f.token, f.at = saved, at }()
	f.next()
	words := 0
	for f.token.kind == word {
		words++
		f.next()
	}
	return words > 0 && f.is(":")
}

// binder parses (x y : T) and binds its words until leave is called.
func (f *File) binder() (types []term.Expr, leave func()) {
	f.expect("(")
	var words []string
	for f.token.kind == word {
		words = append(words, f.word())
	}
	f.expect(":")
	typ := f.expr()
	f.expect(")")
	var leaves []func()
	for i, w := range words {
		types = append(types, f.lift(typ, i))
		leaves = append(leaves, f.bind(w))
	}
	return types, func() {
		for _, l := range slices.Backward(leaves) {
			l()
		}
	}
}

func (f *File) bind(name string) (leave func()) {
	f.scope = append(f.scope, bound{word: name, depth: f.depth})
	f.depth++
	return func() {
		f.depth--
		f.scope = f.scope[:len(f.scope)-1]
	}
}

func (f *File) application() term.Expr {
	e := f.atom()
	for f.startsAtom() {
		e = f.Store.App(e, f.atom())
	}
	return e
}

func (f *File) startsAtom() bool {
	switch f.token.kind {
	case word:
		return !keywords[f.token.text]
	case number, quoted:
		return true
	}
	return f.is("(") || f.is("#")
}

func (f *File) atom() term.Expr {
	t := f.token
	switch {
	case f.accept("("):
		e := f.expr()
		f.expect(")")
		return e
	case f.accept("#"):
		return f.Store.BVar(uint32(f.integer()))
	case t.kind == number:
		f.next()
		v, _ := new(big.Int).SetString(t.text, 10)
		return f.Store.Nat(v)
	case t.kind == quoted:
		f.next()
		return f.Store.Str(t.text)
	case f.accept("Prop"):
		return f.Store.Sort(term.Zero)
	case f.accept("Sort"):
		return f.Store.Sort(f.levelAtom())
	case f.accept("Type"):
		if f.token.kind == number || f.is("(") || slices.Contains(f.params, f.token.text) {
			return f.Store.Sort(f.Store.Succ(f.levelAtom()))
		}
		return f.Store.Sort(f.Store.Succ(term.Zero))
	case f.accept("proj"):
		name := f.word()
		index := f.integer()
		return f.Store.Proj(f.intern(name), uint32(index), f.atom())
	}
	name := f.word()
	if keywords[name] {
		f.fail("%s is no expression", name)
	}
	for _, b := range slices.Backward(f.scope) {
		if b.word != name {
			continue
		}
		if b.kind == abbreviation {
			return f.lift(b.shared, f.depth-b.depth)
		}
		return f.Store.BVar(uint32(f.depth - b.depth - 1))
	}
	return f.Store.Const(f.intern(name), f.levelArguments())
}

func (f *File) integer() int {
	n, err := strconv.Atoi(f.token.text)
	if err != nil {
		f.fail("expected a number")
	}
	f.next()
	return n
}

func (f *File) levelArguments() term.Levels {
	if !f.accept(".{") {
		return term.NoLevels
	}
	var levels []term.Level
	for !f.accept("}") {
		levels = append(levels, f.level())
		f.accept(",")
	}
	return f.Store.List(levels)
}

func (f *File) level() term.Level {
	var l term.Level
	switch {
	case f.accept("max"):
		a := f.levelAtom()
		l = f.Store.Max(a, f.levelAtom())
	case f.accept("imax"):
		a := f.levelAtom()
		l = f.Store.IMax(a, f.levelAtom())
	default:
		l = f.levelAtom()
	}
	for f.accept("+") {
		for range f.integer() {
			l = f.Store.Succ(l)
		}
	}
	return l
}

func (f *File) levelAtom() term.Level {
	if f.accept("(") {
		l := f.level()
		f.expect(")")
		return l
	}
	if f.token.kind == number {
		l := term.Zero
		for range f.integer() {
			l = f.Store.Succ(l)
		}
		return l
	}
	return f.Store.Param(f.intern(f.word()))
}

// lift raises the loose variables of e, for use under count more binders.
func (f *File) lift(e term.Expr, count int) term.Expr {
	if count == 0 || f.Store.Node(e).Loose == 0 {
		return e
	}
	done := map[[2]uint32]term.Expr{}
	var walk func(e term.Expr, depth uint32) term.Expr
	walk = func(e term.Expr, depth uint32) term.Expr {
		n := f.Store.Node(e)
		if n.Loose <= depth {
			return e
		}
		key := [2]uint32{uint32(e), depth}
		if r, ok := done[key]; ok {
			return r
		}
		a, b, c := term.Expr(n.A), term.Expr(n.B), term.Expr(n.C)
		var r term.Expr
		switch n.Kind {
		case term.KindBVar:
			r = f.Store.BVar(n.A + uint32(count))
		case term.KindApp:
			r = f.Store.App(walk(a, depth), walk(b, depth))
		case term.KindLam:
			r = f.Store.Lam(walk(a, depth), walk(b, depth+1))
		case term.KindPi:
			r = f.Store.Pi(walk(a, depth), walk(b, depth+1))
		case term.KindLet:
			r = f.Store.Let(walk(a, depth), walk(b, depth), walk(c, depth+1))
		case term.KindProj:
			r = f.Store.Proj(term.Name(n.A), n.B, walk(c, depth))
		}
		done[key] = r
		return r
	}
	return walk(e, 0)
}

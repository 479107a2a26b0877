package leantest

import (
	"fmt"
	"strconv"
	"strings"
)

// Term writes an expression given as text and returns its index:
//
//	(lam x T b)  (pi x T b)  (f a b …)  x  Name  Name@1  Name@u  Sort@1  123
//
// Names bound outside are variables, others constants; @ gives universes, separated by commas, numbers or parameters.
func (b *Builder) Term(text string) int {
	p := &termParser{builder: b, tokens: strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text))}
	e := p.term()
	if len(p.tokens) > 0 {
		panic("something follows the term: " + strings.Join(p.tokens, " "))
	}
	return e
}

type termParser struct {
	builder *Builder
	tokens  []string
	bound   []string
}

func (p *termParser) next() string {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *termParser) term() int {
	t := p.next()
	if t != "(" {
		return p.atom(t)
	}
	if binder := p.tokens[0]; binder == "lam" || binder == "pi" {
		p.next()
		name := p.next()
		typ := p.term()
		p.bound = append(p.bound, name)
		body := p.term()
		p.bound = p.bound[:len(p.bound)-1]
		p.close()
		if binder == "lam" {
			return p.builder.Lam(name, typ, body)
		}
		return p.builder.Pi(name, typ, body)
	}
	e := p.term()
	for p.tokens[0] != ")" {
		e = p.builder.App(e, p.term())
	}
	p.close()
	return e
}

func (p *termParser) close() {
	if t := p.next(); t != ")" {
		panic(fmt.Sprintf("%q where ) is expected", t))
	}
}

func (p *termParser) atom(t string) int {
	for i := len(p.bound) - 1; i >= 0; i-- {
		if p.bound[i] == t {
			return p.builder.BVar(len(p.bound) - 1 - i)
		}
	}
	if t[0] >= '0' && t[0] <= '9' {
		return p.builder.Nat(t)
	}
	name, universes, _ := strings.Cut(t, "@")
	var levels []int
	for u := range strings.SplitSeq(universes, ",") {
		if u != "" {
			levels = append(levels, p.level(u))
		}
	}
	if name == "Sort" {
		return p.builder.Sort(levels[0])
	}
	return p.builder.Const(name, levels...)
}

func (p *termParser) level(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return p.builder.Param(text)
	}
	l := 0
	for range n {
		l = p.builder.Succ(l)
	}
	return l
}

// Arithmetic declares Bool, Nat and Eq with their recursors, and Nat.add, Nat.pred, Nat.sub, Nat.mul, Nat.pow, Nat.beq and
// Nat.ble
// by recursion.
func (b *Builder) Arithmetic() {
	b.enumeration("Bool", []string{"Bool.false", "Bool.true"}, []string{"Bool", "Bool"}, []int{0, 0},
		"(pi m (pi t Bool Sort@u) (pi f (m Bool.false) (pi g (m Bool.true) (pi t Bool (m t)))))",
		[]string{"(lam m (pi t Bool Sort@u) (lam f (m Bool.false) (lam g (m Bool.true) f)))",
			"(lam m (pi t Bool Sort@u) (lam f (m Bool.false) (lam g (m Bool.true) g)))"})
	step := "(pi n Nat (pi ih (m n) (m (Nat.succ n))))"
	b.enumeration("Nat", []string{"Nat.zero", "Nat.succ"}, []string{"Nat", "(pi n Nat Nat)"}, []int{0, 1},
		"(pi m (pi t Nat Sort@u) (pi z (m Nat.zero) (pi s "+step+" (pi t Nat (m t)))))",
		[]string{"(lam m (pi t Nat Sort@u) (lam z (m Nat.zero) (lam s " + step + " z)))",
			"(lam m (pi t Nat Sort@u) (lam z (m Nat.zero) (lam s " + step + " (lam n Nat (s n (Nat.rec@u m z s n))))))"})
	b.Axiom("Eq", b.Term("(pi T Sort@u (pi a T (pi b T Sort@0)))"), "u")
	b.Axiom("Eq.refl", b.Term("(pi T Sort@u (pi a T (Eq@u T a a)))"), "u")
	rec := "(Nat.rec@1 (lam _ Nat Nat) "
	binary := "(pi x Nat (pi y Nat Nat))"
	define := func(name, typ, body string) { b.Unfold(name, b.Term(typ), b.Term(body)) }
	define("Nat.add", binary, "(lam x Nat (lam y Nat "+rec+"x (lam n Nat (lam ih Nat (Nat.succ ih))) y)))")
	define("Nat.pred", "(pi x Nat Nat)", "(lam x Nat "+rec+"Nat.zero (lam n Nat (lam ih Nat n)) x))")
	define("Nat.sub", binary, "(lam x Nat (lam y Nat "+rec+"x (lam n Nat (lam ih Nat (Nat.pred ih))) y)))")
	define("Nat.mul", binary, "(lam x Nat (lam y Nat "+rec+"Nat.zero (lam n Nat (lam ih Nat (Nat.add ih x))) y)))")
	define("Nat.pow", binary, "(lam x Nat (lam y Nat "+rec+"(Nat.succ Nat.zero) (lam n Nat (lam ih Nat (Nat.mul ih x))) y)))")
	compare := func(name, zero, positive, smaller string) {
		test := func(z, s string) string {
			return "(Nat.rec@1 (lam _ Nat Bool) " + z + " (lam m Nat (lam _ Bool " + s + ")) y)"
		}
		define(name, "(pi x Nat (pi y Nat Bool))", "(lam x Nat (Nat.rec@1 (lam _ Nat (pi y Nat Bool)) (lam y Nat "+test(zero, positive)+
			") (lam n Nat (lam ih (pi y Nat Bool) (lam y Nat "+test(smaller, "(ih m)")+"))) x))")
	}
	compare("Nat.beq", "Bool.true", "Bool.false", "Bool.false")
	compare("Nat.ble", "Bool.true", "Bool.true", "Bool.false")
}

// enumeration declares a type without parameters and indices, with its recursor.
func (b *Builder) enumeration(name string, ctors, types []string, fields []int, recType string, rules []string) {
	typ := b.Sort(b.Succ(0))
	levels := b.nameList([]string{"u"})
	var names []int
	var ctorRecords, ruleRecords []string
	for i, ctor := range ctors {
		names = append(names, b.Name(ctor))
		ctorRecords = append(ctorRecords, fmt.Sprintf(`{"name":%d,"levelParams":[],"type":%d,"induct":%d,"cidx":%d,"numParams":0,"numFields":%d,"isUnsafe":false}`,
			b.Name(ctor), b.Term(types[i]), b.Name(name), i, fields[i]))
		ruleRecords = append(ruleRecords, fmt.Sprintf(`{"ctor":%d,"nfields":%d,"rhs":%d}`, b.Name(ctor), fields[i], b.Term(rules[i])))
	}
	isRec := name == "Nat"
	all := list([]int{b.Name(name)})
	rec := fmt.Sprintf(`{"name":%d,"levelParams":%s,"type":%d,"all":%s,"numParams":0,"numIndices":0,"numMotives":1,"numMinors":%d,"rules":[%s],"k":false,"isUnsafe":false}`,
		b.Name(name+".rec"), levels, b.Term(recType), all, len(ctors), strings.Join(ruleRecords, ","))
	b.Line(`{"inductive":{"types":[{"name":%d,"levelParams":[],"type":%d,"numParams":0,"numIndices":0,"all":%s,"ctors":%s,"numNested":0,"isRec":%v,"isUnsafe":false,"isReflexive":false}],"ctors":[%s],"recs":[%s]}}`,
		b.Name(name), typ, all, list(names), isRec, strings.Join(ctorRecords, ","), rec)
}

// Predicate declares an inductive proposition over the universe u with one index, two parameters and one constructor
// with the given number of fields, and its recursor, which eliminates into the universe w.
func (b *Builder) Predicate(name string, typ int, ctor string, ctorType, fields, recType, rule int) {
	n, k, levels, all := b.Name(name), b.Name(ctor), b.nameList([]string{"u"}), list([]int{b.Name(name)})
	b.Line(`{"inductive":{"types":[{"name":%d,"levelParams":%s,"type":%d,"numParams":2,"numIndices":1,"all":%s,"ctors":%s,"numNested":0,"isRec":true,"isUnsafe":false,"isReflexive":true}],`+
		`"ctors":[{"name":%d,"levelParams":%s,"type":%d,"induct":%d,"cidx":0,"numParams":2,"numFields":%d,"isUnsafe":false}],`+
		`"recs":[{"name":%d,"levelParams":%s,"type":%d,"all":%s,"numParams":2,"numIndices":1,"numMotives":1,"numMinors":1,"rules":[{"ctor":%d,"nfields":%d,"rhs":%d}],"k":false,"isUnsafe":false}]}}`,
		n, levels, typ, all, list([]int{k}), k, levels, ctorType, n, fields, b.Name(name+".rec"), b.nameList([]string{"w", "u"}), recType, all, k, fields, rule)
}

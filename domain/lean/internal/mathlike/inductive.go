package main

import (
	"fmt"
	"strings"

	"reckon/domain/lean/term"
)

// field is what a constructor takes: a number, or a value of type number index, alone, in a list, in an option, or for
// every number.
type field struct {
	shape fieldShape
	index int
}

type fieldShape int

const (
	numberField fieldShape = iota
	direct
	inList
	inOption
	function
)

// inductive is a module of mutual types with nested occurrences, a size function for each by recursion over all of them,
// sizes of closed values by evaluation, and vectors with a theorem by induction.
func (g *generator) inductive(name string) string {
	count := 2 + g.Intn(3)
	types := make([][][]field, count)
	var b strings.Builder
	b.WriteString("mutual\n")
	for i := range types {
		fmt.Fprintf(&b, "inductive %s.T%d : Type\n", name, i)
		for j := range 3 + g.Intn(4) {
			var fields []field
			if j == 0 {
				fields = []field{{numberField, 0}}
			} else {
				for range 1 + g.Intn(3) {
					fields = append(fields, field{fieldShape(g.Intn(5)), g.Intn(count)})
				}
			}
			types[i] = append(types[i], fields)
			fmt.Fprintf(&b, "| c%d", j)
			for k, f := range fields {
				fmt.Fprintf(&b, " (x%d : %s)", k, f.typ(name))
			}
			fmt.Fprintf(&b, " : %s.T%d\n", name, i)
		}
	}
	b.WriteString("end\n")
	if err := g.file.Add(b.String()); err != nil {
		panic(err) // the text above is wrong
	}
	b.Reset()
	for i := range types {
		g.size(fmt.Sprintf("%s.T%d", name, i))
	}
	for i := range 16 {
		t := g.Intn(count)
		value, size := g.value(name, types, t, 4)
		fmt.Fprintf(&b, "theorem %s.size%d : Eq.{1} Nat (%s.T%d.size %s) %d := Eq.refl.{1} Nat %d\n", name, i, name, t, value, size, size)
	}
	b.WriteString(strings.ReplaceAll(vectorText, "Vec", name+".Vec"))
	return b.String()
}

func (f field) typ(name string) string {
	t := fmt.Sprintf("%s.T%d", name, f.index)
	return map[fieldShape]string{numberField: "Nat", direct: t, inList: "List.{0} " + t, inOption: "Option.{0} " + t, function: "Nat -> " + t}[f.shape]
}

// value is a closed value of type t, and its size: one for each constructor that is not below a function.
func (g *generator) value(name string, types [][][]field, t, depth int) (string, int) {
	index := 0
	if depth > 0 {
		index = g.Intn(len(types[t]))
	}
	text, size := fmt.Sprintf("(%s.T%d.c%d", name, t, index), 1
	for _, f := range types[t][index] {
		typ := fmt.Sprintf("%s.T%d", name, f.index)
		switch f.shape {
		case numberField:
			text += fmt.Sprint(" ", g.Intn(1000))
		case direct:
			v, s := g.value(name, types, f.index, depth-1)
			text, size = text+" "+v, size+s
		case inList:
			list := fmt.Sprintf("(List.nil.{0} %s)", typ)
			size++
			for range g.Intn(4) {
				v, s := g.value(name, types, f.index, depth-1)
				list, size = fmt.Sprintf("(List.cons.{0} %s %s %s)", typ, v, list), size+s+1
			}
			text += " " + list
		case inOption:
			size++
			if depth <= 0 || g.Intn(2) == 0 {
				text += fmt.Sprintf(" (Option.none.{0} %s)", typ)
				continue
			}
			v, s := g.value(name, types, f.index, depth-1)
			text, size = text+fmt.Sprintf(" (Option.some.{0} %s %s)", typ, v), size+s
		case function:
			v, _ := g.value(name, types, f.index, depth-2)
			text += fmt.Sprintf(" (fun (n : Nat) => %s)", v)
		}
	}
	return text + ")", size
}

// size declares T.size by recursion over the block of T, and that it is never zero.
func (g *generator) size(typ string) {
	s := g.file.Store
	name := s.InternDotted(typ)
	r := g.file.Recursor(s.NameStr(name, "rec"))
	nat, target := s.Const(s.InternDotted("Nat"), term.NoLevels), s.Const(name, term.NoLevels)
	one := s.Succ(term.Zero)
	value := g.recurse(r, one, func(term.Expr) term.Expr { return nat }, func(hypotheses []term.Expr) term.Expr {
		sum := s.Const(s.InternDotted("Nat.zero"), term.NoLevels)
		for _, h := range hypotheses {
			sum = s.Apps(s.Const(s.InternDotted("Nat.add"), term.NoLevels), []term.Expr{sum, h})
		}
		return s.App(s.Const(s.InternDotted("Nat.succ"), term.NoLevels), sum)
	})
	g.file.Definition(s.NameStr(name, "size"), nil, s.Pi(target, nat), value)
	size := s.Const(s.NameStr(name, "size"), term.NoLevels)

	// The other types of the block have no size by name here: their motive is that zero is zero.
	boolean := s.Const(s.InternDotted("Bool"), term.NoLevels)
	equal := func(a, b term.Expr) term.Expr {
		return s.Apps(s.Const(s.InternDotted("Eq"), s.List([]term.Level{one})), []term.Expr{boolean, a, b})
	}
	no := s.Const(s.InternDotted("Bool.false"), term.NoLevels)
	isZero := func(e term.Expr) term.Expr {
		return s.Apps(s.Const(s.InternDotted("Nat.beq"), term.NoLevels), []term.Expr{e, s.Const(s.InternDotted("Nat.zero"), term.NoLevels)})
	}
	reflexive := s.Apps(s.Const(s.InternDotted("Eq.refl"), s.List([]term.Level{one})), []term.Expr{boolean, no})
	proof := g.recurse(r, term.Zero, func(major term.Expr) term.Expr {
		if major == target {
			return equal(isZero(s.App(size, s.BVar(0))), no)
		}
		return equal(no, no)
	}, func([]term.Expr) term.Expr { return reflexive })
	g.file.Theorem(s.NameStr(name, "size_pos"), nil, s.Pi(target, equal(isZero(s.App(size, s.BVar(0))), no)), proof)
}

// recurse applies the recursor of a block without parameters and indices. The motive is given for the type of the value,
// under the value; a premise for the induction hypotheses.
func (g *generator) recurse(r term.Recursor, level term.Level, motive func(major term.Expr) term.Expr, premise func([]term.Expr) term.Expr) term.Expr {
	s := g.file.Store
	typ := s.InstantiateLevels(r.Type, r.LevelParams, []term.Level{level})
	result := s.Const(r.Name, s.List([]term.Level{level}))
	for range r.NumMotives {
		n := s.Node(typ)
		major := term.Expr(s.Node(term.Expr(n.A)).A)
		m := s.Lam(major, motive(major))
		result, typ = s.App(result, m), s.Instantiate(term.Expr(n.B), []term.Expr{m})
	}
	for range r.NumMinors {
		n := s.Node(typ)
		var domains, hypotheses []term.Expr
		at := term.Expr(n.A)
		for s.Kind(at) == term.KindPi {
			domains = append(domains, term.Expr(s.Node(at).A))
			at = term.Expr(s.Node(at).B)
		}
		for i, d := range domains {
			if s.Kind(s.Head(d)) == term.KindLam { // a motive, applied
				hypotheses = append(hypotheses, s.BVar(uint32(len(domains)-1-i)))
			}
		}
		value := premise(hypotheses)
		for i := len(domains) - 1; i >= 0; i-- {
			value = s.Lam(domains[i], value)
		}
		result, typ = s.App(result, value), s.Instantiate(term.Expr(n.B), []term.Expr{value})
	}
	return result
}

const vectorText = `
inductive Vec.{u} (α : Type u) : Nat -> Type u
| nil : Vec.{u} α Nat.zero
| cons (head : α) (n : Nat) (tail : Vec.{u} α n) : Vec.{u} α (Nat.succ n)
def Vec.map.{u, v} (α : Type u) (β : Type v) (f : α -> β) (n : Nat) (x : Vec.{u} α n) : Vec.{v} β n :=
  Vec.rec.{v+1, u} α (fun (n : Nat) (x : Vec.{u} α n) => Vec.{v} β n) (Vec.nil.{v} β)
    (fun (h : α) (n : Nat) (t : Vec.{u} α n) (ih : Vec.{v} β n) => Vec.cons.{v} β (f h) n ih) n x
theorem Vec.map_id.{u} (α : Type u) (n : Nat) (x : Vec.{u} α n) : Eq.{u+1} (Vec.{u} α n) (Vec.map.{u, u} α α (fun (a : α) => a) n x) x :=
  Vec.rec.{0, u} α (fun (n : Nat) (x : Vec.{u} α n) => Eq.{u+1} (Vec.{u} α n) (Vec.map.{u, u} α α (fun (a : α) => a) n x) x)
    (Eq.refl.{u+1} (Vec.{u} α Nat.zero) (Vec.nil.{u} α))
    (fun (h : α) (n : Nat) (t : Vec.{u} α n) (ih : Eq.{u+1} (Vec.{u} α n) (Vec.map.{u, u} α α (fun (a : α) => a) n t) t) =>
      congrArg.{u+1, u+1} (Vec.{u} α n) (Vec.{u} α (Nat.succ n)) (Vec.map.{u, u} α α (fun (a : α) => a) n t) t (Vec.cons.{u} α h n) ih) n x
theorem Vec.map_map.{u} (α β γ : Type u) (f : α -> β) (g : β -> γ) (n : Nat) (x : Vec.{u} α n) :
    Eq.{u+1} (Vec.{u} γ n) (Vec.map.{u, u} β γ g n (Vec.map.{u, u} α β f n x)) (Vec.map.{u, u} α γ (Function.comp.{u+1, u+1, u+1} α β γ g f) n x) :=
  Vec.rec.{0, u} α (fun (n : Nat) (x : Vec.{u} α n) =>
      Eq.{u+1} (Vec.{u} γ n) (Vec.map.{u, u} β γ g n (Vec.map.{u, u} α β f n x)) (Vec.map.{u, u} α γ (Function.comp.{u+1, u+1, u+1} α β γ g f) n x))
    (Eq.refl.{u+1} (Vec.{u} γ Nat.zero) (Vec.nil.{u} γ))
    (fun (h : α) (n : Nat) (t : Vec.{u} α n) (ih : Eq.{u+1} (Vec.{u} γ n) (Vec.map.{u, u} β γ g n (Vec.map.{u, u} α β f n t))
        (Vec.map.{u, u} α γ (Function.comp.{u+1, u+1, u+1} α β γ g f) n t)) =>
      congrArg.{u+1, u+1} (Vec.{u} γ n) (Vec.{u} γ (Nat.succ n)) (Vec.map.{u, u} β γ g n (Vec.map.{u, u} α β f n t))
        (Vec.map.{u, u} α γ (Function.comp.{u+1, u+1, u+1} α β γ g f) n t) (Vec.cons.{u} γ (g (f h)) n) ih) n x
`

package main

import (
	"fmt"
	"strings"
)

// numeral is a number as Lean elaborates one; plus and times are its operations.
func numeral(n int) string { return fmt.Sprintf("(OfNat.ofNat.{0} Nat %d (instOfNatNat %d))", n, n) }
func plus(a, b string) string {
	return fmt.Sprintf("(HAdd.hAdd.{0, 0, 0} Nat Nat Nat (instHAdd.{0} Nat instAddNat) %s %s)", a, b)
}
func times(a, b string) string {
	return fmt.Sprintf("(HMul.hMul.{0, 0, 0} Nat Nat Nat (instHMul.{0} Nat instMulNat) %s %s)", a, b)
}

// arithmetic is a closed term and its value.
func (g *generator) arithmetic(depth int) (string, int) {
	if depth == 0 || g.Intn(5) == 0 {
		n := g.Intn(1 << (1 + g.Intn(12)))
		return numeral(n), n
	}
	a, x := g.arithmetic(depth - 1)
	b, y := g.arithmetic(depth - 1)
	if g.Intn(3) > 0 || x > 1<<24 || y > 1<<24 {
		return plus(a, b), x + y
	}
	return times(a, b), x * y
}

// proposition is a closed proposition, its Decidable instance and whether it holds.
func (g *generator) proposition(depth int) (text, instance string, holds bool) {
	if depth > 0 {
		p, d, x := g.proposition(depth - 1)
		q, e, y := g.proposition(depth - 1)
		switch g.Intn(5) {
		case 0, 1:
			return fmt.Sprintf("(And %s %s)", p, q), fmt.Sprintf("(instDecidableAnd %s %s %s %s)", p, q, d, e), x && y
		case 2, 3:
			return fmt.Sprintf("(Or %s %s)", p, q), fmt.Sprintf("(instDecidableOr %s %s %s %s)", p, q, d, e), x || y
		default:
			return fmt.Sprintf("(Not %s)", p), fmt.Sprintf("(instDecidableNot %s %s)", p, d), !x
		}
	}
	a, x := g.arithmetic(3)
	b, y := g.arithmetic(3)
	switch g.Intn(3) {
	case 0:
		return fmt.Sprintf("(Eq.{1} Nat %s %s)", a, b), fmt.Sprintf("(instDecidableEqNat %s %s)", a, b), x == y
	case 1:
		return fmt.Sprintf("(LT.lt.{0} Nat instLTNat %s %s)", a, b), fmt.Sprintf("(Nat.decLt %s %s)", a, b), x < y
	default:
		return fmt.Sprintf("(LE.le.{0} Nat instLENat %s %s)", a, b), fmt.Sprintf("(Nat.decLe %s %s)", a, b), x <= y
	}
}

// decide is a module of propositions proved by evaluating their Decidable instances, and of literals.
func (g *generator) decide(name string) string {
	var b strings.Builder
	theorem := func(i int, kind, p, d string) {
		fmt.Fprintf(&b, "theorem %s.%s%d : %s := share p := %s; share d := %s; of_decide_eq_true p d (Eq.refl.{1} Bool Bool.true)\n", name, kind, i, p, p, d)
	}
	for i := range 20 {
		p, d, holds := g.proposition(1 + g.Intn(3))
		if !holds {
			p, d = "(Not "+p+")", fmt.Sprintf("(instDecidableNot %s %s)", p, d)
		}
		theorem(i, "decided", p, d)
	}
	for i := range 4 {
		bound, factor, offset := 5+g.Intn(20), g.Intn(30), g.Intn(40)
		holds := true
		for x := range bound {
			holds = holds && x*x <= factor*x+offset
		}
		left, right := times("x", "x"), plus(times(numeral(factor), "x"), numeral(offset))
		p := fmt.Sprintf("((x : Nat) -> Nat.lt x %d -> LE.le.{0} Nat instLENat %s %s)", bound, left, right)
		d := fmt.Sprintf("(decideBelow %d (fun (x : Nat) => LE.le.{0} Nat instLENat %s %s) (fun (x : Nat) => Nat.decLe %s %s))", bound, left, right, left, right)
		if !holds {
			p, d = "(Not "+p+")", fmt.Sprintf("(instDecidableNot %s %s)", p, d)
		}
		theorem(i, "below", p, d)
	}
	for i := range 3 {
		text := g.text()
		fmt.Fprintf(&b, "def %s.text%d : String := %q\n", name, i, text)
		theorem(i, "string", fmt.Sprintf("(Eq.{1} String %s.text%d %q)", name, i, text), fmt.Sprintf("(String.decEq %s.text%d %q)", name, i, text))
		fmt.Fprintf(&b, "theorem %s.list%d : Eq.{1} String %s.text%d (String.ofList", name, i, name, i)
		list := "(List.nil.{0} Char)"
		characters := []rune(text)
		for j := len(characters) - 1; j >= 0; j-- {
			list = fmt.Sprintf("(List.cons.{0} Char (Char.ofNat %d) %s)", characters[j], list)
		}
		fmt.Fprintf(&b, " %s) := Eq.refl.{1} String %s.text%d\n", list, name, i)
	}
	return b.String()
}

func (g *generator) text() string {
	out := make([]rune, 1+g.Intn(8))
	for i := range out {
		out[i] = []rune("abcdefghijklmnopqrstuvwxyz ,.0123456789αβγ→∀∃ℕ𝔸")[g.Intn(47)]
	}
	return string(out)
}

// reflect is a module of equations between sums, proved by computing a normal form of each side.
func (g *generator) reflect(name string) string {
	var b strings.Builder
	for i := range 12 {
		variables := 3 + g.Intn(8)
		leaves := make([]int, 6+g.Intn(20))
		for j := range leaves {
			leaves[j] = g.Intn(variables)
		}
		shuffled := make([]int, len(leaves))
		for j, k := range g.Perm(len(leaves)) {
			shuffled[j] = leaves[k]
		}
		left, leftCode := g.sum(leaves)
		right, rightCode := g.sum(shuffled)
		list, binders := "(List.nil.{0} Nat)", ""
		for v := variables - 1; v >= 0; v-- {
			list = fmt.Sprintf("(List.cons.{0} Nat v%d %s)", v, list)
			binders = fmt.Sprintf("v%d ", v) + binders
		}
		fmt.Fprintf(&b, "theorem %s.sum%d (%s: Nat) : Eq.{1} Nat %s %s :=\n  share e := %s; Sum.sound (Sum.context %s) e %s (Eq.refl.{1} (List.{0} Nat) (Sum.flat e (List.nil.{0} Nat)))\n",
			name, i, binders, left, right, leftCode, list, rightCode)
	}
	return b.String()
}

// sum brackets variables at random, as a sum of numbers and as data.
func (g *generator) sum(leaves []int) (text, code string) {
	if len(leaves) == 1 {
		return fmt.Sprint("v", leaves[0]), fmt.Sprintf("(Sum.var %d)", leaves[0])
	}
	at := 1 + g.Intn(len(leaves)-1)
	a, x := g.sum(leaves[:at])
	b, y := g.sum(leaves[at:])
	return plus(a, b), fmt.Sprintf("(Sum.add %s %s)", x, y)
}

// recursion is a module of functions by well-founded recursion with their equations and values, and of functions by
// structural recursion as Lean compiles it.
func (g *generator) recursion(name string) string {
	var b strings.Builder
	constant := "(fun (n : Nat) => Nat)"
	for i := range 6 {
		down, factor, base := 1+g.Intn(3), g.Intn(5), g.Intn(9)
		step := fmt.Sprintf(`(fun (x : Nat) (f : (y : Nat) -> Nat.lt y x -> Nat) => dite.{1} Nat (Nat.lt 0 x) (Nat.decLt 0 x)
    (fun (h : Nat.lt 0 x) => Nat.add (Nat.mul %d x) (f (Nat.sub x %d) (Nat.sub_lt x %d h (Nat.zero_lt_succ %d)))) (fun (h : Not (Nat.lt 0 x)) => %d))`,
			factor, down, down, down-1, base)
		f := fmt.Sprintf("%s.wf%d", name, i)
		fmt.Fprintf(&b, "irreducible %s (x : Nat) : Nat := WellFounded.fix.{1, 1} Nat %s Nat.lt Nat.lt_wf %s x\n", f, constant, step)
		fmt.Fprintf(&b, "theorem %s_eq (x : Nat) : Eq.{1} Nat (%s x) (%s x (fun (y : Nat) (h : Nat.lt y x) => %s y)) :=\n  WellFounded.fix_eq.{1, 1} Nat %s Nat.lt Nat.lt_wf %s x\n",
			f, f, step, f, constant, step)
		n := 1 + g.Intn(6)
		value := base
		for x := n; x > 0; x -= down {
			value += factor * x
		}
		fmt.Fprintf(&b, "theorem %s_value : Eq.{1} Nat (%s %d) %d := Eq.refl.{1} Nat %d\n", f, f, n, value, value)
	}
	for i := range 6 {
		factor, offset, base, n := 1+g.Intn(3), g.Intn(10), g.Intn(10), 1+g.Intn(12)
		f := fmt.Sprintf("%s.structural%d", name, i)
		below := func(n string) string { return fmt.Sprintf("Nat.below.{1} %s %s", constant, n) }
		fmt.Fprintf(&b, `def %s (n : Nat) : Nat := Nat.brecOn.{1} %s n (fun (n : Nat) (b : %s) =>
  Nat.casesOn.{1} (fun (n : Nat) => %s -> Nat) n (fun (b : %s) => %d) (fun (n : Nat) (b : %s) => Nat.add (Nat.mul %d (proj PProd 0 b)) %d) b)
`, f, constant, below("n"), below("n"), below("Nat.zero"), base, below("(Nat.succ n)"), factor, offset)
		value := base
		for range n {
			value = factor*value + offset
		}
		fmt.Fprintf(&b, "theorem %s_value : Eq.{1} Nat (%s %d) %d := Eq.refl.{1} Nat %d\n", f, f, n, value, value)
		fmt.Fprintf(&b, "theorem %s_succ (n : Nat) : Eq.{1} Nat (%s (Nat.succ n)) (Nat.add (Nat.mul %d (%s n)) %d) := Eq.refl.{1} Nat (%s (Nat.succ n))\n",
			f, f, factor, f, offset, f)
	}
	return b.String()
}

// simp is a module of propositions shown to be True bottom up, as Lean's simplifier does; parts are used many times.
func (g *generator) simp(name string) string {
	var b strings.Builder
	for i := range 6 {
		var statements, proofs strings.Builder
		atoms := 3 + g.Intn(4)
		count := 15 + g.Intn(40)
		for k := range count {
			statement, proof := g.simplified(k, atoms)
			fmt.Fprintf(&statements, "  share s%d := %s;\n", k, statement)
			fmt.Fprintf(&proofs, "  share r%d := %s;\n", k, proof)
		}
		fmt.Fprintf(&b, "theorem %s.simp%d", name, i)
		for a := range atoms {
			fmt.Fprintf(&b, " (p%d : Prop) (h%d : p%d)", a, a, a)
		}
		fmt.Fprintf(&b, " :\n%s  s%d :=\n%s%s  of_eq_true s%d r%d\n", statements.String(), count-1, statements.String(), proofs.String(), count-1, count-1)
	}
	return b.String()
}

// simplified is statement number k, in terms of earlier ones, and a proof that it equals True.
func (g *generator) simplified(k, atoms int) (statement, proof string) {
	if k < atoms {
		return fmt.Sprint("p", k), fmt.Sprintf("eq_true p%d h%d", k, k)
	}
	i, j := max(0, k-1-g.Intn(4)), g.Intn(k)
	both := func(rule, text, middle, last string) string {
		return fmt.Sprintf("Eq.trans.{1} Prop (%s) (%s) True (%s) (%s)", text, middle, rule, last)
	}
	switch g.Intn(6) {
	case 0:
		n := fmt.Sprint(g.Intn(1 << 20))
		return fmt.Sprintf("Eq.{1} Nat %s %s", n, n), fmt.Sprintf("eq_self.{1} Nat %s", n)
	case 1:
		text := fmt.Sprintf("Or s%d s%d", i, j)
		return text, both(fmt.Sprintf("congrArg.{1, 1} Prop Prop s%d True (fun (p : Prop) => Or p s%d) r%d", i, j, i), text, fmt.Sprintf("Or True s%d", j),
			fmt.Sprintf("true_or s%d", j))
	case 2:
		text := fmt.Sprintf("s%d -> s%d", j, i)
		return text, both(fmt.Sprintf("implies_congr s%d True s%d True r%d r%d", j, i, j, i), text, "True -> True", "true_imp True")
	case 3:
		text := fmt.Sprintf("(n : Nat) -> s%d", i)
		return text, both(fmt.Sprintf("forall_congr.{1} Nat (fun (n : Nat) => s%d) (fun (n : Nat) => True) (fun (n : Nat) => r%d)", i, i), text, "Nat -> True",
			"forall_true.{1} Nat")
	default:
		text := fmt.Sprintf("And s%d s%d", i, j)
		return text, both(fmt.Sprintf("congrArg2.{1, 1, 1} Prop Prop Prop And s%d True s%d True r%d r%d", i, j, i, j), text, "And True True", "and_self True")
	}
}

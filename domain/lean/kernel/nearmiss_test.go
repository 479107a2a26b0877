package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"reckon/domain/lean/builtin"
	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leansource"
	"reckon/domain/lean/term"
	"reckon/test/sweep"
)

// Definitions that are nearly an operation on Nat, and now and then one, drawn at random: a definition that is right in
// one of many shapes, of which some parts are replaced. Each is a text for Lean and a function for Go, made side by side,
// so that what it computes is known without the kernel.

// num is a number in the scope of env, and bit a Bool.
type num struct {
	text string
	eval func(e *env) int
}

type bit struct {
	text string
	eval func(e *env) bool
}

// env gives the variables their values, innermost first. Functions are the recursions in scope.
type env struct {
	outer    *env
	name     string
	number   int
	function func(int) int
	steps    *int
}

// unfinished unwinds an evaluation of too many steps.
type unfinished struct{}

func (e *env) spend() {
	if *e.steps--; *e.steps < 0 {
		panic(unfinished{})
	}
}

func (e *env) with(name string, number int) *env {
	e.spend()
	return &env{outer: e, name: name, number: number, steps: e.steps}
}

func (e *env) calling(name string, f func(int) int) *env {
	return &env{outer: e, name: name, function: f, steps: e.steps}
}

func (e *env) find(name string) *env {
	for e.name != name {
		e = e.outer
	}
	return e
}

// meanings are the operations that definitions are made of; a test may give one another meaning.
type meanings map[string]func(x, y int) int

func power(x, y int) int {
	r := 1
	for range y {
		r = min(r*x, math.MaxInt32)
	}
	return r
}

func divide(x, y int) int {
	if y == 0 {
		return 0
	}
	return x / y
}

func modulo(x, y int) int {
	if y == 0 {
		return x
	}
	return x % y
}

func log2(x int) int {
	n := 0
	for ; x > 1; x /= 2 {
		n++
	}
	return n
}

func toBit(b bool) int {
	if b {
		return 1
	}
	return 0
}

var leanMeanings = meanings{
	"add": func(x, y int) int { return min(x+y, math.MaxInt32) }, "pred": func(x, _ int) int { return max(0, x-1) },
	"sub": func(x, y int) int { return max(0, x-y) }, "mul": func(x, y int) int { return min(x*y, math.MaxInt32) }, "pow": power,
	"div": divide, "mod": modulo, "log2": func(x, _ int) int { return log2(x) },
	"beq": func(x, y int) int { return toBit(x == y) }, "ble": func(x, y int) int { return toBit(x <= y) },
	"shiftLeft":  func(x, y int) int { return min(x*power(2, y), math.MaxInt32) },
	"shiftRight": func(x, y int) int { return x / power(2, y) },
}

// arithmeticTypes are declared before operations; arithmeticOperations are in the order in which they are declared.
const arithmeticTypes = `
inductive Bool : Type | false : Bool | true : Bool
inductive Nat : Type | zero : Nat | succ (n : Nat) : Nat
inductive large Eq.{u} (α : Sort u) (a : α) : α -> Prop | refl : Eq.{u} α a a
`

// strangeTypes are what near misses are made with besides.
const strangeTypes = `
inductive Prod.{u, v} (α : Type u) (β : Type v) : Type (max u v) | mk (fst : α) (snd : β) : Prod.{u, v} α β
def iterate.{u} (α : Sort u) (z : α) (s : Nat -> α -> α) (n : Nat) : α := Nat.rec.{u} (fun (n : Nat) => α) z s n
axiom some : Nat
opaque hidden : Nat := 3
axiom cheat : (p : Prop) -> p
`

var arithmeticOperations = []struct{ name, text string }{
	{"add", operationOfTwo("add", recurse("x", "(Nat.succ ih)", "y"))},
	{"pred", "def Nat.pred (x : Nat) : Nat := " + recurse("0", "n", "x") + "\n"},
	{"sub", operationOfTwo("sub", recurse("x", "(Nat.pred ih)", "y"))},
	{"mul", operationOfTwo("mul", recurse("0", "(Nat.add ih x)", "y"))},
	{"pow", operationOfTwo("pow", recurse("1", "(Nat.mul ih x)", "y"))},
	{"beq", comparing("beq", "Bool.true", "Bool.false", "Bool.false")},
	{"ble", comparing("ble", "Bool.true", "Bool.true", "Bool.false")},
	{"div", operationOfTwo("div", goodQuotient)},
	{"mod", operationOfTwo("mod", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x"))},
	{"log2", "def Nat.log2 (x : Nat) : Nat := " + fuelled("0", halving, "x", "x") + "\n"},
	{"shiftLeft", ""}, {"shiftRight", ""},
}

func operationOfTwo(name, body string) string {
	return "def Nat." + name + " (x y : Nat) : Nat := " + body + "\n"
}

// recurse is recursion on a number without further arguments.
func recurse(zero, step, on string) string {
	return "(Nat.rec.{1} (fun (n : Nat) => Nat) " + zero + " (fun (n ih : Nat) => " + step + ") " + on + ")"
}

// comparing is a comparison by recursion on both numbers.
func comparing(name, zero, positive, smaller string) string {
	test := func(z, s string) string {
		return "(Nat.rec.{1} (fun (n : Nat) => Bool) " + z + " (fun (m : Nat) (b : Bool) => " + s + ") y)"
	}
	return "def Nat." + name + " (x y : Nat) : Bool := Nat.rec.{1} (fun (n : Nat) => Nat -> Bool) (fun (y : Nat) => " + test(zero, positive) +
		") (fun (n : Nat) (ih : Nat -> Bool) (y : Nat) => " + test(smaller, "(ih m)") + ") x y\n"
}

// declaredBefore are the types and the operations before the given one.
func declaredBefore(operation string) string {
	text := arithmeticTypes
	for _, op := range arithmeticOperations {
		if "Nat."+op.name == operation {
			break
		}
		text += op.text
	}
	return text
}

// drawer draws definitions.
type drawer struct {
	*rand.Rand
	mean      meanings
	noisy     float64  // how often a part is replaced
	numbers   []string // variables in scope
	functions []call
	more      string // declarations that the definition needs
	count     int
}

// call is a recursion in scope: how an application to a number is written.
type call struct {
	name  string
	write func(arg string) string
}

func variable(name string) num {
	return num{name, func(e *env) int { return e.find(name).number }}
}

func literal(n int) num { return num{strconv.Itoa(n), func(*env) int { return n }} }

func (d *drawer) op(name string, args ...num) num {
	f := d.mean[name]
	text := "(Nat." + name
	for _, a := range args {
		text += " " + a.text
	}
	return num{text + ")", func(e *env) int {
		y := 0
		if len(args) > 1 {
			y = args[1].eval(e)
		}
		return f(args[0].eval(e), y)
	}}
}

func succOf(a num) num {
	return num{"(Nat.succ " + a.text + ")", func(e *env) int { return a.eval(e) + 1 }}
}

func (d *drawer) compare(name string, x, y num) bit {
	f := d.mean[name]
	return bit{"(Nat." + name + " " + x.text + " " + y.text + ")", func(e *env) bool { return f(x.eval(e), y.eval(e)) == 1 }}
}

func not(b bit) bit {
	return bit{"(Bool.rec.{1} (fun (b : Bool) => Bool) Bool.true Bool.false " + b.text + ")", func(e *env) bool { return !b.eval(e) }}
}

func both(a, b bit) bit {
	return bit{"(Bool.rec.{1} (fun (b : Bool) => Bool) Bool.false " + b.text + " " + a.text + ")", func(e *env) bool { return a.eval(e) && b.eval(e) }}
}

func when(test bit, then, otherwise num) num {
	return num{choose(test.text, then.text, otherwise.text), func(e *env) int {
		if test.eval(e) {
			return then.eval(e)
		}
		return otherwise.eval(e)
	}}
}

func (c call) of(arg num) num {
	return num{c.write(arg.text), func(e *env) int {
		e.spend()
		return e.find(c.name).function(arg.eval(e))
	}}
}

// any is some number of what is in scope.
func (d *drawer) any() num {
	pick := func() num {
		switch n := d.IntN(10); {
		case n < 6 && len(d.numbers) > 0:
			return variable(d.numbers[d.IntN(len(d.numbers))])
		case n < 8:
			return literal(d.IntN(4))
		case n == 8 && d.IntN(3) == 0:
			return variable([]string{"some", "hidden"}[d.IntN(2)])
		default:
			return literal([]int{5, 7, 12, 1000}[d.IntN(4)])
		}
	}
	switch n := d.IntN(20); {
	case n < 3:
		return succOf(pick())
	case n < 8:
		binary := []string{"add", "sub", "mul", "div", "mod"}
		if name := binary[d.IntN(len(binary))]; d.mean[name] != nil {
			return d.op(name, pick(), pick())
		}
		return pick()
	case n < 10 && d.mean["pred"] != nil:
		return d.op("pred", pick())
	case n < 13 && len(d.functions) > 0:
		return d.functions[d.IntN(len(d.functions))].of(pick())
	}
	return pick()
}

// test is some Bool of what is in scope: open, always true or never.
func (d *drawer) test() bit {
	name := []string{"ble", "beq"}[d.IntN(2)]
	x, y := d.any(), d.any()
	var b bit
	switch d.IntN(7) {
	case 0:
		b = d.compare(name, x, x)
	case 1:
		b = d.compare(name, succOf(x), x)
	case 2:
		b = d.compare(name, x, succOf(x))
	case 3:
		b = d.compare("ble", literal(0), x)
	default:
		b = d.compare(name, x, y)
	}
	if d.IntN(6) == 0 {
		b = not(b)
	}
	if d.IntN(8) == 0 {
		b = both(b, d.test())
	}
	return b
}

// vary is a number, or something else that is most often nearly it.
func (d *drawer) vary(a num) num {
	if d.Float64() >= d.noisy {
		return a
	}
	_, comparable := d.mean["ble"]
	switch n := d.IntN(12); {
	case n < 3 && comparable:
		return when(d.test(), a, d.any())
	case n < 6 && comparable:
		return when(d.test(), d.any(), a)
	case n == 6 && d.mean["pred"] != nil:
		return d.op("pred", succOf(a))
	case n == 7 && d.mean["pred"] != nil:
		return succOf(d.op("pred", a))
	case n == 8 && d.mean["sub"] != nil:
		k := d.any()
		return d.op("sub", d.op("add", a, k), k)
	case n == 9 && d.mean["add"] != nil:
		if d.IntN(2) == 0 {
			return d.op("add", literal(0), a)
		}
		return d.op("add", a, literal(0))
	case n == 10:
		return succOf(a)
	}
	return d.any()
}

// varyTest is a test, or one that differs now and then, or in appearance only.
func (d *drawer) varyTest(b bit) bit {
	if d.Float64() >= d.noisy {
		return b
	}
	switch d.IntN(4) {
	case 0:
		return not(not(b))
	case 1:
		return both(d.test(), b)
	case 2:
		return not(both(d.test(), not(b)))
	}
	return d.test()
}

func (d *drawer) fresh(name string) string {
	d.count++
	return name + strconv.Itoa(d.count)
}

// inScope draws with more variables and recursions in scope.
func (d *drawer) inScope(numbers []string, functions []call, draw func() num) num {
	saved, savedFunctions := d.numbers, d.functions
	defer func() { d.numbers, d.functions = saved, savedFunctions }()
	d.numbers = append(append([]string(nil), saved...), numbers...)
	d.functions = append(append([]call(nil), savedFunctions...), functions...)
	return draw()
}

// recursion is recursion on fuel over a value: exhausted v where there is none left, and step v with a recursion to less.
func (d *drawer) recursion(fuel, value num, exhausted func(v num) num, step func(v num, again call) num) num {
	v, n, ih, pair := d.fresh("v"), d.fresh("n"), d.fresh("ih"), d.fresh("p")
	style := d.IntN(8)
	again := call{ih, func(arg string) string { return "(" + ih + " " + arg + ")" }}
	functions := []call{again}
	proposition := func(n, v string) string { return "(Eq.{1} Bool (Nat.ble " + v + " " + n + ") Bool.true)" }
	switch style {
	case 1:
		again.write = func(arg string) string { return "(" + ih + " " + arg + " (cheat " + proposition(n, arg) + "))" }
		functions = []call{again}
	case 2:
		again.write = func(arg string) string { return "(" + ih + " y " + arg + ")" }
		functions = []call{again}
	case 4, 5:
		again.write = func(arg string) string { return "(proj Prod 0 " + pair + " " + arg + ")" }
		earlier := call{"before" + ih, func(arg string) string { return "(proj Prod 1 " + pair + " " + arg + ")" }}
		functions = []call{again, earlier}
		if d.IntN(8) == 0 {
			functions = []call{again, again, earlier}
			again = earlier
		}
	}
	last := d.inScope([]string{v}, nil, func() num { return exhausted(variable(v)) })
	// In style 2 the parameter y is bound anew; its value stays the same.
	next := d.inScope([]string{v, n}, functions, func() num { return step(variable(v), again) })
	var text string
	switch style {
	case 1:
		text = "(Nat.rec.{1} (fun (n : Nat) => (v : Nat) -> " + proposition("n", "v") + " -> Nat) (fun (" + v + " : Nat) (h : " + proposition("0", v) + ") => " + last.text +
			") (fun (" + n + " : Nat) (" + ih + " : (v : Nat) -> " + proposition(n, "v") + " -> Nat) (" + v + " : Nat) (h : " + proposition("(Nat.succ "+n+")", v) + ") => " + next.text +
			") " + fuel.text + " " + value.text + " (cheat " + proposition(fuel.text, value.text) + "))"
	case 2:
		text = "(Nat.rec.{1} (fun (n : Nat) => Nat -> Nat -> Nat) (fun (y " + v + " : Nat) => " + last.text + ") (fun (" + n + " : Nat) (" + ih + " : Nat -> Nat -> Nat) (y " + v +
			" : Nat) => " + next.text + ") " + fuel.text + " y " + value.text + ")"
	case 3: // a motive that computes
		motive := "(fun (n : Nat) => Nat.rec.{2} (fun (n : Nat) => Type) (Nat -> Nat) (fun (n : Nat) (t : Type) => Nat -> Nat) n)"
		text = "(Nat.rec.{1} (fun (n : Nat) => Nat -> Nat) (fun (" + v + " : Nat) => " + last.text + ") (fun (" + n + " : Nat) (" + ih + " : (fun (n : Nat) => Nat -> Nat) " + n + ") (" + v + " : Nat) => " +
			next.text + ") " + fuel.text + " " + value.text + ")"
		if d.IntN(2) == 0 { // stuck on n: only the cases of zero and of successors are functions
			text = "(Nat.rec.{1} " + motive + " (fun (" + v + " : Nat) => " + last.text + ") (fun (" + n + " : Nat) (f : " + motive + " " + n + ") (" + v + " : Nat) => (fun (" + ih + " : Nat -> Nat) => " +
				next.text + ") (Nat.rec.{1} (fun (k : Nat) => " + motive + " k -> Nat -> Nat) (fun (g : Nat -> Nat) => g) (fun (k : Nat) (j : " + motive + " k -> Nat -> Nat) (g : Nat -> Nat) => g) " + n + " f)) (Nat.succ " + fuel.text + ") " + value.text + ")"
			fuel = succOf(fuel)
		}
	case 4, 5: // as compiled structural recursion: a pair of what is computed at n and before
		product := "(Prod.{0, 0} (Nat -> Nat) (Nat -> Nat))"
		text = "(proj Prod 0 (Nat.rec.{1} (fun (n : Nat) => " + product + ") (Prod.mk.{0, 0} (Nat -> Nat) (Nat -> Nat) (fun (" + v + " : Nat) => " + last.text + ") (fun (" + v + " : Nat) => " + last.text +
			")) (fun (" + n + " : Nat) (" + pair + " : " + product + ") => Prod.mk.{0, 0} (Nat -> Nat) (Nat -> Nat) (fun (" + v + " : Nat) => " + next.text + ") (proj Prod 0 " + pair + ")) " + fuel.text + ") " + value.text + ")"
	case 6:
		text = "(iterate.{1} (Nat -> Nat) (fun (" + v + " : Nat) => " + last.text + ") (fun (" + n + " : Nat) (" + ih + " : Nat -> Nat) (" + v + " : Nat) => " + next.text + ") " + fuel.text + " " + value.text + ")"
	default:
		text = "(Nat.rec.{1} (fun (n : Nat) => Nat -> Nat) (fun (" + v + " : Nat) => " + last.text + ") (fun (" + n + " : Nat) (" + ih + " : Nat -> Nat) (" + v + " : Nat) => " + next.text + ") " + fuel.text + " " + value.text + ")"
	}
	return num{text, func(e *env) int {
		var run func(k, at int) int
		run = func(k, at int) int {
			if k <= 0 {
				return last.eval(e.with(v, at))
			}
			inner := e.with(v, at).with(n, k-1).calling(ih, func(at int) int { return run(k-1, at) })
			return next.eval(inner.calling("before"+ih, func(at int) int { return run(k-2, at) }))
		}
		return run(fuel.eval(e), value.eval(e))
	}}
}

// counting is recursion on x with what is computed before.
func (d *drawer) counting(on, zero num, step func(before num) num) num {
	n, ih := d.fresh("n"), d.fresh("ih")
	next := d.inScope([]string{n, ih}, nil, func() num { return step(variable(ih)) })
	return num{"(Nat.rec.{1} (fun (n : Nat) => Nat) " + zero.text + " (fun (" + n + " " + ih + " : Nat) => " + next.text + ") " + on.text + ")", func(e *env) int {
		r := zero.eval(e)
		for k := range on.eval(e) {
			r = next.eval(e.with(n, k).with(ih, r))
		}
		return r
	}}
}

// descent is recursion on a proof of accessibility, of Lean's kind or nearly, over numbers or pairs of numbers.
func (d *drawer) descent(value num, step func(v num, again call) num) num {
	typ := "Nat"
	index := func(v string) string { return v }
	number := "w"
	if d.IntN(3) == 0 {
		typ = "(Prod.{0, 0} Nat Nat)"
		other := d.vary(variable("y"))
		index = func(v string) string { return "(Prod.mk.{0, 0} Nat Nat " + v + " " + other.text + ")" }
		number = "(proj Prod 0 w)"
	}
	v, ih, predicate, order := d.fresh("v"), d.fresh("ih"), d.fresh("Acc"), d.fresh("less")
	var premise func(z, x string) string // of z being accessible, where x is to be
	switch d.IntN(4) {
	case 0: // the other way round
		premise = func(z, x string) string { return "(" + order + " " + x + " " + z + ")" }
	case 1: // without an order
		premise = func(string, string) string { return "(Eq.{1} Nat 0 0)" }
	default:
		premise = func(z, x string) string { return "(" + order + " " + z + " " + x + ")" }
	}
	accessible := func(x string) string { return "(" + predicate + " " + x + ")" }
	d.more += "axiom " + order + " : " + typ + " -> " + typ + " -> Prop\n" +
		"inductive large " + predicate + " : " + typ + " -> Prop | intro (x : " + typ + ") (h : (z : " + typ + ") -> " + premise("z", "x") + " -> " + accessible("z") + ") : " + predicate + " x\n"
	again := call{ih, func(arg string) string {
		return "(" + ih + " " + index(arg) + " (cheat " + premise(index(arg), "w"+v) + "))"
	}}
	number = strings.ReplaceAll(number, "w", "w"+v)
	next := d.inScope([]string{v}, []call{again}, func() num { return step(variable(v), again) })
	text := "(" + predicate + ".rec.{1} (fun (x : " + typ + ") (a : " + accessible("x") + ") => Nat) (fun (w" + v + " : " + typ +
		") (h : (z : " + typ + ") -> " + premise("z", "w"+v) + " -> " + accessible("z") + ") (" + ih + " : (z : " + typ + ") -> " + premise("z", "w"+v) + " -> Nat) => (fun (" +
		v + " : Nat) => " + next.text + ") " + number + ") " + index(value.text) + " (cheat " + accessible(index(value.text)) + "))"
	return num{text, func(e *env) int {
		var run func(at int) int
		run = func(at int) int { return next.eval(e.with(v, at).calling(ih, run)) }
		return run(value.eval(e))
	}}
}

// definition draws one of an operation on x and y.
func (d *drawer) definition(operation string) num {
	x, y := variable("x"), variable("y")
	zero := literal(0)
	switch operation {
	case "add":
		return d.byRecursion(x, func(before num) num { return succOf(before) })
	case "sub":
		return d.byRecursion(x, func(before num) num { return d.op("pred", before) })
	case "mul":
		return d.byRecursion(zero, func(before num) num {
			if d.IntN(3) == 0 {
				return d.op("add", x, before)
			}
			return d.op("add", before, x)
		})
	case "pow":
		return d.byRecursion(literal(1), func(before num) num {
			if d.IntN(3) == 0 {
				return d.op("mul", x, before)
			}
			return d.op("mul", before, x)
		})
	case "shiftLeft":
		if d.IntN(2) == 0 {
			return d.byRecursion(x, func(before num) num { return d.op("mul", literal(2), before) })
		}
		return d.recursion(d.vary(y), d.vary(x), d.vary, func(v num, again call) num { return d.vary(again.of(d.vary(d.op("mul", literal(2), v)))) })
	case "shiftRight":
		return d.byRecursion(x, func(before num) num { return d.op("div", before, literal(2)) })
	case "log2":
		last := func(v num) num { return d.vary([]num{zero, v, literal(77)}[d.IntN(3)]) }
		step := func(v num, again call) num {
			return when(d.varyTest(d.compare("ble", literal(2), v)), d.vary(succOf(again.of(d.vary(d.op("div", v, literal(2)))))), d.vary(zero))
		}
		if d.IntN(4) == 0 {
			return d.descent(d.vary(x), step)
		}
		return d.recursion(d.fuel(), d.vary(x), last, step)
	}
	byZero, again := x, func(a num) num { return a }
	if operation == "div" {
		byZero, again = zero, succOf
	}
	base := func(v num) num {
		if operation == "div" {
			return zero
		}
		return v
	}
	divisor := func() num { return d.vary(y) }
	step := func(v num, recur call) num {
		more := d.vary(again(recur.of(d.vary(d.op("sub", v, divisor())))))
		switch d.IntN(4) {
		case 0:
			return when(d.varyTest(d.compare("ble", succOf(v), divisor())), d.vary(base(v)), more)
		case 1:
			return when(d.varyTest(d.compare("ble", literal(1), y)), when(d.varyTest(d.compare("ble", divisor(), v)), more, d.vary(base(v))), d.vary(base(v)))
		}
		return when(d.varyTest(d.compare("ble", divisor(), v)), more, d.vary(base(v)))
	}
	var body num
	switch n := d.IntN(10); {
	case n == 0:
		body = d.counting(d.vary(x), d.vary(zero), func(before num) num {
			if operation == "div" {
				return when(d.varyTest(d.compare("beq", d.op("sub", succOf(variable(d.numbers[len(d.numbers)-2])), d.op("mul", before, y)), y)), succOf(before), before)
			}
			return when(d.varyTest(d.compare("beq", succOf(before), divisor())), d.vary(zero), d.vary(succOf(before)))
		})
	case n == 1 && operation == "mod":
		quotient := d.op("div", d.vary(x), d.vary(y))
		if d.IntN(2) == 0 {
			return d.vary(d.op("sub", d.vary(x), d.op("mul", d.vary(y), quotient)))
		}
		return d.vary(d.op("sub", x, d.op("mul", quotient, y)))
	case n < 5:
		body = d.descent(d.vary(x), step)
	case n == 5: // two recursions, one in the other
		body = d.recursion(d.fuel(), d.vary(x), func(v num) num { return d.vary(base(v)) }, func(v num, recur call) num {
			inner := d.recursion(d.vary(v), d.vary(v), func(v num) num { return d.vary(base(v)) }, step)
			if d.IntN(2) == 0 {
				return inner
			}
			return when(d.varyTest(d.compare("ble", divisor(), v)), d.vary(again(recur.of(d.vary(d.op("sub", v, divisor()))))), inner)
		})
	default:
		last := func(v num) num { return d.vary([]num{base(v), base(v), zero, v, literal(77)}[d.IntN(5)]) }
		body = d.recursion(d.fuel(), d.vary(x), last, step)
	}
	switch d.IntN(5) {
	case 0:
		return d.vary(body)
	case 1:
		return when(d.varyTest(d.compare("beq", y, zero)), d.vary(byZero), body)
	}
	return when(d.varyTest(d.compare("ble", literal(1), y)), body, d.vary(byZero))
}

func (d *drawer) fuel() num {
	x := variable("x")
	return d.vary([]num{x, x, succOf(x), succOf(x), d.op("add", x, literal(2)), d.op("pred", x), d.op("add", x, variable("some"))}[d.IntN(7)])
}

// byRecursion is recursion on y, or x.
func (d *drawer) byRecursion(zero num, step func(before num) num) num {
	on := variable("y")
	if d.IntN(8) == 0 {
		on = variable("x")
	}
	return d.vary(d.counting(d.vary(on), d.vary(zero), func(before num) num { return d.vary(step(d.vary(before))) }))
}

// computes says whether body is the operation for small numbers, whatever the constants some and hidden are. Where it
// does not end within the steps given, or grows large, nothing is known.
func computes(body num, f func(x, y int) int) (right bool, difference string) {
	try := func(x, y, some int) (r int, ok bool) {
		defer func() {
			if p := recover(); p != nil {
				if _, unknown := p.(unfinished); !unknown {
					panic(p)
				}
			}
		}()
		steps := 20_000
		e := (&env{name: "x", number: x, steps: &steps}).with("y", y).with("some", some).with("hidden", 3)
		return body.eval(e), true
	}
	for _, some := range []int{0, 1, 4} {
		for x := range 21 {
			for y := range 9 {
				if got, ok := try(x, y, some); ok && got != f(x, y) && f(x, y) < math.MaxInt32 {
					return false, fmt.Sprintf("of %d and %d it is %d, not %d (some = %d)", x, y, got, f(x, y), some)
				}
			}
		}
	}
	return true, ""
}

// nearMissesDefault is how many definitions `make test` draws.
const nearMissesDefault = 150

// Whatever is recognised computes the operation.
func TestNearMissesAreNotRecognised(t *testing.T) {
	count := sweep.Size(t, "NEAR_MISSES", nearMissesDefault, 2000)
	recognised := map[string]int{}
	operations := []string{"mod", "mod", "mod", "div", "div", "log2", "mod", "div", "add", "sub", "mul", "pow", "shiftLeft", "shiftRight"}
	for seed := range uint64(count) {
		operation := operations[seed%uint64(len(operations))]
		d := &drawer{Rand: rand.New(rand.NewPCG(seed, 11)), mean: meanings{}, numbers: []string{"x", "y"}}
		d.noisy = []float64{0, 0.04, 0.1, 0.25}[d.IntN(4)]
		name := "Nat." + operation
		text := strings.Replace(declaredBefore(name), arithmeticTypes, arithmeticTypes+strangeTypes, 1)
		for _, op := range arithmeticOperations {
			if op.name == operation {
				break
			}
			d.mean[op.name] = leanMeanings[op.name]
		}
		if operation == "log2" {
			d.numbers = []string{"x"}
		}
		if d.mean["sub"] != nil && d.IntN(20) == 0 { // an operation that it is built on is another
			text = strings.Replace(text, "def Nat.sub (x y : Nat) : Nat := ", "def Nat.sub (x y : Nat) : Nat := Bool.rec.{1} (fun (b : Bool) => Nat) 0 0 Bool.true def wrong.sub (x y : Nat) : Nat := ", 1)
			d.mean["sub"] = func(int, int) int { return 0 }
		}
		body := d.definition(operation)
		declared := "(x y : Nat)"
		if operation == "log2" {
			declared = "(x : Nat)"
			body.text = "(fun (y : Nat) => " + body.text + ") 0"
		}
		text += d.more + "def " + name + " " + declared + " : Nat := " + body.text + "\n"
		if seed%16 == 0 { // what is drawn has to be well-typed to mean anything
			file := readSource(t, text)
			if r := Check(context.Background(), file.Store, file.Declarations, Options{Workers: 1}); !r.Accepted() {
				t.Errorf("seed %d: not accepted: %v %v\n%s", seed, r.Refusal, r.Exhausted, body.text)
			}
		}
		if !recognises(readSource(t, text), name) {
			continue
		}
		recognised[operation]++
		if right, difference := computes(body, leanMeanings[operation]); !right {
			t.Errorf("seed %d: recognised, and %s\n%s", seed, difference, text[strings.LastIndex(text, "def "):])
		}
	}
	t.Logf("%d definitions, recognised %v", count, recognised)
	for _, operation := range []string{"mod", "div", "log2"} {
		if recognised[operation] < count/200 {
			t.Errorf("only %d definitions of %s are recognised: the test means nothing", recognised[operation], operation)
		}
	}
}

// Of all comparisons by recursion on both numbers with these parts, those are recognised that compute one.
func TestComparisonsAreRecognisedByWhatTheyCompute(t *testing.T) {
	smaller := []struct {
		text string
		eval func(n, m int) int
	}{
		{"m", func(n, m int) int { return m }}, {"n", func(n, m int) int { return n }}, {"(Nat.succ m)", func(n, m int) int { return m + 1 }},
		{"y", func(n, m int) int { return m + 1 }}, {"(Nat.pred m)", func(n, m int) int { return max(0, m-1) }}, {"(Nat.pred y)", func(n, m int) int { return m }},
	}
	constants := []string{"Bool.false", "Bool.true"}
	for _, operation := range []string{"beq", "ble"} {
		recognised := 0
		for parts := range 16 {
			zero, positive, greater, negated := parts&1, parts>>1&1, parts>>2&1, parts>>3&1
			for _, arg := range smaller {
				again := "(ih " + arg.text + ")"
				if negated == 1 {
					again = not(bit{text: again}).text
				}
				text := strings.Replace(comparing(operation, constants[zero], constants[positive], constants[greater]), "(ih m)", again, 1)
				var compare func(x, y int) int
				compare = func(x, y int) int {
					switch {
					case x == 0 && y == 0:
						return zero
					case x == 0:
						return positive
					case y == 0:
						return greater
					}
					return compare(x-1, arg.eval(x-1, y-1)) ^ negated
				}
				right := true
				for x := range 12 {
					for y := range 12 {
						right = right && compare(x, y) == leanMeanings[operation](x, y)
					}
				}
				if got := recognises(readSource(t, declaredBefore("Nat."+operation)+text), "Nat."+operation); got != right {
					t.Errorf("recognised: %v, computes it: %v\n%s", got, right, text)
				} else if got {
					recognised++
				}
			}
		}
		if recognised == 0 {
			t.Errorf("no definition of %s is recognised", operation)
		}
	}
}

// Of the sixteen functions of two bits, written in three ways, Nat.land, Nat.lor and Nat.xor take one each.
func TestBitwiseOperationsTakeTheirOwnFunction(t *testing.T) {
	tables := map[builtin.ID]int{builtin.NatLand: 0b1000, builtin.NatLor: 0b1110, builtin.NatXor: 0b0110}
	constants := []string{"Bool.false", "Bool.true"}
	pick := func(on, no, yes string) string {
		return "(Bool.rec.{1} (fun (c : Bool) => Bool) " + no + " " + yes + " " + on + ")"
	}
	for id, own := range tables {
		for table := range 16 {
			outcome := func(a, b int) string { return constants[table>>(2*a+b)&1] }
			direct := pick("a", pick("b", outcome(0, 0), outcome(0, 1)), pick("b", outcome(1, 0), outcome(1, 1)))
			for way, body := range []string{direct, pick("b", pick("a", outcome(0, 0), outcome(1, 0)), pick("a", outcome(0, 1), outcome(1, 1))),
				pick("a", direct, not(not(bit{text: direct})).text)} {
				file := readSource(t, arithmeticTypes+"def Nat.bitwise (f : Bool -> Bool -> Bool) (x y : Nat) : Nat := x\n"+
					"def onBits (a b : Bool) : Bool := "+body+"\ndef "+id.String()+" : Nat -> Nat -> Nat := Nat.bitwise onBits")
				if recognises(file, id.String()) {
					t.Fatalf("%s is recognised over a Nat.bitwise that is none", id)
				}
				if got := satisfies(file, id); got != (table == own) {
					t.Errorf("%s by the function %04b, written in way %d: %v", id, table, way, got)
				}
			}
		}
	}
}

// satisfies says whether an operation satisfies its equations, whatever it is built on.
func satisfies(file *export.File, id builtin.ID) bool {
	base := newFoundation(file.Store, file.Declarations)
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	c := newChecker(context.Background(), base, file.Store, nil, DefaultMaxDepth, &refused)
	c.recognise()
	for _, op := range natOperations {
		if op.id == id {
			return c.holdsAt(base.env.Len(), func() bool {
				return op.equations(&equations{checker: c, nat: c.natLiteralType(), boolean: c.store.Const(base.names.Handle(builtin.Bool), term.NoLevels), self: base.names.Handle(id)})
			})
		}
	}
	return false
}

func readSource(t *testing.T, text string) *export.File {
	t.Helper()
	return read(t, writeSource(t, text))
}

// writeSource writes an export from a text of package leansource.
func writeSource(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	if err := leansource.Write(&out, text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out.String()
}

// recognises says whether an operation of a file is recognised.
func recognises(file *export.File, name string) bool {
	base := newFoundation(file.Store, file.Declarations)
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	c := newChecker(context.Background(), base, file.Store, nil, DefaultMaxDepth, &refused)
	c.recognise()
	id, _ := base.names.ID(file.Store.InternDotted(name))
	return base.known.usableFrom[id] != neverUsable
}

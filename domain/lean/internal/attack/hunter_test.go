package attack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
)

// The hunter builds files that declare the core types and what literals stand for at random, in a random order, and
// looks for a proof of False without axioms. It knows no attack: only the types that the core's names should have, how
// to make closed terms of them, and what it means that two truth values are one.
//
// In a file that a checker accepts and that has no axioms, nothing rests on itself, every closed term of type Bool has a
// value, true or false, and is definitionally equal to no term of another value. The hunter evaluates terms by the
// declarations alone (file evaluate.go) and asks the checker which it holds for equal. A chain of equal terms from b to not b, or from true to
// false, is a proof of False, which is then built in full and checked like a user's.

// Hunt is the outcome for one environment.
type Hunt struct {
	Accepted bool     // the checker accepts the environment
	Kind     string   // what is unusual about the environment
	Suspect  bool     // some term has no value within the steps given, or two
	Probes   int      // equations asked
	False    *File    // a file the checker accepts that proves False by no axiom; nil: none found
	Wrong    []string // what the checker says against evaluation, in words
}

// kinds of values that terms are made of. What List, Char and String are decides which of them are one type.
type valueType string

const (
	truth  valueType = "Bool"
	number valueType = "Nat"
	char   valueType = "Char"
	list   valueType = "List"
	text   valueType = "String"
	quot   valueType = "Quot"
	pair   valueType = "Pair"
	tree   valueType = "Tree"
	trees  valueType = "Trees" // List Tree
)

func (v valueType) term() *Term {
	switch v {
	case list:
		return apply(constant("List", nil), constant("Char"))
	case trees:
		return apply(constant("List", nil), constant("Tree"))
	case quot:
		return apply(constant("Quot", succ(nil)), constant("Bool"), apply(constant("Eq", succ(nil)), constant("Bool")))
	}
	return constant(string(v))
}

// known is a declared thing that terms are made with.
type known struct {
	build  func(args []*Term) *Term
	args   []valueType
	result valueType
}

type hunter struct {
	*rand.Rand
	decls   []*Decl
	shape   natShape
	nests   bool                    // a type that is nested in List is declared, if List is Lean's
	equals  map[valueType]valueType // a type that is a definition: what it unfolds to
	made    map[string]bool         // names declared
	known   []known
	panics  []string
	written *emitter         // the environment, once it is built
	closed  map[string]*Term // closed truth values met, by text
	order   []string         // their texts, in the order met
}

// drawn is the environment of a seed.
func drawn(seed uint64) *hunter {
	h := &hunter{Rand: newRand(seed), equals: map[valueType]valueType{}, made: map[string]bool{}, closed: map[string]*Term{}}
	switch seed % 4 {
	case 1:
		h.shape = natShape(h.IntN(3))
	case 2:
		h.nests = true
	}
	h.build(seed%4 == 0)
	return h
}

// hunt builds one environment from a seed and looks for False in it.
func hunt(seed uint64, options kernel.Options) Hunt {
	h := drawn(seed)
	out := h.attack(options)
	out.Kind = []string{"usual", "Nat swapped", "Nat larger"}[h.shape]
	if h.made["onTree"] {
		out.Kind = "nested"
	} else if seed%4 == 0 {
		out.Kind = "large"
	}
	if out.Suspect && out.False == nil { // what is equal by definition may be found so by other unfoldings
		for _, hints := range []string{"regular", "abbrev"} {
			for _, d := range h.decls {
				if d.Kind == "def" {
					d.Attrs["hints"] = hints
				}
			}
			h.written = nil
			if again := h.attack(options); again.False != nil {
				out.False = again.False
				break
			}
		}
	}
	out.Wrong = append(out.Wrong, h.panics...)
	return out
}

// maybe is true once in n.
func (h *hunter) maybe(n int) bool { return h.IntN(n) == 0 }

// resolve unfolds the definitions of types.
func (h *hunter) resolve(v valueType) valueType {
	for range 8 {
		next, ok := h.equals[v]
		if !ok {
			break
		}
		v = next
	}
	return v
}

// build declares the core in a random order: each step needs what its own types speak of, and nothing else. A large
// environment has the operations on numbers and other types too; a small one is faster, and what it declares meets more.
func (h *hunter) build(large bool) {
	h.decls = parse(logicText(h.maybe(4)) + h.shape.text())
	if h.shape != leanNat {
		h.know(number, nil, constant("Nat.zero"))
	}
	h.know(truth, nil, constant("Bool.true"))
	h.know(truth, nil, constant("Bool.false"))
	h.know(truth, []valueType{truth}, constant("not"))
	h.know(truth, []valueType{number}, constant("isZero"))
	h.know(truth, []valueType{number}, constant("isOne"))
	h.know(number, []valueType{number}, constant("Nat.succ"))
	for _, n := range []string{"Bool", "Nat"} {
		h.made[n] = true
	}
	type step struct {
		name  string
		needs []string
		do    func()
	}
	steps := []step{
		{"List", nil, h.declareList},
		{"Char", nil, h.declareChar},
		{"String", []string{"List", "Char"}, h.declareString},
		{"Char.ofNat", []string{"Char"}, func() { h.define("Char.ofNat", char, number) }},
		{"List.nil", []string{"List"}, h.declareNil},
		{"List.cons", []string{"List"}, h.declareCons},
		{"String.mk", []string{"String"}, func() {
			if !h.made["String.mk"] && h.maybe(4) {
				h.define("String.mk", text, list)
			}
		}},
		{"String.ofList", []string{"String"}, func() {
			if !h.made["String.ofList"] && (!h.made["String.mk"] || h.maybe(4)) {
				h.define("String.ofList", text, list)
			}
		}},
	}
	if h.nests {
		steps = append(steps, step{"Tree", []string{"List", "List.nil", "List.cons"}, h.declareTree})
	}
	if large {
		steps = append(steps, step{"Quot", nil, h.declareQuot}, step{"Pair", nil, h.declarePair},
			step{"Decidable", nil, h.declareDecidable}, step{"Lean.reduceBool", nil, h.declareReduce})
		for _, o := range operations {
			if h.maybe(3) {
				steps = append(steps, step{o.name, nil, func() { h.operation(o) }})
			}
		}
	}
	for range 1 + h.IntN(3) {
		name := fmt.Sprintf("mine%d", len(steps))
		result := []valueType{truth, truth, number, text, list}[h.IntN(5)]
		var needs []string
		if result == text || result == list {
			needs = []string{"String"}
		}
		steps = append(steps, step{name, needs, func() { h.define(name, result) }})
	}
	for len(steps) > 0 {
		i := h.IntN(len(steps))
		ready := true
		for _, n := range steps[i].needs {
			ready = ready && h.made[n]
		}
		if !ready {
			continue
		}
		steps[i].do()
		h.made[steps[i].name] = true
		steps = append(steps[:i], steps[i+1:]...)
	}
}

// natShape is how Nat is declared.
type natShape int

const (
	leanNat    natShape = iota
	swappedNat          // its constructors in the other order
	largerNat           // with one constructor more
)

// rec is the recursor of Nat on its minor premises.
func (n natShape) rec(motive, zero, step, on *Term, level Level) *Term {
	minors := [][]*Term{{zero, step}, {step, zero}, {zero, step, zero}}[n]
	return apply(apply(apply(constant("Nat.rec", level), motive), minors...), on)
}

// text declares Nat, functions to truth values, and that no number is its own successor.
func (n natShape) text() string {
	rec := func(motive, zero, step, on string, level int) string {
		minors := [][]string{{zero, step}, {step, zero}, {zero, step, zero}}[n]
		return fmt.Sprintf("Nat.rec.{%d} (%s) %s %s", level, motive, strings.Join(minors, " "), on)
	}
	text := []string{textNat, "inductive Nat : Type | Nat.succ : Nat → Nat | Nat.zero : Nat",
		"inductive Nat : Type | Nat.zero : Nat | Nat.succ : Nat → Nat | Nat.more : Nat"}[n] + `
def isZero : Nat → Bool := fun (x : Nat) => ` + rec("fun (n : Nat) => Bool", "Bool.true", "(fun (n : Nat) (ih : Bool) => Bool.false)", "x", 1) + `
def isOne : Nat → Bool := fun (x : Nat) => ` + rec("fun (n : Nat) => Bool", "Bool.false", "(fun (n : Nat) (ih : Bool) => isZero n)", "x", 1)
	if n == largerNat {
		return text
	}
	return text + `
def before : Nat → Nat := fun (x : Nat) => ` + rec("fun (n : Nat) => Nat", "Nat.zero", "(fun (n : Nat) (ih : Nat) => n)", "x", 1) + `
theorem notSuccessorOfItself : ∀ (n : Nat), Eq.{1} Nat n (Nat.succ n) → False := fun (n : Nat) => ` + rec("fun (n : Nat) => Eq.{1} Nat n (Nat.succ n) → False",
		`(fun (h : Eq.{1} Nat Nat.zero (Nat.succ Nat.zero)) => trueNotFalse
    (Eq.rec.{0, 1} Nat Nat.zero (fun (m : Nat) (h : Eq.{1} Nat Nat.zero m) => Eq.{1} Bool Bool.true (isZero m)) (Eq.refl.{1} Bool Bool.true) (Nat.succ Nat.zero) h))`,
		`(fun (n : Nat) (ih : Eq.{1} Nat n (Nat.succ n) → False) (h : Eq.{1} Nat (Nat.succ n) (Nat.succ (Nat.succ n))) => ih
    (Eq.rec.{0, 1} Nat (Nat.succ n) (fun (m : Nat) (h : Eq.{1} Nat (Nat.succ n) m) => Eq.{1} Nat n (before m)) (Eq.refl.{1} Nat n) (Nat.succ (Nat.succ n)) h))`, "n", 0)
}

// declareTree declares a type that is nested in List, and a function on it by its recursors.
func (h *hunter) declareTree() {
	if _, own := h.equals[list]; own || !h.made["List.cons"] {
		return
	}
	common := []string{"motive_1", "motive_2", "node", "nil", "cons"}
	binders := `(motive_1 : Tree → Sort w) (motive_2 : List.{0} Tree → Sort w)
    (node : ∀ (b : Bool) (l : List.{0} Tree), motive_2 l → motive_1 (Tree.node b l)) (nil : motive_2 (List.nil.{0} Tree))
    (cons : ∀ (head : Tree) (tail : List.{0} Tree), motive_1 head → motive_2 tail → motive_2 (List.cons.{0} Tree head tail))`
	term := func(text string) *Term { return parse("axiom x.{w} : " + text)[0].Type }
	call := func(name, on string) string { return "(" + name + ".{w} " + strings.Join(common, " ") + " " + on + ")" }
	recursor := func(name, major, motive string, rules ...*Rule) *Recursor {
		return &Recursor{Name: name, Params: []string{"w"}, NumMotives: 2, NumMinors: 3, Rules: rules,
			Type: term("∀ " + binders + " (t : " + major + "), " + motive + " t")}
	}
	d := parse("@[numNested=1] inductive Tree : Type | Tree.node : Bool → List.{0} Tree → Tree")[0]
	d.Recursors = []*Recursor{
		recursor("Tree.rec", "Tree", "motive_1",
			&Rule{"Tree.node", 2, term("fun " + binders + " (b : Bool) (l : List.{0} Tree) => node b l " + call("Tree.rec_1", "l"))}),
		recursor("Tree.rec_1", "List.{0} Tree", "motive_2",
			&Rule{"List.nil", 0, term("fun " + binders + " => nil")},
			&Rule{"List.cons", 2, term("fun " + binders + " (head : Tree) (tail : List.{0} Tree) => cons head tail " + call("Tree.rec", "head") + " " + call("Tree.rec_1", "tail"))}),
	}
	h.decls = append(h.decls, d)
	h.know(tree, []valueType{truth, trees}, constant("Tree.node"))
	h.know(trees, nil, apply(constant("List.nil", nil), constant("Tree")))
	h.know(trees, []valueType{tree, trees}, apply(constant("List.cons", nil), constant("Tree")))

	b, l, first, rest := &Local{"b", truth.term()}, &Local{"l", trees.term()}, &Local{"ih1", truth.term()}, &Local{"ih2", truth.term()}
	head, t := &Local{"head", tree.term()}, &Local{"t", tree.term()}
	value := apply(constant("Tree.rec", succ(nil)), lam(&Local{"t", tree.term()}, truth.term()), lam(&Local{"l", trees.term()}, truth.term()),
		lams([]*Local{b, l, rest}, h.term(truth, 3, []*Local{b, rest})), h.term(truth, 2, nil),
		lams([]*Local{head, l, first, rest}, h.term(truth, 3, []*Local{first, rest})), variable(t))
	h.declare("onTree", nil, arrow(tree.term(), truth.term()), lam(t, value))
	h.know(truth, []valueType{tree}, constant("onTree"))
}

// logicText is textLogic, on demand with Bool's constructors in the other order.
func logicText(swapped bool) string {
	if !swapped {
		return textLogic
	}
	return strings.NewReplacer(
		"| Bool.false : Bool | Bool.true : Bool", "| Bool.true : Bool | Bool.false : Bool",
		"=> Bool) Bool.true Bool.false b", "=> Bool) Bool.false Bool.true b",
		"=> Prop) False True b", "=> Prop) True False b",
		"=> Prop) True False b", "=> Prop) False True b",
		"falseNotTrue trueNotFalse b", "trueNotFalse falseNotTrue b").Replace(textLogic)
}

func (h *hunter) declareQuot() {
	if h.maybe(2) {
		return
	}
	h.add(textQuot)
	h.known = append(h.known, known{func(a []*Term) *Term {
		return apply(constant("Quot.mk", succ(nil)), constant("Bool"), apply(constant("Eq", succ(nil)), constant("Bool")), a[0])
	}, []valueType{truth}, quot})
	// A function on the quotient, by any function on Bool: equal things have equal values.
	x := &Local{"x0", truth.term()}
	h.declare("lifted", nil, arrow(truth.term(), truth.term()), lam(x, h.term(truth, 3, []*Local{x})))
	h.add(`def onQuot : Quot.{1} Bool (Eq.{1} Bool) → Bool := fun (q : Quot.{1} Bool (Eq.{1} Bool)) => Quot.lift.{1, 1} Bool (Eq.{1} Bool) Bool lifted
  (fun (a b : Bool) (h : Eq.{1} Bool a b) => Eq.rec.{0, 1} Bool a (fun (c : Bool) (h : Eq.{1} Bool a c) => Eq.{1} Bool (lifted a) (lifted c)) (Eq.refl.{1} Bool (lifted a)) b h) q`)
	h.know(truth, []valueType{quot}, constant("onQuot"))
}

func (h *hunter) declarePair() {
	if h.maybe(2) {
		return
	}
	h.add("inductive Pair : Type | Pair.mk : Bool → Nat → Pair")
	h.know(pair, []valueType{truth, number}, constant("Pair.mk"))
	h.known = append(h.known,
		known{func(a []*Term) *Term { return projection("Pair", 0, a[0]) }, []valueType{pair}, truth},
		known{func(a []*Term) *Term { return projection("Pair", 1, a[0]) }, []valueType{pair}, number})
}

func (h *hunter) declareDecidable() {
	if h.maybe(2) {
		return
	}
	h.add(textDecidable + []string{
		"def decided : Decidable True := Decidable.isTrue True True.intro",
		"def decided : Decidable False := Decidable.isFalse False (fun (h : False) => h)",
	}[h.IntN(2)])
	p := h.decls[len(h.decls)-1].Type.b
	yes, no := h.term(truth, 2, nil), h.term(truth, 2, nil)
	value := apply(constant("Decidable.rec", succ(nil)), p, lam(&Local{"d", apply(constant("Decidable"), p)}, truth.term()),
		lam(&Local{"n", apply(constant("Not"), p)}, no), lam(&Local{"h", p}, yes), constant("decided"))
	h.declare("decision", nil, truth.term(), value)
	h.know(truth, nil, constant("decision"))
}

func (h *hunter) declareReduce() {
	if h.maybe(2) {
		return
	}
	h.add("opaque Lean.reduceBool : Bool → Bool := fun (b : Bool) => " + []string{"b", "not b", "Bool.true"}[h.IntN(3)])
	h.know(truth, []valueType{truth}, constant("Lean.reduceBool"))
}

func (h *hunter) know(result valueType, args []valueType, fn *Term) {
	h.known = append(h.known, known{func(a []*Term) *Term { return apply(fn, a...) }, args, result})
}

func (h *hunter) add(text string) { h.decls = append(h.decls, parse(text)...) }

func (h *hunter) declareList() {
	switch h.IntN(4) {
	case 0:
		h.add(textList)
		h.made["List.nil"], h.made["List.cons"] = true, true
		h.know(list, nil, apply(constant("List.nil", nil), constant("Char")))
		h.know(list, []valueType{char, list}, apply(constant("List.cons", nil), constant("Char")))
	case 1:
		h.add("def List.{u} : Type u → Type u := fun (α : Type u) => α")
		h.equals[list] = char
	default:
		to := []valueType{truth, number}[h.IntN(2)]
		h.add("def List.{u} : Type u → Type := fun (α : Type u) => " + string(to))
		h.equals[list] = to
	}
}

func (h *hunter) declareChar() {
	switch h.IntN(4) {
	case 0:
		h.add("inductive Char : Type | Char.mk : Char")
		h.know(char, nil, constant("Char.mk"))
	case 1:
		h.add("inductive Char : Type | Char.mk : Nat → Char")
		h.know(char, []valueType{number}, constant("Char.mk"))
		h.known = append(h.known, known{func(a []*Term) *Term { return projection("Char", 0, a[0]) }, []valueType{char}, number})
	default:
		to := []valueType{truth, number}[h.IntN(2)]
		h.add("def Char : Type := " + string(to))
		h.equals[char] = to
	}
}

func (h *hunter) declareString() {
	if h.maybe(4) {
		to := []valueType{truth, number}[h.IntN(2)]
		h.add("def String : Type := " + string(to))
		h.equals[text] = to
		return
	}
	maker := []string{"String.ofList", "String.ofList", "String.mk"}[h.IntN(3)]
	h.add("inductive String : Type | " + maker + " : List.{0} Char → String")
	h.made[maker] = true
	h.know(text, []valueType{list}, constant(maker))
	h.known = append(h.known, known{func(a []*Term) *Term { return projection("String", 0, a[0]) }, []valueType{text}, list})
}

func (h *hunter) declareNil() {
	if h.made["List.nil"] || h.equals[list] == char { // lists that are their own elements: there is no empty one
		return
	}
	u := levelParam("u")
	alpha := &Local{"α", sort(succ(u))}
	typ := pi(alpha, apply(constant("List", u), variable(alpha)))
	h.declare("List.nil", []string{"u"}, typ, lam(alpha, h.term(h.resolve(list), 3, nil)))
	h.know(list, nil, apply(constant("List.nil", nil), constant("Char")))
}

func (h *hunter) declareCons() {
	if h.made["List.cons"] {
		return
	}
	u := levelParam("u")
	alpha := &Local{"α", sort(succ(u))}
	lists := apply(constant("List", u), variable(alpha))
	head, tail := &Local{"a", variable(alpha)}, &Local{"l", lists}
	typ := pis([]*Local{alpha, head, tail}, lists)
	value := variable(tail)
	if h.equals[list] == char {
		if h.maybe(2) {
			value = variable(head)
		}
	} else if h.maybe(2) {
		value = h.term(h.resolve(list), 3, []*Local{tail})
	}
	h.declare("List.cons", []string{"u"}, typ, lams([]*Local{alpha, head, tail}, value))
	h.know(list, []valueType{char, list}, apply(constant("List.cons", nil), constant("Char")))
}

// define declares name as a function of the given arguments with a random body.
func (h *hunter) define(name string, result valueType, args ...valueType) {
	var locals []*Local
	for i, a := range args {
		locals = append(locals, &Local{fmt.Sprintf("x%d", i), a.term()})
	}
	body := h.term(result, 4, locals)
	h.declare(name, nil, pis(locals, result.term()), lams(locals, body))
	h.know(result, args, constant(name))
}

func (h *hunter) declare(name string, params []string, typ, value *Term) {
	d := &Decl{Kind: "def", Name: name, Params: params, Type: typ, Value: value, Attrs: map[string]string{}}
	if h.maybe(2) {
		d.Attrs["hints"] = "regular"
	}
	h.decls = append(h.decls, d)
	h.made[name] = true
}

// operation declares an operation on numbers: the real one, one that is wrong somewhere, or anything.
func (h *hunter) operation(o operation) {
	result, args := number, []valueType{number, number}
	if o.truth {
		result = truth
	}
	if o.unary {
		args = args[:1]
	}
	x, y := &Local{"x0", number.term()}, &Local{"x1", number.term()}
	switch {
	case h.maybe(4):
		return
	case o.truth || o.unary || h.maybe(3):
		h.define(o.name, result, args...)
		return
	}
	// by recursion on the second argument, with the usual start and step or a random one
	n, ih := &Local{"n", number.term()}, &Local{"ih", number.term()}
	start, step := variable(x), apply(constant("Nat.succ"), variable(ih))
	if o.name == "Nat.mul" && h.made["Nat.add"] {
		start, step = constant("Nat.zero"), apply(constant("Nat.add"), variable(ih), variable(x))
	}
	if h.maybe(4) {
		start = h.term(number, 2, []*Local{x})
	}
	if h.maybe(4) {
		step = h.term(number, 3, []*Local{x, n, ih})
	}
	body := h.shape.rec(lam(&Local{"m", number.term()}, number.term()), start, lams([]*Local{n, ih}, step), variable(y), succ(nil))
	h.declare(o.name, nil, pis([]*Local{x, y}, number.term()), lams([]*Local{x, y}, body))
	h.know(number, args, constant(o.name))
}

// term makes a term of a type from what is known and in scope.
func (h *hunter) term(v valueType, depth int, scope []*Local) *Term {
	t := h.make(v, depth, scope)
	if h.resolve(v) == truth && !hasFree(t) {
		h.note(t)
	}
	return t
}

func (h *hunter) note(t *Term) {
	key := t.String()
	if h.closed[key] == nil {
		h.closed[key] = t
		h.order = append(h.order, key)
	}
}

// hasFree says whether a variable occurs outside the types of binders. Hunted terms bind variables in motives only, and
// those do not occur but in types.
func hasFree(t *Term) bool {
	if t == nil {
		return false
	}
	return t.kind == localTerm || hasFree(t.a) || hasFree(t.b) || hasFree(t.c)
}

func (h *hunter) make(v valueType, depth int, scope []*Local) *Term {
	v = h.resolve(v)
	var leaves, inner []func() *Term
	for _, l := range scope {
		if h.resolve(valueTypeOf(l.typ)) == v {
			leaves = append(leaves, func() *Term { return variable(l) })
		}
	}
	for _, k := range h.known {
		if h.resolve(k.result) != v {
			continue
		}
		build := func() *Term {
			args := make([]*Term, len(k.args))
			for i, a := range k.args {
				args[i] = h.term(a, depth-1, scope)
			}
			return k.build(args)
		}
		if len(k.args) == 0 {
			leaves = append(leaves, build)
		} else {
			inner = append(inner, build)
		}
	}
	if v == number && (h.shape == leanNat || h.maybe(8)) {
		leaves = append(leaves, func() *Term { return natLiteral(strconv.Itoa(h.IntN(5))) })
	}
	maker := h.made["String.ofList"] || h.made["String.mk"]
	if v == h.resolve(text) && h.made["String"] && (maker && h.made["Char.ofNat"] || h.maybe(8)) {
		leaves = append(leaves, func() *Term { return strLiteral([]string{"", "", "a", "b", "ab"}[h.IntN(5)]) })
	}
	if depth > 1 && (v == truth || v == number) {
		if v == truth && h.maybe(4) {
			inner = append(inner, func() *Term { // a cast along a proof that may not fit
				from, value := h.term(truth, depth-2, scope), h.term(truth, depth-1, scope)
				to := from
				if h.maybe(8) {
					to = h.term(truth, 1, scope)
				}
				c := &Local{"c", truth.term()}
				motive := lam(c, lam(&Local{"h", equals(from, variable(c))}, truth.term()))
				return apply(constant("Eq.rec", succ(nil), succ(nil)), truth.term(), from, motive, value, to, apply(constant("Eq.refl", succ(nil)), truth.term(), from))
			})
		}
		inner = append(inner, func() *Term { // if then else
			motive := lam(&Local{"b", truth.term()}, v.term())
			return apply(constant("Bool.rec", succ(nil)), motive, h.term(v, depth-1, scope), h.term(v, depth-1, scope), h.term(truth, depth-1, scope))
		})
	}
	if depth > 0 && len(inner) > 0 && (len(leaves) == 0 || !h.maybe(3)) {
		return inner[h.IntN(len(inner))]()
	}
	if len(leaves) == 0 {
		return apply(constant("Bool.rec", succ(nil)), lam(&Local{"b", truth.term()}, v.term()), constant("Bool.true"), constant("Bool.true"), constant("Bool.true"))
	}
	return leaves[h.IntN(len(leaves))]()
}

// valueTypeOf reads a type that valueType.term wrote.
func valueTypeOf(t *Term) valueType {
	head, _ := spine(t)
	return valueType(head.name)
}

// patience is how long the check of one equation may take; what does not finish is not accepted.
const patience = 20 * time.Millisecond

// evaluationSteps bounds the evaluation of one term.
const evaluationSteps = 10_000

// maxTerms bounds the truth values of one environment that are compared.
const maxTerms = 5

// attack asks which truth values are equal, and makes False of it where it can be made.
func (h *hunter) attack(options kernel.Options) (out Hunt) {
	if !h.accepts(options) {
		return out
	}
	out.Accepted = true
	out.Wrong = cycles(h.decls)
	for _, k := range h.known { // what the environment declares without arguments, and with some
		args := make([]*Term, len(k.args))
		for i, a := range k.args {
			args[i] = h.term(a, 1, nil)
		}
		t := k.build(args)
		switch h.resolve(k.result) {
		case truth:
			h.note(t)
		case number:
			h.note(apply(constant("isZero"), t))
		}
	}
	if out.False = h.successors(options, &out.Probes); out.False != nil {
		return out
	}
	h.Shuffle(len(h.order), func(i, j int) { h.order[i], h.order[j] = h.order[j], h.order[i] })
	h.order = append(h.literalParts(), h.order...)
	terms := h.welltyped(options)
	yes, no := constant("Bool.true"), constant("Bool.false")
	nodes := []*Term{yes, no}
	for _, t := range terms {
		nodes = append(nodes, t, apply(constant("not"), t))
	}
	values := make([]string, len(nodes))
	suspect, contradicted := false, false
	for i, t := range nodes {
		value, err := newEvaluator(h.decls, evaluationSteps).value(t)
		switch {
		case errors.Is(err, errUnfinished): // a large number, or a definition of itself
			suspect = true
		case err != nil:
			out.Wrong = append(out.Wrong, fmt.Sprintf("%s has no value: %v", t, err))
		}
		values[i] = value
	}
	equal := make([][]bool, len(nodes))
	for i := range equal {
		equal[i] = make([]bool, len(nodes))
	}
	for i := range nodes {
		for j := range i {
			// Terms that evaluate alike may be equal. Where all have values, it is enough to ask for true and false, and now
			// and then for two others.
			if !suspect && (values[i] == values[j] || j > 1 && !h.maybe(8)) {
				continue
			}
			out.Probes++
			if h.accepts(options, equation(fmt.Sprintf("e%d_%d", i, j), nodes[i], nodes[j])) {
				equal[i][j], equal[j][i] = true, true
				if values[i] != "" && values[j] != "" && values[i] != values[j] {
					contradicted = true
					out.Wrong = append(out.Wrong, fmt.Sprintf("%s and %s are equal, and evaluate to %s and %s", nodes[i], nodes[j], values[i], values[j]))
				}
			}
		}
	}
	if suspect || contradicted {
		out.Suspect = true
		out.False = h.prove(options, nodes, equal)
	}
	return out
}

// maxNumbers bounds the numbers of one environment of which it is asked whether they are their own successors.
const maxNumbers = 4

// successors asks of closed numbers whether they are their own successors, and builds the proof of False.
func (h *hunter) successors(options kernel.Options, probes *int) *File {
	if h.shape == largerNat {
		return nil
	}
	asked := 0
	for _, k := range h.known {
		if h.resolve(k.result) != number || asked == maxNumbers {
			continue
		}
		asked++
		args := make([]*Term, len(k.args))
		for i, a := range k.args {
			args[i] = h.term(a, 1, nil)
		}
		n := k.build(args)
		*probes++
		boom := &Decl{Kind: "theorem", Name: "boom", Type: constant("False"), Attrs: map[string]string{},
			Value: apply(constant("notSuccessorOfItself"), n, apply(constant("Eq.refl", succ(nil)), number.term(), n))}
		if h.accepts(options, boom) {
			return &File{Version: "4.99.0", Decls: append(append([]*Decl{}, h.decls...), boom)}
		}
	}
	return nil
}

// cycles says which declarations rest on themselves or on what comes later, by names and by what their literals stand
// for. In an accepted file there are none.
func cycles(decls []*Decl) (out []string) {
	place, byName := map[string]int{}, map[string]*Decl{}
	for i, d := range decls {
		place[d.Name], byName[d.Name] = i, d
		for _, t := range d.Types {
			place[t.Name], place[t.Name+".rec"] = i, i
			for _, k := range t.Ctors {
				place[k.Name] = i
			}
		}
		for _, r := range d.Recursors {
			place[r.Name] = i
		}
	}
	maker := makerOf(byName)
	for i, d := range decls {
		if d.Kind == "inductive" {
			continue
		}
		use := func(name string) {
			if at, ok := place[name]; ok && at >= i {
				out = append(out, fmt.Sprintf("%s rests on %s, which does not come before it", d.Name, name))
			}
		}
		var walk func(t *Term)
		walk = func(t *Term) {
			if t == nil {
				return
			}
			switch t.kind {
			case constTerm, projTerm:
				use(t.name)
			case natTerm:
				use("Nat")
			case strTerm:
				use("String")
				use(maker)
				use("List.nil")
				if t.text != "" {
					use("List.cons")
					use("Char.ofNat")
				}
			}
			if t.local != nil && t.kind != localTerm {
				walk(t.local.typ)
			}
			walk(t.a)
			walk(t.b)
			walk(t.c)
		}
		walk(d.Type)
		walk(d.Value)
	}
	return out
}

// literalParts are truth values told of a literal and of what it stands for, a few in each environment.
func (h *hunter) literalParts() (keys []string) {
	see := func(v valueType, t *Term) {
		switch h.resolve(v) {
		case number:
			t = apply(constant("isZero"), t)
		case truth:
		default:
			return
		}
		key := t.String()
		if h.closed[key] == nil {
			h.closed[key] = t
		}
		keys = append(keys, key)
	}
	literal := []string{"", "a"}[h.IntN(2)]
	_, parts := spine(newEvaluator(h.decls, 0).expand(literal))
	if _, ok := h.equals[text]; ok {
		see(text, strLiteral(literal))
	} else {
		see(list, projection("String", 0, strLiteral(literal)))
	}
	see(list, parts[0])
	return keys
}

// welltyped picks terms that the checker takes for truth values: literals may stand where they mean nothing yet.
func (h *hunter) welltyped(options kernel.Options) (terms []*Term) {
	var candidates []*Decl
	for i, key := range h.order {
		if i == maxTerms {
			break
		}
		candidates = append(candidates, &Decl{Kind: "def", Name: fmt.Sprintf("candidate%d", i), Type: constant("Bool"), Value: h.closed[key], Attrs: map[string]string{}})
	}
	everyOne := h.accepts(options, candidates...)
	for _, d := range candidates {
		if everyOne || h.accepts(options, d) {
			terms = append(terms, d.Value)
		}
	}
	return terms
}

func equation(name string, x, y *Term) *Decl {
	return &Decl{Kind: "theorem", Name: name, Attrs: map[string]string{}, Type: equals(x, y), Value: apply(constant("Eq.refl", succ(nil)), constant("Bool"), x)}
}

func equals(x, y *Term) *Term { return apply(constant("Eq", succ(nil)), constant("Bool"), x, y) }

// prove looks for a chain of equal terms between two that differ, and builds the proof of False.
func (h *hunter) prove(options kernel.Options, nodes []*Term, equal [][]bool) *File {
	goals := [][2]int{{0, 1}} // true and false, then each term and its negation
	for i := 2; i+1 < len(nodes); i += 2 {
		goals = append(goals, [2]int{i, i + 1})
	}
	for g, goal := range goals {
		path := shortestPath(equal, goal[0], goal[1])
		if path == nil {
			continue
		}
		var steps []*Decl
		start := nodes[path[0]]
		proof := apply(constant("Eq.refl", succ(nil)), constant("Bool"), start)
		for k := 1; k < len(path); k++ {
			from, to := nodes[path[k-1]], nodes[path[k]]
			step := equation(fmt.Sprintf("step%d", k), from, to)
			if !h.accepts(options, append(append([]*Decl{}, steps...), step)...) { // equal in the other direction only
				step.Value = apply(constant("Eq.refl", succ(nil)), constant("Bool"), to)
			}
			steps = append(steps, step)
			b := &Local{"b", constant("Bool")}
			motive := lam(b, lam(&Local{"h", equals(from, variable(b))}, equals(start, variable(b))))
			proof = apply(constant("Eq.rec", nil, succ(nil)), constant("Bool"), from, motive, proof, to, constant(step.Name))
		}
		boom := &Decl{Kind: "theorem", Name: "boom", Type: constant("False"), Value: apply(constant("trueNotFalse"), proof), Attrs: map[string]string{}}
		if g > 0 {
			boom.Value = apply(constant("noFixpoint"), start, proof)
		}
		extra := append(steps, boom)
		if h.accepts(options, extra...) {
			return &File{Version: "4.99.0", Decls: append(append([]*Decl{}, h.decls...), extra...)}
		}
	}
	return nil
}

func shortestPath(equal [][]bool, from, to int) []int {
	previous := map[int]int{from: from}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for next, ok := range equal[queue[0]] {
			if _, seen := previous[next]; ok && !seen {
				previous[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	if _, ok := previous[to]; !ok {
		return nil
	}
	var path []int
	for n := to; n != from; n = previous[n] {
		path = append([]int{n}, path...)
	}
	return append([]int{from}, path...)
}

// accepts says whether the checker accepts the environment with some declarations more. A checker that panics is noted.
func (h *hunter) accepts(options kernel.Options, extra ...*Decl) (accepted bool) {
	defer func() {
		if p := recover(); p != nil {
			accepted, h.panics = false, append(h.panics, fmt.Sprint("the checker panics: ", p))
		}
	}()
	if h.written == nil {
		h.written = (&File{Version: "4.99.0", Decls: h.decls}).emit()
	}
	file, err := export.Read(context.Background(), strings.NewReader(h.written.with(extra)), export.Limits{})
	if err != nil {
		return false
	}
	wait := patience
	if len(extra) == 0 {
		wait *= 50
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait) // a definition of itself reduces for ever
	defer cancel()
	return kernel.Check(ctx, file.Store, file.Declarations, options).Accepted()
}

// String writes the file in the language of parse.go.
func (f *File) String() string {
	var out strings.Builder
	for _, d := range f.Decls {
		out.WriteString(d.String() + "\n")
	}
	return out.String()
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 11)) }

package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/test/sweep"
)

// The second hunter makes types that are stuck on a variable, and looks for answers that depend on earlier ones. An
// environment has a type of one value (an enumeration, a structure, universe-polymorphic), a proposition that eliminates
// into data (alone, a pair, indexed by a proposition, K-like), a family D of types by its recursor, stuck on a variable,
// and definitions of it that unfold in either order. On it the hunter makes functions that may be equal, and inductive
// types, alone, mutual and nested, with fields whose types reduce to the type if two such functions are found equal.
//
// It knows what must be true and no attack:
//   - a claim that is accepted alone is accepted after others, and one that is refused alone is refused after others;
//   - no recursor is accepted in which a premise and its rule have hypotheses of different fields;
//   - no answer is another one with the caches off (where the kernel has that switch: askOtherwise).
type historyHunter struct {
	*rand.Rand
	text  string // of the environment
	value string // of U
	proof string // of P
	sides []func(p string) string
}

// historyHunt is what was found in one environment.
type historyHunt struct {
	claims, types int
	asymmetric    bool // two functions are equal in one order only
	wrong         []string
}

func (h *historyHunter) oneOf(options ...string) string { return options[h.IntN(len(options))] }

func huntHistory(seed uint64) (out historyHunt) {
	h := &historyHunter{Rand: rand.New(rand.NewPCG(seed, 17))}
	h.environment()
	if !accepts(h.text) {
		out.wrong = append(out.wrong, "the environment is refused:\n"+h.text)
		return out
	}
	h.chooseSides()
	equal := h.matrix(&out)
	for range 6 {
		h.afterOthers(equal, &out)
	}
	for i := range equal {
		for j := range equal {
			if equal[i][j] && !equal[j][i] {
				out.asymmetric = true
				for range 2 {
					h.inductive(h.sides[i], h.sides[j], &out)
				}
				return out
			}
		}
	}
	return out
}

// environment declares U, P and the families over it.
func (h *historyHunter) environment() {
	units := [][2]string{
		{"inductive U : Type | U.u : U", "U.u"},
		{"inductive Inner : Type | Inner.u : Inner\ninductive U : Type | U.u : Inner → U", "(U.u Inner.u)"},
		{"inductive Unit.{u} : Type u | Unit.u : Unit.{u}\ndef U : Type := Unit.{0}", "Unit.u.{0}"},
		{"inductive Pair.{u} (α : Type u) : Type u | Pair.mk : α → α → Pair.{u} α\ninductive Inner : Type | Inner.u : Inner\ndef U : Type := Pair.{0} Inner", "(Pair.mk.{0} Inner Inner.u Inner.u)"},
	}
	props := [][3]string{ // the declaration and P, a proof, the recursor up to its major premise
		{"def P : Prop := And True True", "(And.intro True True True.intro True.intro)", "And.rec.{2} True True (fun (q : And True True) => Type) (fun (a b : True) => U)"},
		{"@[large] inductive Box : Prop | Box.mk : True → Box\ndef P : Prop := Box", "(Box.mk True.intro)", "Box.rec.{2} (fun (q : Box) => Type) (fun (a : True) => U)"},
		{"@[large] inductive Fam (a : Prop) : Prop | Fam.mk : a → Fam a\ndef P : Prop := Fam True", "(Fam.mk True True.intro)", "Fam.rec.{2} True (fun (q : Fam True) => Type) (fun (a : True) => U)"},
		{"@[large] inductive At (a : Prop) : Prop → Prop | At.mk : a → At a a\ndef P : Prop := At True True", "(At.mk True True.intro)", "At.rec.{2} True (fun (b : Prop) (q : At True b) => Type) (fun (a : True) => U) True"},
		{"inductive One : Prop | One.mk : One\ndef P : Prop := One", "One.mk", "One.rec.{2} (fun (q : One) => Type) U"}, // K: never stuck
	}
	unit, prop := units[h.IntN(len(units))], props[h.IntN(len(props))]
	h.value, h.proof = unit[1], "both"
	hint := func() string { return h.oneOf("", "@[hints=regular] ", "@[hints=opaque] ") }
	h.text = textLogic + unit[0] + "\n" + prop[0] + "\n" + hint() + "def both : P := " + prop[1] + "\n" +
		hint() + "def D : P → Type := fun (p : P) => " + prop[2] + " p\n" +
		hint() + "def E.{u} : Sort u → (P → Type) → P → Type := fun (α : Sort u) (f : P → Type) (p : P) => f p\n" +
		hint() + "def F : P → Type := fun (p : P) => D p → U\n" +
		"def sink : U → Type := fun (u : U) => U\n"
}

// chooseSides makes functions of F p.
func (h *historyHunter) chooseSides() {
	all := h.Perm(16)
	for _, n := range all {
		domain := []string{"D %s", "D both", "E.{1} Prop D %s", "U"}[n%4]
		body := []string{h.value, "z", "((fun (y : U) => y) z)", "((fun (y : U) => " + h.value + ") " + h.value + ")"}[n/4]
		side := func(p string) string {
			return "(fun (z : " + strings.ReplaceAll(domain, "%s", p) + ") => " + body + ")"
		}
		if len(h.sides) < 5 && accepts(h.text+"def side : ∀ (p : P), F p := fun (p : P) => "+side("p")) {
			h.sides = append(h.sides, side)
		}
	}
}

func sameFunctions(p, left, right string) string { return "Eq.{1} (F " + p + ") " + left + " " + right }

// claim states that two functions are equal, after others of which that was found.
func claim(left, right func(p string) string, before ...[2]func(p string) string) string {
	proof := "Eq.refl.{1} (F p) " + left("p")
	for i, b := range slices.Backward(before) {
		proof = fmt.Sprintf("let c%d : %s := Eq.refl.{1} (F p) %s; %s", i, sameFunctions("p", b[0]("p"), b[1]("p")), b[0]("p"), proof)
	}
	return "theorem claim : ∀ (p : P), " + sameFunctions("p", left("p"), right("p")) + " := fun (p : P) => " + proof
}

// matrix asks of every two functions, alone, whether they are equal.
func (h *historyHunter) matrix(out *historyHunt) [][]bool {
	equal := make([][]bool, len(h.sides))
	for i := range h.sides {
		equal[i] = make([]bool, len(h.sides))
		for j := range h.sides {
			out.claims++
			equal[i][j] = i == j || accepts(h.text+claim(h.sides[i], h.sides[j]))
		}
	}
	return equal
}

// afterOthers asks one question after up to three others that are answered yes.
func (h *historyHunter) afterOthers(equal [][]bool, out *historyHunt) {
	var before [][2]func(p string) string
	for range 1 + h.IntN(3) {
		if i, j := h.IntN(len(equal)), h.IntN(len(equal)); equal[i][j] {
			before = append(before, [2]func(p string) string{h.sides[i], h.sides[j]})
		}
	}
	i, j := h.IntN(len(equal)), h.IntN(len(equal))
	if h.IntN(2) == 0 { // one that is refused alone, after as many of those that are accepted
		for x := range equal {
			for y := range equal {
				if !equal[x][y] && equal[y][x] {
					i, j = x, y
				}
			}
		}
		if !equal[i][j] && equal[j][i] {
			before = append(before, [2]func(p string) string{h.sides[j], h.sides[i]})
		}
	}
	out.claims++
	text := h.text + claim(h.sides[i], h.sides[j], before...)
	if accepts(text) != equal[i][j] {
		out.wrong = append(out.wrong, fmt.Sprintf("alone it is %v, and otherwise after others:\n%s", equal[i][j], text))
	}
	if difference := askOtherwise(exportOf(text)); difference != "" {
		out.wrong = append(out.wrong, difference+":\n"+text)
	}
}

// inductive makes a type with two fields x and y, whose types reduce to the type when right and left, which are equal in
// the other order only, are found equal. Other constructors ask in that order. In none of the recursors tried are premise
// and rule of one field.
func (h *historyHunter) inductive(left, right func(p string) string, out *historyHunt) {
	cast := func(p string, l, r func(p string) string, proof, result string) string {
		return "(Eq.rec.{2, 1} (F " + p + ") " + l(p) + " (fun (x : F " + p + ") (e : " + sameFunctions(p, l(p), "x") + ") => Type) " + result + " " + r(p) + " " + proof + ")"
	}
	asks := "(p : P) (h : " + sameFunctions("p", right("p"), left("p")) + ") (w : " + cast("p", right, left, "h", "U") + ")"
	field := "T"
	fields := "(p q : P) (h : " + sameFunctions("p", left("p"), right("p")) + ") (k : " + sameFunctions("q", left("q"), right("q")) + ") (x : " +
		cast("p", left, right, "h", field) + ") (y : " + cast("q", left, right, "k", field) + ")"
	type constructor struct {
		name, binders, arguments string
		fields                   int
	}
	ctors := []constructor{}
	for i := range 1 + h.IntN(4) {
		c := constructor{name: fmt.Sprintf("T.c%d", i), binders: asks, arguments: "p h w", fields: 3}
		switch h.IntN(4) {
		case 0: // below binders of a field
			c.binders, c.arguments, c.fields = "(g : ∀ "+strings.Repeat("(t : True) ", h.IntN(24))+asks+", sink w)", "g", 1
		case 1: // nothing before
		default:
			for d := range h.IntN(4) {
				c.binders, c.arguments, c.fields = fmt.Sprintf("(s%d : True) %s", d, c.binders), fmt.Sprintf("s%d %s", d, c.arguments), c.fields+1
			}
		}
		ctors = append(ctors, c)
	}
	ctors = append(ctors, constructor{name: "T.mk", binders: fields, arguments: "p q h k x y", fields: 6})
	text := "inductive T : Type | T.base : T"
	for _, c := range ctors {
		text += " | " + c.name + " : ∀ " + c.binders + ", T"
	}
	out.types++
	if h.IntN(4) == 0 { // mutual, and nested in a structure; without recursor records, which then is all that is wrong
		h.withoutRecursors(text, cast, left, right, out)
		return
	}
	for _, recursive := range [][2]string{{"x", "y"}, {"y", "x"}, {"x", ""}, {"", "y"}} {
		premise, rule := "", ""
		if recursive[0] != "" {
			premise = "motive " + recursive[0] + " → "
		}
		binders := "(motive : T → Sort w) (base : motive T.base) "
		minors := "motive base"
		for i, c := range ctors {
			extra := ""
			if c.name == "T.mk" {
				extra = premise
			}
			binders += fmt.Sprintf("(m%d : ∀ %s, %smotive (%s %s)) ", i, c.binders, extra, c.name, c.arguments)
			minors += fmt.Sprintf(" m%d", i)
		}
		if recursive[1] != "" {
			rule = " (T.rec.{w} " + minors + " " + recursive[1] + ")"
		}
		of := func(text string) *Term { return parse("axiom x.{w} : " + text)[0].Type }
		r := &Recursor{Name: "T.rec", Params: []string{"w"}, NumMotives: 1, NumMinors: 1 + len(ctors), Type: of("∀ " + binders + "(t : T), motive t"),
			Rules: []*Rule{{"T.base", 0, of("fun " + binders + " => base")}}}
		for i, c := range ctors {
			extra := ""
			if c.name == "T.mk" {
				extra = rule
			}
			r.Rules = append(r.Rules, &Rule{c.name, c.fields, of(fmt.Sprintf("fun %s%s => m%d %s%s", binders, c.binders, i, c.arguments, extra))})
		}
		f := &File{Version: "4.99.0", Decls: parse(h.text + text)}
		f.Find("T").Recursors = []*Recursor{r}
		if acceptsExport(f.emit().Text()) {
			out.wrong = append(out.wrong, fmt.Sprintf("a recursor with a premise of %q and a rule of %q is accepted:\n%s%s", recursive[0], recursive[1], h.text, text))
		}
	}
}

// withoutRecursors checks a block with a second type, or one nested in a structure, whose fields reduce to the types.
func (h *historyHunter) withoutRecursors(text string, cast func(p string, l, r func(p string) string, proof, result string) string, left, right func(p string) string, out *historyHunt) {
	field := func(result string) string {
		return "∀ (p : P) (h : " + sameFunctions("p", right("p"), left("p")) + "), " + cast("p", right, left, "h", result)
	}
	switch h.IntN(2) {
	case 0:
		text = "@[norec] mutual " + text + " inductive V : Type | V.mk : (" + field("T") + ") → V | V.of : (" + field("V") + ") → V end"
	default:
		text = "inductive Wrap.{u} (α : Type u) : Type u | Wrap.mk : α → Wrap.{u} α\n@[norec, numNested=1] " + text + " | T.wrap : (" + field("(Wrap.{0} T)") + ") → T"
	}
	if difference := askOtherwise(exportOf(h.text + text)); difference != "" {
		out.wrong = append(out.wrong, difference+":\n"+h.text+text)
	}
}

func exportOf(text string) string {
	return (&File{Version: "4.99.0", Decls: parse(text)}).emit().Text()
}

func accepts(text string) bool { return acceptsExport(exportOf(text)) }

func acceptsExport(text string) bool {
	file, err := export.Read(context.Background(), strings.NewReader(text), export.Limits{})
	return err == nil && kernel.Check(context.Background(), file.Store, file.Declarations, huntOptions).Accepted()
}

// HISTORY_SEEDS sets how many environments are built. On the kernel of revision 261f4632 the first wrong claim and the
// first wrong recursor are logged with the number of environments.
func TestHistoryHunter(t *testing.T) {
	t.Parallel()
	seeds, start := sweep.Size(t, "HISTORY_SEEDS", 20, 800), time.Now()
	claims, types, asymmetric, kinds := 0, 0, 0, map[string]bool{}
	for seed := range uint64(seeds) {
		found := huntHistory(seed)
		claims, types = claims+found.claims, types+found.types
		if found.asymmetric {
			asymmetric++
		}
		for _, w := range found.wrong {
			kind, _, _ := strings.Cut(w, " ")
			if !kinds[kind] {
				kinds[kind] = true
				t.Errorf("environment %d after %v: %s", seed+1, time.Since(start), w)
			}
		}
	}
	t.Logf("%d environments, %d with functions that are equal in one order only, %d claims, %d types, %v", seeds, asymmetric, claims, types, time.Since(start))
	if asymmetric < seeds/10 {
		t.Errorf("only %d of %d environments have functions that are equal in one order only: the hunter does not hunt", asymmetric, seeds)
	}
}

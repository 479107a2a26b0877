package kernel

import (
	"context"
	"sync/atomic"
	"testing"

	"reckon/domain/lean/term"
)

// generate derives the recursors of the last declaration of a text, and leaves the block ready for checkGenerated.
func generate(t *testing.T, source string) (*block, []generatedRecursor) {
	t.Helper()
	file := read(t, writeSource(t, source))
	var refused atomic.Int64
	refused.Store(1 << 40)
	f := newFoundation(file.Store, file.Declarations)
	c := newChecker(context.Background(), f, file.Store, nil, DefaultMaxDepth, &refused)
	c.recognise()
	last := len(file.Declarations) - 1
	c.begin(last)
	b := c.newBlock(file.Declarations[last].Block)
	return b, b.generateRecursors()
}

// generatedRefusal is the refusal that checkGenerated ends with, or nil.
func generatedRefusal(b *block, recursors []generatedRecursor) (refusal *refusalPanic) {
	defer func() {
		if p, ok := recover().(refusalPanic); ok {
			refusal = &p
		}
	}()
	b.checkGenerated(recursors)
	return nil
}

const generatedTree = `
inductive Tree.{u} (α : Type u) : Type u
| leaf : Tree.{u} α
| node (left : Tree.{u} α) (value : α) (right : Tree.{u} α) : Tree.{u} α`

// A recursor whose premise and rule were built from different fields is found out by its types: the number of arguments
// is right.
func TestGeneratedRulesKeepTypes(t *testing.T) {
	t.Parallel()
	b, recursors := generate(t, generatedTree)
	if refusal := generatedRefusal(b, recursors); refusal != nil {
		t.Fatalf("what is generated is refused: %s", refusal.message)
	}
	for name, spoil := range map[string]func(b *block, r *generatedRecursor){
		"the rule passes the hypotheses in the other order": func(b *block, r *generatedRecursor) {
			r.rules[1].Value = b.store.Replace(r.rules[1].Value, swapLastTwo(b.store))
		},
		"the rule of another constructor": func(_ *block, r *generatedRecursor) { r.rules[0].Value = r.rules[1].Value },
		"the recursor on another constructor": func(_ *block, r *generatedRecursor) {
			r.redexes[0], r.redexes[1] = r.redexes[1], r.redexes[0]
		},
		"a type that is none": func(b *block, r *generatedRecursor) { r.typ = r.rules[0].Value },
	} {
		b, recursors := generate(t, generatedTree)
		spoil(b, &recursors[0])
		if refusal := generatedRefusal(b, recursors); refusal == nil || refusal.class != InvalidInductive {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}

// swapLastTwo turns f a b into f b a where f takes four arguments or more before.
func swapLastTwo(s *term.Store) func(e term.Expr) (term.Expr, bool) {
	return func(e term.Expr) (term.Expr, bool) {
		head, args := s.Spine(e, nil)
		if n := len(args); n == 5 && s.Kind(head) == term.KindBVar {
			args[n-1], args[n-2] = args[n-2], args[n-1]
			return s.Apps(head, args), true
		}
		return 0, false
	}
}

// The types of the fields of a structure are what projections have; those that cannot be projected are left out.
func TestProjectionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"dependent": "inductive S (α : Type) (f : α -> Type) : Type | mk (a : α) (b : f a) (c : α -> f a) : S α f",
		"Prop":      "inductive True : Prop | intro : True inductive P : Prop | mk (a : True) (b : Prop) (c : b) : P",
		"indexed":   "inductive Two : Type | a : Two | b : Two inductive I (α : Type) : Two -> Type | mk (t : Two) (x : α) : I α t",
	} {
		b, recursors := generate(t, source)
		if refusal := generatedRefusal(b, recursors); refusal != nil {
			t.Errorf("%s: %s", name, refusal.message)
		}
	}
}

// A checker of generated types begins anew with caches when it does not finish without, and never gives up for that.
func TestGeneratedTypesThatShareParts(t *testing.T) {
	t.Parallel()
	text := "def pair (α : Type) (β : Type) : Type := α -> β -> α\n"
	field := "share x0 := Prop; "
	for i := range 24 {
		field += "share x" + string(rune('a'+i)) + " := pair " + map[bool]string{true: "N", false: "x" + string(rune('a'+i-1))}[i == 0] + " " + map[bool]string{true: "N", false: "x" + string(rune('a'+i-1))}[i == 0] + "; "
	}
	text += "inductive N : Type | zero : N\ninductive S : Type | mk (f : " + field + "xx) : S"
	b, recursors := generate(t, text)
	if refusal := generatedRefusal(b, recursors); refusal != nil {
		t.Error(refusal.message)
	}
}

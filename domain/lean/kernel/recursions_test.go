package kernel

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
)

// recognise runs the recogniser of an operation on an export, pins aside.
func recognise(t *testing.T, file *export.File, name string) bool {
	t.Helper()
	base := newFoundation(file.Store, file.Declarations)
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	c := newChecker(context.Background(), base, file.Store, nil, DefaultMaxDepth, &refused)
	c.recognise()
	c.addMissingRecursors()
	self := file.Store.InternDotted(name)
	unit, declared := base.env.IntroducedBy(self)
	if !declared {
		t.Fatalf("%s is not declared", name)
	}
	for _, op := range natOperations {
		if op.id.String() == name {
			base.known.usableFrom[op.id] = neverUsable
			before := c.steps
			ok := c.holdsAt(unit+1, func() bool {
				return op.equations(&equations{checker: c, nat: c.natLiteralType(), boolean: 0, self: self})
			})
			t.Logf("%s: %v in %d steps", name, ok, c.steps-before)
			return ok
		}
	}
	t.Fatalf("%s is no operation", name)
	return false
}

func readExport(t *testing.T, path string) *export.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	file, err := export.Read(context.Background(), f, export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Lean's own definitions are recognised by what they compute, without their fingerprints.
func TestRecursionsOfLeanAreRecognised(t *testing.T) {
	file := readExport(t, filepath.Join(leantest.SharedDir(t, "accept"), "init-prelude.ndjson"))
	for _, name := range []string{"Nat.div", "Nat.mod"} {
		if !recognise(t, file, name) {
			t.Errorf("%s is not recognised", name)
		}
	}
}

// Parts of definitions: a choice, recursion on fuel over v, and recursion on x.
func choose(condition, then, otherwise string) string {
	return "(Bool.rec.{1} (fun (b : Bool) => Nat) " + otherwise + " " + then + " " + condition + ")"
}

func fuelled(exhausted, step, fuel, v string) string {
	return "(Nat.rec.{1} (fun (n : Nat) => Nat -> Nat) (fun (v : Nat) => " + exhausted + ") (fun (n : Nat) (ih : Nat -> Nat) (v : Nat) => " + step + ") " + fuel + " " + v + ")"
}

func counting(zero, step string) string {
	return "(Nat.rec.{1} (fun (n : Nat) => Nat) " + zero + " (fun (n ih : Nat) => " + step + ") x)"
}

// shape is a file that defines an operation.
func shape(name, body string) string {
	if name == "Nat.log2" {
		return declaredBefore(name) + "def Nat.log2 (x : Nat) : Nat := " + body
	}
	return declaredBefore(name) + "def " + name + " (x y : Nat) : Nat := " + body
}

var (
	remainder    = choose("(Nat.ble y v)", "(ih (Nat.sub v y))", "v")
	quotient     = choose("(Nat.ble y v)", "(Nat.succ (ih (Nat.sub v y)))", "0")
	goodQuotient = choose("(Nat.ble 1 y)", fuelled("0", quotient, "(Nat.succ x)", "x"), "0")
	halving      = choose("(Nat.ble 2 v)", "(Nat.succ (ih (Nat.div v 2)))", "0")
)

var shapes = []struct {
	about, operation, body string
	right                  bool
}{
	{"fuel x+1", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x"), true},
	{"fuel x+1, whatever is left", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("77", remainder, "(Nat.succ x)", "x"), "x"), true},
	{"fuel x+3", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.add x 3)", "x"), "x"), true},
	{"fuel x", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("v", remainder, "x", "x"), "x"), true},
	{"fuel x, no test for zero", "Nat.mod", fuelled("v", remainder, "x", "x"), true},
	{"less than the other way round", "Nat.mod", fuelled("v", choose("(Nat.ble (Nat.succ v) y)", "v", "(ih (Nat.sub v y))"), "x", "x"), true},
	{"test for zero by equality", "Nat.mod", choose("(Nat.beq y 0)", "x", fuelled("v", remainder, "x", "x")), true},
	{"a first step apart", "Nat.mod", choose("(Nat.ble y x)", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x"), "x"), true},
	{"counting up", "Nat.mod", counting("0", choose("(Nat.beq (Nat.succ ih) y)", "0", "(Nat.succ ih)")), true},
	{"counting up by less", "Nat.mod", choose("(Nat.beq y 0)", "x", counting("0", choose("(Nat.ble y (Nat.succ ih))", "0", "(Nat.succ ih)"))), true},
	{"fuel x+1", "Nat.div", goodQuotient, true},
	{"fuel x", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", quotient, "x", "x"), "0"), true},
	{"plus one", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble y v)", "(Nat.add (ih (Nat.sub v y)) 1)", "0"), "x", "x"), "0"), true},
	{"fuel x", "Nat.log2", fuelled("0", halving, "x", "x"), true},
	{"fuel x+1", "Nat.log2", fuelled("5", halving, "(Nat.succ x)", "x"), true},

	// Near misses: each computes something else for some numbers.
	{"wrong at 0", "Nat.mod", choose("(Nat.ble x 0)", "1", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x")), false},
	{"wrong at x = 5", "Nat.mod", choose("(Nat.beq x 5)", "0", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x")), false},
	{"wrong where v = 5", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.beq v 5)", "0", remainder), "(Nat.succ x)", "x"), "x"), false},
	{"wrong where y = 7", "Nat.mod", choose("(Nat.beq y 7)", "0", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x")), false},
	{"wrong from the million on", "Nat.mod", choose("(Nat.ble 1000000 x)", "0", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x")), false},
	{"0 by zero", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "0"), false},
	{"0 by zero, at the end of the fuel", "Nat.mod", fuelled("0", remainder, "x", "x"), false},
	{"one too late", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble (Nat.succ y) v)", "(ih (Nat.sub v y))", "v"), "(Nat.succ x)", "x"), "x"), false},
	{"one too early", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble y (Nat.succ v))", "(ih (Nat.sub v y))", "v"), "(Nat.succ x)", "x"), "x"), false},
	{"subtracts one more", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble y v)", "(ih (Nat.sub v (Nat.succ y)))", "v"), "(Nat.succ x)", "x"), "x"), false},
	{"subtracts the other way", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble y v)", "(ih (Nat.sub y v))", "v"), "(Nat.succ x)", "x"), "x"), false},
	{"fuel one too small", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("77", remainder, "x", "x"), "x"), false},
	{"fuel x-1", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("77", remainder, "(Nat.pred x)", "x"), "x"), false},
	{"fuel 1000", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("v", remainder, "1000", "x"), "x"), false},
	{"fuel y", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("v", remainder, "(Nat.succ y)", "x"), "x"), false},
	{"fuel x-y", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("v", remainder, "(Nat.sub x y)", "x"), "x"), false},
	{"fuel that depends on x", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("77", remainder, choose("(Nat.ble x 100)", "(Nat.succ x)", "x"), "x"), "x"), false},
	{"a step that depends on the fuel", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.beq n 5)", "0", remainder), "(Nat.succ x)", "x"), "x"), false},
	{"a divisor that grows", "Nat.mod", choose("(Nat.ble 1 y)", "(Nat.rec.{1} (fun (n : Nat) => Nat -> Nat -> Nat) (fun (z v : Nat) => 0) (fun (n : Nat) (ih : Nat -> Nat -> Nat) (z v : Nat) => "+
		choose("(Nat.ble z v)", "(ih (Nat.succ z) (Nat.sub v z))", "v")+") (Nat.succ x) y x)", "x"), false},
	{"more than x", "Nat.mod", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "(Nat.succ x)"), "x"), false},
	{"swapped", "Nat.mod", "(Nat.sub y x)", false},
	{"swapped in the recursion", "Nat.mod", choose("(Nat.ble 1 x)", fuelled("0", choose("(Nat.ble x v)", "(ih (Nat.sub v x))", "v"), "(Nat.succ y)", "y"), "y"), false},
	{"a quotient", "Nat.mod", goodQuotient, false},
	{"counting up to y", "Nat.mod", counting("0", choose("(Nat.beq ih y)", "0", "(Nat.succ ih)")), false},
	{"counting up from 1", "Nat.mod", counting("1", choose("(Nat.beq (Nat.succ ih) y)", "0", "(Nat.succ ih)")), false},
	{"counting up, back to 1", "Nat.mod", counting("0", choose("(Nat.beq (Nat.succ ih) y)", "1", "(Nat.succ ih)")), false},
	{"counting up by two", "Nat.mod", counting("0", choose("(Nat.beq (Nat.succ ih) y)", "0", "(Nat.succ (Nat.succ ih))")), false},
	{"counting up, wrong where n = 9", "Nat.mod", counting("0", choose("(Nat.beq n 9)", "0", choose("(Nat.beq (Nat.succ ih) y)", "0", "(Nat.succ ih)"))), false},
	{"constant", "Nat.mod", "0", false},
	{"a remainder", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", remainder, "(Nat.succ x)", "x"), "x"), false},
	{"1 by zero", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", quotient, "(Nat.succ x)", "x"), "1"), false},
	{"x by zero", "Nat.div", fuelled("0", quotient, "x", "x"), false},
	{"1 at the end", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble y v)", "(Nat.succ (ih (Nat.sub v y)))", "1"), "(Nat.succ x)", "x"), "0"), false},
	{"rounded up", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble 1 v)", "(Nat.succ (ih (Nat.sub v y)))", "0"), "(Nat.succ x)", "x"), "0"), false},
	{"two at a time", "Nat.div", choose("(Nat.ble 1 y)", fuelled("0", choose("(Nat.ble y v)", "(Nat.succ (Nat.succ (ih (Nat.sub v y))))", "0"), "(Nat.succ x)", "x"), "0"), false},
	{"by three", "Nat.log2", fuelled("0", choose("(Nat.ble 2 v)", "(Nat.succ (ih (Nat.div v 3)))", "0"), "x", "x"), false},
	{"from 1 on", "Nat.log2", fuelled("0", choose("(Nat.ble 1 v)", "(Nat.succ (ih (Nat.div v 2)))", "0"), "x", "x"), false},
	{"fuel one too small", "Nat.log2", fuelled("5", halving, "x", "x"), false},
}

// accessibility declares the predicate, an order on Nat and, as axioms, that it is well-founded and that what is asked to
// be less is.
const accessibility = `
inductive large Acc.{u} (α : Sort u) (r : α -> α -> Prop) : α -> Prop
| intro (x : α) (h : (y : α) -> r y x -> Acc.{u} α r y) : Acc.{u} α r x
axiom lt : Nat -> Nat -> Prop
axiom wf : (x : Nat) -> Acc.{1} Nat lt x
axiom dec : (a b : Nat) -> lt a b
`

// wellFounded is recursion over v by step, in which (less ….) calls it.
func wellFounded(step, x string) string {
	step = regexp.MustCompile(`\(less (.*?)\.\)`).ReplaceAllString(step, "(ih $1 (dec $1 v))")
	return "(Acc.rec.{1, 1} Nat lt (fun (x : Nat) (a : Acc.{1} Nat lt x) => Nat) (fun (v : Nat) (h : (z : Nat) -> lt z v -> Acc.{1} Nat lt z) " +
		"(ih : (z : Nat) -> lt z v -> Nat) => " + step + ") " + x + " (wf " + x + "))"
}

func TestWellFoundedRecursionsAreRecognised(t *testing.T) {
	for about, shape1 := range map[string]struct {
		step, x, byZero string
		right           bool
	}{
		"remainder":             {choose("(Nat.ble y v)", "(less (Nat.sub v y).)", "v"), "x", "x", true},
		"first step apart":      {choose("(Nat.ble (Nat.succ v) y)", "v", "(less (Nat.sub v y).)"), "x", "x", true},
		"of x+1":                {choose("(Nat.ble y v)", "(less (Nat.sub v y).)", "v"), "(Nat.succ x)", "x", false},
		"by zero":               {choose("(Nat.ble y v)", "(less (Nat.sub v y).)", "v"), "x", "0", false},
		"wrong base":            {choose("(Nat.ble y v)", "(less (Nat.sub v y).)", "0"), "x", "x", false},
		"subtracts one more":    {choose("(Nat.ble y v)", "(less (Nat.sub v (Nat.succ y)).)", "v"), "x", "x", false},
		"does not descend":      {choose("(Nat.ble y v)", "(less v.)", "v"), "x", "x", false},
		"one too late":          {choose("(Nat.ble (Nat.succ y) v)", "(less (Nat.sub v y).)", "v"), "x", "x", false},
		"adds one on every way": {choose("(Nat.ble y v)", "(Nat.succ (less (Nat.sub v y).))", "v"), "x", "x", false},
	} {
		t.Run(about, func(t *testing.T) {
			text := declaredBefore("Nat.mod") + accessibility + "def Nat.mod (x y : Nat) : Nat := " + choose("(Nat.ble 1 y)", wellFounded(shape1.step, shape1.x), shape1.byZero)
			file := readSource(t, text)
			if r := Check(context.Background(), file.Store, file.Declarations, Options{Workers: 1}); !r.Accepted() {
				t.Fatalf("the definition itself: %v %v", r.Refusal, r.Exhausted)
			}
			if got := recognise(t, readSource(t, text), "Nat.mod"); got != shape1.right {
				t.Errorf("recognised: %v, computes it: %v", got, shape1.right)
			}
		})
	}
}

func read(t *testing.T, text string) *export.File {
	t.Helper()
	file, err := export.Read(context.Background(), strings.NewReader(text), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRecursionsAreRecognisedByWhatTheyCompute(t *testing.T) {
	for _, shape1 := range shapes {
		t.Run(shape1.operation+" "+shape1.about, func(t *testing.T) {
			text := shape(shape1.operation, shape1.body)
			file := readSource(t, text)
			if r := Check(context.Background(), file.Store, file.Declarations, Options{Workers: 1}); !r.Accepted() {
				t.Fatalf("the definition itself: %v %v", r.Refusal, r.Exhausted)
			}
			if got := recognise(t, readSource(t, text), shape1.operation); got != shape1.right {
				t.Errorf("recognised: %v, computes it: %v", got, shape1.right)
			}
		})
	}
}

// An operation that is recognised is computed: 1000000 % 7 = 1 by reflexivity takes as many steps as 10 % 7.
func TestRecognisedRecursionsAreComputed(t *testing.T) {
	for _, shape1 := range shapes {
		if !shape1.right || shape1.operation != "Nat.mod" {
			continue
		}
		file := readSource(t, shape(shape1.operation, shape1.body)+" theorem computed : Eq.{1} Nat (Nat.mod 1000000 7) 1 := Eq.refl.{1} Nat 1")
		file.Store.SetExprLimit(file.Store.ExprCount() + 20_000)
		if r := Check(context.Background(), file.Store, file.Declarations, Options{Workers: 1}); !r.Accepted() {
			t.Errorf("%s: %v %v", shape1.about, r.Refusal, r.Exhausted)
		}
	}
}

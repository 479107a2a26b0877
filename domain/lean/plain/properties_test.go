package plain

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/lean/internal/leantest"
	fast "reckon/domain/lean/kernel"
	"reckon/domain/lean/term"
	"reckon/test/sweep"
)

// smallExports are good exports and, of the rules' pairs, the bad ones, up to the given size.
func smallExports(t testing.TB, size int) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	paths, _ := filepath.Glob("../internal/rules/testdata/*.refuse.ndjson")
	for _, path := range append(paths, leantest.AcceptedExports(t)...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) <= size {
			out[filepath.Base(path)] = text
		}
	}
	return out
}

// What is remembered changes no answer: the outcome without it is the same, but for the budget.
func TestWhatIsRememberedChangesNoAnswer(t *testing.T) {
	t.Parallel()
	decided := 0
	for name, text := range smallExports(t, 100_000) {
		file := readText(t, text)
		if file == nil {
			continue
		}
		with := checkAll(context.Background(), file.Store, file.Declarations, Budget{}, true)
		without := checkAll(context.Background(), file.Store, file.Declarations, Budget{Steps: 1 << 19}, false)
		if without.OutOfBudget != nil {
			continue
		}
		decided++
		if describe(file, with) != describe(file, without) {
			t.Errorf("%s: with a memory: %s; without: %s", name, describe(file, with), describe(file, without))
		}
	}
	if decided < 100 {
		t.Errorf("only %d exports are decided without a memory", decided)
	}
}

// The two kernels agree on exports in which something is changed.
func TestAgreesOnMutants(t *testing.T) {
	t.Parallel()
	perFile := sweep.Size(t, "PLAIN_MUTANTS", 12, 1000)
	accepted, refused, undecided := 0, 0, 0
	for name, text := range smallExports(t, 60_000) {
		r := rand.New(rand.NewPCG(uint64(len(text)), uint64(len(name))))
		for range perFile {
			mutant, what := leantest.Mutate(r, text)
			file := readText(t, mutant)
			if file == nil || what == "" {
				continue
			}
			mine := Check(context.Background(), file.Store, file.Declarations, Budget{Steps: 1 << 18, Depth: 3_000})
			other := fast.Check(context.Background(), file.Store, file.Declarations, fast.Options{Workers: 1, MaxDepth: 3_000, MaxExprs: 1 << 20})
			switch {
			case mine.OutOfBudget != nil && mine.Refusal == nil || other.Exhausted != nil && other.Refusal == nil:
				undecided++
			case mine.Accepted() != other.Accepted():
				t.Errorf("%s, %s: %s; the other kernel: %v", name, what, describe(file, mine), other.Refusal)
			case mine.Accepted():
				accepted++
			default:
				refused++
			}
		}
	}
	t.Logf("%d accepted, %d refused, %d undecided", accepted, refused, undecided)
	if accepted < 100 || refused < 100 {
		t.Errorf("%d accepted, %d refused: the test does not test", accepted, refused)
	}
}

func newKernel(store *term.Store) *kernel {
	k := &kernel{ctx: context.Background(), budget: Budget{}.withDefaults(0), env: map[term.Name]*constant{}, computed: map[term.Name]bool{},
		quotients: map[term.QuotKind]bool{}, remember: true}
	k.prepare(store)
	k.limit = 1 << 40
	k.forget()
	return k
}

// The order of levels is that of their values, for random levels over three parameters.
func TestLevelsAreComparedByMeaning(t *testing.T) {
	t.Parallel()
	s := term.NewStore()
	params := []term.Name{s.NameStr(term.Anonymous, "u"), s.NameStr(term.Anonymous, "v"), s.NameStr(term.Anonymous, "w")}
	k := newKernel(s)
	r := rand.New(rand.NewPCG(1, 2))
	var random func(depth int) term.Level
	random = func(depth int) term.Level {
		if depth == 0 || r.IntN(5) == 0 {
			if r.IntN(3) == 0 {
				return term.Zero
			}
			return k.store.Param(params[r.IntN(3)])
		}
		switch r.IntN(4) {
		case 0:
			return k.store.Succ(random(depth - 1))
		case 1:
			return k.store.Max(random(depth-1), random(depth-1))
		default:
			return k.store.IMax(random(depth-1), random(depth-1))
		}
	}
	var value func(l term.Level, at map[term.Name]int) int
	value = func(l term.Level, at map[term.Name]int) int {
		switch n := k.store.LevelNode(l); n.Kind {
		case term.LevelSucc:
			return value(term.Level(n.A), at) + 1
		case term.LevelMax:
			return max(value(term.Level(n.A), at), value(term.Level(n.B), at))
		case term.LevelIMax:
			b := value(term.Level(n.B), at)
			if b == 0 {
				return 0
			}
			return max(value(term.Level(n.A), at), b)
		case term.LevelParam:
			return at[term.Name(n.A)]
		}
		return 0
	}
	equal := 0
	for range 4_000 {
		a, b := random(4), random(4)
		atMost, same := true, true
		for i := range 7 * 7 * 7 { // sums of levels of depth 4 are told apart by values up to 6
			at := map[term.Name]int{params[0]: i % 7, params[1]: i / 7 % 7, params[2]: i / 49}
			x, y := value(a, at), value(b, at)
			atMost, same = atMost && x <= y, same && x == y
		}
		if got := k.levelAtMost(a, b); got != atMost {
			t.Errorf("%s ≤ %s: %v", k.store.DescribeLevel(a), k.store.DescribeLevel(b), got)
		}
		if got := k.levelsEqual(a, b); got != same {
			t.Errorf("%s = %s: %v", k.store.DescribeLevel(a), k.store.DescribeLevel(b), got)
		}
		if same {
			equal++
		}
	}
	if equal < 100 {
		t.Errorf("only %d pairs are equal", equal)
	}
}

// Instantiation undoes abstraction, and lifts what it puts under binders.
func TestInstantiationAndAbstraction(t *testing.T) {
	t.Parallel()
	k := newKernel(term.NewStore())
	s := k.store
	prop := s.Sort(term.Zero)
	x, y := s.Local(0, prop), s.Local(1, prop)
	e := s.Lam(prop, s.Apps(x, []term.Expr{y, s.BVar(0), s.Pi(y, s.App(x, s.BVar(1)))}))
	closed := k.abstract(e, []term.Expr{x, y})
	if s.Node(closed).Locals != 0 || k.instantiate(closed, []term.Expr{x, y}) != e {
		t.Errorf("%s", s.Describe(closed))
	}
	if got, want := k.instantiate(s.Lam(prop, s.BVar(1)), []term.Expr{s.BVar(5)}), s.Lam(prop, s.BVar(6)); got != want {
		t.Errorf("%s", s.Describe(got))
	}
	if got, want := k.instantiate(s.BVar(7), []term.Expr{x, y}), s.BVar(5); got != want {
		t.Errorf("%s", s.Describe(got))
	}
}

// A budget ends a check with the declaration it ended at, the same one each time; it decides nothing.
func TestBudget(t *testing.T) {
	t.Parallel()
	text := leantestText(t, "string-literals")
	file := readText(t, text)
	full := Check(context.Background(), file.Store, file.Declarations, Budget{})
	if !full.Accepted() {
		t.Fatal(describe(file, full))
	}
	for _, b := range []Budget{{Steps: 50}, {Total: full.Steps / 2}, {Depth: 6}, {Exprs: 40}} {
		first := Check(context.Background(), file.Store, file.Declarations, b)
		second := Check(context.Background(), file.Store, file.Declarations, b)
		if first.OutOfBudget == nil || !first.OutOfBudget.Counted || first.Refusal != nil || first.Accepted() {
			t.Errorf("%+v: %s", b, describe(file, first))
		} else if *first.OutOfBudget != *second.OutOfBudget || first.Steps != second.Steps {
			t.Errorf("%+v: %s, then %s", b, describe(file, first), describe(file, second))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := Check(ctx, file.Store, file.Declarations, Budget{}); r.OutOfBudget == nil || r.OutOfBudget.Counted {
		t.Errorf("cancelled: %s", describe(file, r))
	}
	if r := Check(context.Background(), file.Store, file.Declarations, Budget{Room: term.NewRoom(1, 1)}); r.OutOfBudget == nil || r.OutOfBudget.Counted {
		t.Errorf("without memory: %s", describe(file, r))
	}
}

// A refused declaration is reported though an earlier one ran out of its budget.
func TestRefusalGoesBeforeBudget(t *testing.T) {
	t.Parallel()
	base := "inductive Nat : Type | zero : Nat | succ (n : Nat) : Nat\ninductive Bool : Type | false : Bool | true : Bool\n"
	long := "def long : Nat := " + strings.Repeat("(Nat.succ ", 2_000) + "Nat.zero" + strings.Repeat(")", 2_000) + "\n"
	file := source(t, base+long+"def wrong : Nat := Bool.true\n")
	r := Check(context.Background(), file.Store, file.Declarations, Budget{Depth: 500})
	if r.Refusal == nil || file.Store.NameString(r.Refusal.Declaration) != "wrong" || r.OutOfBudget == nil {
		t.Errorf("%s", describe(file, r))
	}
}

func leantestText(t testing.TB, rule string) []byte {
	t.Helper()
	text, err := os.ReadFile(leantest.AcceptedExport(t, rule))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

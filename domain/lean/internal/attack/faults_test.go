package attack

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/internal/leantest"
	"reckon/test/page"
	"reckon/test/sweep"
)

// fault is an error planted in the kernel: parts of its files are replaced, and the hunters are built anew with these files in the place of
// the real ones (go build -overlay). Nothing of it is in a binary.
type fault struct {
	kind    string
	changes []change
}

// change replaces one part of a file below domain/lean, which occurs in it once.
type change struct{ file, old, new string }

func in(file, old, new string) []change { return []change{{file, old, new}} }

const (
	equality = "kernel/equality.go"
	infers   = "kernel/infer.go"
	reduces  = "kernel/reduce.go"
	blocks   = "kernel/inductive.go"
	records  = "kernel/inductive_records.go"
	quotes   = "kernel/quotient.go"
	levels   = "kernel/levels.go"
	numbers  = "kernel/literals.go"
	checks   = "kernel/check.go"
)

var uncheckedGenerated = change{blocks, "	b.checkGenerated(recursors)\n", ""}

// unordered is the first finding of the issue that brought the second kernel: an answer for (b, a) answers (a, b).
var unordered = change{"kernel/cache.go", "return uint64(a)<<32 | uint64(b)", "return uint64(min(a, b))<<32 | uint64(max(a, b))"}

var faults = []fault{
	{"equality is remembered by unordered pairs (found in revision 261f4632)", []change{unordered}},
	{"the recursive fields are found once for the premises and again for the rules, nothing generated is checked (found in revision 261f4632)",
		[]change{unordered, uncheckedGenerated,
			{blocks, "			value := s.Apps(minors[minor], ctor.fields)\n", "			ctor.fields, _ = b.openFields(ctor.body, nil)\n			again := b.recursiveFields(ctor.fields)\n			value := s.Apps(minors[minor], ctor.fields)\n"},
			{blocks, "			for _, r := range ctor.recursive {\n				call", "			for _, r := range again {\n				call"},
		}},
	{"quotients are compared by names (found in revision 261f4632)", []change{{quotes, "for _, id := range quotientConstants[i].speaks {", "for _, id := range quotientConstants[i].speaks[:0] {"},
		{quotes, "if !declared || c.env.Declaration(unit).Kind != term.Quotient {", "if declared && unit < 0 {"}}},

	{"values of one type are equal, as proofs are", in(equality, "if !c.isProp(typ) {", "if !c.isProp(typ) && c.store.Kind(typ) != term.KindConst {")},
	{"eta for types that are no structures", in(equality, " || !ind.Inductive.StructureLike() {\n		return false\n	}\n	if !c.defEq(c.typeOf(e)", " {\n		return false\n	}\n	if !c.defEq(c.typeOf(e)")},
	{"eta for structures compares no fields", in(equality, "for i := range info.NumFields {", "for i := range min(info.NumFields, 1) {")},
	{"values of structures with fields are equal, as those without are", in(equality, " || ctor.Constructor.NumFields != 0 {", " || ctor.Constructor.NumFields > 1 {")},
	{"the last argument of an application is not compared", in(equality, "	for i := range argsA {\n		if", "	for i := range argsA[1:] {\n		if")},
	{"the first argument of a definition is not compared", in(equality, "for i := len(argsA) - 1; i >= 0; i-- {", "for i := len(argsA) - 1; i > 0; i-- {")},
	{"the domains of functions and function types are not compared", in(equality, "if na.A != nb.A && !c.defEq(", "if na.A == nb.A && !c.defEq(")},
	{"constants are compared without their levels", in(equality, "if nx.A == ny.A && c.equalLevels(term.Levels(nx.B), term.Levels(ny.B)) {", "if nx.A == ny.A {")},
	{"projections are compared without their field", in(equality, "if nx.A == ny.A && nx.B == ny.B && c.defEqStructures", "if nx.A == ny.A && c.defEqStructures")},

	{"K without a comparison of types", in(reduces, "if !c.defEq(typ, c.typeOf(built)) {", "if built == 0 {")},
	{"a rule takes the parameters of the constructor for fields", in(reduces, "fields[len(fields)-int(rule.NumFields):]...", "fields[:int(rule.NumFields)]...")},
	{"eta in recursors of propositions", in(reduces, "len(args) < ctor.Constructor.NumParams || c.isProp(typ) {", "len(args) < ctor.Constructor.NumParams {")},
	{"a lifted function gets the relation", in(reduces, "c.store.App(args[3], mkArgs[2])", "c.store.App(args[3], mkArgs[1])")},
	{"a projection takes the field after its own", in(reduces, "k.Constructor.NumParams + index; i", "k.Constructor.NumParams + index + 1; i")},
	{"opaque constants unfold", in("environment/environment.go", "		c.Kind, c.Value = Opaque, d.Value\n", "		c.Kind, c.Value = Definition, d.Value\n")},

	{"arguments are not checked", in(infers, "if argType != domain && !c.argumentFits(arg, argType, domain) {", "if argType == 0 && domain == 0 {")},
	{"arguments below binders are not checked", in("kernel/open.go", "if argType != domains[i] && !c.argumentFits(arg, argType, domains[i]) {", "if argType == 0 {")},
	{"the value of a let is not checked", in(infers, "!c.defEq(t, typ) {\n			refuse(LetMismatch", "t == 0 {\n			refuse(LetMismatch")},
	{"universe parameters that are not declared", in(infers, "		refuse(UndefinedUniverse, \"the universe parameter %s is not declared\", c.store.NameString(term.Name(n.A)))\n", "")},
	{"more universe arguments than parameters", in(infers, "if len(levels) != len(k.Params) {\n		refuse", "if len(levels) < len(k.Params) {\n		refuse")},
	{"a function type lives in the maximum, in Prop never", in(infers, "c.store.SimplifiedIMax(levels[i], l)", "c.store.SimplifiedMax(levels[i], l)")},
	{"data is projected out of propositions", in(infers, "if inProp && !c.isProp(result) {", "if inProp && result != result {")},

	{"a theorem states what is no proposition", in(checks, "if !c.levels.alwaysZero(level) {", "if level < 0 {")},
	{"the value of a declaration need not have its type", in(checks, "if !c.defEq(typ, d.Type) {", "if typ == 0 {")},
	{"a name is declared twice", in(checks, "; duplicate {", "; duplicate && name == 0 {")},

	{"fields of any universe", in(blocks, "if !inProp && !b.levels.leq(l, b.resultLevel) {", "if inProp && !b.levels.leq(l, b.resultLevel) {")},
	{"types that are not positive", in(blocks, "if b.mentionsBlock(term.Expr(n.A)) {", "if n.A == n.B {")},
	{"propositions with two constructors eliminate into data", in(blocks, "if len(b.types) > 1 || len(b.types[0].ctors) > 1 {", "if len(b.types) > 1 || len(b.types[0].ctors) > 2 {")},
	{"propositions with data eliminate into data", in(blocks, "if !b.levels.alwaysZero(level) && !slices.Contains(shown, field) {", "if !b.levels.alwaysZero(level) && !slices.Contains(shown, field) && len(fields) > 2 {")},
	{"K for types outside Prop", in(blocks, "return len(b.types) == 1 && b.levels.alwaysZero(b.resultLevel) && len(", "return len(b.types) == 1 && len(")},
	{"a field that is a function has no hypothesis", in(blocks, "if r.target, r.indices = b.targetType(typ); r.target != nil {", "if r.target, r.indices = b.targetType(typ); r.target != nil && len(r.arguments) == 0 {")},
	{"the rules of a record are not compared", in(records, "r.Rules[i].NumFields != g.rules[i].NumFields ||\n			!same(r.Rules[i].Value, g.rules[i].Value) {", "r.Rules[i].NumFields != g.rules[i].NumFields {")},
	{"the type of a recursor is not compared", in(records, "if !same(r.Type, g.typ) {", "if len(r.Rules) < 0 {")},

	{"imax is positive where its first argument is", in(levels, "		case term.LevelIMax:\n			l = term.Level(n.B)", "		case term.LevelIMax:\n			l = term.Level(n.A)")},
	{"an offset below imax is lost", in(levels, "		b := term.Level(n.B)\n		c.collect(b, offset, g)", "		b := term.Level(n.B)\n		c.collect(b, 0, g)")},
	{"operations on numbers are known by their names", in(numbers, "if !ok || !c.hasBuiltin(id) {", "if !ok {")},
}

// hunted is after how many each hunter found a difference; 0: it found none. Pair is the first export of a rule that shows the fault, asked for
// where no hunter does.
type hunted struct {
	Environments, Histories, Claims, Mutants int
	Pair                                     string
}

// How many each hunter makes before it gives up.
const (
	faultEnvironments = 40
	faultHistories    = 12
	faultClaims       = 1000
	faultMutants      = 1500
)

// huntDifferences asks each hunter until it finds a difference between the kernels, or, of histories, between the answers of one.
func huntDifferences() (found hunted) {
	for seed := range uint64(faultEnvironments) {
		h := drawn(seed)
		environment := (&File{Version: "4.99.0", Decls: h.decls}).emit()
		texts := []string{environment.with(nil)}
		for i := range 6 {
			texts = append(texts, environment.with([]*Decl{equation(fmt.Sprintf("q%d", i), h.term(truth, 3, nil), h.term(truth, 2, nil))}))
		}
		if slices.ContainsFunc(texts, func(text string) bool { return opinionsOn(text).disagreement() != "" }) {
			found.Environments = int(seed) + 1
			break
		}
	}
	for seed := range uint64(faultHistories) {
		if len(huntHistory(seed).wrong) > 0 {
			found.Histories = int(seed) + 1
			break
		}
	}
	environment := claimEnvironment()
	for seed := range uint64(faultClaims) {
		if difference, _, _ := disagreesOnClaim(environment, seed); difference != "" {
			found.Claims = int(seed) + 1
			break
		}
	}
	paths, err := filepath.Glob("../rules/testdata/*.ndjson")
	if err != nil || len(paths) < 100 {
		panic(fmt.Sprint(len(paths), " exports of rules: ", err))
	}
	var texts [][]byte
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		if len(text) < 60_000 {
			texts = append(texts, text)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range faultMutants {
		mutant, what := leantest.Mutate(r, texts[r.IntN(len(texts))])
		if what != "" && opinionsOn(string(mutant)).disagreement() != "" {
			found.Mutants = i + 1
			break
		}
	}
	if found == (hunted{}) {
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				panic(err)
			}
			if opinionsOn(string(text)).disagreement() != "" {
				found.Pair = strings.TrimSuffix(filepath.Base(path), ".ndjson")
				break
			}
		}
	}
	return found
}

// TestMain lets the test binary, built with a fault in the kernel, be the hunter.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "hunt" {
		if err := json.NewEncoder(os.Stdout).Encode(huntDifferences()); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write the table of planted faults into docs/bench/kernel.md")

// huntWith builds this test binary with a fault and has it hunt.
func huntWith(t *testing.T, f fault) (found hunted) {
	t.Helper()
	folder := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	texts := map[string]string{}
	for _, c := range f.changes {
		path, err := filepath.Abs(filepath.Join("..", "..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if texts[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
		texts[path] = strings.Replace(texts[path], c.old, c.new, 1)
	}
	for path, text := range texts {
		overlay.Replace[path] = filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(overlay.Replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := json.Marshal(overlay)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "overlay.json"), plan, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "hunter")
	if output, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(folder, "overlay.json"), "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", f.kind, err, output)
	}
	output, err := exec.Command(program, "hunt").Output()
	if err == nil {
		err = json.Unmarshal(output, &found)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", f.kind, err, output)
	}
	return found
}

const (
	faultsPage  = "../../../../docs/bench/kernel.md"
	faultsBegin = "<!-- planted faults: written by PLANTED_FAULTS=100 go test ./domain/lean/internal/attack -run Planted -update -->\n"
	faultsEnd   = "<!-- end of planted faults -->"
)

// compareTable compares the table of the page with the rows, or writes it.
func compareTable(t *testing.T, rows []string) {
	t.Helper()
	table := fmt.Sprintf("| planted | environments, of %d | histories, of %d | claims, of %d | mutants, of %d | else by the rule |\n|---|---|---|---|---|---|\n%s\n", faultEnvironments, faultHistories, faultClaims, faultMutants, strings.Join(rows, "\n"))
	page.Keep(t, faultsPage, faultsBegin, table, faultsEnd, *update, "PLANTED_FAULTS=100 go test -run Planted -update")
}

// Without a fault the hunters find nothing; with each of them, at least one does, or else an export of a rule. What a fault replaces must be in the kernel: the table would
// otherwise be about another one.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		for _, c := range f.changes {
			if text, err := os.ReadFile(filepath.Join("..", "..", c.file)); err != nil || strings.Count(string(text), c.old) != 1 {
				t.Errorf("%s: what it replaces is in %s %d times: %v", f.kind, c.file, strings.Count(string(text), c.old), err)
			}
		}
	}
	kinds := sweep.Size(t, "PLANTED_FAULTS", 0, 6)
	if kinds == 0 {
		return
	}
	if none := huntWith(t, fault{kind: "none"}); none != (hunted{}) {
		t.Errorf("without a fault: %+v", none)
	}
	var rows []string
	for _, f := range faults[:min(kinds, len(faults))] {
		found := huntWith(t, f)
		if found == (hunted{}) {
			t.Errorf("%s: not found", f.kind)
		}
		cell := func(after int) string {
			if after == 0 {
				return "–"
			}
			return fmt.Sprint(after)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", f.kind, cell(found.Environments), cell(found.Histories), cell(found.Claims), cell(found.Mutants), found.Pair))
		t.Log(rows[len(rows)-1])
	}
	if kinds >= len(faults) {
		compareTable(t, rows)
	}
}

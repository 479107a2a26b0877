package check_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/check"
	"reckon/domain/lean/internal/leantest"
)

func judge(t *testing.T, text string, opts check.Options) *check.Report {
	t.Helper()
	r, err := check.Run(context.Background(), strings.NewReader(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func file(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(leantest.SharedDir(t, folder), name+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func named(names ...string) check.Options { return check.Options{Declarations: names, FileName: "f"} }

func TestJudgesRealElaborations(t *testing.T) {
	cases := map[string]struct {
		verdict   check.Verdict
		kind      string
		statement string
		axioms    []string
	}{
		"foo":     {check.Verified, "theorem", "Nat.add 1 1 = 2", nil},
		"addComm": {check.Verified, "theorem", "∀ (m n : Nat), Nat.add m n = Nat.add n m", nil},
		"bigNat":  {check.Verified, "theorem", "Nat.mul 12345678901234567890 98765432109876543210 = 1219326311370217952237463801111263526900", nil},
		"Tree":    {check.Verified, "inductive", "Type", nil},
		"evenTwo": {check.Verified, "theorem", "Even 2", nil},
		"structEta": {check.Verified, "theorem",
			"∀ (α : Type u) (β : Type v) (p : Prod.{u, v} α β), p = @Prod.mk.{u, v} α β (@Prod.fst.{u, v} α β p) (@Prod.snd.{u, v} α β p)", nil},
		"proofIrrel":  {check.Verified, "theorem", "∀ (p : Prop) (h : p) (k : p), h = k", nil},
		"opq":         {check.Verified, "theorem", "secret = secret", nil},
		"usesPropext": {check.Verified, "theorem", "∀ (a b : Prop), (a → b) → (b → a) → a = b", []string{"propext"}},
		"usesSorry":   {check.Unsupported, "theorem", "1 = 2", []string{"sorryAx"}},
		"usesCustom":  {check.Unsupported, "theorem", "2 = 3", []string{"myAxiom"}},
	}
	for name, c := range cases {
		r := judge(t, file(t, "judge", name), named(name))
		if r.Kernel != check.Accepted || r.Verdict != c.verdict || len(r.Declarations) != 1 {
			t.Errorf("%s: %+v %+v", name, r, r.Refusal)
			continue
		}
		d := r.Declarations[0]
		sum := sha256.Sum256([]byte(c.statement))
		if d.Name != name || d.Kind != c.kind || *d.Statement != c.statement || *d.StatementSHA256 != hex.EncodeToString(sum[:]) ||
			!slices.Equal(d.Axioms, c.axioms) || !slices.Equal(r.AxiomsUsed, c.axioms) {
			t.Errorf("%s: %s %q %v, used %v", name, d.Kind, *d.Statement, d.Axioms, r.AxiomsUsed)
		}
		if (r.Refusal == nil) != (c.verdict == check.Verified) {
			t.Errorf("%s: refusal %+v", name, r.Refusal)
		}
	}
	if r := judge(t, file(t, "judge", "strLit"), named("strLit")); r.Kernel != check.Accepted || r.Verdict != check.Unsupported || r.Refusal.Class != check.CustomAxiom {
		t.Errorf("strLit: %+v %+v", r, r.Refusal)
	}
	if r := judge(t, file(t, "judge", "format-3.0.0"), named("foo")); r.Kernel != check.Undecided || r.Verdict != check.Unsupported || r.Refusal.Class != "format_window" || r.Refusal.Line != 1 {
		t.Errorf("format-3.0.0: %+v %+v", r, r.Refusal)
	}
}

func TestReportHasExactlyTheDocumentedKeys(t *testing.T) {
	text, err := json.Marshal(judge(t, file(t, "judge", "foo"), named("foo")))
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	want := []string{"axioms_used", "conformance", "declarations", "declarations_checked", "elapsed_ms", "kernel", "kernels", "own_definitions", "refusal", "verdict"}
	var got []string
	for k := range keys {
		got = append(got, k)
	}
	slices.Sort(got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestMissingNameIsUnsupportedWithTheNearest(t *testing.T) {
	r := judge(t, file(t, "judge", "addComm"), named("addComm", "addCom"))
	if r.Kernel != check.Accepted || r.Verdict != check.Unsupported || r.Refusal.Class != check.MissingDeclaration ||
		!strings.Contains(r.Refusal.Message, "addComm") || len(r.Declarations) != 1 {
		t.Errorf("%+v %+v", r, r.Refusal)
	}
}

// TestMissingNameListsTheTheorems: of the export beside docs/proofs.md. A name that resembles nothing is answered with a theorem, not with a type.
func TestMissingNameListsTheTheorems(t *testing.T) {
	export, err := os.ReadFile("../../../docs/and_swap.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if r := judge(t, string(export), named("and_swap")); r.Verdict != check.Verified {
		t.Errorf("%+v %+v", r, r.Refusal)
	}
	const want = "the export does not declare it; the nearest declared name is and_swap; the theorems of the export are and_swap"
	if r := judge(t, string(export), named("swap_and")); r.Verdict != check.Unsupported || r.Refusal.Message != want {
		t.Errorf("%+v", r.Refusal)
	}
	if r := judge(t, string(export), named("And.intr")); !strings.Contains(r.Refusal.Message, "the nearest declared name is And.intro;") {
		t.Errorf("%+v", r.Refusal)
	}
	if r := judge(t, file(t, "accept", "034_boolType"), named("x")); !strings.HasSuffix(r.Refusal.Message, "; the export has no theorem") {
		t.Errorf("%+v", r.Refusal)
	}
}

func TestRefusalNamesDeclarationFileAndLine(t *testing.T) {
	r := judge(t, file(t, "reject", "002_badDef"), named("badDef"))
	if r.Kernel != check.Refused || r.Verdict != check.Rejected || r.Refusal == nil {
		t.Fatalf("%+v", r)
	}
	want := check.Refusal{Declaration: "badDef", Class: "type_mismatch", File: "f", Line: r.Refusal.Line, Message: r.Refusal.Message}
	if *r.Refusal != want || r.Refusal.Line < 2 || r.Refusal.Message == "" {
		t.Errorf("%+v", r.Refusal)
	}
}

func TestUnreadableFilesSayWhere(t *testing.T) {
	r := judge(t, file(t, "judge", "foo")+"\n{}\n", named("foo"))
	if !r.Unreadable || r.Verdict == check.Verified || r.Refusal.Line == 0 {
		t.Errorf("%+v %+v", r, r.Refusal)
	}
}

// claim makes a file say it comes from another Lean.
func claim(text, version string) string {
	first, rest, _ := strings.Cut(text, "\n")
	i := strings.Index(first, `"version":"4.`)
	j := strings.Index(first[i+11:], `"`)
	return first[:i+11] + version + first[i+11+j:] + "\n" + rest
}

// A forged core is found out under any version the file may claim.
func TestForgedCoreIsUnsupportedWhateverTheVersion(t *testing.T) {
	for _, version := range []string{"4.29.1", "4.28.0-pre", "4.99.0", "5.0.0", ""} {
		meta := fmt.Sprintf(`{"meta":{"exporter":{"name":"lean4export","version":"3.1.0"},"lean":{"githash":"x","version":%q},"format":{"version":"3.1.0"}}}`, version)
		forged := map[string]func(b *leantest.Builder){
			"False": func(b *leantest.Builder) { b.Axiom("False", b.Sort(0)) },
			"Not": func(b *leantest.Builder) {
				b.Def("Not", b.Pi("p", b.Sort(0), b.Sort(0)), b.Lam("p", b.Sort(0), b.BVar(0)))
			},
			"Iff": func(b *leantest.Builder) {
				prop := b.Sort(0)
				b.Def("Iff", b.Pi("p", prop, b.Pi("q", prop, prop)), b.Lam("p", prop, b.Lam("q", prop, b.BVar(0))))
			},
			"propext": func(b *leantest.Builder) { // not its statement
				b.Axiom("propext", b.Pi("p", b.Sort(0), b.Pi("h", b.BVar(0), b.BVar(1))))
			},
			"Classical.choice": func(b *leantest.Builder) {
				u := b.Param("u")
				b.Axiom("Classical.choice", b.Pi("α", b.Sort(u), b.Pi("x", b.BVar(0), b.BVar(1))), "u")
			},
			"Lean.reduceBool": func(b *leantest.Builder) { b.Axiom("Lean.reduceBool", b.Sort(0)) },
		}
		for name, forge := range forged {
			b := leantest.NewBuilder(meta)
			forge(b)
			prop := b.Sort(0)
			b.Theorem("mine", b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1))), b.Lam("p", prop, b.Lam("h", b.BVar(0), b.BVar(0))))
			r := judge(t, b.Text(), named("mine"))
			if r.Kernel != check.Accepted || r.Verdict != check.Unsupported || r.Refusal == nil || r.Refusal.Declaration != name {
				t.Errorf("%s under %q: %s %s %+v", name, version, r.Kernel, r.Verdict, r.Refusal)
			}
		}
	}
	for _, version := range []string{"4.29.1", "4.99.0"} {
		if r := judge(t, claim(file(t, "judge", "usesPropext"), version), named("usesPropext")); r.Verdict != check.Verified {
			t.Errorf("the real propext under %s: %+v", version, r.Refusal)
		}
	}
}

// A core definition that is not that of the claimed version is named under differing.
func TestConformanceComparesWithTheClaimedVersion(t *testing.T) {
	real := judge(t, file(t, "accept", "init-prelude"), check.Options{All: true})
	c := real.Conformance
	if real.Kernel != check.Accepted || c.ReferenceLeanVersion == nil || *c.ReferenceLeanVersion != "4.29.1" || len(c.Differing) != 0 || c.Outside.Count != 0 || c.Matched < 1700 {
		t.Errorf("init-prelude: %s %+v", real.Kernel, c)
	}
	if real.Verdict != check.Unsupported { // it declares sorryAx
		t.Errorf("init-prelude: %s", real.Verdict)
	}
	b := leantest.NewBuilder(`{"meta":{"lean":{"githash":"x","version":"4.29.1"},"format":{"version":"3.1.0"}}}`)
	prop := b.Sort(0)
	identity := func() (int, int) { return b.Pi("p", prop, prop), b.Lam("p", prop, b.BVar(0)) }
	typ, value := identity()
	b.Def("id", typ, value)
	b.Def("My.own", typ, b.Lam("p", prop, b.App(b.Const("id"), b.BVar(0))))
	r := judge(t, b.Text(), named("My.own"))
	if r.Verdict != check.Unsupported || r.Refusal.Class != check.ConformanceDiffers || !slices.Equal(r.Conformance.Differing, []string{"id"}) ||
		r.Conformance.Outside.Count != 1 || !slices.Equal(r.Conformance.Outside.Namespaces, []string{"My"}) {
		t.Errorf("%+v %+v", r.Refusal, r.Conformance)
	}
}

// Axioms are those reached, not those declared.
func TestUnusedAxiomsDoNotCount(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	b.Axiom("bad", b.Pi("p", prop, b.BVar(0)))
	identity, proof := b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1))), b.Lam("p", prop, b.Lam("h", b.BVar(0), b.BVar(0)))
	b.Theorem("clean", identity, proof)
	b.Theorem("dirty", identity, b.App(b.Const("bad"), identity))
	b.Theorem("dirtier", identity, b.Const("dirty"))
	if r := judge(t, b.Text(), named("clean")); r.Verdict != check.Verified || len(r.AxiomsUsed) != 0 {
		t.Errorf("clean: %+v %v", r.Refusal, r.AxiomsUsed)
	}
	if r := judge(t, b.Text(), named("clean", "dirtier")); r.Verdict != check.Unsupported || !slices.Equal(r.AxiomsUsed, []string{"bad"}) || len(r.Declarations[0].Axioms) != 0 {
		t.Errorf("dirtier: %+v %v", r.Refusal, r.AxiomsUsed)
	}
	if r := judge(t, b.Text(), check.Options{All: true}); r.Verdict != check.Unsupported {
		t.Errorf("all: %+v", r)
	}
}

func TestCancelledCheckIsInconclusive(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := check.Run(ctx, strings.NewReader(file(t, "judge", "foo")), named("foo"))
	if err != nil || r.Verdict != check.Inconclusive || r.Kernel != check.Undecided {
		t.Errorf("%v %+v", err, r)
	}
}

func TestInspectTellsWhatNeedsNoKernel(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want check.Verdict
		ask  string
	}{
		"good":       {file(t, "judge", "foo"), check.Verified, "foo"},
		"wrong":      {file(t, "reject", "002_badDef"), check.Verified, "badDef"}, // only the kernel can tell
		"missing":    {file(t, "judge", "foo"), check.Unsupported, "fo"},
		"sorry":      {file(t, "judge", "usesSorry"), check.Unsupported, "usesSorry"},
		"old format": {file(t, "judge", "format-3.0.0"), check.Unsupported, "foo"},
		"malformed":  {"{}", check.Unsupported, "foo"},
	} {
		r, err := check.Inspect(context.Background(), strings.NewReader(c.text), named(c.ask))
		if err != nil || r.Verdict != c.want || r.Kernel != check.Undecided || (r.Refusal == nil) != (c.want == check.Verified) {
			t.Errorf("%s: %s %+v %v", name, r.Verdict, r.Refusal, err)
		}
	}
}

// padded states Prime, which is the last of count definitions each of which is the one before.
func padded(count, length int) string {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	last := b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1)))
	for i := range count {
		name := fmt.Sprintf("pad%d%s", i, strings.Repeat("x", length))
		b.Def(name, prop, last)
		last = b.Const(name)
	}
	b.Def("Prime", prop, last)
	b.Theorem("mine", b.Const("Prime"), b.Lam("p", prop, b.Lam("h", b.BVar(0), b.BVar(0))))
	return b.Text()
}

// What a statement rests on may be long: what is printed is bounded, what is hashed is all.
func TestOwnDefinitionsMayBeLong(t *testing.T) {
	few := judge(t, padded(60, 2000), named("mine"))
	if own := few.OwnDefinitions; few.Verdict != check.Verified || own.Omitted != 0 || own.Count != 61 || own.Definitions[60].Name != "Prime" ||
		!strings.HasPrefix(own.Definitions[60].Text, "def Prime : Prop := pad59") {
		t.Errorf("%s %+v, %d of %d shown", few.Verdict, few.Refusal, len(own.Definitions), own.Count)
	}
	for name, c := range map[string]struct{ count, length, shown int }{
		"more than 200":   {12_039, 0, 200},
		"more than 1 MiB": {300, 10_000, 53}, // each names itself and the one before
	} {
		r := judge(t, padded(c.count, c.length), named("mine"))
		own := r.OwnDefinitions
		if r.Verdict != check.Verified || !bothAccept(r) || own.Count != c.count+1 || len(own.Definitions) != c.shown || own.Omitted != own.Count-c.shown {
			t.Errorf("%s: %s %+v, %d of %d shown, %d not", name, r.Verdict, r.Refusal, len(own.Definitions), own.Count, own.Omitted)
		}
		if last := own.Definitions[len(own.Definitions)-1]; last.Name != "Prime" {
			t.Errorf("%s: padding pushes out of sight what the statement mentions: the last shown is %s", name, last.Name)
		}
	}
}

// A definition that is not shown changes the digest.
func TestTheDigestOfOwnDefinitionsCoversAll(t *testing.T) {
	text := padded(1000, 0)
	changed := strings.Replace(text, `"str":"pad0"`, `"str":"pad0b"`, 1)
	a, b := judge(t, text, named("mine")).OwnDefinitions, judge(t, changed, named("mine")).OwnDefinitions
	if a.SHA256 == b.SHA256 || !reflect.DeepEqual(a.Definitions, b.Definitions) || a.Omitted == 0 {
		t.Errorf("%s and %s, %d omitted", a.SHA256, b.SHA256, a.Omitted)
	}
}

// dag is a theorem about a proposition that is small as a graph and has 2¹⁰⁰ nodes as a text: And (And (…) (…)) (…). other
// makes another one.
func dag(other bool) string {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	all := b.Pi("p", prop, b.BVar(0))
	tower := all
	if other {
		tower = b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1)))
	}
	b.Def("Both", b.Pi("a", prop, b.Pi("b", prop, prop)), b.Lam("a", prop, b.Lam("b", prop, b.Pi("c", prop, b.Pi("f", b.Pi("x", b.BVar(2), b.Pi("y", b.BVar(2), b.BVar(2))), b.BVar(1))))))
	for range 100 {
		tower = b.App(b.Const("Both"), tower, tower)
	}
	b.Def("Tower", prop, tower)
	b.Theorem("mine", b.Pi("t", b.Const("Tower"), b.Const("Tower")), b.Lam("t", b.Const("Tower"), b.BVar(0)))
	return b.Text()
}

// A definition too long for a text is given by its fingerprints, which the digest covers.
func TestADefinitionThatIsTooLongIsGivenByFingerprints(t *testing.T) {
	a, b := judge(t, dag(false), named("mine")), judge(t, dag(true), named("mine"))
	if a.Verdict != check.Verified || !bothAccept(a) || a.OwnDefinitions.Count != 2 || !strings.HasPrefix(a.OwnDefinitions.Definitions[1].Text, "def Tower : Prop := (too long to be printed; fingerprints: ") {
		t.Errorf("%s %+v %+v", a.Verdict, a.Refusal, a.OwnDefinitions)
	}
	if a.OwnDefinitions.SHA256 == b.OwnDefinitions.SHA256 {
		t.Error("another tower has the same digest")
	}
	// The arena's app-lam in small: a definition asked for by name, with one body in two places at each of its levels.
	t.Run("app-lam", func(t *testing.T) {
		b := leantest.NewBuilder()
		prop := b.Sort(0)
		fn := b.Pi("x", prop, prop)
		b.Def("wrap2", b.Pi("f", fn, b.Pi("g", fn, prop)), b.Lam("f", fn, b.Lam("g", fn, b.App(b.BVar(1), b.App(b.BVar(0), b.Pi("p", prop, b.BVar(0)))))))
		const levels = 200
		body := b.BVar(levels - 1)
		for range levels {
			body = b.App(b.Const("wrap2"), b.Lam("x", prop, body), b.Lam("x", prop, body))
		}
		b.Def("dag_app_binder", prop, body)
		if r := judge(t, b.Text(), named("dag_app_binder")); r.Verdict != check.Verified || !bothAccept(r) || r.OwnDefinitions.Count != 2 {
			t.Errorf("%s %+v %v", r.Verdict, r.Refusal, answers(r))
		}
	})
}

// A constant that bears one of Lean's names and is another counts where what is asked for rests on it, in every version;
// one of the logical basis, wherever it is declared.
func TestDifferingConstantsCountWhereTheyAreRestedOn(t *testing.T) {
	for _, version := range []string{"4.29.1", "4.31.0"} {
		for name, class := range map[string]check.Class{"And": check.BasisDiffers, "Functor": check.ConformanceDiffers} {
			basis := class == check.BasisDiffers // counts wherever it is declared
			for _, rests := range []bool{false, true} {
				b := leantest.NewBuilder(fmt.Sprintf(`{"meta":{"lean":{"githash":"x","version":%q},"format":{"version":"3.1.0"}}}`, version))
				prop := b.Sort(0)
				b.Def(name, prop, b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1))))
				b.Theorem("helper", b.Const(name), b.Lam("p", prop, b.Lam("h", b.BVar(0), b.BVar(0))))
				statement := b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1)))
				if rests {
					statement = b.Const(name)
				}
				b.Theorem("mine", statement, b.Const("helper"))
				r := judge(t, b.Text(), named("mine"))
				if !rests && !basis && (r.Verdict != check.Verified || len(r.Conformance.Differing) != 0) {
					t.Errorf("%s, %s in a proof only: %s %+v", version, name, r.Verdict, r.Refusal)
				}
				if (rests || basis) && (r.Verdict != check.Unsupported || r.Refusal.Class != class || r.Refusal.Declaration != name) {
					t.Errorf("%s, %s in the statement: %s %+v", version, name, r.Verdict, r.Refusal)
				}
				if r := judge(t, b.Text(), check.Options{All: true}); r.Verdict != check.Unsupported || r.Refusal.Class != class {
					t.Errorf("%s, %s, all asked for: %s %+v", version, name, r.Verdict, r.Refusal)
				}
			}
		}
	}
}

// An operation that Lean's kernel computes is never the uploader's, whether or not a table has it.
func TestOwnArithmeticIsNotLeans(t *testing.T) {
	for _, version := range []string{"4.29.1", "4.31.0"} {
		b := leantest.NewBuilder(fmt.Sprintf(`{"meta":{"lean":{"githash":"x","version":%q},"format":{"version":"3.1.0"}}}`, version))
		unary := b.Pi("a", b.Sort(0), b.Sort(0))
		b.Def("Nat.gcd", unary, b.Lam("a", b.Sort(0), b.BVar(0)))
		prop := b.Sort(0)
		b.Theorem("mine", b.Pi("p", prop, b.Pi("h", b.App(b.Const("Nat.gcd"), b.BVar(0)), b.BVar(1))), b.Lam("p", prop, b.Lam("h", b.App(b.Const("Nat.gcd"), b.BVar(0)), b.BVar(0))))
		if r := judge(t, b.Text(), named("mine")); r.Verdict != check.Unsupported || r.Refusal.Class != check.ConformanceDiffers || r.Refusal.Declaration != "Nat.gcd" {
			t.Errorf("%s: %s %+v", version, r.Verdict, r.Refusal)
		}
	}
}

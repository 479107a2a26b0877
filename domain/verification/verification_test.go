package verification

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"reckon/domain/expression"
)

func parse(t testing.TB, text string) *expression.Expr {
	t.Helper()
	e, err := expression.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// Each row is one form of call, the rule that takes it, and the check as people read it.
func TestDerive(t *testing.T) {
	for _, test := range []struct{ input, answer, slug, check string }{
		{"Integrate[x^2, x]", "x^3/3", "integrate_residual", "D[x^3/3, x] - x^2"},
		{"Integrate[x y, x, y]", "x^2 y^2/4", "integrate_residual", ""},
		{"Integrate[x^2, {x, 0, 1}]", "1/3", "integrate_quadrature", ""},
		{"Integrate[x^2, {x, 0, 1}] // N", "0.333333", "nintegrate_truncation", ""},
		{"NIntegrate[x^2, {x, 0, 1}, WorkingPrecision -> 20]", "0.33333333333333333333", "nintegrate_truncation", ""},
		{"Assuming[x > 0, Simplify[Sqrt[x^2]]]", "x", "rewrite_identity", ""},
		{"sol = Solve[x^2 == 1, x]", "{{x -> -1}, {x -> 1}}", "solve_residual", ""},
		{"Solve[x^2 == 1]", "{{x -> -1}, {x -> 1}}", "solve_residual", ""},
		{"x /. Solve[x^2 == 1, x]", "{-1, 1}", "solve_residual", ""},
		{"x /. FindRoot[x^2 == 2, {x, 1}]", "1.4142135", "findroot_residual", ""},
		{"Solve[x^2 == 1, x] // N", "{{x -> -1.}, {x -> 1.}}", "nsolve_residual", ""},
		{"Solve[{x + y, x - y} == {3, 1}, {x, y}]", "{{x -> 2, y -> 1}}", "solve_residual", ""},
		{"Simplify[Integrate[Cos[x], x]]", "Sin[x]", "integrate_residual", ""},
		{"f'[x]", "f'[x]", "derivative_sampled", ""},
		{"Normal[Series[Sin[x], {x, 0, 3}]]", "x - x^3/6", "series_truncation", ""},
		{"Series[Sin[x], {x, 0, 3}]", "x - x^3/6 + O[x]^4", "series_order", ""},
		{"Sum[k, {k, n}]", "n (n + 1)/2", "sum_partial", ""},
		{"N[Sum[1/k^2, {k, 1, Infinity}]]", "1.6449", "nsum_truncation", ""},
		{"N[Zeta[3], 20]", "1.2", "numeric_value", ""},
		{"Limit[1/x, x -> 0, Direction -> \"FromAbove\"]", "Infinity", "limit_approach", ""},
		{"{{1, 2}, {3, 4}} . {1, 1}", "{3, 7}", "linear_algebra_identity", ""},
		{"DSolve[{y'[x] == y[x], y[0] == 1}, y, x]", "{{y -> Function[{x}, E^x]}}", "dsolve_residual", ""},
	} {
		plan, err := Derive(parse(t, test.input), parse(t, test.answer))
		if err != nil {
			t.Errorf("%s: %v", test.input, err)
			continue
		}
		if plan.Slug != test.slug || test.check != "" && plan.Check != test.check {
			t.Errorf("%s: %s, %s", test.input, plan.Slug, plan.Check)
		}
		if _, err := expression.Parse(plan.Check); err != nil {
			t.Errorf("%s: the check %q is not of the language: %v", test.input, plan.Check, err)
		}
		if _, err := json.Marshal(plan.Task); err != nil {
			t.Errorf("%s: %v", test.input, err)
		}
	}
}

func TestDeriveRefuses(t *testing.T) {
	long := "{" + strings.Repeat("{x -> 1}, ", MaxSolutions) + "{x -> 1}}"
	for _, test := range []struct {
		input, answer string
		reason        Reason
	}{
		{"Plot[x, {x, 0, 1}]", "1", ReasonNoHead},
		{"x", "x", ReasonNoHead},
		{"Integrate[x, 2]", "x", ReasonNoShape},
		{"Solve[x == 1 || x == 2, x]", "{{x -> 1}}", ReasonNoShape},
		{"Solve[x == 1, x]", long, ReasonAnswerNotUsable},
		{"Solve[x == 1, x]", "Solve[x == 1, x]", ReasonAnswerNotUsable},
		{"Solve[x == 1, x]", "$Failed", ReasonAnswerNotUsable},
		{"Solve[x == Quantity[1, \"Meters\"], x]", "{{x -> 1}}", ReasonNoShape},
		{"Expand[Get[\"file\"]]", "x", ReasonNotPermitted},
		{"Expand[x]", "Import[\"file\"]", ReasonNotPermitted},
		{"Expand[% - %]", "0", ReasonNotPermitted},
		{"Expand[Out[1] + 1]", "6", ReasonNotPermitted},
		{"Expand[x]", "%3", ReasonNotPermitted},
		{"Range[$Line]", "{1, 2}", ReasonNotPermitted},
	} {
		_, err := Derive(parse(t, test.input), parse(t, test.answer))
		var none *NoPlanError
		if !errors.As(err, &none) || none.Reason != test.reason {
			t.Errorf("%s with %s: %v, want %s", test.input, test.answer, err, test.reason)
		}
	}
	for _, answer := range []*expression.Expr{nil, expression.NewCall("List", slices.Repeat([]*expression.Expr{expression.Int(1)}, MaxNodes)...)} {
		_, err := Derive(parse(t, "Expand[x]"), answer)
		var none *NoPlanError
		if !errors.As(err, &none) || none.Reason != ReasonAnswerNotUsable {
			t.Errorf("%v", err)
		}
	}
	if _, err := Derive(nil, parse(t, "x")); err == nil {
		t.Error("no input gave a plan")
	}
}

// Conclusions of every status under both kinds of rule.
func TestConclude(t *testing.T) {
	residual, err := Derive(parse(t, "Expand[(1 + x)^2]"), parse(t, "1 + 2 x + x^2"))
	if err != nil {
		t.Fatal(err)
	}
	sampled, err := Derive(parse(t, "Minimize[x^2, x]"), parse(t, "{0, {x -> 0}}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		plan    Plan
		finding Finding
		verdict Verdict
		basis   Basis
		reason  Reason
	}{
		{residual, Finding{Status: StatusProved, Exact: true}, VerdictVerified, BasisExact, ""},
		{residual, Finding{Status: StatusProved}, VerdictVerified, BasisNumeric, ""},
		{residual, Finding{Status: StatusRefuted}, VerdictRefuted, BasisNumeric, ""},
		{residual, Finding{Status: StatusAgrees}, VerdictInconclusive, BasisCrossCheck, ReasonCrossCheckAgrees},
		{residual, Finding{Status: StatusOpen}, VerdictInconclusive, "", ReasonNotReduced},
		{sampled, Finding{Status: StatusAgrees}, VerdictInconclusive, BasisCrossCheck, ReasonCrossCheckAgrees},
		{sampled, Finding{Status: StatusRefuted, Exact: true}, VerdictRefuted, BasisCrossCheck, ""},
		{sampled, Finding{Status: StatusOpen}, VerdictInconclusive, "", ReasonNotReduced},
		{sampled, Finding{Status: StatusTimedOut}, VerdictInconclusive, "", ReasonTimedOut},
		{sampled, Finding{Status: StatusFailed}, VerdictInconclusive, "", ReasonEngineError},
		{sampled, Finding{Status: StatusOpen, Why: unsupported + "Minimize"}, VerdictInconclusive, "", ReasonNoShape},
		{sampled, Finding{Status: StatusOpen, Why: unsupported + "Foo"}, VerdictInconclusive, "", ReasonAnswerNotUsable},
		{residual, Finding{}, VerdictInconclusive, "", ReasonNotReduced},
	} {
		got := Conclude(test.plan, test.finding)
		if got.Verdict != test.verdict || got.Basis != test.basis || got.Reason != test.reason || got.Method != test.plan.Slug {
			t.Errorf("%s, %+v: %+v", test.plan.Slug, test.finding, got)
		}
	}
	proving, err := Derive(parse(t, "Limit[x, x -> 1]"), parse(t, "1"))
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[Status][2]string{
		StatusProved: {"limit_certificate", string(VerdictVerified)}, StatusRefuted: {"limit_approach", string(VerdictRefuted)},
		StatusAgrees: {"limit_approach", string(VerdictInconclusive)}, StatusTimedOut: {"limit_approach", string(VerdictInconclusive)},
	} {
		if got := Conclude(proving, Finding{Status: status, Exact: true}); got.Method != want[0] || string(got.Verdict) != want[1] {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// A rule of proofs takes no call and never refutes.
func TestProofRulesOnlyVerify(t *testing.T) {
	for _, rule := range Rules() {
		if _, proof := rule.(ProofRule); !proof {
			continue
		}
		if rule.appliesTo(Call{}) {
			t.Errorf("%s takes a call", rule.Declare().Slug)
		}
		for _, status := range []Status{StatusAgrees, StatusRefuted, StatusOpen, StatusTimedOut, StatusFailed, "", "verified"} {
			if got := rule.conclude(Finding{Status: status, Exact: true}); got.Verdict != VerdictInconclusive {
				t.Errorf("%s on %q: %s", rule.Declare().Slug, status, got.Verdict)
			}
		}
	}
}

// No finding whatever makes a sampled rule verify.
func TestSampledRulesNeverVerify(t *testing.T) {
	for _, rule := range Rules() {
		if _, sampled := rule.(SampledRule); !sampled {
			continue
		}
		for _, status := range []Status{StatusProved, StatusAgrees, StatusRefuted, StatusOpen, StatusTimedOut, StatusFailed, "", "verified"} {
			if got := rule.conclude(Finding{Status: status, Exact: true}); got.Verdict == VerdictVerified {
				t.Errorf("%s verified on %q", rule.Declare().Slug, status)
			}
		}
	}
}

// The compiler refuses a sampled conclusion that says verified: there is no such value of the type.
func TestSampledVerdictHasNoVerified(t *testing.T) {
	set := token.NewFileSet()
	imported := importer.ForCompiler(set, "source", nil)
	attempt := func(body string) error {
		entries, err := os.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".go") && !strings.HasSuffix(entry.Name(), "_test.go") {
				file, err := parser.ParseFile(set, entry.Name(), nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
		}
		added, err := parser.ParseFile(set, "attempt.go", "package verification\nfunc attempt(f Finding) SampledVerdict {\n"+body+"\n}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		config := types.Config{Importer: imported}
		_, err = config.Check("verification", set, append(files, added), nil)
		return err
	}
	if err := attempt("return Contradicts"); err != nil {
		t.Fatalf("what must compile does not: %v", err)
	}
	for _, body := range []string{
		"return VerdictVerified", "return judgeResidual(f)", "return ResidualVerdict{Outcome{Verdict: VerdictVerified}}", "return Outcome{Verdict: VerdictVerified}", "return Verified",
	} {
		if attempt(body) == nil {
			t.Errorf("%q compiles", body)
		}
	}
}

// Declarations are complete, and no two rules fit one call.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range Rules() {
		d := rule.Declare()
		if seen[d.Slug] {
			t.Errorf("%s is there twice", d.Slug)
		}
		seen[d.Slug] = true
		if d.Slug == "" || len(d.Heads) == 0 || d.Shows == "" || d.Silent == "" || len(d.Examples) < 2 {
			t.Errorf("%s: the declaration is not complete", d.Slug)
		}
		for _, example := range d.Examples {
			plan, err := Derive(parse(t, example.Input), parse(t, example.Answer))
			reached := plan.Slug == d.Slug
			if sampled, ok := plan.rule.(SampledRule); ok && sampled.Proof() == d.Slug {
				reached = true // by what its check proves
			}
			if err != nil || !reached {
				t.Errorf("%s: %s is planned by %q, %v", d.Slug, example.Input, plan.Slug, err)
				continue
			}
			call, err := resolve(parse(t, example.Input), parse(t, example.Answer))
			if err != nil {
				t.Fatal(err)
			}
			fitting := 0
			for _, other := range Rules() {
				if slices.Contains(other.Declare().Heads, call.Head) && other.appliesTo(call) {
					fitting++
				}
			}
			if fitting != 1 {
				t.Errorf("%s fits %d rules", example.Input, fitting)
			}
		}
	}
}

// Whatever two expressions are put together, Derive answers a plan that can be sent or a typed refusal.
func FuzzDerive(f *testing.F) {
	for _, rule := range Rules() {
		for _, example := range rule.Declare().Examples {
			f.Add(example.Input, example.Answer)
			f.Add(example.Input, example.Input)
			f.Add(example.Answer, example.Input)
		}
		for _, head := range rule.Declare().Heads {
			f.Add(head+"[]", "{}")
			f.Add(head+"[x]", "{{}}")
			f.Add(head+"[{}, {}, {}]", "{x, y}")
			f.Add(head+"[x -> 1, a -> 2]", "{{x -> 1}}")
			f.Add(head+"[f[x], {x}, {{x}}]", "f[][]")
			f.Add("N["+head+"[{x == 1}, {x, 1}]]", "x == 1 || y")
			f.Add("x /. "+head+"[x, y, z]", "{1, 2}")
			for count := range 6 { // rules index the arguments that the table of forms promises
				f.Add(head+"["+strings.TrimSuffix(strings.Repeat("x, ", count), ", ")+"]", "{{x -> 1}}")
			}
		}
	}
	f.Fuzz(func(t *testing.T, input, answer string) {
		in, err := expression.Parse(input)
		if err != nil {
			return
		}
		out, err := expression.Parse(answer)
		if err != nil {
			return
		}
		plan, err := Derive(in, out)
		if err != nil {
			var none *NoPlanError
			if !errors.As(err, &none) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		text, err := json.Marshal(plan.Task)
		if err != nil || !json.Valid(text) || plan.Slug == "" {
			t.Fatalf("%s with %s: %v", input, answer, err)
		}
	})
}

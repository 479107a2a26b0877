package verification

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/sweep"
)

// Every right value is verified and every other one refuted, by the rule of programs.
func TestPrograms(t *testing.T) {
	t.Parallel()
	pairs := part(t, Programs)
	total := &tally{}
	for i, result := range outcomes(t, checkertest.Start(t, checker.Options{Idle: 1}), pairs) {
		total.add(pairs[i], result)
		want := verification.VerdictRefuted
		if pairs[i].Right {
			want = verification.VerdictVerified
		}
		if result.Verdict != want || result.Method != "program_value" {
			t.Errorf("%s | %s: %+v, want %s", pairs[i].Input, pairs[i].Answer, result, want)
		}
	}
	t.Log(total)
}

// Programs of a seed: the engine's answers are not refuted, and changed ones are not verified.
func TestProgramsAgainstEngine(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	c := checkertest.Start(t, checker.Options{Idle: 1})
	verified, changed := 0, 0
	for i := range sweep.Size(t, "RECKON_PROGRAMS", 40, 4000) {
		chance := rand.New(rand.NewPCG(38, uint64(i)))
		program := Program(chance)
		answered, err := e.Evaluate(t.Context(), engine.Request{Code: program, Account: "battery", Budget: 3 * time.Second, QueueWait: time.Hour})
		if err != nil || answered.Unevaluated {
			continue
		}
		answer, err := expression.Parse(answered.InputForm)
		if err != nil {
			continue // a message, or a form that is no expression
		}
		switch result := outcome(t, c, program, answered.InputForm, checkSteps); result.Verdict {
		case verification.VerdictVerified:
			verified++
		case verification.VerdictRefuted:
			t.Errorf("program %d: the engine's answer is refuted by %s: %s\n%s\n%s", i, result.Method, result.Residual, program, answered.InputForm)
			continue
		default:
			continue
		}
		wrong, ok := nearMiss(chance, answer)
		if !ok {
			continue
		}
		changed++
		if result := outcome(t, c, program, wrong.Source(), checkSteps); result.Verdict == verification.VerdictVerified {
			t.Errorf("program %d: WRONG VERIFIED by %s\n%s\n%s", i, result.Method, program, wrong.Source())
		}
	}
	t.Logf("%d answers verified, %d changed", verified, changed)
	if verified == 0 || changed == 0 {
		t.Error("nothing was compared")
	}
}

// nearMiss is the answer with one number, text or truth value in it changed, or an element of a list more or less; false where there is none.
func nearMiss(chance *rand.Rand, answer *expression.Expr) (*expression.Expr, bool) {
	places := 0
	count := func(n *expression.Expr) bool { return changedPart(n) != nil }
	answer.Walk(func(n *expression.Expr) bool {
		if count(n) {
			places++
		}
		return true
	})
	if places == 0 {
		return nil, false
	}
	chosen := chance.IntN(places)
	return answer.Map(func(n *expression.Expr) (*expression.Expr, bool) {
		if !count(n) {
			return nil, false
		}
		chosen--
		return changedPart(n), chosen == -1
	}), true
}

// changedPart is another value for a number, a text, a truth value or a list; nil for anything else.
func changedPart(n *expression.Expr) *expression.Expr {
	switch {
	case n.Kind == expression.Integer && !strings.HasPrefix(n.Text, "-"):
		return expression.NewCall("Plus", n, expression.Int(1))
	case n.Kind == expression.String:
		return &expression.Expr{Kind: expression.String, Text: n.Text + "x"}
	case n.IsSymbol("True"):
		return expression.Sym("False")
	case n.IsSymbol("False"):
		return expression.Sym("True")
	case n.IsCall("List") && len(n.Args) > 0:
		return expression.NewCall("List", n.Args[1:]...)
	}
	return nil
}

// A function that the evaluator does not know makes a program that is not judged, unless the program never evaluates it: then any symbol may stand
// in its place. Each part of a question in turn becomes one.
func TestUnknownFunctionsInProgramsGiveNoVerdict(t *testing.T) {
	t.Parallel()
	pairs := part(t, Programs)
	c := checkertest.Start(t, checker.Options{Idle: 1})
	chance := rand.New(rand.NewPCG(38, 1))
	var planted []Pair
	for _, pair := range pairs {
		input, err := expression.Parse(pair.Input)
		if err != nil {
			t.Fatal(err)
		}
		numbers := 0
		input.Walk(func(n *expression.Expr) bool {
			if n.Kind == expression.Integer {
				numbers++
			}
			return true
		})
		if numbers == 0 {
			continue
		}
		chosen := chance.IntN(numbers)
		blind := input.Map(func(n *expression.Expr) (*expression.Expr, bool) {
			if n.Kind != expression.Integer {
				return nil, false
			}
			chosen--
			return expression.NewCall("MathieuC", n), chosen == -1
		})
		planted = append(planted, Pair{Input: blind.Source(), Answer: pair.Answer})
	}
	var skipped []Pair
	for i, result := range outcomes(t, c, planted) {
		switch {
		case result.Verdict == verification.VerdictVerified:
			skipped = append(skipped, Pair{Input: unknownCall.ReplaceAllString(planted[i].Input, "anySymbol"), Answer: planted[i].Answer})
		case result.Verdict == verification.VerdictRefuted && !holdsAt(planted[i].Input):
			t.Errorf("%s | %s: %+v", planted[i].Input, planted[i].Answer, result)
		}
	}
	for i, result := range outcomes(t, c, skipped) {
		if result.Verdict != verification.VerdictVerified {
			t.Errorf("verified with a function that is not known in the place of anySymbol: %s | %s: %+v", skipped[i].Input, skipped[i].Answer, result)
		}
	}
	t.Logf("%d programs", len(planted))
}

// unknownCall is a call of the planted function.
var unknownCall = regexp.MustCompile(`MathieuC\[\d+\]`)

// holdsAt tells whether a program never evaluates the unknown function: it stands where a choice does not look.
func holdsAt(input string) bool {
	for _, head := range []string{"If[", "Which[", "Switch[", "&&", "||", "And[", "Or["} {
		if strings.Contains(input, head) {
			return true
		}
	}
	return false
}

// Programs of the bounds and beyond end without a verdict or with the right one, and the checker goes on.
func TestProgramsAreBounded(t *testing.T) {
	c := checkertest.Start(t, checker.Options{Idle: 1})
	for _, test := range []struct{ name, input, answer string }{
		{"a long list", "Length[Map[f, Range[10^9]]]", "1"},
		{"many tuples", "Length[Tuples[Range[100], 10]]", "1"},
		{"many permutations", "First[Permutations[Range[50]]]", "1"},
		{"many subsets", "Last[Subsets[Range[100]]]", "1"},
		{"a tower", "Nest[2^# &, 3, 5]", "1"},
		{"a large power", "Map[#^# &, {10^9}]", "{1}"},
		{"a loop without end", "NestWhile[# + 1 &, 0, # >= 0 &]", "1"},
		{"a fixed point that there is not", "FixedPoint[# + 1 &, 0]", "1"},
		{"doubling", "Length[Nest[Join[#, #] &, {1}, 60]]", "1"},
		{"a long text", `StringLength[StringRepeat["ab", 10^9]]`, "1"},
		{"texts that double", `StringLength[Nest[StringJoin[#, #] &, "a", 60]]`, "1"},
		{"a pattern with much to try", `StringMatchQ["` + strings.Repeat("a", 4000) + `", "a" .. ~~ "a" .. ~~ "b"]`, "True"},
		{"deep nesting", "Depth[Nest[List, x, 5000]]", "1"},
		{"sequences to try", "MatchQ[Range[60], {a___, b___, c___, d___, e___, f___, 99}]", "True"},
		{"a large index", "Map[Fibonacci, {10^9}]", "{1}"},
		{"partitions", "Length[IntegerPartitions[500]]", "1"},
		{"itself", "(#[#] &)[#[#] &]", "1"},
		{"a function that grows", "Nest[{#, #} &, x, 40]", "x"},
		{"nested tables", "Table[1, {i, 10000}, {j, 10000}]", "{}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if result := outcome(t, c, test.input, test.answer, checkSteps); result.Verdict == verification.VerdictVerified {
				t.Errorf("%+v", result)
			}
			if after := outcome(t, c, "Map[#^2 &, {1, 2}]", "{1, 4}", checkSteps); after.Verdict != verification.VerdictVerified {
				t.Errorf("the next check: %+v", after)
			}
		})
	}
}

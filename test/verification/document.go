package verification

import (
	"fmt"
	"strings"

	"reckon/domain/verification"
)

// Shown is one example of a rule's declaration with what the service answered.
type Shown struct {
	Rule     string `json:"rule"`
	Input    string `json:"input"`
	Answer   string `json:"answer"`
	Verdict  string `json:"verdict"`
	Basis    string `json:"basis"`
	Reason   string `json:"reason"`
	Check    string `json:"check"`
	Residual string `json:"residual"`
}

const introduction = `# What a verdict says

<!-- Generated from the rules' declarations and their examples: go generate ./test/verification -->

Reckon's own parser reads the input and the answer, a rule makes a plan from their shape, and a checker that shares no code with the engine carries the plan out
in a fresh process, on python-flint (FLINT and Arb). An answer to a check has these fields:

| ` + "`verdict`" + ` | meaning |
|---|---|
| ` + "`verified`" + ` | the statement that the [rule](#the-rules) shows is true: exactly, by algebra, or numerically, as the rule states |
| ` + "`refuted`" + ` | the statement is false. ` + "`residual`" + ` is the proof as a sentence that any other system can check: the place, the expected value, the answer's value. Integers and fractions in it are exact; a decimal is right to one unit of its last digit, or lies between two given numbers; ` + "`≈`" + ` marks a rounded place |
| ` + "`inconclusive`" + ` | nothing was decided; ` + "`reason`" + ` says why |

| ` + "`basis`" + ` | meaning |
|---|---|
| ` + "`exact`" + ` | exact arithmetic or algebra |
| ` + "`numeric`" + ` | enclosures with proved radii. Disjoint ones refute. They verify to the digits that the rule states; two expressions where they agree to 60 digits in every region, every jump and branch is known, and nothing is too small to be seen |
| ` + "`cross_check`" + ` | a rule that looks at some points or cases: a refutation is a proof, an agreement is support and never ` + "`verified`" + ` |

| ` + "`reason`" + ` | meaning |
|---|---|
| ` + "`cross_check_agrees`" + ` | an independent route came to the same value: support, not proof. ` + "`residual`" + ` bounds the remaining difference, as ` + "`0 ± 2.1*^-9`" + `, or says that no difference was found |
| ` + "`no_check_for_head`" + ` | no rule covers the function |
| ` + "`no_check_for_shape`" + ` | a rule covers the function, but not this form of call; another way to write it may help |
| ` + "`answer_not_usable`" + ` | the answer is unevaluated, a failure, or not of the form that the function answers with |
| ` + "`simplify_did_not_reduce`" + ` | neither proved nor disproved: it holds on some branches only, the enclosures stay too wide, or a proof is not known |
| ` + "`check_timed_out`" + ` | the check ran past its budget |
| ` + "`check_engine_error`" + ` | the checker failed |
| ` + "`check_not_permitted`" + ` | the expression reaches outside itself (files, processes, the network), the engine reads it otherwise than the language does, or a session may have given its names a meaning |

` + "`method`" + ` names the rule, ` + "`check`" + ` is the checked expression: of ` + "`Integrate[f, x]`" + ` with the answer ` + "`F`" + ` it is ` + "`D[F, x] - (f)`" + `.

## What holds for every rule

**Values.** The checker computes with exact numbers and with balls: a midpoint and a radius that provably holds the true value. Two values are equal only if exact arithmetic says so, and different only if it says so or their balls are
disjoint. No tolerance decides anything. Precision rises from 64 to 1024 bits (further for numbers that are close together) until the matter is decided. Infinity and its kin equal no number. A check is bounded in counted steps, so a busy machine changes no verdict.

**Variables** are complex unless the input assumes otherwise. An answer that fails off the reals only is refuted; the residual adds that it agrees at the real values tried. Indexed variables such as a[1] are variables. An undefined function is represented by one fixed smooth function: a
difference refutes (the residual names that function), an agreement only supports, unless algebra proves it.

**Points** come from the expressions: in every cell between their kinks, zeros, poles and branch points, at the ends of the cells, far out, on both sides of cuts, and where exponentials wrap round; parameters of either sign and zero.

**Branches.** An agreement verifies only if the checker knows where every root, logarithm and inverse function changes its branch. It knows this where the argument is a polynomial in one real symbol (at its zeros), keeps its sign (nowhere), or is linear in a complex symbol (on a line; there are points on
each side of the line and on it).

**Assumptions** that may leave single values (Sin[x] == 0, an element of a discrete domain, orders that meet in a point) verify only by algebra. Conditions with an order are verified where their symbols are assumed real, or where both sides are made of
orders of first degree in one symbol; statements of membership are supported or refuted only.

**Decimals.** A decimal number in an answer is the interval that prints so.

| an answer with decimals | is verified where |
|---|---|
| any | 53 bits hold every decimal as it is written (1.5, not 0.1), and the answer is exactly right |
| identities | also where the identity is exact for the numbers as they print |
| identities, antiderivatives, differential equations | also where it is exactly right in both readings of a decimal: the number that is written, and the double next to it |
| numbers, limits | also where 53 bits hold the decimals of the question, and those of the answer are the exact ones to four units of the 53rd bit |
| solutions of polynomial equations, eigenvalues | also where the decimals are the exact ones rounded to 53 bits or, with more digits than these hold, to the digits they show; the residual says so |

The checker allows for the loss of arithmetic with 53 bits, and exact arithmetic proves nothing where machines lose most of a value (10.^16 + 1 - 10.^16).

**Not checked**: symbols that a session has given a value. **Inconclusive**: an answer or a question with a function that the checker does not know (Hold; With, Part, Apply and the like where program_value leaves them open). **Refuted**: a text as the answer, where the question
holds no text and is no program.

# The rules

A rule *refutes only* where its search looks at some points or cases; the rule after it *verifies* what the same check proved. Each example is the checker's own outcome; where a rule that refutes only finds no difference, the outcome is ` + "`inconclusive`" + `, ` + "`cross_check`" + `, ` + "`cross_check_agrees`" + `.
`

// Document writes docs/verification.md.
func Document(rules []verification.Rule, shown []Shown) string {
	var b strings.Builder
	b.WriteString(introduction)
	declared := map[string]verification.Declaration{}
	for _, rule := range rules {
		declared[rule.Declare().Slug] = rule.Declare()
	}
	for _, rule := range rules {
		d := rule.Declare()
		switch rule := rule.(type) {
		case verification.SampledRule:
			section(&b, d, "Refutes only; "+code(rule.Proof())+" verifies. Checks "+codes(d.Heads), shown)
			section(&b, declared[rule.Proof()], "Verifies what the check of "+code(d.Slug)+" proves", shown)
		case verification.ResidualRule:
			section(&b, d, "Verifies and refutes. Checks "+codes(d.Heads), shown)
		}
	}
	return b.String()
}

// section writes what a rule shows, what it leaves open, and its first example of each verdict.
func section(b *strings.Builder, d verification.Declaration, kind string, shown []Shown) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n**Shows.** %s\n\n**Leaves open.** %s\n\n", d.Slug, kind, d.Shows, d.Silent)
	b.WriteString("| input | answer | outcome | residual |\n|---|---|---|---|\n")
	listed := map[string]bool{"inconclusive": true} // support looks alike under every rule
	for _, s := range shown {
		if s.Rule == d.Slug && !listed[s.Verdict] {
			listed[s.Verdict] = true
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(s.Input), code(s.Answer), s.outcome(), code(s.Residual))
		}
	}
}

func (s Shown) outcome() string {
	parts := []string{s.Verdict}
	if s.Basis != "" {
		parts = append(parts, s.Basis)
	}
	if s.Reason != "" {
		parts = append(parts, s.Reason)
	}
	return strings.Join(parts, ", ")
}

func codes(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = code(name)
	}
	return strings.Join(out, ", ")
}

// code quotes text for a table cell.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

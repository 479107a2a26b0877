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

A verdict is the outcome of an independent computation: the input and the answer are read by Reckon's own parser, a rule
makes a plan from their shape, and a checker built on python-flint (FLINT and Arb), which shares no code with the engine, carries
the plan out in a throwaway process. The engine is never asked about itself.

The checker computes with exact numbers and with balls: a midpoint and a radius that is proved to hold the true value. Two values
are equal only when they are exactly; they are different only when they are exactly different or their balls are disjoint.
Infinity and its kin are values of their own, equal to no number. No tolerance decides anything. Precision is raised from 64 to
1024 bits (for numbers that are close together, further) until the matter is decided; where it is not, the verdict is inconclusive.

| verdict | meaning |
|---|---|
| ` + "`verified`" + ` | the statement that the rule shows is true: exactly, by algebra, or numerically, as the rule states: balls that agree to 60 digits in every region that the expressions show, where every jump and every branch is known and nothing is too small to be seen |
| ` + "`refuted`" + ` | it is false, and the residual is the proof as a sentence: where, what is expected there and what the answer gives, so that any other system can check it. Integers and fractions in it are exact, of a decimal the last digit is right to one unit, what is known less well is said to lie between two numbers, ` + "`≈`" + ` marks a place that is rounded |
| ` + "`inconclusive`" + ` | nothing was decided; the reason says why |

| basis | meaning |
|---|---|
| ` + "`exact`" + ` | exact arithmetic or algebra |
| ` + "`numeric`" + ` | enclosures with proved radii: disjoint ones refute; verified by them means the points that the rule states |
| ` + "`cross_check`" + ` | a rule that looks at some points or cases: what it refutes is proved all the same, what agrees is support and never verified |

| reason | meaning |
|---|---|
| ` + "`cross_check_agrees`" + ` | an independent route came to the same value: support, not proof; the residual is a bound of the difference that is left, as ` + "`0 ± 2.1*^-9`" + `, or says that none was found |
| ` + "`no_check_for_head`" + ` | no rule covers the function |
| ` + "`no_check_for_shape`" + ` | a rule covers the function, but not this form of call; another way to write it may help |
| ` + "`answer_not_usable`" + ` | the answer is unevaluated, a failure, or not of the form that the function answers with |
| ` + "`simplify_did_not_reduce`" + ` | neither proved nor disproved: it holds on some branches only, the enclosures stay too wide, or a proof is not known |
| ` + "`check_timed_out`" + ` | the check ran past its budget |
| ` + "`check_engine_error`" + ` | the checker failed |
| ` + "`check_not_permitted`" + ` | the expression reaches outside itself (files, processes, the network), the engine reads it otherwise than the language does, or its session may have given its names a meaning |

Variables are complex unless the input assumes otherwise, as in the language; where an answer fails off the reals only it is
refuted, and the residual adds that it agrees at the real values tried. Points are chosen from the expressions: in every cell between the
kinks, zeros, poles and branch points found in them, at the ends of the cells, far out, on both sides of cuts, and where
exponentials wrap round; parameters of either sign and zero. Where roots, logarithms and inverse functions go from one branch to
another must be known, or agreement is support only: zeros of polynomials in one real symbol, nowhere where what they are taken of keeps
its sign, and lines where it is linear in a complex symbol; there are points on each side of such a line and on it. A decimal number in an answer is the interval that prints so; an
identity that is exact for the numbers as they print is proved for these. Assumptions that may leave single values (Sin[x] == 0, an element of
a discrete domain, orders that meet in a point) verify nothing but what algebra proves. What arithmetic with 53 bits may lose of a result is
allowed for, and exact arithmetic proves nothing where machines lose most of a value (10.^16 + 1 - 10.^16). An undefined function is
looked at as one fixed smooth function: a difference found with it, which the residual names, refutes what is said of every function; an
agreement only supports, unless algebra proves it. Indexed variables such as a[1] are variables. Conditions with an order are verified where
their symbols are assumed real, or where both are made of orders of first degree in one symbol; statements of membership are supported or refuted only. A check is bounded in steps that are counted, so that a busy machine
changes no verdict. A decimal answer is verified where 53 bits hold every
decimal as it is written (1.5, not 0.1) and it is exactly right; identities, antiderivatives and differential equations also where it is
exactly right in both readings of a decimal, the number that is written and the double next to it; solutions of polynomial equations and eigenvalues also where the decimals are the
exact ones rounded to 53 bits or, with more digits than these hold, to the digits they show, and the residual says so. Where the question holds no text and is no program, a text is no value: such an
answer is refuted. An answer or a question that holds a function which the checker does not know (Hold, and for all rules but program_value Module, Part, Which, Apply) is inconclusive. Symbols that a session has given a value are not checked.

# The rules
`

// Document writes docs/verification.md.
func Document(rules []verification.Rule, shown []Shown) string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, rule := range rules {
		d := rule.Declare()
		kind := "can verify and refute"
		switch rule := rule.(type) {
		case verification.SampledRule:
			kind = "can refute, never verify; what its check proves is verified as `" + rule.Proof() + "`"
		case verification.ProofRule:
			kind = "can verify, never refute: says what the check of a sampled rule proves"
		}
		fmt.Fprintf(&b, "\n## %s\n\n*%s.* Checks %s.\n\n", d.Slug, kind, codes(d.Heads))
		fmt.Fprintf(&b, "What it shows: %s\n\nWhat it does not: %s\n\n", d.Shows, d.Silent)
		b.WriteString("| input | answer | outcome | checked | came to |\n|---|---|---|---|---|\n")
		for _, s := range shown {
			if s.Rule == d.Slug {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(s.Input), code(s.Answer), s.outcome(), code(s.Check), code(s.Residual))
			}
		}
	}
	return b.String()
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

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
makes a plan from their shape, and a checker built on SymPy and mpmath, which share no code with the engine, carries the plan
out in a throwaway process. The engine is never asked about itself.

| verdict | meaning |
|---|---|
| ` + "`verified`" + ` | the statement that the rule shows was found true: exactly, by algebra, or numerically, to 20 digits at a dozen or more random points |
| ` + "`refuted`" + ` | it was found false, by values that stay apart when the precision is doubled |
| ` + "`inconclusive`" + ` | nothing was learned; the reason says why |

| basis | meaning |
|---|---|
| ` + "`exact`" + ` | exact arithmetic or algebra |
| ` + "`numeric`" + ` | values at 40 digits, and again at 80 before anything is refuted |
| ` + "`cross_check`" + ` | comparison with an independent approximation: it can refute and can never verify |

| reason | meaning |
|---|---|
| ` + "`cross_check_agrees`" + ` | an independent route came to the same value: support, not proof |
| ` + "`no_check_for_head`" + ` | no rule covers the function |
| ` + "`no_check_for_shape`" + ` | a rule covers the function, but not this form of call; another way to write it may help |
| ` + "`answer_not_usable`" + ` | the answer is unevaluated, a failure, or not of the form that the function answers with |
| ` + "`simplify_did_not_reduce`" + ` | the check neither held nor failed clearly: it holds at some points only, no trustworthy value was found, or an undecided convention is at stake |
| ` + "`check_timed_out`" + ` | the check ran past its budget |
| ` + "`check_engine_error`" + ` | the checker failed |
| ` + "`check_not_permitted`" + ` | the expression reaches outside itself: files, processes, the network |

When in doubt a check is inconclusive. Formulas are looked at with positive variables first, then negative, then complex ones: one
that holds for positive values and fails elsewhere is neither verified nor refuted, because answers are often meant so. Undefined
functions and constants such as C[1] are given values without special properties. Symbols that a session has given a value, and
units of measure, are not checked.

# The rules
`

// Document writes docs/verification.md.
func Document(rules []verification.Rule, shown []Shown) string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, rule := range rules {
		d := rule.Declare()
		kind := "can verify and refute"
		if _, sampled := rule.(verification.SampledRule); sampled {
			kind = "can refute, never verify"
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

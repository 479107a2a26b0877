package verification

import (
	"slices"
	"strings"

	"reckon/domain/expression"
)

// Call is the function call in the input that a rule checks, with the effect of the functions around it.
type Call struct {
	Head        string
	Args        []*expression.Expr // positional
	Options     map[string]*expression.Expr
	Assumptions []*expression.Expr // from Assuming and the option Assumptions
	Answer      *expression.Expr
	Approximate bool             // inside N[...]
	Precision   *expression.Expr // the second argument of N, nil without one
	Normal      bool             // inside Normal[...]
	Whole       *expression.Expr // the call as it stood, options included
}

// valuePreservingHeads are the functions whose value is that of their first argument, with so many arguments. Not Check, whose value is its
// second argument where there were messages.
var valuePreservingHeads = map[string]int{
	"Quiet": 1, "Evaluate": 1, "Identity": 1, "TimeConstrained": 2, "MemoryConstrained": 2, "InputForm": 1, "MatrixForm": 1, "StandardForm": 1, "TraditionalForm": 1,
}

// displayWrappers are the heads of answers that only say how to display the argument.
var displayWrappers = []string{"MatrixForm", "InputForm", "StandardForm", "TraditionalForm"}

// resolve returns the call to be checked: the one inside assignments, N, Normal, Assuming and rewriting functions.
func resolve(input, answer *expression.Expr) (Call, error) {
	for len(answer.Args) == 1 && slices.Contains(displayWrappers, answer.HeadName()) {
		answer = answer.Args[0]
	}
	call := Call{Answer: answer, Options: map[string]*expression.Expr{}}
	e := input
	for {
		if e.Kind != expression.Call {
			return call, noHead("an atom is not checked")
		}
		name := e.HeadName()
		switch {
		case name == "" && isDerivative(e):
			name = "Derivative"
		case name == "" && isApplied(e.Head):
			name = "Function"
		case name == "":
			return call, noHead("the head is not a name")
		case name == "Set" && len(e.Args) == 2 && e.Args[0].Kind == expression.Symbol:
			e = e.Args[1]
			continue
		case len(e.Args) > 0 && len(e.Args) == valuePreservingHeads[name]:
			e = e.Args[0]
			continue
		case name == "Assuming" && len(e.Args) == 2:
			call.Assumptions = append(call.Assumptions, e.Args[0])
			e = e.Args[1]
			continue
		case name == "N" && (len(e.Args) == 1 || len(e.Args) == 2) && slices.Contains(approximableHeads, e.Args[0].HeadName()):
			call.Approximate = true
			if len(e.Args) == 2 {
				call.Precision = e.Args[1]
			}
			e = e.Args[0]
			continue
		case name == "Normal" && len(e.Args) == 1:
			call.Normal = true
			e = e.Args[0]
			continue
		case slices.Contains(rewritingHeads, name) && !slices.Contains(assumingHeads, name) && len(e.Args) == 1 && slices.Contains(rewritableHeads, e.Args[0].HeadName()):
			e = e.Args[0]
			continue
		}
		if replaced, ok := withValues(e); ok {
			e = replaced
			continue
		}
		if last, ok := withDefinitions(e); ok {
			e = last
			continue
		}
		call.Head, call.Whole = name, e
		break
	}
	if call.Head == "ReplaceAll" && len(e.Args) == 2 && e.Args[1].Kind == expression.Call {
		return resolveReplacement(call, e)
	}
	call.Args, call.Options = splitOptions(call.Head, e.Args)
	if assumed, ok := call.Options["Assumptions"]; ok {
		call.Assumptions = append(call.Assumptions, assumed)
	}
	return call, nil
}

// resolveReplacement reads x /. Solve[...]: the answer is the list of values that the rules would have given.
func resolveReplacement(call Call, e *expression.Expr) (Call, error) {
	unknown, inner := e.Args[0], e.Args[1]
	if !slices.Contains([]string{"Solve", "NSolve", "DSolve", "RSolve", "FindRoot"}, inner.HeadName()) {
		return call, nil
	}
	call.Head, call.Whole = inner.HeadName(), inner
	call.Args, call.Options = splitOptions(call.Head, inner.Args)
	rule := func(value *expression.Expr) *expression.Expr {
		return expression.NewCall("List", expression.NewCall("Rule", unknown, value))
	}
	if call.Head == "FindRoot" {
		call.Answer = rule(call.Answer)
		return call, nil
	}
	if !call.Answer.IsCall("List") {
		return call, noAnswer("the answer is not a list of values")
	}
	var solutions []*expression.Expr
	for _, value := range call.Answer.Args {
		solutions = append(solutions, rule(value))
	}
	call.Answer = expression.NewCall("List", solutions...)
	return call, nil
}

// withValues reads expr /. x -> a and expr /. {x -> a, y -> b} as the expression with the values in it; false where expr is made of
// anything but plain functions, which have the same value before and after, or a rule is for something else than a symbol.
func withValues(e *expression.Expr) (*expression.Expr, bool) {
	if e.HeadName() != "ReplaceAll" || len(e.Args) != 2 || !isPlain(e.Args[0]) {
		return nil, false
	}
	values := map[string]*expression.Expr{}
	for _, rule := range elementsOf(e.Args[1]) {
		if !rule.IsCall("Rule") || len(rule.Args) != 2 || rule.Args[0].Kind != expression.Symbol || mentionsAny(rule.Args[1], "List", "Sequence") {
			return nil, false
		}
		if name := rule.Args[0].Text; values[name] == nil { // the first rule for a symbol holds
			values[name] = rule.Args[1]
		}
	}
	return e.Args[0].Map(func(n *expression.Expr) (*expression.Expr, bool) {
		value := values[n.Text]
		return value, n.Kind == expression.Symbol && value != nil
	}), true
}

// plainHeads are functions of numbers that bind no symbols and do not look at the form of what they are given.
var plainHeads = strings.Fields("Plus Times Power Rational Sqrt Exp Log Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcTan Sinh Cosh Tanh ArcSinh ArcCosh ArcTanh Abs Gamma Factorial")

func isPlain(e *expression.Expr) bool {
	if e.Kind != expression.Call {
		return true
	}
	return slices.Contains(plainHeads, e.HeadName()) && !slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return !isPlain(part) })
}

// isDerivative recognises Derivative[n][f][x].
func isDerivative(e *expression.Expr) bool {
	return e.Kind == expression.Call && e.Head.Kind == expression.Call && e.Head.Head.IsCall("Derivative")
}

// isApplied recognises pure functions, functions that wait for their last argument, as in Select[EvenQ][list], compositions and associations.
func isApplied(head *expression.Expr) bool {
	for head.Kind == expression.Call && head.Head.Kind == expression.Call {
		head = head.Head
	}
	return head.Kind == expression.Call && (slices.Contains(programHeads, head.HeadName()) || head.IsCall("Composition") || head.IsCall("RightComposition"))
}

// approximableHeads are the calls that N may stand around and another rule than numeric_value checks.
var approximableHeads = []string{"Integrate", "Sum", "Product", "Solve", "Roots", "Limit", "Minimize", "Maximize", "Eigenvalues", "Eigenvectors", "Eigensystem", "Inverse", "LinearSolve", "DSolve"}

// rewritableHeads are the calls that a rewriting function may stand around without changing what is to be checked.
var rewritableHeads = []string{"Integrate", "D", "Dt", "Sum", "Product", "Limit", "Solve", "DSolve", "DSolveValue", "RSolve", "RSolveValue", "Det", "Inverse", "LinearSolve", "MatrixExp", "MatrixPower", "Dot", "Eigenvalues", "Roots", "Reduce", "Series", "Normal"}

// assumingHeads rewrite as if symbols were real or positive: what stands in them is not checked as if it stood alone.
var assumingHeads = []string{"PowerExpand", "ComplexExpand"}

// keepsNoHead tells whether an answer that still holds the head is unevaluated. Sums, rewriting functions and derivatives may
// well be part of an answer.
func keepsNoHead(head string) bool {
	return !slices.Contains([]string{"Derivative", "Dot", "N", "Normal", "Plus", "Times", "Power"}, head) && !slices.Contains(rewritingHeads, head)
}

// splitOptions parts the trailing rules name->value from the positional arguments.
func splitOptions(head string, args []*expression.Expr) ([]*expression.Expr, map[string]*expression.Expr) {
	options := map[string]*expression.Expr{}
	least := 1
	if head == "Limit" || head == "DiscreteLimit" {
		least = 2
	}
	end := len(args)
	for end > least {
		last := args[end-1]
		if (last.IsCall("Rule") || last.IsCall("RuleDelayed")) && len(last.Args) == 2 && optionName(last.Args[0]) != "" {
			options[optionName(last.Args[0])] = last.Args[1]
			end--
			continue
		}
		break
	}
	return args[:end], options
}

func optionName(e *expression.Expr) string {
	if (e.Kind == expression.Symbol || e.Kind == expression.String) && e.Text != "" && 'A' <= e.Text[0] && e.Text[0] <= 'Z' {
		return e.Text
	}
	return ""
}

// Small constructors and readers that the rules share.

func list(e *expression.Expr) ([]*expression.Expr, bool) {
	if e.IsCall("List") {
		return e.Args, true
	}
	return nil, false
}

// elementsOf gives the elements of a list, or the expression alone.
func elementsOf(e *expression.Expr) []*expression.Expr {
	if parts, ok := list(e); ok {
		return parts
	}
	return []*expression.Expr{e}
}

func call(name string, args ...*expression.Expr) *expression.Expr {
	return expression.NewCall(name, args...)
}

func difference(a, b *expression.Expr) *expression.Expr {
	if b.IsInt(0) {
		return a
	}
	return call("Plus", a, call("Times", expression.Int(-1), b))
}

func equation(a, b *expression.Expr) *expression.Expr { return call("Equal", a, b) }

// symbolNames lists the texts of symbols; false when one is no symbol.
func symbolNames(parts []*expression.Expr) ([]string, bool) {
	out := make([]string, len(parts))
	for i, part := range parts {
		if part.Kind != expression.Symbol {
			return nil, false
		}
		out[i] = part.Text
	}
	return out, true
}

// mentionsAny reports whether one of the symbols occurs in e.
func mentionsAny(e *expression.Expr, symbols ...string) bool {
	found := false
	e.Walk(func(n *expression.Expr) bool {
		found = found || n.Kind == expression.Symbol && slices.Contains(symbols, n.Text)
		return !found
	})
	return found
}

// identities is the task for claims left == right that must hold at every chosen point.
func identities(check *expression.Expr, claims [][2]*expression.Expr, assumptions []*expression.Expr, more map[string]any) Task {
	fields := map[string]any{"claims": claims, "assumptions": assumptions}
	for key, value := range more {
		fields[key] = value
	}
	return Task{Kind: "identities", Check: check, Fields: fields}
}

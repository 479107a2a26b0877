package verification

import (
	"slices"

	"reckon/domain/expression"
)

// solveResidual: solutions put into the equations they solve.
func solveResidual() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  "solve_residual",
			Heads: []string{"Solve", "FindInstance", "SolveValues"},
			Shows: "Every solution makes the equations and conditions true, and there are no others: counted by a Groebner basis over the rationals, isolated by " +
				"enclosures, class by class for periodic equations, within its range for one inverse function such as Log. With parameters: the linear factors of one " +
				"polynomial equation; else the checker puts the solutions in for all values of the parameters and counts them at exact values in every region that " +
				"question and answer show. FindInstance: as many different ones as requested, or all. A multiple root may be given up to its multiplicity, every other " +
				"solution once. Equations in Re, Im, Abs and Conjugate are solved in two real unknowns each. With Modulus: least residues. A proved solution that is " +
				"missing refutes.",
			Silent: "Special values of parameters, except the ends of conditions that the answer states: at the ends that belong to a condition the solution must hold; the " +
				"residual names the solutions that are missing at the others. Whether a multiple root is given as often as it is one. Nothing is decided about x^2/x at " +
				"0, and over the reals where a function in the equations is not real. Nothing is verified of transcendental equations beyond one exponential or one " +
				"inverse function, which may have further solutions.",
			Examples: []Example{
				{"Solve[x^2 - 5 x + 6 == 0, x]", "{{x -> 2}, {x -> 3}}"},
				{"Solve[Sqrt[x + 3] == x - 3, x]", "{{x -> 1}, {x -> 6}}"},
				{"Solve[Sin[x] == 1/2, x]", "{{x -> ConditionalExpression[Pi/6 + 2 Pi C[1], Element[C[1], Integers]]}}"},
			},
		},
		form: func(c Call) bool { return !c.Approximate },
		plan: planSolveResidual,
	}
}

func planSolveResidual(c Call) (Task, error) {
	return solutionsTask(c, c.Head != "FindInstance", false)
}

// solutionsTask is the work order for answers that are lists of rules.
func solutionsTask(c Call, complete, approximate bool) (Task, error) {
	conditions := conjunction(c.Args[0])
	args := c.Args
	count := expression.Int(1) // of instances
	// The last argument may be a number: of instances, or of the digits of a decimal solution.
	if last := args[len(args)-1]; len(args) > 2 && last.Kind == expression.Integer && (c.Head == "FindInstance" || approximate) {
		count, args = last, args[:len(args)-1]
	}
	args, domain := withoutDomain(args)
	if domain == "" {
		domain = "Complexes"
	}
	if len(args) > 2 {
		return Task{}, noShape("variables to eliminate are not checked")
	}
	var unknowns []string
	if len(args) > 1 {
		found, ok := symbolNames(unknownsOf(args[1]))
		if !ok {
			return Task{}, noShape("an unknown is not a symbol")
		}
		unknowns = found
	} else {
		unknowns = freeSymbols(c.Args[0])
	}
	for _, condition := range conditions {
		if mentionsAny(condition, "Or", "Exists", "ForAll", "Not", "Modulus") {
			return Task{}, noShape("only equations and conditions joined by && are put to the test")
		}
	}
	answer := c.Answer
	if c.Head == "SolveValues" || c.Head == "NSolveValues" {
		answer = valuesAsRules(answer, unknowns)
	}
	if rules, ok := disjunctionAsRules(answer); ok {
		answer = rules
	}
	solutions, foreign, err := solutionsOf(answer, unknowns, freeSymbols(c.Args[0]))
	if err != nil {
		return Task{}, err
	}
	fields := map[string]any{
		"conditions": conditions, "unknowns": unknowns, "solutions": solutions, "foreign": foreign, "domain": domain, "assumptions": c.Assumptions,
		"complete": complete && c.Options["MaxRoots"] == nil, "approximate": approximate,
	}
	if most := c.Options["MaxRoots"]; most != nil {
		count = most
	}
	if fields["complete"] == false {
		fields["count"] = count
	}
	if modulus := c.Options["Modulus"]; modulus != nil {
		fields["modulus"] = modulus
	}
	return Task{Kind: "roots", Check: substitution(conditions, solutions), Fields: fields}, nil
}

// unknownsOf reads x, {x, y} and {{x, x0}, …}.
func unknownsOf(e *expression.Expr) []*expression.Expr { return elementsOf(e) }

// domains are all that the language knows: a name among them is never an unknown.
var domains = []string{
	"Reals", "Complexes", "Integers", "Rationals", "Primes", "Algebraics", "Booleans",
	"PositiveReals", "NonNegativeReals", "NegativeReals", "NonPositiveReals",
	"PositiveIntegers", "NonNegativeIntegers", "NegativeIntegers", "NonPositiveIntegers",
	"PositiveRationals", "NonNegativeRationals", "NegativeRationals", "NonPositiveRationals",
}

func isDomain(name string) bool {
	return slices.Contains(domains, name)
}

// withoutDomain takes the domain off the end of arguments; "" where there is none.
func withoutDomain(args []*expression.Expr) ([]*expression.Expr, string) {
	last := len(args) - 1
	if last > 0 && args[last].Kind == expression.Symbol && isDomain(args[last].Text) {
		return args[:last], args[last].Text
	}
	return args, ""
}

// conjunction splits equations joined by && or in a list; an equation between lists becomes one for each element.
func conjunction(e *expression.Expr) []*expression.Expr {
	if e.IsCall("And") || e.IsCall("List") {
		var out []*expression.Expr
		for _, part := range e.Args {
			out = append(out, conjunction(part)...)
		}
		return out
	}
	if e.IsCall("Equal") && len(e.Args) == 2 {
		left, leftIsList := list(e.Args[0])
		right, rightIsList := list(e.Args[1])
		if leftIsList && rightIsList && len(left) == len(right) {
			var out []*expression.Expr
			for i := range left {
				out = append(out, conjunction(equation(left[i], right[i]))...)
			}
			return out
		}
	}
	return []*expression.Expr{e}
}

// solutionsOf reads {{x -> a, y -> b}, …} and {x -> a}. foreign tells whether one gives a value to a symbol that the question
// (asked) does not know: such a rule says nothing about the unknowns.
func solutionsOf(answer *expression.Expr, unknowns, asked []string) (solutions []map[string]any, foreign bool, err error) {
	parts, ok := list(answer)
	if !ok {
		return nil, false, noAnswer("the answer is not a list of solutions")
	}
	if len(parts) > 0 && parts[0].IsCall("Rule") {
		parts = []*expression.Expr{answer}
	}
	if len(parts) > MaxSolutions {
		return nil, false, noAnswer("the answer has too many solutions to check")
	}
	solutions = []map[string]any{}
	for _, part := range parts {
		rules, ok := list(part)
		if !ok {
			return nil, false, noAnswer("a solution is not a list of rules")
		}
		var found []string
		var values []*expression.Expr
		for _, rule := range rules {
			if !rule.IsCall("Rule") || len(rule.Args) != 2 || rule.Args[0].Kind != expression.Symbol {
				return nil, false, noAnswer("a solution is not a list of rules for the unknowns")
			}
			if !slices.Contains(unknowns, rule.Args[0].Text) && !slices.Contains(asked, rule.Args[0].Text) {
				foreign = true
				continue
			}
			if !slices.Contains(unknowns, rule.Args[0].Text) || slices.Contains(found, rule.Args[0].Text) {
				return nil, false, noAnswer(rule.Args[0].Text + " is not an unknown of the equations, or is there twice")
			}
			found = append(found, rule.Args[0].Text)
			values = append(values, rule.Args[1])
		}
		if found == nil {
			found, values = []string{}, []*expression.Expr{}
		}
		solutions = append(solutions, map[string]any{"names": found, "values": values})
	}
	return solutions, foreign, nil
}

func valuesAsRules(answer *expression.Expr, unknowns []string) *expression.Expr {
	var solutions []*expression.Expr
	for _, part := range elementsOf(answer) {
		values := []*expression.Expr{part}
		if len(unknowns) > 1 {
			values = elementsOf(part)
		}
		var rules []*expression.Expr
		for i, value := range values {
			if i < len(unknowns) {
				rules = append(rules, call("Rule", expression.Sym(unknowns[i]), value))
			}
		}
		solutions = append(solutions, call("List", rules...))
	}
	return call("List", solutions...)
}

// substitution writes the check as the language would: residuals /. solutions.
func substitution(conditions []*expression.Expr, solutions []map[string]any) *expression.Expr {
	var residuals, rules []*expression.Expr
	for _, condition := range conditions {
		if condition.IsCall("Equal") && len(condition.Args) == 2 {
			condition = difference(condition.Args[0], condition.Args[1])
		}
		residuals = append(residuals, condition)
	}
	for _, solution := range solutions {
		var one []*expression.Expr
		values := solution["values"].([]*expression.Expr)
		for i, name := range solution["names"].([]string) {
			one = append(one, call("Rule", expression.Sym(name), values[i]))
		}
		rules = append(rules, call("List", one...))
	}
	return call("ReplaceAll", call("List", residuals...), call("List", rules...))
}

// freeSymbols lists the symbols of an expression that can be unknowns.
func freeSymbols(e *expression.Expr) []string {
	heads := e.Heads()
	var out []string
	for _, name := range e.Symbols() {
		if 'a' <= name[0] && name[0] <= 'z' && !slices.Contains(heads, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// disjunctionAsRules reads x == a && y == b || …, as Reduce would answer; false for anything else.
func disjunctionAsRules(answer *expression.Expr) (*expression.Expr, bool) {
	cases := []*expression.Expr{answer}
	if answer.IsCall("Or") {
		cases = answer.Args
	}
	var solutions []*expression.Expr
	for _, one := range cases {
		parts := []*expression.Expr{one}
		if one.IsCall("And") {
			parts = one.Args
		}
		var rules []*expression.Expr
		for _, part := range parts {
			if !part.IsCall("Equal") || len(part.Args) != 2 || part.Args[0].Kind != expression.Symbol {
				return nil, false
			}
			rules = append(rules, call("Rule", part.Args[0], part.Args[1]))
		}
		solutions = append(solutions, call("List", rules...))
	}
	return call("List", solutions...), true
}

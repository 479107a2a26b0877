package giac

import (
	"slices"
	"strings"

	"reckon/domain/expression"
)

// condition writes an equation or an order between two sides, or several of which all hold.
func (q *question) condition(e *expression.Expr) (string, error) {
	if e.IsCall("And") || e.IsCall("Or") {
		parts := make([]string, len(e.Args))
		for i, arg := range e.Args {
			var err error
			if parts[i], err = q.condition(arg); err != nil {
				return "", err
			}
		}
		return "(" + strings.Join(parts, " "+strings.ToLower(e.HeadName())+" ") + ")", nil
	}
	sign := orders[e.HeadName()]
	if e.IsCall("Equal") {
		sign = "="
	}
	if sign == "" || len(e.Args) != 2 {
		return "", q.refuse("of " + e.Source())
	}
	left, err := q.writer.write(e.Args[0])
	if err != nil {
		return "", err
	}
	right, err := q.writer.write(e.Args[1])
	return "(" + left + sign + right + ")", err
}

// parts are the elements of a list, the parts of a conjunction, or the one thing.
func parts(e *expression.Expr) []*expression.Expr {
	if e.IsCall("List") || e.IsCall("And") {
		return e.Args
	}
	return []*expression.Expr{e}
}

// conditionsAndVariables reads the arguments of Solve and Reduce, written for Giac.
func (q *question) conditionsAndVariables() (all []string, variables []*expression.Expr, names []string, realOnly bool, err error) {
	if err = q.only(); err != nil {
		return
	}
	switch {
	case len(q.args) == 3 && q.args[2].IsSymbol("Reals"):
		realOnly = true
	case len(q.args) == 3 && q.args[2].IsSymbol("Complexes"), len(q.args) == 2:
	default:
		return nil, nil, nil, false, q.refuse("of these arguments")
	}
	for _, part := range parts(q.args[0]) {
		text, err := q.condition(part)
		if err != nil {
			return nil, nil, nil, false, err
		}
		all = append(all, text)
	}
	variables = []*expression.Expr{q.args[1]}
	if q.args[1].IsCall("List") {
		variables = q.args[1].Args
	}
	for _, v := range variables {
		name, err := q.symbol(v)
		if err != nil {
			return nil, nil, nil, false, err
		}
		names = append(names, name)
	}
	if len(names) == 0 || len(all) == 0 {
		err = q.refuse("of nothing")
	}
	return all, variables, names, realOnly, err
}

const periodic = "all_trig_solutions:=1" // solutions of sin(x)=1/2 are all of them, with a whole number n_1

// solutions asks for the solutions of equations.
func solutions(q *question) ([]way, error) {
	all, variables, names, realOnly, err := q.conditionsAndVariables()
	if err != nil {
		return nil, err
	}
	answers := func(_ *reader, e *expression.Expr) ([]*expression.Expr, error) { return rules(e, variables) }
	arguments := "(" + strings.Join(all, " and ") + "," + names[0] + ")"
	if len(names) > 1 {
		arguments = "([" + strings.Join(all, ",") + "],[" + strings.Join(names, ",") + "])"
	}
	inReals := q.way([]string{periodic}, "solve"+arguments, answers)
	inComplexes := q.way([]string{periodic, "complex_mode:=1"}, "csolve"+arguments, answers)
	if realOnly {
		return []way{inReals}, nil
	}
	return []way{inComplexes, inReals}, nil
}

// rules makes {{x -> a}, …} of a list of values, or of a list of lists of values.
func rules(e *expression.Expr, variables []*expression.Expr) ([]*expression.Expr, error) {
	if !e.IsCall("List") {
		return nil, unreadable("it is no list of solutions")
	}
	all := make([]*expression.Expr, len(e.Args))
	for i, solution := range e.Args {
		values := []*expression.Expr{solution}
		if len(variables) > 1 {
			if !solution.IsCall("List") || len(solution.Args) != len(variables) {
				return nil, unreadable("a solution has not a value for each variable")
			}
			values = solution.Args
		}
		made := make([]*expression.Expr, len(values))
		for j, v := range values {
			if holdsAny(v, "List", "Equal", "Less", "LessEqual", "Greater", "GreaterEqual", "And", "Or", "Unequal") {
				return nil, unreadable("a solution is a condition")
			}
			made[j] = expression.NewCall("Rule", variables[j], forWholeNumbers(v))
		}
		all[i] = expression.NewCall("List", made...)
	}
	return []*expression.Expr{expression.NewCall("List", all...)}, nil
}

// forWholeNumbers states of a value that its parameters are whole numbers, where it has any.
func forWholeNumbers(v *expression.Expr) *expression.Expr {
	var stated []*expression.Expr
	plain := v.Map(func(part *expression.Expr) (*expression.Expr, bool) {
		if !part.IsCall("WholeNumber") {
			return nil, false
		}
		statement := expression.NewCall("Element", part.Args[0], expression.Sym("Integers"))
		if !slices.ContainsFunc(stated, statement.Equal) {
			stated = append(stated, statement)
		}
		return part.Args[0], true
	})
	switch len(stated) {
	case 0:
		return v
	case 1:
		return expression.NewCall("ConditionalExpression", plain, stated[0])
	}
	return expression.NewCall("ConditionalExpression", plain, expression.NewCall("And", stated...))
}

// conditions asks for the values of one real variable that meet conditions.
func conditions(q *question) ([]way, error) {
	all, variables, names, realOnly, err := q.conditionsAndVariables()
	if err != nil {
		return nil, err
	}
	ordered := strings.ContainsAny(strings.Join(all, ""), "<>")
	if len(names) != 1 || !realOnly && !ordered {
		return nil, q.refuse("but for one real variable")
	}
	return []way{q.way([]string{periodic}, "solve("+strings.Join(all, " and ")+","+names[0]+")", func(_ *reader, e *expression.Expr) ([]*expression.Expr, error) {
		if !e.IsCall("List") {
			return nil, unreadable("it is no list of conditions")
		}
		alternatives := make([]*expression.Expr, len(e.Args))
		for i, part := range e.Args {
			if holdsAny(part, "WholeNumber", "List") {
				return nil, unreadable("a condition has a parameter")
			}
			alternatives[i] = between(part, variables[0])
		}
		if len(alternatives) == 1 {
			return alternatives, nil
		}
		return []*expression.Expr{expression.NewCall("Or", alternatives...)}, nil
	})}, nil
}

// between writes x > a && x < b as a < x < b, and a value as x == value.
func between(part, variable *expression.Expr) *expression.Expr {
	if part.IsCall("And") && len(part.Args) == 2 {
		above, below := part.Args[0], part.Args[1]
		if isAbove, isBelow := strings.HasPrefix(above.HeadName(), "Greater"), strings.HasPrefix(below.HeadName(), "Less"); isAbove && isBelow && above.Args[0].Equal(variable) && below.Args[0].Equal(variable) {
			lower := strings.Replace(above.HeadName(), "Greater", "Less", 1)
			if lower == below.HeadName() {
				return expression.NewCall(lower, above.Args[1], variable, below.Args[1])
			}
			return expression.NewCall("Inequality", above.Args[1], expression.Sym(lower), variable, below.Head, below.Args[1])
		}
	}
	switch part.HeadName() {
	case "And", "Or", "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "Unequal":
		return part
	}
	return expression.NewCall("Equal", variable, part)
}

// unknownFunction reads y[x] or y, which is solved for, and its variable.
func (q *question) unknownFunction() (value *expression.Expr, variable string, err error) {
	if err = q.only(); err != nil {
		return
	}
	if len(q.args) != 3 || q.args[2].Kind != expression.Symbol {
		return nil, "", q.refuse("of these arguments")
	}
	asked := q.args[1]
	if asked.IsCall("List") && len(asked.Args) == 1 {
		asked = asked.Args[0]
	}
	function, err := q.functionName(asked)
	if err != nil {
		return nil, "", err
	}
	q.writer.functions, q.writer.unknowns[function] = []string{function}, true
	variable, err = q.symbol(q.args[2])
	return asked, variable, err
}

// functionName reads y[x] or y.
func (q *question) functionName(asked *expression.Expr) (string, error) {
	function := asked.Text
	if asked.Kind == expression.Call && len(asked.Args) == 1 && asked.Args[0].Equal(q.args[2]) && asked.Head.Kind == expression.Symbol {
		function = asked.Head.Text
	} else if asked.Kind != expression.Symbol {
		return "", q.refuse("for " + asked.Source())
	}
	if mathematics[function] || writingConstants[function] != "" {
		return "", q.refuse("for " + function)
	}
	return function, nil
}

// isInitial tells whether an equation is about one place: it does not hold the variable.
func (q *question) isInitial(e *expression.Expr) bool { return e.FreeOf(q.args[2]) }

// initial writes y[0] == 1 and y'[0] == 2.
func (q *question) initial(e *expression.Expr) (string, error) {
	if !e.IsCall("Equal") || len(e.Args) != 2 || e.Args[0].Kind != expression.Call || len(e.Args[0].Args) != 1 {
		return "", q.refuse("with " + e.Source())
	}
	left, order, of := e.Args[0], 0, e.Args[0].HeadName()
	if n, function, is := derivative(left.Head); is {
		order, of = n, function
	}
	if !q.writer.unknowns[of] || order > 4 {
		return "", q.refuse("with " + e.Source())
	}
	place, err := q.writer.write(left.Args[0])
	if err != nil {
		return "", err
	}
	value, err := q.writer.write(e.Args[1])
	return "ff0" + strings.Repeat("'", order) + "(" + place + ")=" + value, err
}

// equationsOf writes the one equation and the initial conditions.
func (q *question) equationsOf() (equation string, initial []string, err error) {
	for _, part := range parts(q.args[0]) {
		if q.isInitial(part) {
			text, err := q.initial(part)
			if err != nil {
				return "", nil, err
			}
			initial = append(initial, text)
			continue
		}
		if equation != "" {
			return "", nil, q.refuse("of several equations")
		}
		if equation, err = q.condition(part); err != nil {
			return "", nil, err
		}
	}
	if equation == "" {
		err = q.refuse("of no equation")
	}
	return equation, initial, err
}

// differential asks for the solutions of one ordinary differential equation, or of a linear system.
func differential(q *question) ([]way, error) {
	if len(q.args) == 3 && q.args[1].IsCall("List") && len(q.args[1].Args) > 1 && q.args[2].Kind == expression.Symbol {
		return q.system(q.args[1].Args)
	}
	asked, variable, err := q.unknownFunction()
	if err != nil {
		return nil, err
	}
	equation, initial, err := q.equationsOf()
	if err != nil {
		return nil, err
	}
	if len(initial) > 0 {
		equation = "[" + strings.Join(append([]string{equation}, initial...), ",") + "]"
	}
	return []way{q.way(inReals, "desolve("+equation+","+variable+",ff0)", q.functions(asked))}, nil
}

// recurrence asks for the sequences that meet one recurrence.
func recurrence(q *question) ([]way, error) {
	asked, variable, err := q.unknownFunction()
	if err != nil {
		return nil, err
	}
	equation, initial, err := q.equationsOf()
	if err != nil {
		return nil, err
	}
	text := "rsolve(" + equation + ",ff0(" + variable + ")"
	switch len(initial) {
	case 0:
	case 1:
		text += "," + initial[0]
	default:
		text += ",[" + strings.Join(initial, ",") + "]"
	}
	return []way{q.way(inReals, text+")", q.functions(asked))}, nil
}

// functions makes {{y[x] -> a}, …} of one formula or a list of them; with y alone, of functions.
func (q *question) functions(asked *expression.Expr) func(*reader, *expression.Expr) ([]*expression.Expr, error) {
	return func(_ *reader, e *expression.Expr) ([]*expression.Expr, error) {
		found := []*expression.Expr{e}
		if e.IsCall("List") {
			found = e.Args
		}
		all := make([]*expression.Expr, len(found))
		for i, f := range found {
			rule, err := q.functionRule(asked, f)
			if err != nil {
				return nil, err
			}
			all[i] = expression.NewCall("List", rule)
		}
		return []*expression.Expr{expression.NewCall("List", all...)}, nil
	}
}

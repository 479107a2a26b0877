package giac

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reckon/domain/expression"
)

// system asks for the solutions of linear equations for the first derivatives of several functions, as one equation of a vector, u' = A u + b: A has
// the derivatives of the right sides by the functions, b is what the right sides are where these are 0. Giac takes constant A only; an answer to
// equations that are not linear is wrong, as the checker sees. Conditions decide the constants of the general solution.
func (q *question) system(asked []*expression.Expr) ([]way, error) {
	variable, err := q.unknownFunctions(asked)
	if err != nil {
		return nil, err
	}
	n := len(asked)
	rates, conditions := make([]string, n), []string{}
	for _, part := range parts(q.args[0]) {
		if q.isInitial(part) {
			condition, err := q.conditionOfSystem(part, variable)
			if err != nil {
				return nil, err
			}
			conditions = append(conditions, condition)
			continue
		}
		i, rate, err := q.rate(part)
		if err != nil {
			return nil, err
		}
		if rates[i] != "" {
			return nil, q.refuse("of two equations for one derivative")
		}
		rates[i] = rate
	}
	rows, constants := make([]string, n), numberedNames("c_", n)
	functions := numberedNames("uu", n)
	for i, rate := range rates {
		if rate == "" {
			return nil, q.refuse("of fewer equations than functions")
		}
		row := make([]string, n)
		for j, function := range functions {
			row[j] = "diff(" + rate + "," + function + ")"
		}
		rows[i] = list(row)
	}
	q.before = append(q.before,
		"mm:="+list(rows),
		"bb:=subst("+list(rates)+","+list(functions)+","+list(slices.Repeat([]string{"0"}, n))+")",
		"ss:=desolve(diff(ff0("+variable+"),"+variable+",1)=mm*ff0("+variable+")+bb,"+variable+",ff0)",
	)
	text := "ss[0]"
	if len(conditions) > 0 {
		text = "subst(ss[0]," + list(constants) + ",linsolve(" + list(conditions) + "," + list(constants) + "))"
	}
	return []way{q.way(inReals, text, q.functionsOf(asked))}, nil
}

// maxFunctions bounds the functions of a system.
const maxFunctions = 6

// unknownFunctions reads {x[t], y[t]} or {x, y}, and returns Giac's name of t.
func (q *question) unknownFunctions(asked []*expression.Expr) (variable string, err error) {
	if err := q.only(); err != nil {
		return "", err
	}
	if len(asked) > maxFunctions {
		return "", q.refuse(fmt.Sprintf("for more than %d functions", maxFunctions))
	}
	for _, one := range asked {
		function, err := q.functionName(one)
		if err != nil {
			return "", err
		}
		if q.writer.unknowns[function] {
			return "", q.refuse("for " + function + " twice")
		}
		q.writer.functions, q.writer.unknowns[function] = append(q.writer.functions, function), true
	}
	q.writer.along = q.args[2]
	return q.symbol(q.args[2])
}

// rate reads x'[t] == f or f == x'[t]: which function's derivative it is, and f.
func (q *question) rate(e *expression.Expr) (i int, rate string, err error) {
	if e.IsCall("Equal") && len(e.Args) == 2 {
		for side, other := range []*expression.Expr{e.Args[1], e.Args[0]} {
			left := e.Args[side]
			order, of, is := derivative(left.Head)
			if left.Kind != expression.Call || !is || order != 1 || len(left.Args) != 1 || !left.Args[0].Equal(q.args[2]) {
				continue
			}
			for i, function := range q.writer.functions {
				if function == of {
					rate, err := q.writer.write(other)
					return i, rate, err
				}
			}
		}
	}
	return 0, "", q.refuse("of " + e.Source())
}

// conditionOfSystem writes x[0] == 1 as what is to be 0 of the general solution.
func (q *question) conditionOfSystem(e *expression.Expr, variable string) (string, error) {
	if e.IsCall("Equal") && len(e.Args) == 2 && e.Args[0].Kind == expression.Call && len(e.Args[0].Args) == 1 {
		for i, function := range q.writer.functions {
			if e.Args[0].IsCall(function) {
				place, err := q.writer.write(e.Args[0].Args[0])
				if err != nil {
					return "", err
				}
				value, err := q.writer.write(e.Args[1])
				return fmt.Sprintf("subst(ss[0][%d],%s,%s)-%s", i, variable, place, value), err
			}
		}
	}
	return "", q.refuse("with " + e.Source())
}

// functionsOf makes {{x[t] -> a, y[t] -> b}} of a list of as many formulas.
func (q *question) functionsOf(asked []*expression.Expr) func(*reader, *expression.Expr) ([]*expression.Expr, error) {
	return func(_ *reader, e *expression.Expr) ([]*expression.Expr, error) {
		if !e.IsCall("List") || len(e.Args) != len(asked) {
			return nil, unreadable("it is no list of the functions")
		}
		rules := make([]*expression.Expr, len(asked))
		for i, f := range e.Args {
			rule, err := q.functionRule(asked[i], f)
			if err != nil {
				return nil, err
			}
			rules[i] = rule
		}
		return []*expression.Expr{expression.NewCall("List", expression.NewCall("List", rules...))}, nil
	}
}

// functionRule is y[x] -> f; with y alone, y -> Function[{x}, f].
func (q *question) functionRule(asked, f *expression.Expr) (*expression.Expr, error) {
	for _, function := range q.writer.functions {
		if holdsAny(f, "List", "WholeNumber", function) || !f.FreeOf(expression.Sym(function)) {
			return nil, unreadable("it is no formula of the function")
		}
	}
	if asked.Kind == expression.Symbol {
		f = expression.NewCall("Function", expression.NewCall("List", q.args[2]), f)
	}
	return expression.NewCall("Rule", asked, f), nil
}

func numberedNames(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	return names
}

func list(parts []string) string { return "[" + strings.Join(parts, ",") + "]" }

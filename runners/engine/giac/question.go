package giac

import (
	"fmt"
	"slices"
	"strings"

	"reckon/domain/expression"
	"reckon/runners/engine"
)

// way is one way to ask a question: what Giac is told, and how its answer reads.
type way struct {
	before  []string
	text    string
	answers func(text string) ([]*expression.Expr, error) // the one to prefer first
}

// questions are the functions of the language that Giac can be asked about, with how a call of each is asked.
var questions = map[string]func(q *question) ([]way, error){
	"Integrate": integral, "Sum": sum, "Product": sum, "Limit": limit, "Solve": solutions, "Reduce": conditions,
	"DSolve": differential, "RSolve": recurrence, "LaplaceTransform": transform, "InverseLaplaceTransform": transform,
}

// question is a call that is being translated.
type question struct {
	head    string
	args    []*expression.Expr // without the options
	options map[string]*expression.Expr
	writer  writer
	before  []string // statements that hold for every way
}

// waysOf translates a question. Its error is an *engine.UntranslatableError.
func waysOf(call *expression.Expr) ([]way, error) {
	ask := questions[call.HeadName()]
	if ask == nil || call.Kind != expression.Call {
		return nil, &engine.UntranslatableError{Engine: "giac", Part: call.HeadName()}
	}
	q := &question{head: call.HeadName(), args: call.Args, options: map[string]*expression.Expr{}, writer: writer{unknowns: map[string]bool{}}}
	for len(q.args) > 0 {
		last := q.args[len(q.args)-1]
		if !last.IsCall("Rule") || len(last.Args) != 2 || last.Args[0].Kind != expression.Symbol || !optionNames[last.Args[0].Text] {
			break
		}
		q.options[last.Args[0].Text], q.args = last.Args[1], q.args[:len(q.args)-1]
	}
	return ask(q)
}

var optionNames = map[string]bool{"Assumptions": true, "Direction": true}

func (q *question) refuse(part string) error {
	return &engine.UntranslatableError{Engine: "giac", Part: q.head + " " + part}
}

// only refuses options but those that are named.
func (q *question) only(names ...string) error {
	for name := range q.options {
		if !slices.Contains(names, name) {
			return q.refuse("with " + name)
		}
	}
	return nil
}

// Giac computes with real variables unless it is told otherwise; its formulas differ: arctangents, or logarithms of complex numbers.
var (
	inReals     = []string{}
	inComplexes = []string{"complex_mode:=1"}
)

// way makes a way of a text and of how the tree of its answer becomes answers.
func (q *question) way(mode []string, text string, answers func(r *reader, e *expression.Expr) ([]*expression.Expr, error)) way {
	return way{before: slices.Concat(mode, q.before), text: text, answers: func(printed string) ([]*expression.Expr, error) {
		if isNoAnswer(printed) {
			return nil, engine.ErrNoAnswer
		}
		r := &reader{variables: q.writer.variables, functions: q.writer.functions}
		e, err := r.read(printed)
		if err != nil {
			return nil, err
		}
		return answers(r, e)
	}}
}

// isNoAnswer tells whether Giac printed something that is no value: an error, a word for it, or the question.
func isNoAnswer(text string) bool {
	switch text {
	case "", "undef", "Done", "No checks were made", "[]", "[undef]":
		return true
	}
	for _, word := range []string{"GIAC_ERROR", "Error", "undef", "integrate(", "sum(", "product(", "limit(", "desolve(", "rsolve(", "solve(", "laplace(", "Unable"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// value is an answer that is the formula itself.
func value(_ *reader, e *expression.Expr) ([]*expression.Expr, error) {
	if e.IsCall("List") || holdsAny(e, "List", "WholeNumber", "C") {
		return nil, unreadable("it is a list where a formula should be")
	}
	return []*expression.Expr{e}, nil
}

// holdsAny tells whether a call of one of the names stands anywhere in e.
func holdsAny(e *expression.Expr, names ...string) bool {
	found := false
	e.Walk(func(part *expression.Expr) bool {
		found = found || part.Kind == expression.Call && slices.Contains(names, part.HeadName())
		return !found && !part.IsCall("Piecewise")
	})
	return found
}

// symbol is a variable of the question.
func (q *question) symbol(e *expression.Expr) (string, error) {
	if e.Kind != expression.Symbol {
		return "", q.refuse("over " + e.Source())
	}
	return q.writer.name(e.Text)
}

// span reads {x, a, b}, or {x, b} from 1.
func (q *question) span(e *expression.Expr) (variable, from, to string, err error) {
	if !e.IsCall("List") || len(e.Args) != 3 && (len(e.Args) != 2 || q.head == "Integrate") {
		return "", "", "", q.refuse("over " + e.Source())
	}
	if variable, err = q.symbol(e.Args[0]); err != nil {
		return "", "", "", err
	}
	first, last := expression.Int(1), e.Args[len(e.Args)-1]
	if len(e.Args) == 3 {
		first = e.Args[1]
	}
	if from, err = q.writer.write(first); err == nil {
		to, err = q.writer.write(last)
	}
	return variable, from, to, err
}

// assume writes what is assumed of variables: orders to numbers, and domains.
func (q *question) assume() error {
	assumed, given := q.options["Assumptions"]
	if !given {
		return nil
	}
	all := []*expression.Expr{assumed}
	if assumed.IsCall("And") || assumed.IsCall("List") {
		all = assumed.Args
	}
	for _, a := range all {
		text, err := q.assumption(a)
		if err != nil {
			return err
		}
		q.before = append(q.before, text)
	}
	return nil
}

var orders = map[string]string{"Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">="}

func (q *question) assumption(a *expression.Expr) (string, error) {
	if a.IsCall("Element") && len(a.Args) == 2 && a.Args[0].Kind == expression.Symbol {
		name, err := q.symbol(a.Args[0])
		switch {
		case err != nil:
			return "", err
		case a.Args[1].IsSymbol("Integers"):
			return "assume(" + name + ",integer)", nil
		case a.Args[1].IsSymbol("Reals"):
			return "assume(" + name + ",real)", nil
		}
	}
	sign, is := orders[a.HeadName()]
	if !is || len(a.Args) != 2 || a.Args[0].Kind != expression.Symbol || a.Args[1].Kind != expression.Integer {
		return "", q.refuse("assuming " + a.Source())
	}
	name, err := q.symbol(a.Args[0])
	return fmt.Sprintf("assume(%s%s(%s))", name, sign, a.Args[1].Text), err
}

// integral asks for antiderivatives and for integrals over intervals, the last variable's innermost.
func integral(q *question) ([]way, error) {
	if err := q.only("Assumptions"); err != nil {
		return nil, err
	}
	if len(q.args) < 2 {
		return nil, q.refuse("of so few arguments")
	}
	if err := q.assume(); err != nil {
		return nil, err
	}
	text, err := q.writer.write(q.args[0])
	if err != nil {
		return nil, err
	}
	if len(q.args) == 2 && q.args[1].Kind == expression.Symbol {
		variable, err := q.symbol(q.args[1])
		if err != nil {
			return nil, err
		}
		integrate := func(text string) string { return "integrate(" + text + "," + variable + ")" }
		ways := []way{q.way(inReals, integrate(text), antiderivatives), q.way(inComplexes, integrate(text), antiderivatives)}
		q.writer.exponentials = true
		if exponential, err := q.writer.write(q.args[0]); err == nil && exponential != text {
			ways = append(ways, q.way(inReals, integrate(exponential), antiderivatives))
		}
		return append(ways, q.way(inReals, integrate("normal("+text+")"), antiderivatives)), nil
	}
	for _, arg := range slices.Backward(q.args[1:]) {
		variable, from, to, err := q.span(arg)
		if err != nil {
			return nil, err
		}
		text = "integrate(" + text + "," + variable + "," + from + "," + to + ")"
	}
	return []way{q.way(inReals, text, value), q.way(inComplexes, text, value)}, nil
}

// antiderivatives are the formula in the forms in which it may be right, the one to prefer first: without the absolute values of its
// logarithms, which holds for complex numbers too; as it is; without its steps, and with the roots that signs are of, which have derivatives;
// and for positive signs.
func antiderivatives(r *reader, e *expression.Expr) ([]*expression.Expr, error) {
	if _, err := value(r, e); err != nil {
		return nil, err
	}
	plain := withoutAbsolutes(e)
	stepless := replaced(plain, "Floor", func(*expression.Expr) *expression.Expr { return expression.Int(0) })
	return []*expression.Expr{plain, e, signsAsRoots(stepless), replaced(stepless, "Sign", func(*expression.Expr) *expression.Expr { return expression.Int(1) })}, nil
}

// replaced is e with every call of a function of one argument replaced.
func replaced(e *expression.Expr, function string, by func(argument *expression.Expr) *expression.Expr) *expression.Expr {
	return e.Map(func(part *expression.Expr) (*expression.Expr, bool) {
		if !part.IsCall(function) || len(part.Args) != 1 {
			return nil, false
		}
		return by(replaced(part.Args[0], function, by)), true
	})
}

// withoutAbsolutes writes Log[Abs[x]/Abs[y]] as Log[x/y].
func withoutAbsolutes(e *expression.Expr) *expression.Expr {
	return replaced(e, "Log", func(argument *expression.Expr) *expression.Expr {
		return expression.NewCall("Log", argument.Map(func(part *expression.Expr) (*expression.Expr, bool) {
			if part.IsCall("Abs") && len(part.Args) == 1 {
				return part.Args[0], true
			}
			return part, part.Kind != expression.Call || !part.IsCall("Times") && !part.IsCall("Power")
		}))
	})
}

// signsAsRoots writes Abs[x] as Sqrt[x^2] and Sign[x] as Sqrt[x^2]/x: the same for real x that are not 0.
func signsAsRoots(e *expression.Expr) *expression.Expr {
	root := func(x *expression.Expr) *expression.Expr {
		return expression.NewCall("Sqrt", expression.NewCall("Power", x, expression.Int(2)))
	}
	e = replaced(e, "Abs", root)
	return replaced(e, "Sign", func(x *expression.Expr) *expression.Expr {
		return expression.NewCall("Times", root(x), expression.NewCall("Power", x, expression.Int(-1)))
	})
}

// sum asks for sums and products over ranges.
func sum(q *question) ([]way, error) {
	if err := q.only(); err != nil {
		return nil, err
	}
	if len(q.args) < 2 {
		return nil, q.refuse("of so few arguments")
	}
	text, err := q.writer.write(q.args[0])
	if err != nil {
		return nil, err
	}
	for _, arg := range slices.Backward(q.args[1:]) {
		variable, from, to, err := q.span(arg)
		if err != nil {
			return nil, err
		}
		text = strings.ToLower(q.head) + "(" + text + "," + variable + "," + from + "," + to + ")"
	}
	return []way{q.way(inReals, text, value)}, nil
}

// limit asks for limits, from one side where a direction is given.
func limit(q *question) ([]way, error) {
	if err := q.only("Direction", "Assumptions"); err != nil {
		return nil, err
	}
	if len(q.args) != 2 || !q.args[1].IsCall("Rule") || len(q.args[1].Args) != 2 {
		return nil, q.refuse("of these arguments")
	}
	if err := q.assume(); err != nil {
		return nil, err
	}
	text, err := q.writer.write(q.args[0])
	if err != nil {
		return nil, err
	}
	variable, err := q.symbol(q.args[1].Args[0])
	if err != nil {
		return nil, err
	}
	place, err := q.writer.write(q.args[1].Args[1])
	if err != nil {
		return nil, err
	}
	text = "limit(" + text + "," + variable + "," + place
	switch d := q.options["Direction"]; {
	case d == nil || d.IsSymbol("Reals"):
	case d.IsInt(-1) || d.Kind == expression.String && d.Text == "FromAbove":
		text += ",1"
	case d.IsInt(1) || d.Kind == expression.String && d.Text == "FromBelow":
		text += ",-1"
	default:
		return nil, q.refuse("with that direction")
	}
	return []way{q.way(inReals, text+")", value)}, nil
}

// transform asks for Laplace transforms and what they are transforms of.
func transform(q *question) ([]way, error) {
	if err := q.only("Assumptions"); err != nil {
		return nil, err
	}
	if err := q.assume(); err != nil {
		return nil, err
	}
	if len(q.args) != 3 {
		return nil, q.refuse("of other than three arguments")
	}
	text, err := q.writer.write(q.args[0])
	if err != nil {
		return nil, err
	}
	from, err := q.symbol(q.args[1])
	if err != nil {
		return nil, err
	}
	to, err := q.symbol(q.args[2])
	if err != nil {
		return nil, err
	}
	name := map[string]string{"LaplaceTransform": "laplace", "InverseLaplaceTransform": "ilaplace"}[q.head]
	return []way{q.way(inReals, name+"("+text+","+from+","+to+")", value)}, nil
}

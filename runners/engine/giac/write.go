package giac

import (
	"fmt"
	"strconv"
	"strings"

	"reckon/domain/expression"
	"reckon/runners/engine"
)

// Bounds of what is sent.
const (
	maxTextBytes = 32 << 10
	maxDigits    = 2000 // of one number
	maxVariables = 64
)

// writer writes trees as Giac reads them. Only digits, names of the table and names that it makes itself (vv0, ff0) are written: no byte
// of what a user wrote gets into the text.
type writer struct {
	variables []string        // of the language, in the order of vv0, vv1 …
	functions []string        // undefined ones, in the order of ff0, ff1 …
	unknowns  map[string]bool // the functions that are solved for
	// along: of a system, the variable of the functions, whose values are written as uu0, uu1 …
	along *expression.Expr
	// exponentials: a^x is written as what it is, exp(x*ln(a)).
	exponentials bool
}

// name is Giac's name of a variable.
func (w *writer) name(variable string) (string, error) {
	if writingConstants[variable] != "" || mathematics[variable] || strings.ContainsAny(variable, "`$") {
		return "", &engine.UntranslatableError{Engine: "giac", Part: variable}
	}
	for i, known := range w.variables {
		if known == variable {
			return "vv" + strconv.Itoa(i), nil
		}
	}
	if len(w.variables) == maxVariables {
		return "", &engine.UntranslatableError{Engine: "giac", Part: "more than " + strconv.Itoa(maxVariables) + " variables"}
	}
	w.variables = append(w.variables, variable)
	return "vv" + strconv.Itoa(len(w.variables)-1), nil
}

// mathematics are the names that mean something in the language, which are therefore no variables.
var mathematics = func() map[string]bool {
	all := map[string]bool{"C": true, "D": true, "K": true, "N": true, "O": true, "True": true, "False": true, "Null": true, "All": true, "None": true, "Automatic": true}
	for _, name := range expression.Mathematics() {
		all[name] = true
	}
	return all
}()

// write is e as Giac reads it; any operand may stand beside it.
func (w *writer) write(e *expression.Expr) (string, error) {
	text, err := w.written(e)
	if err == nil && len(text) > maxTextBytes {
		return "", &engine.UntranslatableError{Engine: "giac", Part: fmt.Sprintf("more than %d bytes", maxTextBytes)}
	}
	return text, err
}

func (w *writer) written(e *expression.Expr) (string, error) {
	switch e.Kind {
	case expression.Integer:
		if len(e.Text) > maxDigits {
			return "", &engine.UntranslatableError{Engine: "giac", Part: fmt.Sprintf("a number of %d digits", len(e.Text))}
		}
		return "(" + e.Text + ")", nil
	case expression.Symbol:
		if constant := writingConstants[e.Text]; constant != "" {
			return constant, nil
		}
		if e.Text == "Infinity" {
			return "(+infinity)", nil
		}
		return w.name(e.Text)
	case expression.Call:
		return w.writtenCall(e)
	}
	return "", &engine.UntranslatableError{Engine: "giac", Part: "decimals and texts"}
}

func (w *writer) writtenCall(e *expression.Expr) (string, error) {
	name := e.HeadName()
	switch {
	case name == "Plus" && len(e.Args) > 0:
		return w.joined(e.Args, "+")
	case name == "Times" && len(e.Args) > 0:
		return w.product(e.Args)
	case name == "Subtract" && len(e.Args) == 2:
		return w.joined(e.Args, "-")
	case name == "Minus" && len(e.Args) == 1:
		return w.filled("(-#1)", e.Args)
	case (name == "Divide" || name == "Rational") && len(e.Args) == 2:
		return w.filled("(#1/#2)", e.Args)
	case name == "Power" && len(e.Args) == 2:
		return w.product([]*expression.Expr{e})
	case name == "" && w.unknowns[e.Head.HeadName()]:
		return "", &engine.UntranslatableError{Engine: "giac", Part: e.Head.Source()}
	case w.unknowns[name]:
		return w.unknown(name, e.Args)
	}
	if order, of, is := derivative(e.Head); is && w.unknowns[of] && len(e.Args) == 1 && e.Args[0].Kind == expression.Symbol {
		value, err := w.unknown(of, e.Args)
		if err != nil {
			return "", err
		}
		variable, err := w.name(e.Args[0].Text)
		return fmt.Sprintf("diff(%s,%s,%d)", value, variable, order), err
	}
	template, known := writing[signature{name, len(e.Args)}]
	if !known {
		return "", &engine.UntranslatableError{Engine: "giac", Part: e.Head.Source()}
	}
	return w.filled("("+template+")", e.Args)
}

// derivative reads Derivative[n][f], with n from 1 to 9.
func derivative(head *expression.Expr) (order int, of string, is bool) {
	if head == nil || head.Kind != expression.Call || !head.Head.IsCall("Derivative") || len(head.Head.Args) != 1 || len(head.Args) != 1 || head.Args[0].Kind != expression.Symbol {
		return 0, "", false
	}
	n, err := strconv.Atoi(head.Head.Args[0].Text)
	return n, head.Args[0].Text, err == nil && n > 0 && n < 10
}

// unknown is the value of a function that is solved for.
func (w *writer) unknown(function string, args []*expression.Expr) (string, error) {
	for i, known := range w.functions {
		if known == function && w.along != nil && len(args) == 1 && args[0].Equal(w.along) {
			return "uu" + strconv.Itoa(i), nil
		}
		if known == function && w.along == nil {
			return w.filled("ff"+strconv.Itoa(i)+"(#1)", args)
		}
	}
	return "", &engine.UntranslatableError{Engine: "giac", Part: function}
}

func (w *writer) joined(args []*expression.Expr, operator string) (string, error) {
	parts := make([]string, len(args))
	for i, arg := range args {
		var err error
		if parts[i], err = w.write(arg); err != nil {
			return "", err
		}
	}
	return "(" + strings.Join(parts, operator) + ")", nil
}

// filled is a template with the arguments in it.
func (w *writer) filled(template string, args []*expression.Expr) (string, error) {
	for i, arg := range args {
		text, err := w.write(arg)
		if err != nil {
			return "", err
		}
		template = strings.ReplaceAll(template, "#"+strconv.Itoa(i+1), text)
	}
	return template, nil
}

// product writes what has negative powers below one fraction bar: of 1/sqrt(x) Giac knows the integral, of sqrt(x)^-1 it gives that of sqrt(x).
func (w *writer) product(factors []*expression.Expr) (string, error) {
	var above, below []string
	for _, factor := range factors {
		base, exponent := factor, expression.Int(1)
		if factor.IsCall("Power") && len(factor.Args) == 2 {
			base, exponent = factor.Args[0], factor.Args[1]
		}
		positive, inverted := opposite(exponent)
		if !inverted || base.IsSymbol("E") {
			positive, inverted = exponent, false
		}
		text, err := w.power(base, positive)
		if err != nil {
			return "", err
		}
		if inverted {
			below = append(below, text)
		} else {
			above = append(above, text)
		}
	}
	if len(above) == 0 {
		above = []string{"1"}
	}
	text := strings.Join(above, "*")
	if len(below) > 0 {
		text += "/(" + strings.Join(below, "*") + ")"
	}
	return "(" + text + ")", nil
}

// opposite is the number with the other sign, where e is a negative one.
func opposite(e *expression.Expr) (*expression.Expr, bool) {
	if e.Kind == expression.Integer && strings.HasPrefix(e.Text, "-") {
		return &expression.Expr{Kind: expression.Integer, Text: e.Text[1:]}, true
	}
	if e.IsCall("Times") && len(e.Args) > 0 {
		first, is := opposite(e.Args[0])
		if !is {
			return e, false
		}
		args := append([]*expression.Expr{first}, e.Args[1:]...)
		return expression.NewCall("Times", args...), true
	}
	if e.IsCall("Rational") && len(e.Args) == 2 {
		first, is := opposite(e.Args[0])
		return expression.NewCall("Rational", first, e.Args[1]), is
	}
	return e, false
}

func (w *writer) power(base, exponent *expression.Expr) (string, error) {
	switch {
	case exponent.IsInt(1):
		return w.write(base)
	case base.IsSymbol("E"):
		return w.filled("exp(#1)", []*expression.Expr{exponent})
	case isHalf(exponent):
		return w.filled("sqrt(#1)", []*expression.Expr{base})
	}
	if w.exponentials && len(exponent.Symbols()) > 0 && !isNumber(exponent) {
		return w.filled("exp((#2)*ln(#1))", []*expression.Expr{base, exponent})
	}
	return w.filled("(#1)^(#2)", []*expression.Expr{base, exponent})
}

// isNumber tells whether e is a fraction of whole numbers.
func isNumber(e *expression.Expr) bool {
	plain := true
	e.Walk(func(part *expression.Expr) bool {
		plain = plain && (part.Kind == expression.Integer || part.Kind == expression.Call || part.IsSymbol("Times") || part.IsSymbol("Power") || part.IsSymbol("Rational") || part.IsSymbol("Divide") || part.IsSymbol("Minus"))
		return plain
	})
	return plain
}

// isHalf reads 1/2.
func isHalf(e *expression.Expr) bool {
	e = expression.Canonical(e)
	return e.IsCall("Power") && len(e.Args) == 2 && e.Args[0].IsInt(2) && e.Args[1].IsInt(-1)
}

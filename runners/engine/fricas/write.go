package fricas

import (
	"fmt"
	"strconv"
	"strings"

	"reckon/domain/expression"
	"reckon/runners/engine"
)

// Bounds of what is sent.
const (
	maxTextBytes = 16 << 10
	maxDigits    = 2000 // of one number
	maxVariables = 64
)

func refuse(part string) error { return &engine.UntranslatableError{Engine: "fricas", Part: part} }

// writer writes trees as FriCAS reads them. Only digits, names of the table and names that it makes itself (vv0) are written: no byte of
// what a user wrote gets into the text, which is one line and holds no quotes, comments, semicolons or commands.
type writer struct{ variables []string } // of the language, in the order of vv0, vv1 …

// question writes Integrate[f, x].
func (w *writer) question(call *expression.Expr) (string, error) {
	if !call.IsCall("Integrate") || len(call.Args) != 2 || call.Args[1].Kind != expression.Symbol {
		return "", refuse("other than an antiderivative")
	}
	integrand, err := w.write(call.Args[0])
	if err != nil {
		return "", err
	}
	variable, err := w.name(call.Args[1].Text)
	return "integrate((" + integrand + ")::Expression(Integer)," + variable + ")", err
}

// name is FriCAS's name of a variable.
func (w *writer) name(variable string) (string, error) {
	if mathematics[variable] || strings.ContainsAny(variable, "`$") {
		return "", refuse(variable)
	}
	for i, known := range w.variables {
		if known == variable {
			return "vv" + strconv.Itoa(i), nil
		}
	}
	if len(w.variables) == maxVariables {
		return "", refuse("more than " + strconv.Itoa(maxVariables) + " variables")
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

// write is e as FriCAS reads it; any operand may stand beside it.
func (w *writer) write(e *expression.Expr) (string, error) {
	text, err := w.written(e)
	if err == nil && len(text) > maxTextBytes {
		return "", refuse(fmt.Sprintf("more than %d bytes", maxTextBytes))
	}
	return text, err
}

// operations are the functions that FriCAS has signs for, by what stands between their arguments.
var operations = map[string]string{"Plus": "+", "Times": "*", "Subtract": "-", "Divide": "/", "Rational": "/", "Power": "^"}

func (w *writer) written(e *expression.Expr) (string, error) {
	switch e.Kind {
	case expression.Integer:
		if len(e.Text) > maxDigits {
			return "", refuse(fmt.Sprintf("a number of %d digits", len(e.Text)))
		}
		return "(" + e.Text + ")", nil
	case expression.Symbol:
		if constant := constants[e.Text]; constant != "" {
			return constant, nil
		}
		return w.name(e.Text)
	case expression.Call:
	default:
		return "", refuse("decimals and texts")
	}
	name, n := e.HeadName(), len(e.Args)
	switch sign := operations[name]; {
	case name == "Power" && n == 2 && e.Args[0].IsSymbol("E"):
		return w.filled("exp(#1)", e.Args[1:])
	case sign != "" && (n == 2 || n > 0 && (name == "Plus" || name == "Times")):
		parts := make([]string, n)
		for i, arg := range e.Args {
			var err error
			if parts[i], err = w.write(arg); err != nil {
				return "", err
			}
		}
		return "(" + strings.Join(parts, sign) + ")", nil
	case name == "Minus" && n == 1:
		return w.filled("(-#1)", e.Args)
	}
	template, known := writing[signature{name, n}]
	if !known {
		return "", refuse(e.Head.Source())
	}
	return w.filled("("+template+")", e.Args)
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

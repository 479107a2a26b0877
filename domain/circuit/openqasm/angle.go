package openqasm

import (
	"slices"
	"strings"
)

// Bounds of an Angle's text and of a parameter's name, in bytes.
const (
	maxAngleText     = 1000
	maxParameterName = 32
)

// pi is the only constant of version 2.
const pi = "pi"

// Angle is an expression of version 2, where every number is real (1/2 is 0.5): + - * / ^ ( ), pi, sin, cos, tan, exp, ln, sqrt and
// names of parameters.
type Angle struct {
	text  string
	root  expression
	names []string
	size  int
}

// Names are the parameters that the expression uses, in alphabetical order.
func (a *Angle) Names() []string { return a.names }

// Size is the number of its operators, numbers and names.
func (a *Angle) Size() int { return a.size }

// String is the expression as it was written.
func (a *Angle) String() string { return a.text }

// ParseAngle reads an expression. Errors are *Error.
func ParseAngle(text string) (a *Angle, err error) {
	defer func() { refusing(text, recover(), &err) }()
	if len(text) > maxAngleText {
		fail(CodeTooLarge, 0, "the expression has %d bytes; at most %d are read", len(text), maxAngleText)
	}
	for _, comment := range []string{"//", "/*"} { // // divides and rounds down elsewhere
		if at := strings.Index(text, comment); at >= 0 {
			fail(CodeMalformed, at, "an angle has no comments, and / divides")
		}
	}
	p := newParser(text)
	p.version = 2
	a = &Angle{text: text, root: p.expression()}
	if p.peek().kind != tokenEnd {
		p.unexpected("an operator or the end")
	}
	a.check(a.root)
	slices.Sort(a.names)
	a.names, a.size = slices.Compact(a.names), p.nodes
	return a, nil
}

// check refuses what a program may say and an angle may not, and collects the names.
func (a *Angle) check(x expression) {
	switch x := x.(type) {
	case *literal:
	case *name:
		if x.text != pi {
			a.names = append(a.names, x.text)
		}
	case *unary:
		a.check(x.x)
	case *binary:
		if x.op == "==" {
			fail(CodeType, x.position(), "an angle compares nothing")
		}
		a.check(x.x)
		a.check(x.y)
	case *call:
		for _, argument := range x.arguments {
			a.check(argument)
		}
	default:
		fail(CodeType, x.position(), "an angle is made of numbers, parameters and functions")
	}
}

// IsParameter reports whether a parameter may have this name.
func IsParameter(text string) bool {
	for i, r := range text {
		if !isNameStart(r) && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return text != "" && len(text) <= maxParameterName && text != pi && !slices.Contains(functions2, text)
}

// Values are the parameters of angles. They are for one goroutine.
type Values struct{ elaborator *elaborator }

// NewValues gives parameters their values.
func NewValues(values map[string]float64) Values {
	parameters := scope{}
	for word, x := range values {
		parameters[word] = &symbol{kind: symbolVariable, defined: true, constant: true, value: realValue(x)}
	}
	return Values{&elaborator{version: 2, scopes: []scope{parameters}}}
}

// At is the value of the expression. A parameter without a value, and a value that is no finite number, are refused as *Error.
func (a *Angle) At(v Values) (x float64, err error) {
	defer func() { refusing(a.text, recover(), &err) }()
	v.elaborator.steps = 0
	return v.elaborator.knownReal(a.root, "the angle"), nil
}

// refusing turns a problem that was raised into an error.
func refusing(source string, raised any, err *error) {
	switch p := raised.(type) {
	case nil:
	case problem:
		*err = p.locate(source)
	default:
		panic(p)
	}
}

package fricas

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"reckon/domain/expression"
	"reckon/runners/engine"
)

func unreadable(why string) error { return &engine.UnreadableError{Engine: "fricas", Why: why} }

// Bounds of what is read.
const (
	maxAnswerBytes = 64 << 10
	maxNodes       = 20_000
	maxDepth       = 200
)

// reader reads a tree that worker.lisp printed, (name value value …), back into the names of the question.
type reader struct {
	rest         string
	nodes, depth int
	variables    []string // of the question
}

// read is the tree of an answer: sums, products, powers, functions of the table, and a list of those. Everything else is an *engine.UnreadableError, or
// engine.ErrNoAnswer where an integral is left.
func (r *reader) read(text string) (*expression.Expr, error) {
	if len(text) > maxAnswerBytes {
		return nil, unreadable(fmt.Sprintf("it has %d bytes", len(text)))
	}
	if r.rest = text; strings.HasPrefix(text, "(construct ") {
		list, err := r.call(true)
		if err != nil {
			return nil, err
		}
		return list, r.ended()
	}
	e, err := r.value()
	if err != nil {
		return nil, err
	}
	return e, r.ended()
}

func (r *reader) ended() error {
	if r.rest != "" {
		return unreadable(fmt.Sprintf("%.20q stands where it should end", r.rest))
	}
	return nil
}

var integerOf = regexp.MustCompile(`^-?[0-9]+$`)

// value reads a number, a name of the question, or a call.
func (r *reader) value() (*expression.Expr, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, unreadable(fmt.Sprintf("it has more than %d parts", maxNodes))
	}
	if strings.HasPrefix(r.rest, "(") {
		return r.call(false)
	}
	switch token := r.token(); {
	case integerOf.MatchString(token):
		return expression.Parse(token)
	case strings.HasPrefix(token, "vv"):
		if i, err := strconv.Atoi(token[2:]); err == nil && i >= 0 && i < len(r.variables) && token == "vv"+strconv.Itoa(i) {
			return expression.Sym(r.variables[i]), nil
		}
		fallthrough
	default:
		return nil, unreadable(fmt.Sprintf("%.40q is no value of the question", token))
	}
}

// token reads up to a space or a bracket.
func (r *reader) token() string {
	end := strings.IndexAny(r.rest, " ()")
	if end < 0 {
		end = len(r.rest)
	}
	token := r.rest[:end]
	r.rest = r.rest[end:]
	return token
}

// call reads (name value value …).
func (r *reader) call(list bool) (*expression.Expr, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, unreadable(fmt.Sprintf("it is nested deeper than %d", maxDepth))
	}
	defer func() { r.depth-- }()
	r.rest = r.rest[1:]
	name := r.token()
	if name == "integral" {
		return nil, engine.ErrNoAnswer
	}
	var args []*expression.Expr
	for strings.HasPrefix(r.rest, " ") {
		r.rest = r.rest[1:]
		arg, err := r.value()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	if !strings.HasPrefix(r.rest, ")") {
		return nil, unreadable("a bracket is not closed")
	}
	r.rest = r.rest[1:]
	if list {
		return expression.NewCall("List", args...), nil
	}
	return applied(name, args)
}

func applied(name string, args []*expression.Expr) (*expression.Expr, error) {
	call, minusOne := expression.NewCall, expression.Int(-1)
	switch n := len(args); {
	case name == "+" && n > 0:
		return call("Plus", args...), nil
	case name == "*" && n > 0:
		return call("Times", args...), nil
	case name == "-" && n == 1:
		return call("Times", minusOne, args[0]), nil
	case name == "-" && n == 2:
		return call("Plus", args[0], call("Times", minusOne, args[1])), nil
	case name == "/" && n == 2:
		return call("Times", args[0], call("Power", args[1], minusOne)), nil
	case name == "^" && n == 2:
		return call("Power", args...), nil
	case name == "nthRoot" && n == 2:
		return call("Power", args[0], call("Power", args[1], minusOne)), nil
	case name == "complex" && n == 2:
		return call("Plus", args[0], call("Times", args[1], expression.Sym("I"))), nil
	case name == "pi" && n == 0:
		return expression.Sym("Pi"), nil
	}
	template, known := reading[signature{name, len(args)}]
	if !known {
		return nil, unreadable(fmt.Sprintf("%.40q of %d arguments is not in the table", name, len(args)))
	}
	return filledTree(template, args), nil
}

// filledTree is a template of the language with arguments in it.
func filledTree(template *expression.Expr, args []*expression.Expr) *expression.Expr {
	return template.Map(func(e *expression.Expr) (*expression.Expr, bool) {
		if !e.IsCall("Slot") || len(e.Args) != 1 {
			return nil, false
		}
		i, _ := strconv.Atoi(e.Args[0].Text)
		return args[i-1], true
	})
}

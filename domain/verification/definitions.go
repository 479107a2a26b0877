package verification

import (
	"slices"
	"strings"

	"reckon/domain/expression"
)

// definition is one of f[x_, y_] := body, f[x_, y_] = body, f := body and f = body.
type definition struct {
	name   string
	params []string // nil of a symbol
	body   *expression.Expr
}

// withDefinitions reads several expressions, of which all but the last define something, as the last one with the definitions put in. False where
// that may be something else than what the language does: where names could be taken for each other, where a body is evaluated before its parameters
// have values and the order matters, and where a definition stands for itself. Such expressions are programs.
func withDefinitions(e *expression.Expr) (*expression.Expr, bool) {
	if !e.IsCall("CompoundExpression") || len(e.Args) < 2 {
		return nil, false
	}
	var known []definition
	for _, statement := range e.Args[:len(e.Args)-1] {
		one, ok := definitionOf(statement)
		if !ok || mentionsAny(one.body, scopingHeads...) || slices.ContainsFunc(known, func(other definition) bool { return other.name == one.name }) {
			return nil, false
		}
		one.body, ok = putIn(known, one.body)
		if !ok || !withinBounds(one.body) || mentionsAny(one.body, one.name) {
			return nil, false
		}
		known = append(known, one)
	}
	last := e.Args[len(e.Args)-1]
	if mentionsAny(last, scopingHeads...) || mistakable(known) || slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return iterates(part, known) }) {
		return nil, false
	}
	found, ok := putIn(known, last)
	return found, ok && found.Kind == expression.Call && withinBounds(found)
}

// scopingHeads give names a meaning of their own in a part of an expression, or change what they mean.
var scopingHeads = strings.Fields(`Function Slot SlotSequence Module With Block Pattern Blank BlankSequence BlankNullSequence RuleDelayed Condition Set SetDelayed CompoundExpression
	Increment Decrement PreIncrement PreDecrement AddTo SubtractFrom TimesBy DivideBy AppendTo PrependTo Clear ClearAll Unset Do While For Sequence Random RandomReal RandomInteger
	RandomComplex RandomChoice RandomSample RandomPrime RandomVariate Null`)

// definitionOf reads a definition with parameters of any kind.
func definitionOf(statement *expression.Expr) (definition, bool) {
	atOnce := statement.IsCall("Set")
	if !atOnce && !statement.IsCall("SetDelayed") || len(statement.Args) != 2 {
		return definition{}, false
	}
	left, body := statement.Args[0], statement.Args[1]
	if left.Kind == expression.Symbol {
		return definition{name: left.Text, body: body}, isUsers(left.Text)
	}
	one := definition{name: left.HeadName(), params: []string{}, body: body}
	for _, arg := range left.Args {
		if !arg.IsCall("Pattern") || len(arg.Args) != 2 || arg.Args[0].Kind != expression.Symbol || !arg.Args[1].IsCall("Blank") || len(arg.Args[1].Args) > 0 {
			return definition{}, false
		}
		if slices.Contains(one.params, arg.Args[0].Text) {
			return definition{}, false
		}
		one.params = append(one.params, arg.Args[0].Text)
	}
	return one, isUsers(one.name) && len(one.params) > 0 && (!atOnce || isTotal(body))
}

// isUsers tells whether a name is the user's own: nothing of the language starts with a small letter.
func isUsers(name string) bool { return name != "" && 'a' <= name[0] && name[0] <= 'z' }

// isTotal recognises functions that have a value everywhere, whose parameters may get values before or after they are evaluated.
func isTotal(e *expression.Expr) bool {
	if e.Kind != expression.Call {
		return e.Kind == expression.Symbol || e.Kind == expression.Integer
	}
	switch {
	case e.IsCall("Power") && len(e.Args) == 2:
		return e.Args[0].IsSymbol("E") && isTotal(e.Args[1]) || e.Args[1].Kind == expression.Integer && e.Args[1].Text[0] != '-' && !e.Args[1].IsInt(0) && isTotal(e.Args[0])
	case slices.Contains([]string{"Plus", "Times", "Sin", "Cos", "Exp", "Sinh", "Cosh"}, e.HeadName()):
		return !slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return !isTotal(part) })
	}
	return false
}

// iterates tells whether what is defined may be the variable of an iterator, as in k = 5; Sum[k, {k, 3}].
func iterates(e *expression.Expr, known []definition) bool {
	found := false
	e.Walk(func(n *expression.Expr) bool {
		found = found || n.IsCall("List") && len(n.Args) > 1 && slices.ContainsFunc(known, func(one definition) bool { return n.Args[0].IsSymbol(one.name) })
		return !found
	})
	return found
}

// mistakable tells whether a definition mentions a name that is defined later, or a parameter has the name of what another one mentions or defines.
func mistakable(known []definition) bool {
	for i, one := range known {
		if slices.ContainsFunc(known[i+1:], func(later definition) bool { return mentionsAny(one.body, later.name) }) {
			return true
		}
		for _, other := range known {
			for _, param := range one.params {
				if param == other.name || !slices.Contains(other.params, param) && mentionsAny(other.body, param) {
					return true
				}
			}
		}
	}
	return false
}

// putIn replaces what is defined; false where a function stands without its arguments, or a symbol as a function.
func putIn(known []definition, e *expression.Expr) (*expression.Expr, bool) {
	if e.Kind == expression.Symbol {
		i := slices.IndexFunc(known, func(one definition) bool { return one.name == e.Text })
		if i < 0 {
			return e, true
		}
		return known[i].body, known[i].params == nil
	}
	if e.Kind != expression.Call {
		return e, true
	}
	args := make([]*expression.Expr, len(e.Args))
	for i, arg := range e.Args {
		var ok bool
		if args[i], ok = putIn(known, arg); !ok {
			return nil, false
		}
	}
	if i := slices.IndexFunc(known, func(one definition) bool { return one.name == e.HeadName() }); i >= 0 {
		return known[i].of(args)
	}
	head := e.Head
	if head.Kind == expression.Call {
		var ok bool
		if head, ok = putIn(known, head); !ok {
			return nil, false
		}
	}
	return &expression.Expr{Kind: expression.Call, Head: head, Args: args}, true
}

// of is the body with arguments for the parameters.
func (d definition) of(args []*expression.Expr) (*expression.Expr, bool) {
	if len(args) != len(d.params) {
		return nil, false
	}
	return d.body.Map(func(n *expression.Expr) (*expression.Expr, bool) {
		i := slices.Index(d.params, n.Text)
		if n.Kind != expression.Symbol || i < 0 {
			return nil, false
		}
		return args[i], true
	}), true
}

package engine

import (
	"fmt"
	"regexp"
	"unicode"

	"reckon/domain/expression"
)

// strict are functions that evaluate all of their arguments and show them in their value.
var strict = wordSet(`Plus Times Power Subtract Divide Minus List Join Append Prepend Max Min Abs Sqrt Exp Log Sin Cos Tan Mod Floor Ceiling StringJoin Set Simplify Expand N Factorial`)

// definition is one definition of a name.
type definition struct {
	uses    map[string]bool // names without whose values it has none
	delayed bool
	itself  *expression.Expr
}

// endless says of which name the code asks for a value that never ends: x = x + 1 of an x without a value, or f[n_] := n f[n-1] without
// another definition. The engine gives up somewhere and answers what it then has, without a message. In a session a name may
// have a value from earlier lines, so that it must stand in the answer.
func endless(x exchange, inSession bool) string {
	definitions, order := definitionsIn(x.inputs)
	ends := ending(definitions)
	for _, name := range order {
		if ends[name] || inSession && (x.output == nil || !mentions(x.output, map[string]bool{name: true})) {
			continue
		}
		if definitions[name][0].delayed && !usedOutside(x.inputs, name) {
			continue // it is defined and not asked for
		}
		return fmt.Sprintf("%s is defined by itself, and nothing ends that: it has no value, and the answer shows where the engine stopped. Give it a first value or a case that ends it.", name)
	}
	return ""
}

// definitionsIn are the definitions of names that are not local, and the names in the order of their first definition.
func definitionsIn(inputs []*expression.Expr) (map[string][]definition, []string) {
	definitions, local, order := map[string][]definition{}, map[string]bool{}, []string{}
	for _, input := range inputs {
		input.Walk(func(e *expression.Expr) bool {
			bindLocals(e, local)
			if set := e.IsCall("Set") || e.IsCall("SetDelayed"); !set || len(e.Args) != 2 {
				return true
			}
			left, name := e.Args[0], e.Args[0].Text
			if left.Kind == expression.Call {
				name = left.HeadName()
			}
			if name == "" || left.Kind != expression.Symbol && left.Kind != expression.Call || left.Equal(e.Args[1]) {
				return true
			}
			d := definition{uses: map[string]bool{}, delayed: e.IsCall("SetDelayed"), itself: e}
			if isPlain(left) {
				addUses(e.Args[1], d.uses)
			}
			if !d.delayed { // the others have their values already
				d.uses = map[string]bool{name: d.uses[name]}
				if !d.uses[name] {
					d.uses = nil
				}
			}
			if definitions[name] == nil {
				order = append(order, name)
			}
			definitions[name] = append(definitions[name], d)
			return !d.delayed // what is defined when it is called, defines nothing now
		})
	}
	for name := range local {
		definitions[name] = append(definitions[name], definition{})
	}
	return definitions, order
}

// bindLocals adds the names that a scope or an iterator gives values.
func bindLocals(e *expression.Expr, local map[string]bool) {
	scope := e.IsCall("Module") || e.IsCall("Block") || e.IsCall("With")
	for i, argument := range e.Args {
		if e.Kind != expression.Call || !argument.IsCall("List") || len(argument.Args) == 0 {
			continue
		}
		names := argument.Args
		if !scope || i > 0 {
			names = names[:1]
		}
		for _, name := range names {
			if name.IsCall("Set") && len(name.Args) == 2 {
				name = name.Args[0]
			}
			if name.Kind == expression.Symbol && (scope || i > 0) {
				local[name.Text] = true
			}
		}
	}
}

// isPlain tells whether a left side takes any argument: a definition with a condition, a type or a literal argument may end by it.
func isPlain(left *expression.Expr) bool {
	for _, argument := range left.Args {
		if !argument.IsCall("Pattern") || !argument.Args[1].IsCall("Blank") || len(argument.Args[1].Args) > 0 {
			return false
		}
	}
	return true
}

// addUses adds the names whose values an expression cannot do without.
func addUses(e *expression.Expr, uses map[string]bool) {
	switch e.Kind {
	case expression.Symbol:
		uses[e.Text] = true
	case expression.Call:
		head := e.HeadName()
		if head == "" || !strict[head] && !unicode.IsLower([]rune(head)[0]) {
			return
		}
		uses[head] = true
		for _, argument := range e.Args {
			addUses(argument, uses)
		}
	}
}

// ending are the names with a definition that has an end: one that uses only names that end, or that have no definition.
func ending(definitions map[string][]definition) map[string]bool {
	ends := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for name, all := range definitions {
			for _, d := range all {
				if !ends[name] && endsBy(d, definitions, ends) {
					ends[name], changed = true, true
				}
			}
		}
	}
	return ends
}

func endsBy(d definition, definitions map[string][]definition, ends map[string]bool) bool {
	for used := range d.uses {
		if definitions[used] != nil && !ends[used] {
			return false
		}
	}
	return true
}

// usedOutside tells whether a name stands anywhere but in definitions.
func usedOutside(inputs []*expression.Expr, name string) bool {
	found := false
	for _, input := range inputs {
		input.Walk(func(e *expression.Expr) bool {
			found = found || e.IsSymbol(name) || e.HeadName() == name
			return !e.IsCall("SetDelayed")
		})
	}
	return found
}

// stopped says where the engine gave up a recursion, which it does at 512 levels (1,024 of calls that are the last thing a definition does)
// without a message: it answers with the call that it did not make, as it stood. Either the call is of a function that the code defines for any
// arguments, or numbers in it were not added up: f[489 - 1]. What is held was not asked for; of a function that holds its arguments the sum
// stands in the code.
func stopped(x exchange) string {
	if !x.isRead() {
		return ""
	}
	defined := map[string]int{}
	if !clears.MatchString(x.code) {
		defined = definedForAnything(x.inputs)
	}
	left := ""
	walkAsked(x.output, func(e *expression.Expr) {
		arguments, is := defined[e.HeadName()]
		if left == "" && (is && arguments == len(e.Args) || isUnfinishedSum(e) && !stands(e, x.inputs)) {
			left = e.Source()
		}
	})
	if left == "" {
		return ""
	}
	return fmt.Sprintf("%.60s is left in the answer: the engine stopped before the end, as it does after 512 levels of recursion. Compute it with a loop (Do, While, Nest, Fold), or keep earlier values (f[n_] := f[n] = …) and ask for small n first.", left)
}

var clears = regexp.MustCompile(`\b(?:Clear|ClearAll|Remove|Block)\b|=\s*\.`)

// definedForAnything are the functions that statements before the last expression define for any arguments, and how many those are.
func definedForAnything(inputs []*expression.Expr) map[string]int {
	var statements []*expression.Expr
	for _, input := range inputs {
		if input.IsCall("CompoundExpression") {
			statements = append(statements, input.Args...)
		} else {
			statements = append(statements, input)
		}
	}
	defined := map[string]int{}
	for _, e := range statements[:len(statements)-1] {
		if !e.IsCall("SetDelayed") || len(e.Args) != 2 || e.Args[1].IsCall("Condition") {
			continue
		}
		if left := e.Args[0]; left.Kind == expression.Call && left.HeadName() != "" && isPlain(left) {
			defined[left.HeadName()] = len(left.Args)
		}
	}
	return defined
}

// walkAsked visits the calls of an answer that should have values: what is held should not, but for what decides in If, Which and Switch.
func walkAsked(e *expression.Expr, visit func(*expression.Expr)) {
	if e.Kind != expression.Call {
		return
	}
	visit(e)
	arguments := e.Args
	switch name := e.HeadName(); {
	case name == "If" || name == "Which" || name == "Switch":
		arguments = arguments[:min(1, len(arguments))]
	case holding[name]:
		return
	}
	walkAsked(e.Head, visit)
	for _, argument := range arguments {
		walkAsked(argument, visit)
	}
}

// isUnfinishedSum tells whether e is a sum of nothing but whole numbers.
func isUnfinishedSum(e *expression.Expr) bool {
	if !e.IsCall("Plus") || len(e.Args) < 2 {
		return false
	}
	for _, term := range e.Args {
		if term.Kind != expression.Integer {
			return false
		}
	}
	return true
}

// stands tells whether e is a part of the inputs.
func stands(e *expression.Expr, inputs []*expression.Expr) bool {
	found := false
	for _, input := range inputs {
		input.Walk(func(part *expression.Expr) bool {
			found = found || part.Equal(e)
			return !found
		})
	}
	return found
}

// iterates and clearsDefinitions: a text that clears definitions and iterates takes away what keeps the engine from ending iterations early.
var (
	iterates          = regexp.MustCompile(`\b(?:FixedPoint|NestWhile)(?:List)?\b`)
	clearsDefinitions = regexp.MustCompile(`\b(?:Clear|ClearAll|Remove)\s*\[\s*(?:"|FixedPoint|NestWhile)`)
)

// mayEndEarly says that iterations of this code may have ended after 10,000 steps.
func mayEndEarly(code string) string {
	if !iterates.MatchString(code) || !clearsDefinitions.MatchString(code) {
		return ""
	}
	return "Where definitions are cleared in the same text, the engine ends FixedPoint and NestWhile after 10,000 steps: iterate in a text of its own, or say how many steps it may take."
}

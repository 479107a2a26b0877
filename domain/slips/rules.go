package slips

import (
	"strings"

	"reckon/domain/expression"
)

const (
	whyParentheses = "Parentheses multiply; a function's arguments stand in square brackets."
	whyCapital     = "Names of functions begin with a capital letter."
)

// name looks at the slips that begin with a name.
func (f *finder) name(i int) {
	name := f.words[i].Name
	if f.source(i, i) != name || f.bound[name] {
		return
	}
	switch {
	case f.definition(i), f.parentheses(i), f.call(i), f.power(i), f.noBrackets(i), f.constant(i):
	default:
		f.operatorWord(i)
	}
}

// parentheses: sin(x), Sqrt(16), f(x, y).
func (f *finder) parentheses(i int) bool {
	open := i + 1
	if !f.isOperator(open, "(") || f.pair[open] < 0 {
		return false
	}
	name := f.words[i].Name
	meant := functionFor(name)
	if meant == "" && f.adjacent(open) && f.hasComma(open) {
		meant = name
	}
	if meant == "" || isWordOperator(name) && f.endsOperand(i-1) {
		return false
	}
	edits := []edit{{start: f.words[i].Start, end: f.words[open].End, text: meant + "["}, f.replace(f.pair[open], "]")}
	if solvers[meant] {
		edits = append(edits, f.equalSigns(open)...)
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: whyParentheses, edits: edits})
	return true
}

// equalSigns writes == for every = in the first argument inside the bracket at word i.
func (f *finder) equalSigns(i int) (edits []edit) {
	depth := 0
	for j := i + 1; j < f.pair[i] && !(depth == 0 && f.isOperator(j, ",")); j++ {
		switch {
		case f.isOperator(j, "="):
			edits = append(edits, f.replace(j, "=="))
		case f.pair[j] > j:
			depth++
		case f.pair[j] >= 0:
			depth--
		}
	}
	return edits
}

// hasComma tells whether a comma stands directly inside the bracket at word i.
func (f *finder) hasComma(i int) bool {
	for j := i + 1; j < f.pair[i]; j++ {
		if f.pair[j] > j {
			j = f.pair[j]
			continue
		}
		if f.isOperator(j, ",") {
			return true
		}
	}
	return false
}

// definition: f(x)=x^2.
func (f *finder) definition(i int) bool {
	open := i + 1
	if !f.isOperator(open, "(") || !f.adjacent(open) || f.pair[open] < 0 || !f.isOperator(f.pair[open]+1, "=", ":=") || i > 0 && !f.isOperator(i-1, ";", "(", "{", ",") {
		return false
	}
	end := f.pair[open]
	edits := []edit{f.replace(open, "["), f.replace(end, "]"), f.replace(end+1, ":=")}
	for j := open + 1; j < end; j++ {
		switch {
		case f.isName(j):
			edits = append(edits, insert(f.words[j].End, "_"))
		case !f.isOperator(j, ","):
			return false
		}
	}
	f.add(i, slip{code: Definition, start: f.words[i].Start, end: f.words[end+1].End, edits: edits, why: "A function of x is defined by f[x_] := …"})
	return true
}

// call: integrate[x,x], Simplfy[x].
func (f *finder) call(i int) bool {
	if !f.isOperator(i+1, "[") {
		return false
	}
	name := f.words[i].Name
	if known[name] {
		return true
	}
	meant, why := functionFor(name), whyCapital
	if meant == "" {
		meant, why = misspelt(name), "No function of that name is known here."
	}
	if meant != "" {
		f.add(i, slip{code: Name, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: why})
	}
	return true
}

// power: cos^2(x), sin^2 x.
func (f *finder) power(i int) bool {
	meant := functionFor(f.words[i].Name)
	if !elementary[meant] || !f.isOperator(i+1, "^") || !f.isNumber(i+2) {
		return false
	}
	first := i + 3
	last := f.operandEnd(first)
	if last < 0 {
		return false
	}
	from, to := f.words[first].Start, f.words[last].End
	if f.isOperator(first, "(") {
		from, to = f.words[first].End, f.words[last].Start
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[last].End, why: "The power of a function's value stands after its brackets.", edits: []edit{
		{start: f.words[i].Start, end: from, text: meant + "["}, {start: to, end: f.words[last].End, text: "]^" + f.source(i+2, i+2)},
	}})
	return true
}

// noBrackets: sin x, Sqrt 16, log 2x.
func (f *finder) noBrackets(i int) bool {
	meant := functionFor(f.words[i].Name)
	if !elementary[meant] {
		return false
	}
	last := f.operandEnd(i + 1)
	if last < 0 || f.isOperator(i+1, "(", "{") {
		return false
	}
	f.add(i, slip{code: NoBrackets, start: f.words[i].Start, end: f.words[last].End, why: "A function's argument stands in square brackets.", edits: []edit{
		{start: f.words[i].Start, end: f.words[i+1].Start, text: meant + "["}, insert(f.words[last].End, "]"),
	}})
	return true
}

// constant: pi, e^2, inf, 2i.
func (f *finder) constant(i int) bool {
	name := f.words[i].Name
	meant := written[strings.ToLower(name)]
	switch {
	case name == meant:
		return false
	case name == "e" && f.isOperator(i+1, "^"):
		meant = "E"
	case name == "i" && f.isNumber(i-1) && f.adjacent(i):
		meant = "I"
	case meant == "":
		return false
	}
	f.add(i, slip{code: Constant, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: "In this language the constants are Pi, E, I, Infinity, True and False."})
	return true
}

// wordOperators are words between operands, in lower case, and what the language has for them.
var wordOperators = map[string]string{"and": "&&", "or": "||", "mod": "Mod", "xor": "Xor"}

func isWordOperator(name string) bool { return wordOperators[strings.ToLower(name)] != "" }

// operatorWord: 17 mod 5, a and b.
func (f *finder) operatorWord(i int) {
	meant := wordOperators[strings.ToLower(f.words[i].Name)]
	if meant == "" || !f.endsOperand(i-1) {
		return
	}
	last := f.operandEnd(i + 1)
	if last < 0 {
		return
	}
	if meant == "&&" || meant == "||" {
		f.add(i, slip{code: OperatorWord, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: "Words between operands multiply."})
		return
	}
	first := f.operandStart(i - 1)
	f.add(i, slip{code: OperatorWord, start: f.words[first].Start, end: f.words[last].End, why: "Words between operands multiply.", edits: []edit{
		insert(f.words[first].Start, meant+"["), {start: f.words[i-1].End, end: f.words[i+1].Start, text: ", "}, insert(f.words[last].End, "]"),
	}})
}

// operandEnd is the last word of the simple operand that begins at word i: a number with what is written against it (2x), a name, a
// call or a group. It is -1 where none begins.
func (f *finder) operandEnd(i int) int {
	switch {
	case f.isNumber(i):
		if f.isName(i+1) && f.adjacent(i+1) {
			return f.operandEnd(i + 1)
		}
		return i
	case f.isAtom(i):
		return i
	case f.isName(i):
		for f.isOperator(i+1, "[") && f.pair[i+1] > 0 {
			i = f.pair[i+1]
		}
		return i
	case f.isOperator(i, "(", "{"):
		return f.pair[i]
	}
	return -1
}

// endsOperand tells whether an operand can end with word i.
func (f *finder) endsOperand(i int) bool {
	return f.isAtom(i) || f.isName(i) || f.isOperator(i, ")", "]", "}") && f.pair[i] >= 0
}

// operandStart is the first word of the simple operand that ends with word i.
func (f *finder) operandStart(i int) int {
	for f.isOperator(i, "]") && f.pair[i] > 0 {
		i = f.pair[i] - 1
	}
	if f.isOperator(i, ")", "}") {
		return f.pair[i]
	}
	return max(i, 0)
}

// operator looks at the slips that begin with an operator or a bracket.
func (f *finder) operator(i int) {
	switch {
	case f.isOperator(i, "**") && (f.isNumber(i-1) || f.isNumber(i+1)):
		f.add(i, slip{code: PowerSign, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, "^")}, why: "Powers are written with ^."})
	case f.isOperator(i, "[") && f.pair[i] > 0 && !f.endsOperand(i-1) && !f.isOperator(i-1, "#", "'") && !(f.isOperator(i-1, "[") && f.endsOperand(i-2)):
		f.add(i, slip{code: List, start: f.words[i].Start, end: f.words[f.pair[i]].End, why: "Lists stand in braces.",
			edits: []edit{f.replace(i, "{"), f.replace(f.pair[i], "}")}})
	case f.isOperator(i, "|") && !f.endsOperand(i-1):
		f.bars(i)
	}
}

// bars: |x|.
func (f *finder) bars(i int) {
	for j := i + 1; j < len(f.words); j++ {
		if f.isOperator(j, "|") && f.endsOperand(j-1) && !f.endsOperand(j+1) && f.operandEnd(j+1) < 0 && j > i+1 {
			f.add(i, slip{code: Bars, start: f.words[i].Start, end: f.words[j].End, edits: []edit{f.replace(i, "Abs["), f.replace(j, "]")}, why: "A bar separates alternatives."})
			return
		}
	}
}

// atom looks at the slips that begin with a number: 5%.
func (f *finder) atom(i int) {
	next := i + 1
	if !f.isNumber(i) || !f.isAtom(next) || !f.adjacent(next) || f.source(next, next) != "%" || f.operandEnd(next+1) >= 0 {
		return
	}
	f.add(i, slip{code: Percent, start: f.words[i].Start, end: f.words[next].End, why: "% stands for the last answer.",
		edits: []edit{insert(f.words[i].Start, "("), f.replace(next, "/100)")}})
}

// solvers take equations, never assignments.
var solvers = map[string]bool{
	"Solve": true, "NSolve": true, "Reduce": true, "FindRoot": true, "DSolve": true, "NDSolve": true, "RSolve": true, "Eliminate": true,
	"FindInstance": true, "SolveAlways": true, "DSolveValue": true, "Roots": true,
}

// equations: 2x+3=7, and any = in the first argument of a solver.
func (f *finder) equations() {
	all, err := expression.ParseAll(f.text)
	if err != nil {
		return
	}
	for _, e := range all {
		e.Walk(func(e *expression.Expr) bool {
			if e.IsCall("Set") && !assignable(e.Args[0]) {
				f.equation(e)
			}
			if name := functionFor(e.HeadName()); e.Kind == expression.Call && solvers[name] && len(e.Args) > 1 {
				for _, condition := range conditions(e.Args[0]) {
					if condition.IsCall("Set") && assignable(condition.Args[0]) {
						f.equation(condition)
					}
				}
			}
			return true
		})
	}
}

// conditions are the parts of a list or a conjunction, or the expression itself.
func conditions(e *expression.Expr) []*expression.Expr {
	if e.IsCall("List") || e.IsCall("And") {
		return e.Args
	}
	return []*expression.Expr{e}
}

// equation suggests == for the = of a Set that was written as an operator.
func (f *finder) equation(set *expression.Expr) {
	at := set.Head.Pos.Offset
	if at >= len(f.text) || f.text[at] != '=' || f.isDefinition(set) {
		return
	}
	f.slips = append(f.slips, slip{code: Equation, start: at, end: at + 1, edits: []edit{{start: at, end: at + 1, text: "=="}}, why: "= assigns a value; an equation is written with ==."})
}

// isDefinition tells whether the left side is f(x), which definition handles.
func (f *finder) isDefinition(set *expression.Expr) bool {
	before := f.text[:set.Head.Pos.Offset]
	return set.Args[0].IsCall("Times") && strings.HasSuffix(strings.TrimSpace(before), ")") && set.Args[0].Args[0].Kind == expression.Symbol
}

// operators are heads that a value cannot be assigned to.
var operators = map[string]bool{
	"Plus": true, "Times": true, "Power": true, "Equal": true, "Less": true, "LessEqual": true, "Greater": true, "GreaterEqual": true, "Unequal": true,
	"And": true, "Or": true, "Not": true, "Factorial": true, "Dot": true, "Sin": true, "Cos": true, "Tan": true, "Exp": true, "Log": true, "Sqrt": true, "Abs": true,
}

// assignable tells whether the language lets a value be assigned to the left side.
func assignable(left *expression.Expr) bool {
	switch left.Kind {
	case expression.Symbol:
		return !constants[left.Text]
	case expression.Call:
		return !operators[left.HeadName()]
	}
	return false
}

// characters are written by keyboards and word processors and are not of the language.
var characters = map[rune]struct {
	code Code
	text string
	why  string
}{
	'²': {PowerSign, "^2", "Powers are written with ^."}, '³': {PowerSign, "^3", "Powers are written with ^."},
	'“': {Quotes, `"`, `Strings stand between straight quotation marks.`}, '”': {Quotes, `"`, `Strings stand between straight quotation marks.`},
	'„': {Quotes, `"`, `Strings stand between straight quotation marks.`},
}

// characters looks for characters that keep a text from being read.
func (f *finder) characters() {
	for at, r := range f.text {
		if c, ok := characters[r]; ok {
			end := at + len(string(r))
			f.slips = append(f.slips, slip{code: c.code, start: at, end: end, edits: []edit{{start: at, end: end, text: c.text}}, why: c.why})
		}
	}
}

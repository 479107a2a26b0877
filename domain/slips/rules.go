package slips

import (
	"slices"
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
	case f.otherModule(i), f.otherArguments(i), f.braces(i), f.definition(i), f.parentheses(i), f.call(i), f.power(i), f.noBrackets(i), f.constant(i), f.cross(i), f.lastAnswer(i):
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
	if meant == "" && f.adjacent(open) && len(name) >= minLowerMisspelt { // intergrate(x^2, x)
		meant = misspelt(name)
	}
	if meant != "" && f.isVariable(name) {
		return false
	}
	if meant == "" && f.adjacent(open) && (f.hasComma(open) || len(f.semicolons(open)) > 0 || f.functions[name] || f.isOperator(open+1, "{") && f.pair[open+1] == f.pair[open]-1) {
		meant = name
	}
	if meant == "" || isWordOperator(name) && f.endsOperand(i-1) || f.isOperator(i-1, "_", "__", "___") || f.adjacentOperandGoesOn(open) {
		return false
	}
	if bounds, ok := argumentCounts[meant]; ok {
		if n := f.arguments(open); n < bounds.least || n > bounds.most {
			return false // other languages' function of that name takes other arguments
		}
	}
	edits := []edit{{start: f.words[i].Start, end: f.words[open].End, text: meant + "["}, f.replace(f.pair[open], "]")}
	edits = append(edits, f.semicolons(open)...)
	if solvers[meant] {
		edits = append(edits, f.equalSigns(open)...)
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: whyParentheses, edits: edits})
	return true
}

// isVariable tells whether a name also stands in the text without brackets behind it, as a variable does: beta(1-beta).
func (f *finder) isVariable(name string) bool {
	for i, w := range f.words {
		if w.Name == name && !f.isOperator(i+1, "(", "[", "{", "^", "@", "/@", "@@", "'") && !f.isName(i+1) && !f.isNumber(i+1) && !f.isOperator(i-1, "//", "/@", "@") {
			return true
		}
	}
	return false
}

// semicolons writes a comma for every semicolon directly inside the bracket at word i, where there is no comma: spreadsheets of many
// countries part arguments so.
func (f *finder) semicolons(i int) (edits []edit) {
	for j := i + 1; j < f.pair[i]; j++ {
		switch {
		case f.pair[j] > j:
			j = f.pair[j]
		case f.isOperator(j, ","):
			return nil
		case f.isOperator(j, ";"):
			edits = append(edits, f.replace(j, ","))
		}
	}
	return edits
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

// adjacentOperandGoesOn tells whether a group at some distance from the name is the beginning of a larger term, so that the function
// may be meant for all of it: simplify (x^2-1)/(x-1).
func (f *finder) adjacentOperandGoesOn(open int) bool {
	return !f.adjacent(open) && f.isOperator(f.pair[open]+1, "/", "*", "^", "(")
}

// argumentCounts are the numbers of arguments of functions that other languages give other arguments: log(x, 10), mean(1, 2, 3), round(x, 2).
var argumentCounts = map[string]struct{ least, most int }{
	"Log": {1, 1}, "Round": {1, 1}, "Mean": {1, 1}, "Median": {1, 1}, "StandardDeviation": {1, 1}, "Variance": {1, 1}, "Sum": {2, 9}, "Product": {2, 9}, "Integrate": {2, 9},
	"Plot": {2, 9}, "Limit": {2, 2}, "Random": {9, 0}, "Function": {9, 0}, "For": {9, 0}, "While": {9, 0}, "If": {3, 4}, "Range": {1, 3}, "Table": {2, 9},
}

// arguments is the number of arguments inside the bracket at word i.
func (f *finder) arguments(i int) int {
	if f.pair[i] == i+1 {
		return 0
	}
	n := 1
	for j := i + 1; j < f.pair[i]; j++ {
		if f.pair[j] > j {
			j = f.pair[j]
		} else if f.isOperator(j, ",") {
			n++
		}
	}
	if n == 1 {
		n += len(f.semicolons(i))
	}
	return n
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
		case f.isName(j) && f.isOperator(j+1, "_"):
			for j+1 < end && !f.isOperator(j+1, ",") {
				j++
			}
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
	if known(name) {
		return true
	}
	meant, why := functionFor(name), whyCapital
	if meant == "" {
		meant, why = misspelt(name), "No function of that name is known here."
	}
	if meant != "" {
		if !strings.EqualFold(name, meant) || strings.ToUpper(name[:1]) == name[:1] {
			why = "No function of that name is known here."
		}
		f.add(i, slip{code: Name, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: why})
	}
	return true
}

// power: cos^2(x), sin^2 x.
func (f *finder) power(i int) bool {
	meant := functionFor(f.words[i].Name)
	if !elementary[meant] || !f.isOperator(i+1, "^") {
		return false
	}
	if f.isOperator(i+2, "-") {
		return f.inverse(i, meant)
	}
	first := i + 3
	if !f.isNumber(i + 2) {
		return false
	}
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

// inverse: tan^-1(x). The word after the function is ^.
func (f *finder) inverse(i int, meant string) bool {
	open := i + 4
	if !f.isNumber(i+3) || f.source(i+3, i+3) != "1" || !f.isOperator(open, "(") || f.pair[open] < 0 || !known("Arc"+meant) {
		return false
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: "The inverse of " + meant + " is Arc" + meant + ".", edits: []edit{
		{start: f.words[i].Start, end: f.words[open].End, text: "Arc" + meant + "["}, f.replace(f.pair[open], "]"),
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
	if last < 0 || f.isOperator(i+1, "(", "{") || prose[f.words[i+1].Name] {
		return false
	}
	edits := []edit{{start: f.words[i].Start, end: f.words[i+1].Start, text: meant + "["}}
	if !f.isOperator(last+1, "]") || f.pair[last+1] >= 0 { // Sin x] has one already
		edits = append(edits, insert(f.words[last].End, "]"))
	}
	f.add(i, slip{code: NoBrackets, start: f.words[i].Start, end: f.words[last].End, why: "A function's argument stands in square brackets.", edits: edits})
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
	case name == "i" && f.isOperator(i+1, "^") && f.isNumber(i+2) && f.once(i):
		meant = "I"
	case name == "i" && (f.isNumber(i-1) && f.adjacent(i) || f.inExponent(i)):
		meant = "I"
	case degrees[strings.ToLower(name)] && (f.isNumber(i-1) || f.isOperator(i-1, ")")):
		f.add(i, slip{code: Degrees, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.separated(i, "Degree")}, why: "An angle in degrees is written 30 Degree."})
		return true
	case meant == "":
		return false
	}
	f.add(i, slip{code: Constant, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: "In this language the constants are Pi, E, I, Infinity, True and False."})
	return true
}

// degrees are the names of the unit, in lower case.
var degrees = wordSet(`deg degree degrees`)

// separated is the edit that writes text in place of word i, with a space before it where it stands against another word.
func (f *finder) separated(i int, text string) edit {
	if f.adjacent(i) {
		text = " " + text
	}
	return f.replace(i, text)
}

// cross: 3 x 4, where every x stands between two numbers.
func (f *finder) cross(i int) bool {
	if name := f.words[i].Name; name != "x" && name != "X" {
		return false
	}
	for j, w := range f.words {
		if w.Name == f.words[i].Name && (!f.isNumber(j-1) || !f.isNumber(j+1) || f.adjacent(j) || f.adjacent(j+1)) {
			return false
		}
	}
	f.add(i, slip{code: OperatorWord, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, "*")}, why: "x is the name of a variable; numbers are multiplied with *."})
	return true
}

// lastAnswer: ans + 1.
func (f *finder) lastAnswer(i int) bool {
	if !strings.EqualFold(f.words[i].Name, "ans") {
		return false
	}
	f.add(i, slip{code: Name, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, "%")}, why: "% is the last answer of a session."})
	return true
}

// once tells whether the name at word i stands nowhere else in the text.
func (f *finder) once(i int) bool {
	for j, w := range f.words {
		if j != i && w.Name == f.words[i].Name {
			return false
		}
	}
	return true
}

// inExponent tells whether word i stands in brackets after e^ or in the argument of the exponential function.
func (f *finder) inExponent(i int) bool {
	for j := i - 1; j > 0; j-- {
		switch {
		case f.pair[j] >= 0 && f.pair[j] < j:
			j = f.pair[j]
		case f.pair[j] > i:
			name := j - 1
			if f.isOperator(name, "^") {
				name--
			}
			return f.isName(name) && (strings.EqualFold(f.words[name].Name, "e") || strings.EqualFold(f.words[name].Name, "exp"))
		}
	}
	return false
}

// wordOperators are words between operands, in lower case, and what the language has for them.
var wordOperators = map[string]string{"and": "&&", "or": "||", "mod": "Mod", "xor": "Xor", "choose": "Binomial"}

func isWordOperator(name string) bool { return wordOperators[strings.ToLower(name)] != "" }

// operatorWord: 17 mod 5, a and b, not a.
func (f *finder) operatorWord(i int) {
	name := strings.ToLower(f.words[i].Name)
	meant := wordOperators[name]
	switch {
	case name == "not" && !f.endsOperand(i-1) && f.operandEnd(i+1) >= 0:
		f.add(i, slip{code: OperatorWord, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, "!")}, why: whyWord})
	case meant == "" || !f.endsOperand(i-1) || f.operandEnd(i+1) < 0:
	case meant == "&&" || meant == "||":
		f.add(i, slip{code: OperatorWord, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: whyWord})
	default:
		f.functionBetween(i, meant, whyWord)
	}
}

const whyWord = "Words between operands multiply."

// functionBetween suggests meant[left, right] for the operands around word i, where both are plain to see.
func (f *finder) functionBetween(i int, meant, why string) {
	first, last := f.productStart(i-1), f.operandEnd(i+1)
	if first < 0 || last < 0 || !f.endsTerm(last+1) {
		return
	}
	f.add(i, slip{code: OperatorWord, start: f.words[first].Start, end: f.words[last].End, why: why, edits: []edit{
		insert(f.words[first].Start, meant+"["), {start: f.words[i-1].End, end: f.words[i+1].Start, text: ", "}, insert(f.words[last].End, "]"),
	}})
}

// between are the operators and brackets before which a whole expression can end, and after which one can begin.
var between = []string{"(", "[", "{", "<|", ")", "]", "}", "|>", ",", ";", "==", "!=", "<", ">", "<=", ">=", "=", ":=", "->", ":>", "&&", "||", "/."}

// productStart is the first word of the product or power that ends with word i and is all that stands to its left, a sign
// included. It is -1 where more stands there, which may or may not be meant.
func (f *finder) productStart(i int) int {
	for i >= 0 {
		switch {
		case f.isOperator(i, ")", "]", "}") && f.pair[i] >= 0:
			i = f.pair[i] - 1
		case f.isAtom(i), f.isName(i) && !isWordOperator(f.words[i].Name), f.isOperator(i, "^", "*", "/", "!"):
			i--
		case f.isOperator(i, "-") && (i == 0 || f.isOperator(i-1, between...)):
			return i
		case f.isOperator(i, between...):
			return i + 1
		default:
			return -1
		}
	}
	return 0
}

// endsTerm tells whether a product ends before word i: at the end of the text, a bracket, a comparison, + or -.
func (f *finder) endsTerm(i int) bool {
	return i == len(f.words) || f.isOperator(i, between...) || f.isOperator(i, "+", "-")
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
		if elementary[functionFor(f.words[i].Name)] && !f.isOperator(i+1, "[") {
			if last := f.operandEnd(i + 1); last >= 0 { // sin cos x
				return last
			}
		}
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
	if f.isOperator(i, "!") { // a factorial
		return f.endsOperand(i - 1)
	}
	return f.isAtom(i) || f.isName(i) || f.isOperator(i, ")", "]", "}", "|>") && f.pair[i] >= 0
}

// operator looks at the slips that begin with an operator or a bracket.
func (f *finder) operator(i int) {
	switch {
	case f.isOperator(i, "**") && (f.isNumber(i-1) || f.isNumber(i+1)):
		f.add(i, slip{code: PowerSign, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, "^")}, why: "Powers are written with ^."})
	case f.isOperator(i, "[") && f.pair[i] > 0 && !f.endsOperand(i-1) && !f.isOperator(i-1, "&", "'", "!", "++", "--", "?") && !(f.isOperator(i-1, "[") && f.endsOperand(i-2)):
		f.add(i, slip{code: List, start: f.words[i].Start, end: f.words[f.pair[i]].End, why: "Lists stand in braces.",
			edits: []edit{f.replace(i, "{"), f.replace(f.pair[i], "}")}})
	case f.isOperator(i, "(") && f.pair[i] > 0 && !f.endsOperand(i-1) && f.hasComma(i):
		f.add(i, slip{code: List, start: f.words[i].Start, end: f.words[f.pair[i]].End, why: "Lists stand in braces.",
			edits: []edit{f.replace(i, "{"), f.replace(f.pair[i], "}")}})
	case f.isOperator(i, "'") && f.isOperator(i+1, "(") && f.adjacent(i+1) && f.pair[i+1] > 0 && f.isName(i-1):
		f.add(i, slip{code: Parentheses, start: f.words[i-1].Start, end: f.words[f.pair[i+1]].End, why: whyParentheses, edits: []edit{f.replace(i+1, "["), f.replace(f.pair[i+1], "]")}})
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

// atom looks at the slips that begin with a number or with %: 5%, 10%3, 1e10.
func (f *finder) atom(i int) {
	if text := f.source(i, i); text[0] == '%' {
		f.percent(i, text)
	} else if f.isNumber(i) {
		if f.literal(i) {
			return
		}
		f.number(i)
		f.groups(i)
		f.combinations(i)
	}
}

// percent: 5%, 10%3, 3 % 2.
func (f *finder) percent(i int, text string) {
	const why = "% stands for an earlier answer."
	switch {
	case !f.endsOperand(i - 1), f.text[f.words[i-1].Start] == '%':
	case text == "%" && f.isName(i+1) && f.words[i+1].Name == "of" && f.isNumber(i-1) && f.operandEnd(i+2) >= 0:
		f.add(i, slip{code: Percent, start: f.words[i-1].Start, end: f.words[i+1].End, why: why, edits: []edit{
			insert(f.words[i-1].Start, "("), {start: f.words[i].Start, end: f.words[i+1].End, text: "/100) *"},
		}})
	case text == "%" && f.operandEnd(i+1) >= 0:
		f.functionBetween(i, "Mod", why)
	case text == "%" && f.isNumber(i-1) && f.adjacent(i):
		f.add(i, slip{code: Percent, start: f.words[i-1].Start, end: f.words[i].End, why: why, edits: []edit{insert(f.words[i-1].Start, "("), f.replace(i, "/100)")}})
	case len(text) > 1 && text[1] != '%' && f.adjacent(i):
		if first := f.productStart(i - 1); first >= 0 && f.endsTerm(i+1) {
			f.add(i, slip{code: OperatorWord, start: f.words[first].Start, end: f.words[i].End, why: why, edits: []edit{
				insert(f.words[first].Start, "Mod["), f.replace(i, ", "+text[1:]+"]"),
			}})
		}
	}
}

// solvers take equations, never assignments.
var solvers = map[string]bool{
	"Solve": true, "NSolve": true, "Reduce": true, "FindRoot": true, "DSolve": true, "NDSolve": true, "RSolve": true, "Eliminate": true,
	"FindInstance": true, "SolveAlways": true, "DSolveValue": true, "Roots": true,
}

// conditionals take a condition first.
var conditionals = map[string]bool{"If": true, "While": true, "Select": true}

// equations: 2x+3=7, and any = in the first argument of a solver or a conditional.
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
			if name := functionFor(e.HeadName()); e.Kind == expression.Call && (solvers[name] || conditionals[name]) && len(e.Args) > 1 {
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
	if f.secondAssignment(at) {
		return
	}
	f.slips = append(f.slips, slip{code: Equation, start: at, end: at + 1, edits: []edit{{start: at, end: at + 1, text: "=="}}, why: "= assigns a value; an equation is written with ==."})
}

// secondAssignment: a = 5 b = 6, where ; is missing before b. The offset is that of the second equals sign.
func (f *finder) secondAssignment(at int) bool {
	second := slices.IndexFunc(f.words, func(w expression.Token) bool { return w.Start == at })
	name := second - 1
	if !f.isName(name) || f.adjacent(name) || !f.endsOperand(name-1) {
		return false
	}
	for j := name - 1; j > 0 && !f.isOperator(j, ";", ",", "==", "("); j-- {
		if f.isOperator(j, ")", "]", "}") && f.pair[j] >= 0 {
			j = f.pair[j]
		} else if f.isOperator(j, "=") && f.isName(j-1) && j+1 < name && f.begins(j-1) {
			f.slips = append(f.slips, slip{code: Definition, start: f.words[j-1].Start, end: f.words[second].End, edits: []edit{insert(f.words[name-1].End, ";")},
				why: "A ; stands between two assignments."})
			return true
		}
	}
	return false
}

// isDefinition tells whether the left side is f(x), which definition handles.
func (f *finder) isDefinition(set *expression.Expr) bool {
	for i, w := range f.words {
		if w.Start == set.Head.Pos.Offset && f.insideCall(i) { // FindRoot[cos(x)=x, …]
			return false
		}
	}
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
		derivative := left.Head.Kind == expression.Symbol || !left.Head.Head.IsCall("Derivative") && !left.Head.IsCall("Derivative") // y' = y
		return !operators[left.HeadName()] && derivative
	}
	return false
}

// characters are written by keyboards and word processors and are not of the language.
var characters = map[rune]struct {
	code Code
	text string
	why  string
}{
	'½': {Character, "(1/2)", whyCharacter}, '⅓': {Character, "(1/3)", whyCharacter}, '⅔': {Character, "(2/3)", whyCharacter},
	'¼': {Character, "(1/4)", whyCharacter}, '¾': {Character, "(3/4)", whyCharacter}, '‘': {Quotes, `"`, `Strings stand between straight quotation marks.`},
	'’': {Quotes, `"`, `Strings stand between straight quotation marks.`}, '⁴': {PowerSign, "^4", "Powers are written with ^."},
	'²': {PowerSign, "^2", "Powers are written with ^."}, '³': {PowerSign, "^3", "Powers are written with ^."},
	'“': {Quotes, `"`, `Strings stand between straight quotation marks.`}, '”': {Quotes, `"`, `Strings stand between straight quotation marks.`},
	'–': {Character, "-", whyCharacter}, '—': {Character, "-", whyCharacter}, '⋅': {Character, "*", whyCharacter}, '∙': {Character, "*", whyCharacter}, '•': {Character, "*", whyCharacter},
	'„': {Quotes, `"`, `Strings stand between straight quotation marks.`},
}

// characters looks for characters that keep a text from being read.
func (f *finder) characters() {
	for at, r := range f.text {
		if c, ok := characters[r]; ok {
			end := at + len(string(r))
			if strings.HasSuffix(f.text[:at], "^") {
				c.text = strings.TrimPrefix(c.text, "^")
			}
			f.slips = append(f.slips, slip{code: c.code, start: at, end: end, edits: []edit{{start: at, end: end, text: c.text}}, why: c.why})
		}
	}
}

package slips

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"reckon/domain/expression"
)

const whyCharacter = "This character is not read here."

// program is a text of another language that no word for word change makes one of this language.
var program = regexp.MustCompile(`^\s*(?:for|while|def|lambda)\b[^\[]*:`)

var (
	marker   = regexp.MustCompile(`^\s*(?:In|Out)\[\d+\]\s*:?=\s*`)
	question = regexp.MustCompile(`\s*=\s*\??\s*$`)
	formula  = regexp.MustCompile(`^\s*=\s*([^=\s])`) // a spreadsheet's
	keyword  = regexp.MustCompile(`^\s*(?:let|var|const)\s+(\pL[\pL\pN]*\s*=[^=])`)
)

// prompt: In[1]:= 2+2 as a notebook shows it, 1+1= and 1+1=?
func prompt(text string) []Suggestion {
	rest := marker.ReplaceAllString(text, "")
	why := "The numbers of lines are given here and not typed."
	if rest == text {
		rest = formula.ReplaceAllString(question.ReplaceAllString(text, ""), "$1")
		why = "An expression is evaluated without an equals sign."
	}
	if rest == text {
		rest = keyword.ReplaceAllString(text, "$1")
		why = "A value is assigned without a word before the name."
	}
	if rest == text || strings.TrimSpace(rest) == "" || strings.HasSuffix(rest, "=") {
		return nil
	}
	return whole(text, rest, Prompt, why)
}

// whole suggests another text instead of this one, mended where it has slips of its own.
func whole(text, rest string, code Code, why string) []Suggestion {
	found := Find(rest)
	runes := []rune(rest)
	for i := len(found) - 1; i >= 0; i-- {
		runes = append(runes[:found[i].Range.Start:found[i].Range.Start], append([]rune(found[i].Replacement), runes[found[i].Range.End:]...)...)
	}
	return []Suggestion{{
		Code: code, Replacement: string(runes), Message: "did you mean " + string(runes) + "? " + why, Range: Range{End: len([]rune(text))},
	}}
}

var (
	integralSign = regexp.MustCompile(`^(?:∫|\\int)\s*(?:_\{?([^\s^{}]+)\}?\^\{?([^\s{}]+)\}?)?\s*(.+?)\s*d([a-z])$`)
	texFraction  = regexp.MustCompile(`\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}`)
	texRoot      = regexp.MustCompile(`\\sqrt\s*\{([^{}]*)\}`)
	texPower     = regexp.MustCompile(`\^\{([^{}]*)\}`)
	texWord      = regexp.MustCompile(`\\([A-Za-z]+)`)
	texLeft      = regexp.MustCompile(`\\(?:left|right)\b\s*|\\[,;!]|\\quad\b`)
	texWords     = map[string]string{
		"pi": "Pi", "infty": "Infinity", "cdot": "*", "times": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ne": "!=", "neq": "!=",
		"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "lambda": "λ", "mu": "μ", "sigma": "σ", "phi": "φ", "omega": "ω",
		"sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "arcsin": "arcsin", "arccos": "arccos", "arctan": "arctan",
		"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "ln": "ln", "log": "ln", "exp": "exp", "rho": "ρ", "tau": "τ", "xi": "ξ",
	}
)

// tex: \frac{1}{2}, x^{2}, $x^2$. Only what can be rewritten as a whole is suggested.
func tex(text string) []Suggestion {
	rest := strings.TrimSpace(text)
	if inner := strings.Trim(rest, "$"); len(rest) > 2 && rest[0] == '$' && rest[len(rest)-1] == '$' && !strings.Contains(inner, "$") {
		rest = inner
	}
	if strings.ContainsAny(rest, "\"#;") || !strings.Contains(rest, `\`) && !strings.Contains(rest, "∫") && !texPower.MatchString(rest) && rest == strings.TrimSpace(text) {
		return nil
	}
	rest = texLeft.ReplaceAllString(rest, "")
	if part := integralSign.FindStringSubmatch(rest); part != nil {
		variable := part[4]
		if part[1] != "" {
			variable = "{" + part[4] + ", " + part[1] + ", " + part[2] + "}"
		}
		inside := part[3]
		if found := tex(inside); found != nil {
			inside = found[0].Replacement
		}
		return whole(text, "Integrate["+inside+", "+variable+"]", TeX, "The integral sign is not read here.")
	}
	for range 16 { // nested fractions, from the inside
		before := rest
		rest = texFraction.ReplaceAllString(rest, "($1)/($2)")
		rest = texRoot.ReplaceAllString(rest, "Sqrt[$1]")
		rest = texPower.ReplaceAllString(rest, "^($1)")
		if rest == before {
			break
		}
	}
	rest = texWord.ReplaceAllStringFunc(rest, func(word string) string {
		if meant := texWords[word[1:]]; meant != "" {
			return meant
		}
		return word
	})
	if strings.ContainsAny(rest, `\$`) || strings.ContainsAny(rest, "{}") && strings.Contains(text, `\`) {
		return nil
	}
	if _, err := expression.ParseAll(rest); err != nil {
		return nil
	}
	return whole(text, rest, TeX, "TeX is not read here.")
}

// commands are functions that people write before an expression, and what stands after the expression: the variable that the expression
// has.
var commands = map[string]string{
	"Integrate": ", @", "D": ", @", "Solve": ", @", "NSolve": ", @", "Plot": ", {@, -10, 10}", "Factor": "", "Expand": "", "Simplify": "", "FullSimplify": "", "Together": "",
	"Apart": "", "FactorInteger": "", "PrimeQ": "", "Clear": "", "Series": ", {@, 0, 5}",
}

// phrases are the words with which a text may ask for them, in lower case. Longer ones come first.
var phrases = []struct{ words, meant string }{
	{"the square root of", "Sqrt"}, {"square root of", "Sqrt"}, {"cube root of", "CubeRoot"}, {"the integral of", "Integrate"}, {"integral of", "Integrate"}, {"the derivative of", "D"},
	{"derivative of", "D"}, {"antiderivative of", "Integrate"}, {"what is the integral of", "Integrate"}, {"what is the derivative of", "D"}, {"how do i solve", "Solve"},
	{"integrate", "Integrate"}, {"differentiate", "D"}, {"derive", "D"}, {"solve", "Solve"}, {"plot", "Plot"}, {"factor", "Factor"}, {"expand", "Expand"}, {"simplify", "Simplify"},
	{"clear", "Clear"}, {"taylor", "Series"}, {"d/dx", "D"}, {"d/dt", "D"}, {"d/dy", "D"}, {"what is", ""}, {"calculate", ""}, {"compute", ""}, {"evaluate", ""},
}

// wholeText: phrases before an expression that is all the rest of the text.
func (f *finder) wholeText() {
	if f.patterns() {
		return
	}
	text := strings.TrimRight(f.text, " \t\n?.")
	begin := len(f.text) - len(strings.TrimLeft(f.text, " \t\n"))
	for _, phrase := range phrases {
		at := begin + beginning(text[begin:], phrase.words)
		if at == begin {
			continue
		}
		rest := strings.TrimSpace(text[at:])
		if strings.ContainsAny(rest[:1], "=[*/^+,;:.") || slices.Contains(f.assigned(), strings.ToLower(strings.Fields(phrase.words)[0])) {
			return
		}
		replacement, ok := command(phrase.meant, phrase.words, rest)
		if !ok {
			return
		}
		why := "Functions are written with their arguments in square brackets; words beside each other multiply."
		if phrase.meant == "" {
			why = "An expression is evaluated without words before it; words beside each other multiply."
		}
		f.slips = append(f.slips, slip{
			code: Command, start: 0, end: len(f.text), edits: []edit{{start: 0, end: len(f.text), text: replacement}}, why: why, undefined: f.firstName(),
		})
		return
	}
}

// beginning is how long the beginning of a text is that says these words, a space after it: in any case, and of one long word also misspelt; 0 where
// the text begins otherwise.
func beginning(text, words string) int {
	if n := len(words); len(text) > n && strings.EqualFold(text[:n], words) && text[n] == ' ' {
		return n
	}
	if first, _, more := strings.Cut(text, " "); more && misspeltCommands()[strings.ToLower(first)] == words {
		return len(first)
	}
	return 0
}

// misspeltCommands are the phrases of one long word by their misspellings.
var misspeltCommands = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, phrase := range phrases {
		if len(phrase.words) >= minLowerMisspelt && commands[phrase.meant] != "" && !strings.ContainsAny(phrase.words, " /") {
			for _, misspelling := range neighbours(phrase.words) {
				all[misspelling] = phrase.words
			}
		}
	}
	return all
})

var (
	limitPhrase = regexp.MustCompile(`(?i)^\s*lim(?:it)?(?:\s+as)?\s+([a-z])\s*(?:->|→)\s*([\w+-]+)\s*(?:of\s+)?[\s,]\s*(.+?)\s*$`)
	logPhrase   = regexp.MustCompile(`(?i)^\s*log\s+base\s+(\w+)\s+(?:of\s+)?(\w+)\s*$`)
)

// patterns: lim x->0 sin(x)/x, log base 2 of 8.
func (f *finder) patterns() bool {
	var replacement string
	if part := limitPhrase.FindStringSubmatch(f.text); part != nil {
		inside, to := mend(part[3], Find(part[3])), mend(part[2], Find(part[2]))
		if _, err := expression.Parse(inside); err != nil {
			return false
		}
		replacement = "Limit[" + inside + ", " + part[1] + " -> " + to + "]"
	} else if part := logPhrase.FindStringSubmatch(f.text); part != nil {
		replacement = "Log[" + part[1] + ", " + part[2] + "]"
	} else {
		return false
	}
	f.slips = append(f.slips, slip{code: Command, start: 0, end: len(f.text), edits: []edit{{start: 0, end: len(f.text), text: replacement}},
		why: "Functions are written with their arguments in square brackets.", undefined: f.firstName()})
	return true
}

// assigned are the names that the text defines, in lower case.
func (f *finder) assigned() []string {
	var names []string
	for name := range f.bound {
		names = append(names, strings.ToLower(name))
	}
	return names
}

// firstName is the text's first name where the engine does not know it.
func (f *finder) firstName() []string {
	if len(f.words) > 0 && f.words[0].Name != "" && !known(f.words[0].Name) {
		return []string{f.words[0].Name}
	}
	return nil
}

// command is meant[rest, variable], with the slips of the rest mended.
func command(meant, phrase, rest string) (string, bool) {
	found := Find(rest)
	if len(found) > 0 {
		rest = mend(rest, found)
	}
	of := ""
	if part := differential.FindStringSubmatch(rest); part != nil && meant == "Integrate" { // integrate x^2 dx
		rest, of = part[1], part[2]
	}
	e, err := expression.Parse(rest)
	if err != nil || proseIn(e) {
		return "", false
	}
	if meant == "" {
		return rest, true
	}
	after := commands[meant]
	if strings.Contains(after, "@") {
		variable := cmp.Or(of, onlyVariable(e))
		if strings.HasPrefix(phrase, "d/d") {
			variable = phrase[3:]
		}
		if variable == "" {
			return "", false
		}
		after = strings.ReplaceAll(after, "@", variable)
	}
	return meant + "[" + rest + after + "]", true
}

// mend is a text with the suggestions taken.
func mend(text string, found []Suggestion) string {
	runes := []rune(text)
	for i := len(found) - 1; i >= 0; i-- {
		s := found[i]
		runes = append(runes[:s.Range.Start:s.Range.Start], append([]rune(s.Replacement), runes[s.Range.End:]...)...)
	}
	return string(runes)
}

// onlyVariable is the one name of one letter in an expression; empty where there are several or none.
func onlyVariable(e *expression.Expr) string {
	var only string
	for _, name := range e.Symbols() {
		if r := []rune(name); len(r) == 1 && unicode.IsLower(r[0]) && name != "e" && name != "i" {
			if only != "" {
				return ""
			}
			only = name
		}
	}
	return only
}

// prose are words of sentences, and of programs, that no expression has.
var prose = wordSet(`the of is to what how as than then from by at with plus minus times divided equals please import lambda def return square root
	derivative integral half sum into convert power in do you we me my find give show`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// proseIn tells whether words of a sentence are multiplied somewhere in an expression.
func proseIn(e *expression.Expr) bool {
	found := false
	e.Walk(func(part *expression.Expr) bool {
		if part.IsCall("Times") && !found {
			found = slices.ContainsFunc(part.Args, func(factor *expression.Expr) bool {
				return factor.Kind == expression.Symbol && prose[strings.ToLower(factor.Text)]
			})
		}
		return !found
	})
	return found
}

// talk are words that other programs obey, and greetings.
var talk = wordSet(`help quit exit bye hello hi hey man info usage`)

// Sentence tells whether a text is an expression in which words of a sentence are multiplied, or a word to a program.
func Sentence(text string) bool {
	if len(text) > MaxBytes {
		return false
	}
	if talk[strings.ToLower(strings.Trim(text, " \t\n!"))] {
		return true
	}
	all, err := expression.ParseAll(text)
	return err == nil && slices.ContainsFunc(all, proseIn)
}

// iterators are functions whose second argument is {variable, from, to}, and how many words of it stand without braces.
var iterators = map[string][]int{
	"Sum": {3}, "Product": {3}, "NSum": {3}, "NProduct": {3}, "Table": {2, 3}, "Do": {2, 3}, "Plot": {3}, "NIntegrate": {3}, "Integrate": {3}, "Series": {3},
}

// iterator: Sum[n^2, n, 1, 10], limit(f, x, 0).
func (f *finder) iterator(i int) {
	open := i + 1
	if !f.isOperator(open, "[", "(") || !f.adjacent(open) || f.pair[open] < 0 || f.bound[f.words[i].Name] && !known(f.words[i].Name) {
		return
	}
	meant := functionFor(f.words[i].Name)
	counts, limit := iterators[meant], meant == "Limit"
	commas := f.commas(open)
	if counts == nil && !limit || len(commas) == 0 || !f.isName(commas[0]+1) || f.words[commas[0]+1].Name == "" {
		return
	}
	first, last := commas[0]+1, f.pair[open]-1
	function := []edit{}
	if !f.isOperator(open, "[") || f.words[i].Name != meant {
		function = append(function, edit{start: f.words[i].Start, end: f.words[open].End, text: meant + "["}, f.replace(f.pair[open], "]"))
	}
	switch {
	case limit && len(commas) == 2 && commas[1] == first+1:
		f.add(i, slip{
			code: Iterator, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: "The point of a limit is written x -> a.",
			edits: append(function, edit{start: f.words[first].End, end: f.words[commas[1]+1].Start, text: " -> "}),
		})
	case counts != nil && slices.Contains(counts, len(commas)) && commas[1] == first+1:
		f.add(i, slip{
			code: Iterator, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: "A variable and its range stand in braces.",
			edits: append(function, insert(f.words[first].Start, "{"), insert(f.words[last].End, "}")),
		})
	}
}

// commas are the commas directly inside the bracket at word i.
func (f *finder) commas(i int) []int {
	var all []int
	for j := i + 1; j < f.pair[i]; j++ {
		if f.pair[j] > j {
			j = f.pair[j]
		} else if f.isOperator(j, ",") || f.isOperator(i, "(") && f.isOperator(j, ";") && len(f.semicolons(i)) > 0 {
			all = append(all, j)
		}
	}
	return all
}

// between commas: the text of each argument of the bracket at word i.
func (f *finder) argumentTexts(i int) []string {
	var all []string
	from := i + 1
	for _, comma := range append(f.commas(i), f.pair[i]) {
		if comma == from {
			return nil
		}
		argument := f.source(from, comma-1)
		all = append(all, mend(argument, Find(argument)))
		from = comma + 1
	}
	return all
}

var modules = wordSet(`np numpy math cmath sp sympy scipy mpmath Math`)

// otherModule: np.sin(1), math.sqrt(2).
func (f *finder) otherModule(i int) bool {
	if !modules[f.words[i].Name] || !f.isOperator(i+1, ".") || !f.isName(i+2) || !f.adjacent(i+1) || !f.adjacent(i+2) {
		return false
	}
	if open := i + 3; f.words[i+2].Name == "array" && f.isOperator(open, "(") && f.pair[open] > 0 {
		f.add(i, slip{code: List, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: "Lists stand in braces.",
			edits: []edit{{start: f.words[i].Start, end: f.words[open].End}, f.replace(f.pair[open], "")}})
		return true
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[i+2].End, why: whyParentheses, edits: []edit{{start: f.words[i].Start, end: f.words[i+2].Start}}})
	return true
}

var lists = wordSet(`Mean Median StandardDeviation Variance Total`)

// otherArguments: log(100, 10), atan2(1, 2), mean(1, 2, 3), round(x, 2), C(5, 2), random(): functions that take their arguments otherwise here.
func (f *finder) otherArguments(i int) bool {
	open := i + 1
	if !f.isOperator(open, "(", "[") || !f.adjacent(open) || f.pair[open] < 0 || f.bound[f.words[i].Name] {
		return false
	}
	if f.withoutVariable(i) {
		return true
	}
	if !f.isOperator(open, "(") {
		return false
	}
	name, arguments := strings.ToLower(f.words[i].Name), f.argumentTexts(open)
	meant := functionFor(f.words[i].Name)
	var replacement string
	switch {
	case meant == "Log" && len(arguments) == 2:
		replacement = "Log[" + arguments[1] + ", " + arguments[0] + "]"
	case name == "atan2" && len(arguments) == 2:
		replacement = "ArcTan[" + arguments[1] + ", " + arguments[0] + "]"
	case meant == "Sum" && (len(arguments) == 1 && f.isOperator(open+1, "{", "[") || f.onlyNumbers(open)):
		replacement = "Total[" + arguments[0] + "]"
		if len(arguments) > 1 {
			replacement = "Total[{" + strings.Join(arguments, ", ") + "}]"
		}
	case constants[meant] && len(f.words) > open+1 && f.pair[open] == open+1, constants[written[name]] && f.pair[open] == open+1:
		replacement = cmp.Or(written[name], meant)
	case lists[meant] && len(arguments) > 1:
		replacement = meant + "[{" + strings.Join(arguments, ", ") + "}]"
	case meant == "Round" && len(arguments) == 2 && len(arguments[1]) == 1 && arguments[1] >= "1" && arguments[1] <= "9":
		replacement = "Round[" + arguments[0] + ", 10.^-" + arguments[1] + "]"
	case name == "c" && len(arguments) == 2:
		replacement = "Binomial[" + arguments[0] + ", " + arguments[1] + "]"
	case (name == "p" || name == "npr") && len(arguments) == 2:
		replacement = "FactorialPower[" + arguments[0] + ", " + arguments[1] + "]"
	case name == "random" && len(f.words) > open+1 && f.pair[open] == open+1:
		replacement = "RandomReal[]"
	case (name == "sind" || name == "cosd" || name == "tand") && len(arguments) == 1:
		replacement = strings.ToUpper(name[:1]) + name[1:3] + "[(" + arguments[0] + ") Degree]"
	default:
		return false
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: whyParentheses,
		edits: []edit{{start: f.words[i].Start, end: f.words[f.pair[open]].End, text: replacement}}})
	return true
}

// onlyNumbers tells whether the bracket at word i has several arguments, all of them numbers.
func (f *finder) onlyNumbers(i int) bool {
	for j := i + 1; j < f.pair[i]; j++ {
		if !f.isNumber(j) && !f.isOperator(j, ",", ";", "-") {
			return false
		}
	}
	return len(f.commas(i)) > 0
}

// differential: x^2 dx, x^2*dx.
var differential = regexp.MustCompile(`^(.*[^\s*])\s*\*?\s*\bd([a-z])$`)

// differentialAndVariable: Integrate[x^2 dx, x].
func (f *finder) differentialAndVariable(i int) {
	open := i + 1
	if functionFor(f.words[i].Name) != "Integrate" || !f.isOperator(open, "[", "(") || !f.hasComma(open) {
		return
	}
	comma := f.commas(open)[0]
	variable, last := comma+1, comma-2 // the last word before the differential
	if f.isOperator(variable, "{") {
		variable++
	}
	if f.isOperator(last, "*") {
		last--
	}
	if !f.isName(comma-1) || !f.isName(variable) || f.words[comma-1].Name != "d"+f.words[variable].Name || last <= open || !f.endsOperand(last) {
		return
	}
	f.add(comma-1, slip{code: Iterator, start: f.words[last].End, end: f.words[comma-1].End, edits: []edit{{start: f.words[last].End, end: f.words[comma-1].End}},
		why: "The variable after the comma says of what the integral is; dx is a name."})
}

// withoutVariable: integrate(x^2), D[x^2], Plot[Sin[x]].
func (f *finder) withoutVariable(i int) bool {
	open := i + 1
	meant := functionFor(f.words[i].Name)
	if after := commands[meant]; strings.Contains(after, "@") && meant != "Solve" && meant != "NSolve" && f.pair[open] > open+1 && !f.hasComma(open) {
		argument := f.argumentTexts(open)[0]
		if part := differential.FindStringSubmatch(argument); part != nil && meant == "Integrate" { // Integrate[x^2 dx]
			argument, after = part[1], ", "+part[2]
		}
		e, err := expression.Parse(argument)
		if err != nil {
			return false
		}
		if variable := onlyVariable(e); variable != "" || !strings.Contains(after, "@") {
			f.add(i, slip{code: Iterator, start: f.words[i].Start, end: f.words[f.pair[open]].End, why: "The variable stands after the expression.", edits: []edit{{
				start: f.words[i].Start, end: f.words[f.pair[open]].End, text: meant + "[" + argument + strings.ReplaceAll(after, "@", variable) + "]",
			}}})
			return true
		}
	}
	return false
}

// braces: Sort{3,1,2}, Sin{x}, eigenvalues {{2,0},{0,3}}.
func (f *finder) braces(i int) bool {
	meant := functionFor(f.words[i].Name)
	if meant == "" || !f.isOperator(i+1, "{") || f.pair[i+1] < 0 || isWordOperator(f.words[i].Name) {
		return false
	}
	opening, closing := edit{start: f.words[i].Start, end: f.words[i+1].Start, text: meant + "["}, insert(f.words[f.pair[i+1]].End, "]")
	if elementary[meant] && !f.hasComma(i+1) {
		opening.end, closing = f.words[i+1].End, f.replace(f.pair[i+1], "]")
	}
	f.add(i, slip{code: Parentheses, start: f.words[i].Start, end: f.words[f.pair[i+1]].End, why: "A function's arguments stand in square brackets.", edits: []edit{opening, closing}})
	return true
}

// inBrackets tells whether a bracket is open at word i.
func (f *finder) inBrackets(i int) bool {
	for j := range i {
		if f.pair[j] > i {
			return true
		}
	}
	return false
}

var choose = regexp.MustCompile(`^C([0-9]+)$`)

// combinations: 5C2.
func (f *finder) combinations(i int) {
	if !f.isName(i+1) || !f.adjacent(i+1) || f.bound[f.words[i+1].Name] {
		return
	}
	if of := choose.FindStringSubmatch(f.words[i+1].Name); of != nil {
		f.add(i+1, slip{code: OperatorWord, start: f.words[i].Start, end: f.words[i+1].End, why: "Letters beside a number multiply.",
			edits: []edit{{start: f.words[i].Start, end: f.words[i+1].End, text: "Binomial[" + f.source(i, i) + ", " + of[1] + "]"}}})
	}
}

// quarters are the angles that people give in degrees.
var quarters = wordSet(`30 45 60 90 120 135 150 180 225 240 270 300 315 330 360`)

var circular = wordSet(`Sin Cos Tan Cot Sec Csc`)

// otherOperator looks at the slips around an operator that stand for themselves.
func (f *finder) otherOperator(i int) {
	replace := func(code Code, text, why string) {
		f.add(i, slip{code: code, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, text)}, why: why})
	}
	isString := func(j int) bool { return f.isAtom(j) && f.text[f.words[j].Start] == '"' }
	spelt := f.source(i, i)
	switch {
	case spelt == "−" && f.isOperator(i-1, "-"):
		replace(Character, " -", "The minus sign of the keyboard is read everywhere.")
	case spelt == "−":
		replace(Character, "-", "The minus sign of the keyboard is read everywhere.")
	case f.isOperator(i, "++", "--") && f.isNumber(i-1) && f.operandEnd(i+1) >= 0:
		replace(OperatorWord, spelt[:1]+" "+spelt[:1], "++ and -- change a variable.")
	case f.isOperator(i, "_") && f.isName(i-1) && f.isNumber(i+1) && f.adjacent(i) && f.adjacent(i+1):
		f.subscript(i)
	case f.isOperator(i, "_") && f.isName(i-1) && f.isName(i+1) && f.adjacent(i) && f.adjacent(i+1) && len(f.words[i-1].Name) > 1 && f.isOperator(i+2, "=") && f.begins(i-1):
		f.snakeCase(i)
	case f.isOperator(i, "=", ":=") && f.isOperator(i-1, "]") && f.pair[i-1] > 0:
		f.withoutBlank(i)
	case f.isOperator(i, "=") && f.isName(i-1) && f.isName(i-2) && (f.words[i-2].Name == "at" || f.words[i-2].Name == "where" || f.words[i-2].Name == "for") && f.endsOperand(i-3):
		f.add(i-2, slip{code: Command, start: f.words[i-2].Start, end: f.words[i].End, why: "A value is put in place of a variable with /. and ->.",
			edits: []edit{{start: f.words[i-2].Start, end: f.words[i].End, text: "/. " + f.words[i-1].Name + " ->"}}})
	case f.isOperator(i, "//") && f.isName(i+1) && f.appliedName(i+1), f.isOperator(i, "@", "/@", "@@") && f.isName(i-1) && f.appliedName(i-1):
	case f.isOperator(i, "'") && f.isOperator(i-1, ")") && f.pair[i-1] >= 0 && !f.isOperator(i+1, "[", "(") && !f.endsOperand(f.pair[i-1]-1):
		group := f.source(f.pair[i-1]+1, i-2)
		if e, err := expression.Parse(group); err == nil && onlyVariable(e) != "" {
			start := f.words[f.pair[i-1]].Start
			f.add(i, slip{code: Command, start: start, end: f.words[i].End, why: "' is the derivative of a function.",
				edits: []edit{{start: start, end: f.words[i].End, text: "D[" + mend(group, Find(group)) + ", " + onlyVariable(e) + "]"}}})
		}
	case f.isOperator(i, "[") && f.isName(i-1) && f.isNumber(i+1) && f.pair[i] == i+2 && f.isList(f.words[i-1].Name, i-1):
		f.add(i, slip{code: Position, start: f.words[i-1].Start, end: f.words[i+2].End, edits: []edit{insert(f.words[i].End, "["), insert(f.words[i+2].Start, "]")},
			why: "Parts of a list stand in double brackets."})
	case f.isOperator(i, "[") && f.isName(i-1) && f.isOperator(i+1, "[") && f.pair[i] > i+3 && f.pair[i+1] > 0 && f.isOperator(f.pair[i+1]+1, ",") && f.allLists(i):
		f.add(i, slip{code: List, start: f.words[i-1].Start, end: f.words[f.pair[i]].End, why: "Lists stand in braces.", edits: []edit{
			insert(f.words[i].End, "{"), f.replace(i+1, "{"), f.replace(f.pair[i+1], "}"), insert(f.words[f.pair[i]].Start, "}"),
		}})
	case spelt == "·":
		replace(Character, "*", "The dot is not multiplication here.")
	case f.isOperator(i, "<>") && (f.isNumber(i-1) || f.isNumber(i+1)):
		replace(OperatorWord, "!=", "<> joins strings.")
	case f.isOperator(i, "+") && isString(i-1) && isString(i+1):
		replace(OperatorWord, "<>", "Strings are joined with <>.")
	case f.isOperator(i, "//") && f.isNumber(i-1) && f.isNumber(i+1):
		f.functionBetween(i, "Quotient", "// applies a function.")
	case f.isOperator(i, "/.") && f.isName(i+1) && f.isOperator(i+2, "=") && f.operandEnd(i+3) >= 0:
		f.add(i, slip{code: Equation, start: f.words[i].Start, end: f.words[i+2].End, edits: []edit{f.replace(i+2, "->")}, why: "A replacement is written x -> a."})
	case f.isOperator(i, "[") && f.isName(i-1) && f.isNumber(i+1) && f.pair[i] == i+2 && circular[f.words[i-1].Name] && quarters[f.source(i+1, i+1)]:
		f.add(i, slip{code: Degrees, start: f.words[i-1].Start, end: f.words[i+2].End, edits: []edit{insert(f.words[i+1].End, " Degree")}, why: "Angles are in radians."})
	case f.isOperator(i, "[") && f.isOperator(i-1, "[") && f.isNumber(i+1) && f.source(i+1, i+1) == "0" && f.pair[i] == i+2 && f.endsOperand(i-2):
		f.add(i, slip{code: Position, start: f.words[i+1].Start, end: f.words[i+1].End, edits: []edit{f.replace(i+1, "1")}, why: "Positions are counted from 1; [[0]] is the head."})
	case f.isOperator(i, "[") && f.isOperator(i-1, "}") && f.isNumber(i+1) && f.pair[i] == i+2:
		f.add(i, slip{code: Position, start: f.words[i].Start, end: f.words[i+2].End, edits: []edit{insert(f.words[i].End, "["), insert(f.words[i+2].Start, "]")},
			why: "Parts of a list stand in double brackets."})
	case f.isOperator(i, "*") && f.isMatrixEnd(i-1) && f.isOperator(i+1, "{") && f.isOperator(i+2, "{"):
		replace(Matrix, ".", "* multiplies element by element.")
	case f.isOperator(i, "^") && f.isMatrixEnd(i-1):
		f.matrixPower(i)
	case f.isOperator(i, "'") && !f.endsOperand(i-1):
		f.quotes(i)
	case f.isOperator(i, "[") && f.isName(i-1) && f.words[i-1].Name == "N" && f.pair[i] > i+2 && !f.hasComma(i):
		last := f.pair[i] - 1
		if f.isNumber(last) && !f.adjacent(last) && f.endsOperand(last-1) {
			f.add(i, slip{code: Iterator, start: f.words[i].Start, end: f.words[f.pair[i]].End, why: "Arguments are parted by commas.",
				edits: []edit{insert(f.words[last-1].End, ",")}})
		}
	}
}

// subscript: x_1, log_2(8). The word before the blank is the name.
func (f *finder) subscript(i int) {
	open := i + 2
	if functionFor(f.words[i-1].Name) == "Log" && f.isOperator(open, "(") && f.pair[open] > 0 {
		f.add(i-1, slip{code: Parentheses, start: f.words[i-1].Start, end: f.words[f.pair[open]].End, why: "The base of a logarithm is its first argument.", edits: []edit{
			{start: f.words[i-1].Start, end: f.words[open].End, text: "Log[" + f.source(i+1, i+1) + ", "}, f.replace(f.pair[open], "]"),
		}})
		return
	}
	f.add(i, slip{code: Name, start: f.words[i-1].Start, end: f.words[i+1].End, why: "x_ is a pattern; an index is part of the name.",
		edits: []edit{f.replace(i, "")}})
}

// begins tells whether a statement begins with word i.
func (f *finder) begins(i int) bool { return i == 0 || f.isOperator(i-1, ";") }

// snakeCase: my_var = 3; my_var + 1. The word i is the first blank; every place of the name in the text is mended.
func (f *finder) snakeCase(i int) {
	head, tail := f.words[i-1].Name, f.words[i+1].Name
	for j := range f.words {
		if f.isOperator(j, "_") && f.isName(j-1) && f.isName(j+1) && f.words[j-1].Name == head && f.words[j+1].Name == tail {
			f.slips = append(f.slips, slip{code: Name, start: f.words[j-1].Start, end: f.words[j+1].End, why: "x_ is a pattern; names have no underscore.",
				edits: []edit{{start: f.words[j].Start, end: f.words[j+1].End, text: strings.ToUpper(tail[:1]) + tail[1:]}}})
		}
	}
}

// withoutBlank: f[x] = x^2, where f[x_] := x^2 was meant. The word i is the equals sign.
func (f *finder) withoutBlank(i int) {
	open := f.pair[i-1]
	name := open - 1
	if !f.isName(name) || known(f.words[name].Name) || name > 0 && !f.isOperator(name-1, ";") || f.isOperator(i+1, "=") {
		return
	}
	for k, w := range f.words { // h[a] = 1; h[a]: the symbol's own value is asked for
		if k > i && w.Name == f.words[name].Name && k+1+i-1-open <= len(f.words) && f.isOperator(k+1, "[") && f.pair[k+1] > 0 && f.source(k, f.pair[k+1]) == f.source(name, i-1) {
			return
		}
	}
	edits, used := []edit{f.replace(i, ":=")}, false
	for j := open + 1; j < i-1; j++ {
		switch {
		case f.isName(j) && !f.bound[f.words[j].Name]:
			edits = append(edits, insert(f.words[j].End, "_"))
			for k := i + 1; k < len(f.words); k++ {
				used = used || f.words[k].Name == f.words[j].Name
			}
		case !f.isOperator(j, ","):
			return
		}
	}
	if used {
		f.add(name, slip{code: Definition, start: f.words[name].Start, end: f.words[i].End, edits: edits, why: "Without _ the definition holds for the symbol itself only."})
	}
}

// appliedName: x // factor, sin /@ list.
func (f *finder) appliedName(i int) bool {
	name := f.words[i].Name
	meant := functionFor(name)
	if meant == "" || meant == name || f.bound[name] || f.isOperator(i+1, "[") {
		return false
	}
	f.add(i, slip{code: Name, start: f.words[i].Start, end: f.words[i].End, edits: []edit{f.replace(i, meant)}, why: whyCapital})
	return true
}

// isList tells whether the text gives a list to a name before word i.
func (f *finder) isList(name string, i int) bool {
	for j := range i {
		if f.words[j].Name == name && f.isOperator(j+1, "=") && f.isOperator(j+2, "{") {
			return true
		}
	}
	return false
}

// allLists tells whether every argument in the bracket at word i begins with a bracket.
func (f *finder) allLists(i int) bool {
	for _, comma := range f.commas(i) {
		if !f.isOperator(comma+1, "[") {
			return false
		}
	}
	return true
}

// isMatrixEnd tells whether word i closes a list of lists.
func (f *finder) isMatrixEnd(i int) bool {
	return f.isOperator(i, "}") && f.isOperator(i-1, "}") && f.pair[i] >= 0 && f.isOperator(f.pair[i]+1, "{")
}

// matrixPower: {{1,2},{3,4}}^-1.
func (f *finder) matrixPower(i int) {
	last := i + 1
	if f.isOperator(last, "-") {
		last++
	}
	if !f.isNumber(last) {
		return
	}
	matrix, exponent := f.source(f.pair[i-1], i-1), f.source(i+1, last)
	replacement := "MatrixPower[" + matrix + ", " + exponent + "]"
	if exponent == "-1" {
		replacement = "Inverse[" + matrix + "]"
	}
	start := f.words[f.pair[i-1]].Start
	f.add(i, slip{code: Matrix, start: start, end: f.words[last].End, why: "^ takes the power of each element.", edits: []edit{{start: start, end: f.words[last].End, text: replacement}}})
}

// quotes: 'abc'.
func (f *finder) quotes(i int) {
	for j := i + 1; j < len(f.words); j++ {
		if f.isOperator(j, "'") {
			f.add(i, slip{code: Quotes, start: f.words[i].Start, end: f.words[j].End, why: "Strings stand between straight quotation marks.",
				edits: []edit{f.replace(i, `"`), f.replace(j, `"`)}})
			return
		}
	}
}

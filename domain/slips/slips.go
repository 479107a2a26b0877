package slips

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"reckon/domain/expression"
)

// Code tells the kinds of slip apart.
type Code string

// The kinds of slip.
const (
	Parentheses  Code = "parentheses"   // sin(x), Sqrt(16): a product where a call was meant
	NoBrackets   Code = "no_brackets"   // sin x
	Name         Code = "name"          // integrate[x,x], Simplfy[x]
	Constant     Code = "constant"      // pi, e^2, inf, 2i
	Equation     Code = "equation"      // 2x+3=7 where == was meant
	Definition   Code = "definition"    // f(x)=x^2
	OperatorWord Code = "operator_word" // 17 mod 5, a and b
	PowerSign    Code = "power_sign"    // x**2, x²
	List         Code = "list"          // [1,2,3]
	Bars         Code = "bars"          // |x|
	Percent      Code = "percent"       // 5%
	Number       Code = "number"        // 1e10, 0x1F
	Quotes       Code = "quotes"        // typographic or single quotation marks
	Character    Code = "character"     // characters of typesetting: ½, · and the long minus sign
	Iterator     Code = "iterator"      // Sum[n, n, 1, 9], Limit[f, x, 0]
	Command      Code = "command"       // factor x^2-1, d/dx x^2
	Matrix       Code = "matrix"        // * and ^ between matrices
	Position     Code = "position"      // {1,2}[[0]], {1,2}[1]
	Degrees      Code = "degrees"       // Sin[30]
	Prompt       Code = "prompt"        // In[1]:= 2+2, 1+1=
	TeX          Code = "tex"           // \frac{1}{2}, x^{2}
)

// Codes are all kinds of slip.
var Codes = []Code{Parentheses, NoBrackets, Name, Constant, Equation, Definition, OperatorWord, PowerSign, List, Bars, Percent, Number, Quotes, Character, Iterator, Command, Matrix,
	Position, Degrees, Prompt, TeX}

// Bounds of what is looked at and answered.
const (
	MaxBytes       = 64 << 10 // of a text; a longer one is not looked at
	MaxSuggestions = 20
)

// Suggestion is a probable correction of a part of a text.
type Suggestion struct {
	Code        Code
	Message     string // for a person: a question, and the reason for it
	Replacement string // what to write in place of Range
	Range       Range
	// Undefined are the names that must have no value for this to be a slip: a session may have defined them.
	Undefined []string
}

// Range is a part of a text, in characters (Unicode code points) from the text's beginning.
type Range struct {
	Start int // of the first character, from 0
	End   int // after the last character
}

// Standing are the suggestions that hold although the text was evaluated where names may have had values: those whose names
// stand in the answer, and those that rest on none.
func Standing(found []Suggestion, answer string) []Suggestion {
	words, _ := expression.Tokens(answer)
	var standing []Suggestion
	for _, s := range found {
		if !slices.ContainsFunc(s.Undefined, func(name string) bool {
			return !slices.ContainsFunc(words, func(w expression.Token) bool { return w.Name == name })
		}) {
			standing = append(standing, s)
		}
	}
	return standing
}

// Find answers the slips of a text in the order of their beginnings. Nested slips are one: its replacement mends all of them. It answers
// none where the text with all of them mended cannot be read.
func Find(text string) []Suggestion {
	if len(text) > MaxBytes {
		return nil
	}
	found := find(text)
	if len(found) == 0 || len(found) == MaxSuggestions {
		return found
	}
	if _, err := expression.ParseAll(mend(text, found)); err != nil {
		return nil
	}
	return found
}

func find(text string) []Suggestion {
	if program.MatchString(text) {
		return nil
	}
	if found := prompt(text); found != nil {
		return found
	}
	if found := tex(text); found != nil {
		return found
	}
	if found := comments(text); found != nil {
		return found
	}
	words, err := expression.Tokens(text)
	f := &finder{text: text, words: words}
	if err != nil {
		f.characters()
		return f.suggestions()
	}
	f.matchBrackets()
	f.findBound()
	if f.wholeText(); len(f.slips) > 0 {
		return f.suggestions()
	}
	f.equations()
	for i, w := range words {
		switch {
		case w.Name != "":
			f.iterator(i)
			f.differentialAndVariable(i)
			f.limitPoint(i)
			f.withoutEnd(i)
			f.name(i)
		case f.matrixRows(i):
		case w.Operator != "":
			f.operator(i)
			f.otherOperator(i)
			f.foreign(i)
			f.dictionary(i)
		default:
			f.atom(i)
		}
	}
	return f.suggestions()
}

// edit is a change of the text between two byte offsets.
type edit struct {
	start, end int
	text       string
}

// slip is a part of the text, the changes that mend it, and why.
type slip struct {
	code       Code
	start, end int // byte offsets of what the suggestion is about
	edits      []edit
	why        string
	undefined  []string // names that must have no value
}

// finder looks for the slips of one text.
type finder struct {
	text  string
	words []expression.Token
	pair  []int           // of each bracket: the index of its other half; -1: none, or no bracket
	bound map[string]bool // names that the text defines or uses as variables
	// functions are those of the names that the text defines with arguments, f(x_) := … included.
	functions map[string]bool
	slips     []slip
}

// add keeps a slip that begins with word i. A name there that no engine knows must have no value.
func (f *finder) add(i int, s slip) {
	if name := f.words[i].Name; name != "" && !known(name) {
		s.undefined = []string{name}
	}
	f.slips = append(f.slips, s)
}

// source is the text of the words from i to j, both included.
func (f *finder) source(i, j int) string { return f.text[f.words[i].Start:f.words[j].End] }

func (f *finder) isOperator(i int, spellings ...string) bool {
	return i >= 0 && i < len(f.words) && f.words[i].Operator != "" && slices.Contains(spellings, f.words[i].Operator)
}

func (f *finder) isName(i int) bool { return i >= 0 && i < len(f.words) && f.words[i].Name != "" }

// isAtom tells whether a word is a number, a string, a slot or an Out.
func (f *finder) isAtom(i int) bool {
	return i >= 0 && i < len(f.words) && f.words[i].Name == "" && f.words[i].Operator == ""
}

// isNumber tells whether a word is a number.
func (f *finder) isNumber(i int) bool {
	return f.isAtom(i) && strings.IndexByte("0123456789.", f.text[f.words[i].Start]) >= 0
}

// adjacent tells whether a word follows the one before without anything between them.
func (f *finder) adjacent(i int) bool { return i > 0 && i < len(f.words) && !f.words[i].SpaceAway }

// replace is the edit that writes text in place of word i.
func (f *finder) replace(i int, text string) edit {
	return edit{start: f.words[i].Start, end: f.words[i].End, text: text}
}

func insert(at int, text string) edit { return edit{start: at, end: at, text: text} }

var closing = map[string]string{"(": ")", "[": "]", "{": "}", "<|": "|>"}

// matchBrackets finds each bracket's other half.
func (f *finder) matchBrackets() {
	f.pair = make([]int, len(f.words))
	var open []int
	for i, w := range f.words {
		f.pair[i] = -1
		if closing[w.Operator] != "" {
			open = append(open, i)
			continue
		}
		if last := len(open) - 1; last >= 0 && w.Operator != "" && closing[f.words[open[last]].Operator] == w.Operator {
			f.pair[i], f.pair[open[last]] = open[last], i
			open = open[:last]
		}
	}
}

// scopes are the functions whose first argument lists local variables.
var scopes = map[string]bool{"Module": true, "Block": true, "With": true, "Function": true, "DynamicModule": true}

var assignments = []string{"=", ":=", "^=", "^:=", "+=", "-=", "*=", "/=", "//=", "=.", "|->", "++", "--", "_", "__", "___", "_.", ":", "->", ":>"}

// findBound collects the names that the text defines (f[x_]:=…, a=1), takes as variables (x_, {i,1,9}, Solve[…, e]) or makes local.
func (f *finder) findBound() {
	f.bound, f.functions = map[string]bool{}, map[string]bool{}
	for i, w := range f.words {
		if w.Name == "" {
			continue
		}
		if f.isOperator(i+1, "[", "(") && f.adjacent(i+1) && f.pair[i+1] > 0 && f.isOperator(f.pair[i+1]+1, "=", ":=") {
			f.functions[w.Name] = true
		}
		after := i + 1
		if f.isOperator(after, "[") && f.pair[after] > 0 {
			after = f.pair[after] + 1
			if f.isOperator(after, "=", ":=", "^=", "^:=", "/;") {
				f.bound[w.Name] = true
			}
			if scopes[w.Name] {
				f.bindLocals(i + 2)
			}
			continue
		}
		switch {
		case f.isOperator(after, assignments...),
			f.isOperator(i-1, "{") && f.isOperator(after, ","),
			f.isOperator(i-1, ",") && f.isOperator(after, ",", "]") && f.insideCall(i):
			f.bound[w.Name] = true
		}
	}
}

// bindLocals binds the names of a scope's first argument, which begins at word i.
func (f *finder) bindLocals(i int) {
	if f.isName(i) {
		f.bound[f.words[i].Name] = true
	}
	if !f.isOperator(i, "{") || f.pair[i] < 0 {
		return
	}
	for j := i + 1; j < f.pair[i]; j++ {
		if f.isName(j) && f.isOperator(j-1, "{", ",") {
			f.bound[f.words[j].Name] = true
		}
	}
}

// insideCall tells whether the innermost bracket around word i is [.
func (f *finder) insideCall(i int) bool {
	for j := i - 1; j >= 0; j-- {
		switch {
		case f.pair[j] >= 0 && f.pair[j] < j:
			j = f.pair[j]
		case f.pair[j] > i:
			return f.isOperator(j, "[")
		}
	}
	return false
}

// suggestions makes one suggestion of all slips that overlap.
func (f *finder) suggestions() []Suggestion {
	slices.SortStableFunc(f.slips, func(a, b slip) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	var merged []slip
	for _, s := range f.slips {
		if last := len(merged) - 1; last >= 0 && s.start < merged[last].end {
			merged[last].end = max(merged[last].end, s.end)
			merged[last].edits = append(merged[last].edits, s.edits...)
			merged[last].undefined = append(merged[last].undefined, s.undefined...)
			continue
		}
		merged = append(merged, s)
	}
	var all []Suggestion
	for _, s := range merged {
		if len(all) == MaxSuggestions {
			break
		}
		replacement := f.edited(s)
		all = append(all, Suggestion{
			Code: s.code, Replacement: replacement, Undefined: s.undefined, Message: fmt.Sprintf("did you mean %s? %s", replacement, s.why),
			Range: Range{Start: utf8.RuneCountInString(f.text[:s.start]), End: utf8.RuneCountInString(f.text[:s.end])},
		})
	}
	return all
}

// edited is the text of a slip with its edits. An edit inside another one is dropped.
func (f *finder) edited(s slip) string {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	var b strings.Builder
	at := s.start
	for _, e := range s.edits {
		if e.start < at {
			continue
		}
		b.WriteString(f.text[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(f.text[at:s.end])
	return b.String()
}

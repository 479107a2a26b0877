package mathml

import (
	"regexp"
	"strings"
	"unicode"

	"reckon/domain/expression"
)

// Bounds on what is written as a formula. What exceeds one is left to its input form.
const (
	MaxTextBytes = 16 << 10 // of the text that is read
	MaxNodes     = 2000     // atoms and calls of the expression
	MaxLevels    = 60       // of the expression
)

// Of is the formula of a text of the language; false: the text is no expression, exceeds a bound, or is an atom that a formula shows no
// better than the text does.
func Of(text string) (string, bool) {
	if len(text) > MaxTextBytes {
		return "", false
	}
	e, err := expression.Parse(text)
	if err != nil || !worth(e) {
		return "", false
	}
	return Write(e)
}

// worth tells whether a formula shows more than the text: no number, text or name does.
func worth(e *expression.Expr) bool {
	switch e.Kind {
	case expression.Call:
		return true
	case expression.Symbol:
		_, known := constants[e.Text]
		return known
	case expression.Real:
		return strings.Contains(e.Text, "^")
	}
	return false
}

// Write is the formula of an expression, a math element; false: it exceeds a bound.
func Write(e *expression.Expr) (string, bool) {
	nodes := 0
	if !within(e, MaxLevels, &nodes) {
		return "", false
	}
	return `<math display="block">` + display(e).markup + `</math>`, true
}

// within counts nodes and levels.
func within(e *expression.Expr, levels int, nodes *int) bool {
	if *nodes++; levels == 0 || *nodes > MaxNodes {
		return false
	}
	if e.Kind != expression.Call {
		return true
	}
	if !within(e.Head, levels-1, nodes) {
		return false
	}
	for _, arg := range e.Args {
		if !within(arg, levels-1, nodes) {
			return false
		}
	}
	return true
}

// The bindings of what is written, from the loosest. A part that binds looser than its place asks for stands in parentheses.
const (
	anything = iota
	bindsRule
	bindsIf // ConditionalExpression
	bindsOr
	bindsAnd
	bindsNot
	bindsComparison
	bindsUnion
	bindsIntersection
	bindsSum
	bindsDot           // products that are not written side by side
	bindsLargeOperator // ∫, ∑, lim: they take a product with them
	bindsProduct
	bindsPostfix // n!
	bindsPower
	bindsAtom
)

// box is a part of a formula.
type box struct {
	markup  string
	binds   int
	digit   bool // begins with a digit, so that a number in front of it needs a sign between them
	bracket bool // begins with a bracket, so that what a name in front of it is applied to would be seen in it
	word    bool // begins or ends with a name of several letters, which side by side with a factor would read as a function of it
}

// in is the markup of a box at a place that asks for a binding.
func (b box) in(binding int) string { return b.at(binding).markup }

// at is the box as it stands at a place that asks for a binding.
func (b box) at(binding int) box {
	if b.binds >= binding {
		return b
	}
	return box{markup: parenthesized(b.markup), binds: bindsAtom, bracket: true}
}

func parenthesized(markup string) string { return fenced("(", markup, ")") }

// taller are the beginnings of elements that are higher than a line.
var taller = regexp.MustCompile("<(?:mfrac|mtable|munder|mover|mroot|mo[^>]*>[∫∑∏])")

// fenced is markup between brackets, which grow with what is higher than a line: those that may grow are drawn wide by some fonts.
func fenced(opening, markup, closing string) string {
	bracket := operator
	if !taller.MatchString(markup) {
		bracket = func(sign string) string { return `<mo stretchy="false">` + escape(sign) + `</mo>` }
	}
	return row(bracket(opening), markup, bracket(closing))
}

func row(parts ...string) string { return "<mrow>" + strings.Join(parts, "") + "</mrow>" }

func element(name string, parts ...string) string {
	return "<" + name + ">" + strings.Join(parts, "") + "</" + name + ">"
}

func operator(sign string) string { return element("mo", escape(sign)) }

// Characters that are not seen and say how their neighbours belong together.
const (
	applied    = "\u2061" // a function to what follows
	multiplied = "\u2062"
)

// Operators whose spaces are given, because fonts and browsers differ in those that cannot be seen.
const (
	timesUnseen = `<mo lspace="0.08em" rspace="0.08em">` + multiplied + `</mo>`
	applyUnseen = `<mo lspace="0" rspace="0">` + applied + `</mo>`
	commaSign   = `<mo separator="true" lspace="0" rspace="0.2em">,</mo>`
)

// escape is text as it stands in markup. A character that is not seen, or that turns others round, stands as its code point.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&#34;")
		case unseen(r):
			b.WriteString("U+" + hexadecimal(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hexadecimal(r rune) string {
	const digits = "0123456789ABCDEF"
	var text string
	for ; r > 0 || len(text) < 4; r >>= 4 {
		text = digits[r&15:r&15+1] + text
	}
	return text
}

// unseen tells whether a character has no shape of its own. The space has none and is as it is.
func unseen(r rune) bool {
	return r != ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// verbatim is an expression as in its input form.
func verbatim(e *expression.Expr) box {
	return box{markup: element("mtext", strings.ReplaceAll(escape(e.Source()), " ", "\u00a0")), binds: anything}
}

// list is expressions between brackets.
func list(opening string, args []*expression.Expr, closing string) string {
	var parts []string
	for i, arg := range args {
		if i > 0 {
			parts = append(parts, commaSign)
		}
		parts = append(parts, display(arg).markup)
	}
	return fenced(opening, strings.Join(parts, ""), closing)
}

// display is an expression as it stands by itself.
func display(e *expression.Expr) box {
	switch e.Kind {
	case expression.Integer, expression.Real:
		return number(e.Text)
	case expression.String:
		return box{markup: element("mtext", strings.ReplaceAll(escape(e.FullForm()), " ", "\u00a0")), binds: bindsAtom}
	case expression.Symbol:
		return symbol(e.Text)
	}
	if e.Head.Kind == expression.Symbol {
		if write := notationOf(e.Head.Text); write != nil {
			if b, ok := write(e); ok {
				return b
			}
		}
		if sourceOnly[e.Head.Text] {
			return verbatim(e)
		}
	}
	return call(e)
}

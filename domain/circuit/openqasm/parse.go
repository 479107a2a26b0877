package openqasm

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of the syntax tree. No caller can raise them.
const (
	maxNesting = 100     // parentheses, signs, blocks
	maxNodes   = 500_000 // statements and expressions of a program
	maxList    = 10_000  // operands, indexes, parameters, operators of one expression
)

// parser is a recursive-descent parser with two tokens of lookahead. It follows the grammar of the specification.
type parser struct {
	lexer   lexer
	ahead   [2]token
	version int  // 2 or 3
	library bool // the text is librarySource
	depth   int
	nodes   int
	chain   int // operators of the statement so far

	hardware map[string]int // where each physical qubit is named first
	pragmas  []at           // where those that are ignored stand
	timings  []at           // the same of durations
}

func newParser(source string) *parser {
	p := &parser{lexer: lexer{text: source}, version: 3, hardware: map[string]int{}}
	p.ahead[0] = p.lexer.next()
	p.ahead[1] = p.lexer.next()
	return p
}

func (p *parser) peek() token { return p.ahead[0] }

func (p *parser) next() token {
	t := p.ahead[0]
	p.ahead[0] = p.ahead[1]
	if p.ahead[1].kind != tokenEnd {
		p.ahead[1] = p.lexer.next()
	}
	return t
}

// is reports whether the next token is a symbol or word.
func (p *parser) is(text string) bool { return p.ahead[0].isText(text) }

func (t token) isText(text string) bool {
	return (t.kind == tokenSymbol || t.kind == tokenName) && t.text == text
}

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) token {
	if !p.is(text) {
		p.unexpected(`"` + text + `"`)
	}
	return p.next()
}

func (p *parser) unexpected(wanted string) {
	fail(CodeMalformed, p.peek().at, "expected %s, found %s", wanted, p.peek().describe())
}

// node counts a node of the tree and gives its place.
func (p *parser) node(offset int) at {
	if p.nodes++; p.nodes > maxNodes {
		fail(CodeTooLarge, offset, "the program has more than %d statements and expressions", maxNodes)
	}
	return at(offset)
}

// nested runs a rule one level deeper.
func (p *parser) nested(rule func()) {
	if p.depth++; p.depth > maxNesting {
		fail(CodeMalformed, p.peek().at, "nested deeper than %d", maxNesting)
	}
	rule()
	p.depth--
}

func (p *parser) program() []statement {
	if p.is("OPENQASM") {
		p.versionLine()
	}
	var list []statement
	for p.peek().kind != tokenEnd {
		list = p.appendStatement(list)
	}
	return list
}

// warnings says what was ignored.
func (p *parser) warnings() (list []string) {
	if n := len(p.pragmas); n > 0 {
		list = append(list, fmt.Sprintf("pragmas are ignored: there are %d, the first in line %d", n, p.line(p.pragmas[0])))
	}
	if n := len(p.timings); n > 0 {
		list = append(list, fmt.Sprintf("durations are ignored, a simulated circuit takes no time: there are %d, the first in line %d", n, p.line(p.timings[0])))
	}
	return list
}

// line counts from 1.
func (p *parser) line(place at) int { return 1 + strings.Count(p.lexer.text[:place], "\n") }

func (p *parser) versionLine() {
	p.next()
	v := p.next()
	switch {
	case v.kind != tokenInteger && v.kind != tokenFloat:
		fail(CodeMalformed, v.at, "expected a version such as 3.0, found %s", v.describe())
	case v.text == "2.0" || v.text == "2":
		p.version = 2
	case v.text != "3" && v.text != "3.0" && v.text != "3.1":
		fail(CodeUnsupported, v.at, "OpenQASM version %s is not supported; 2.0, 3.0 and 3.1 are", clip(v.text))
	}
	p.expect(";")
}

// unsupported says why a statement of the language is refused. Naming it beats "unknown gate".
var unsupported = map[string]string{
	"defcal": "calibrations (defcal) are not supported: leave them out, a gate is its matrix", "cal": "calibrations (cal) are not supported: leave them out, a gate is its matrix",
	"defcalgrammar": "calibrations (defcalgrammar) are not supported: leave them out, a gate is its matrix",
	"complex":       "complex values are not supported; keep the real and the imaginary part in two floats",
}

// words that OpenQASM 3 reserves besides those of unsupported.
var reserved = strings.Fields(`OPENQASM include gate box let break continue if else end for while in switch case default
	nop const qreg qubit creg bool bit int uint float angle void gphase inv pow ctrl negctrl delay reset measure barrier
	true false pragma output def extern return input array duration stretch durationof readonly mutable`)

var reserved2 = strings.Fields("OPENQASM include qreg creg gate opaque barrier measure reset if U CX pi sin cos tan exp ln sqrt")

func (p *parser) isReserved(word string) bool {
	if p.version == 2 {
		return slices.Contains(reserved2, word)
	}
	return isReserved3(word)
}

func isReserved3(word string) bool {
	return unsupported[word] != "" || slices.Contains(reserved, word)
}

// declaredName reads a name that a declaration introduces.
func (p *parser) declaredName() token {
	t := p.peek()
	if t.kind != tokenName {
		p.unexpected("a name")
	}
	if p.isReserved(t.text) {
		fail(CodeMalformed, t.at, "%s is a word of the language; choose another name", t.text)
	}
	return p.next()
}

// appendStatement reads a statement or a block and appends it; an empty statement adds nothing.
func (p *parser) appendStatement(list []statement) []statement {
	p.chain = 0
	switch t := p.peek(); {
	case p.accept(";"):
		return list
	case t.kind == tokenPragma:
		p.pragmas = append(p.pragmas, p.node(p.next().at))
		return list
	case p.is("@") && p.ahead[1].kind == tokenName: // an annotation; the specification lets readers ignore it
		line := strings.IndexByte(p.lexer.text[t.at:], '\n')
		if line < 0 {
			line = len(p.lexer.text) - t.at
		}
		p.lexer.at = t.at + line
		p.ahead[0], p.ahead[1] = p.lexer.next(), token{}
		p.ahead[1] = p.lexer.next()
		return list
	case p.is("{"):
		return append(list, &block{at: p.node(t.at), body: p.body()})
	case t.kind == tokenEnd:
		p.unexpected("a statement")
	}
	return append(list, p.statement())
}

// body reads "{ … }" or a single statement.
func (p *parser) body() (list []statement) {
	list = []statement{} // not nil: an empty body is a body
	p.nested(func() {
		if !p.accept("{") {
			if p.accept(";") {
				return
			}
			for len(list) == 0 { // annotations before the statement add nothing
				list = p.appendStatement(list)
			}
			return
		}
		for !p.accept("}") {
			if p.peek().kind == tokenEnd {
				p.unexpected(`"}"`)
			}
			list = p.appendStatement(list)
		}
	})
	return list
}

// statement reads one statement that starts with a word or an operand.
func (p *parser) statement() statement {
	t := p.peek()
	if t.kind == tokenHardware {
		fail(CodeMalformed, t.at, "a statement cannot start with a qubit")
	}
	if t.kind != tokenName {
		fail(CodeMalformed, t.at, "a statement cannot start with %s", t.describe())
	}
	switch t.text {
	case "OPENQASM":
		fail(CodeMalformed, t.at, "the version line comes first and once")
	case "include":
		return p.include()
	case "qreg", "creg":
		return p.oldDeclaration()
	case "gate":
		return p.gateDefinition()
	case "measure":
		return p.measureArrow()
	case "reset", "barrier":
		return p.directive()
	case "if":
		return p.choice()
	}
	if p.version == 2 {
		if t.text == "opaque" {
			return p.opaque()
		}
		return p.gateCall()
	}
	return p.statement3(t)
}

// statement3 reads the statements that only version 3 has.
func (p *parser) statement3(t token) statement {
	switch t.text {
	case "qubit", "bit", "bool", "int", "uint", "float", "angle", "array", "duration", "stretch":
		return p.declaration(false)
	case "def":
		return p.subroutine()
	case "extern":
		p.extern()
	case "return":
		return p.returned()
	case "input":
		return p.input()
	case "output":
		return p.output()
	case "const":
		p.next()
		return p.declaration(true)
	case "let":
		return p.alias()
	case "delay", "nop":
		return p.directive()
	case "for":
		return p.forLoop()
	case "while":
		return p.whileLoop()
	case "switch":
		return p.selection()
	case "break", "continue", "end":
		p.next()
		p.expect(";")
		return &jump{at: p.node(t.at), word: t.text}
	case "box":
		p.next()
		b := &block{at: p.node(t.at)}
		if p.is("[") {
			b.length = p.duration()
		}
		if !p.is("{") {
			p.unexpected(`"{"`)
		}
		b.body = p.body()
		return b
	case "ctrl", "negctrl", "inv", "pow", "gphase":
		return p.gateCall()
	}
	if why, ok := unsupported[t.text]; ok {
		fail(CodeUnsupported, t.at, "%s", why)
	}
	if slices.Contains(reserved, t.text) {
		fail(CodeMalformed, t.at, "a statement cannot start with %s", t.text)
	}
	if p.ahead[1].kind == tokenSymbol && (p.ahead[1].text == "[" || isAssignment(p.ahead[1].text)) {
		return p.assignment()
	}
	return p.gateCall()
}

func isAssignment(symbol string) bool {
	switch symbol {
	case "==", "!=", "<=", ">=":
		return false
	}
	return strings.HasSuffix(symbol, "=")
}

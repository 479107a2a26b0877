package expression

import (
	"unicode/utf8"
)

// Bounds on the text that Parse reads. A text beyond one of them is refused at the position where it exceeds the bound.
const (
	MaxBytes  = 1 << 20 // of text
	MaxTokens = 1 << 18 // words of text
	MaxDepth  = 512     // levels of the resulting tree

	// maxRecursion bounds the parser's own stack: a level of the tree may take a bracket, an operator and a sign in the text.
	maxRecursion = 4 * MaxDepth
)

// Parse reads a text that holds exactly one expression. The error is a *SyntaxError.
func Parse(src string) (*Expr, error) {
	all, err := ParseAll(src)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, refuse(ReasonSeveral, all[1].Pos, "a second expression begins here: one is wanted, or ; between them")
	}
	return all[0], nil
}

// ParseAll reads a text of one or more expressions, separated by line ends outside brackets. The error is a *SyntaxError.
func ParseAll(src string) ([]*Expr, error) {
	p, err := newParser(src)
	if err != nil {
		return nil, err
	}
	return p.expressions()
}

// parser is an operator precedence parser: a loop over the operators after an operand, each taking its right side at its
// own precedence (V. R. Pratt, "Top down operator precedence", POPL 1973).
type parser struct {
	lex     lexer
	tok     token // the next token, not yet taken
	depth   int   // of the recursion
	bracket int   // open brackets: inside one, line ends are spaces
	steps   int   // operands and operators handled; in proportion to the tokens, see the linearity test

	explicit *insertions // nil but for Explicit
}

func newParser(src string) (*parser, error) {
	start := Position{Line: 1, Column: 1}
	if len(src) > MaxBytes {
		return nil, refuse(ReasonTooLong, start, "the text has %d bytes: at most %d are read", len(src), MaxBytes)
	}
	if !utf8.ValidString(src) {
		return nil, refuse(ReasonCharacter, start, "the text is not valid UTF-8")
	}
	return &parser{lex: lexer{src: src, at: start}}, nil
}

// expressions reads expressions to the end of the text.
func (p *parser) expressions() ([]*Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var all []*Expr
	for p.tok.kind != tokenEnd {
		one, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		all = append(all, one.e)
		if p.tok.kind != tokenEnd && !p.lineEnded() {
			return nil, p.unexpected()
		}
	}
	if len(all) == 0 {
		return nil, refuse(ReasonEmpty, p.tok.pos, "the text holds no expression")
	}
	return all, nil
}

// chain tells what an operand that was just built may still be extended to. Parentheses end a chain: a+b+c is one sum,
// (a+b)+c a sum in a sum.
type chain uint8

const (
	chainNone    chain = iota
	chainLiteral       // a bare number, which a minus sign in front joins
	chainFlat          // the flat operator of the head
	chainProduct       // Times
	chainSum           // Plus
	chainCompare       // one comparison, or Inequality
)

// operand is a subtree while it is being built. Only the parser holds it, so extending its arguments in place is safe.
type operand struct {
	e      *Expr
	height int // 1 for an atom
	chain  chain
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

// lineEnded reports whether a line end before the next token ends the expression.
func (p *parser) lineEnded() bool { return p.tok.newline && p.bracket == 0 }

func (p *parser) unexpected() error {
	switch p.tok.kind {
	case tokenEnd:
		if p.bracket > 0 {
			return refuse(ReasonUnclosed, p.tok.pos, "the text ends inside a bracket")
		}
		return refuse(ReasonSyntax, p.tok.pos, "the text ends where an operand is wanted")
	case tokenOperator:
		return refuse(ReasonSyntax, p.tok.pos, "%q is not wanted here", p.tok.text)
	}
	return refuse(ReasonSyntax, p.tok.pos, "%s is not wanted here", p.tok.node.FullForm())
}

// expect takes the operator of that spelling.
func (p *parser) expect(spelling string) error {
	if !p.tok.is(spelling) {
		if p.tok.kind == tokenEnd {
			return refuse(ReasonUnclosed, p.tok.pos, "the text ends where %q is wanted", spelling)
		}
		return refuse(ReasonSyntax, p.tok.pos, "%q is wanted here", spelling)
	}
	return p.advance()
}

// headOperand is the head of an operator's call.
func headOperand(pos Position, head string) operand {
	return operand{e: &Expr{Kind: Symbol, Text: head, Pos: pos}, height: 1}
}

// call builds head[args...] at a position and checks its height.
func (p *parser) call(pos Position, head operand, args ...operand) (operand, error) {
	made := operand{e: &Expr{Kind: Call, Head: head.e, Args: make([]*Expr, 0, len(args)), Pos: pos}, height: head.height + 1}
	return p.extend(made, chainNone, args...)
}

// extend adds arguments to a call that was just built, says what chain it is now and checks its height.
func (p *parser) extend(call operand, chain chain, args ...operand) (operand, error) {
	for _, arg := range args {
		call.e.Args = append(call.e.Args, arg.e)
		call.height = max(call.height, arg.height+1)
	}
	call.chain = chain
	if call.height > MaxDepth {
		return call, p.tooDeep()
	}
	return call, nil
}

func (p *parser) tooDeep() error {
	return refuse(ReasonTooDeep, p.tok.pos, "the expression is nested deeper than %d here", MaxDepth)
}

package expression

// expression reads one expression whose operators bind tighter than minPrec.
func (p *parser) expression(minPrec int) (operand, error) {
	if p.depth++; p.depth > maxRecursion {
		return operand{}, p.tooDeep()
	}
	left, err := p.prefix()
	for err == nil {
		op, found := p.nextOperator()
		if !found || p.lineEnded() || p.precedence(op, left) <= minPrec {
			break
		}
		p.steps++
		left, err = p.infix(op, left)
	}
	p.depth--
	return left, err
}

// nextOperator is the operator the next token stands for after an operand; a missing one is a multiplication.
func (p *parser) nextOperator() (infixOperator, bool) {
	if p.tok.kind == tokenOperator {
		if op, ok := infixOperators[p.tok.text]; ok {
			return op, true
		}
	}
	if p.beginsFactor() {
		return infixOperator{precTimes, shapeProduct, "Times"}, true
	}
	return infixOperator{}, false
}

// precedence of an operator after left; the colon has two.
func (p *parser) precedence(op infixOperator, left operand) int {
	if op.shape == shapeColon && left.e.Kind != Symbol {
		return precOptional
	}
	return op.prec
}

// beginsFactor reports whether the next token begins an operand and cannot be an operator after one.
func (p *parser) beginsFactor() bool {
	switch p.tok.kind {
	case tokenAtom, tokenSymbol:
		return true
	case tokenOperator:
		switch p.tok.text {
		case "(", "_", "__", "___", "_.", "<<", "√":
			return true
		}
		_, group := groups[p.tok.text]
		return group
	}
	return false
}

// beginsOperand reports whether the next token begins an operand where one is wanted.
func (p *parser) beginsOperand() bool {
	if p.beginsFactor() {
		return true
	}
	if p.tok.kind != tokenOperator {
		return false
	}
	_, prefix := prefixOperators[p.tok.text]
	return prefix || p.tok.text == "-" || p.tok.text == "+" || p.tok.text == "!!" || p.tok.text == ";;"
}

// prefix reads an operand: an atom, a bracket, a pattern, or an operator in front of an operand.
func (p *parser) prefix() (operand, error) {
	p.steps++
	tok := p.tok
	switch tok.kind {
	case tokenAtom:
		return p.atom()
	case tokenSymbol:
		if err := p.advance(); err != nil {
			return operand{}, err
		}
		if !p.tok.space && p.isBlank() {
			return p.blank(tok.node)
		}
		return operand{e: tok.node, height: 1}, nil
	case tokenEnd:
		return operand{}, p.unexpected()
	}
	if group, ok := groups[tok.text]; ok {
		return p.group(group.head, group.closer)
	}
	if op, ok := prefixOperators[tok.text]; ok {
		return p.prefixOperator(op)
	}
	switch tok.text {
	case "(":
		return p.parenthesis()
	case "_", "__", "___", "_.":
		return p.blank(nil)
	case "-":
		return p.unaryMinus()
	case "+":
		return p.unaryPlus()
	case "!!":
		return p.doubleNot()
	case ";;":
		return p.span(operand{e: &Expr{Kind: Integer, Text: "1", Pos: tok.pos}, height: 1}, tok.pos)
	case "<<":
		return p.getFile()
	}
	return operand{}, p.unexpected()
}

// atom takes a number, string, slot or Out.
func (p *parser) atom() (operand, error) {
	made := operand{e: p.tok.node, height: 1}
	switch made.e.Kind {
	case Integer, Real:
		made.chain = chainLiteral
	case Call:
		made.height = 2
	}
	return made, p.advance()
}

func (p *parser) parenthesis() (operand, error) {
	p.bracket++
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	inner, err := p.expression(0)
	if err != nil {
		return operand{}, err
	}
	p.bracket--
	inner.chain = chainNone
	return inner, p.expect(")")
}

// group reads {...}, <|...|> and the like.
func (p *parser) group(head, closer string) (operand, error) {
	pos := p.tok.pos
	p.bracket++
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	args, err := p.arguments(closer)
	if err != nil {
		return operand{}, err
	}
	p.bracket--
	made, err := p.call(pos, headOperand(pos, head), args...)
	if err != nil {
		return operand{}, err
	}
	return made, p.expect(closer)
}

// arguments reads a comma-separated list up to its closer, which it leaves. An argument left out is Null.
func (p *parser) arguments(closer string) ([]operand, error) {
	if p.tok.is(closer) {
		return nil, nil
	}
	var args []operand
	for {
		var arg operand
		if p.tok.is(",") || p.tok.is(closer) {
			arg = headOperand(p.tok.pos, "Null")
		} else {
			var err error
			if arg, err = p.expression(0); err != nil {
				return nil, err
			}
		}
		args = append(args, arg)
		if !p.tok.is(",") {
			return args, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

// prefixOperator reads an operator that stands in front of its operand.
func (p *parser) prefixOperator(op infixOperator) (operand, error) {
	pos := p.tok.pos
	right, err := p.operandAfter(op.prec)
	if err != nil {
		return operand{}, err
	}
	return p.call(pos, headOperand(pos, op.head), right)
}

// operandAfter takes the operator that is the next token and reads the operand after it.
func (p *parser) operandAfter(minPrec int) (operand, error) {
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	return p.expression(minPrec)
}

// unaryMinus reads -x: a number takes the sign, everything else becomes Times[-1, x].
func (p *parser) unaryMinus() (operand, error) {
	pos := p.tok.pos
	right, err := p.operandAfter(precMinus)
	if err != nil {
		return operand{}, err
	}
	return p.negate(pos, right)
}

// negate gives -x. The sign joins a bare number, and comes first in a product without parentheses.
func (p *parser) negate(pos Position, x operand) (operand, error) {
	switch {
	case x.chain == chainLiteral:
		return operand{e: &Expr{Kind: x.e.Kind, Text: negated(x.e.Text), Pos: pos}, height: 1}, nil
	case x.chain == chainProduct:
		made, err := p.call(pos, headOperand(pos, "Times"), minusOne(pos))
		if err != nil {
			return operand{}, err
		}
		return p.splice(made, x)
	}
	made, err := p.call(pos, headOperand(pos, "Times"), minusOne(pos), x)
	made.chain = chainProduct
	return made, err
}

func minusOne(pos Position) operand {
	return operand{e: &Expr{Kind: Integer, Text: "-1", Pos: pos}, height: 1}
}

// negated is the text of a number literal with a sign; literals have none of their own.
func negated(text string) string {
	if text == "0" {
		return text
	}
	return "-" + text
}

func (p *parser) unaryPlus() (operand, error) {
	pos := p.tok.pos
	right, err := p.operandAfter(precMinus)
	if err != nil {
		return operand{}, err
	}
	made, err := p.call(pos, headOperand(pos, "Plus"), right)
	made.chain = chainSum
	return made, err
}

func (p *parser) doubleNot() (operand, error) {
	pos := p.tok.pos
	right, err := p.operandAfter(precNot)
	if err != nil {
		return operand{}, err
	}
	if right, err = p.call(pos, headOperand(pos, "Not"), right); err != nil {
		return operand{}, err
	}
	return p.call(pos, headOperand(pos, "Not"), right)
}

// getFile reads <<file.
func (p *parser) getFile() (operand, error) {
	pos := p.tok.pos
	file, err := p.lex.fileName()
	if err != nil {
		return operand{}, err
	}
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	return p.call(pos, headOperand(pos, "Get"), operand{e: file, height: 1})
}

// blankHeads are the patterns by the number of underscores.
var blankHeads = map[string]string{"_": "Blank", "__": "BlankSequence", "___": "BlankNullSequence", "_.": "Blank"}

func (p *parser) isBlank() bool {
	return p.tok.kind == tokenOperator && blankHeads[p.tok.text] != ""
}

// blank reads _, __, ___, _head and _., after the name of a pattern or without one.
func (p *parser) blank(name *Expr) (operand, error) {
	underscore := p.tok
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	var heads []operand
	if underscore.text != "_." && p.tok.kind == tokenSymbol && !p.tok.space {
		heads = append(heads, operand{e: p.tok.node, height: 1})
		if err := p.advance(); err != nil {
			return operand{}, err
		}
	}
	pattern, err := p.call(underscore.pos, headOperand(underscore.pos, blankHeads[underscore.text]), heads...)
	if err != nil {
		return operand{}, err
	}
	pos := underscore.pos
	if name != nil {
		pos = name.Pos
		if pattern, err = p.call(pos, headOperand(pos, "Pattern"), operand{e: name, height: 1}, pattern); err != nil {
			return operand{}, err
		}
	}
	if underscore.text == "_." {
		return p.call(pos, headOperand(pos, "Optional"), pattern)
	}
	return pattern, nil
}

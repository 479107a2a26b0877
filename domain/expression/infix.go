package expression

import "strconv"

// infix reads what follows a complete operand: the operator that is the next token, and its right side if it has one.
func (p *parser) infix(op infixOperator, left operand) (operand, error) {
	switch op.shape {
	case shapeLeft:
		return p.binary(op, left, op.prec)
	case shapeRight:
		return p.binary(op, left, op.prec-1)
	case shapeFlat:
		return p.flat(op, left)
	case shapeCompare:
		return p.compare(op, left)
	case shapePostfix:
		return p.postfix(op, left)
	case shapeCall:
		right, err := p.operandAfter(op.prec - 1)
		if err != nil {
			return operand{}, err
		}
		return p.call(left.e.Pos, left, right)
	case shapePipe:
		right, err := p.operandAfter(op.prec)
		if err != nil {
			return operand{}, err
		}
		return p.call(left.e.Pos, right, left)
	case shapeProduct:
		return p.product(op, left)
	case shapeSum:
		return p.sum(op, left)
	case shapeCompound:
		return p.compound(left)
	case shapeSpan:
		return p.span(left, left.e.Pos)
	case shapeColon:
		return p.colon(left)
	case shapeSet:
		return p.assignment(op, left)
	case shapeTagSet:
		return p.tagSet(left)
	case shapeTilde:
		return p.tilde(left)
	case shapeBracket:
		return p.bracketed(op, left)
	case shapeMessage:
		return p.message(left)
	case shapeFile:
		return p.putFile(op, left)
	case shapePrime:
		return p.prime(left)
	}
	return operand{}, p.unexpected()
}

// binary reads a right side and makes head[left, right].
func (p *parser) binary(op infixOperator, left operand, minPrec int) (operand, error) {
	at := p.tok.pos
	right, err := p.operandAfter(minPrec)
	if err != nil {
		return operand{}, err
	}
	return p.call(left.e.Pos, headOperand(at, op.head), left, right)
}

// flat reads a right side and adds it to the chain of the same operator.
func (p *parser) flat(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	right, err := p.operandAfter(op.prec)
	if err != nil {
		return operand{}, err
	}
	if left.chain == chainFlat && left.e.IsCall(op.head) {
		return p.extend(left, chainFlat, right)
	}
	made, err := p.call(left.e.Pos, headOperand(at, op.head), left, right)
	made.chain = chainFlat
	return made, err
}

// compare reads a comparison: a<b<c is Less[a, b, c], a<b<=c is Inequality[a, Less, b, LessEqual, c].
func (p *parser) compare(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	right, err := p.operandAfter(op.prec)
	if err != nil {
		return operand{}, err
	}
	switch {
	case left.chain != chainCompare:
		made, err := p.call(left.e.Pos, headOperand(at, op.head), left, right)
		made.chain = chainCompare
		return made, err
	case left.e.IsCall(op.head):
		return p.extend(left, chainCompare, right)
	case !left.e.IsCall("Inequality"):
		mixed := make([]*Expr, 0, 2*len(left.e.Args)+1)
		for i, arg := range left.e.Args {
			if i > 0 {
				mixed = append(mixed, left.e.Head)
			}
			mixed = append(mixed, arg)
		}
		left.e.Head, left.e.Args = Sym("Inequality"), mixed
		left.e.Head.Pos = at
	}
	return p.extend(left, chainCompare, headOperand(at, op.head), right)
}

func (p *parser) postfix(op infixOperator, left operand) (operand, error) {
	at, end := p.tok.pos, p.lex.at.Offset
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	if op.head == "Factorial" || op.head == "Factorial2" {
		p.explicit.factorial(p.lex.src, left, end, p.tok)
	}
	return p.call(left.e.Pos, headOperand(at, op.head), left)
}

// product reads *, / or a factor without an operator. Chains of both are one Times: a/b c is Times[a, Power[b, -1], c].
func (p *parser) product(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	divides := p.tok.is("/")
	if p.tok.is("*") || divides {
		if err := p.advance(); err != nil {
			return operand{}, err
		}
	} else {
		p.explicit.add(at.Offset, "*")
	}
	right, err := p.expression(op.prec)
	if err != nil {
		return operand{}, err
	}
	if divides {
		if right, err = p.call(right.e.Pos, headOperand(at, "Power"), right, minusOne(at)); err != nil {
			return operand{}, err
		}
	}
	if left.chain != chainProduct {
		if left, err = p.call(left.e.Pos, headOperand(at, "Times"), left); err != nil {
			return operand{}, err
		}
	}
	return p.splice(left, right)
}

// splice adds a factor to a product, or all the factors of a product without parentheses.
func (p *parser) splice(product, factor operand) (operand, error) {
	if factor.chain != chainProduct {
		return p.extend(product, chainProduct, factor)
	}
	product.e.Args = append(product.e.Args, factor.e.Args...)
	product.height = max(product.height, factor.height)
	p.steps += len(factor.e.Args)
	return p.extend(product, chainProduct)
}

// sum reads + or -.
func (p *parser) sum(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	subtracts := p.tok.is("-")
	right, err := p.operandAfter(op.prec)
	if err != nil {
		return operand{}, err
	}
	if subtracts {
		if right, err = p.negate(at, right); err != nil {
			return operand{}, err
		}
	}
	if left.chain == chainSum {
		return p.extend(left, chainSum, right)
	}
	made, err := p.call(left.e.Pos, headOperand(at, op.head), left, right)
	made.chain = chainSum
	return made, err
}

// compound reads ; and what follows it, which is Null where nothing does.
func (p *parser) compound(left operand) (operand, error) {
	at := p.tok.pos
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	right := headOperand(at, "Null")
	if p.beginsOperand() && !p.lineEnded() {
		var err error
		if right, err = p.expression(precCompound); err != nil {
			return operand{}, err
		}
	}
	if left.chain == chainFlat && left.e.IsCall("CompoundExpression") {
		return p.extend(left, chainFlat, right)
	}
	made, err := p.call(left.e.Pos, headOperand(at, "CompoundExpression"), left, right)
	made.chain = chainFlat
	return made, err
}

// span reads first;;last;;step, where last defaults to All.
func (p *parser) span(first operand, pos Position) (operand, error) {
	at := p.tok.pos
	last, err := p.spanPart()
	if err != nil {
		return operand{}, err
	}
	if !p.tok.is(";;") || p.lineEnded() {
		return p.call(pos, headOperand(at, "Span"), first, last)
	}
	step, err := p.operandAfter(precSpan)
	if err != nil {
		return operand{}, err
	}
	if p.tok.is(";;") && !p.lineEnded() {
		return operand{}, refuse(ReasonUnsupported, p.tok.pos, "a span has at most three parts: put it in parentheses")
	}
	return p.call(pos, headOperand(at, "Span"), first, last, step)
}

// spanPart takes ;; and reads the part after it if there is one.
func (p *parser) spanPart() (operand, error) {
	at := p.tok.pos
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	if !p.beginsOperand() || p.tok.is(";;") || p.lineEnded() {
		return headOperand(at, "All"), nil
	}
	return p.expression(precSpan)
}

// colon reads name:pattern and pattern:default.
func (p *parser) colon(left operand) (operand, error) {
	at := p.tok.pos
	if left.e.Kind == Symbol {
		right, err := p.operandAfter(precPattern)
		if err != nil {
			return operand{}, err
		}
		return p.call(left.e.Pos, headOperand(at, "Pattern"), left, right)
	}
	right, err := p.operandAfter(precOptional)
	if err != nil {
		return operand{}, err
	}
	return p.call(left.e.Pos, headOperand(at, "Optional"), left, right)
}

// assignment reads x=y and x=. .
func (p *parser) assignment(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	if p.tok.is(".") {
		if err := p.advance(); err != nil {
			return operand{}, err
		}
		return p.call(left.e.Pos, headOperand(at, "Unset"), left)
	}
	right, err := p.expression(op.prec - 1)
	if err != nil {
		return operand{}, err
	}
	return p.call(left.e.Pos, headOperand(at, op.head), left, right)
}

// tagSet reads f/:lhs=rhs, f/:lhs:=rhs and f/:lhs=. .
func (p *parser) tagSet(tag operand) (operand, error) {
	at := p.tok.pos
	lhs, err := p.operandAfter(precTagSet)
	if err != nil {
		return operand{}, err
	}
	head := "TagSet"
	switch {
	case p.tok.is(":="):
		head = "TagSetDelayed"
	case !p.tok.is("="):
		return operand{}, refuse(ReasonSyntax, p.tok.pos, "= or := must follow the left side after /:")
	}
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	if head == "TagSet" && p.tok.is(".") {
		if err := p.advance(); err != nil {
			return operand{}, err
		}
		return p.call(tag.e.Pos, headOperand(at, "TagUnset"), tag, lhs)
	}
	rhs, err := p.expression(precSet - 1)
	if err != nil {
		return operand{}, err
	}
	return p.call(tag.e.Pos, headOperand(at, head), tag, lhs, rhs)
}

// tilde reads a~f~b.
func (p *parser) tilde(left operand) (operand, error) {
	head, err := p.operandAfter(precTilde)
	if err != nil {
		return operand{}, err
	}
	if !p.tok.is("~") {
		return operand{}, refuse(ReasonSyntax, p.tok.pos, "a second ~ is wanted here, as in a~f~b")
	}
	right, err := p.operandAfter(precTilde)
	if err != nil {
		return operand{}, err
	}
	return p.call(left.e.Pos, head, left, right)
}

// bracketed reads f[x], a[[i]] and the bracket characters of Part.
func (p *parser) bracketed(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	closers := []string{"]"}
	part := op.head == "Part"
	switch {
	case p.tok.is("⟦"):
		closers = []string{"⟧"}
	case p.tok.is("〚"):
		closers = []string{"〛"}
	case p.lex.peekByte(0) == '[':
		part, closers = true, []string{"]", "]"}
		p.lex.skipASCII(1)
	}
	p.bracket++
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	args, err := p.arguments(closers[0])
	if err != nil {
		return operand{}, err
	}
	head := left
	if part {
		head, args = headOperand(at, "Part"), append([]operand{left}, args...)
	}
	made, err := p.call(left.e.Pos, head, args...)
	if err != nil {
		return operand{}, err
	}
	p.bracket--
	for _, closer := range closers {
		if err := p.expect(closer); err != nil {
			return operand{}, err
		}
	}
	return made, nil
}

// message reads f::name and f::"name", and f::name::language as one call.
func (p *parser) message(left operand) (operand, error) {
	at := p.tok.pos
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	var tag *Expr
	switch {
	case p.tok.kind == tokenSymbol:
		tag = &Expr{Kind: String, Text: p.tok.node.Text, Pos: p.tok.pos}
	case p.tok.kind == tokenAtom && p.tok.node.Kind == String:
		tag = p.tok.node
	default:
		return operand{}, refuse(ReasonSyntax, p.tok.pos, "the name of a message must follow ::")
	}
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	name := operand{e: tag, height: 1}
	if left.chain == chainFlat && left.e.IsCall("MessageName") {
		return p.extend(left, chainFlat, name)
	}
	made, err := p.call(left.e.Pos, headOperand(at, "MessageName"), left, name)
	made.chain = chainFlat
	return made, err
}

// putFile reads e>>file and e>>>file.
func (p *parser) putFile(op infixOperator, left operand) (operand, error) {
	at := p.tok.pos
	file, err := p.lex.fileName()
	if err != nil {
		return operand{}, err
	}
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	return p.call(left.e.Pos, headOperand(at, op.head), left, operand{e: file, height: 1})
}

// prime reads f', f” and so on.
func (p *parser) prime(left operand) (operand, error) {
	at := p.tok.pos
	order := 0
	for p.tok.is("'") && !(order > 0 && p.lineEnded()) {
		order++
		if err := p.advance(); err != nil {
			return operand{}, err
		}
	}
	p.steps += order
	derivative, err := p.call(at, headOperand(at, "Derivative"), operand{e: &Expr{Kind: Integer, Text: strconv.Itoa(order), Pos: at}, height: 1})
	if err != nil {
		return operand{}, err
	}
	return p.call(left.e.Pos, derivative, left)
}

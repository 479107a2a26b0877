package openqasm

// libraries are the files that can be included: their gates are built in.
var libraries = map[string]bool{"stdgates.inc": true, "qelib1.inc": true, "hqslib1.inc": true}

func (p *parser) include() statement {
	start := p.next()
	file := p.next()
	if file.kind != tokenString {
		fail(CodeMalformed, file.at, "expected the name of a file in quotes, found %s", file.describe())
	}
	if !libraries[file.text] {
		fail(CodeUnsupported, file.at, "%s cannot be included; stdgates.inc, qelib1.inc and hqslib1.inc can", file.describe())
	}
	p.expect(";")
	return &block{at: p.node(start.at)}
}

// oldDeclaration reads "qreg q[2];" and "creg c[2];".
func (p *parser) oldDeclaration() statement {
	d := p.oldName()
	p.expect(";")
	return d
}

func (p *parser) oldName() *declaration {
	start := p.next()
	of := typeName{at: at(start.at), word: map[string]string{"qreg": "qubit", "creg": "bit"}[start.text]}
	id := p.declaredName()
	if p.accept("[") {
		of.width = p.expression()
		p.expect("]")
	}
	return &declaration{at: p.node(id.at), of: of, name: id.text, old: true}
}

// typeName reads "uint[8]".
func (p *parser) typeName() typeName {
	t := p.peek()
	switch t.text {
	case "qubit", "bit", "bool", "int", "uint", "float", "angle":
	case "array":
		return p.arrayType()
	case "duration", "stretch":
		p.next()
		p.timings = append(p.timings, at(t.at))
		return typeName{at: p.node(t.at), word: "duration"}
	default:
		if why, ok := unsupported[t.text]; ok {
			fail(CodeUnsupported, t.at, "%s", why)
		}
		p.unexpected("a type")
	}
	p.next()
	of := typeName{at: p.node(t.at), word: t.text}
	if t.text != "bool" && p.accept("[") {
		of.width = p.expression()
		p.expect("]")
	}
	return of
}

func (p *parser) declaration(constant bool) statement {
	of := p.typeName()
	id := p.declaredName()
	d := &declaration{at: p.node(id.at), of: of, name: id.text, constant: constant}
	if of.word == "qubit" {
		if constant {
			fail(CodeMalformed, id.at, "qubits cannot be const")
		}
		p.expect(";")
		return d
	}
	if p.accept("=") {
		d.initial = p.assigned()
	} else if constant {
		p.unexpected(`"=": a const needs a value`)
	}
	p.expect(";")
	return d
}

// output reads a declaration of bits: those are part of the result in any case, and nothing else is.
func (p *parser) output() statement {
	p.next()
	if !p.is("bit") {
		fail(CodeUnsupported, p.peek().at, "only bits are part of the result: assign the value to a bit register and declare that as output")
	}
	return p.declaration(false)
}

// assigned reads the right side of an assignment.
func (p *parser) assigned() expression {
	switch {
	case p.is("measure"):
		return p.measurement()
	case p.is("{"):
		return p.set()
	}
	return p.joined()
}

// joined reads a value, or several joined by ++.
func (p *parser) joined() expression {
	parts := []expression{p.expression()}
	for p.accept("++") {
		parts = append(parts, p.expression())
		p.bound(len(parts))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &concatenation{p.node(parts[0].position()), parts}
}

func (p *parser) measurement() expression {
	start := p.expect("measure")
	return &measurement{p.node(start.at), p.operand()}
}

func (p *parser) alias() statement {
	p.next()
	id := p.declaredName()
	p.expect("=")
	a := &alias{at: p.node(id.at), name: id.text, value: p.joined()}
	p.expect(";")
	return a
}

func (p *parser) bound(count int) {
	if count > maxList {
		fail(CodeTooLarge, p.peek().at, "a list has more than %d entries", maxList)
	}
}

func (p *parser) assignment() statement {
	target := p.operand()
	op := p.next()
	if op.kind != tokenSymbol || !isAssignment(op.text) {
		fail(CodeMalformed, op.at, "expected an assignment, found %s", op.describe())
	}
	a := &assignment{at: p.node(target.position()), target: target, op: op.text, value: p.assigned()}
	p.expect(";")
	return a
}

// measureArrow reads "measure q -> c;".
func (p *parser) measureArrow() statement {
	start := p.peek()
	m := p.measurement()
	a := &assignment{at: p.node(start.at), op: "=", value: m}
	if p.accept("->") {
		a.target = p.operand()
	} else if p.version == 2 {
		p.unexpected(`"->"`)
	}
	p.expect(";")
	return a
}

func (p *parser) directive() statement {
	start := p.next()
	d := &directive{at: p.node(start.at), word: start.text}
	if start.text == "delay" {
		d.length = p.duration()
	}
	if !p.is(";") {
		d.operands = p.operands()
	} else if start.text == "reset" {
		p.unexpected("a qubit")
	}
	p.expect(";")
	return d
}

// duration reads the length of a delay, box or gate, which has no meaning for a simulated circuit.
func (p *parser) duration() expression {
	p.timings = append(p.timings, at(p.expect("[").at))
	length := p.expression()
	p.expect("]")
	return length
}

func (p *parser) operands() []expression {
	list := []expression{p.operand()}
	for p.accept(",") {
		if p.is(";") { // the grammar allows a comma at the end
			break
		}
		list = append(list, p.operand())
		p.bound(len(list))
	}
	return list
}

// operand reads a register or a part of one.
func (p *parser) operand() expression {
	t := p.peek()
	if t.kind == tokenHardware {
		p.next()
		if len(t.text) > 10 || len(t.text) > 2 && t.text[1] == '0' {
			fail(CodeIndex, t.at, "%s is not a physical qubit", clip(t.text))
		}
		if _, seen := p.hardware[t.text]; !seen {
			p.hardware[t.text] = t.at
		}
		return &hardware{p.node(t.at), t.text}
	}
	if t.kind != tokenName || p.isReserved(t.text) {
		p.unexpected("a register")
	}
	p.next()
	return p.indexes(&name{p.node(t.at), t.text})
}

func (p *parser) gateCall() statement {
	g := &gateCall{at: p.node(p.peek().at)}
	if p.version == 3 {
		g.modifiers = p.modifiers()
	}
	id := p.peek()
	if id.kind != tokenName {
		p.unexpected("a gate")
	}
	if p.isReserved(id.text) && id.text != "gphase" && (p.version == 3 || id.text != "U" && id.text != "CX") {
		p.unexpected("a gate")
	}
	p.next()
	g.at, g.name = at(id.at), id.text
	if p.version == 2 && isReserved3(id.text) && !p.is("(") && (p.peek().kind != tokenName || isReserved3(p.peek().text)) {
		fail(CodeUnsupported, id.at, "%s is a word of OpenQASM 3, and the program says 2.0", id.text)
	}
	if p.accept("(") {
		g.arguments = append([]expression{}, p.expressions(")")...)
	}
	if p.is("[") && p.version == 3 {
		g.length = p.duration()
	}
	switch {
	case !p.is(";"):
		if p.peek().kind == tokenSymbol {
			p.unexpected("the qubits of " + clip(id.text))
		}
		g.operands = p.operands()
	case id.text != "gphase" && (g.arguments == nil || p.version == 2): // else it may be a subroutine
		p.unexpected("the qubits of " + clip(id.text))
	}
	p.expect(";")
	return g
}

func (p *parser) modifiers() []modifier {
	var list []modifier
	for {
		t := p.peek()
		if t.kind != tokenName || t.text != "ctrl" && t.text != "negctrl" && t.text != "inv" && t.text != "pow" {
			return list
		}
		p.next()
		m := modifier{at: p.node(t.at), word: t.text}
		if t.text != "inv" && p.accept("(") {
			m.argument = p.expression()
			p.expect(")")
		} else if t.text == "pow" {
			p.unexpected(`"(": pow takes an exponent`)
		}
		p.expect("@")
		if list = append(list, m); len(list) > maxNesting {
			fail(CodeMalformed, t.at, "a gate takes at most %d modifiers", maxNesting)
		}
	}
}

func (p *parser) gateDefinition() statement {
	p.next()
	id := p.gateName()
	g := &gateDefinition{at: p.node(id.at), name: id.text}
	p.signature(g)
	if !p.is("{") {
		p.unexpected(`"{"`)
	}
	g.body = p.body()
	return g
}

// gateName reads the name of a definition. Only the library defines U.
func (p *parser) gateName() token {
	t := p.peek()
	if t.text == "U" && !p.library {
		fail(CodeMalformed, t.at, "U is part of the language and cannot be defined")
	}
	return p.declaredName()
}

func (p *parser) opaque() statement {
	p.next()
	id := p.gateName()
	g := &gateDefinition{at: p.node(id.at), name: id.text, opaque: true}
	p.signature(g)
	p.expect(";")
	return g
}

// signature reads "(parameters) qubits".
func (p *parser) signature(g *gateDefinition) {
	seen := map[string]bool{}
	names := func(end string) (list []string) {
		for !p.is(end) {
			t := p.declaredName()
			if seen[t.text] {
				fail(CodeMalformed, t.at, "%s is named twice", clip(t.text))
			}
			seen[t.text] = true
			list = append(list, t.text)
			p.bound(len(list))
			if !p.accept(",") {
				break
			}
		}
		return list
	}
	if p.accept("(") {
		g.parameters = names(")")
		p.expect(")")
	}
	end := "{"
	if g.opaque {
		end = ";"
	}
	if g.qubits = names(end); len(g.qubits) == 0 {
		p.unexpected("the qubits of the gate")
	}
}

func (p *parser) choice() statement {
	start := p.next()
	c := &choice{at: p.node(start.at)}
	p.expect("(")
	c.condition = p.condition()
	p.expect(")")
	c.then = p.body()
	if p.version == 3 && p.accept("else") {
		c.otherwise = p.body()
	}
	return c
}

// condition reads that of an if, which may be an outcome.
func (p *parser) condition() expression {
	if p.version == 2 {
		return p.expression()
	}
	return p.assigned()
}

func (p *parser) forLoop() statement {
	start := p.next()
	f := &forLoop{at: p.node(start.at), of: p.typeName()}
	if f.of.word == "qubit" && f.of.width != nil {
		fail(CodeType, f.of.position(), "a loop over qubits takes one at a time: for qubit z in q")
	}
	f.name = p.declaredName().text
	p.expect("in")
	switch t := p.peek(); {
	case p.accept("["):
		f.values = p.indexItem()
		if _, ok := f.values.(*span); !ok {
			fail(CodeMalformed, t.at, "expected a range such as [0:3]")
		}
		p.expect("]")
	case p.is("{"):
		f.values = p.set()
	default:
		f.values = p.expression()
	}
	f.body = p.body()
	return f
}

func (p *parser) whileLoop() statement {
	start := p.next()
	w := &whileLoop{at: p.node(start.at)}
	p.expect("(")
	w.condition = p.expression()
	p.expect(")")
	w.body = p.body()
	return w
}

func (p *parser) selection() statement {
	start := p.next()
	s := &selection{at: p.node(start.at)}
	p.expect("(")
	s.subject = p.expression()
	p.expect(")")
	p.expect("{")
	for !p.accept("}") {
		switch {
		case p.is("case") && s.otherwise == nil:
			p.next()
			c := selectionCase{labels: []expression{p.expression()}}
			for p.accept(",") && !p.is("{") {
				c.labels = append(c.labels, p.expression())
			}
			c.body = p.caseBody()
			s.cases = append(s.cases, c)
		case p.is("default") && s.otherwise == nil:
			p.next()
			s.otherwise = p.caseBody()
		default:
			p.unexpected(`"case", "default" or "}"`)
		}
	}
	if len(s.cases) == 0 {
		fail(CodeMalformed, start.at, "a switch needs at least one case")
	}
	return s
}

func (p *parser) caseBody() []statement {
	if !p.is("{") {
		p.unexpected(`"{"`)
	}
	return p.body()
}

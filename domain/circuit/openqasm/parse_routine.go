package openqasm

// subroutine reads "def name(parameters) -> type { body }".
func (p *parser) subroutine() statement {
	p.next()
	id := p.declaredName()
	s := &subroutine{at: p.node(id.at), name: id.text}
	p.expect("(")
	for !p.is(")") {
		s.parameters = append(s.parameters, p.parameter())
		p.bound(len(s.parameters))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.accept("->") {
		of := p.typeName()
		if of.word == "qubit" || of.word == "array" {
			fail(CodeType, of.position(), "a subroutine returns a classical value, not %s", of.word)
		}
		s.returns = &of
	}
	if !p.is("{") {
		p.unexpected(`"{"`)
	}
	s.body = p.body()
	return s
}

// parameter reads one of a subroutine: "qubit[2] q", "readonly array[int[8], #dim = 1] a", or in the old way "creg c[2]".
func (p *parser) parameter() (out parameter) {
	switch t := p.peek(); t.text {
	case "qreg", "creg":
		d := p.oldName()
		return parameter{d.at, d.of, d.name}
	case "readonly", "mutable":
		p.next()
		out.of = p.arrayType()
		out.of.readonly = t.text == "readonly"
	default:
		if out.of = p.typeName(); out.of.word == "array" {
			fail(CodeMalformed, t.at, "an array parameter begins with readonly or mutable")
		}
	}
	id := p.declaredName()
	out.at, out.name = p.node(id.at), id.text
	return out
}

// arrayType reads "array[int[8], 2, 3]" and "array[int[8], #dim = 2]".
func (p *parser) arrayType() typeName {
	start := p.expect("array")
	p.expect("[")
	element := p.typeName()
	switch element.word {
	case "int", "uint", "float", "angle", "bool":
	default:
		fail(CodeUnsupported, element.position(), "an array holds int, uint, float, angle or bool, not %s", element.word)
	}
	of := typeName{at: p.node(start.at), word: "array", element: &element}
	p.expect(",")
	if p.accept("#dim") {
		p.expect("=")
		of.rank = p.expression()
	} else {
		of.sizes = []expression{p.expression()}
		for p.accept(",") {
			of.sizes = append(of.sizes, p.expression())
			p.bound(len(of.sizes))
		}
	}
	p.expect("]")
	return of
}

// extern refuses a function that is not part of the program, by its name.
func (p *parser) extern() {
	start := p.next()
	fail(CodeUnsupported, start.at, "extern %s: a function outside the program cannot be run; define it with def", clip(p.declaredName().text))
}

func (p *parser) returned() statement {
	start := p.next()
	j := &jump{at: p.node(start.at), word: "return"}
	if !p.is(";") {
		j.value = p.assigned()
	}
	p.expect(";")
	return j
}

// input reads a declaration whose value comes with the program.
func (p *parser) input() statement {
	p.next()
	of := p.typeName()
	if of.word == "qubit" || of.word == "duration" {
		fail(CodeType, of.position(), "an input is a classical value, not %s", of.word)
	}
	id := p.declaredName()
	p.expect(";")
	return &declaration{at: p.node(id.at), of: of, name: id.text, input: true}
}

// durationOf reads "durationof({ … })". What its statements would take is not known here.
func (p *parser) durationOf() expression {
	start := p.next()
	p.timings = append(p.timings, at(start.at))
	p.expect("(")
	if !p.is("{") {
		p.unexpected(`"{"`)
	}
	p.body()
	p.expect(")")
	return &timing{p.node(start.at)}
}

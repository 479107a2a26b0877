package statement

import "reckon/domain/lean/term"

// Binding strengths, as in Lean.
const (
	lowest    = 0
	arrowLeft = 26
	arrow     = 25
	iffLevel  = 20
	orLevel   = 30
	andLevel  = 35
	notLevel  = 40
	relation  = 50
	additive  = 65
	product   = 70
	power     = 75
	applied   = 1024
	atomic    = 1025
)

// operator is notation for a binary operation.
type operator struct {
	symbol             string
	level, left, right int
	head               pattern // what the symbol stands for, but for its two operands
	typed              bool    // the type of the operands, and its level, come between head and operands
}

// pattern is a constant, at the level 0 throughout, applied to patterns.
type pattern struct {
	name string // components joined by dots
	args []pattern
}

func patternOf(name string, args ...pattern) pattern { return pattern{name, args} }

var (
	natType      = patternOf("Nat")
	natural      = "instOfNatNat" // of("OfNat.ofNat", Nat, n, of(natural, n)) is the numeral n
	natAdd       = patternOf("instHAdd", natType, patternOf("instAddNat"))
	natSub       = patternOf("instHSub", natType, patternOf("instSubNat"))
	natMul       = patternOf("instHMul", natType, patternOf("instMulNat"))
	natPow       = patternOf("instHPow", natType, natType, patternOf("instPowNat", natType, patternOf("instNatPowNat")))
	natOperation = func(name string, instance pattern) pattern {
		return patternOf(name, natType, natType, natType, instance)
	}
)

// operators is the notation for binary operations. The constants it stands for must be Lean's own.
var operators = []operator{
	{symbol: "∧", level: andLevel, left: andLevel + 1, right: andLevel, head: patternOf("And")},
	{symbol: "∨", level: orLevel, left: orLevel + 1, right: orLevel, head: patternOf("Or")},
	{symbol: "↔", level: iffLevel, left: iffLevel + 1, right: iffLevel + 1, head: patternOf("Iff")},
	{symbol: "=", level: relation, left: relation + 1, right: relation + 1, head: patternOf("Eq"), typed: true},
	{symbol: "≠", level: relation, left: relation + 1, right: relation + 1, head: patternOf("Ne"), typed: true},
	{symbol: "+", level: additive, left: additive, right: additive + 1, head: natOperation("HAdd.hAdd", natAdd)},
	{symbol: "-", level: additive, left: additive, right: additive + 1, head: natOperation("HSub.hSub", natSub)},
	{symbol: "*", level: product, left: product, right: product + 1, head: natOperation("HMul.hMul", natMul)},
	{symbol: "^", level: power, left: power + 1, right: power, head: natOperation("HPow.hPow", natPow)},
	{symbol: "≤", level: relation, left: relation + 1, right: relation + 1, head: patternOf("LE.le", natType, patternOf("instLENat"))},
	{symbol: "<", level: relation, left: relation + 1, right: relation + 1, head: patternOf("LT.lt", natType, patternOf("instLTNat"))},
}

// ownConstant returns the name of a constant of this file that is Lean's own.
func (l *Language) ownConstant(dotted string) (term.Name, bool) {
	n, ok := l.file.Store.LookupDotted(dotted)
	return n, ok && l.isLeanConstant(n)
}

// resolved is a pattern with the names of this file.
type resolved struct {
	name   term.Name
	levels int
	args   []resolved
}

// resolve finds the constants of a pattern; all of them must be Lean's own.
func (l *Language) resolve(p pattern) (out resolved, ok bool) {
	if out.name, ok = l.ownConstant(p.name); !ok {
		return out, false
	}
	out.levels = len(l.params[out.name])
	for _, arg := range p.args {
		r, ok := l.resolve(arg)
		if !ok {
			return out, false
		}
		out.args = append(out.args, r)
	}
	return out, true
}

// notation holds the constants of one file that the notation stands for. Notation with a false has… field, or an operator
// that is not listed, is not used.
type notation struct {
	operators []resolvedOperator
	not       term.Name
	exists    term.Name
	nat       term.Name
	ofNat     term.Name
	instance  term.Name // of ofNat for numerals
	hasNot    bool
	hasExists bool
	hasNat    bool // numerals
}

type resolvedOperator struct {
	*operator
	head resolved
}

func (l *Language) resolveNotation() {
	for i := range operators {
		if head, ok := l.resolve(operators[i].head); ok {
			l.notation.operators = append(l.notation.operators, resolvedOperator{&operators[i], head})
		}
	}
	n := &l.notation
	n.not, n.hasNot = l.ownConstant("Not")
	n.exists, n.hasExists = l.ownConstant("Exists")
	var ok [3]bool
	n.nat, ok[0] = l.ownConstant("Nat")
	n.ofNat, ok[1] = l.ownConstant("OfNat.ofNat")
	n.instance, ok[2] = l.ownConstant(natural)
	n.hasNat = ok[0] && ok[1] && ok[2]
}

// build makes the expression of a pattern.
func (s *session) build(r resolved) exprID {
	e := s.arena.constant(r.name, s.zeros(r.levels))
	for _, arg := range r.args {
		e = s.arena.app(e, s.build(arg))
	}
	return e
}

func (s *session) zeros(count int) levelID { return s.arena.list(make([]levelID, count)) }

// builtHead caches the expression that an operator stands for; ok is false when it could not be built.
type builtHead struct {
	e  exprID
	ok bool
}

// headOf is the expression that operator i of the notation stands for, with the type of the left operand where it is left out.
func (s *session) headOf(i int, types []exprID, left exprID) (exprID, bool) {
	op := s.notation.operators[i]
	if op.typed {
		typ, ok := s.infer(types, left)
		if !ok {
			return 0, false
		}
		return s.atSortOf(op.head.name, types, typ)
	}
	if !s.heads[i].ok {
		s.heads[i] = builtHead{s.build(op.head), true}
	}
	return s.heads[i].e, true
}

// headAt is headOf for an operator with a type, at a level that is not left out.
func (s *session) headAt(i int, level levelID, types []exprID, left exprID) (exprID, bool) {
	typ, ok := s.infer(types, left)
	if !ok {
		return 0, false
	}
	a := s.arena
	return a.app(a.constant(s.notation.operators[i].head.name, a.list([]levelID{level})), typ), true
}

// numeral is the natural number with the given digits as terms write it.
func (s *session) numeral(digits string) exprID {
	a, n := s.arena, s.notation
	at := func(c term.Name) exprID { return a.constant(c, s.zeros(len(s.params[c]))) }
	literal := a.nat(digits)
	return a.app(a.app(a.app(at(n.ofNat), at(n.nat)), literal), a.app(at(n.instance), literal))
}

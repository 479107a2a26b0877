package openqasm

// maxCalls bounds subroutines that call each other, or themselves.
const maxCalls = 64

// frame is a subroutine being elaborated.
type frame struct {
	routine *subroutine
	result  *symbol // what it returns; nil: nothing
	depth   int     // of running blocks around its body
	flag    int     // slot that a return sets where a measurement decides; 0: there is none
}

// resultName cannot be declared: it is a word of the language.
const resultName = "return"

// defineRoutine declares a subroutine; its body is elaborated at every call.
func (e *elaborator) defineRoutine(r *subroutine) {
	if len(e.scopes) > 1 {
		fail(CodeMalformed, r.position(), "subroutines can only be defined outside blocks")
	}
	if hasJump(r.body, "end") {
		fail(CodeUnsupported, r.position(), "%s contains end: return a bit, and end the program where the subroutine is called", clip(r.name))
	}
	e.declare(r.position(), r.name, &symbol{kind: symbolRoutine, routine: r})
}

// findRoutine is the subroutine of a name, or nil.
func (e *elaborator) findRoutine(word string) *subroutine {
	if s := e.lookup(word); s != nil && s.kind == symbolRoutine {
		return s.routine
	}
	return nil
}

// callRoutine elaborates the body in place of the call. It sees constants, gates and its own names only.
func (e *elaborator) callRoutine(at int, r *subroutine, arguments []expression) value {
	e.step(at)
	if e.inGate {
		fail(CodeMalformed, at, "a gate cannot call the subroutine %s", clip(r.name))
	}
	if e.calls++; e.calls > maxCalls {
		fail(CodeTooMany, at, "subroutines call each other more than %d deep", maxCalls)
	}
	f := &frame{routine: r, depth: e.depth}
	names := e.bind(at, r, arguments)
	if r.returns != nil {
		kind, width := e.typeOf(*r.returns)
		f.result = &symbol{kind: symbolVariable, value: value{kind: kind, width: width}, depth: e.depth}
		names[resultName] = f.result
	}
	if hasJump(r.body, resultName) {
		f.flag = e.flag(at)
	}
	scopes, loops, outer, assumed := e.scopes, e.loops, e.frame, e.assumed
	e.scopes, e.loops, e.frame, e.assumed = []scope{e.scopes[0], names}, nil, f, nil
	e.block(r.body)
	e.dropRaised(f.flag)
	e.stopped = running
	e.scopes, e.loops, e.frame, e.assumed = scopes, loops, outer, assumed
	e.calls--
	if f.result == nil {
		return value{}
	}
	if !f.result.defined {
		fail(CodeMalformed, r.position(), "the subroutine %s ends without return", clip(r.name))
	}
	return e.read(at, r.name, f.result)
}

// bind gives the parameters of a subroutine their arguments: qubits and arrays are the caller's, other values are copies.
func (e *elaborator) bind(at int, r *subroutine, arguments []expression) scope {
	if len(arguments) != len(r.parameters) {
		n := len(r.parameters)
		fail(CodeParameters, at, "%s takes %d argument%s, not %d", clip(r.name), n, plural(n), len(arguments))
	}
	names := scope{}
	var all []int
	for i, p := range r.parameters {
		if _, taken := names[p.name]; taken {
			fail(CodeMalformed, p.position(), "%s is declared twice", clip(p.name))
		}
		s := e.argument(p, arguments[i])
		s.at, s.depth = p.position(), e.depth
		names[p.name] = s
		all = append(all, s.qubits...)
	}
	e.checkDistinct(at, all)
	return names
}

func (e *elaborator) argument(p parameter, x expression) *symbol {
	switch p.of.word {
	case "qubit":
		qubits, scalar := e.qubitOperand(x)
		want := 1
		if p.of.width != nil {
			want = e.size(p.of.width, "qubit register", e.limits.Qubits)
		}
		if len(qubits) != want {
			fail(CodeTargets, x.position(), "%s takes %d qubit%s, not %d", clip(p.name), want, plural(want), len(qubits))
		}
		return &symbol{kind: symbolQubits, qubits: qubits, scalar: p.of.width == nil || scalar && want == 1 && p.of.width == nil}
	case "array":
		return &symbol{kind: symbolArray, array: e.arrayArgument(p, x)}
	}
	kind, width := e.typeOf(p.of)
	v := e.convert(x.position(), e.evaluate(x), kind, width, false)
	if kind == kindBit {
		s := &symbol{kind: symbolBits, scalar: width == 0, bits: e.newSlots(x.position(), max(width, 1))}
		e.store(x.position(), s.bits, v.pattern(len(s.bits)))
		return s
	}
	s := &symbol{kind: symbolVariable, value: value{kind: kind, width: width}, depth: e.depth}
	e.setVariable(x.position(), s, v)
	return s
}

// returns ends a subroutine; where a measurement decides, it sets a slot.
func (e *elaborator) returns(j *jump) {
	f := e.frame
	if f == nil {
		fail(CodeMalformed, j.position(), "return belongs into a subroutine")
	}
	name := clip(f.routine.name)
	switch {
	case f.result == nil && j.value != nil:
		fail(CodeType, j.value.position(), "%s is declared without a type to return: def %s(…) -> TYPE", name, name)
	case f.result != nil && j.value == nil:
		fail(CodeType, j.position(), "%s has to return a value of type %s", name, f.result.value.describe())
	case f.result != nil:
		v := e.convert(j.value.position(), e.assigned(j.value), f.result.value.kind, f.result.value.width, false)
		e.setVariable(j.position(), f.result, v)
	}
	e.stopped = stoppedReturn
	if e.depth > f.depth {
		e.raise(j.position(), f.flag)
	}
}

// checkNoEffect refuses gates and measurements of a call that would run whether or not its value is used.
func (e *elaborator) checkNoEffect(at, before int, where string) {
	if e.operations > before {
		fail(CodeUnsupported, at, "a call that acts on qubits cannot stand %s; assign its value to a variable first", where)
	}
}

package openqasm

import (
	"maps"
	"slices"
	"strconv"
)

func itoa(i int) string { return strconv.Itoa(i) }

// symbol is the meaning of a name. Exactly one of qubits, bits, gate and value is its meaning.
type symbol struct {
	kind   symbolKind
	at     int
	qubits []int // register or alias of qubits
	bits   []int // register or alias of bits: their slots
	scalar bool  // one qubit or bit without an index
	gate   *gate

	value    value // variable
	constant bool
	defined  bool  // a variable has a value
	depth    int   // of running blocks around its declaration
	slots    []int // a variable whose value the running program keeps, lowest bit first

	array   *array
	routine *subroutine
}

type symbolKind uint8

const (
	symbolQubits symbolKind = iota
	symbolBits
	symbolVariable
	symbolGate
	symbolArray
	symbolRoutine
)

func (s *symbol) what() string {
	return [...]string{"a qubit register", "a bit register", "a variable", "a gate", "an array", "a subroutine"}[s.kind]
}

type scope map[string]*symbol

func (e *elaborator) lookup(word string) *symbol {
	for i := len(e.scopes) - 1; i >= 0; i-- {
		if s, ok := e.scopes[i][word]; ok {
			if i == 0 && !e.sees(s) {
				return nil
			}
			return s
		}
	}
	return nil
}

// sees reports whether a name from outside blocks is seen: a gate and a subroutine see their own names, constants, gates and subroutines.
func (e *elaborator) sees(s *symbol) bool {
	return !e.inGate && e.frame == nil || s.kind == symbolGate || s.kind == symbolRoutine || s.constant
}

// undeclared is what helps where a name is not declared.
func (e *elaborator) undeclared(word string, known []string) string {
	if s, ok := e.scopes[0][word]; ok && e.frame != nil && !e.sees(s) {
		return " in this subroutine, which sees constants, gates and its parameters only: pass it as one"
	}
	return suggestion(word, known)
}

func (e *elaborator) declare(at int, word string, s *symbol) *symbol {
	inner := e.scopes[len(e.scopes)-1]
	if _, taken := inner[word]; taken {
		fail(CodeMalformed, at, "%s is declared twice", clip(word))
	}
	s.at, s.depth = at, e.depth
	inner[word] = s
	return s
}

// inScope runs statements in a scope of their own.
func (e *elaborator) inScope(run func()) {
	e.scopes = append(e.scopes, scope{})
	run()
	e.scopes = e.scopes[:len(e.scopes)-1]
}

// names lists what is declared, for suggestions.
func (e *elaborator) names(kinds ...symbolKind) []string {
	var list []string
	for _, s := range e.scopes {
		for _, word := range slices.Sorted(maps.Keys(s)) {
			if slices.Contains(kinds, s[word].kind) {
				list = append(list, word)
			}
		}
	}
	return list
}

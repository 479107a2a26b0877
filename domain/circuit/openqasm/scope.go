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
	slots    []int // a variable whose value the running program keeps, lowest bit first
}

type symbolKind uint8

const (
	symbolQubits symbolKind = iota
	symbolBits
	symbolVariable
	symbolGate
)

func (s *symbol) what() string {
	return [...]string{"a qubit register", "a bit register", "a variable", "a gate"}[s.kind]
}

type scope map[string]*symbol

func (e *elaborator) lookup(word string) *symbol {
	for i := len(e.scopes) - 1; i >= 0; i-- {
		if s, ok := e.scopes[i][word]; ok {
			if e.inGate && i == 0 && s.kind != symbolGate && !s.constant {
				return nil // a gate sees its own names, constants and gates
			}
			return s
		}
	}
	return nil
}

func (e *elaborator) declare(at int, word string, s *symbol) *symbol {
	inner := e.scopes[len(e.scopes)-1]
	if _, taken := inner[word]; taken {
		fail(CodeMalformed, at, "%s is declared twice", clip(word))
	}
	s.at = at
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

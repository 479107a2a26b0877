package openqasm

import "unicode/utf8"

// Limits bound what Parse accepts. All of them are required.
type Limits struct {
	Bytes      int // of the text
	Qubits     int // declared in all
	Operations int // after unrolling loops and expanding gate definitions
}

// Inputs are the values of a program's "input" declarations: bool, Number, string (of bits) or []any of such.
type Inputs map[string]any

// Number is the decimal text of a number.
type Number string

// Bounds that no caller can raise.
const (
	maxBits  = 1000      // classical bits declared in a program
	maxSlots = 10_000    // bits declared, and bits of variables and intermediate values
	maxSteps = 1_000_000 // statements, expressions and gates visited while a program is unrolled
)

// Program is the meaning of a text: operations on numbered qubits and classical bits ("slots").
type Program struct {
	Version   int // 2 or 3
	Qubits    int
	Slots     int        // the declared bits first; those of variables and intermediate values follow
	Registers []Register // the declared bits, in order, without gaps
	Phase     float64    // global phase in radians, of gates outside if and while
	Body      []Operation
	Warnings  []string // what was ignored
	source    string
}

// Register is a declared bit register, or a single bit.
type Register struct {
	Name        string
	First, Size int // slots
}

// Kind is the kind of an operation.
type Kind uint8

// The kinds of operations.
const (
	Gate    Kind = iota // Gate, Params, Controls, Targets
	Measure             // Targets[0] into Slot
	Reset               // Targets
	Barrier             // Targets
	Assign              // Slot takes the value of Formula
	If                  // Formula, Then, Else
	While               // Formula, Then; as often as Formula is true
)

// Operation is one step of a program. Gates are those of primitives, with any number of controls.
type Operation struct {
	Kind     Kind
	At       int // byte offset of the statement, for Program.Error
	Gate     string
	Params   []float64 // radians
	Controls []int     // qubits that must be 1
	Targets  []int
	Slot     int
	Formula  Formula
	Then     []Operation
	Else     []Operation
	Switch   int // If: the switch statement that it is a case of, counted from 1 as they are elaborated; 0: of none
}

// Parse reads a program without inputs. Errors are *Error. Time and memory are bounded by the limits and by the constants above.
func Parse(source []byte, limits Limits) (Program, error) { return ParseWith(source, nil, limits) }

// ParseWith reads a program with the values of its inputs.
func ParseWith(source []byte, inputs Inputs, limits Limits) (program Program, err error) {
	text := string(source)
	defer func() { refusing(text, recover(), &err) }()
	if len(text) > limits.Bytes {
		fail(CodeTooLarge, 0, "the program has %d bytes; at most %d are read", len(text), limits.Bytes)
	}
	if !utf8.ValidString(text) {
		fail(CodeMalformed, 0, "the program is not UTF-8 text")
	}
	const byteOrderMark = "\ufeff"
	if len(text) >= len(byteOrderMark) && text[:len(byteOrderMark)] == byteOrderMark {
		text = text[len(byteOrderMark):]
	}
	p := newParser(text)
	statements := p.program()
	return elaborate(p, statements, inputs, limits), nil
}

// Error is the refusal of an operation by the runner of a program.
func (p Program) Error(op Operation, code Code, message string) *Error {
	return problem{code, op.At, message}.locate(p.source)
}

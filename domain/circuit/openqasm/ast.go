package openqasm

// expression is a node of an expression; position is the byte offset errors point at.
type expression interface{ position() int }

type at int

func (a at) position() int { return int(a) }

type (
	// literal is a number, a truth value or a bit string.
	literal struct {
		at
		value value
	}
	name struct {
		at
		text string
	}
	// hardware is a physical qubit, $0.
	hardware struct {
		at
		text string
	}
	unary struct {
		at
		op string
		x  expression
	}
	binary struct {
		at
		op   string
		x, y expression
	}
	call struct {
		at
		function  string
		arguments []expression
	}
	cast struct {
		at
		to typeName
		x  expression
	}
	// indexed is base[items]; an item may be a span.
	indexed struct {
		at
		base  expression
		items []expression
	}
	// span is start:step:stop; missing parts are nil.
	span struct {
		at
		start, step, stop expression
	}
	// set is {a, b, c}.
	set struct {
		at
		items []expression
	}
	// concatenation is a ++ b.
	concatenation struct {
		at
		parts []expression
	}
	// measurement is "measure q" as a value.
	measurement struct {
		at
		operand expression
	}
)

// typeName is a type as written: "uint[8]".
type typeName struct {
	at
	word  string
	width expression // nil: none written
}

// statement is a node of a program.
type statement interface{ position() int }

type (
	// declaration is of qubits or of classical values.
	declaration struct {
		at
		of       typeName
		name     string
		initial  expression // nil: none
		constant bool
		old      bool // qreg or creg
	}
	alias struct {
		at
		name  string
		value expression
	}
	// assignment has a nil target for a measurement whose outcome is not kept.
	assignment struct {
		at
		target expression
		op     string // "=", "+=", …
		value  expression
	}
	gateCall struct {
		at
		modifiers []modifier
		name      string
		arguments []expression
		operands  []expression
		gate      *gate // found when the definition that contains the call was read; nil outside definitions
	}
	gateDefinition struct {
		at
		name       string
		parameters []string
		qubits     []string
		body       []statement
		opaque     bool
	}
	// directive is barrier, reset, delay or nop.
	directive struct {
		at
		word     string
		operands []expression
	}
	choice struct {
		at
		condition       expression
		then, otherwise []statement
	}
	forLoop struct {
		at
		of     typeName
		name   string
		values expression
		body   []statement
	}
	whileLoop struct {
		at
		condition expression
		body      []statement
	}
	selection struct { // switch
		at
		subject   expression
		cases     []selectionCase
		otherwise []statement // default
	}
	// jump is break, continue or end.
	jump struct {
		at
		word string
	}
	block struct {
		at
		body []statement
	}
)

type selectionCase struct {
	labels []expression
	body   []statement
}

// modifier is ctrl, negctrl, inv or pow with its argument, nil when none is written.
type modifier struct {
	at
	word     string
	argument expression
}

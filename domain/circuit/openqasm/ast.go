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
	// timing is durationof({ … }).
	timing struct{ at }
	// measurement is "measure q" as a value.
	measurement struct {
		at
		operand expression
	}
)

// typeName is a type as written: "uint[8]", or "array[uint[8], 2, 3]" with the type of its elements.
type typeName struct {
	at
	word     string
	width    expression   // nil: none written
	element  *typeName    // of an array
	sizes    []expression // of an array: one for each dimension
	rank     expression   // of an array parameter: "#dim = rank" instead of sizes
	readonly bool         // of an array parameter
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
		input    bool // the value comes with the program
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
		length    expression // the duration that is asked for; nil: none
		gate      *gate      // found when the definition that contains the call was read; nil outside definitions
	}
	// subroutine is "def name(parameters) -> returns { body }".
	subroutine struct {
		at
		name       string
		parameters []parameter
		returns    *typeName // nil: nothing
		body       []statement
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
		length   expression // of a delay
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
	// jump is break, continue, return or end.
	jump struct {
		at
		word  string
		value expression // of return; nil: none
	}
	block struct {
		at
		length expression // of a box; nil: none
		body   []statement
	}
)

type selectionCase struct {
	labels []expression
	body   []statement
}

type parameter struct {
	at
	of   typeName
	name string
}

// modifier is ctrl, negctrl, inv or pow with its argument, nil when none is written.
type modifier struct {
	at
	word     string
	argument expression
}

package openqasm

import (
	"strconv"
	"strings"
)

// String is the program as OpenQASM 3 in a plain form: every loop unrolled, every definition expanded. Registers are
// named q, c0, c1, …; slots of variables are a register of their own, named hidden. Parse gives the same operations.
func (p Program) String() string {
	w := printer{program: p}
	w.line("OPENQASM 3.0;")
	w.line("qubit[" + itoa(p.Qubits) + "] q;")
	visible := 0
	for i, r := range p.Registers {
		w.line("bit[" + itoa(r.Size) + "] c" + itoa(i) + ";")
		visible += r.Size
	}
	if hidden := p.Slots - visible; hidden > 0 {
		w.line("bit[" + itoa(hidden) + "] hidden;")
	}
	if p.Phase != 0 {
		w.line("gphase(" + angleText(p.Phase) + ");")
	}
	w.block(p.Body)
	return w.out.String()
}

type printer struct {
	program Program
	out     strings.Builder
	indent  string
}

func (w *printer) line(text string) { w.out.WriteString(w.indent + text + "\n") }

func (w *printer) block(list []Operation) {
	for _, op := range list {
		w.operation(op)
	}
}

func (w *printer) inner(list []Operation) {
	outer := w.indent
	w.indent += "  "
	w.block(list)
	w.indent = outer
}

func (w *printer) operation(op Operation) {
	switch op.Kind {
	case Gate:
		w.line(gateText(op))
	case Measure:
		w.line(w.slot(op.Slot) + " = measure " + qubitList(op.Targets) + ";")
	case Reset:
		w.line("reset " + qubitList(op.Targets) + ";")
	case Barrier:
		w.line("barrier " + qubitList(op.Targets) + ";")
	case Assign:
		w.line(w.slot(op.Slot) + " = " + w.formula(op.Formula) + ";")
	case If:
		w.line("if (" + w.formula(op.Formula) + ") {")
		w.inner(op.Then)
		if len(op.Else) > 0 {
			w.line("} else {")
			w.inner(op.Else)
		}
		w.line("}")
	case While:
		w.line("while (" + w.formula(op.Formula) + ") {")
		w.inner(op.Then)
		w.line("}")
	}
}

func gateText(op Operation) string {
	var b strings.Builder
	if n := len(op.Controls); n > 0 {
		b.WriteString("ctrl(" + itoa(n) + ") @ ")
	}
	b.WriteString(op.Gate)
	for i, p := range op.Params {
		b.WriteString(map[bool]string{true: "(", false: ", "}[i == 0] + angleText(p))
	}
	if len(op.Params) > 0 {
		b.WriteString(")")
	}
	b.WriteString(" " + qubitList(append(op.Controls[:len(op.Controls):len(op.Controls)], op.Targets...)) + ";")
	return b.String()
}

// angleText is a number that reads back to the same double, as a float.
func angleText(x float64) string { return strconv.FormatFloat(x, 'e', -1, 64) }

func qubitList(qubits []int) string {
	names := make([]string, len(qubits))
	for i, q := range qubits {
		names[i] = "q[" + itoa(q) + "]"
	}
	return strings.Join(names, ", ")
}

func (w *printer) slot(s int) string {
	visible := 0
	for i, r := range w.program.Registers {
		if s < r.First+r.Size {
			return "c" + itoa(i) + "[" + itoa(s-r.First) + "]"
		}
		visible = r.First + r.Size
	}
	return "hidden[" + itoa(s-visible) + "]"
}

func (w *printer) formula(f Formula) string {
	parts := make([]string, len(f.Bits))
	for i, b := range f.Bits {
		value, known := b.Constant()
		switch {
		case known:
			parts[i] = strconv.FormatBool(value)
		case b.Not:
			parts[i] = "!" + w.slot(b.Slot)
		default:
			parts[i] = w.slot(b.Slot)
		}
	}
	return strings.Join(parts, [...]string{And: " && ", Or: " || ", Xor: " ^ "}[f.Connective])
}

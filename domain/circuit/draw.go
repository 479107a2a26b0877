package circuit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxDrawnCells bounds a drawing: qubits times columns.
const maxDrawnCells = 100_000

type cellKind uint8

const (
	cellWire cellKind = iota
	cellBox
	cellControl
	cellNot // the target of a controlled x
	cellSwap
	cellBarrier
)

type drawnCell struct {
	kind  cellKind
	label string // of a box
	noise bool   // a channel
}

// drawnColumn holds instructions that share no qubit and cross no other's line.
type drawnColumn struct {
	cells map[int]drawnCell // by qubit
	lines [][2]int          // vertical lines, from the upper qubit to the lower
}

// drawnInstruction is one that has been placed.
type drawnInstruction struct {
	column      int
	top, bottom int // qubits between which nothing else stands in its column
	cells       map[int]drawnCell
	words       string
}

// drawing is a circuit laid out in columns: every instruction stands as far left as its qubits and bits allow.
type drawing struct {
	circuit      Circuit
	mostCells    int
	columns      []drawnColumn
	instructions []drawnInstruction // in the order of the circuit
	level        []int              // first free column of each qubit
	known        []int              // first column in which each classical bit may be read
}

// layOut refuses circuits of more cells than mostCells.
func (c Circuit) layOut(mostCells int) (drawing, error) {
	d := drawing{circuit: c, mostCells: mostCells, level: make([]int, c.qubits), known: make([]int, c.slots)}
	d.block(c.gates)
	if cells := len(d.columns) * c.qubits; cells > mostCells {
		return drawing{}, refuse(CodeTooLarge, "the drawing would have %d columns for %d qubits; at most %d cells are drawn", len(d.columns), c.qubits, mostCells)
	}
	return d, nil
}

func (d *drawing) block(list []gate) {
	for _, g := range list {
		if len(d.columns)*d.circuit.qubits > d.mostCells {
			return
		}
		d.gate(g)
	}
}

func (d *drawing) gate(g gate) {
	switch g.kind {
	case kindIf:
		d.marker(g, "if "+d.expressionText(g.flow.condition))
		d.block(g.flow.then)
		if len(g.flow.otherwise) > 0 {
			d.marker(g, "else")
			d.block(g.flow.otherwise)
		}
		d.marker(g, "end")
		return
	case kindWhile:
		d.marker(g, "while "+d.expressionText(g.flow.condition))
		d.block(g.flow.then)
		d.marker(g, "end")
		return
	case kindAssign: // classical bits have no lines
		from := 0
		g.flow.condition.forEachSlot(func(s int) { from = max(from, d.known[s]) })
		for _, s := range g.slots {
			d.known[s] = max(d.known[s], from)
		}
		return
	case kindChannel:
		size := g.channel.qubits
		for from := 0; from < len(g.targets); from += size {
			cells := map[int]drawnCell{}
			for _, q := range g.targets[from : from+size] {
				cells[q] = drawnCell{kind: cellBox, label: strings.ToUpper(g.name), noise: true}
			}
			d.place(cells, "noise "+g.name+" on "+qubitNames(g.targets[from:from+size]))
		}
		return
	case kindMeasure, kindReset:
		for i, q := range g.targets {
			if g.kind == kindMeasure {
				bit := d.slotName(g.slots[i])
				d.place(map[int]drawnCell{q: {kind: cellBox, label: "M " + bit}}, "measure "+qubitNames([]int{q})+" into "+bit, g.slots[i])
			} else {
				d.place(map[int]drawnCell{q: {kind: cellBox, label: "|0⟩"}}, "reset "+qubitNames([]int{q}))
			}
		}
		return
	}
	cells := make(map[int]drawnCell, len(g.targets)+len(g.controls))
	for _, q := range g.controls {
		cells[q] = drawnCell{kind: cellControl}
	}
	cell := drawnCell{kind: cellBox, label: boxLabel(g)}
	switch {
	case g.kind == kindBarrier:
		cell = drawnCell{kind: cellBarrier}
	case g.kind == kindSwap:
		cell = drawnCell{kind: cellSwap}
	case g.kind == kindX && len(g.controls) > 0:
		cell = drawnCell{kind: cellNot}
	}
	for _, q := range g.targets {
		cells[q] = cell
	}
	words := boxLabel(g) + " on " + qubitNames(g.targets)
	if g.kind == kindBarrier {
		words = "barrier on " + qubitNames(g.targets)
	}
	if len(g.controls) > 0 {
		words += ", controlled by " + qubitNames(g.controls)
	}
	d.place(cells, words)
}

// qubitNames are the qubits as a drawing names them.
func qubitNames(qubits []int) string {
	names := make([]string, len(qubits))
	for i, q := range qubits {
		names[i] = "q" + strconv.Itoa(q)
	}
	return strings.Join(names, ", ")
}

// marker is the begin or end of a block, on every qubit the block uses.
func (d *drawing) marker(g gate, label string) {
	cells := map[int]drawnCell{}
	var slots []int
	g.touches(func(q int) { cells[q] = drawnCell{kind: cellBox, label: label} }, func(s int) { slots = append(slots, s) })
	d.place(cells, label+" on "+qubitNames(slices.Sorted(maps.Keys(cells))), slots...)
}

// place adds an instruction that reads or writes these classical bits.
func (d *drawing) place(cells map[int]drawnCell, words string, slots ...int) {
	if len(cells) == 0 {
		return
	}
	top, bottom := d.circuit.qubits, -1
	for q := range cells {
		top, bottom = min(top, q), max(bottom, q)
	}
	column := 0
	for q := top; q <= bottom; q++ {
		column = max(column, d.level[q])
	}
	for _, s := range slots {
		column = max(column, d.known[s])
	}
	for q := top; q <= bottom; q++ {
		d.level[q] = column + 1
	}
	for _, s := range slots {
		d.known[s] = column + 1
	}
	for column >= len(d.columns) {
		d.columns = append(d.columns, drawnColumn{cells: map[int]drawnCell{}})
	}
	d.instructions = append(d.instructions, drawnInstruction{column, top, bottom, cells, words})
	for q, cell := range cells {
		d.columns[column].cells[q] = cell
	}
	if top < bottom {
		d.columns[column].lines = append(d.columns[column].lines, [2]int{top, bottom})
	}
}

// lineAt reports whether a vertical line passes a qubit, and whether it goes on below it.
func (c drawnColumn) lineAt(q int) (passes, below bool) {
	for _, l := range c.lines {
		passes = passes || l[0] <= q && q <= l[1]
		below = below || l[0] <= q && q < l[1]
	}
	return passes, below
}

// boxLabel is a gate's name without the prefix of its controls, with angles to four digits.
func boxLabel(g gate) string {
	name := specName(g.kind)
	if len(g.params) == 0 {
		return strings.ToUpper(name)
	}
	angles := make([]string, len(g.params))
	for i, p := range g.params {
		angles[i] = strconv.FormatFloat(p, 'g', 4, 64)
		if g.formulas != nil && g.formulas[i] != nil {
			angles[i] = clipText(g.formulas[i].String())
		}
	}
	return strings.ToUpper(name) + "(" + strings.Join(angles, ",") + ")"
}

// specName is the name of a kind without controls.
func specName(k kind) string {
	for _, spec := range gateSpecs {
		if spec.kind == k && spec.controls == 0 {
			return spec.name
		}
	}
	return "?"
}

// slotName is a classical bit as the program names it; a variable's bit is v0, v1, ….
func (d *drawing) slotName(slot int) string {
	hidden := slot
	for _, r := range d.circuit.registers {
		if slot < r.first+r.size {
			if r.size == 1 {
				return clipText(r.name)
			}
			return clipText(r.name) + "[" + strconv.Itoa(slot-r.first) + "]"
		}
		hidden = slot - r.first - r.size
	}
	if d.circuit.registers == nil {
		return strconv.Itoa(slot)
	}
	return "v" + strconv.Itoa(hidden)
}

// expressionText is a condition in a few characters; a long one is cut.
func (d *drawing) expressionText(e expression) string {
	return clipText(d.wholeExpression(e))
}

func (d *drawing) wholeExpression(e expression) string {
	switch e.op {
	case exprConstant:
		return strconv.FormatUint(e.value, 10)
	case exprBits:
		names := make([]string, 0, len(e.slots))
		for i := len(e.slots) - 1; i >= 0; i-- {
			names = append(names, d.slotName(e.slots[i]))
		}
		return strings.Join(names, " ")
	case exprNot:
		return "!" + d.wholeExpression(e.args[0])
	}
	signs := map[expressionOp]string{
		exprAnd: "&&", exprOr: "||", exprXor: "^", exprBitAnd: "&", exprBitOr: "|", exprEqual: "=", exprNotEqual: "≠",
		exprLess: "<", exprLessEqual: "≤", exprGreater: ">", exprGreaterEqual: "≥",
	}
	return fmt.Sprintf("%s %s %s", d.wholeExpression(e.args[0]), signs[e.op], d.wholeExpression(e.args[1]))
}

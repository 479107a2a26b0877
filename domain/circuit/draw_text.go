package circuit

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// DrawText is the circuit as lines of text, qubit 0 on top. A drawing wider than width characters goes on below, as
// often as needed; 0 means any width.
func (c Circuit) DrawText(width int) (string, error) {
	d, err := c.layOut(maxDrawnCells)
	if err != nil {
		return "", err
	}
	label := utf8.RuneCountInString(qubitLabel(c.qubits - 1))
	var out strings.Builder
	for first := 0; first == 0 || first < len(d.columns); {
		last, used := first, label+1
		for last < len(d.columns) {
			w := d.columns[last].textWidth()
			if last > first && width > 0 && used+w > width {
				break
			}
			used += w
			last++
		}
		if first > 0 {
			out.WriteString("\n")
		}
		d.textBand(&out, d.columns[first:last], label)
		first = max(last, 1)
	}
	return out.String(), nil
}

func qubitLabel(q int) string { return "q" + strconv.Itoa(q) + ":" }

// textBand writes some columns: a line for every qubit and one for what connects it to the next.
func (d *drawing) textBand(out *strings.Builder, columns []drawnColumn, label int) {
	for q := range d.circuit.qubits {
		name := qubitLabel(q)
		wire := name + strings.Repeat(" ", label-len(name)) + " "
		gap := strings.Repeat(" ", label+1)
		for _, c := range columns {
			width := c.textWidth()
			passes, below := c.lineAt(q)
			wire += centred(c.cells[q].text(passes), width, "─")
			if below {
				gap += centred("│", width, " ")
			} else {
				gap += strings.Repeat(" ", width)
			}
		}
		out.WriteString(wire + "\n")
		if q < d.circuit.qubits-1 {
			out.WriteString(strings.TrimRight(gap, " ") + "\n")
		}
	}
}

func (c drawnColumn) textWidth() int {
	width := 3
	for _, cell := range c.cells {
		width = max(width, utf8.RuneCountInString(cell.text(false))+2)
	}
	return width
}

func (c drawnCell) text(passed bool) string {
	switch c.kind {
	case cellBox:
		return "┤" + c.label + "├"
	case cellControl:
		return "●"
	case cellNot:
		return "⊕"
	case cellSwap:
		return "✕"
	case cellBarrier:
		return "░"
	}
	if passed {
		return "┼"
	}
	return "─"
}

// centred pads both sides, with one more on the right when they cannot be equal.
func centred(text string, width int, pad string) string {
	free := width - utf8.RuneCountInString(text)
	return strings.Repeat(pad, free/2) + text + strings.Repeat(pad, free-free/2)
}

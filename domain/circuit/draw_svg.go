package circuit

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes of a drawing in SVG, in pixels.
const (
	svgRow    = 40 // from one qubit to the next
	svgBox    = 28 // height of a box
	svgLetter = 8  // width of a character of the labels
	svgLeft   = 48 // room for the names of the qubits
)

// DrawSVG is the circuit as an SVG image, qubit 0 on top.
func (c Circuit) DrawSVG() (string, error) {
	d, err := c.layOut(maxDrawnCells)
	if err != nil {
		return "", err
	}
	return d.svg(), nil
}

// Diagram is a circuit to look at and to read.
type Diagram struct {
	SVG      string   // an image whose texts are escaped
	Words    []string // an instruction each, in the order of the circuit
	Channels bool     // some of the instructions are noise
	Noise    bool     // a noise model applies to the gates that it names; it is not drawn
}

// Diagram is the circuit drawn in at most so many cells, qubits times columns; a larger one is refused.
func (c Circuit) Diagram(mostCells int) (Diagram, error) {
	d, err := c.layOut(min(mostCells, maxDrawnCells))
	if err != nil {
		return Diagram{}, err
	}
	made := Diagram{SVG: d.svg(), Words: make([]string, len(d.instructions)), Noise: c.noise != nil}
	for i, one := range d.instructions {
		made.Words[i] = one.words
		for _, cell := range one.cells {
			made.Channels = made.Channels || cell.noise
		}
	}
	return made, nil
}

func (d drawing) svg() string {
	qubits := d.circuit.qubits
	width := svgLeft
	for _, column := range d.columns {
		width += column.svgWidth()
	}
	width += svgRow / 2
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="13" text-anchor="middle" stroke="black" fill="white">`+"\n",
		width, qubits*svgRow)
	for q := range qubits {
		fmt.Fprintf(&out, `<path d="M%d %dH%d"/>`+"\n", svgLeft, svgMiddle(q), width)
		svgText(&out, svgLeft/2, svgMiddle(q), "q"+fmt.Sprint(q))
	}
	x := svgLeft
	for _, column := range d.columns {
		column.svg(&out, qubits, x+column.svgWidth()/2)
		x += column.svgWidth()
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func svgMiddle(q int) int { return q*svgRow + svgRow/2 }

func svgText(out *strings.Builder, x, y int, text string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" stroke="none" fill="black">`, x, y+5)
	_ = xml.EscapeText(out, []byte(text)) // a strings.Builder takes everything
	out.WriteString("</text>\n")
}

func (c drawnColumn) svgWidth() int {
	width := svgRow
	for _, cell := range c.cells {
		width = max(width, cell.svgWidth()+svgRow-svgBox)
	}
	return width
}

func (c drawnCell) svgWidth() int {
	return max(svgBox, svgLetter*(utf8.RuneCountInString(c.label)+1))
}

// svg draws a column around x: lines first, so that boxes cover them.
func (c drawnColumn) svg(out *strings.Builder, qubits, x int) {
	for _, l := range c.lines {
		fmt.Fprintf(out, `<path d="M%d %dV%d"/>`+"\n", x, svgMiddle(l[0]), svgMiddle(l[1]))
	}
	for q := range qubits {
		if cell, ok := c.cells[q]; ok {
			cell.svg(out, x, svgMiddle(q))
		}
	}
}

func (c drawnCell) svg(out *strings.Builder, x, y int) {
	switch c.kind {
	case cellBox:
		w, edge := c.svgWidth(), ""
		if c.noise {
			edge = ` stroke-dasharray="4 3"`
		}
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d"%s/>`+"\n", x-w/2, y-svgBox/2, w, svgBox, edge)
		svgText(out, x, y, c.label)
	case cellControl:
		fmt.Fprintf(out, `<circle cx="%d" cy="%d" r="4" fill="black"/>`+"\n", x, y)
	case cellNot:
		fmt.Fprintf(out, `<circle cx="%d" cy="%d" r="10"/><path d="M%d %dV%dM%d %dH%d"/>`+"\n", x, y, x, y-10, y+10, x-10, y, x+10)
	case cellSwap:
		fmt.Fprintf(out, `<path d="M%d %dL%d %dM%d %dL%d %d"/>`+"\n", x-6, y-6, x+6, y+6, x-6, y+6, x+6, y-6)
	case cellBarrier:
		fmt.Fprintf(out, `<path d="M%d %dV%d" stroke-dasharray="4 3" stroke-width="3"/>`+"\n", x, y-svgRow/2, y+svgRow/2)
	}
}

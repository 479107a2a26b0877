package workbench

import (
	"encoding/json"
	"errors"
	"html/template"
	"net/http"

	"reckon/domain/circuit"
	"reckon/internal/httpkit"
)

// Bounds of a circuit that is drawn while it is written.
const (
	maxDrawnBytes = 32 << 10
	maxDrawnCells = 2000 // qubits times columns
	maxDrawnGates = 1000
)

// drawing lets one circuit be read at a time: a program's loops are unrolled while it is read, which may take a second.
var drawing = make(chan struct{}, 1)

// diagramShown is the circuit of a form, drawn, or why it is not.
type diagramShown struct {
	Qubits, Gates int
	SVG           template.HTML
	Words         []string
	Channels      bool   // some of the instructions are noise
	Noise         bool   // a noise model applies besides
	Problem       string // of the circuit
	Drawable      bool   // the problem is of the drawing only
	Submitted     bool   // it is the circuit of a job
}

// draw reads a circuit of at most so many qubits as the form has it, and draws it. Nothing is submitted.
func (v *visit) draw(text string, qubits int) diagramShown {
	if len(text) > maxDrawnBytes {
		return diagramShown{Problem: "It is too long to be drawn here.", Drawable: true}
	}
	if wrong := notJSON(text); wrong != "" {
		return diagramShown{Problem: wrong}
	}
	document, err := json.Marshal(circuitOf(text))
	if err != nil {
		return diagramShown{Problem: "It is no circuit that can be read."}
	}
	select {
	case drawing <- struct{}{}:
		defer func() { <-drawing }()
	case <-v.r.Context().Done():
		return diagramShown{Problem: "Nobody waits for it any more."}
	}
	limits := circuit.DefaultLimits()
	limits.Gates, limits.Qubits, limits.CliffordQubits = maxDrawnGates, qubits, circuit.MaxCliffordQubits
	read, err := circuit.Parse(document, limits)
	if err != nil {
		return refusedDrawing(err)
	}
	diagram, err := read.Diagram(maxDrawnCells)
	if err != nil {
		return refusedDrawing(err)
	}
	return shownDiagram(read, diagram)
}

// shownDiagram is a circuit that could be drawn.
func shownDiagram(read circuit.Circuit, diagram circuit.Diagram) diagramShown {
	return diagramShown{Qubits: read.Qubits(), Gates: len(diagram.Words), Words: diagram.Words, Noise: diagram.Noise, Channels: diagram.Channels,
		SVG: template.HTML(diagram.SVG)} //nolint:gosec // an image of our own, whose texts are escaped
}

// qubits is how many a circuit may have that is submitted here: those of the reader's plan, and of any where nobody is signed in.
func (v *visit) qubits() int {
	var catalogue plansShown
	if plan := v.who().Plan; plan != "" {
		if _, problem := v.ask(http.MethodGet, "/billing/plans", nil, &catalogue); problem == nil {
			for _, p := range catalogue.Plans {
				if p.Plan == plan {
					return int(min(p.Qubits, circuit.MaxQubits))
				}
			}
		}
	}
	return circuit.MaxQubits
}

func refusedDrawing(err error) diagramShown {
	if refused, is := errors.AsType[*circuit.Refusal](err); is && (refused.Code == circuit.CodeTooLarge || refused.Code == circuit.CodeTooManyGates) {
		return diagramShown{Problem: "It is too large to be drawn here: " + refused.Error() + ".", Drawable: true}
	}
	return diagramShown{Problem: err.Error()}
}

// refuseDrawing shows the form with the reason in the drawing's place.
func (v *visit) refuseDrawing(problem *refusal) {
	page := jobsShown{Form: v.jobFields(), Diagram: diagramShown{Problem: problem.Detail}}
	v.showWithStatus("drawing", shown{Title: "A circuit", Section: "jobs", For: v.stillOf(problem), Page: page}, problem)
}

// drawForm shows the form of a circuit with its drawing.
func (v *visit) drawForm() {
	page := jobsShown{Form: jobForm{Kind: "qsim", Circuit: v.field("circuit"), Key: v.field("key")}}
	s := shown{Title: "A circuit", Section: "jobs"}
	if v.who().SignedIn {
		page.Diagram = v.draw(page.Form.Circuit, v.qubits())
	} else {
		s.Problem = &refusal{Problem: *httpkit.Unauthenticated.Problem("circuits are drawn for those who are signed in")}
	}
	s.Page = page
	v.show("drawing", s)
}

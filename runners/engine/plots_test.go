package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// curves are the drawing's polylines of the first curve's colour, and the largest rise between two neighbouring points of one, as a share of
// the height.
func curves(drawing string) (pieces int, steepest float64) {
	for _, part := range strings.Split(drawing, "<polyline ")[1:] {
		if !strings.Contains(part, `stroke="#5E81B5"`) {
			continue
		}
		pieces++
		_, points, _ := strings.Cut(part, `points="`)
		points, _, _ = strings.Cut(points, `"`)
		var before float64
		for i, pair := range strings.Fields(points) {
			var x, y float64
			_, _ = fmt.Sscanf(pair, "%f,%f", &x, &y)
			if i > 0 {
				steepest = max(steepest, max(y-before, before-y)/2250)
			}
			before = y
		}
	}
	return pieces, steepest
}

// TestJumpsAreNotJoined: the two sides of a pole or a jump are drawn apart, and what is continuous stays whole.
func TestJumpsAreNotJoined(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for code, pieces := range map[string]int{
		"Plot[Tan[x], {x, 0, 10}]": 4, "Plot[1/x, {x, -1, 1}]": 2, "Plot[Floor[x], {x, 0, 4.9}]": 5, "Plot[Sign[x], {x, -1, 1}]": 2, "Plot[1/Sin[x], {x, 1, 5}]": 2,
		"Plot[UnitStep[x - 1], {x, 0, 3}]": 2, "Plot[Mod[x, 1], {x, 0.5, 2.5}]": 3, "f[x_] := 1/(x - 2); Plot[f[x], {x, 0, 4}]": 2,
		"Plot[Sin[x], {x, 0, 10}]": 1, "Plot[1/(x - 1)^2, {x, 0, 2}]": 2, "Plot[Exp[x], {x, 0, 30}]": 1, "Plot[ArcTan[1000000 x], {x, -1, 1}]": 1, "Plot[Tanh[50 x], {x, -1, 1}]": 1,
		"Plot[1/(1 + x^2), {x, -5, 5}]": 1, "Plot[1000000 x, {x, -1, 1}, PlotRange -> {-1, 1}]": 1, "Plot[Sin[100 x], {x, 0, 10}]": 1,
		"Plot[1/Sin[x], {x, -7, 7}]": 6, "Plot[Csc[x], {x, -7, 7}]": 6, "Plot[1/Cos[x], {x, 0, 20}]": 7, "Plot[1/Sin[Pi x], {x, -3.5, 3.5}]": 8,
	} {
		outcome, err := evaluate(t, e, code)
		got, steepest := curves(string(outcome.SVG))
		if err != nil || got != pieces {
			t.Errorf("%s: %d pieces, want %d, %v", code, got, pieces, err)
		}
		if pieces > 2 && steepest > 0.2 {
			t.Errorf("%s: a line over %.0f %% of the height", code, 100*steepest)
		}
	}
	joined, _ := evaluate(t, e, "Plot[Sign[x], {x, -1, 1}, Exclusions -> None]")
	if got, _ := curves(string(joined.SVG)); got != 1 {
		t.Errorf("joined on request: %d pieces", got)
	}
	data, _ := evaluate(t, e, "ListLinePlot[Table[{x, Sign[x]}, {x, -1, 1, 0.0001}]]")
	if got, _ := curves(string(data.SVG)); got != 1 {
		t.Errorf("data: %d pieces", got)
	}
}

// TestPicturesThatAreNotThere are said to be missing.
func TestPicturesThatAreNotThere(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for code, want := range map[string]string{
		"{Plot[x, {x, 0, 1}], Plot[x^2, {x, 0, 1}]}": "2 pictures were made", "Plot[y, {x, 0, 1}]": "The picture is empty", "Plot[x, {x, 0, 1}]": "", `"-Graphics-"`: "",
		"Show[Plot[x, {x, 0, 1}], Plot[x^2, {x, 0, 1}]]": "", "Graphics[{Circle[]}]": "",
	} {
		outcome, err := evaluate(t, e, code)
		if told := strings.Join(outcome.Messages, "\n"); err != nil || (want == "") != (told == "") || !strings.HasPrefix(told, want) {
			t.Errorf("%s: %q, %v", code, told, err)
		}
	}
	for _, line := range []string{"p = Plot[x^2, {x, 0, 1}]", "p", "%"} {
		outcome, err := inSession(t, e, "ann/pictures", line)
		if told := strings.Join(outcome.Messages, "\n"); err != nil || (len(outcome.SVG) > 0) == strings.HasPrefix(told, "A picture is drawn where") {
			t.Errorf("%s: %d bytes, %q, %v", line, len(outcome.SVG), told, err)
		}
	}
}

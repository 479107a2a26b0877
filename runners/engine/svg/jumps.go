package svg

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	polyline = regexp.MustCompile(`<polyline ([^>]*)points="([^">]*)"/>`)
	viewBox  = regexp.MustCompile(`viewBox="[-0-9.]+ [-0-9.]+ ([0-9.]+) ([0-9.]+)"`)
)

// What tells a jump from a steep curve. The engine refines its samples to less than a coordinate's unit where a curve is not smooth
// (widths are thousands of units), so that a jump rises within one unit while the curve beside it does not rise.
const (
	jumpWidth = 1.0 // units, at most
	jumpShare = 0.02
	poleShare = 0.5 // of the height, for a line of its own between two pieces that leave the drawing
	poleWidth = 2.0 // units, of such a line at most: its ends are rounded to units
	lastShare = 0.1 // of the height, and of the last step, which is not refined
	lastWidth = 0.01
	calm      = 4.0 // times more than the curve's own rise on either side
)

// BreakJumps takes out of the curves of a drawing of functions, as the engine writes it, what joins the two sides of a pole or a jump: the
// segments that rise at once. It changes polylines only, and is meant for functions that may jump: a steep continuous curve is
// kept where its samples show its course. Anything it does not understand it leaves as it is.
func BreakJumps(drawing string) string {
	box := viewBox.FindStringSubmatch(drawing)
	if box == nil {
		return drawing
	}
	width, errWidth := strconv.ParseFloat(box[1], 64)
	height, errHeight := strconv.ParseFloat(box[2], 64)
	if errWidth != nil || errHeight != nil || width <= 0 || height <= 0 {
		return drawing
	}
	curves := map[string]bool{} // the styles in which a curve is drawn: not those of axes and ticks, lines of two points
	for _, line := range polyline.FindAllStringSubmatch(drawing, -1) {
		if strings.Count(line[2], ",") > 2 {
			curves[line[1]] = true
		}
	}
	return polyline.ReplaceAllStringFunc(drawing, func(line string) string {
		part := polyline.FindStringSubmatch(line)
		points, ok := readPoints(part[2])
		if !ok || !curves[part[1]] {
			return line
		}
		var kept strings.Builder
		for _, piece := range pieces(points, width, height) {
			kept.WriteString("<polyline " + part[1] + `points="`)
			for _, p := range piece {
				kept.WriteString(p.text + " ")
			}
			kept.WriteString(`"/>`)
		}
		return kept.String()
	})
}

// point is one of a polyline, in the units of the view box.
type point struct {
	x, y float64
	text string // as it was written
}

func readPoints(text string) ([]point, bool) {
	var all []point
	for _, pair := range strings.Fields(text) {
		x, y, found := strings.Cut(pair, ",")
		p := point{text: pair}
		var errX, errY error
		p.x, errX = strconv.ParseFloat(x, 64)
		p.y, errY = strconv.ParseFloat(y, 64)
		if !found || errX != nil || errY != nil {
			return nil, false
		}
		all = append(all, p)
	}
	return all, len(all) > 1
}

// pieces cuts a curve at its jumps. A line of two points that is a jump has no piece.
func pieces(points []point, width, height float64) [][]point {
	rise := func(i int) float64 { // of segment i, from point i to the next; 0 beyond the ends
		if i < 0 || i >= len(points)-1 {
			return 0
		}
		return math.Abs(points[i+1].y - points[i].y)
	}
	var all [][]point
	from := 0
	for i := range len(points) - 1 {
		run, up := math.Abs(points[i+1].x-points[i].x), rise(i)
		beside := max(rise(i-1), rise(i+1))
		var jump bool
		switch {
		case len(points) == 2:
			jump = run <= poleWidth && up >= poleShare*height
		case i == 0 || i == len(points)-2:
			jump = up >= lastShare*height && run <= lastWidth*width && beside*calm <= up
		default:
			jump = run <= jumpWidth && up >= jumpShare*height && beside*calm <= up
		}
		if jump {
			all = append(all, points[from:i+1])
			from = i + 1
		}
	}
	all = append(all, points[from:])
	kept := all[:0]
	for _, piece := range all {
		if len(piece) > 1 {
			kept = append(kept, piece)
		}
	}
	return kept
}

package openqasm

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code is the stable name of the reason a program is refused.
type Code string

// The reasons. The simulator's refusals use the same names.
const (
	CodeMalformed     Code = "malformed_circuit"
	CodeTooLarge      Code = "circuit_too_large"
	CodeTooMany       Code = "too_many_gates"
	CodeMissing       Code = "missing_field"
	CodeType          Code = "wrong_type"
	CodeQubits        Code = "qubits_out_of_range"
	CodeUnknownGate   Code = "unknown_gate"
	CodeTargets       Code = "wrong_targets"
	CodeControls      Code = "wrong_controls"
	CodeIndex         Code = "qubit_out_of_range"
	CodeRepeatedQubit Code = "repeated_qubit"
	CodeParameters    Code = "wrong_parameters"
	CodeAngle         Code = "angle_out_of_range"
	CodeUnsupported   Code = "unsupported_openqasm"
)

// Error is why a program is refused, and where.
type Error struct {
	Code    Code
	Message string // one sentence, without the place
	Line    int    // 1-based
	Column  int    // 1-based, in characters
	Excerpt string // the line of the program and, below it, a caret under the column
}

// Error is the message with its place.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// problem is an Error whose place is still an offset. The reader raises it as a panic, which [Parse] alone recovers:
// refusals come from deep inside recursive descent, and no caller in between could do anything about them.
type problem struct {
	code    Code
	at      int // byte offset
	message string
}

// fail refuses the program at a byte offset.
func fail(code Code, at int, format string, args ...any) {
	panic(problem{code, at, fmt.Sprintf(format, args...)})
}

// locate turns a problem into an Error.
func (p problem) locate(source string) *Error {
	at := min(p.at, len(source))
	start := strings.LastIndexByte(source[:at], '\n') + 1
	end := len(source)
	if i := strings.IndexByte(source[at:], '\n'); i >= 0 {
		end = at + i
	}
	column := utf8.RuneCountInString(source[start:at]) + 1
	return &Error{
		Code: p.code, Message: p.message, Line: strings.Count(source[:at], "\n") + 1, Column: column,
		Excerpt: excerpt([]rune(strings.TrimRight(source[start:end], "\r")), column),
	}
}

// excerpt shows at most 80 characters of a line around the column.
func excerpt(line []rune, column int) string {
	const width, before = 80, 50
	first := 0
	if column > width {
		first = column - before
	}
	shown := line[min(first, len(line)):min(first+width, len(line))]
	var b strings.Builder
	for _, r := range shown {
		if r < ' ' || r == 0x7f { // a tab or another control character takes one column, so that the caret is right
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String() + "\n" + strings.Repeat(" ", column-1-first) + "^"
}

// clip bounds foreign text before it is echoed.
func clip(s string) string {
	const most = 32
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// suggestion is "; did you mean x?" for the known name closest to a wrong one, or nothing.
func suggestion(wrong string, known []string) string {
	best, distance := "", 3
	if utf8.RuneCountInString(wrong) < 3 {
		distance = 2
	}
	if len(wrong) > 64 {
		return ""
	}
	for _, name := range known {
		if d := editDistance(wrong, name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance counts insertions, deletions, replacements and exchanges of neighbours; case does not count.
func editDistance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range x {
		previous, row := rows[1], rows[2]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(previous[j]+cost, previous[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], rows[0][j-1]+1)
			}
		}
		rows[0], rows[1], rows[2] = rows[1], rows[2], rows[0]
	}
	return rows[1][len(y)]
}

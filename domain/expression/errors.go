package expression

import (
	"fmt"
	"strings"
)

// Reason tells the kinds of refusal apart.
type Reason string

// The reasons for which Parse refuses a text.
const (
	ReasonEmpty       Reason = "empty"       // no expression in the text
	ReasonSeveral     Reason = "several"     // more than one expression where one is wanted
	ReasonSyntax      Reason = "syntax"      // not in the grammar
	ReasonCharacter   Reason = "character"   // not UTF-8, a control character, or a character without a meaning here
	ReasonEscape      Reason = "escape"      // a backslash sequence that is not read outside or inside a string
	ReasonNumber      Reason = "number"      // a malformed or oversized number
	ReasonUnclosed    Reason = "unclosed"    // a bracket, string or comment that never ends
	ReasonTooLong     Reason = "too_long"    // more than MaxBytes
	ReasonTooMany     Reason = "too_many"    // more than MaxTokens
	ReasonTooDeep     Reason = "too_deep"    // nested deeper than MaxDepth
	ReasonUnsupported Reason = "unsupported" // known to the language, not read by this service
)

// SyntaxError says why and where a text was refused.
type SyntaxError struct {
	Reason  Reason
	Pos     Position
	Message string // for a person: what is wrong and what to do
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Column, e.Message)
}

// maxExcerpt bounds the part of a line that Excerpt shows, in characters.
const maxExcerpt = 72

// Excerpt is the line of the text that the error is about, shortened around the place, and below it a caret under the place. It is
// empty for a place outside the text.
func (e *SyntaxError) Excerpt(src string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src), "\n")
	if e.Pos.Line < 1 || e.Pos.Line > len(lines) {
		return ""
	}
	line := []rune(strings.ReplaceAll(lines[e.Pos.Line-1], "\t", " "))
	at := min(e.Pos.Column-1, len(line))
	from := max(0, at-maxExcerpt/2)
	to := min(len(line), from+maxExcerpt)
	return string(line[from:to]) + "\n" + strings.Repeat(" ", at-from) + "^"
}

func refuse(reason Reason, pos Position, format string, args ...any) *SyntaxError {
	return &SyntaxError{Reason: reason, Pos: pos, Message: fmt.Sprintf(format, args...)}
}

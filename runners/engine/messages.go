package engine

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/slips"
)

var parseError = regexp.MustCompile(`^Parse error:\s+--> ([0-9]+):([0-9]+)`)

// refusal turns the engine's own error text into one for people. Where the engine could not read the code, the service's own
// parser says why and where. For what that parser reads the place is that of the first slip, or the engine's where it is in the code: the
// engine often names the end of what it was given.
func refusal(code, text string) *FailedError {
	at := parseError.FindStringSubmatch(text)
	if at == nil {
		return &FailedError{Reason: run.FailureRefused, Detail: withoutSystem(strings.TrimPrefix(text, "Evaluation error: "))}
	}
	var wrong *expression.SyntaxError
	if _, err := expression.ParseAll(code); errors.As(err, &wrong) {
		return &FailedError{Reason: run.FailureSyntax, Detail: wrong.Error() + "\n" + wrong.Excerpt(code)}
	}
	line, _ := strconv.Atoi(at[1])
	column, _ := strconv.Atoi(at[2])
	place := expression.Position{Line: line, Column: column}
	if found := slips.Find(code); len(found) > 0 {
		before := strings.Split(string([]rune(code)[:found[0].Range.Start]), "\n")
		place = expression.Position{Line: len(before), Column: utf8.RuneCountInString(before[len(before)-1]) + 1}
	}
	wrong = &expression.SyntaxError{Pos: place, Message: "the engine cannot read the text here"}
	if lines := strings.Split(code, "\n"); place.Line > len(lines) || place.Column > utf8.RuneCountInString(strings.TrimRight(lines[place.Line-1], " \t\r;")) {
		return &FailedError{Reason: run.FailureSyntax, Detail: "the engine cannot read this text, and does not say where: write it in another way, or line by line"}
	}
	return &FailedError{Reason: run.FailureSyntax, Detail: wrong.Error() + "\n" + wrong.Excerpt(code)}
}

// systemError is in the engine's texts about what its sandbox refuses.
var systemError = regexp.MustCompile(`\(os error \d+\)|failed to run |PermissionDenied|Operation not permitted`)

// panicked is what the engine's own failures look like.
var panicked = regexp.MustCompile("PanicException|panicked at|`(?:Result|Option)::")

// NoAccess is why an evaluation failed that reached for what the walls keep from it.
const NoAccess = "expressions have no files, no programs and no network here"

// withoutSystem is the engine's text about a failure, in words about the expression where the text is about the engine's own workings.
func withoutSystem(text string) string {
	switch {
	case systemError.MatchString(text):
		return NoAccess
	case panicked.MatchString(text):
		return "the engine cannot go on with this expression: it failed in the middle of it"
	}
	return text
}

var messageName = regexp.MustCompile(`^[\pL$][\pL\pN$` + "`" + `]*::[\pL\pN]+: `)

// oneLine flattens a message. The engine draws fractions and powers in them over several lines:
//
//	                                 1
//	Power::infy: Infinite expression - encountered.
//	                                 0
//
// which becomes `Power::infy: Infinite expression 1/0 encountered.`
func oneLine(message string) string {
	lines := strings.Split(strings.Trim(message, "\n"), "\n")
	base := -1
	for i, line := range lines {
		if messageName.MatchString(line) {
			base = i
			break
		}
	}
	if base < 0 || len(lines) == 1 || base == 0 && len(lines) > 1 && !strings.HasPrefix(lines[1], " ") {
		return strings.Join(strings.Fields(message), " ")
	}
	var above, below []rune
	if base > 0 {
		above = []rune(lines[base-1])
	}
	if base+1 < len(lines) {
		below = []rune(lines[base+1])
	}
	return strings.Join(strings.Fields(flatten([]rune(lines[base]), above, below)), " ")
}

// flatten merges one drawn line with the one above (numerators, exponents) and the one below (denominators).
func flatten(line, above, below []rune) string {
	var text strings.Builder
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && line[end] == '-' {
			end++
		}
		if end > i {
			over, under := between(above, i, end), between(below, i, end)
			if over != "" && under != "" {
				text.WriteString(grouped(over) + "/" + grouped(under))
				i = end
				continue
			}
		}
		if over := above; line[i] == ' ' && i < len(over) && over[i] != ' ' && i > 0 && line[i-1] != ' ' {
			stop := i
			for stop < len(over) && stop < len(line) && line[stop] == ' ' && over[stop] != ' ' {
				stop++
			}
			text.WriteString("^" + grouped(string(over[i:stop])))
			i = stop
			continue
		}
		text.WriteRune(line[i])
		i++
	}
	return text.String()
}

// between is the text of a line within the columns [from, to), trimmed.
func between(line []rune, from, to int) string {
	if from >= len(line) {
		return ""
	}
	return strings.TrimSpace(string(line[from:min(to, len(line))]))
}

func grouped(term string) string {
	if strings.ContainsAny(term, " +-*/") {
		return "(" + term + ")"
	}
	return term
}

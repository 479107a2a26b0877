package engine

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"reckon/domain/expression"
	"reckon/domain/run"
)

var parseError = regexp.MustCompile(`^Parse error:\s+--> ([0-9]+):([0-9]+)`)

// refusal turns the engine's own error text into one for people. Where the engine could not read the code, the service's own
// parser says why and where; the engine's place serves only for what that parser reads.
func refusal(code, text string) *FailedError {
	at := parseError.FindStringSubmatch(text)
	if at == nil {
		return &FailedError{Reason: run.FailureRefused, Detail: strings.TrimPrefix(text, "Evaluation error: ")}
	}
	var wrong *expression.SyntaxError
	if _, err := expression.ParseAll(code); !errors.As(err, &wrong) {
		line, _ := strconv.Atoi(at[1])
		column, _ := strconv.Atoi(at[2])
		wrong = &expression.SyntaxError{Pos: expression.Position{Line: line, Column: column}, Message: "the engine cannot read the text here"}
	}
	return &FailedError{Reason: run.FailureSyntax, Detail: wrong.Error() + "\n" + wrong.Excerpt(code)}
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

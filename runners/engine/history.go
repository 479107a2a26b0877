package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reckon/domain/expression"
	"reckon/domain/run"
)

// withOuts writes the short forms of a session's text in full, for the engine reads %% as Out[-1]: % becomes Out[] and %% becomes
// Out[-2]. In parentheses, because the engine multiplies a call and what follows it first. %5 is read rightly and stays, and so do
// strings and comments. A text that cannot be cut into words is refused when it has a %: its short forms cannot be told.
func withOuts(code string) (string, error) {
	if !strings.Contains(code, "%") {
		return code, nil
	}
	words, err := expression.Tokens(code)
	if err != nil {
		return "", &FailedError{Reason: run.FailureSyntax, Detail: "the text has a % and cannot be read: " + err.Error()}
	}
	var full strings.Builder
	at := 0
	for _, w := range words {
		percents := w.End - w.Start
		if code[w.Start:w.End] != strings.Repeat("%", percents) {
			continue
		}
		full.WriteString(code[at:w.Start])
		if percents == 1 {
			full.WriteString("(Out[])")
		} else {
			fmt.Fprintf(&full, "(Out[-%d])", percents)
		}
		at = w.End
	}
	return full.String() + code[at:], nil
}

// past are the functions that name a session's earlier lines.
var past = wordSet(`Out In InString`)

// outOfReach says why an answer names lines instead of their values; empty where it does not, or where the input named no line.
func outOfReach(x exchange, answer reply) string {
	if unknownToText.MatchString(x.inputForm) && !unknownToText.MatchString(x.code) {
		return "A text that is made by the program, as for ToExpression, knows no % : write Out[-1], Out[-2] or Out[n] in it."
	}
	if !slices.ContainsFunc(x.inputs, func(e *expression.Expr) bool { return mentions(e, past) }) {
		return ""
	}
	if !slices.ContainsFunc(x.inputs, func(e *expression.Expr) bool { return namesUnknownLine(e, answer) }) {
		if x.output == nil || !asks(x.output) && !noLine.MatchString(x.inputForm) {
			return ""
		}
	}
	if answer.Line == 0 {
		return "%, Out, In and InString name earlier lines of a session, and this evaluation is in none: evaluate in a session to use them."
	}
	if answer.Line == 1 {
		return "This is the first line of its session: no line came before it."
	}
	return fmt.Sprintf("This is line %d of its session; Out, In and InString know lines %d to %d.", answer.Line, answer.From, answer.Line-1)
}

// namesUnknownLine tells whether code that is not held takes the value of a line that is not known, by a number that is written out:
// Length[%99] is about Out[99] and no list.
func namesUnknownLine(code *expression.Expr, answer reply) bool {
	found := false
	code.Walk(func(part *expression.Expr) bool {
		head := part.HeadName()
		if assigning[head] || holding[head] {
			return false
		}
		if past[head] {
			line, written := answer.Line-1, len(part.Args) == 0
			if len(part.Args) == 1 {
				if n, err := strconv.Atoi(strings.ReplaceAll(part.Args[0].Source(), " ", "")); err == nil {
					line, written = n, true
					if n < 0 {
						line = answer.Line + n
					}
				}
			}
			found = found || written && (answer.Line == 0 || line < max(answer.From, 1) || line >= answer.Line)
		}
		return !found
	})
	return found
}

// assigning are the heads whose left side is no value.
var assigning = wordSet(`Set Unset Clear ClearAll`)

// noLine is what Out and In of a number below 1 are (evaluate.py).
var noLine = regexp.MustCompile(`Missing\["(?:NotAvailable|NoLine)"\]`)

// unknownToText is the engine's own % in a session.
var unknownToText = regexp.MustCompile(`Missing\["NoLine"\]`)

// asks tells whether an answer names a line anywhere but in code that is held: Hold[Out[]] is what was asked for.
func asks(answer *expression.Expr) bool {
	found := false
	answer.Walk(func(part *expression.Expr) bool {
		found = found || past[part.HeadName()]
		return !found && !holding[part.HeadName()]
	})
	return found
}

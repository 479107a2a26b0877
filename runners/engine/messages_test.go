package engine

import (
	"strings"
	"testing"
	"unicode/utf8"

	"reckon/domain/run"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for drawn, want := range map[string]string{
		"Sin::argx: Sin called with 2 arguments; 1 argument is expected.":                                                                   "Sin::argx: Sin called with 2 arguments; 1 argument is expected.",
		"                                 1\nPower::infy: Infinite expression - encountered.\n                                 0":           "Power::infy: Infinite expression 1/0 encountered.",
		"                                  -2\nPower::infy: Infinite expression 0   encountered.":                                           "Power::infy: Infinite expression 0^(-2) encountered.",
		"                                 a + b\nPower::infy: Infinite expression ----- encountered.\n                                   0": "Power::infy: Infinite expression (a + b)/0 encountered.",
		"f::m: a\nb": "f::m: a b",
		"Speak[\"a\"] is a built-in Wolfram Language function not yet implemented in Woxi.": "Speak[\"a\"] is a built-in Wolfram Language function not yet implemented in Woxi.",
		"Sum::div: Sum does not converge.":                                                  "Sum::div: Sum does not converge.",
		"FindRoot::x: the point x - y --- is not\n        z":                                "FindRoot::x: the point x - y --- is not",
		"": "",
	} {
		if got := oneLine(drawn); got != want {
			t.Errorf("%q\n got %q\nwant %q", drawn, got, want)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("                                 1\nPower::infy: Infinite expression - encountered.\n                                 0")
	f.Add("  -2\nA::b: 0   c")
	f.Add("\n\nA::b: -\n")
	f.Fuzz(func(t *testing.T, message string) {
		line := oneLine(message)
		if strings.ContainsAny(line, "\n\r") {
			t.Errorf("%q gives more than a line: %q", message, line)
		}
		if len(line) > 8*len(message)+8 {
			t.Errorf("%d bytes become %d", len(message), len(line))
		}
		if utf8.ValidString(message) && !utf8.ValidString(line) {
			t.Errorf("%q becomes invalid UTF-8", message)
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const unread = "Parse error:  --> 1:3\n  |\n1 | 1+\n  |   ^---\n  |\n  = expected SpanSep"
	for _, c := range []struct {
		code, text string
		want       FailedError
	}{
		{"1 +* 2", unread, FailedError{run.FailureSyntax, "line 1, column 4: \"*\" is not wanted here\n1 +* 2\n   ^"}},
		{"a;\nx\u00b2", unread, FailedError{run.FailureSyntax, "line 2, column 2: the character '\u00b2' (U+00B2) has no meaning here\nx\u00b2\n ^"}},
		{"3!!!", unread, FailedError{run.FailureSyntax, "line 1, column 3: the engine cannot read the text here\n3!!!\n  ^"}},
		{"x", "Evaluation error: Rasterize: unsupported expression type", FailedError{run.FailureRefused, "Rasterize: unsupported expression type"}},
		{"2**3", "Parse error:  --> 1:6\n", FailedError{run.FailureSyntax, "line 1, column 2: the engine cannot read the text here\n2**3\n ^"}}, // where its slip is
		{"1>>a", "Parse error:  --> 1:6\n", FailedError{run.FailureSyntax, "the engine cannot read this text, and does not say where: write it in another way, or line by line"}},
		{"a;\n1>>a;", "Parse error:  --> 2:5\n", FailedError{run.FailureSyntax, "the engine cannot read this text, and does not say where: write it in another way, or line by line"}},
		{"Run[1]", "Evaluation error: Run: failed to execute command: Operation not permitted (os error 1)", FailedError{run.FailureRefused, "expressions have no files, no programs and no network here"}},
		{"x", "something else", FailedError{run.FailureRefused, "something else"}},
	} {
		if got := refusal(c.code, c.text); *got != c.want {
			t.Errorf("%q: %+v", c.code, got)
		}
	}
}

func TestWithoutSystem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"PanicException('called `Result::unwrap()` on an `Err` value: Os { code: 1, kind: PermissionDenied, message: \"Operation not permitted\" }')": "expressions have no files, no programs and no network here",
		"PanicException('index out of bounds: the len is 0')": "the engine cannot go on with this expression: it failed in the middle of it",
		"Range specification is not valid":                    "Range specification is not valid",
	} {
		if got := withoutSystem(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestWithoutMessages(t *testing.T) {
	t.Parallel()
	message := "Part::partw: Part 3 of {1, 2} does not exist."
	for stdout, want := range map[string]string{
		"\n" + message + "\n":                    "",
		"a\n\n" + message + "\nb\n":              "a\nb\n",
		"said: " + message + "\n":                "said: " + message + "\n",
		"\n" + message + "\n\n" + message + "\n": "\n" + message + "\n", // printed by the expression as well
	} {
		if got := withoutMessages(reply{Stdout: stdout, Messages: []string{message}}); got != want {
			t.Errorf("%q: got %q, want %q", stdout, got, want)
		}
	}
}

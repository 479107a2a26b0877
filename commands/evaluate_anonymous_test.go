package commands_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"reckon/commands"
	"reckon/domain/expression"
)

// linesOf reads a file of one expression a line, in which \n stands for the end of a line of the expression.
func linesOf(t *testing.T, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, `\n`, "\n")
	}
	return lines
}

func TestHonestExpressionsAreAdmittedAnonymously(t *testing.T) {
	honest := linesOf(t, "testdata/anonymous/honest.txt")
	if len(honest) < 100 {
		t.Fatalf("only %d expressions", len(honest))
	}
	for _, text := range honest {
		if _, err := commands.AdmitAnonymous(commands.EvaluateAnonymous{Expression: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNoEscapeIsAdmittedAnonymously(t *testing.T) {
	escapes := linesOf(t, "testdata/anonymous/escapes.txt")
	if len(escapes) < 100 {
		t.Fatalf("only %d expressions", len(escapes))
	}
	for _, text := range escapes {
		_, err := commands.AdmitAnonymous(commands.EvaluateAnonymous{Expression: text})
		refusal, refused := errors.AsType[*expression.Refusal](err)
		_, unread := errors.AsType[*expression.SyntaxError](err)
		if !refused && !unread {
			t.Errorf("%s: %v", text, err)
		}
		if refused && (refusal.Name == "" || slices.Contains(expression.Mathematics(), refusal.Name)) {
			t.Errorf("%s: refused for %q", text, refusal.Name)
		}
	}
}

func TestAnonymousExpressionsAreShort(t *testing.T) {
	for _, text := range []string{strings.Repeat("1", commands.MaxAnonymousBytes+1), strings.Repeat("α", commands.MaxAnonymousBytes/2+1)} {
		_, err := commands.AdmitAnonymous(commands.EvaluateAnonymous{Expression: text})
		if long, is := errors.AsType[*commands.TooLongError](err); !is || long.Bytes != len(text) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if _, err := commands.AdmitAnonymous(commands.EvaluateAnonymous{Expression: strings.Repeat("1", commands.MaxAnonymousBytes)}); err != nil {
		t.Error(err)
	}
	if _, err := commands.AdmitAnonymous(commands.EvaluateAnonymous{Expression: " \n"}); !errors.Is(err, commands.ErrExpressionRequired) {
		t.Error(err)
	}
}

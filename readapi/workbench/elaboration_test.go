package workbench_test

import (
	"context"
	"strings"
	"testing"

	"reckon/commands"
	"reckon/test/apitest"
	"reckon/test/browser"
)

// smallExport declares one axiom and nothing else.
const smallExport = `{"meta":{"format":{"version":"3.1.0"}}}` + "\n"

// toolchain stands in for Lean: it complains of what a source says it should.
type toolchain struct{}

func (toolchain) Elaborate(_ context.Context, source, _ string, declarations []string) (commands.Elaborated, error) {
	if strings.Contains(source, "wrong") {
		return commands.Elaborated{Messages: []commands.ElaborationMessage{
			{Severity: "error", Line: 2, Column: 3, Message: "type <b>mismatch\nmore"}, {Severity: "warning", Line: 1, Message: "declaration uses `sorry`"}, {Severity: "information", Line: 99, Message: "elsewhere"},
		}}, nil
	}
	return commands.Elaborated{Messages: []commands.ElaborationMessage{{Severity: "warning", Line: 1, Column: 8, Message: "unused variable"}}, Export: []byte(smallExport), Declarations: append(declarations, "thm")}, nil
}

// TestElaborationMessagesStandAtTheirLines: and what elaborates stands in the form that has it checked.
func TestElaborationMessagesStandAtTheirLines(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{Elaborator: toolchain{}})
	signIn(t, b, s)
	b.Go(s.URL + "/proofs")
	b.Click("main details summary")
	sound(t, b, "the form for a source")
	b.Fill("#source", "theorem a : 1 = 1 := by sorry\n  wrong <i>line\n")
	b.Click(`button[value="elaborate"]`)
	b.Has("#elaborated", "not elaborated")
	b.Has("#elaborated tr:nth-child(1)", "declaration uses `sorry`")
	b.Has("#elaborated tr:nth-child(2)", "wrong <i>line")
	b.Has("#elaborated tr:nth-child(2)", "error, line 2, column 4")
	b.Has("#elaborated tr:nth-child(2)", "type <b>mismatch")
	b.Has("#elaborated > .lean", "elsewhere")
	b.Until(`document.querySelector("#source").value.startsWith("theorem a") && document.querySelector("#upload").value === ""`)
	sound(t, b, "messages at their lines")
	b.Fill("#source", "theorem thm : 1 = 1 := rfl")
	b.Click(`button[value="elaborate"]`)
	b.Has("#elaborated", "It is upload")
	b.Until(`document.querySelector("#upload").value.length === 36 && document.querySelector("#declarations").value === "thm"`)
	b.Has("#elaborated tr:nth-child(1)", "unused variable")
	b.Has("main", "Inspection")
	clean(t, b)
}

// TestElaborationWithoutAToolchain: what the deployment cannot do is not offered.
func TestElaborationWithoutAToolchain(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s)
	b.Go(s.URL + "/proofs")
	b.Click("main details summary")
	b.Has("main details", "This server has no Lean of its own")
	if forms := b.Eval(`document.querySelectorAll("main details form").length`); forms != "0" {
		t.Errorf("%s forms", forms)
	}
	sound(t, b, "no toolchain")
	clean(t, b)
}

// brokenToolchain stands in for Lean that does not answer.
type brokenToolchain struct{}

func (brokenToolchain) Elaborate(context.Context, string, string, []string) (commands.Elaborated, error) {
	return commands.Elaborated{}, commands.ErrElaborationUnavailable
}

// TestElaborationThatIsNotAnswered: the page says what the API answers, and keeps what was written.
func TestElaborationThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{Elaborator: brokenToolchain{}})
	signIn(t, b, s)
	b.Go(s.URL + "/proofs")
	b.Click("main details summary")
	b.Fill("#source", "theorem thm : 1 = 1 := rfl")
	b.Click(`button[value="elaborate"]`)
	b.Has("main details .problem", "no_elaboration")
	b.Has("main details .problem", "Try again in 5 min")
	b.Until(`document.querySelector("#source").value === "theorem thm : 1 = 1 := rfl"`)
	sound(t, b, "a toolchain that does not answer")
	clean(t, b)
}

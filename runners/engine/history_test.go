package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reckon/domain/run"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// TestSessionHistory: the lines of one session, and what each is answered.
func TestSessionHistory(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for i, line := range [][2]string{
		1:  {"2+3", "5"},
		2:  {"%+1", "6"},
		3:  {"%%", "5"},
		4:  {"% + %% %%%", "35"},
		5:  {"{%1, Out[2], Out[-1], Out[]}", "{5, 6, 35, 35}"},
		6:  {`"50% of \"%%\"" (* % *)`, `"50% of \"%%\""`},
		7:  {"StringLength[%]", "11"},
		8:  {"InString[2]", `"%+1"`},
		9:  {"InString[-3]", `"\"50% of \\\"%%\\\"\" (* % *)"`},
		10: {"41", "41"},
		11: {"1/% x", "x/41"},
		12: {"f[t_] := % + t", "Null"}, // looked up when f is called
		13: {"100", "100"},
		14: {"f[1]", "101"},
		15: {"f[1]", "102"},
		16: {"In[2]", "103"}, // evaluated again, now
		17: {"Range[1000];", "Null"},
		18: {"Total[%]", "500500"},
		19: {"Table[Out[i], {i, 1, 3}]", "{5, 6, 5}"},
		20: {"7\n% + 1", "{6, 7, 6}"}, // a line has one number
		21: {"{{1, 2}, {3, 4}} // MatrixForm", "MatrixForm[{{1, 2}, {3, 4}}]"},
		22: {"Det[%]", "-2"},
		23: {"NumberForm[2.5]", "2.5"},
		24: {"% + 1", "3.5"},
		25: {"Part[{1, 2}, 5]", "{1, 2}[[5]]"},
		26: {"Out /@ {-2, -3}", "{3.5, 2.5}"},
		27: {"$Line", "27"},
		28: {"Plot[x, {x, 0, 1}]", "-Graphics-"},
		29: {"Show[%]", "-Graphics-"},
		30: {"ToExpression[\"% + 1\"] /. x_ :> 1", "1"},
	} {
		if i == 0 {
			continue
		}
		outcome, err := inSession(t, e, "ann/history", line[0])
		if err != nil || outcome.Result != line[1] || outcome.Unevaluated && i != 25 {
			t.Errorf("line %d: %s: %s %q, %v; want %s", i, line[0], outcome.Result, outcome.Messages, err, line[1])
		}
	}
	// What cannot be read is no line; what was computed and is too large to be shown is one.
	if _, err := inSession(t, e, "ann/history", "Sin["); failure(err) != run.FailureSyntax {
		t.Error(err)
	}
	if _, err := inSession(t, e, "ann/history", "x%\\\n"); failure(err) != run.FailureSyntax {
		t.Errorf("a %% in a text that has no words: %v", err)
	}
	if _, err := inSession(t, e, "ann/history", "Range[300000]"); failure(err) != run.FailureOutputTooLarge {
		t.Error(err)
	}
	if outcome, err := inSession(t, e, "ann/history", "{$Line, Length[%]}"); err != nil || outcome.Result != "{32, 300000}" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// TestOutOfReach: lines that have no value are said to have none, and their names are no answers.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, code := range []string{"%", "% + 1", "%%", "Out[3]", "In[1]", "InString[1]"} {
		outcome, err := e.Evaluate(t.Context(), engine.Request{Code: code, Budget: 20 * time.Second, QueueWait: time.Minute})
		if err != nil || !outcome.Unevaluated || !strings.Contains(strings.Join(outcome.Messages, "\n"), "evaluate in a session") {
			t.Errorf("%s outside a session: %+v, %v", code, outcome, err)
		}
	}
	for i, code := range []string{"%", "5", "%7", "%%%%%", "Out[0]", "In[9] + 1", "Out[-50]"} {
		outcome, err := inSession(t, e, "ann/reach", code)
		if (err != nil || !outcome.Unevaluated || len(outcome.Messages) == 0) != (code == "5") {
			t.Errorf("line %d, %s: %+v, %v", i+1, code, outcome, err)
		}
	}
	for i := range engine.KeptLines {
		if outcome, err := inSession(t, e, "ann/many", fmt.Sprint(i)); err != nil || outcome.Result != fmt.Sprint(i) {
			t.Fatalf("%+v, %v", outcome, err)
		}
	}
	if outcome, _ := inSession(t, e, "ann/many", "{Out[1], Out[2], 7}"); outcome.Result != "{0, 1, 7}" {
		t.Errorf("%+v", outcome)
	}
	outcome, _ := inSession(t, e, "ann/many", "{Out[1], Out[2]}")
	want := fmt.Sprintf("This is line %d of its session; Out, In and InString know lines 2 to %d.", engine.KeptLines+2, engine.KeptLines+1)
	if outcome.Result != "{Out[1], 1}" || !outcome.Unevaluated || outcome.Messages[0] != want {
		t.Errorf("%+v", outcome)
	}
}

// TestLargeValuesAreLetGo: what a session keeps of its lines is bounded in bytes too, and the last value is always kept.
func TestLargeValuesAreLetGo(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for range 4 {
		if _, err := inSession(t, e, "ann/large", "Range[600000];"); err != nil {
			t.Fatal(err)
		}
	}
	outcome, err := inSession(t, e, "ann/large", "{Length[%], Head[%%], Out[1]}")
	if err != nil || outcome.Result != "{600000, List, Out[1]}" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// TestHistoryStartsAgain: a session opened anew has no earlier lines.
func TestHistoryStartsAgain(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, key := range []string{"ann/again/1", "ann/again/2"} {
		for _, line := range [][2]string{{"$Line", "1"}, {"%", "1"}} {
			if outcome, err := inSession(t, e, key, line[0]); err != nil || outcome.Result != line[1] {
				t.Errorf("%+v, %v", outcome, err)
			}
		}
		e.CloseSession(key)
	}
}

// TestClearedHistory: a session that takes the definitions of Out, In or InString away goes on with its next line, and what was
// before has no value.
func TestClearedHistory(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for i, clear := range []string{"Clear[Out]", "ClearAll[Out]", "Remove[Out]", "Unprotect[Out];ClearAll[Out]", "Clear[In]", "Clear[InString, Out]", "Clear[\"Global`*\"]", "ClearAll[\"Global`*\"]", "Remove[\"Global`*\"]", "Clear[\"*\"]"} {
		session := fmt.Sprint("ann/cleared", i)
		for _, line := range [][2]string{{"5", "5"}, {clear, ""}, {"7", "7"}, {"%", "7"}, {"%% + 1", "8"}, {"In[3]", "7"}, {"InString[3]", `"7"`}} {
			outcome, err := inSession(t, e, session, line[0])
			if err != nil || line[1] != "" && (outcome.Result != line[1] || outcome.Unevaluated) {
				t.Errorf("after %s: %s: %+v, %v", clear, line[0], outcome, err)
			}
		}
		if outcome, _ := inSession(t, e, session, "Out[1]"); outcome.Result != "5" && (outcome.Result != "Out[1]" || !outcome.Unevaluated || len(outcome.Messages) == 0) {
			t.Errorf("after %s: %+v", clear, outcome)
		}
	}
}

// TestLinesStayWhatTheyWere: what ends by Return has its value, an assignment to Out changes no line, and held names of lines are answers.
func TestLinesStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for i, line := range [][2]string{{"Return[{1, 2}]", "{1, 2}"}, {"Total[%]", "3"}, {"Out[1] = 99", "99"}, {"%1", "{1, 2}"}, {"Unprotect[Out]; Out[2] = 7; %2", "7"}, {"%2", "3"}, {"Hold[%]", "Hold[Out[]]"}, {"ToExpression[\"Out[2]\"]", "3"}} {
		outcome, err := inSession(t, e, "ann/stay", line[0])
		if err != nil || outcome.Result != line[1] || outcome.Unevaluated {
			t.Errorf("line %d: %s: %+v, %v; want %s", i+1, line[0], outcome, err, line[1])
		}
	}
	if outcome, err := inSession(t, e, "ann/stay", `ToExpression["% + 1"]`); err != nil || !outcome.Unevaluated || len(outcome.Messages) == 0 {
		t.Errorf("%+v, %v", outcome, err)
	}
}

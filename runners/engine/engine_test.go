package engine_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/run"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
	"reckon/test/wait"
)

func evaluate(t *testing.T, e *engine.Engine, code string) (engine.Outcome, error) {
	t.Helper()
	return e.Evaluate(t.Context(), engine.Request{Code: code, Budget: 20 * time.Second, QueueWait: time.Minute})
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, c := range []struct {
		code, result, inputForm, stdout, messages string
		unevaluated                               bool
	}{
		{code: "1+1", result: "2"},
		{code: "x", result: "x"},
		{code: "x=5;", result: "Null"},
		{code: `"a\nb"`, result: `"a\nb"`},
		{code: `{"a",b}`, result: `{"a", b}`},
		{code: `Print["hi"];3`, result: "3", stdout: "hi\n"},
		{code: "N[Pi,20]", result: "3.1415926535897932385", inputForm: "3.1415926535897932384626433832795028842`20."},
		{code: "-I*Pi", result: "(-I)*Pi"},
		{code: `FullForm[Hold[Run["ls"];1+1]]`, result: `Hold[CompoundExpression[Run["ls"], Plus[1, 1]]]`, inputForm: `FullForm[Hold[Run["ls"]; 1 + 1]]`},
		{code: "Factor[x^4+4]", result: "(2 - 2*x + x^2)*(2 + 2*x + x^2)"},
		{code: "1/0", result: "ComplexInfinity", messages: "Power::infy: Infinite expression 1/0 encountered."},
		{code: "Sin[1,2]", result: "Sin[1, 2]", messages: "Sin::argx: Sin called with 2 arguments; 1 argument is expected.", unevaluated: true},
		{code: `Print["a"];{1,2}[[3]]`, result: "{1, 2}[[3]]", stdout: "a\n", messages: "Part::partw: Part 3 of {1, 2} does not exist.", unevaluated: true},
		{code: "Integrate[1/x^x,x]", result: "Integrate[x^(-x), x]", unevaluated: true},
		{code: "f[x]", result: "f[x]"},
		{code: `Speak["a"]`, result: `Speak["a"]`, messages: `Speak["a"] is a built-in Wolfram Language function not yet implemented in Woxi.`, unevaluated: true},
		{code: "a=2\na^3", result: "8"},
		{code: "InputForm[x^2/3]", result: "x^2/3", inputForm: "InputForm[x^2/3]"},
		{code: "{{1,2},{3,4}}//MatrixForm", result: "MatrixForm[{{1, 2}, {3, 4}}]"},
		{code: `Column[{1/0,Print["a"];2}]`, result: "Column[{ComplexInfinity, 2}]", stdout: "a\n", messages: "Power::infy: Infinite expression 1/0 encountered."},
		{code: "α+1", result: "1 + α"},
		{code: "Do[1/0,{2}]", result: "Null", messages: "Power::infy: Infinite expression 1/0 encountered. (2 times)"},
		{code: "Exp[1000.]", result: "Infinity", messages: "The result holds an infinite or undefined value that machine numbers made: they end at about 1.8*10^308. It need not be infinite: compute with exact numbers to see."},
		{code: "$CommandLine", result: `{"reckon-engine"}`},
		{code: "NumberForm[3.14159,3]", result: "3.14", inputForm: "NumberForm[3.14159, 3]"},
		{code: "ScientificForm[12345.]", result: "1.2345 × 10^4", inputForm: "ScientificForm[12345.]"},
		{code: "BaseForm[255,16]", result: "BaseForm[255, 16]"},
		{code: "PercentForm[0.5]", result: "50%", inputForm: "PercentForm[0.5]"},
		{code: "DateObject[{2026,11,22}]", result: "Sun 22 Nov 2026", inputForm: `DateObject[{2026, 11, 22}, "Day"]`},
		{code: "DateObject[{2026}]", result: `DateObject[{2026}, "Year"]`},
		{code: "NestWhile[#+1&,1,#<20000&]", result: "20000"},
		{code: "Last[NestWhileList[#+1&,1,#<20000&,1,Infinity]]", result: "20000"},
		{code: "NestWhile[#+1&,1,#<20000&,1,Infinity,-1]", result: "19999"},
		{code: "NestWhile[#+1&,1,#<20000&,1,15000]", result: "15001"},
		{code: "FixedPoint[Min[#+1,20000]&,1]", result: "20000"},
		{code: "FixedPoint[Min[#+1,20000]&,1,SameTest->Equal]", result: "20000"},
		{code: "Last[FixedPointList[Min[#+1,20000]&,1,Infinity]]", result: "20000"},
		{code: "FixedPoint[#+1&,1,12000]", result: "12001"},
		{code: "{FixedPoint[Cos, 0.]}; FixedPoint[Floor, 4.3]", result: "4"},
		{code: "x := FixedPoint[Floor, 2.5]", result: "Null"},
		{
			code: "f[0]=0; f[n_]:=f[n-1]+1; f[1000]", result: "512 + f[489 - 1]", unevaluated: true,
			messages: "f[489 - 1] is left in the answer: the engine stopped before the end, as it does after 512 levels of recursion. Compute it with a loop (Do, While, Nest, Fold), or keep earlier values (f[n_] := f[n] = …) and ask for small n first.",
		},
		{code: "NSolve[Cos[x]==x,x]", result: "Solve[Cos[x] == x, x]", unevaluated: true},
	} {
		outcome, err := evaluate(t, e, c.code)
		if err != nil {
			t.Errorf("%s: %v", c.code, err)
			continue
		}
		if c.inputForm == "" {
			c.inputForm = c.result
		}
		if outcome.Result != c.result || outcome.InputForm != c.inputForm || outcome.Stdout != c.stdout ||
			strings.Join(outcome.Messages, "|") != c.messages || outcome.Unevaluated != c.unevaluated || outcome.Elapsed <= 0 {
			t.Errorf("%s: %+v", c.code, outcome)
		}
	}
}

func TestEvaluateFailures(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Limits: engine.Limits{MemoryBytes: 512 << 20}})
	for code, reason := range map[string]run.FailureReason{
		"1+":                                   run.FailureSyntax,
		"":                                     run.FailureRefused,
		"2x+3=7":                               run.FailureRefused,
		"Quit[]":                               run.FailureQuit,
		"Exit[3]":                              run.FailureQuit,
		"Range[10^10]":                         run.FailureRefused, // the engine's own guard
		"Table[1,{10^9}]":                      run.FailureMemory,
		`StringRepeat["a",10^8]`:               run.FailureMemory,
		`StringRepeat["a",3*10^6]`:             run.FailureOutputTooLarge,
		`Print[StringRepeat["a",3*10^6]]`:      run.FailureOutputTooLarge,
		`ToExpression[StringRepeat["(",10^5]]`: run.FailureCrashed,
	} {
		outcome, err := evaluate(t, e, code)
		if failure(err) != reason {
			t.Errorf("%s: %v, %.100s", code, err, outcome.Result)
		}
	}
	if outcome, err := evaluate(t, e, "1+1"); err != nil || outcome.Result != "2" {
		t.Errorf("afterwards: %v", err)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, code := range []string{"While[True]", "10^(10^9)", "Pause[1000]", "TimeConstrained[While[True],0.001]", "While[True,Print[1]]"} {
		outcome, err := e.Evaluate(t.Context(), engine.Request{Code: code, Budget: 100 * time.Millisecond, QueueWait: time.Minute})
		if !errors.Is(err, engine.ErrBudgetExhausted) || outcome.Elapsed < 100*time.Millisecond {
			t.Errorf("%s: %v after %v", code, err, outcome.Elapsed)
		}
	}
}

// 100 MB of output are cut off in the worker: the server never holds them.
func TestEndlessOutputCostsTheServerNothing(t *testing.T) {
	e := enginetest.Start(t, engine.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := evaluate(t, e, `Do[Print[StringRepeat["0123456789",10^5]],{100}]`)
	runtime.ReadMemStats(&after)
	if reason := failure(err); reason != run.FailureOutputTooLarge && reason != run.FailureMemory {
		t.Errorf("got %v", err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
		t.Errorf("the server allocated %d bytes", allocated)
	}
}

func TestNothingIsSharedBetweenEvaluations(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, code := range []string{"leak=1", "Unprotect[Sin];Sin[x_]:=7", "f[x_]:=x^2", "1+1"} {
		if _, err := evaluate(t, e, code); err != nil {
			t.Fatal(err)
		}
	}
	for code, want := range map[string]string{"leak": "leak", "Sin[Pi/2]": "1", "f[3]": "f[3]", "%": "Out[0]"} {
		if outcome, err := evaluate(t, e, code); err != nil || outcome.Result != want {
			t.Errorf("%s: %q, %v", code, outcome.Result, err)
		}
	}
	first, err := evaluate(t, e, "RandomInteger[10^15]")
	second, err2 := evaluate(t, e, "RandomInteger[10^15]")
	if err != nil || err2 != nil || first.Result == second.Result {
		t.Errorf("%q and %q, %v, %v", first.Result, second.Result, err, err2)
	}
}

func TestSaturation(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Concurrency: 1, Idle: -1})
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		_, err := e.Evaluate(ctx, engine.Request{Code: "While[True]", Session: "a/busy", Budget: time.Minute, QueueWait: time.Minute})
		if !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("the one that ran: %v", err)
		}
	})
	wait.Until(t, "a busy session", func() bool { list := e.Sessions("a"); return len(list) == 1 && list[0].Busy })
	var late *fair.SaturatedError
	if _, err := e.Evaluate(t.Context(), engine.Request{Code: "1", Budget: time.Minute, QueueWait: time.Millisecond}); !errors.As(err, &late) || late.RetryAfter <= 0 || late.RetryAfter > time.Minute {
		t.Errorf("got %v", err)
	}
	if outcome, err := e.Evaluate(t.Context(), engine.Request{Code: "1", OwnWorker: true, Budget: time.Minute}); err != nil || outcome.Result != "1" {
		t.Errorf("one that takes no share: %v", err)
	}
	// Queueing is not counted: a budget shorter than the wait still suffices.
	queued := make(chan error, 1)
	go func() {
		_, err := e.Evaluate(t.Context(), engine.Request{Code: "1", Budget: 10 * time.Second, QueueWait: time.Minute})
		queued <- err
	}()
	cancel()
	group.Wait()
	if err := <-queued; err != nil {
		t.Errorf("the one that queued: %v", err)
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, code := range []string{"Plot[Sin[x],{x,0,1}]", "Graphics[Text[\"<script>alert(1)</script>\",{0,0}]]", "Image[{{0,1},{1,0}}]", "Graph[{1->2}]", "Grid[{{1,x^2}}]"} {
		outcome, err := evaluate(t, e, code)
		if err != nil || !bytes.HasPrefix(outcome.SVG, []byte("<svg ")) || bytes.Contains(outcome.SVG, []byte("<script")) || outcome.PlotOmitted {
			t.Errorf("%s: %v, %.200s", code, err, outcome.SVG)
		}
	}
	outcome, err := evaluate(t, e, "Graphics[Table[{RGBColor[i/200,j/200,0],Disk[{i,j},1]},{i,200},{j,200}]]")
	if err != nil || !outcome.PlotOmitted || len(outcome.SVG) > 0 {
		t.Errorf("40,000 disks: %v, omitted %t, %d bytes", err, outcome.PlotOmitted, len(outcome.SVG))
	}
	if outcome, err := evaluate(t, e, "1+1"); err != nil || outcome.SVG != nil || outcome.PlotOmitted {
		t.Errorf("no plot: %v, %+v", err, outcome)
	}
}

func TestInputFullForm(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for code, want := range map[string]string{
		"Integrate[x^2,x]//f": "Hold[f[Integrate[Power[x, 2], x]]]",
		"1+1":                 "Hold[Plus[1, 1]]",
		`f["a"]`:              `Hold[f[\"a\"]]`,
		"-3!":                 "Hold[Times[-1, Factorial[3]]]",
		"1/Sin[x] Cos[x]":     "Hold[Times[Power[Sin[x], -1], Cos[x]]]",
	} {
		if got, err := e.InputFullForm(t.Context(), code, 10*time.Second); err != nil || got != want {
			t.Errorf("%s: %q, %v", code, got, err)
		}
	}
	for _, code := range []string{"1+", `1]]];Run["ls"];ToString[FullForm[Hold[1`, "Quit[]]]];Quit[];Hold[1"} {
		if got, err := e.InputFullForm(t.Context(), code, 10*time.Second); failure(err) == "" {
			t.Logf("%s: %q, %v", code, got, err) // text that is not one expression: whatever it says is compared, not believed
		}
	}
}

func TestAnswerFullForm(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	outcome, err := e.Evaluate(t.Context(), engine.Request{Code: `{x^2/y,"a"}`, Budget: 10 * time.Second, QueueWait: time.Minute, FullForm: true})
	if want := `List[Times[Power[x, 2], Power[y, -1]], "a"]`; err != nil || outcome.AnswerFullForm != want {
		t.Errorf("%q, %v", outcome.AnswerFullForm, err)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	if name, revision := e.Info(); name != "woxi" || revision != "0.3.0" {
		t.Errorf("%s %s", name, revision)
	}
}

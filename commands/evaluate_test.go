package commands_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/session"
)

func evaluate(code string) commands.Evaluate { return commands.Evaluate{Expression: code, Plan: plan} }

func inSession(id, code string) commands.Evaluate {
	return commands.Evaluate{Expression: code, SessionID: id, Plan: plan}
}

// envelope is a run's receipt as it is served.
func (h *house) envelope(t testing.TB, s run.Sealed) receipt.Envelope {
	t.Helper()
	seal := receipt.Seal{Canonical: []byte(h.text(t, s.Canonical)), ID: s.ReceiptID, Signature: s.Signature, KID: s.KID, UnsignedReason: s.UnsignedReason}
	return seal.Envelope("/.well-known/service-keys.json", "")
}

func TestAnEvaluationIsLoggedWithItsReceipt(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.answers(commands.EngineOutcome{Result: "2", InputForm: "2", Stdout: "hello\n", Messages: []string{"N::note: <&>"}, SVG: []byte("<svg/>"), Elapsed: 1700 * time.Microsecond}, nil)
	got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
	if err != nil {
		t.Fatal(err)
	}
	if names := h.log.names(run.Stream(got.RunID)); names != "run.evaluated receipt.sealed" {
		t.Fatalf("stream: %s", names)
	}
	s := h.run(t, got.RunID)
	if !reflect.DeepEqual(*s.Evaluated, got.Run) {
		t.Errorf("logged  %+v\nanswered %+v", *s.Evaluated, got.Run)
	}
	automatic := verified
	automatic.Automatic = true
	stdout := event.Inline("hello\n")
	want := run.Evaluated{
		Subject: run.Subject{RunID: got.RunID, Account: anna, Expression: event.Inline("1+1"), Source: event.SourceWeb},
		Answer:  event.Inline("2"), InputForm: event.Inline("2"), Checkable: true, Status: run.Success, Stdout: &stdout,
		Warnings: []string{"N::note: <&>"}, Plot: got.Run.Plot, Engine: run.Engine{Name: "stand-in", Revision: "1"}, Check: &automatic,
		ExecutionMS: 1, EvaluatedAt: "2026-08-01T12:00:00.001Z",
	}
	if !reflect.DeepEqual(got.Run, want) || got.Result != "2" || got.Stdout != "hello\n" {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if plot := h.text(t, event.Text{Blob: got.Run.Plot}); plot != "<svg/>" {
		t.Errorf("plot %q", plot)
	}
	if head, _ := h.log.Head(t.Context()); got.Position != head {
		t.Errorf("answered position %v, the log's head is %v", got.Position, head)
	}

	envelope := h.envelope(t, *s.Sealed)
	if err := receipt.Check(envelope, publicKeys()); err != nil {
		t.Errorf("receipt: %v", err)
	}
	var record receipt.Record
	if err := json.Unmarshal(envelope.Record, &record); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("hello\n"))
	if want := (receipt.Record{V: 1, RunID: got.RunID, Account: anna, Expression: "1+1", Answer: "2", Status: run.Success, StdoutSHA256: hex.EncodeToString(sum[:]),
		Warnings: []string{"N::note: <&>"}, Engine: receipt.Engine{Name: "stand-in", Revision: "1"}, Source: event.SourceWeb, EvaluatedAt: "2026-08-01T12:00:00.001Z",
		Verification: &receipt.Verification{Verdict: "verified", Basis: "exact", Method: "rewrite_identity"}}); !reflect.DeepEqual(record, want) {
		t.Errorf("record %+v\nwant %+v", record, want)
	}
}

// TestAnyOutcomeHasAReceiptThatVerifies, however long and odd its texts are.
func TestAnyOutcomeHasAReceiptThatVerifies(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.checker.check = func(string, string) run.Check { return inconclusive }
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.String().Draw(t, "text"), rapid.SampledFrom([]int{1, 1, 1, 4000}).Draw(t, "times"))
		})
		o := commands.EngineOutcome{
			Result: text.Draw(rt, "result"), Stdout: text.Draw(rt, "stdout"), InputForm: text.Draw(rt, "input form"),
			Messages: rapid.SliceOfN(rapid.String(), 0, 3).Draw(rt, "messages"), Unevaluated: rapid.Bool().Draw(rt, "unevaluated"),
		}
		h.answers(o, nil)
		got, err := h.Evaluate(context.Background(), intentOf(anna), evaluate("1+1"))
		if err != nil {
			rt.Fatal(err)
		}
		s := h.run(t, got.RunID)
		if err := receipt.Check(h.envelope(t, *s.Sealed), publicKeys()); err != nil {
			rt.Fatal(err)
		}
		stdout := ""
		if s.Evaluated.Stdout != nil {
			stdout = h.text(t, *s.Evaluated.Stdout)
		}
		if h.text(t, s.Evaluated.Answer) != o.Result || h.text(t, s.Evaluated.InputForm) != o.InputForm || stdout != o.Stdout || got.Result != o.Result || got.Stdout != o.Stdout {
			rt.Fatalf("%+v came out as %+v", o, got)
		}
	})
}

func TestWithoutAKeyTheReceiptSaysSo(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.with(func(c *commands.EvaluatorConfig) { c.Signer = func() (*receipt.Signer, error) { return nil, nil } })
	got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
	if err != nil {
		t.Fatal(err)
	}
	sealed := h.run(t, got.RunID).Sealed
	if err := receipt.Check(h.envelope(t, *sealed), publicKeys()); !errors.Is(err, receipt.ErrUnsigned) || sealed.UnsignedReason != receipt.NoKeyReason || sealed.KID != "" {
		t.Errorf("%v: %+v", err, sealed)
	}
}

// TestAKeyThatIsAwayEvaluatesNothing: a receipt without a signature would say that the deployment has no key.
func TestAKeyThatIsAwayEvaluatesNothing(t *testing.T) {
	for name, from := range map[string]int{"before it computes": 0, "while it computes": 1} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			h := newHouse(t, l)
			asked, signer := 0, newSigner()
			h.with(func(c *commands.EvaluatorConfig) {
				c.Signer = func() (*receipt.Signer, error) {
					asked++
					if asked > from {
						return nil, receipt.ErrCannotSign
					}
					return signer, nil
				}
			})
			if _, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1")); !errors.Is(err, receipt.ErrCannotSign) {
				t.Errorf("evaluate: %v", err)
			}
			asked = 0
			if _, err := h.Compute(t.Context(), intentOf(anna), 7, "job", evaluate("1+1")); !errors.Is(err, receipt.ErrCannotSign) {
				t.Errorf("a job: %v", err)
			}
			for r, err := range l.ReadAll(t.Context(), event.Position{}) {
				if _, isRun := r.Event.(run.Evaluated); err != nil || isRun {
					t.Errorf("%+v, %v", r, err)
				}
			}
		})
	}
}

func TestAnotherKeyDoesNotVerify(t *testing.T) {
	h := newHouse(t, newLog(t))
	forger := ed25519.NewKeyFromSeed([]byte(strings.Repeat("f", ed25519.SeedSize)))
	h.with(func(c *commands.EvaluatorConfig) {
		c.Signer = func() (*receipt.Signer, error) {
			return &receipt.Signer{KID: newSigner().KID, Key: forger}, nil
		}
	})
	got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := receipt.Check(h.envelope(t, *h.run(t, got.RunID).Sealed), publicKeys()); !errors.Is(err, receipt.ErrBadSignature) {
		t.Errorf("%v", err)
	}
}

// TestLongTextsAreBlobs: the log's Append finds every named blob in place.
func TestLongTextsAreBlobs(t *testing.T) {
	h := newHouse(t, newLog(t))
	for size, inline := range map[int]bool{event.MaxInlineBytes: true, event.MaxInlineBytes + 1: false, 10 * event.MaxInlineBytes: false} {
		long := strings.Repeat("7", size)
		h.answers(commands.EngineOutcome{Result: long, InputForm: long, Stdout: long}, nil)
		code := `f["` + strings.Repeat("x", size-len(`f[""]`)) + `"]`
		got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate(code))
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		e := h.run(t, got.RunID).Evaluated
		for name, text := range map[string]event.Text{"expression": e.Expression, "answer": e.Answer, "input form": e.InputForm, "stdout": *e.Stdout} {
			want := long
			if name == "expression" {
				want = code
			}
			if (text.Blob == nil) != inline || h.text(t, text) != want {
				t.Errorf("%s of %d bytes: inline %v", name, size, text.Blob == nil)
			}
		}
		if got.Result != long || got.Stdout != long {
			t.Errorf("%d bytes were answered as %d and %d", size, len(got.Result), len(got.Stdout))
		}
	}
}

// brokenBlobs keeps nothing.
type brokenBlobs struct{ commands.Blobs }

var errDiskFull = errors.New("disk full")

func (brokenBlobs) Put(context.Context, []byte) (event.Blob, error) { return event.Blob{}, errDiskFull }

func TestWithoutABlobThereIsNoEvent(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.with(func(c *commands.EvaluatorConfig) { c.Blobs = brokenBlobs{} })
	long := strings.Repeat("7", event.MaxInlineBytes+1)
	for name, o := range map[string]commands.EngineOutcome{
		"answer": {Result: long}, "input form": {InputForm: long}, "stdout": {Stdout: long}, "plot": {SVG: []byte("<svg/>")},
	} {
		h.answers(o, nil)
		if _, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1")); !errors.Is(err, errDiskFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := h.log.count(); n != 0 {
		t.Errorf("%d appends", n)
	}
}

func TestStatuses(t *testing.T) {
	for want, o := range map[run.Status]commands.EngineOutcome{
		run.Success:     {Result: "2"},
		run.Unevaluated: {Result: "f[x]", Unevaluated: true},
		run.PlotOmitted: {Result: "-Graphics-", SVG: []byte("<svg/>"), PlotOmitted: true},
	} {
		h := newHouse(t, newLog(t))
		h.answers(o, nil)
		got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("f[x]"))
		if err != nil || got.Run.Status != want || got.Run.Plot != nil {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
		if checked := h.checker.asked() > 0; checked != (want == run.Success) || (got.Run.Check != nil) != checked {
			t.Errorf("%s: checked %v, %+v", want, checked, got.Run.Check)
		}
		if h.run(t, got.RunID).Sealed == nil {
			t.Errorf("%s has no receipt", want)
		}
	}
}

// TestAutomaticChecks: a receipt holds a verdict or nothing, never that nothing was learned.
func TestAutomaticChecks(t *testing.T) {
	for name, c := range map[string]struct {
		check run.Check
		kept  bool
	}{"verified": {verified, true}, "refuted": {refuted, true}, "inconclusive": {inconclusive, false}} {
		h := newHouse(t, newLog(t))
		h.checker.check = func(code, answer string) run.Check {
			if code != "1+1" || answer != "Plus[1, 1]" {
				t.Errorf("checked %q against %q", code, answer)
			}
			return c.check
		}
		h.answers(commands.EngineOutcome{Result: "shown", InputForm: "Plus[1, 1]"}, nil)
		got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
		if err != nil || (got.Run.Check != nil) != c.kept {
			t.Fatalf("%s: %+v, %v", name, got.Run.Check, err)
		}
		if c.kept && (got.Run.Check.Verdict != c.check.Verdict || !got.Run.Check.Automatic) {
			t.Errorf("%s: %+v", name, got.Run.Check)
		}
	}
}

// However long the evaluation took: a verdict depends on nothing that a busy machine changes.
func TestAutomaticChecksHaveTheSameSteps(t *testing.T) {
	for _, elapsed := range []time.Duration{0, 3 * time.Second, time.Hour} {
		h := newHouse(t, newLog(t))
		h.answers(commands.EngineOutcome{Result: "2", Elapsed: elapsed}, nil)
		if _, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1")); err != nil {
			t.Fatal(err)
		}
		if h.checker.steps[0] != 60_000 {
			t.Errorf("after %v: %v steps", elapsed, h.checker.steps[0])
		}
	}
}

// An automatic check that takes all the processor time it may has ended within the plan's budget of an evaluation.
func TestAutomaticChecksStayWithinThePlan(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.answers(commands.EngineOutcome{Result: "2"}, nil)
	small := evaluate("1+1")
	small.Plan.EvaluationBudgetMS = 500
	if _, err := h.Evaluate(t.Context(), intentOf(anna), small); err != nil {
		t.Fatal(err)
	}
	if longest := h.checker.steps[0].Processor(); longest > 500*time.Millisecond || longest < 400*time.Millisecond {
		t.Errorf("an automatic check may take %v", longest)
	}
}

func TestChecksAreBounded(t *testing.T) {
	h := newHouse(t, newLog(t))
	long := verified
	long.Check, long.Residual = strings.Repeat("é", 100_000), strings.Repeat("é", 100_000)
	h.checker.check = func(string, string) run.Check { return long }
	got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{got.Run.Check.Check, got.Run.Check.Residual} {
		if len(text) > event.MaxInlineBytes || !utf8.ValidString(text) || !strings.HasSuffix(text, "é…") {
			t.Errorf("%d bytes that end in %q", len(text), text[len(text)-4:])
		}
	}
}

func TestWarningsAreBounded(t *testing.T) {
	h := newHouse(t, newLog(t))
	messages := make([]string, 150)
	for i := range messages {
		messages[i] = fmt.Sprint(i, strings.Repeat("é", 2000))
	}
	messages[0] = "short"
	h.answers(commands.EngineOutcome{Result: "2", Messages: messages}, nil)
	got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
	if err != nil {
		t.Fatal(err)
	}
	warnings := got.Run.Warnings
	if len(warnings) != 101 || warnings[0] != "short" || warnings[100] != "50 more warnings" {
		t.Fatalf("%d warnings, the last is %q", len(warnings), warnings[len(warnings)-1])
	}
	for _, w := range warnings[1:100] {
		if len(w) > 1<<10 || len(w) < 1000 || !utf8.ValidString(w) || !strings.HasSuffix(w, "…") {
			t.Errorf("%d bytes: %q", len(w), w)
		}
	}
}

func TestTimeoutsAndFailuresAreLogged(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		names string
	}{
		"timeout": {commands.ErrBudgetExhausted, "run.timed_out"},
		"crash":   {&commands.EngineFailedError{Reason: "crashed", Detail: strings.Repeat("x", 5000)}, "run.failed"},
	} {
		h := newHouse(t, newLog(t))
		h.answers(commands.EngineOutcome{}, c.cause)
		in := intentOf(anna)
		_, err := h.Evaluate(t.Context(), in, evaluate("While[True]"))
		var ended *commands.RunEndedError
		if !errors.As(err, &ended) || !errors.Is(err, c.cause) || ended.RunID != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if got := h.log.names(run.Stream(ended.RunID)); got != c.names {
			t.Errorf("%s: stream %s", name, got)
		}
		s := h.run(t, ended.RunID)
		if subject := (run.Subject{RunID: 1, Account: anna, Expression: event.Inline("While[True]"), Source: event.SourceWeb}); s.Subject() != subject || s.Sealed != nil {
			t.Errorf("%s: %+v", name, s)
		}
		if head, _ := h.log.Head(t.Context()); ended.Position != head {
			t.Errorf("%s: position %v, head %v", name, ended.Position, head)
		}
		if s.TimedOut != nil && s.TimedOut.BudgetMS != plan.EvaluationBudgetMS {
			t.Errorf("budget %d ms", s.TimedOut.BudgetMS)
		}
		if s.Failed != nil && (s.Failed.Reason != "crashed" || len(s.Failed.Detail) > 1<<10) {
			t.Errorf("failed: %s with %d bytes of detail", s.Failed.Reason, len(s.Failed.Detail))
		}
		if h.checker.asked() != 0 {
			t.Errorf("%s was checked", name)
		}
	}
}

// TestACallerWhoGoesAwayIsLogged: what was computed until then is in the log, as an answer or as a run that was cancelled;
// what only waited is not.
func TestACallerWhoGoesAwayIsLogged(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		events string
	}{
		"while it computed": {&commands.EngineFailedError{Reason: run.FailureCancelled}, "run.failed"},
		"after it computed": {nil, "run.evaluated receipt.sealed"},
		"while it waited":   {context.Canceled, ""},
	} {
		for _, id := range []string{"", "notebook"} {
			h := newHouse(t, newLog(t))
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			h.engine.answer = func(commands.EngineRequest) (commands.EngineOutcome, error) {
				leave()
				return commands.EngineOutcome{Result: strings.Repeat("2", event.MaxInlineBytes+1), InputForm: "2"}, c.answer
			}
			command := evaluate("1+1")
			command.SessionID = id
			_, err := h.Evaluate(ctx, intentOf(anna), command)
			if events := h.log.names(run.Stream(1)); events != c.events || (err == nil) != (c.answer == nil) {
				t.Errorf("%s: %s, %v", name, events, err)
			}
			s := h.run(t, 1)
			switch {
			case s.Failed != nil && (s.Failed.Reason != run.FailureCancelled || s.Sealed != nil):
				t.Errorf("%s: %+v", name, s)
			case s.Evaluated != nil && s.Evaluated.Check != nil:
				t.Errorf("%s: the check took a worker for nobody: %+v", name, s.Evaluated.Check)
			}
			want := map[bool]string{true: "session.opened session.expired", false: "session.opened"}[s.Failed != nil]
			if got := h.log.names(session.Stream(anna, "notebook")); id != "" && got != want {
				t.Errorf("%s: the session's stream is %s", name, got)
			}
		}
	}
}

func TestWhatIsNotTheRunsDoingIsNotLogged(t *testing.T) {
	h := newHouse(t, newLog(t))
	for _, cause := range []error{commands.ErrSaturated, context.Canceled} {
		h.answers(commands.EngineOutcome{}, cause)
		if _, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1")); !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	}
	h.answers(commands.EngineOutcome{Result: "2"}, nil)
	h.log.before = func(string) error { return commands.ErrUnavailable }
	if got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1")); !errors.Is(err, commands.ErrUnavailable) || got.RunID != 0 {
		t.Errorf("answered %+v, %v without the log", got, err)
	}
	if n := h.log.count(); n != 0 {
		t.Errorf("%d appends", n)
	}
}

func TestBudgets(t *testing.T) {
	h := newHouse(t, newLog(t))
	for want, c := range map[time.Duration]commands.Evaluate{
		3 * time.Second: evaluate("1"), time.Minute: {Expression: "1", Plan: plan, Budget: time.Minute},
	} {
		if _, err := h.Evaluate(t.Context(), intentOf(anna), c); err != nil {
			t.Fatal(err)
		}
		request := h.engine.requests[len(h.engine.requests)-1]
		if request.Budget != want || request.QueueWait != time.Second || request.Session != "" {
			t.Errorf("%+v, want %v", request, want)
		}
	}
}

// TestRefusalsReachNoWorker and append nothing.
func TestRefusalsReachNoWorker(t *testing.T) {
	h := newHouse(t, newLog(t))
	deep := strings.Repeat("(", expression.MaxDepth+1)
	var denied *commands.DeniedError
	var syntax *expression.SyntaxError
	for name, c := range map[string]struct {
		command commands.Evaluate
		is      error
		as      any
	}{
		"nothing":                   {evaluate(""), commands.ErrExpressionRequired, nil},
		"blanks":                    {evaluate(" \t\n"), commands.ErrExpressionRequired, nil},
		"bad session":               {inSession("a/b", "1"), commands.ErrInvalidSessionID, nil},
		"long session":              {inSession(strings.Repeat("a", session.MaxIDBytes+1), "1"), commands.ErrInvalidSessionID, nil},
		"denied":                    {evaluate(`Run["ls"]`), nil, &denied},
		"denied within":             {evaluate(`{1, f[Import["x"] + 1]}`), nil, &denied},
		"denied by prefix":          {evaluate(`Run @ "ls"`), nil, &denied},
		"denied by postfix":         {evaluate(`"ls" // Run`), nil, &denied},
		"deep":                      {evaluate(strings.Repeat("f[", expression.MaxDepth+1) + "1" + strings.Repeat("]", expression.MaxDepth+1)), nil, &syntax},
		"deep, unclosed":            {evaluate(deep), nil, &syntax},
		"deep, all brackets":        {evaluate(strings.Repeat("f[({", 400)), nil, &syntax},
		"deep after what is closed": {evaluate("]" + strings.Repeat(")", 2*expression.MaxDepth) + deep), nil, &syntax},
		"long":                      {evaluate(strings.Repeat("1", expression.MaxBytes+1)), nil, &syntax},
	} {
		_, err := h.Evaluate(t.Context(), intentOf(anna), c.command)
		if c.is != nil && !errors.Is(err, c.is) || c.as != nil && !errors.As(err, c.as) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := h.log.count(); n != 0 || len(h.engine.requests) != 0 {
		t.Errorf("%d appends, %d evaluations", n, len(h.engine.requests))
	}
}

// TestWhatIsForTheEngineToJudge is let through: held code, names that only look
// like denied ones, and text that our parser does not read.
func TestWhatIsForTheEngineToJudge(t *testing.T) {
	for _, code := range []string{`Hold[Run["ls"]]`, `HoldForm[Run["ls"]]`, `HoldComplete[{Run["ls"]}]`, `Run`, `runs["ls"]`, `"Run[1]"`, `1 +* 2`, `)(`, `f[`, strings.Repeat("[", expression.MaxDepth)} {
		if err := commands.Admit(evaluate(code)); err != nil {
			t.Errorf("%q: %v", code, err)
		}
	}
	free := evaluate(`Run["ls"]`)
	free.Plan.DeniedHeads = nil
	if err := commands.Admit(free); err != nil {
		t.Errorf("a plan that denies nothing: %v", err)
	}
}

func TestAUsedRunIDIsRefused(t *testing.T) {
	h := newHouse(t, newLog(t))
	first, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Compute(t.Context(), intentOf(anna), first.RunID, "", evaluate("2+2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Publish(t.Context(), intentOf(anna), again); !errors.Is(err, run.ErrRunIDUsed) {
		t.Errorf("%v", err)
	}
	job, err := h.Compute(t.Context(), intentOf(anna), 77, "job", evaluate("2+2"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // by the runner, and by the reaction
		if _, err := h.Publish(t.Context(), intentOf(anna), job); err != nil {
			t.Errorf("a job's outcome: %v", err)
		}
	}
	if got := h.log.names(run.Stream(77)); got != "run.evaluated receipt.sealed" {
		t.Errorf("stream: %s", got)
	}
}

func TestEvaluationsInASession(t *testing.T) {
	h := newHouse(t, newLog(t))
	for i, want := range []struct{ checkable bool }{{true}, {false}, {false}} {
		got, err := h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "1+1"))
		if err != nil || got.Run.Checkable != want.checkable || (got.Run.Check != nil) != want.checkable || len(got.Run.Warnings) != 0 {
			t.Errorf("evaluation %d: %+v, %v", i, got.Run, err)
		}
		var record receipt.Record
		if err := json.Unmarshal([]byte(h.text(t, h.run(t, got.RunID).Sealed.Canonical)), &record); err != nil || record.SessionID == nil || *record.SessionID != "notebook" {
			t.Errorf("record %+v, %v", record, err)
		}
		if key := h.engine.requests[i].Session; key != commands.SessionKey(anna, "notebook", 1) {
			t.Errorf("worker %q", key)
		}
	}
	if got := h.log.names(session.Stream(anna, "notebook")); got != "session.opened" {
		t.Errorf("stream: %s", got)
	}
}

// TestOnlyTheFirstInAWorkerIsChecked: of evaluations that open a session at
// once, one ran where nothing was defined; a verdict on another could be false.
func TestOnlyTheFirstInAWorkerIsChecked(t *testing.T) {
	h := newHouse(t, newLog(t))
	var mu sync.Mutex
	checkable := 0
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, err := h.Evaluate(context.Background(), intentOf(anna), inSession("notebook", "1+1"))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if got.Run.Checkable {
				checkable++
			}
		})
	}
	group.Wait()
	if checkable != 1 || h.checker.asked() != 1 {
		t.Errorf("%d of 8 were checkable, %d checked", checkable, h.checker.asked())
	}
}

// TestWhoOpenedMayBeOvertaken: the call that opened the session was not the
// first to reach its worker.
func TestWhoOpenedMayBeOvertaken(t *testing.T) {
	h := newHouse(t, newLog(t))
	h.engine.workers[commands.SessionKey(anna, "notebook", 1)] = true
	got, err := h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "1+1"))
	if err != nil || got.Run.Checkable || h.checker.asked() != 0 {
		t.Errorf("%+v, %v", got.Run, err)
	}
}

func TestALostWorkerIsSaid(t *testing.T) {
	h := newHouse(t, newLog(t))
	mustEvaluate := func(c commands.Evaluate) commands.Evaluation {
		t.Helper()
		got, err := h.Evaluate(t.Context(), intentOf(anna), c)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	mustEvaluate(inSession("notebook", "1+1"))
	good := h.engine.answer
	h.answers(commands.EngineOutcome{}, commands.ErrBudgetExhausted)
	if _, err := h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "While[True]")); !errors.Is(err, commands.ErrBudgetExhausted) {
		t.Fatal(err)
	}
	if got := h.log.names(session.Stream(anna, "notebook")); got != "session.opened session.expired" {
		t.Errorf("stream: %s", got)
	}
	h.engine.answer = good
	got := mustEvaluate(inSession("notebook", "1+1"))
	if len(got.Run.Warnings) != 1 || !strings.Contains(got.Run.Warnings[0], "notebook was lost, because its worker ended") || !got.Run.Checkable {
		t.Errorf("%+v", got.Run)
	}
	if key := h.engine.requests[2].Session; key != commands.SessionKey(anna, "notebook", 2) {
		t.Errorf("worker %q", key)
	}
	// An end that the log does not know of yet is logged, and the evaluation goes on in a fresh session.
	for i, reason := range []session.EndReason{"worker_died", "memory", "idle"} {
		ended := commands.SessionKey(anna, "notebook", i+2)
		h.engine.answer = func(r commands.EngineRequest) (commands.EngineOutcome, error) {
			if r.Session == ended {
				return commands.EngineOutcome{}, &commands.SessionEndedError{Reason: reason}
			}
			return good(r)
		}
		got := mustEvaluate(inSession("notebook", "1+1"))
		if warned := len(got.Run.Warnings) == 1 && strings.Contains(got.Run.Warnings[0], reason.Words()); warned != (reason != "idle") {
			t.Errorf("%s: %+v", reason, got.Run.Warnings)
		}
	}
	if got, want := h.log.names(session.Stream(anna, "notebook")), "session.opened"+strings.Repeat(" session.expired session.opened", 4); got != want {
		t.Errorf("stream: %s", got)
	}
	// What the user or idleness ended is no loss.
	h.engine.answer = good
	if _, err := commands.ExpireSession(t.Context(), h.log, intentOf(anna), session.Expire{Account: anna, SessionID: "notebook", Epoch: 5, Reason: "idle"}); err != nil {
		t.Fatal(err)
	}
	if got := mustEvaluate(inSession("notebook", "1+1")); len(got.Run.Warnings) != 0 {
		t.Errorf("after idleness: %+v", got.Run.Warnings)
	}
}

// TestWaitingForATurnEndsNoSession: the time ran out while another evaluation
// had the session's worker, which lives on.
func TestWaitingForATurnEndsNoSession(t *testing.T) {
	h := newHouse(t, newLog(t))
	if _, err := h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "x = 1")); err != nil {
		t.Fatal(err)
	}
	busy := &waiting{h.engine}
	h.with(func(c *commands.EvaluatorConfig) { c.Engine = busy })
	_, err := h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "x"))
	if !errors.Is(err, commands.ErrBudgetExhausted) {
		t.Fatal(err)
	}
	if got := h.log.names(session.Stream(anna, "notebook")); got != "session.opened" {
		t.Errorf("stream: %s", got)
	}
}

// waiting is an engine whose session is busy for as long as anyone waits.
type waiting struct{ *engine }

func (waiting) Evaluate(context.Context, commands.EngineRequest) (commands.EngineOutcome, error) {
	return commands.EngineOutcome{}, commands.ErrBudgetExhausted
}

func TestLiveSessionsAreLimited(t *testing.T) {
	h := newHouse(t, newLog(t))
	evaluateIn := func(accountID, id string) error {
		_, err := h.Evaluate(t.Context(), intentOf(accountID), inSession(id, "1+1"))
		return err
	}
	for _, id := range []string{"one", "two", "one", "two"} {
		if err := evaluateIn(anna, id); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	appends := h.log.count()
	if err := evaluateIn(anna, "three"); !errors.Is(err, commands.ErrTooManySessions) || h.log.names(session.Stream(anna, "three")) != "" || h.log.count() != appends {
		t.Errorf("a third session: %v", err)
	}
	if err := evaluateIn(bert, "one"); err != nil {
		t.Errorf("another account: %v", err)
	}
	// Another process of the installation counts the same sessions.
	there := newHouse(t, h.log)
	both := owners{h.config.Process: true, there.config.Process: true}
	for _, process := range []*house{h, there} {
		process.with(func(c *commands.EvaluatorConfig) { c.Places, c.Owners = h.config.Places, both })
	}
	inThere := func(id string) error {
		_, err := there.Evaluate(t.Context(), intentOf(anna), inSession(id, "1+1"))
		return err
	}
	if err := inThere("three"); !errors.Is(err, commands.ErrTooManySessions) {
		t.Errorf("a third session, elsewhere: %v", err)
	}
	if _, _, _, err := commands.ClearSession(t.Context(), h.log, intentOf(anna), "two"); err != nil {
		t.Fatal(err)
	}
	if err := inThere("three"); err != nil {
		t.Errorf("a place that was given up: %v", err)
	}
	if err := evaluateIn(anna, "two"); !errors.Is(err, commands.ErrTooManySessions) {
		t.Errorf("again without a place: %v", err)
	}
	// When a process dies its sessions' places are free, and it has none itself where others took them.
	delete(both, there.config.Process)
	if err := evaluateIn(anna, "two"); err != nil {
		t.Errorf("the place of a dead process's session: %v", err)
	}
	if err := evaluateIn(anna, "three"); !errors.Is(err, commands.ErrTooManySessions) {
		t.Errorf("the dead process's session, whose place was taken: %v", err)
	}
	// A session that lives elsewhere is reached there, however many live here.
	elsewhere := session.Open{Account: anna, SessionID: "far", Owner: "other", Address: "127.0.0.1:9"}
	if _, err := commands.OwnSession(t.Context(), h.log, owners{"other": true}, intentOf(anna), elsewhere); err != nil {
		t.Fatal(err)
	}
	h.with(func(c *commands.EvaluatorConfig) { c.Owners = owners{"other": true, c.Process: true} })
	var far *commands.SessionElsewhereError
	if err := evaluateIn(anna, "far"); !errors.As(err, &far) || far.Address != "127.0.0.1:9" {
		t.Errorf("a session elsewhere: %v", err)
	}
}

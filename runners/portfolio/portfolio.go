package portfolio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/verification"
	"reckon/runners/fair"
)

// Other is an engine that is asked after the first.
type Other interface {
	Info() (name, revision string)
	// Knows tells whether it can be asked about calls of a function.
	Knows(head string) bool
	// Answers yields the answers to a question, the one to prefer first, and why there is none in one way of asking.
	Answers(ctx context.Context, question *expression.Expr, processor time.Duration) iter.Seq2[*expression.Expr, error]
}

// Engine is a commands.Engine of several.
type Engine struct {
	First   commands.Engine
	Others  []Other // in the order in which they are asked
	Checker commands.Checker
	Places  *fair.Pool // one for each question to another engine at a time
}

// CloseSession is commands.Engine.
func (e Engine) CloseSession(key string) bool { return e.First.CloseSession(key) }

// Describe is commands.Engine: the engine that is asked first.
func (e Engine) Describe() (name, revision string) { return e.First.Describe() }

// Evaluate is commands.Engine.
func (e Engine) Evaluate(ctx context.Context, r commands.EngineRequest) (commands.EngineOutcome, error) {
	asked := r.Tree != nil && e.anyKnows(r.Tree.HeadName())
	r.Counted = asked && r.Session == ""
	o, err := e.First.Evaluate(ctx, r)
	if len(e.Others) == 0 || ctx.Err() != nil || o.PlotOmitted || o.SVG != nil {
		return o, err
	}
	first := referee{Engine: e, request: r, checkable: err == nil && r.Tree != nil && (r.Session == "" || o.SessionOpened)}
	first.name.Name, first.name.Revision = e.First.Describe()
	switch {
	case err == nil && o.Unevaluated:
		return e.keep(ctx, r, first.unevaluated(ctx, o)), nil
	case err == nil && asked && first.checkable:
		return e.keep(ctx, r, first.answered(ctx, o, r.Tree)), nil
	case err == nil && first.checkable && hasNoNumber(r.Tree, o.InputForm):
		return e.keep(ctx, r, first.answered(ctx, o, expression.NewCall("N", r.Tree))), nil
	case err != nil && asked && r.Session == "" && isNoAnswer(err):
		return first.failed(ctx, o, err)
	}
	return o, err
}

// keep makes another engine's answer the value of the session's line, so that % is what was shown. Where that fails % is what the first engine said.
func (e Engine) keep(ctx context.Context, r commands.EngineRequest, o commands.EngineOutcome) commands.EngineOutcome {
	lines, has := e.First.(interface {
		SetValue(ctx context.Context, session string, line int, text string) error
	})
	if has && r.Session != "" && o.Line > 0 && o.By != (run.Engine{}) {
		_ = lines.SetValue(ctx, r.Session, o.Line, o.InputForm)
	}
	return o
}

// isNoAnswer tells whether the first engine could not answer the question, rather than was not asked it.
func isNoAnswer(err error) bool {
	if errors.Is(err, commands.ErrBudgetExhausted) {
		return true
	}
	failed, is := errors.AsType[*commands.EngineFailedError](err)
	return is && (failed.Reason == run.FailureCrashed || failed.Reason == run.FailureMemory || failed.Reason == run.FailureRefused)
}

func (e Engine) anyKnows(head string) bool {
	for _, other := range e.Others {
		if other.Knows(head) {
			return true
		}
	}
	return false
}

// referee is one evaluation of which others are asked.
type referee struct {
	Engine
	request   commands.EngineRequest
	checkable bool // the text means what the service's parser reads: nothing was defined before it
	name      run.Engine
	asked     []run.Asked // others
	elapsed   time.Duration
	steps     verification.Steps // of a check; 0: of an automatic one
	spent     bool               // the first engine has used the budget up
}

// maxProcessor bounds what another engine may take for one way of asking: the evaluation's budget, at most this. Where the first engine has
// used its budget up, a third of it.
const maxProcessor = 10 * time.Second

func (f *referee) processor() time.Duration {
	if f.spent {
		return min(f.request.Budget/3, maxProcessor)
	}
	return min(f.request.Budget, maxProcessor)
}

// hasNoNumber tells whether a function of decimals was answered with an infinity: machine numbers end at about 1.8*10^308 (IEEE 754 binary64).
func hasNoNumber(tree *expression.Expr, answer string) bool {
	if !strings.Contains(answer, "Infinity") && !strings.Contains(answer, "Indeterminate") && !strings.Contains(answer, "Overflow") {
		return false
	}
	decimals := false
	tree.Walk(func(part *expression.Expr) bool {
		decimals = decimals || part.Kind == expression.Real
		return !decimals
	})
	return decimals && tree.Kind == expression.Call && !tree.IsCall("List")
}

// answered has the first engine's answer checked, and others asked the question where it is refuted or nothing is found of it.
func (f *referee) answered(ctx context.Context, o commands.EngineOutcome, question *expression.Expr) commands.EngineOutcome {
	check, err := f.check(ctx, f.request.Code, f.request.Tree, o.InputForm)
	if err != nil {
		return o
	}
	o.Check = &check
	if check.Reason == run.ReasonAnswerNotUsable { // it cannot be read, or is no answer to the question
		if best := f.ask(ctx, question, f.judgeOf(question)); best.rank >= supported {
			return f.given(o, best, run.AskedUnevaluated)
		}
		return f.stays(o, run.AskedAnswered)
	}
	own := rankOf(check)
	if own > unchecked {
		return o
	}
	best := f.ask(ctx, question, f.judgeOf(question))
	if best.rank <= own {
		return f.stays(o, run.AskedAnswered)
	}
	became, why := run.AskedRefuted, "which is refuted: "+short(check.Residual)
	if own == unchecked {
		became, why = run.AskedOverruled, "of which nothing is known"
	}
	made := f.given(o, best, became)
	made.Messages = []string{fmt.Sprintf("%s answered %s, %s. The answer of %s is given.", f.name.Name, short(o.InputForm), why, best.by.Name)}
	return made
}

// unevaluated asks others what the first engine gave back: the whole, or parts of a formula.
func (f *referee) unevaluated(ctx context.Context, o commands.EngineOutcome) commands.EngineOutcome {
	left, err := expression.Parse(o.InputForm)
	if err != nil {
		return o
	}
	if f.anyKnows(left.HeadName()) && left.Kind == expression.Call {
		if best := f.ask(ctx, left, f.judgeOf(left)); best.rank > refuted {
			return f.given(o, best, run.AskedUnevaluated)
		}
		return f.stays(o, run.AskedUnevaluated)
	}
	whole, best, found := f.parts(ctx, left)
	if !found {
		return f.stays(o, run.AskedUnevaluated)
	}
	if best.answer, best.check = whole, nil; f.checkable {
		check, err := f.check(ctx, f.request.Code, f.request.Tree, whole.Source())
		if err != nil || check.Verdict == run.VerdictRefuted {
			return f.stays(o, run.AskedUnevaluated)
		}
		best.check = &check
	}
	return f.given(o, best, run.AskedUnevaluated)
}

// failed asks others what the first engine could not answer.
func (f *referee) failed(ctx context.Context, o commands.EngineOutcome, err error) (commands.EngineOutcome, error) {
	became := run.AskedFailed
	if errors.Is(err, commands.ErrBudgetExhausted) {
		became, f.spent = run.AskedTimeout, true
	}
	f.checkable = true
	best := f.ask(ctx, f.request.Tree, f.judgeOf(f.request.Tree))
	if best.rank <= refuted {
		return f.stays(o, became), err
	}
	made := f.given(o, best, became)
	made.SessionEnded = ""
	return made, nil
}

// given is the outcome with another engine's answer.
func (f *referee) given(o commands.EngineOutcome, best candidate, became run.AskedOutcome) commands.EngineOutcome {
	text := best.answer.Source()
	o.Result, o.InputForm, o.Unevaluated, o.Messages = text, text, false, nil
	o.By, o.Check, o.Elapsed = best.by, best.check, o.Elapsed+f.elapsed
	o.Asked = f.allAsked(became)
	return o
}

// stays is the first engine's outcome, after others had nothing better.
func (f *referee) stays(o commands.EngineOutcome, became run.AskedOutcome) commands.EngineOutcome {
	for i := range f.asked {
		if f.asked[i].Outcome == run.AskedAnswered { // a part, of a whole that is refuted; or not as well as the first
			f.asked[i].Outcome = run.AskedOverruled
		}
	}
	o.Elapsed += f.elapsed
	o.Asked = f.allAsked(became)
	return o
}

// allAsked is nil where no other was asked.
func (f *referee) allAsked(became run.AskedOutcome) []run.Asked {
	if len(f.asked) == 0 {
		return nil
	}
	return append([]run.Asked{{Engine: f.name, Outcome: became}}, f.asked...)
}

// check is the automatic check of an answer.
func (f *referee) check(ctx context.Context, code string, tree *expression.Expr, answer string) (run.Check, error) {
	return commands.CheckAlongside(ctx, f.Checker, commands.CheckRequest{Account: f.request.Account, Code: code, Tree: tree, Answer: answer, Steps: f.steps}, f.request.Budget)
}

// short is the beginning of a text for a warning.
func short(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// takePlace waits for a place of the other engines, at which the context is that it returns. A job needs none, as of the first.
func (f *referee) takePlace(ctx context.Context) (at context.Context, release func(), err error) {
	if f.Places == nil || f.request.OwnWorker {
		return ctx, func() {}, nil
	}
	place, err := f.Places.Acquire(ctx, f.request.Account, placeWait, f.processor())
	if err != nil {
		return nil, nil, err
	}
	return fair.At(ctx, place), place.Release, nil
}

// placeWait is long: a busy machine must not change an answer.
const placeWait = time.Minute

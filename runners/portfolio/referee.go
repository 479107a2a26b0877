package portfolio

import (
	"context"
	"errors"
	"time"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/tidy"
	"reckon/domain/verification"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

// rank orders answers by what the checker found of them.
type rank int

const (
	none      rank = iota
	refuted        // proved to be wrong
	unchecked      // nothing was found
	supported      // an independent route came to the same
	verified       // proved to be right
)

func rankOf(check run.Check) rank {
	switch {
	case check.Verdict == run.VerdictVerified:
		return verified
	case check.Verdict == run.VerdictRefuted:
		return refuted
	case check.Reason == run.ReasonCrossCheckAgrees:
		return supported
	}
	return unchecked
}

// candidate is an answer of another engine, and what the checker found of it.
type candidate struct {
	answer *expression.Expr
	by     run.Engine
	rank   rank
	check  *run.Check // of the answer to the whole question; nil: it is not checked
}

// judge has an answer to a question checked.
type judge func(ctx context.Context, answer *expression.Expr) (rank, *run.Check)

// judgeOf checks against the text that was asked where that is possible, and against the question that others are asked where it is not or
// decides nothing: the verdict of the run is the first one's only.
func (f *referee) judgeOf(question *expression.Expr) judge {
	return func(ctx context.Context, answer *expression.Expr) (rank, *run.Check) {
		var about *run.Check
		text := answer.Source()
		if f.checkable {
			check, err := f.check(ctx, f.request.Code, f.request.Tree, text)
			if err != nil {
				return unchecked, nil
			}
			about = &check
			if r := rankOf(check); r != unchecked || question.Equal(f.request.Tree) {
				return r, about
			}
		}
		check, err := f.check(ctx, question.Source(), question, text)
		if err != nil {
			return unchecked, about
		}
		return rankOf(check), about
	}
}

// ask asks the other engines one question, until an answer is verified. It gives the best answer, of equal ones the first.
func (f *referee) ask(ctx context.Context, question *expression.Expr, judged judge) candidate {
	best := candidate{}
	at := -1 // of the best one's engine in asked
	for _, other := range f.Others {
		if !other.Knows(question.HeadName()) {
			continue
		}
		index := f.entryOf(other)
		found, became := f.askOne(ctx, other, question, judged)
		f.asked[index].Outcome = became
		if found.rank <= best.rank {
			continue
		}
		if at >= 0 && f.asked[at].Outcome == run.AskedAnswered {
			f.asked[at].Outcome = run.AskedOverruled
		}
		best, at = found, index
		if best.rank == verified {
			break
		}
	}
	return best
}

// entryOf is where asked has an engine: once, also where it is asked about several parts.
func (f *referee) entryOf(other Other) int {
	entry := run.Asked{Outcome: run.AskedNot}
	entry.Name, entry.Revision = other.Info()
	for i, asked := range f.asked {
		if asked.Engine == entry.Engine {
			return i
		}
	}
	f.asked = append(f.asked, entry)
	return len(f.asked) - 1
}

// askOne asks one engine in every way until an answer is verified or its time is used up.
func (f *referee) askOne(ctx context.Context, other Other, question *expression.Expr, judged judge) (best candidate, became run.AskedOutcome) {
	best.by.Name, best.by.Revision = other.Info()
	became = run.AskedUnevaluated
	ctx, release, err := f.takePlace(ctx)
	if err != nil {
		return best, run.AskedFailed
	}
	defer release()
	seen := map[string]bool{}
	var late []*expression.Expr // whose checks ran out of steps
	started := time.Now()
	for answer, err := range other.Answers(ctx, question, f.processor()) {
		f.elapsed += time.Since(started)
		if err != nil {
			became = worse(became, err)
		} else if text := answer.Source(); !seen[text] {
			seen[text] = true
			r, check := judged(ctx, answer)
			if r > best.rank {
				best.answer, best.rank, best.check = answer, r, check
			}
			if check != nil && check.Reason == run.ReasonTimedOut {
				late = append(late, answer)
			}
		}
		if best.rank == verified || ctx.Err() != nil || isOver(err) {
			break
		}
		started = time.Now()
	}
	f.steps = min(patientSteps, verification.StepsWithin(2*f.request.Budget))
	for _, answer := range late[:min(len(late), maxLate)] {
		if best.rank == verified || ctx.Err() != nil {
			break
		}
		if r, check := judged(ctx, answer); r > best.rank {
			best.answer, best.rank, best.check = answer, r, check
		}
	}
	f.steps = 0
	switch {
	case best.rank > refuted:
		return best, run.AskedAnswered
	case best.rank == refuted:
		return best, run.AskedRefuted
	}
	return best, became
}

// An answer whose check ran out of its steps, where no other was verified, is checked with more: at most so many answers and steps.
const (
	patientSteps = verification.Steps(300_000)
	maxLate      = 2
)

// isOver tells whether no other way is worth asking: it would take as long, or others have the place.
func isOver(err error) bool {
	_, late := errors.AsType[*fair.SaturatedError](err)
	return late || errors.Is(err, engine.ErrBudgetExhausted)
}

// worse is what became of an engine that gave no answer, with one more reason.
func worse(became run.AskedOutcome, err error) run.AskedOutcome {
	var untranslatable *engine.UntranslatableError
	var unreadable *engine.UnreadableError
	switch {
	case errors.As(err, &untranslatable):
		return run.AskedNot
	case errors.As(err, &unreadable):
		return run.AskedNotTranslated
	case errors.Is(err, engine.ErrBudgetExhausted):
		return run.AskedTimeout
	case errors.Is(err, engine.ErrNoAnswer):
		return became
	}
	return run.AskedFailed
}

// arithmetic are the functions within which a part that was left is asked about alone.
var arithmetic = map[string]bool{
	"Plus": true, "Times": true, "Power": true, "Subtract": true, "Minus": true, "Divide": true, "List": true, "Sqrt": true, "Exp": true, "Log": true,
	"Rule": true, "Equal": true, "Rational": true,
}

// maxParts bounds how many parts of a formula are asked about.
const maxParts = 4

// parts asks about the calls that are left within a formula, each alone, and puts the answers in their places. found: all of them have one.
func (f *referee) parts(ctx context.Context, left *expression.Expr) (whole *expression.Expr, last candidate, found bool) {
	var questions []*expression.Expr
	plain := true
	left.Walk(func(part *expression.Expr) bool {
		switch {
		case part.Kind != expression.Call:
			return true
		case f.anyKnows(part.HeadName()):
			questions = append(questions, part)
			return false
		case !arithmetic[part.HeadName()]:
			plain = plain && !holdsKnown(f, part)
			return false
		}
		return true
	})
	if len(questions) == 0 || len(questions) > maxParts || !plain {
		return nil, candidate{}, false
	}
	whole = left
	checkable := f.checkable
	f.checkable = false // parts are judged by themselves
	defer func() { f.checkable = checkable }()
	for _, question := range questions {
		last = f.ask(ctx, question, f.judgeOf(question))
		if last.rank <= refuted {
			return nil, candidate{}, false
		}
		whole = whole.Replace(question, last.answer)
	}
	return tidy.Formula(whole), last, true
}

func holdsKnown(f *referee, e *expression.Expr) bool {
	found := false
	e.Walk(func(part *expression.Expr) bool {
		found = found || part.Kind == expression.Call && f.anyKnows(part.HeadName())
		return !found
	})
	return found
}

package workbench

import (
	"context"
	"sync"
	"time"

	"reckon/internal/view"
)

// shownFirst are the questions that the service asks itself, so that who opens the first page sees answers and their checks before asking anything.
var shownFirst = []string{"Integrate[x^2 Sin[x], x]", "Simplify[Sqrt[E^x]]"}

// Bounds of asking them.
const (
	showcaseTime   = 30 * time.Second // for all of them
	showcaseWait   = 2 * time.Second  // that a page waits for them; one that was answered before shows them by itself later
	showcaseRounds = 3                // a check that did not finish is tried again
)

// showcase is what came of the questions in this process. They are asked when a first page is first opened: a process that serves none does not pay for them.
type showcase struct {
	evaluate func(ctx context.Context, expression string) (view.Evaluation, error) // nil: nothing is shown

	mu     sync.Mutex
	rounds int
	asked  chan struct{} // closed when the round has ended; nil: none has begun
	over   bool          // no other round follows
	cells  []cell
}

// answers are the questions with their answers. Awaited: there are none yet.
func (s *showcase) answers(ctx context.Context) (cells []cell, awaited bool) {
	if s.evaluate == nil {
		return nil, false
	}
	select {
	case <-s.round():
	case <-time.After(showcaseWait):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cells, s.cells == nil && !s.over
}

// round is the present round of questions; it begins one where each of the earlier ones left something open.
func (s *showcase) round() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = make(chan struct{})
		s.rounds++
		go s.ask(s.asked)
	}
	return s.asked
}

func (s *showcase) ask(asked chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), showcaseTime)
	defer cancel()
	defer close(asked)
	var cells []cell
	for _, expression := range shownFirst {
		answer, err := s.evaluate(ctx, expression)
		if err != nil { // as in a process that is ending: a later page asks again
			break
		}
		cells = append(cells, cell{Expression: expression, Answer: &answer, Told: toldOf(expression, answer.Warnings, answer.Suggestions)})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(cells) == len(shownFirst) {
		s.cells = cells
	}
	if s.over = s.rounds == showcaseRounds || checked(s.cells); !s.over {
		s.asked = nil
	}
}

// checked tells whether each answer has a verdict.
func checked(cells []cell) bool {
	for _, c := range cells {
		if c.Answer.Verification == nil {
			return false
		}
	}
	return len(cells) > 0
}

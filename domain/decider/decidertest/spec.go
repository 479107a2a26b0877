// Package decidertest is the given/when/then kit for deciders.
package decidertest

import (
	"errors"
	"reflect"
	"testing"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Spec is a decider with a history.
type Spec[C, S any] struct {
	t       *testing.T
	decider decider.Decider[C, S]
	history []event.Event
}

// Given starts from a history.
func Given[C, S any](t *testing.T, d decider.Decider[C, S], history ...event.Event) Spec[C, S] {
	return Spec[C, S]{t: t, decider: d, history: history}
}

// When gives the command. The fold is done twice: a fold that is not a function of its history fails here.
func (s Spec[C, S]) When(command C) Outcome {
	s.t.Helper()
	first, second := s.decider.Fold(s.history), s.decider.Fold(s.history)
	if !reflect.DeepEqual(first, second) {
		s.t.Fatalf("two folds of one history differ: %+v and %+v", first, second)
	}
	events, err := s.decider.Decide(command, first)
	if !reflect.DeepEqual(first, second) {
		s.t.Fatalf("Decide changed the state it was given: %+v was %+v", first, second)
	}
	return Outcome{t: s.t, events: events, err: err}
}

// Outcome is what the decider answered.
type Outcome struct {
	t      *testing.T
	events []event.Event
	err    error
}

// Then wants exactly these events.
func (o Outcome) Then(want ...event.Event) {
	o.t.Helper()
	if o.err != nil {
		o.t.Fatalf("refused: %v; want %v", o.err, want)
	}
	if len(o.events) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(o.events, want) {
		o.t.Fatalf("got  %+v\nwant %+v", o.events, want)
	}
}

// ThenNothing wants the command accepted with no event.
func (o Outcome) ThenNothing() { o.t.Helper(); o.Then() }

// ThenRefused wants this error and no event.
func (o Outcome) ThenRefused(want error) {
	o.t.Helper()
	if !errors.Is(o.err, want) {
		o.t.Fatalf("got error %v, want %v", o.err, want)
	}
	if len(o.events) != 0 {
		o.t.Fatalf("refused and yet decided %+v", o.events)
	}
}

// Package decidertest is the given/when/then kit for deciders.
//
// Every scenario is a subtest that is named by what was given and what was asked:
// "slots.spent, slots.refunded | Spend". A failing one prints the history, the command
// and what was decided instead.
package decidertest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Spec is a scenario before its command: a decider and the events that have happened.
type Spec[C, S any] struct {
	t       *testing.T
	decider decider.Decider[C, S]
	history []event.Event
}

// Given begins a scenario in which these events have happened, oldest first.
func Given[C, S any](t *testing.T, d decider.Decider[C, S], history ...event.Event) Spec[C, S] {
	return Spec[C, S]{t: t, decider: d, history: history}
}

// When has the decider decide on a command. The history is folded twice: an Evolve that is not a function of its arguments fails here.
func (s Spec[C, S]) When(command C) Outcome {
	s.t.Helper()
	o := Outcome{t: s.t, history: s.history, command: command}
	first, second := s.decider.Fold(s.history), s.decider.Fold(s.history)
	if !reflect.DeepEqual(first, second) {
		s.t.Fatalf("%s: two folds of one history differ: %+v and %+v", o.name(), first, second)
	}
	o.events, o.err = s.decider.Decide(command, first)
	if !reflect.DeepEqual(first, second) {
		s.t.Fatalf("%s: Decide changed the state it was given: %+v was %+v", o.name(), first, second)
	}
	return o
}

// Outcome is the decider's decision: events or a refusal.
type Outcome struct {
	t       *testing.T
	history []event.Event
	command any
	events  []event.Event
	err     error
}

// Then fails the test unless the decider decided exactly these events, in this order.
func (o Outcome) Then(want ...event.Event) {
	o.t.Helper()
	if o.err == nil && (reflect.DeepEqual(o.events, want) || len(o.events) == 0 && len(want) == 0) {
		o.report("")
		return
	}
	o.report(lines("wanted", want))
}

// ThenNothing fails the test unless the command was accepted without an event.
func (o Outcome) ThenNothing() { o.t.Helper(); o.Then() }

// ThenRefused fails the test unless the command was refused with this error (errors.Is) and without an event.
func (o Outcome) ThenRefused(want error) {
	o.t.Helper()
	if errors.Is(o.err, want) && len(o.events) == 0 {
		o.report("")
		return
	}
	o.report(fmt.Sprintf("wanted a refusal: %v\n", want))
}

// name is the name of a case: the given events' stored names and the command's type.
func (o Outcome) name() string {
	given := "nothing"
	if len(o.history) > 0 {
		names := make([]string, len(o.history))
		for i, e := range o.history {
			names[i] = e.EventName()
		}
		given = strings.Join(names, ", ")
	}
	return given + " | " + reflect.TypeOf(o.command).Name()
}

// report runs the scenario's subtest, which fails if something else was wanted.
func (o Outcome) report(wanted string) {
	o.t.Helper()
	o.t.Run(o.name(), func(t *testing.T) {
		t.Helper()
		if wanted != "" {
			t.Error(o.difference(wanted))
		}
	})
}

// difference says what was decided instead of what was wanted.
func (o Outcome) difference(wanted string) string {
	text := "\n" + lines("given", o.history) + fmt.Sprintf("when    %T %+v\n", o.command, o.command)
	if o.err != nil {
		text += fmt.Sprintf("decided a refusal: %v\n", o.err)
	}
	if o.err == nil || len(o.events) > 0 {
		text += lines("decided", o.events)
	}
	return text + wanted
}

// lines prints events one a line under a title.
func lines(title string, events []event.Event) string {
	if len(events) == 0 {
		return fmt.Sprintf("%-7s nothing\n", title)
	}
	var text strings.Builder
	for _, e := range events {
		fmt.Fprintf(&text, "%-7s %s %+v\n", title, e.EventName(), e)
		title = ""
	}
	return text.String()
}

// Package decider is the shape of every write model: three pure functions.
//
// It does no I/O: commands.Handle reads the stream, appends to it and retries.
package decider

import "reckon/domain/event"

// Decider is the write model of one kind of stream, for the commands C over
// the state S (Chassaing, "Functional Event Sourcing Decider", 2021).
type Decider[C, S any] struct {
	Initial func() S
	// Decide returns the events a command leads to, none if the state is already as the
	// command wants it, or an error with which the command is refused.
	Decide func(C, S) ([]event.Event, error)
	// Evolve folds one event into the state; it must not fail and ignores events it does not know. The state it is
	// given stays as it is, so that states can be kept and shared by goroutines: a state holds a Map where it would
	// hold a Go map. A fold takes time and memory in proportion to the history (decidertest.Fold checks both).
	Evolve func(S, event.Event) S
	// StateBytes estimates the memory in bytes that a state takes. A process keeps states of such a decider between
	// commands, for streams that grow with every command; nil: every command folds the stream from its beginning.
	StateBytes func(S) int
}

// Fold returns the state after a whole stream, oldest event first.
func (d Decider[C, S]) Fold(history []event.Event) S {
	return d.FoldFrom(d.Initial(), history)
}

// FoldFrom returns the state after s and the events that follow it.
func (d Decider[C, S]) FoldFrom(s S, history []event.Event) S {
	for _, e := range history {
		s = d.Evolve(s, e)
	}
	return s
}

package decider

import (
	"bytes"
	"reflect"

	"reckon/domain/event"
)

// Model is a decider with its event types: all that is known of one kind of stream. The catalogue, the audit and docs/events are made of it.
type Model[C, S any] struct {
	Decider[C, S]
	// Live tells whether a stream holds something that goes on until it is ended, and that a closed account must not have; nil: none does.
	Live func(S) bool
	// Shown is what people are shown of a state; nil: all of it.
	Shown func(S) any
	// Slim returns a state without what a judgement does not need, for those who keep the states of many streams; nil: a state has nothing else.
	Slim func(S) S
	// Key is equal for slim states that are judged alike: comparable, and of a type of the model's own; nil: each stream has a state of its own.
	Key func(S) any
	// End is what is left to know of a slim state on which nothing is decided any more, nil of any other, and Ended makes a state of it; nil: there
	// is always something to decide.
	End   func(S) any
	Ended func(any) S
	Types []Type[C, S]
}

// Type declares an event type of a model.
type Type[C, S any] struct {
	event.Type
	command func(event.Event, S, event.Metadata) C
}

// On declares the event type E of a model: its golden example, where its events stand, and the command that leads to an event in a state.
// Deciding on that command must give the event first; a nil command says that none leads to it there. The metadata are those of the
// event. An event that its command leads to behind others has an unexported command of its own, which the decider carries out with the
// same code.
func On[E event.Event, C, S any](sample E, address func(E) event.Address, command func(E, S, event.Metadata) C, facts ...event.Fact) Type[C, S] {
	return Type[C, S]{
		Type:    event.Describe(sample, address, nil, facts...),
		command: func(e event.Event, s S, m event.Metadata) C { return command(e.(E), s, m) },
	}
}

// Undecided declares an event type of streams on which nothing decides: each event may follow each.
func Undecided[E event.Event](sample E, address func(E) event.Address, facts ...event.Fact) event.Type {
	return event.Describe(sample, address, func() event.Past { return undecided[E]{} }, facts...)
}

// undecided is the past of a stream with events of type E, which nothing depends on.
type undecided[E event.Event] struct{}

func (undecided[E]) Take(e event.Event, _ event.Metadata) *event.Illegal {
	if _, is := e.(E); !is {
		return &event.Illegal{}
	}
	return nil
}

func (undecided[E]) Fold(event.Event)   {}
func (u undecided[E]) Slim() event.Past { return u }
func (u undecided[E]) Copy() event.Past { return u }
func (undecided[E]) Key() any           { return nil }
func (undecided[E]) Shown() any         { return nil }
func (undecided[E]) Live() bool         { return false }

// Events are the model's event types for a catalogue.
func (m Model[C, S]) Events() []event.Type {
	types := make([]event.Type, len(m.Types))
	commands := make(map[string]func(event.Event, S, event.Metadata) C, len(m.Types))
	for i, t := range m.Types {
		types[i], commands[t.Name] = t.Type, t.command
		types[i].NewPast = func() event.Past { return &Past[C, S]{model: &m, commands: commands, State: m.Initial()} }
	}
	return types
}

// Past is the state of one stream, with which its next event is judged.
type Past[C, S any] struct {
	State    S
	model    *Model[C, S]
	commands map[string]func(event.Event, S, event.Metadata) C // by event type
}

// Take is event.Past: it decides once more on the command that leads to the event, and compares.
func (p *Past[C, S]) Take(e event.Event, m event.Metadata) *event.Illegal {
	illegal := p.judge(e, m)
	p.Fold(e)
	return illegal
}

// Fold is event.Past.
func (p *Past[C, S]) Fold(e event.Event) { p.State = p.model.Evolve(p.State, e) }

// Slim is event.Past.
func (p *Past[C, S]) Slim() event.Past {
	if p.model.Slim != nil {
		p.State = p.model.Slim(p.State)
	}
	if p.model.End != nil {
		if left := p.model.End(p.State); left != nil {
			return &ended[C, S]{p.model, p.commands, left}
		}
	}
	return p
}

// ended is the past of a stream on which nothing is decided any more: each further event contradicts it, and changes nothing.
type ended[C, S any] struct {
	model    *Model[C, S]
	commands map[string]func(event.Event, S, event.Metadata) C
	left     any
}

func (p *ended[C, S]) whole() *Past[C, S] {
	return &Past[C, S]{p.model.Ended(p.left), p.model, p.commands}
}

func (p *ended[C, S]) Take(e event.Event, m event.Metadata) *event.Illegal {
	return p.whole().judge(e, m)
}
func (p *ended[C, S]) Fold(event.Event) {}
func (p *ended[C, S]) Slim() event.Past { return p }
func (p *ended[C, S]) Copy() event.Past { return p }
func (p *ended[C, S]) Key() any         { return nil }
func (p *ended[C, S]) Shown() any       { return p.whole().Shown() }
func (p *ended[C, S]) Live() bool       { return false }

// StateOf is the state of a past of a model with commands C, which is not to be changed; nil of any other.
func StateOf[C, S any](past event.Past) *S {
	switch p := past.(type) {
	case *Past[C, S]:
		return &p.State
	case *ended[C, S]:
		return &p.whole().State
	}
	return nil
}

// Copy is event.Past. States are values: Evolve changes none.
func (p *Past[C, S]) Copy() event.Past {
	one := *p
	return &one
}

// Key is event.Past.
func (p *Past[C, S]) Key() any {
	if p.model.Key == nil {
		return nil
	}
	return p.model.Key(p.State)
}

// Shown is event.Past.
func (p *Past[C, S]) Shown() any {
	if p.model.Shown == nil {
		return p.State
	}
	return p.model.Shown(p.State)
}

func (p *Past[C, S]) judge(e event.Event, m event.Metadata) *event.Illegal {
	commandOf, known := p.commands[e.EventName()]
	if !known {
		return &event.Illegal{} // of another kind of stream
	}
	command := commandOf(e, p.State, m)
	if any(command) == nil {
		return &event.Illegal{}
	}
	events, err := p.model.Decide(command, p.State)
	switch {
	case err != nil:
		return &event.Illegal{Refused: err}
	case len(events) == 0:
		return &event.Illegal{}
	case !same(events[0], e):
		return &event.Illegal{Instead: events[0]}
	}
	return nil
}

// Live is event.Past.
func (p *Past[C, S]) Live() bool { return p.model.Live != nil && p.model.Live(p.State) }

// same compares events as they are stored: an empty list and none are one there.
func same(a, b event.Event) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	one, err := event.Marshal(a)
	other, failed := event.Marshal(b)
	return err == nil && failed == nil && a.EventName() == b.EventName() && bytes.Equal(one, other)
}

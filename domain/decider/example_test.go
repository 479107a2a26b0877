package decider_test

import (
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
)

type opened struct{}

func (opened) EventName() string { return "door.opened" }

// openDoor is the only command of this door.
type openDoor struct{}

var errOpen = errors.New("the door is open")

// A decider is three pure functions: no store, no clock. Package decidertest tests one by given, when and then.
func ExampleDecider() {
	door := decider.Decider[openDoor, bool]{
		Initial: func() bool { return false },
		Decide: func(_ openDoor, open bool) ([]event.Event, error) {
			if open {
				return nil, errOpen
			}
			return []event.Event{opened{}}, nil
		},
		Evolve: func(bool, event.Event) bool { return true },
	}
	events, err := door.Decide(openDoor{}, door.Fold(nil))
	fmt.Println(events[0].EventName(), err)
	_, err = door.Decide(openDoor{}, door.Fold(events))
	fmt.Println(err)
	// Output:
	// door.opened <nil>
	// the door is open
}

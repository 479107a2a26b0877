package decidertest

import (
	"errors"
	"testing"

	"reckon/domain/event"
)

type opened struct{ Owner string }

func (opened) EventName() string { return "door.opened" }

type open struct{ Owner string }

// TestAFailingScenarioSaysWhatWasDecided: its name and its message hold what was given, asked, decided and wanted.
func TestAFailingScenarioSaysWhatWasDecided(t *testing.T) {
	o := Outcome{t: t, history: []event.Event{opened{"a"}}, command: open{"b"}, events: []event.Event{opened{"b"}}}
	if got := o.name(); got != "door.opened | open" {
		t.Errorf("name %q", got)
	}
	const want = `
given   door.opened {Owner:a}
when    decidertest.open {Owner:b}
decided door.opened {Owner:b}
wanted  nothing
`
	if got := o.difference(lines("wanted", nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	refused := Outcome{t: t, command: open{"b"}, err: errors.New("the door is locked")}
	const wantRefused = `
given   nothing
when    decidertest.open {Owner:b}
decided a refusal: the door is locked
wanted  door.opened {Owner:b}
`
	if got := refused.difference(lines("wanted", []event.Event{opened{"b"}})); got != wantRefused {
		t.Errorf("%s\nwant %s", got, wantRefused)
	}
}

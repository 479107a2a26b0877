// Package account is an account as the log knows it: an id and the plan in force.
//
// It promises to hold nothing personal: addresses and passwords live in
// internal/identity, so that they can be forgotten while the log is for ever.
package account

import (
	"encoding/json"
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names an account's stream.
func Stream(account string) string { return "account-" + account }

// Registered opens an account.
type Registered struct {
	Account string `json:"account" format:"uuid" doc:"The account"`
	Plan    string `json:"plan" doc:"Name of the plan in force from now on, as the catalogue of plans has it"`
}

// PlanChanged puts another plan in force.
type PlanChanged struct {
	Account string `json:"account" format:"uuid" doc:"The account"`
	Plan    string `json:"plan" doc:"Name of the plan in force from now on"`
	// Follows is why a reaction may run again after an operator has changed the plan.
	Follows int64 `json:"follows,omitempty" unit:"starts and ends" doc:"Number, from 1, of the start, settlement or end of a subscription in billing-<account> that this follows; absent: an operator gave the plan"`
}

// Closed ends an account.
type Closed struct {
	Account string `json:"account" format:"uuid" doc:"The account"`
}

func (Registered) EventName() string  { return "account.registered" }
func (PlanChanged) EventName() string { return "account.plan_changed" }
func (Closed) EventName() string      { return "account.closed" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of an account's stream with its event types.
func Model() decider.Model[Command, State] {
	const id = "0198a1b2-0000-7000-8000-00000000000a"
	of := func(account string) event.Address { return event.Address{Stream: Stream(account), Account: account} }
	return decider.Model[Command, State]{Decider: Decider, Types: []decider.Type[Command, State]{
		decider.On(Registered{Account: id, Plan: "free"},
			func(e Registered) event.Address { return of(e.Account) },
			func(e Registered, _ State, _ event.Metadata) Command { return Register(e) },
			event.Free{"plan": "the plan of an account that has done nothing on it"}),
		decider.On(PlanChanged{Account: id, Plan: "pro", Follows: 1},
			func(e PlanChanged) event.Address { return of(e.Account) },
			func(e PlanChanged, _ State, _ event.Metadata) Command {
				if e.Follows == 0 {
					return ChangePlan{Account: e.Account, Plan: e.Plan}
				}
				return FollowSubscription{Account: e.Account, Plan: e.Plan, Change: e.Follows}
			},
			event.Upcast(withoutFollows), event.Free{"plan": "the operator chose it, where no subscription did, and nothing was done on it"}),
		decider.On(Closed{Account: id},
			func(e Closed) event.Address { return of(e.Account) },
			func(e Closed, _ State, _ event.Metadata) Command { return Close(e) }),
	}}
}

// withoutFollows reads version 1 of account.plan_changed: an operator gave every plan.
func withoutFollows(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

// State is an account as a fold of its stream.
type State struct {
	Exists   bool
	Closed   bool
	Plan     string // name of the plan in force
	Followed int64  // the last start or end of a subscription that the plan has followed; 0: none
}

// Command is one of Register, ChangePlan, FollowSubscription, Close.
type Command interface{ accountCommand() }

// Register opens the account; one that exists stays as it is.
type Register struct{ Account, Plan string }

// ChangePlan puts another plan in force. The caller makes sure that the catalogue has it.
type ChangePlan struct{ Account, Plan string }

// FollowSubscription puts the plan in force that the account's subscription gives it after its start or end of this
// number, from 1. One that was followed already, or one before it, changes nothing.
type FollowSubscription struct {
	Account, Plan string
	Change        int64
}

// Close ends the account for good: every later command is refused with ErrClosed.
type Close struct{ Account string }

func (Register) accountCommand()   {}
func (ChangePlan) accountCommand() {}
func (Close) accountCommand()      {}

func (FollowSubscription) accountCommand() {}

var (
	// ErrNotFound means that there is no such account.
	ErrNotFound = errors.New("no such account")
	// ErrClosed means that the account is closed.
	ErrClosed = errors.New("the account is closed")
)

// Decider is the write model of an account's stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: func(State) int { return stateBytes },
}

// stateBytes is the memory that a state takes: a plan's name.
const stateBytes = 512

func decide(c Command, s State) ([]event.Event, error) {
	if c, ok := c.(Register); ok {
		if s.Exists {
			return nil, nil
		}
		return []event.Event{Registered(c)}, nil
	}
	switch {
	case !s.Exists:
		return nil, ErrNotFound
	case s.Closed:
		return nil, ErrClosed
	}
	switch c := c.(type) {
	case ChangePlan:
		if s.Plan == c.Plan {
			return nil, nil
		}
		return []event.Event{PlanChanged{Account: c.Account, Plan: c.Plan}}, nil
	case FollowSubscription:
		if c.Change <= s.Followed {
			return nil, nil
		}
		return []event.Event{PlanChanged{Account: c.Account, Plan: c.Plan, Follows: c.Change}}, nil
	case Close:
		return []event.Event{Closed(c)}, nil
	}
	return nil, fmt.Errorf("account: unknown command %T", c)
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Registered:
		s.Exists, s.Plan = true, e.Plan
	case PlanChanged:
		s.Plan, s.Followed = e.Plan, max(s.Followed, e.Follows)
	case Closed:
		s.Closed = true
	}
	return s
}
